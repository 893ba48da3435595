//! From door to door over every format: names, order, types and codes come back.

mod door_support;

use arrow_array::types::{Int8Type, UInt32Type};
use arrow_array::*;
use arrow_schema::{Field, Schema as ArrowSchema};
use door_support::*;
use std::fs::File;
use std::sync::Arc;
use sunprint::door::{Door, Raw, Value};
use sunprint::schema::Schema;
use sunprint::source::*;

/// What the codes of a table must be that was written from `drawn`.
fn expected(schema: &Schema, drawn: &Drawn) -> Vec<(Vec<u16>, u32)> {
    let door = Door::new(schema);
    let code = |(&column, &unit): (&usize, &f64)| match door.decode(column, unit) {
        Value::Number(x) => door.encode_f64(column, x),
        Value::Integer(x) => door.encode_i64(column, x),
        Value::Truth(truth) => door.gate(column).encode(Raw::Truth(truth)),
        Value::Category(text) => door.encode_text(column, text),
        _ => unreachable!("the schema has no other kinds"),
    };
    let features = schema.features();
    let row = |row: usize| (features.iter().zip(drawn.row(row)).map(code).collect(), drawn.strata[row]);
    (0..drawn.rows()).map(row).collect()
}

#[test]
fn every_format_comes_back() {
    let (folder, schema) = (tempfile::tempdir().unwrap(), schema());
    // More rows than a chunk and a batch, columns in another order than the schema's.
    let drawn = drawn(schema.width(), 6, 40_000);
    let mut layout = Layout::of_schema(&schema);
    layout.columns.rotate_left(2);
    for format in every_format() {
        let path = folder.path().join(format!("out.{}", format.word()));
        write(&path, &schema, &layout, &drawn).unwrap();
        let table = open(&path, &schema).unwrap();
        assert_eq!(table.rows(), 40_000, "{}", format.word());
        assert!(rows(&table) == expected(&schema, &drawn), "{}", format.word());
        let names = |layout: &Layout| layout.columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(table.layout()), names(&layout));
        // And again from the file's own layout: the same types.
        let again = folder.path().join(format!("again.{}", format.word()));
        write(&again, &schema, table.layout(), &drawn).unwrap();
        assert_eq!(open(&again, &schema).unwrap().layout(), table.layout(), "{}", format.word());
        assert!(check(&Input::new(&path, None), &schema, &Silent).unwrap().is_clean());
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 16, "nothing but the outputs is left");
}

#[test]
fn a_format_can_be_named_instead_of_shown_by_the_extension() {
    let (folder, schema) = (tempfile::tempdir().unwrap(), two());
    let path = folder.path().join("table.dat");
    let output = Output::new(&path, Some(Format::TsvZst));
    let writer = TableWriter::create(&output, output.format().unwrap(), &schema, &Layout::of_schema(&schema));
    let mut writer = writer.unwrap();
    writer.write(&drawn(2, 1, 3)).unwrap();
    writer.finish().unwrap();
    let table = Table::open(&Input::new(&path, Some(Format::TsvZst)), &schema, &Silent).unwrap();
    assert_eq!(table.rows(), 3);
    assert_eq!("tsv.zst".parse::<Format>().unwrap(), Format::TsvZst);
    assert_eq!("xls".parse::<Format>().unwrap_err().to_string(), "unknown format `xls`");
    assert_eq!(
        Input::new(&path, None).format().unwrap_err().to_string(),
        format!("{}: the format is not known from the name", path.display())
    );
    assert_eq!(Format::of_path("a/PEOPLE.CSV.GZ".as_ref()), Some(Format::CsvGz));
}

#[test]
fn text_as_it_is_found_in_the_world() {
    let (folder, schema) = (tempfile::tempdir().unwrap(), two());
    let plain = vec![(vec![0, 65535], 0), (vec![32768, 16384], 0)];
    let cases: [&[u8]; 7] = [
        b"a,b\n0,10\n5,2.5\n",
        b"\xef\xbb\xbfa,b\r\n0,10\r\n5,2.5\r\n",
        b"\n\n a ,b\n0, 10\n\n5,2.5",
        b"\"a\",\"b\"\n\"0\",\"10\"\n\"5\",\"2.5\"\n",
        b"b,a\n10,-1\n2.5,\n",
        b"a,b\n-inf,1e9\n\"multi\nline\",2.5\n",
        b"a,b\n0,10\nNaN,\" 2.5 \"",
    ];
    for bytes in cases {
        let table = open(&file(&folder, "in.csv", bytes), &schema).unwrap();
        assert_eq!(rows(&table), plain, "{:?}", String::from_utf8_lossy(bytes));
    }
    assert_eq!(rows(&open(&file(&folder, "one.csv", "a,b\n0,10\n"), &schema).unwrap()), plain[..1]);
    assert_eq!(rows(&open(&file(&folder, "in.tsv", "a\tb\n0\t10\n5\t2.5\n"), &schema).unwrap()), plain);
}

