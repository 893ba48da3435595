//! Every kind of column through every format, in and out, with real gaps.

mod door_support;

use arrow_array::types::*;
use arrow_array::*;
use arrow_schema::{DataType, TimeUnit};
use door_support::*;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use sunprint::door::{Door, Raw, Value};
use sunprint::schema::Schema;
use sunprint::schema::dates::{DAY, iso_day, iso_moment, read_iso};
use sunprint::source::*;

const KINDS: &str = r#"
[[column]]
name = "weight"
kind = "continuous"
min = 0
max = 250
decimals = 1
missing = "allow"

[[column]]
name = "income"
kind = "continuous"
min = 1
max = 1e6
scale = "log"

[[column]]
name = "children"
kind = "integer"
min = 0
max = 20
missing = "allow"

[[column]]
name = "hour"
kind = "integer"
min = 0
max = 23
scale = "cyclic"
missing = "allow"

[[column]]
name = "sex"
kind = "categorical"
values = ["f", "m"]
role = "stratum"
missing = "allow"

[[column]]
name = "size"
kind = "categorical"
values = ["s", "m", "l", "x, \"xl\""]
ordered = true
missing = "allow"

[[column]]
name = "colour"
kind = "categorical"
values = ["red", "green", "blue, or so"]
other = "green"
missing = "allow"

[[column]]
name = "town"
kind = "categorical"
values = ["Bonn", "Bern"]

[[column]]
name = "smokes"
kind = "boolean"
missing = "allow"

[[column]]
name = "born"
kind = "date"
min = "1920-01-01"
max = "2020-12-31"
format = "%d.%m.%Y"
missing = "allow"

[[column]]
name = "seen"
kind = "datetime"
min = "2020-01-01T00:00:00"
max = "2020-01-01T18:00:00"
"#;

fn kinds() -> Schema {
    Schema::parse(KINDS, "kinds.toml").unwrap()
}

/// What the codes of a table must be that was written from `drawn`.
fn expected(schema: &Schema, drawn: &Drawn) -> Vec<(Vec<u16>, u32)> {
    let door = Door::new(schema);
    let row = |row: usize| {
        let mut codes = vec![0; schema.width()];
        for block in schema.blocks() {
            let gate = door.gate(block.column);
            let value = gate.decode_block(&drawn.row(row)[block.start..block.end()]).0;
            let raw = match value {
                Value::Number(x) => Raw::Number(x),
                Value::Integer(x) => Raw::Integer(x),
                Value::Truth(truth) => Raw::Truth(truth),
                Value::Category(text) => Raw::Text(text),
                Value::Date(day) => Raw::Moment(day * DAY),
                Value::Moment(moment) => Raw::Moment(moment),
                Value::Empty => Raw::Empty,
            };
            gate.encode_block(raw, &mut codes[block.start..block.end()]);
        }
        (codes, drawn.strata[row])
    };
    (0..drawn.rows()).map(row).collect()
}

#[test]
fn every_kind_comes_back_from_every_format() {
    let (folder, schema) = (tempfile::tempdir().unwrap(), kinds());
    let drawn = drawn(schema.width(), 3, 10_000);
    let mut layout = Layout::of_schema(&schema);
    layout.columns.rotate_left(4);
    let expected = expected(&schema, &drawn);
    // The price of few digits on a log scale: the last code may be another.
    let income = 2;
    for format in every_format() {
        let path = folder.path().join(format!("out.{}", format.word()));
        write(&path, &schema, &layout, &drawn).unwrap();
        let found = rows(&open(&path, &schema).unwrap());
        assert_eq!(found.len(), expected.len());
        for (row, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert_eq!(found.1, expected.1, "{}, row {row}", format.word());
            for (place, (a, b)) in found.0.iter().zip(&expected.0).enumerate() {
                assert!(a.abs_diff(*b) <= u16::from(place == income), "{}, {row}, {place}: {a}, {b}", format.word());
            }
        }
        let report = check(&Input::new(&path, None), &schema, &Silent).unwrap();
        assert!(report.is_clean(), "{}: what is written fits the schema", format.word());
        let gaps: Vec<bool> = report.columns.iter().map(|column| column.empty > 0).collect();
        let allowed: Vec<bool> = report.columns.iter().map(|column| column.missing_allowed).collect();
        assert_eq!(gaps, allowed, "{}", format.word());
    }
}

