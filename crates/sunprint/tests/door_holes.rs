//! What one row's values can do to the number of rows, to the fate of a file and to what is said about it: nothing.

mod door_support;

use arrow_array::types::{Int8Type, Int64Type};
use arrow_array::*;
use arrow_schema::{DataType, Field, Schema as ArrowSchema};
use door_support::*;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use sunprint::schema::Schema;
use sunprint::source::*;

/// The error's text behind the file's name, the same for reading and for checking.
fn sentence(path: &Path, schema: &Schema) -> String {
    let text = refusal(path, schema).to_string();
    assert_eq!(check(&Input::new(path, None), schema, &Silent).unwrap_err().to_string(), text);
    text.strip_prefix(&path.display().to_string()).unwrap().to_string()
}

fn one() -> Schema {
    Schema::parse("[[column]]\nname = \"a\"\nkind = \"integer\"\nmin = 0\nmax = 9\n", "one.toml").unwrap()
}

/// A feature `a` between 0 and 10 and a label `c` that is `x` or `y`.
fn labelled() -> Schema {
    let text = "[[column]]\nname = \"a\"\nkind = \"continuous\"\nmin = 0\nmax = 10\n\
                [[column]]\nname = \"c\"\nkind = \"categorical\"\nvalues = [\"x\", \"y\"]\nrole = \"label\"\n";
    Schema::parse(text, "labelled.toml").unwrap()
}

#[test]
fn an_open_quote_swallows_no_rows() {
    let (folder, schema) = (tempfile::tempdir().unwrap(), two());
    let refused = |text: &str| sentence(&file(&folder, "in.csv", text), &schema);
    let open = "a quoted value begins on this line and is not closed";
    let behind = "text follows a closing quote on this line";
    let long = "a quoted value begins on this line and is longer than 1000 lines or 1 MiB";
    let many = "5,6\n".repeat(10);
    assert_eq!(refused(&format!("a,b\n1,2\n3,\"4\n{many}")), format!(":3: {open}"));
    assert_eq!(refused(&format!("a,b\n1,2\n3,\"4\n{many}5,\"6\"\n")), format!(":14: {behind}"));
    assert_eq!(refused("a,b\n1,\"2\"3\n"), format!(":2: {behind}"));
    assert_eq!(refused(&format!("a,b\n1,2\n3,\"4\n{}5,6\"\n", "5,6\n".repeat(1000))), format!(":3: {long}"));
    assert_eq!(refused(&format!("a,b\n1,\"{}\"\n", "2".repeat(2 << 20))), format!(":2: {long}"));
    // Ragged rows before the quote are found first.
    assert_eq!(refused("a,b\n1\n3,\"4\n"), ":2: this line has 1 value and the header names 2 columns");
    // Far behind the first block of a large file, and where one block meets the next.
    let mut text = "a,b\n".to_string() + &"1.5,2.5\n".repeat(700_000);
    text.push_str("3,\"4\n5,6\n");
    assert_eq!(refused(&text), format!(":700002: {open}"));
    for shift in 0..12 {
        let before = "1.5,2.5\n".repeat((1 << 18) - 1);
        let fill = "0".repeat(shift);
        let text = format!("a,b\n{before}{fill}1,2\n\"3\n\"\"3\",\"4\"\r\n{}", "1.5,2.5\n".repeat(5));
        let table = open_rows(&file(&folder, "edge.csv", &text), &schema);
        assert_eq!(table, (1 << 18) - 1 + 2 + 5, "{shift}");
        assert_eq!(refused(&format!("a,b\n{before}{fill}1,2\n3,\"4\n5,6\n")), format!(":262146: {open}"));
        assert_eq!(refused(&format!("a,b\n{before}{fill}1,2\n3,\"4\"5\n5,6\n")), format!(":262146: {behind}"));
    }
}

fn open_rows(path: &Path, schema: &Schema) -> usize {
    let table = open(path, schema).unwrap();
    assert_eq!(check(&Input::new(path, None), schema, &Silent).unwrap().rows, table.rows() as u64);
    table.rows()
}

