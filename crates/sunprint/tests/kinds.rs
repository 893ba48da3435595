//! Every kind of column: value to block to value, and what one row can weigh.

use proptest::prelude::*;
use sunprint::door::{Door, Gate, MIDDLE, Raw, Value};
use sunprint::schema::dates::{DAY, read_iso};
use sunprint::schema::{Form, HOT, Schema};
use sunprint::tally::codes::Q;

fn schema(column: &str) -> Schema {
    Schema::parse(&format!("[[column]]\nname = \"x\"\n{column}\n"), "x.toml").unwrap()
}

fn door(column: &str) -> Door {
    Door::new(&schema(column))
}

fn block(gate: &Gate, raw: Raw) -> Vec<u16> {
    // What stood there before must not matter.
    let mut codes = vec![7; gate.width()];
    gate.encode_block(raw, &mut codes);
    codes
}

fn back<'g>(gate: &'g Gate, codes: &[u16]) -> Value<'g> {
    let units: Vec<f64> = codes.iter().map(|&code| f64::from(code) / f64::from(Q)).collect();
    gate.decode_block(&units).0
}

/// One column of every kind, with and without missing values.
fn every_kind() -> Vec<String> {
    let kinds = [
        "kind = \"continuous\"\nmin = -1.5\nmax = 2.5",
        "kind = \"continuous\"\nmin = 0.01\nmax = 1e6\nscale = \"log\"",
        "kind = \"continuous\"\nmin = -180\nmax = 180\nscale = \"cyclic\"",
        "kind = \"continuous\"\nmin = 0\nmax = 99.95\ndecimals = 2",
        "kind = \"integer\"\nmin = -3\nmax = 70000",
        "kind = \"integer\"\nmin = -9223372036854775808\nmax = 9223372036854775807",
        "kind = \"integer\"\nmin = 1\nmax = 1000000\nscale = \"log\"",
        "kind = \"integer\"\nmin = 0\nmax = 23\nscale = \"cyclic\"",
        "kind = \"integer\"\nmin = -9223372036854775808\nmax = 9223372036854775807\nscale = \"cyclic\"",
        "kind = \"boolean\"",
        "kind = \"boolean\"\nvalues = [\"nein\", \"ja\"]",
        "kind = \"categorical\"\nvalues = [\"only\"]",
        "kind = \"categorical\"\nvalues = [\"a\", \"b\", \"3\"]\nother = \"b\"",
        "kind = \"categorical\"\nvalues = [\"s\", \"m\", \"l\", \"xl\"]\nordered = true",
        "kind = \"date\"\nmin = \"1900-01-01\"\nmax = \"2100-12-31\"",
        "kind = \"date\"\nmin = \"0001-01-01\"\nmax = \"9999-12-31\"\nformat = \"%d/%m/%Y\"",
        "kind = \"datetime\"\nmin = \"1969-07-20T20:17:40\"\nmax = \"2024-02-29T23:59:59\"",
    ];
    kinds.iter().flat_map(|kind| [kind.to_string(), format!("{kind}\nmissing = \"allow\"")]).collect()
}

fn any_raw() -> impl Strategy<Value = (f64, i64, bool, String)> {
    let number = prop_oneof![any::<f64>(), -200.0..200.0, Just(f64::NAN), Just(f64::INFINITY), Just(0.0)];
    let whole = prop_oneof![any::<i64>(), -100..100i64, 0..2_000_000_000i64];
    let text = prop_oneof![
        any::<String>(),
        "[+-]?[0-9]{1,6}(\\.[0-9]{0,3})?",
        "[0-9]{4}-[01][0-9]-[0-3][0-9]",
        prop::sample::select(vec!["a", "b", "3", " m ", "xl", "ja", "true", "", "  ", "nan", "-inf", "31/12/1999"])
            .prop_map(String::from),
    ];
    (number, whole, any::<bool>(), text)
}