#[test]
fn text_has_empty_cells_and_the_formats_of_the_schema() {
    let (folder, schema) = (tempfile::tempdir().unwrap(), kinds());
    let blocks = schema.blocks();
    let row = |gap: f64| {
        let mut units = vec![0.0; schema.width()];
        for block in &blocks {
            if block.absence {
                units[block.len + block.start] = gap;
            }
            let hot = if gap > 0.5 { block.len - 1 } else { 0 };
            if block.len > 2 || schema.columns[block.column].name == "town" {
                units[block.start + hot] = 1.0;
            }
        }
        units
    };
    let drawn = Drawn { width: schema.width(), units: [row(0.0), row(1.0)].concat(), strata: vec![1, 2] };
    let path = folder.path().join("out.csv");
    write(&path, &schema, &Layout::of_schema(&schema), &drawn).unwrap();
    assert_eq!(
        std::fs::read_to_string(path).unwrap(),
        "weight,income,children,hour,sex,size,colour,town,smokes,born,seen\n\
         0.0,1.0,0,15,m,s,red,Bonn,false,01.01.1920,2020-01-01T00:00:00\n\
         ,1.0,,,,,,Bern,,,2020-01-01T00:00:00\n"
    );
}

/// Some moments, with gaps.
fn moment(row: usize) -> Option<i64> {
    (row % 7 != 3).then(|| read_iso("1950-03-01").unwrap() + row as i64 * 7_654_321)
}

fn stamps<T: ArrowTimestampType>(per_second: i64, zone: Option<&str>) -> ArrayRef {
    let steps = (0..ROWS).map(|row| moment(row).map(|moment| moment * per_second + per_second / 3));
    Arc::new(steps.collect::<PrimitiveArray<T>>().with_timezone_opt(zone))
}

const ROWS: usize = 300;

/// Columns of all types that dates come in.
fn dates() -> Vec<(&'static str, ArrayRef)> {
    let day = |row| moment(row).map(|moment| moment.div_euclid(DAY));
    vec![
        ("date32", Arc::new((0..ROWS).map(|row| day(row).map(|day| day as i32)).collect::<Date32Array>())),
        ("date64", Arc::new((0..ROWS).map(|row| day(row).map(|day| day * DAY * 1000)).collect::<Date64Array>())),
        ("s", stamps::<TimestampSecondType>(1, None)),
        ("ms", stamps::<TimestampMillisecondType>(1_000, Some("UTC"))),
        ("us", stamps::<TimestampMicrosecondType>(1_000_000, Some("Europe/Berlin"))),
        ("ns", stamps::<TimestampNanosecondType>(1_000_000_000, None)),
        ("text", Arc::new((0..ROWS).map(|row| day(row).map(iso_day)).collect::<StringArray>())),
        ("words", Arc::new((0..ROWS).map(|row| moment(row).map(iso_moment)).collect::<LargeStringArray>())),
    ]
}

fn dates_schema() -> Schema {
    let range = "min = \"1960-01-01\"\nmax = \"2020-12-31\"\nmissing = \"allow\"\n";
    let column = |(name, array): &(&str, ArrayRef)| {
        let day = matches!(array.data_type(), DataType::Date32 | DataType::Date64 | DataType::Utf8);
        format!("[[column]]\nname = \"{name}\"\nkind = \"{}\"\n{range}", if day { "date" } else { "datetime" })
    };
    Schema::parse(&dates().iter().map(column).collect::<String>(), "dates.toml").unwrap()
}

fn write_arrow(path: &Path, columns: Vec<(&str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)));
    let batch = batch.unwrap();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(File::create(path).unwrap(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
}

#[test]
fn dates_come_in_all_types_and_go_out_in_the_same() {
    let (folder, schema) = (tempfile::tempdir().unwrap(), dates_schema());
    let (parquet, arrow) = (folder.path().join("in.parquet"), folder.path().join("in.arrow"));
    write_parquet(&parquet, dates(), true);
    write_arrow(&arrow, dates());
    let text = |row: usize| moment(row).map(|moment| [iso_day(moment.div_euclid(DAY)), iso_moment(moment)]);
    let line = |row: usize| {
        let [day, moment] = text(row).unwrap_or_default();
        format!("{day},{day},{moment},{moment},{moment},{moment},{day},{moment}\n")
    };
    let lines: String = (0..ROWS).map(line).collect();
    let csv = file(&folder, "in.csv", format!("date32,date64,s,ms,us,ns,text,words\n{lines}"));
    let plain = rows(&open(&csv, &schema).unwrap());
    assert!(plain.iter().any(|(codes, _)| codes[1] > 0) && plain.iter().any(|(codes, _)| codes[0] == 0));
    for input in [&parquet, &arrow] {
        let table = open(input, &schema).unwrap();
        assert!(rows(&table) == plain, "{}", input.display());
        let drawn = drawn(schema.width(), 1, 500);
        for word in ["parquet", "arrow"] {
            let out = folder.path().join(format!("out.{word}"));
            write(&out, &schema, table.layout(), &drawn).unwrap();
            let again = open(&out, &schema).unwrap();
            assert_eq!(again.layout(), table.layout(), "{word}");
            assert!(rows(&again) == expected(&schema, &drawn), "{word}");
        }
    }
    // The types themselves, as another reader sees them.
    let reader = arrow_ipc::reader::FileReader::try_new(File::open(folder.path().join("out.arrow")).unwrap(), None);
    let found = reader.unwrap().schema();
    for ((name, array), field) in dates().iter().zip(found.fields()) {
        assert_eq!((field.name().as_str(), field.data_type()), (*name, array.data_type()));
    }
    assert_eq!(found.field(4).data_type(), &DataType::Timestamp(TimeUnit::Microsecond, Some("Europe/Berlin".into())));
}

#[test]
fn dates_and_numbers_are_not_mistaken_for_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.parquet");
    let day = "kind = \"date\"\nmin = \"1960-01-01\"\nmax = \"2020-12-31\"\n";
    let number = "kind = \"integer\"\nmin = 0\nmax = 10\n";
    let schema = |kind: &str| Schema::parse(&format!("[[column]]\nname = \"x\"\n{kind}"), "x.toml").unwrap();
    write_parquet(&path, vec![("x", Arc::new(Date32Array::from(vec![1, 2])))], true);
    let place = path.display();
    assert_eq!(
        refusal(&path, &schema(number)).to_string(),
        format!("{place}: column `x` holds dates and the schema says `integer`")
    );
    write_parquet(&path, vec![("x", Arc::new(Int32Array::from(vec![1, 2])))], true);
    assert_eq!(
        refusal(&path, &schema(day)).to_string(),
        format!("{place}: column `x` holds whole numbers and the schema says `date`")
    );
}