#[test]
fn a_header_is_one_line_and_shows_no_row() {
    let (folder, schema) = (tempfile::tempdir().unwrap(), two());
    for text in [
        "a,\"b\nSECRET,2\n3,\"4\n",
        "a,\"b\n\"\nSECRET,2\n",
        "\"a,b\nSECRET,2\n",
        "a,b\rSECRET,2\r3,4\r",
        "a,\"b\r\"\nSECRET,2\n",
    ] {
        let path = file(&folder, "in.csv", text);
        assert_eq!(sentence(&path, &schema), ":1: the header spans several lines", "{text:?}");
        let input = Input::new(&path, None);
        for error in [skeleton(&input).unwrap_err(), skeleton_from_public_data(&input, &Silent).unwrap_err()] {
            assert!(error.to_string().ends_with(":1: the header spans several lines"), "{error}");
        }
    }
    let headless = file(&folder, "in.csv", "a,SECRET\n1,2\n");
    assert_eq!(sentence(&headless, &schema), ": column number 2 of the file is not in the schema");
    assert_eq!(
        sentence(&file(&folder, "in.csv", "a,\"b\"SECRET\n1,2\n"), &schema),
        ":1: text follows a closing quote on this line"
    );
    // Names in quotes, a mark at the start and empty lines above are all one header.
    let good = file(&folder, "in.csv", "\u{feff}\r\n\n\"a\",\"b\"\r\n1,2\r\n");
    assert_eq!(open_rows(&good, &schema), 1);
}

#[test]
fn bytes_that_are_not_text_are_values_like_any_other() {
    let (folder, schema) = (tempfile::tempdir().unwrap(), labelled());
    for (quote, end) in [("", "\n"), ("\"", "\r\n")] {
        let mut bytes = format!("a,c{end}10,y{end}").into_bytes();
        for row in [(b"\xff".as_slice(), b"y".as_slice()), (b"10", b"\xfe\xff"), (b"1\xc3", b"\xe2\x82"), (b"10", b"y")]
        {
            bytes.extend([row.0, b",", quote.as_bytes(), row.1, quote.as_bytes(), end.as_bytes()].concat());
        }
        let path = file(&folder, "in.csv", &bytes);
        let expected = [(65535, 1), (32768, 1), (65535, 0), (32768, 0), (65535, 1)];
        assert_eq!(rows(&open(&path, &schema).unwrap()), expected.map(|(code, stratum)| (vec![code], stratum)));
        let report = check(&Input::new(&path, None), &schema, &Silent).unwrap();
        assert_eq!((report.columns[0].not_a_number, report.columns[1].unlisted), (2, 2));
    }
}

#[test]
fn text_of_a_parquet_file_need_not_be_text() {
    let (folder, schema) = (tempfile::tempdir().unwrap(), labelled());
    let path = folder.path().join("in.parquet");
    let number: ArrayRef = Arc::new(Float64Array::from(vec![10.0; 4]));
    let texts = ["y", "zqzq", "x", "y"];
    let forms: [ArrayRef; 4] = [
        Arc::new(StringArray::from(texts.to_vec())),
        Arc::new(LargeStringArray::from(texts.to_vec())),
        Arc::new(StringViewArray::from(texts.to_vec())),
        Arc::new(texts.into_iter().collect::<DictionaryArray<Int8Type>>()),
    ];
    for form in forms {
        let kind = form.data_type().clone();
        write_parquet(&path, vec![("a", Arc::clone(&number)), ("c", form)], true);
        // The one value that is not listed, made into bytes that are not UTF-8.
        let mut bytes = std::fs::read(&path).unwrap();
        let places: Vec<usize> = (0..bytes.len() - 4).filter(|&at| bytes[at..].starts_with(b"zqzq")).collect();
        assert!(!places.is_empty());
        for at in places {
            bytes[at..at + 4].copy_from_slice(b"\xff\xfe\xff\xfe");
        }
        std::fs::write(&path, bytes).unwrap();
        let strata: Vec<u32> = rows(&open(&path, &schema).unwrap()).into_iter().map(|row| row.1).collect();
        assert_eq!(strata, [1, 0, 0, 1], "{kind}");
        assert_eq!(check(&Input::new(&path, None), &schema, &Silent).unwrap().columns[1].unlisted, 1);
    }
}

