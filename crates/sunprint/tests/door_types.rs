//! The same values in every physical type give the codes of the plain text; columns that nobody described are left out.

mod door_support;

use arrow_array::types::{Float16Type, Int16Type, Int32Type, UInt8Type};
use arrow_array::*;
use arrow_schema::{Field, Schema as ArrowSchema};
use door_support::*;
use parquet::file::properties::WriterProperties;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use sunprint::schema::Schema;
use sunprint::source::*;

type Half = <Float16Type as ArrowPrimitiveType>::Native;

const ROWS: usize = 1000;

/// A continuous column between -5 and 120, and an integer one, for each name.
fn numbers(names: &[String]) -> Schema {
    let kinds = ["kind = \"continuous\"\nmin = -5\nmax = 120\n", "kind = \"integer\"\nmin = 3\nmax = 1000\n"];
    let column = |(i, name): (usize, &String)| format!("[[column]]\nname = \"{name}\"\n{}", kinds[i / 7 % 2]);
    Schema::parse(&names.iter().enumerate().map(column).collect::<String>(), "types.toml").unwrap()
}

/// Eighths from 0 to below 125, whole numbers every so often, and nothing in every ninth row.
fn value(row: usize, whole: bool) -> Option<f64> {
    let x = (row * 37 % ROWS) as f64 / 8.0;
    (row % 9 != 4).then_some(if whole { x.floor() } else { x })
}

fn column<T, A: FromIterator<Option<T>> + Array + 'static>(whole: bool, convert: impl Fn(f64) -> T) -> ArrayRef {
    Arc::new((0..ROWS).map(|row| value(row, whole).map(&convert)).collect::<A>())
}

/// Each type that can hold numbers, and whether it holds whole ones only.
fn types() -> Vec<(ArrayRef, bool)> {
    let text = |row: usize| value(row, false).map(|x| x.to_string());
    let decimals = (0..ROWS).map(|row| value(row, false).map(|x| (x * 1000.0) as i128)).collect::<Decimal128Array>();
    let units = (0..ROWS).map(|row| value(row, true).map(|x| x as i128)).collect::<Decimal128Array>();
    let words: Vec<Option<String>> = (0..ROWS).map(text).collect();
    let words = || words.iter().map(Option::as_deref);
    vec![
        (column::<i8, Int8Array>(true, |x| x as i8), true),
        (column::<i16, Int16Array>(true, |x| x as i16), true),
        (column::<i32, Int32Array>(true, |x| x as i32), true),
        (column::<i64, Int64Array>(true, |x| x as i64), true),
        (column::<u8, UInt8Array>(true, |x| x as u8), true),
        (column::<u16, UInt16Array>(true, |x| x as u16), true),
        (column::<u32, UInt32Array>(true, |x| x as u32), true),
        (column::<u64, UInt64Array>(true, |x| x as u64), true),
        (column::<Half, Float16Array>(false, Half::from_f64), false),
        (column::<f32, Float32Array>(false, |x| x as f32), false),
        (column::<f64, Float64Array>(false, |x| x), false),
        (Arc::new(decimals.with_precision_and_scale(20, 3).unwrap()), false),
        (Arc::new(units.with_precision_and_scale(20, 0).unwrap()), true),
        (Arc::new(words().collect::<StringArray>()), false),
        (Arc::new(words().collect::<LargeStringArray>()), false),
        (Arc::new(words().collect::<StringViewArray>()), false),
        (Arc::new(words().collect::<DictionaryArray<Int16Type>>()), false),
        (Arc::new(words().collect::<DictionaryArray<Int32Type>>()), false),
    ]
}