#[test]
fn large_text_with_and_without_quotes_gives_the_same_codes_in_order() {
    let (folder, schema) = (tempfile::tempdir().unwrap(), two());
    let line = |i: usize| format!("{},{}\n", (i % 1000) as f64 / 100.0, (i / 1000) as f64 / 100.0);
    let plain: String = (0..400_000).map(line).collect();
    let plain = format!("a,b\n{plain}");
    // A quote deep inside: everything behind it is read by the other way.
    let middle = plain.len() / 2 + plain[plain.len() / 2..].find('\n').unwrap() + 1;
    let comma = middle + plain[middle..].find(',').unwrap();
    let quoted = format!("{}\"{}\"{}", &plain[..middle], &plain[middle..comma], &plain[comma..]);
    let one = open(&file(&folder, "plain.csv", &plain), &schema).unwrap();
    let other = open(&file(&folder, "quoted.csv", &quoted), &schema).unwrap();
    assert_eq!(one.rows(), 400_000);
    assert!(rows(&one) == rows(&other));
    let door = Door::new(&schema);
    for (i, (codes, _)) in rows(&one).iter().enumerate().step_by(9973) {
        assert_eq!(codes[0], door.encode_f64(0, (i % 1000) as f64 / 100.0));
    }
    // Tallies see every row once, in order.
    let firsts =
        one.tally(|codes| (0..codes.rows()).map(|i| codes.row(i)[1]).collect::<Vec<_>>(), |a, b| [a, b].concat());
    assert_eq!(firsts.len(), 400_000);
    assert!(firsts.is_sorted());
}

fn typed() -> (Schema, RecordBatch) {
    let number = |name: &str| format!("[[column]]\nname = \"{name}\"\nkind = \"continuous\"\nmin = 0\nmax = 4\n");
    let names = [
        "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64", "dec", "text", "large", "view", "truth",
        "codes",
    ];
    let text: String = names.iter().map(|name| number(name)).collect();
    let label = "kind = \"categorical\"\nvalues = [\"1\", \"3\", \"2\"]\nrole = \"stratum\"\n";
    let text = format!("{text}[[column]]\nname = \"words\"\n{label}[[column]]\nname = \"wide\"\n{label}");
    let schema = Schema::parse(&text, "typed.toml").unwrap();
    let words = Some("1").into_iter().chain(Some("3"));
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(Int8Array::from(vec![Some(1), Some(3), None])),
        Arc::new(Int16Array::from(vec![Some(1), Some(3), None])),
        Arc::new(Int32Array::from(vec![Some(1), Some(3), None])),
        Arc::new(Int64Array::from(vec![Some(1), Some(3), None])),
        Arc::new(UInt8Array::from(vec![Some(1), Some(3), None])),
        Arc::new(UInt16Array::from(vec![Some(1), Some(3), None])),
        Arc::new(UInt32Array::from(vec![Some(1), Some(3), None])),
        Arc::new(UInt64Array::from(vec![Some(1), Some(3), None])),
        Arc::new(Float32Array::from(vec![Some(1.0), Some(3.0), None])),
        Arc::new(Float64Array::from(vec![Some(1.0), Some(3.0), None])),
        Arc::new(Decimal128Array::from(vec![Some(100), Some(300), None]).with_precision_and_scale(10, 2).unwrap()),
        Arc::new(StringArray::from(vec![Some("1"), Some(" 3.0"), None])),
        Arc::new(LargeStringArray::from(vec![Some("1"), Some("3"), Some("many")])),
        Arc::new(StringViewArray::from(vec![Some("1"), Some("3"), None])),
        Arc::new(BooleanArray::from(vec![Some(true), Some(true), None])),
        Arc::new(Float64Array::from(vec![1.0, 3.0, f64::NAN])),
        Arc::new(words.map(Some).chain([None]).collect::<DictionaryArray<Int8Type>>()),
        Arc::new(vec![Some("1"), Some("3"), Some("9")].into_iter().collect::<DictionaryArray<UInt32Type>>()),
    ];
    let names = names.into_iter().chain(["words", "wide"]);
    let fields = names.zip(&arrays).map(|(name, array)| Field::new(name, array.data_type().clone(), true));
    let arrow = Arc::new(ArrowSchema::new(fields.collect::<Vec<_>>()));
    (schema, RecordBatch::try_new(arrow, arrays).unwrap())
}