proptest! {
    /// The promise to the mechanisms: every code is between 0 and Q, and within one block two rows differ by at most Q.
    #[test]
    fn one_row_weighs_no_more_than_a_number((x, whole, truth, text) in any_raw(), (y, other, _, word) in any_raw()) {
        for kind in every_kind() {
            let schema = schema(&kind);
            let door = Door::new(&schema);
            let (gate, shape) = (door.gate(0), schema.blocks()[0]);
            prop_assert_eq!((shape.start, shape.end(), schema.width()), (0, gate.width(), gate.width()));
            let raws = [
                Raw::Number(x), Raw::Integer(whole), Raw::Truth(truth), Raw::Text(&text), Raw::Moment(whole),
                Raw::Empty, Raw::Number(y), Raw::Integer(other), Raw::Text(&word), Raw::Moment(other),
            ];
            let blocks: Vec<Vec<u16>> = raws.iter().map(|&raw| block(gate, raw)).collect();
            for a in &blocks {
                // A block is what its form says.
                let absent = shape.absence && a[shape.len] == HOT;
                prop_assert!(!shape.absence || absent || a[shape.len] == 0);
                match shape.form {
                    Form::OneHot => {
                        prop_assert_eq!(a.iter().filter(|&&code| code == HOT).count(), 1);
                        prop_assert_eq!(a.iter().filter(|&&code| code == 0).count(), a.len() - 1);
                    }
                    _ if absent => prop_assert!(a[..shape.len].iter().all(|&code| code == MIDDLE)),
                    _ => {}
                }
                for b in &blocks {
                    let square: i64 = a.iter().zip(b).map(|(&a, &b)| (i64::from(a) - i64::from(b)).pow(2)).sum();
                    prop_assert!(square <= i64::from(Q).pow(2), "{kind}: {a:?} and {b:?}");
                }
            }
        }
    }

    /// Any places give some value of the column, and a value that the door takes in again.
    #[test]
    fn decoding_is_total(units in prop::collection::vec(any::<f64>(), 6)) {
        for kind in every_kind() {
            let schema = schema(&kind);
            let door = Door::new(&schema);
            let gate = door.gate(0);
            let (value, category) = gate.decode_block(&units[..gate.width()]);
            match value {
                Value::Number(x) => prop_assert!(x.is_finite() && gate.judge(Raw::Number(x)) as u8 == 0, "{kind}"),
                Value::Integer(x) => prop_assert!(gate.judge(Raw::Integer(x)) as u8 == 0, "{kind}"),
                Value::Category(text) => prop_assert_eq!(schema.columns[0].categories()[category], text),
                Value::Date(day) => prop_assert!(gate.judge(Raw::Moment(day * DAY)) as u8 == 0, "{kind}"),
                Value::Moment(moment) => prop_assert!(gate.judge(Raw::Moment(moment)) as u8 == 0, "{kind}"),
                Value::Truth(truth) => prop_assert_eq!(usize::from(truth), category),
                Value::Empty => prop_assert!(schema.columns[0].may_be_missing(), "{kind}"),
            }
        }
    }

    #[test]
    fn log_numbers_come_back(x in 0.01f64..1e6, missing: bool) {
        let gap = if missing { "\nmissing = \"allow\"" } else { "" };
        let real = door(&format!("kind = \"continuous\"\nmin = 0.01\nmax = 1e6\nscale = \"log\"{gap}"));
        let Value::Number(found) = back(real.gate(0), &block(real.gate(0), Raw::Number(x))) else { panic!("a number") };
        // Half a step of ln(10⁸) / 65535.
        prop_assert!((found / x).ln().abs() < 1.5e-4, "{x} and {found}");
        let whole = door(&format!("kind = \"integer\"\nmin = 1\nmax = 3000\nscale = \"log\"{gap}"));
        let x = (x / 400.0) as i64 + 1;
        prop_assert_eq!(back(whole.gate(0), &block(whole.gate(0), Raw::Integer(x))), Value::Integer(x.min(3000)));
    }

    #[test]
    fn circles_come_back_and_close(turn in -3i64..3, hour in 0i64..24, angle in -179.9f64..179.9, missing: bool) {
        let gap = if missing { "\nmissing = \"allow\"" } else { "" };
        let day = door(&format!("kind = \"integer\"\nmin = 0\nmax = 23\nscale = \"cyclic\"{gap}"));
        let codes = block(day.gate(0), Raw::Integer(hour + 24 * turn));
        prop_assert_eq!(back(day.gate(0), &codes), Value::Integer(hour));
        prop_assert_eq!(&codes, &block(day.gate(0), Raw::Text(&format!("{hour}"))));
        let turning = door(&format!("kind = \"continuous\"\nmin = -180\nmax = 180\nscale = \"cyclic\"{gap}"));
        let codes = block(turning.gate(0), Raw::Number(angle + 360.0 * turn as f64));
        let Value::Number(found) = back(turning.gate(0), &codes) else { panic!("a number") };
        prop_assert!((found - angle).abs() < 0.01, "{angle} and {found}");
    }

    #[test]
    fn decimals_are_kept(cents in 0i64..=9995) {
        let price = door("kind = \"continuous\"\nmin = 0\nmax = 99.95\ndecimals = 2\nmissing = \"allow\"");
        let x = cents as f64 / 100.0;
        prop_assert_eq!(back(price.gate(0), &block(price.gate(0), Raw::Number(x))), Value::Number(x));
    }

    #[test]
    fn dates_come_back(day in -25_567i64..=47_846, missing: bool) {
        for format in ["", "\nformat = \"%d.%m.%Y\"", "\nformat = \"%Y%m%d\""] {
            let gap = if missing { "\nmissing = \"allow\"" } else { "" };
            let range = "min = \"1900-01-01\"\nmax = \"2100-12-31\"";
            let schema = schema(&format!("kind = \"date\"\n{range}{format}{gap}"));
            let (door, text) = (Door::new(&schema), text_of(&schema, day * DAY));
            let codes = block(door.gate(0), Raw::Text(&text));
            // 73,414 days have 65,536 codes: at most one day off.
            let Value::Date(found) = back(door.gate(0), &codes) else { panic!("a date") };
            prop_assert!((found - day).abs() <= 1);
            prop_assert_eq!(codes, block(door.gate(0), Raw::Moment(day * DAY + 86_399)));
        }
    }

    #[test]
    fn moments_come_back(second in 0i64..=60_000) {
        let range = "min = \"2024-02-29T00:00:00\"\nmax = \"2024-02-29T16:40:00\"";
        let schema = schema(&format!("kind = \"datetime\"\n{range}\nformat = \"%H:%M:%S %d/%m/%Y\""));
        let moment = read_iso("2024-02-29").unwrap() + second;
        let (door, text) = (Door::new(&schema), text_of(&schema, moment));
        prop_assert_eq!(back(door.gate(0), &block(door.gate(0), Raw::Text(&text))), Value::Moment(moment));
    }
}

