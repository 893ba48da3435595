//! Values to codes and back: clamping, rounding, the middle; never a panic, whatever the value.

use proptest::prelude::*;
use sunprint::door::{Door, MIDDLE, Raw, Ticks, Value, Verdict, push_integer};
use sunprint::schema::{Column, ColumnKind, Dataset, Role, Schema, Unit};

const Q: u16 = u16::MAX;

fn door(kind: ColumnKind) -> Door {
    let column = Column::new("x", kind, Role::Feature);
    Door::new(&Schema {
        dataset: Dataset { name: String::new(), unit: Unit::Row },
        columns: vec![column],
        constraints: Vec::new(),
    })
}

fn continuous(min: f64, max: f64) -> Door {
    door(ColumnKind::continuous(min, max))
}

fn integer(min: i64, max: i64) -> Door {
    door(ColumnKind::integer(min, max))
}

fn categorical(values: &[&str]) -> Door {
    door(ColumnKind::categorical(values.iter().copied()))
}

#[test]
fn real_numbers_are_clamped_and_rounded() {
    let door = continuous(-1.0, 1.0);
    let expected = [
        (-1.0, 0),
        (1.0, Q),
        (-1.5, 0),
        (1e300, Q),
        (f64::INFINITY, Q),
        (f64::NEG_INFINITY, 0),
        (f64::NAN, MIDDLE),
        (0.0, 32768),
        (-0.0, 32768),
        (-1.0 + 2.0 * 100.4 / 65535.0, 100),
        (-1.0 + 2.0 * 100.6 / 65535.0, 101),
    ];
    for (value, code) in expected {
        assert_eq!(door.encode_f64(0, value), code, "{value}");
    }
    assert_eq!(door.encode_i64(0, 5), Q);
}

#[test]
fn whole_numbers_are_exact_also_over_the_widest_bounds() {
    let door = integer(i64::MIN, i64::MAX);
    assert_eq!(door.encode_i64(0, i64::MIN), 0);
    assert_eq!(door.encode_i64(0, i64::MAX), Q);
    assert_eq!(door.encode_i64(0, 0), 32768);
    assert_eq!(door.encode_f64(0, 1e300), Q);
    assert_eq!(door.encode_text(0, "-99999999999999999999999"), 0);
    assert_eq!(door.decode(0, 0.0), Value::Integer(i64::MIN));
    assert_eq!(door.decode(0, 1.0), Value::Integer(i64::MAX));
    // A code is the nearest to (x - 3) Q / 4: halves go up.
    let door = integer(3, 7);
    let codes: Vec<u16> = (2..=8).map(|x| door.encode_i64(0, x)).collect();
    assert_eq!(codes, [0, 0, 16384, 32768, 49151, Q, Q]);
}

#[test]
fn text_is_read_tolerantly_and_the_unreadable_becomes_the_middle() {
    let door = continuous(0.0, 10.0);
    for text in ["2.5", " 2.5 ", "\t2.5\r", "+2.5", "2.5e0", "25E-1", "\"2.5\"", "' 2.5'", "0002.50"] {
        assert_eq!(door.encode_text(0, text), 16384, "{text:?}");
    }
    for text in ["", " ", "NA", "nan", "NaN", "two", "2,5", "2.5 kg", "--2", "\"", "'", "\u{1F600}", "1e", "0x10"] {
        assert_eq!(door.encode_text(0, text), MIDDLE, "{text:?}");
    }
    assert_eq!(door.encode_text(0, "inf"), Q);
    assert_eq!(door.encode_text(0, "-Infinity"), 0);
    let door = integer(0, 10);
    for text in ["4", " 4", "+4", "4.0", "4e0", "3.6", "\"4\""] {
        assert_eq!(door.encode_text(0, text), door.encode_i64(0, 4), "{text:?}");
    }
    for text in ["", "-", "+", "4a", "nan"] {
        assert_eq!(door.encode_text(0, text), MIDDLE, "{text:?}");
    }
}

