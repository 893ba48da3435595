//! The quick way over a block against the plain one: take lines apart, then every value as text.

use super::Fields;
use crate::door::{Door, Raw};
use crate::error::Result;
use crate::schema::Schema;
use crate::source::lines::{Block, for_each_row};
use crate::source::place::Format;
use crate::source::plan::Plan;
use crate::source::quotes::scan;
use proptest::prelude::*;

const SCHEMA: &str = r#"
[[column]]
name = "height"
kind = "continuous"
min = -1.5
max = 2.5

[[column]]
name = "sex"
kind = "categorical"
values = ["f", "m", "none of the two"]
role = "stratum"

[[column]]
name = "age"
kind = "integer"
min = -10
max = 120

[[column]]
name = "smoker"
kind = "boolean"

[[column]]
name = "wide"
kind = "integer"
min = -9000000000000000000
max = 9000000000000000000
"#;

fn schema(columns: usize) -> Schema {
    let mut parts = SCHEMA.split("[[column]]").skip(1).take(columns);
    let text: String = parts.by_ref().map(|part| format!("[[column]]{part}")).collect();
    Schema::parse(&text, "test.toml").unwrap()
}

type Rows = (Vec<u16>, Vec<u32>);

/// What the reader was before: the values of each row as text, one after the other.
fn plainly(block: &Block, schema: &Schema, arrays: &[usize], numbers: &[usize], columns: usize) -> Result<Rows> {
    let (plan, door) = (Plan::new(schema, arrays), Door::new(schema));
    let (mut codes, mut strata) = (Vec::new(), Vec::new());
    for_each_row(block, "in.csv", Format::Csv, columns, |values| {
        for feature in plan.features() {
            let mut block = vec![1; feature.width];
            door.gate(feature.column).encode_block(Raw::Text(values[numbers[feature.array]]), &mut block);
            codes.extend(block);
        }
        let share = |&(number, column, weight): &(usize, usize, u32)| {
            weight * door.gate(column).category(Raw::Text(values[numbers[number]]))
        };
        strata.push(plan.strata().iter().map(share).sum());
    })?;
    Ok((codes, strata))
}

/// The columns of the file stand in reverse order, and `extra` ones that are not read stand before each.
fn compare(bytes: Vec<u8>, columns: usize, extra: usize) {
    let schema = schema(columns);
    let mut bytes = bytes;
    // As a block is cut: behind the last record whose quotes are in order.
    let scanned = scan(&bytes, b',', 7);
    if scanned.fault.is_some() {
        bytes.truncate(scanned.end);
    }
    let quoted = bytes.contains(&b'"');
    let block = Block { bytes, first: 7, quoted };
    let arrays: Vec<usize> = (0..columns).rev().collect();
    let numbers: Vec<usize> = (0..columns).map(|array| array * (extra + 1) + extra).collect();
    let all = columns * (extra + 1);
    let expected = plainly(&block, &schema, &arrays, &numbers, all);
    let (plan, door) = (Plan::new(&schema, &arrays), Door::new(&schema));
    let quickly = Fields::new(&plan, &numbers, all, &door, b',').encode(&block, "in.csv");
    match (expected, quickly) {
        (Ok((codes, strata)), Ok(found)) => {
            assert!(found.parts() == (&codes[..], &strata[..]), "{:?}", String::from_utf8_lossy(&block.bytes));
        }
        // The caller asks the plain way for the error of a block with quotes.
        (Err(_), Err(_)) if quoted => {}
        (Err(expected), Err(found)) => {
            assert_eq!((expected.to_string(), expected.advice()), (found.to_string(), found.advice()));
        }
        (expected, found) => panic!("{:?} or {:?}", expected.err(), found.err()),
    }
}

/// Values as they are found in files, and some that are not.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (-3.0..3.0f64).prop_map(|x| x.to_string()),
        2 => (-200..200i64).prop_map(|x| x.to_string()),
        1 => any::<i64>().prop_map(|x| x.to_string()),
        1 => any::<f64>().prop_map(|x| format!("{x:e}")),
        2 => "[+-]?[0-9]{0,25}\\.?[0-9]{0,25}([eE][+-]?[0-9]{0,4})?",
        1 => prop::sample::select(vec!["f", "m", "none of the two", "yes", "0", "1", "", "nan", "inf", "true", " 1 "])
            .prop_map(String::from),
        1 => "[ 0-9.eE+\r_'a-z-]{0,9}",
        2 => (-3.0..3.0f64).prop_map(|x| format!("\"{x}\"")),
        1 => prop::sample::select(vec!["\"f\"", "\"m\"", "\"\"", "\"a\"\"b\"", "\"1,\n2\"", "\"7\"\"\"", "\"1\r\"", "a\"b"])
            .prop_map(String::from),
    ]
}

/// Lines of some values with all kinds of line ends, now and then with an empty line or one value too few.
fn text(values: usize) -> impl Strategy<Value = Vec<u8>> {
    let row = prop::collection::vec(value(), values);
    let end = prop::sample::select(vec!["\n", "\n", "\n", "\r\n", "\r\n", "\n\n", "\r\n\r\n", "\r\r\n"]);
    let rows = prop::collection::vec((row, end), 0..12);
    (rows, 0..40usize, any::<bool>()).prop_map(|(rows, short, ended)| {
        let mut text = String::new();
        for (number, (row, end)) in rows.into_iter().enumerate() {
            let row = if number == short { &row[1..] } else { &row[..] };
            text.push_str(&row.join(","));
            text.push_str(end);
        }
        if !ended {
            text.pop();
        }
        text.into_bytes()
    })
}

/// Letters that mean something, and bytes that are not text.
fn soup() -> impl Strategy<Value = Vec<u8>> {
    let letters = b"0123456789\"\",,,,\n\n\r.eE+- fm\xff\xc3\xa9\xe2\x82".to_vec();
    prop::collection::vec(prop::sample::select(letters), 0..400)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn rows_of_values(columns in 1..=5usize, extra in 0..2usize, seed in text(1), wide in text(5), pairs in text(10)) {
        compare(seed, columns, extra);
        compare(wide, 5, 0);
        compare(pairs, 5, 1);
    }

    #[test]
    fn byte_soup(columns in 1..=5usize, extra in 0..2usize, bytes in soup()) {
        compare(bytes, columns, extra);
    }

    /// Long enough that the quick way is taken nearly everywhere.
    #[test]
    fn one_column(numbers in prop::collection::vec(value(), 0..60)) {
        let text: String = numbers.iter().map(|number| number.replace([',', '\n'], "") + "\n").collect();
        compare(text.into_bytes(), 1, 0);
    }
}