/// A moment in the column's own format.
fn text_of(schema: &Schema, moment: i64) -> String {
    use sunprint::schema::{ColumnKind, dates::Pattern};
    match &schema.columns[0].kind {
        ColumnKind::Date { format: Some(format), .. } => Pattern::new(format, false).unwrap().text(moment),
        ColumnKind::Datetime { format: Some(format), .. } => Pattern::new(format, true).unwrap().text(moment),
        _ => Pattern::iso(false).text(moment),
    }
}

#[test]
fn categories_come_back() {
    for ordered in ["", "\nordered = true"] {
        for gap in ["", "\nmissing = \"allow\""] {
            let values: Vec<String> = (0..1000).map(|i| format!("\"c{i}\"")).collect();
            let many = format!("kind = \"categorical\"\nvalues = [{}]{ordered}{gap}", values.join(", "));
            let schema = schema(&many);
            let door = Door::new(&schema);
            for (place, text) in schema.columns[0].categories().into_iter().enumerate() {
                let codes = block(door.gate(0), Raw::Text(text));
                assert_eq!(back(door.gate(0), &codes), Value::Category(text));
                if ordered.is_empty() {
                    assert_eq!(codes.iter().position(|&code| code == HOT), Some(place));
                }
            }
            assert_eq!(schema.width(), if ordered.is_empty() { 1000 } else { 1 } + usize::from(!gap.is_empty()));
        }
    }
}