/// Texts of Arrow in every form, one of which is `zqzq` or bytes that are no text.
#[test]
fn text_of_an_arrow_file_need_not_be_text() {
    let (folder, schema) = (tempfile::tempdir().unwrap(), labelled());
    let row = |i: usize| ["y", "zqzq", "x", "y", "a text that stands outside of its view"][i % 5];
    let texts: Vec<&str> = (0..600).map(row).collect();
    let forms: [ArrayRef; 5] = [
        Arc::new(StringArray::from(texts.clone())),
        Arc::new(LargeStringArray::from(texts.clone())),
        Arc::new(StringViewArray::from(texts.clone())),
        Arc::new(texts.iter().copied().collect::<DictionaryArray<Int8Type>>()),
        Arc::new(DictionaryArray::new(
            (0..600).map(|i| (i % 5) as i8).collect::<PrimitiveArray<Int8Type>>(),
            Arc::new(StringViewArray::from(texts[..5].to_vec())),
        )),
    ];
    let expected: Vec<u32> = (0..600).map(|i| u32::from(row(i) == "y")).collect();
    let list = ListArray::new(
        Arc::new(Field::new("item", DataType::Utf8, true)),
        arrow_buffer::OffsetBuffer::from_lengths(vec![1; 600]),
        Arc::new(StringArray::from(texts)),
        None,
    );
    for form in forms {
        let kind = form.data_type().clone();
        let columns: [(&str, ArrayRef); 3] =
            [("a", Arc::new(Float64Array::from(vec![10.0; 600]))), ("c", form), ("more", Arc::new(list.clone()))];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        for (name, rows) in [("in.arrow", 600), ("many.arrow", 30), ("in.arrows", 30)] {
            let path = folder.path().join(name);
            let mut written = write_arrow(&batch, rows, name.ends_with('s'));
            for changed in [false, true] {
                std::fs::write(&path, &written).unwrap();
                let input = Input::new(&path, None).ignoring_extra(true);
                let table = Table::open(&input, &schema, &Silent).unwrap();
                let strata: Vec<u32> = rows_of(&table);
                assert_eq!(strata, expected, "{kind} {name} {changed}");
                assert_eq!(check(&input, &schema, &Silent).unwrap().columns[1].unlisted, 240, "{kind} {name}");
                // The model keeps the file's own type.
                let text = Table::open(&input, &schema, &Silent).unwrap().layout().columns[1].physical;
                assert!(matches!(
                    (&kind, text),
                    (DataType::Utf8, PhysicalType::Utf8)
                        | (DataType::LargeUtf8, PhysicalType::LargeUtf8)
                        | (DataType::Utf8View, PhysicalType::Utf8View)
                        | (DataType::Dictionary(..), PhysicalType::Dictionary { .. })
                ));
                let places: Vec<usize> =
                    (0..written.len() - 4).filter(|&at| written[at..].starts_with(b"zqzq")).collect();
                assert_eq!(places.is_empty(), changed);
                places.into_iter().for_each(|at| written[at..at + 4].copy_from_slice(b"\xff\xfe\xff\xfe"));
            }
        }
    }
}

fn rows_of(table: &Table) -> Vec<u32> {
    rows(table).into_iter().map(|row| row.1).collect()
}

fn write_arrow(batch: &RecordBatch, rows: usize, stream: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    let parts = (0..batch.num_rows()).step_by(rows).map(|first| batch.slice(first, rows));
    if stream {
        let mut writer = arrow_ipc::writer::StreamWriter::try_new(&mut bytes, &batch.schema()).unwrap();
        parts.for_each(|part| writer.write(&part).unwrap());
        writer.finish().unwrap();
    } else {
        let mut writer = arrow_ipc::writer::FileWriter::try_new(&mut bytes, &batch.schema()).unwrap();
        parts.for_each(|part| writer.write(&part).unwrap());
        writer.finish().unwrap();
    }
    bytes
}

/// Offsets that point outside of a text are no table: refused, as before, and not read.
#[test]
fn offsets_of_an_arrow_file_are_checked() {
    let (folder, schema) = (tempfile::tempdir().unwrap(), labelled());
    let offsets: Vec<u8> = [0i32, 1, 5, 6, 7].iter().flat_map(|end| end.to_le_bytes()).collect();
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["y", "zqzq", "x", "y"]));
    let numbers: ArrayRef = Arc::new(Float64Array::from(vec![10.0; 4]));
    let batch = RecordBatch::try_from_iter([("a", numbers), ("c", texts)]).unwrap();
    for (name, stream) in [("in.arrow", false), ("in.arrows", true)] {
        let bytes = write_arrow(&batch, 4, stream);
        let at = bytes.windows(offsets.len()).position(|window| window == offsets).unwrap();
        for (place, end) in [(2, 1 << 30), (1, -1), (2, 0), (4, 1 << 30)] {
            let mut bad = bytes.clone();
            bad[at + 4 * place..][..4].copy_from_slice(&i32::to_le_bytes(end));
            let path = file(&folder, name, &bad);
            assert_eq!(sentence(&path, &schema), ": this is not a readable Arrow IPC file", "{name} {place} {end}");
        }
        assert_eq!(open_rows(&file(&folder, name, &bytes), &schema), 4);
    }
}