/// The table as Parquet in one and in many row groups, and as Arrow in the stream form, in one and in many batches.
fn write_all(folder: &Path, batch: &RecordBatch) -> Vec<PathBuf> {
    let names = ["one.parquet", "many.parquet", "file.arrow", "stream.arrows", "many.arrow"];
    let paths = names.map(|name| folder.join(name));
    for (path, rows) in paths.iter().zip([100_000, 64]) {
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(rows)).build();
        let file = File::create(path).unwrap();
        let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
        writer.write(batch).unwrap();
        writer.close().unwrap();
    }
    let create = |i: usize| File::create(&paths[i]).unwrap();
    for (number, rows) in [(2, 100_000), (4, 90)] {
        let mut writer = arrow_ipc::writer::FileWriter::try_new(create(number), &batch.schema()).unwrap();
        for first in (0..batch.num_rows()).step_by(rows) {
            writer.write(&batch.slice(first, rows.min(batch.num_rows() - first))).unwrap();
        }
        writer.finish().unwrap();
    }
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(create(3), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    paths.to_vec()
}

fn batch(columns: Vec<(String, ArrayRef)>) -> RecordBatch {
    let field = |(name, array): &(String, ArrayRef)| Field::new(name, array.data_type().clone(), true);
    let arrow = ArrowSchema::new(columns.iter().map(field).collect::<Vec<_>>());
    RecordBatch::try_new(Arc::new(arrow), columns.into_iter().map(|(_, array)| array).collect()).unwrap()
}

/// More columns than are read at once, in another order than the schema's, with two that split the table among them.
#[test]
fn wide_tables_have_the_codes_of_their_text() {
    let folder = tempfile::tempdir().unwrap();
    let types: Vec<(ArrayRef, bool)> = types().into_iter().cycle().take(150).collect();
    let label = |row: usize, cut: usize| ["yes", "no", "maybe"][row / cut % 3];
    let split = |name: &str, role: &str| {
        format!(
            "[[column]]\nname = \"{name}\"\nkind = \"categorical\"\nvalues = [\"no\", \"yes\", \"maybe\"]\nrole = \"{role}\"\n"
        )
    };
    let number =
        |i: usize| format!("[[column]]\nname = \"c{i}\"\nkind = \"continuous\"\nmin = -5\nmax = {}\n", 100 + i);
    let described = [split("first", "label")].into_iter().chain((0..150).map(number)).chain([split("last", "stratum")]);
    let schema = Schema::parse(&described.collect::<String>(), "wide.toml").unwrap();
    // From the last column to the first, and the labels in the middle.
    let mut columns: Vec<(String, ArrayRef)> =
        types.iter().enumerate().rev().map(|(i, (array, _))| (format!("c{i}"), Arc::clone(array))).collect();
    for (place, name, cut) in [(70, "last", 5), (20, "first", 2)] {
        let labels = (0..ROWS).map(|row| Some(label(row, cut))).collect::<StringArray>();
        columns.insert(place, (name.to_string(), Arc::new(labels)));
    }
    let names: Vec<String> = columns.iter().map(|(name, _)| name.clone()).collect();
    let cell = |row: usize, name: &str| match name {
        "first" => label(row, 2).to_string(),
        "last" => label(row, 5).to_string(),
        number => {
            let (_, whole) = types[number[1..].parse::<usize>().unwrap()];
            value(row, whole).map_or(String::new(), |x| x.to_string())
        }
    };
    let line = |row: usize| names.iter().map(|name| cell(row, name)).collect::<Vec<_>>().join(",");
    let text: String = std::iter::once(names.join(",")).chain((0..ROWS).map(line)).map(|line| line + "\n").collect();
    let plain = rows(&open(&file(&folder, "plain.csv", &text), &schema).unwrap());
    assert_eq!(plain.len(), ROWS);
    for path in write_all(folder.path(), &batch(columns)) {
        assert!(rows(&open(&path, &schema).unwrap()) == plain, "{}", path.display());
    }
}