#[test]
fn what_is_not_listed() {
    let named = door("kind = \"categorical\"\nvalues = [\"a\", \"b\"]\nother = \"b\"");
    let first = door("kind = \"categorical\"\nvalues = [\"a\", \"b\"]");
    let kept = door("kind = \"categorical\"\nvalues = [\"a\", \"b\"]\nother = \"b\"\nmissing = \"allow\"");
    for raw in [Raw::Text("c"), Raw::Integer(3), Raw::Number(f64::NAN), Raw::Truth(true), Raw::Moment(0)] {
        assert_eq!(back(named.gate(0), &block(named.gate(0), raw)), Value::Category("b"));
        assert_eq!(back(first.gate(0), &block(first.gate(0), raw)), Value::Category("a"));
        assert_eq!(back(kept.gate(0), &block(kept.gate(0), raw)), Value::Category("b"));
    }
    for raw in [Raw::Empty, Raw::Text(""), Raw::Text("  ")] {
        assert_eq!(back(named.gate(0), &block(named.gate(0), raw)), Value::Category("b"));
        assert_eq!(back(kept.gate(0), &block(kept.gate(0), raw)), Value::Empty);
    }
}

#[test]
fn what_cannot_be_read_is_missing() {
    for kind in [
        "kind = \"continuous\"\nmin = 0\nmax = 10",
        "kind = \"integer\"\nmin = 1\nmax = 10\nscale = \"log\"",
        "kind = \"integer\"\nmin = 0\nmax = 23\nscale = \"cyclic\"",
        "kind = \"boolean\"",
        "kind = \"date\"\nmin = \"1900-01-01\"\nmax = \"2100-12-31\"",
    ] {
        let (kept, filled) = (door(&format!("{kind}\nmissing = \"allow\"")), door(kind));
        for raw in [Raw::Empty, Raw::Text(""), Raw::Text("NA"), Raw::Text("n/a"), Raw::Number(f64::NAN)] {
            assert_eq!(back(kept.gate(0), &block(kept.gate(0), raw)), Value::Empty, "{kind}");
            assert!(block(filled.gate(0), raw).iter().all(|&code| code == MIDDLE), "{kind}");
        }
    }
}

#[test]
fn dates_out_of_range_are_moved_to_it() {
    let born = door("kind = \"date\"\nmin = \"1920-01-01\"\nmax = \"2020-12-31\"");
    let range = [read_iso("1920-01-01").unwrap() / DAY, read_iso("2020-12-31").unwrap() / DAY];
    for (raw, day) in [
        (Raw::Text("1066-10-14"), range[0]),
        (Raw::Text("2999-01-01"), range[1]),
        (Raw::Moment(i64::MIN), range[0]),
        (Raw::Moment(i64::MAX), range[1]),
    ] {
        assert_eq!(back(born.gate(0), &block(born.gate(0), raw)), Value::Date(day));
    }
}

#[test]
fn strata_have_one_more_category_for_missing_values() {
    let text = "[[column]]\nname = \"x\"\nkind = \"boolean\"\n\
                [[column]]\nname = \"sex\"\nkind = \"categorical\"\nvalues = [\"f\", \"m\"]\nrole = \"stratum\"\n\
                missing = \"allow\"\n\
                [[column]]\nname = \"ill\"\nkind = \"boolean\"\nrole = \"label\"\nmissing = \"allow\"\n";
    let schema = Schema::parse(text, "x.toml").unwrap();
    assert_eq!((schema.strata(), schema.width()), (9, 1));
    let door = Door::new(&schema);
    assert_eq!(
        (door.category(1, ""), door.category(1, "x"), door.category(2, ""), door.category(2, "?")),
        (2, 0, 2, 2)
    );
    for stratum in 0..9 {
        assert_eq!(schema.stratum_of(&schema.categories_of(stratum)), stratum);
    }
    assert_eq!((door.decode_category(1, 2), door.decode_category(2, 2)), (Value::Empty, Value::Empty));
}