/// Values of every wrong sort in every kind of column: counted, taken in, and never a reason to fail.
#[test]
fn bad_values_never_fail() {
    let (folder, schema) = (tempfile::tempdir().unwrap(), kinds());
    let header: Vec<&str> = schema.columns.iter().map(|column| column.name.as_str()).collect();
    let bad = ["", "NA", "purple", "-1e999", "31.02.1999", "9999-99-99", "nan", "\u{fffd}", "1e5", "00:00"];
    let mut text = header.join(",") + "\n";
    for value in bad {
        text += &(vec![value; header.len()].join(",") + "\n");
    }
    let plain = file(&folder, "bad.csv", &text);
    let quoted: String = text.lines().map(|line| format!("\"{}\"\n", line.replace(',', "\",\""))).collect();
    let table = rows(&open(&plain, &schema).unwrap());
    assert!(table == rows(&open(&file(&folder, "quoted.csv", quoted), &schema).unwrap()));
    let columns = || header.iter().map(|name| (*name, Arc::new(StringArray::from(bad.to_vec())) as ArrayRef)).collect();
    let (parquet, arrow) = (folder.path().join("bad.parquet"), folder.path().join("bad.arrow"));
    write_parquet(&parquet, columns(), true);
    write_arrow(&arrow, columns());
    assert!(rows(&open(&parquet, &schema).unwrap()) == table && rows(&open(&arrow, &schema).unwrap()) == table);
    let report = check(&Input::new(&plain, None), &schema, &Silent).unwrap();
    let of = |name: &str| report.columns.iter().find(|column| column.name == name).unwrap();
    assert_eq!((of("colour").empty, of("colour").unlisted), (1, 9));
    assert_eq!((of("born").empty, of("born").not_a_number), (1, 9));
    assert_eq!((of("children").empty, of("children").below, of("children").above), (1, 1, 1));
    assert_eq!((of("income").empty, of("income").below, of("income").not_a_number), (1, 1, 7));
}

#[test]
fn a_column_that_is_all_missing() {
    let (folder, schema) = (tempfile::tempdir().unwrap(), kinds());
    let header: Vec<&str> = schema.columns.iter().map(|column| column.name.as_str()).collect();
    let empty = vec![""; header.len()].join(",");
    let csv = file(&folder, "empty.csv", format!("{}\n{empty}\n{empty}\n", header.join(",")));
    let table = rows(&open(&csv, &schema).unwrap());
    let nulls = |name: &&'static str| (*name, Arc::new(StringArray::new_null(2)) as ArrayRef);
    let names = ["weight", "income", "children", "hour", "sex", "size", "colour", "town", "smokes", "born", "seen"];
    let path = folder.path().join("empty.parquet");
    write_parquet(&path, names.iter().map(nulls).collect(), true);
    assert!(rows(&open(&path, &schema).unwrap()) == table);
    // Writers that see no value give the column no type; the schema's is taken.
    let nothing = |name: &&'static str| (*name, Arc::new(NullArray::new(2)) as ArrayRef);
    let arrow = folder.path().join("empty.arrow");
    write_arrow(&arrow, names.iter().map(nothing).collect());
    write_parquet(&path, names.iter().map(nothing).collect(), true);
    for path in [&arrow, &path] {
        let untyped = open(path, &schema).unwrap();
        assert!(rows(&untyped) == table, "{}", path.display());
        assert_eq!(untyped.layout().columns[9].physical, PhysicalType::Date32);
        assert!(check(&Input::new(path, None), &schema, &Silent).unwrap().columns.iter().all(|one| one.empty == 2));
    }
    // The last stratum is the missing one.
    assert!(table.iter().all(|(_, stratum)| *stratum == 2));
}