#[test]
fn every_type_has_the_codes_of_its_text() {
    let folder = tempfile::tempdir().unwrap();
    // Each type twice: for a continuous and for an integer column, with and without nulls.
    let types: Vec<(ArrayRef, bool)> = types().into_iter().flat_map(|one| vec![one; 14]).step_by(7).collect();
    let names: Vec<String> = (0..types.len()).map(|i| format!("c{i}")).collect();
    let schema = numbers(&names);
    let cell = |row: usize, whole: bool| value(row, whole).map_or(String::new(), |x| x.to_string());
    let line = |row: usize| types.iter().map(|(_, whole)| cell(row, *whole)).collect::<Vec<_>>().join(",");
    let text: String = std::iter::once(names.join(",")).chain((0..ROWS).map(line)).map(|line| line + "\n").collect();
    let plain = rows(&open(&file(&folder, "plain.csv", &text), &schema).unwrap());
    assert_eq!(plain.len(), ROWS);

    let all = batch(names.iter().cloned().zip(types.iter().map(|(array, _)| Arc::clone(array))).collect());
    for path in write_all(folder.path(), &all) {
        assert!(rows(&open(&path, &schema).unwrap()) == plain, "{}", path.display());
    }
    let gz = {
        let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut writer, text.as_bytes()).unwrap();
        writer.finish().unwrap()
    };
    let zst = zstd::encode_all(text.as_bytes(), 1).unwrap();
    for (name, bytes) in [("plain.csv.gz", gz), ("plain.csv.zst", zst)] {
        assert!(rows(&open(&file(&folder, name, &bytes), &schema).unwrap()) == plain, "{name}");
        // Cut short it is refused, in whatever words the decoder has for it.
        let short = file(&folder, &format!("short-{name}"), &bytes[..bytes.len() - 9]);
        let sentence = refusal(&short, &schema).to_string();
        assert!(sentence.contains("damaged") || sentence.contains("cannot be read to its end"), "{sentence}");
    }
    // Without nulls other loops are taken.
    let full: Vec<usize> = (0..ROWS).filter(|row| row % 9 != 4).collect();
    let (first, last) = (full[5], full[5] + 3);
    let slice = all.slice(first, last - first + 1);
    for path in write_all(folder.path(), &slice) {
        assert!(rows(&open(&path, &schema).unwrap())[..] == plain[first..=last], "{}", path.display());
    }
}