#[test]
fn booleans_in_every_spelling() {
    let plain = door(ColumnKind::Boolean { values: None });
    for (no, yes) in
        [("false", "true"), ("False", "TRUE"), ("0", "1"), ("no", "Yes"), ("f", "T"), ("off", "ON"), ("0.0", "1.0")]
    {
        assert_eq!((plain.encode_text(0, no), plain.encode_text(0, yes)), (0, Q));
        assert_eq!((plain.category(0, no), plain.category(0, yes)), (0, 1));
    }
    for text in ["", "2", "maybe"] {
        assert_eq!(plain.encode_text(0, text), MIDDLE);
        assert_eq!(plain.category(0, text), 0);
    }
    assert_eq!((plain.encode_i64(0, 0), plain.encode_i64(0, 1), plain.encode_i64(0, 2)), (0, Q, MIDDLE));
    let spelled = door(ColumnKind::Boolean { values: Some(["yes".into(), "no".into()]) });
    assert_eq!((spelled.encode_text(0, "yes"), spelled.encode_text(0, " no ")), (0, Q));
    assert_eq!((plain.decode(0, 0.4), plain.decode(0, 0.5)), (Value::Truth(false), Value::Truth(true)));
}

#[test]
fn categories_by_text_number_and_truth() {
    let door = categorical(&["3", "1", "true", "2.5", "b"]);
    let gate = door.gate(0);
    let places: Vec<u32> = ["3", "1", " 1 ", "b", "'b'", "c", ""].iter().map(|text| door.category(0, text)).collect();
    assert_eq!(places, [0, 1, 1, 4, 4, 0, 0]);
    assert_eq!(gate.category(Raw::Integer(1)), 1);
    assert_eq!(gate.category(Raw::Number(1.0)), 1);
    assert_eq!(gate.category(Raw::Number(2.5)), 3);
    assert_eq!(gate.category(Raw::Number(f64::NAN)), 0);
    assert_eq!(gate.category(Raw::Truth(true)), 1, "`1` is the first listed spelling of true");
    assert_eq!(gate.category(Raw::Integer(99)), 0);
    assert_eq!(door.decode_category(0, 4), Value::Category("b"));
}

#[test]
fn verdicts_for_the_curator() {
    let door = integer(0, 10);
    let judge = |raw| door.gate(0).judge(raw);
    assert_eq!(judge(Raw::Integer(-1)), Verdict::Below);
    assert_eq!(judge(Raw::Text("11")), Verdict::Above);
    assert_eq!(judge(Raw::Text("1e3")), Verdict::Above);
    assert_eq!(judge(Raw::Text("ten")), Verdict::NotANumber);
    assert_eq!(judge(Raw::Number(f64::NAN)), Verdict::NotANumber);
    assert_eq!(judge(Raw::Text("  ")), Verdict::Empty);
    assert_eq!(judge(Raw::Empty), Verdict::Empty);
    assert_eq!(judge(Raw::Number(0.0)), Verdict::Good);
    let door = categorical(&["a", ""]);
    assert_eq!(door.gate(0).judge(Raw::Text("b")), Verdict::Unlisted);
    assert_eq!(door.gate(0).judge(Raw::Text("")), Verdict::Good);
    assert_eq!(door.gate(0).judge(Raw::Empty), Verdict::Empty);
}

fn printed(min: f64, max: f64, value: f64) -> String {
    let mut out = Vec::new();
    Ticks::new(min, max).push(&mut out, value);
    String::from_utf8(out).unwrap()
}

#[test]
fn numbers_are_printed_with_just_enough_digits() {
    assert_eq!(printed(0.0, 1.0, 0.5), "0.5");
    assert_eq!(printed(0.0, 1.0, 1.0 / 3.0), "0.33333");
    assert_eq!(printed(0.0, 1.0, 0.0), "0.0");
    assert_eq!(printed(-2.0, 1.0, -0.000_01), "-0.00001");
    assert_eq!(printed(-100.0, 100.0, -12.345_678), "-12.346");
    assert_eq!(printed(0.0, 1e6, 123_456.0), "123456");
    assert_eq!(printed(0.0, 1e300, 1e300), "1e300");
    // Rounding never leaves the bounds.
    assert_eq!(printed(1.0 / 3.0, 2.0 / 3.0, 1.0 / 3.0), "0.333334");
    assert_eq!(printed(1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0), "0.666666");
    let mut out = Vec::new();
    for value in [0, 7, -7, 10, i64::MAX, i64::MIN] {
        push_integer(&mut out, value);
        out.push(b' ');
    }
    assert_eq!(String::from_utf8(out).unwrap(), "0 7 -7 10 9223372036854775807 -9223372036854775808 ");
}