#[test]
fn a_dictionary_may_have_more_values_than_its_keys_count() {
    let (folder, schema) = (tempfile::tempdir().unwrap(), labelled());
    let path = folder.path().join("in.parquet");
    // Two batches of a hundred texts each: each fits keys of 8 bits, and both together do not.
    let batch = |from: usize| {
        let texts: Vec<String> = (from..from + 100).map(|i| format!("t{i}")).collect();
        let texts: DictionaryArray<Int8Type> = texts.iter().map(String::as_str).collect();
        let numbers: DictionaryArray<Int8Type> = DictionaryArray::new(
            (0..100).collect::<PrimitiveArray<Int8Type>>(),
            Arc::new((from as i64..from as i64 + 100).collect::<PrimitiveArray<Int64Type>>()),
        );
        vec![Arc::new(numbers) as ArrayRef, Arc::new(texts) as ArrayRef]
    };
    let kind = |value| DataType::Dictionary(Box::new(DataType::Int8), Box::new(value));
    let fields = vec![Field::new("a", kind(DataType::Int64), false), Field::new("c", kind(DataType::Utf8), false)];
    let arrow = Arc::new(ArrowSchema::new(fields));
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(File::create(&path).unwrap(), Arc::clone(&arrow), None).unwrap();
    for from in [0, 100] {
        writer.write(&RecordBatch::try_new(Arc::clone(&arrow), batch(from)).unwrap()).unwrap();
    }
    writer.close().unwrap();
    let table = open(&path, &schema).unwrap();
    assert_eq!(table.rows(), 200);
    assert_eq!(rows(&table)[5].0, [32768]);
    assert_eq!(check(&Input::new(&path, None), &schema, &Silent).unwrap().columns[1].unlisted, 200);
    let forms: Vec<PhysicalType> = table.layout().columns.iter().map(|column| column.physical).collect();
    assert_eq!(forms, [PhysicalType::Int64, PhysicalType::Dictionary { key_bits: 8, signed: true, large: false }]);
}

#[test]
fn a_layout_does_not_tell_whether_values_are_missing() {
    let (folder, schema) = (tempfile::tempdir().unwrap(), two());
    let layouts = [true, false].map(|nullable| {
        let path = folder.path().join("in.parquet");
        let column = || Arc::new(Float64Array::from(vec![1.0])) as ArrayRef;
        write_parquet(&path, vec![("a", column()), ("b", column())], nullable);
        open(&path, &schema).unwrap().layout().clone()
    });
    assert_eq!(layouts[0], layouts[1]);
    assert!(layouts[0].columns.iter().all(|column| column.nullable));
}

#[test]
fn every_line_of_one_column_is_a_row() {
    let (folder, schema) = (tempfile::tempdir().unwrap(), one());
    for end in ["\n", "\r\n"] {
        // The third and the last value in every way in which they can be said, also as nothing.
        let ways = ["3", "", "\"\"", "\"3\"", "\"3\n\n3\"", "x\"\"", "3\r3", " ", "\u{feff}", "\"\u{feff}\""];
        for value in ways {
            for last in ways {
                let lines = ["a", "1", "", value, "", last];
                let path = file(&folder, "in.csv", lines.join(end) + end);
                let empty = 2 + [value, last].iter().filter(|value| ["", "\"\"", " "].contains(value)).count() as u64;
                assert_eq!(open_rows(&path, &schema), 5, "{value:?} {last:?}");
                let report = check(&Input::new(&path, None), &schema, &Silent).unwrap();
                assert_eq!(report.columns[0].empty, empty, "{value:?} {last:?}");
                // Without a last line end nobody knows whether an empty value stood behind the one before.
                if !last.is_empty() {
                    let path = file(&folder, "in.csv", lines.join(end));
                    let said = sentence(&path, &schema);
                    assert!(said.ends_with("the last line of a table with one column has no line end"), "{said}");
                }
            }
        }
    }
    // A mark at the start of the first row, with a quote in the file and without one.
    for last in ["4", "\"4\""] {
        let path = file(&folder, "in.csv", format!("a\n\u{feff}\n{last}\n"));
        assert_eq!(open_rows(&path, &schema), 2);
    }
}

#[test]
fn only_a_line_without_a_byte_is_no_row_of_a_wide_table() {
    let (folder, schema) = (tempfile::tempdir().unwrap(), two());
    let ragged = "this line has 1 value and the header names 2 columns";
    for line in ["\"\"", "\"\"\r", " ", "\u{feff}"] {
        for quote in ["", "\""] {
            let path = file(&folder, "in.csv", format!("a,b\n{quote}1{quote},2\n{line}\n3,4\n"));
            assert_eq!(sentence(&path, &schema), format!(":3: {ragged}"), "{line:?}");
        }
    }
    for quote in ["", "\""] {
        let path = file(&folder, "in.csv", format!("a,b\n\n{quote}1{quote},2\r\n\r\n3,4\n\n"));
        assert_eq!(open_rows(&path, &schema), 2);
    }
}
