//! The quick ways to a code against the plain one.

use proptest::prelude::*;
use sunprint::door::{AHEAD, Decimal, Door, Raw};
use sunprint::schema::{Column, ColumnKind, Dataset, Role, Schema, Unit};

fn door(kind: ColumnKind) -> Door {
    let column = Column::new("x", kind, Role::Feature);
    Door::new(&Schema {
        dataset: Dataset { name: "t".to_string(), unit: Unit::Row },
        columns: vec![column],
        constraints: Vec::new(),
    })
}

/// The quick way to the code of a text, if it is taken.
fn quickly(door: &Door, text: &str) -> Option<u16> {
    let mut bytes = [b','; AHEAD];
    bytes.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
    let (decimal, length) = Decimal::read(&bytes)?;
    if length == text.len() { door.gate(0).encode_decimal(decimal) } else { None }
}

fn agree(door: &Door, text: &str) -> bool {
    let quick = quickly(door, text);
    assert!(quick.is_none_or(|code| code == door.gate(0).encode(Raw::Text(text))), "{text}");
    quick.is_some()
}

/// Bounds of all sizes, the usual ones more often.
fn bounds() -> impl Strategy<Value = (f64, f64)> {
    let usual = prop::sample::select(vec![(0.0, 1.0), (-10.0, 10.0), (0.0, 100.0), (0.1, 0.3), (0.0, 65535.0)]);
    let any = (-1e6..1e6f64, 1e-6..1e6f64).prop_map(|(min, span)| (min, min + span));
    let tiny = (-1e-9..1e-9f64, 1e-12..1e-9f64).prop_map(|(min, span)| (min, min + span));
    let huge = Just((-1e300, 1e300));
    prop_oneof![4 => usual, 3 => any, 1 => tiny, 1 => huge, 1 => Just((-f64::MAX, f64::MAX))]
}

/// The spellings of one number.
fn spellings(x: f64) -> Vec<String> {
    let mut all = vec![x.to_string(), format!("{x:e}"), format!("{x:E}"), format!("+{x}"), format!("00{x}")];
    all.extend((0..26).map(|places| format!("{x:.places$}")));
    all.extend((0..22).map(|places| format!("{x:.places$e}")));
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn real_numbers((min, max) in bounds(), at in -0.1..1.1f64, step in 0..65_536u32) {
        let door = door(ColumnKind::continuous(min, max));
        // Anywhere, and where one code ends and the next begins.
        let edge = min + (f64::from(step) + 0.5) / 65_535.0 * (max - min);
        let anywhere = min + at * (max - min);
        for x in [anywhere, -anywhere, edge, edge.next_up(), edge.next_down(), min, max] {
            spellings(x).iter().for_each(|text| { agree(&door, text); });
        }
    }

    #[test]
    fn any_digits((min, max) in bounds(), text in "[+-]?[0-9]{0,25}\\.?[0-9]{0,25}([eE][+-]?[0-9]{0,4})?") {
        agree(&door(ColumnKind::continuous(min, max)), &text);
        agree(&door(ColumnKind::integer(-3, 90)), &text);
        agree(&door(ColumnKind::integer(i64::MIN, i64::MAX)), &text);
        agree(&door(ColumnKind::Boolean { values: None }), &text);
    }

    #[test]
    fn whole_numbers(a in any::<i64>(), b in any::<i64>(), shift in 0..64u32, x in any::<i64>(), step in 0..65_536u64) {
        let (min, max) = ((a >> shift).min(b >> shift), (a >> shift).max(b >> shift));
        let door = door(ColumnKind::integer(min, max));
        let span = u128::from(min.abs_diff(max).max(1));
        // Anywhere, and where one code ends and the next begins.
        let edge = (2 * u128::from(step) + 1) * span / (2 * 65_535);
        let near = |by: i128| (i128::from(min) + edge as i128 + by).clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        for x in [x, x >> shift, near(-1), near(0), near(1), near(2), min, max] {
            let above = u128::from(x.clamp(min, max).abs_diff(min));
            let exactly = ((2 * above * 65_535 + span) / (2 * span)) as u16;
            prop_assert_eq!(door.encode_i64(0, x), exactly);
            for text in [x.to_string(), format!("+{x}"), format!("{x}.0"), format!("{x}e0"), format!("{x}.5")] {
                agree(&door, &text);
            }
        }
    }

    #[test]
    fn many_at_once((min, max) in bounds(), xs in prop::collection::vec(any::<f64>(), 0..20), at in -0.5..1.5f64) {
        let xs: Vec<f64> = xs.into_iter().chain([f64::NAN, f64::INFINITY, min, max, min + at * (max - min)]).collect();
        let wholes: Vec<i64> = xs.iter().map(|x| *x as i64).collect();
        for kind in [
            ColumnKind::continuous(min, max),
            ColumnKind::integer(-7, 1000),
            ColumnKind::Boolean { values: None },
        ] {
            let (door, mut codes) = (door(kind), vec![0; xs.len()]);
            door.gate(0).encode_reals(xs.iter().copied(), codes.iter_mut());
            prop_assert_eq!(&codes, &xs.iter().map(|&x| door.encode_f64(0, x)).collect::<Vec<_>>());
            door.gate(0).encode_wholes(wholes.iter().copied(), codes.iter_mut());
            prop_assert_eq!(&codes, &wholes.iter().map(|&x| door.encode_i64(0, x)).collect::<Vec<_>>());
        }
    }
}

/// The quick way is not merely right: it is taken for what files are full of.
#[test]
fn common_spellings_are_read_quickly() {
    let real = door(ColumnKind::continuous(-10.0, 10.0));
    for text in ["0", "-3", "2.5", "0.5535421157058136", "-2.1437404518079015", "1.5e-05", "-9.999999e0", "1e22", "7."]
    {
        assert!(agree(&real, text), "{text}");
    }
    let whole = door(ColumnKind::integer(0, 120));
    for text in ["0", "17", "-4", "120", "17.0", "1e2", "999999999999999999"] {
        assert!(agree(&whole, text), "{text}");
    }
    // Too close to the edge of a code to be sure: the number is exact, or the text decides.
    let unit = door(ColumnKind::continuous(0.0, 65_535.0));
    assert!(agree(&unit, "12.5"));
    assert!(!agree(&unit, "12.4999999999999999"));
}