/// Any bit pattern: subnormals, infinities and NaN included.
fn any_f64() -> impl Strategy<Value = f64> {
    any::<u64>().prop_map(f64::from_bits)
}

proptest! {
    #[test]
    fn real_numbers_come_back_within_half_a_step(min in -1e9..1e9f64, span in 1e-3..1e9f64, at in -0.2..1.2f64) {
        let (max, value) = (min + span, min + at * span);
        let door = continuous(min, max);
        let unit = f64::from(door.encode_f64(0, value)) / 65535.0;
        let Value::Number(back) = door.decode(0, unit) else { panic!("a number") };
        let half = (max - min) / 65535.0 / 2.0;
        prop_assert!((back - value.clamp(min, max)).abs() <= half * (1.0 + 1e-9) + 1e-6 * half + min.abs() * 1e-15);
        prop_assert!((min..=max).contains(&back));
        // What is printed is within half a tick of it, between the bounds, and has the same code or a neighbour's.
        let text = printed(min, max, back);
        let read: f64 = text.parse().unwrap();
        prop_assert!((min..=max).contains(&read), "{text} outside {min} {max}");
        prop_assert!((read - back).abs() <= 2.0 * half);
    }

    #[test]
    fn whole_numbers_come_back_within_half_a_step(a in any::<i64>(), b in any::<i64>(), value in any::<i64>()) {
        prop_assume!(a != b);
        let (min, max) = (a.min(b), a.max(b));
        let door = integer(min, max);
        let code = door.encode_i64(0, value);
        let kept = value.clamp(min, max);
        // Exactly: |2 (kept - min) Q - 2 code span| <= span.
        let span = i128::from(max) - i128::from(min);
        let error = 2 * (i128::from(kept) - i128::from(min)) * 65535 - 2 * i128::from(code) * span;
        prop_assert!(error.abs() <= span);
        let Value::Integer(back) = door.decode(0, f64::from(code) / 65535.0) else { panic!("an integer") };
        prop_assert!((min..=max).contains(&back));
    }

    #[test]
    fn small_ranges_of_whole_numbers_come_back_exactly(min in -70_000i64..70_000, span in 1i64..=65_535, at in 0i64..=65_535) {
        let value = min + at % (span + 1);
        let door = integer(min, min + span);
        let unit = f64::from(door.encode_i64(0, value)) / 65535.0;
        prop_assert_eq!(door.decode(0, unit), Value::Integer(value));
    }

    #[test]
    fn no_value_is_refused(x in any_f64(), unit in any_f64(), whole in any::<i64>(), text in any::<String>()) {
        for door in [
            continuous(-1.0, 2.5),
            continuous(-4e299, 4e299),
            continuous(0.0, 1e-300),
            integer(-5, 5),
            integer(i64::MIN, i64::MAX),
            door(ColumnKind::Boolean { values: None }),
            categorical(&["a", "b"]),
        ] {
            for raw in [Raw::Number(x), Raw::Integer(whole), Raw::Text(&text), Raw::Truth(true), Raw::Empty] {
                let gate = door.gate(0);
                let (_, category, _) = (gate.encode(raw), gate.category(raw), gate.judge(raw));
                prop_assert!(category < 2);
            }
            if let Value::Number(back) = door.decode(0, unit) {
                prop_assert!(back.is_finite());
            }
        }
    }

    #[test]
    fn codes_keep_the_order_of_numbers(x in any_f64(), y in any_f64()) {
        let (x, y) = if x > y { (y, x) } else { (x, y) };
        prop_assume!(!x.is_nan() && !y.is_nan());
        for door in [continuous(-3.0, 7.0), integer(-3, 70_000)] {
            prop_assert!(door.encode_f64(0, x) <= door.encode_f64(0, y));
        }
    }
}