#[test]
fn columns_that_nobody_described_are_left_out() {
    let (folder, schema) = (tempfile::tempdir().unwrap(), two());
    let number =
        |x: f64| Arc::new(Float64Array::from_iter_values((0..200).map(|i| x + f64::from(i) / 50.0))) as ArrayRef;
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>((0..200).map(|i| Some([Some(i)])));
    let keys: DictionaryArray<UInt8Type> = (0..200).map(|i| Some(if i % 2 == 0 { "x" } else { "y" })).collect();
    let times = TimestampMillisecondArray::from(vec![7; 200]);
    let extra = |name: &str, array: ArrayRef| (name.to_string(), array);
    let wide = batch(vec![
        extra("list", Arc::new(list)),
        extra("b", number(0.5)),
        extra("time", Arc::new(times)),
        extra("", Arc::new(keys)),
        extra("a", number(3.0)),
        extra("time", number(9.0)),
    ]);
    let bare = wide.project(&[1, 4]).unwrap();
    let (wide_folder, bare_folder) = (folder.path().join("wide"), folder.path().join("bare"));
    [&wide_folder, &bare_folder].iter().for_each(|path| std::fs::create_dir(path).unwrap());
    let (mut wides, mut bares) = (write_all(&wide_folder, &wide), write_all(&bare_folder, &bare));
    for quote in ["", "\""] {
        let line = |i: usize| format!("x,{0},{quote}secret{quote},,{0},-1\n", i as f64 / 20.0);
        let short = |i: usize| format!("{0},{0}\n", i as f64 / 20.0);
        let text: String = (0..200).map(line).collect();
        wides.push(file(&folder, &format!("wide{}.csv", quote.len()), format!("k, b ,l,,a,k\n{text}")));
        let text: String = (0..200).map(short).collect();
        bares.push(file(&folder, "bare.csv", format!(" b ,a\n{text}")));
    }
    for (wide, bare) in wides.iter().zip(&bares) {
        let input = Input::new(wide, None).ignoring_extra(true);
        let table = Table::open(&input, &schema, &Silent).unwrap();
        let expected = open(bare, &schema).unwrap();
        assert!(rows(&table) == rows(&expected), "{}", wide.display());
        assert_eq!(table.layout(), expected.layout(), "{}", wide.display());
        let report = check(&input, &schema, &Silent).unwrap();
        assert_eq!(report, check(&Input::new(bare, None), &schema, &Silent).unwrap());
        let spilled = Room { beyond: Some(Kept::ReadAgain), ..Room::of(1) };
        assert_eq!(Store::open(&input, &schema, &spilled, &Silent).unwrap().layout(), expected.layout());
        // Without being told to, nothing is left out.
        let sentence = refusal(wide, &schema).to_string();
        assert!(sentence.contains("column number 1 of the file"), "{sentence}");
        assert!(!sentence.contains("secret"));
    }
    // The columns of the schema must be there all the same, once and of a type that can be read.
    let refuse = |path: &Path| {
        let input = Input::new(path, None).ignoring_extra(true);
        let error = Table::open(&input, &schema, &Silent).err().expect("refused");
        error.to_string().replace(&path.display().to_string(), "")
    };
    assert_eq!(refuse(&file(&folder, "x.csv", "x,a\n1,2\n")), ": column `b` of the schema is missing");
    assert_eq!(refuse(&file(&folder, "x.csv", "x,y\n1,2\n")), ": the first line names no column of the schema");
    assert_eq!(refuse(&file(&folder, "x.csv", "a,x,b,a\n1,2,3,4\n")), ": column `a` appears twice in the file");
    let uneven = ":2: this line has 2 values and the header names 3 columns";
    assert_eq!(refuse(&file(&folder, "x.csv", "a,x,b\n1,2\n")), uneven);
    let path = folder.path().join("x.parquet");
    write_parquet(&path, vec![("a", number(1.0)), ("b", Arc::new(TimestampSecondArray::from(vec![7; 200])))], true);
    assert_eq!(refuse(&path), ": column `b` holds moments and the schema says `continuous`");
}

#[test]
fn types_that_cannot_be_numbers_are_named_with_their_column() {
    let (folder, schema) = (tempfile::tempdir().unwrap(), two());
    let number = || Arc::new(Float64Array::from(vec![1.0])) as ArrayRef;
    let bad: Vec<(ArrayRef, &str)> = vec![
        (Arc::new(BinaryArray::from(vec![b"secret".as_slice()])), "Binary"),
        (Arc::new(Time32SecondArray::from(vec![7])), "Time32"),
        (Arc::new(DurationSecondArray::from(vec![7])), "Duration"),
        (Arc::new(FixedSizeBinaryArray::try_from_iter([b"secret"].into_iter()).unwrap()), "FixedSizeBinary"),
    ];
    for (array, word) in bad {
        for known in [true, false] {
            let name = if known { "b" } else { "c" };
            let batch = batch(vec![("a".to_string(), number()), (name.to_string(), Arc::clone(&array))]);
            let path = folder.path().join("in.arrow");
            let mut writer =
                arrow_ipc::writer::FileWriter::try_new(File::create(&path).unwrap(), &batch.schema()).unwrap();
            writer.write(&batch).unwrap();
            writer.finish().unwrap();
            let error = refusal(&path, &schema);
            let column = if known { "column `b`" } else { "column number 2" };
            let expected = format!("{}: {column} of the file has type {word}, which cannot be read", path.display());
            assert_eq!(error.to_string(), expected);
        }
    }
}