fn write_typed(folder: &tempfile::TempDir, batch: &RecordBatch) -> [std::path::PathBuf; 3] {
    let paths = ["t.parquet", "t.arrow", "stream.arrow"].map(|name| folder.path().join(name));
    let create = |i: usize| File::create(&paths[i]).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(create(0), batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(create(1), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(create(2), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    paths
}

#[test]
fn every_physical_type_is_read_and_written_back() {
    let (folder, (schema, batch)) = (tempfile::tempdir().unwrap(), typed());
    for path in write_typed(&folder, &batch) {
        let table = open(&path, &schema).unwrap();
        let read = rows(&table);
        let truth = |other: u16| (0..16).map(|i| if i == 14 { 16384 } else { other }).collect::<Vec<u16>>();
        assert_eq!(read[0], (truth(16384), 0), "{}", path.display());
        assert_eq!(read[1], (truth(49151), 4));
        assert_eq!(read[2], (vec![32768; 16], 0), "nulls, NaN and words become the middle, unlisted the first");
        for format in [Format::Parquet, Format::Arrow] {
            let out = folder.path().join(format!("out.{}", format.word()));
            let drawn = Drawn { width: 16, units: vec![0.25; 16], strata: vec![5] };
            write(&out, &schema, table.layout(), &drawn).unwrap();
            let back = open(&out, &schema).unwrap();
            assert_eq!(back.layout(), table.layout(), "{}", path.display());
            assert_eq!(rows(&back), [(vec![16384; 16], 5)]);
        }
        let report = check(&Input::new(&path, None), &schema, &Silent).unwrap();
        let empty: Vec<u64> = report.columns.iter().map(|column| column.empty).collect();
        assert_eq!(empty, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 0, 1, 0]);
        assert_eq!(
            (report.columns[12].not_a_number, report.columns[15].not_a_number, report.columns[17].unlisted),
            (1, 1, 1)
        );
    }
}

#[test]
fn the_report_for_the_curator() {
    let (folder, schema) = (tempfile::tempdir().unwrap(), schema());
    let text = "age,height,sex,ill,smoker\n-11,0.4,f,no,true\n121,2.6,x,yes,maybe\nten,,,1,\n5,1,none,no,0\n";
    let report = check(&Input::new(file(&folder, "in.csv", text), None), &schema, &Silent).unwrap();
    assert_eq!(report.rows, 4);
    let json = serde_json::to_value(&report).unwrap();
    let counts = |name: &str| {
        let columns = json["columns"].as_array().unwrap();
        let column = columns.iter().find(|column| column["name"] == name).unwrap();
        ["below", "above", "not_a_number", "empty", "unlisted"].map(|key| column[key].as_u64().unwrap())
    };
    assert_eq!(counts("age"), [1, 1, 1, 0, 0]);
    assert_eq!(counts("height"), [1, 1, 0, 1, 0]);
    assert_eq!(counts("sex"), [0, 0, 0, 1, 1]);
    assert_eq!(counts("smoker"), [0, 0, 0, 1, 1]);
    assert_eq!(counts("ill"), [0, 0, 0, 0, 0]);
    assert!(!report.is_clean());
}

#[test]
fn text_is_written_in_the_schemas_spelling() {
    let (folder, schema) = (tempfile::tempdir().unwrap(), schema());
    let path = folder.path().join("out.csv");
    let drawn = Drawn { width: 3, units: vec![0.5, 0.0, 1.0, 0.0, 1.0, 0.0], strata: vec![3, 4] };
    write(&path, &schema, &Layout::of_schema(&schema), &drawn).unwrap();
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        "height,sex,age,smoker,ill\n1.5,\"m, or \"\"other\"\"\",-10,true,yes\n0.5,none,120,false,no\n"
    );
}

#[test]
fn skeletons() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "in.csv", "a b,\"q\"\"x\",flag,word\n1,2.5,true,u\n3,-1e3,false,v\n");
    let text = skeleton(&Input::new(&path, None)).unwrap();
    assert!(text.contains("name = \"q\\\"x\"\nkind = \"continuous\"\nmin = \"?\"\nmax = \"?\"\n"), "{text}");
    assert!(!text.contains("2.5") && !text.contains("1e3"));
    assert!(text.contains("\n[dataset]\nname = \"in\"  # "), "{text}");
    let refused = Schema::parse(&text, "in.toml").unwrap_err().to_string();
    assert_eq!(refused, "in.toml:22:7: `min` of column `a b` is still \"?\"");
    let text = skeleton_from_public_data(&Input::new(&path, None), &Silent).unwrap();
    assert!(text.contains("because the data was declared public"));
    let schema = Schema::parse(&text, "in.toml").unwrap();
    let kinds: Vec<&str> = schema.columns.iter().map(|column| column.kind.word()).collect();
    assert_eq!(kinds, ["integer", "continuous", "boolean", "categorical"]);
    assert!(check(&Input::new(&path, None), &schema, &Silent).unwrap().is_clean());
    let (_, batch) = typed();
    for path in write_typed(&folder, &batch) {
        let text = skeleton(&Input::new(&path, None)).unwrap();
        assert!(
            text.contains("name = \"i8\"\nkind = \"integer\"")
                && text.contains("name = \"dec\"\nkind = \"continuous\"")
        );
        assert!(text.contains("name = \"words\"\nkind = \"categorical\"\nvalues = \"?\""));
        let text = skeleton_from_public_data(&Input::new(&path, None), &Silent).unwrap();
        Schema::parse(&text, "typed.toml").unwrap();
    }
}
