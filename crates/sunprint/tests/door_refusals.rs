//! Bad files and bad outputs: one sentence each, a hint, nothing half-written, and never a value.

mod door_support;

use arrow_array::*;
use arrow_schema::{DataType, Field};
use door_support::*;
use std::path::Path;
use std::sync::Arc;
use sunprint::error::Kind;
use sunprint::schema::Schema;
use sunprint::source::*;

/// The error's text behind the file's name.
fn sentence(path: &Path, schema: &Schema) -> String {
    let error = refusal(path, schema);
    let text = error.to_string();
    text.strip_prefix(&path.display().to_string()).map(str::to_string).unwrap_or(text)
}

#[test]
fn files_of_the_wrong_shape() {
    let (folder, schema) = (tempfile::tempdir().unwrap(), two());
    let cases: [(&[u8], &str); 14] = [
        (b"", ": the file is empty"),
        (b"\n\n", ": the file has no header"),
        (b"a,b\n", ": the table has no rows"),
        (b"a,b", ": the table has no rows"),
        (b"a,b\n\n\n", ": the table has no rows"),
        (b"a\n1\n", ": column `b` of the schema is missing"),
        (b"a,b,c\n1,2,3\n", ": column number 3 of the file is not in the schema"),
        (b",a,b\n1,2,3\n", ": column number 1 of the file has no name"),
        (b"a,b,a\n1,2,3\n", ": column `a` appears twice in the file"),
        (b"1.25,2.5\n3,4\n", ": the first line names no column of the schema"),
        (b"a,b\n1,2\n3\n", ":3: this line has 1 value and the header names 2 columns"),
        (b"a,b\r\n1,2\r\n\r\n3,4,5\r\n", ":4: this line has 3 values and the header names 2 columns"),
        (b"a,b\n\"1\n1\",2\n3,4,5\n", ":4: this line has 3 values and the header names 2 columns"),
        (b"a,\xff\n1,2\n", ":1: the header is not UTF-8 text"),
    ];
    for (bytes, expected) in cases {
        let path = file(&folder, "in.csv", bytes);
        assert_eq!(sentence(&path, &schema), expected, "{:?}", String::from_utf8_lossy(bytes));
        let checked = check(&Input::new(&path, None), &schema, &Silent).unwrap_err().to_string();
        assert!(checked.ends_with(expected), "{checked}");
    }
}

#[test]
fn lines_far_into_a_file_are_numbered_from_its_start() {
    let (folder, schema) = (tempfile::tempdir().unwrap(), two());
    let mut text = "a,b\n".to_string() + &"1.5,2.5\n".repeat(700_000);
    text.push_str("1\n");
    assert_eq!(
        sentence(&file(&folder, "in.csv", &text), &schema),
        ":700002: this line has 1 value and the header names 2 columns"
    );
    let text = text.replacen("1.5", "\"1.5\"", 1);
    assert_eq!(
        sentence(&file(&folder, "in.csv", &text), &schema),
        ":700002: this line has 1 value and the header names 2 columns"
    );
}

#[test]
fn files_that_cannot_be_read() {
    let (folder, schema) = (tempfile::tempdir().unwrap(), two());
    for format in every_format() {
        let word = format.word();
        let absent = folder.path().join(format!("absent.{word}"));
        assert_eq!(sentence(&absent, &schema), ": the file does not exist");
        assert_eq!(refusal(&absent, &schema).kind(), Kind::Io);
        let directory = folder.path().join(format!("folder.{word}"));
        std::fs::create_dir(&directory).unwrap();
        assert_eq!(sentence(&directory, &schema), ": this is a directory, not a file");
        assert_eq!(sentence(&file(&folder, &format!("empty.{word}"), b""), &schema), ": the file is empty");
    }
    for name in ["x.csv.gz", "x.csv.zst", "x.tsv.gz", "x.tsv.zst"] {
        let text = sentence(&file(&folder, name, b"a,b\n1,2\n3,4\n5,6\n7,8\n"), &schema);
        assert!(
            [": the compressed data is damaged", ": the file cannot be read to its end"].contains(&text.as_str()),
            "{name} {text}"
        );
    }
    for (name, format) in [("x.parquet", "Parquet"), ("x.arrow", "Arrow IPC")] {
        let path = file(&folder, name, b"a,b\n1,2\n3,4\n5,6\n7,8\n");
        assert_eq!(sentence(&path, &schema), format!(": this is not a readable {format} file"));
    }
}

#[test]
fn files_cut_short_or_scrambled_never_panic() {
    let (folder, schema) = (tempfile::tempdir().unwrap(), two());
    for format in every_format() {
        let whole = folder.path().join(format!("whole.{}", format.word()));
        write(&whole, &schema, &Layout::of_schema(&schema), &drawn(2, 1, 2000)).unwrap();
        let bytes = std::fs::read(&whole).unwrap();
        let name = format!("broken.{}", format.word());
        for part in 1..12 {
            // Whether it is read or refused is up to the format; it ends without a panic either way.
            let _ = open(&file(&folder, &name, &bytes[..bytes.len() * part / 12]), &schema);
            let mut scrambled = bytes.clone();
            for byte in scrambled.iter_mut().skip(part * 5).step_by(97 + part) {
                *byte ^= 0x55;
            }
            let _ = open(&file(&folder, &name, &scrambled), &schema);
        }
    }
}

#[test]
fn types_that_hold_no_values_of_the_schema() {
    let (folder, schema) = (tempfile::tempdir().unwrap(), two());
    let path = folder.path().join("in.parquet");
    let a = || ("a", Arc::new(Float64Array::from(vec![1.0])) as ArrayRef);
    let inner = Arc::new(Field::new("secret", DataType::Int32, true));
    let nested = StructArray::from(vec![(inner, Arc::new(Int32Array::from(vec![7])) as ArrayRef)]);
    write_parquet(&path, vec![a(), ("b", Arc::new(nested))], true);
    assert_eq!(sentence(&path, &schema), ": column `b` of the file has type Struct, which cannot be read");
    write_parquet(&path, vec![a(), ("b", Arc::new(BinaryArray::from(vec![b"xyz".as_slice()])))], true);
    assert_eq!(sentence(&path, &schema), ": column `b` of the file has type Binary, which cannot be read");
    let list = ListArray::from_iter_primitive::<types::Int32Type, _, _>([Some([Some(7)])]);
    write_parquet(&path, vec![a(), ("b", Arc::new(list))], true);
    assert_eq!(sentence(&path, &schema), ": column `b` of the file has type List, which cannot be read");
    write_parquet(&path, vec![a(), ("b", Arc::new(Date32Array::from(vec![7])))], true);
    assert_eq!(sentence(&path, &schema), ": column `b` holds dates and the schema says `continuous`");
    write_parquet(&path, vec![a(), ("b", Arc::new(Float64Array::from(Vec::<f64>::from([1.0])))), ("c", a().1)], true);
    assert_eq!(sentence(&path, &schema), ": column number 3 of the file is not in the schema");
    write_parquet(&path, vec![a()], true);
    assert_eq!(sentence(&path, &schema), ": column `b` of the schema is missing");
    write_parquet(&path, vec![a(), ("b", Arc::new(Float64Array::from(vec![1.0]))), a()], true);
    assert_eq!(sentence(&path, &schema), ": column `a` appears twice in the file");
    write_parquet(
        &path,
        vec![
            ("a", Arc::new(Float64Array::from(Vec::<f64>::new()))),
            ("b", Arc::new(Float64Array::from(Vec::<f64>::new()))),
        ],
        true,
    );
    assert_eq!(sentence(&path, &schema), ": the table has no rows");
    let label = "[[column]]\nname = \"a\"\nkind = \"boolean\"\n[[column]]\nname = \"b\"\nkind = \"categorical\"\nvalues = [\"1\", \"x\"]\nrole = \"label\"\n";
    let labelled = Schema::parse(label, "l.toml").unwrap();
    write_parquet(&path, vec![a(), ("b", Arc::new(Int64Array::from(vec![1])))], true);
    assert_eq!(sentence(&path, &labelled), ": column `b` holds whole numbers and cannot hold the category `x`");
}

#[test]
fn outputs_are_refused_before_any_work() {
    let folder = tempfile::tempdir().unwrap();
    let input = file(&folder, "in.csv", "a,b\n1,2\n");
    let source = Input::new(&input, None);
    let refused = |path: &Path| {
        let error = Output::new(path, None).check(Some(&source)).unwrap_err();
        assert!(error.advice().is_some());
        let text = error.to_string();
        text.strip_prefix(&path.display().to_string()).unwrap().to_string()
    };
    assert_eq!(refused(&input), ": the output is the input file");
    std::fs::hard_link(&input, folder.path().join("link.csv")).unwrap();
    assert_eq!(refused(&folder.path().join("link.csv")), ": the output is the input file");
    assert_eq!(refused(&folder.path().join(".").join("in.csv")), ": the output is the input file");
    assert_eq!(refused(folder.path()), ": the output is a directory, not a file");
    let older = file(&folder, "older.csv", "a,b\n");
    assert_eq!(refused(&older), ": there is a file already");
    Output::new(&older, None).over(Existing::Replace).check(Some(&source)).unwrap();
    assert_eq!(refused(&folder.path().join("absent/out.csv")), ": the folder does not exist");
    assert_eq!(refused(&input.join("out.csv")), ": its folder is not a folder");
    #[cfg(target_os = "linux")]
    {
        // Nobody can create files here, not even the administrator.
        let text = refused(Path::new("/proc/out.csv"));
        assert!(text == ": the folder does not exist" || text == ": the output may not be written", "{text}");
    }
    Output::new(folder.path().join("out.csv"), None).check(Some(&source)).unwrap();
    Output::new("-", None).check(Some(&source)).unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3, "a check leaves nothing");
}

#[test]
fn a_writer_that_is_dropped_leaves_the_older_file() {
    let (folder, schema) = (tempfile::tempdir().unwrap(), two());
    for format in every_format() {
        let path = file(&folder, &format!("out.{}", format.word()), "older");
        let layout = Layout::of_schema(&schema);
        let kept = TableWriter::create(&Output::new(&path, None), format, &schema, &layout).err().unwrap();
        assert_eq!(kept.to_string(), format!("{}: there is a file already", path.display()));
        assert!(kept.advice().unwrap().contains("`--force`"));
        let output = Output::new(&path, None).over(Existing::Replace);
        let mut writer = TableWriter::create(&output, format, &schema, &layout).unwrap();
        writer.write(&drawn(2, 1, 100)).unwrap();
        drop(writer);
        assert_eq!(std::fs::read(&path).unwrap(), b"older");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 8);
}

#[cfg(unix)]
#[test]
fn an_unfinished_file_is_for_its_owner_alone() {
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let mut unfinished = AtomicFile::create(&path, Existing::Keep).unwrap();
    unfinished.write_all(b"released").unwrap();
    // Either it has no name, or a hidden one.
    for hidden in std::fs::read_dir(folder.path()).unwrap().flatten() {
        assert!(hidden.file_name().to_string_lossy().starts_with('.'));
        assert_eq!(hidden.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    unfinished.finish().unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"released");
    let plain = file(&folder, "plain", "x");
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&path), mode(&plain), "a finished file has the usual rights");
    AtomicFile::create(&plain, Existing::Replace).unwrap().for_the_owner().finish().unwrap();
    assert_eq!(mode(&plain) & 0o777, 0o600, "unless it is private, even in the place of an open one");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    // A link stays a link.
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let mut again = AtomicFile::create(&link, Existing::Replace).unwrap();
    again.write_all(b"newer").unwrap();
    again.finish().unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(std::fs::read(&path).unwrap(), b"newer");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_one_sentence() {
    let schema = two();
    for format in every_format() {
        let output = Output::new("/dev/full", Some(format));
        output.check(None).unwrap();
        let write = || {
            let mut writer = TableWriter::create(&output, format, &schema, &Layout::of_schema(&schema))?;
            writer.write(&drawn(2, 1, 100_000))?;
            writer.finish()
        };
        let error = write().unwrap_err();
        assert_eq!(error.to_string(), "/dev/full: the disk is full", "{}", format.word());
        assert_eq!(error.kind(), Kind::Io);
        assert!(error.advice().is_some());
    }
}

#[test]
fn no_error_shows_a_value() {
    const SECRET: &str = "SECRET_123.75";
    let (folder, schema) = (tempfile::tempdir().unwrap(), two());
    let mut files: Vec<(&str, Vec<u8>)> = vec![
        ("headless.csv", format!("{SECRET},{SECRET}\n{SECRET},1\n").into_bytes()),
        ("headless.tsv", format!("{SECRET}\t1\n").into_bytes()),
        ("ragged.csv", format!("a,b\n{SECRET}\n").into_bytes()),
        ("long.csv", format!("a,b\n{SECRET},{SECRET},{SECRET}\n").into_bytes()),
        ("open_quote.csv", format!("a,b\n\"{SECRET},1\n").into_bytes()),
        ("quoted.csv", format!("a,b\n\"{SECRET}\",\"1\",2\n").into_bytes()),
        ("joined_header.csv", format!("a,\"b\n{SECRET},{SECRET}\"\n1,2\n").into_bytes()),
        ("returns.csv", format!("a,b\r{SECRET},2\r3,4\r").into_bytes()),
        ("one_name.csv", format!("{SECRET},a\n1,2\n").into_bytes()),
        ("behind.csv", format!("a,b\n\"1\"{SECRET},2\n").into_bytes()),
        ("utf8_header.csv", [SECRET.as_bytes(), b",\xff\n"].concat()),
        ("extra.csv", format!("a\n{SECRET}\n").into_bytes()),
        ("text.parquet", format!("PAR1{SECRET}PAR1").into_bytes()),
        ("text.arrow", format!("ARROW1\0\0{SECRET}").into_bytes()),
        ("stream.arrow", SECRET.as_bytes().to_vec()),
        ("text.csv.gz", SECRET.as_bytes().to_vec()),
        ("text.csv.zst", SECRET.as_bytes().to_vec()),
    ];
    // Typed files with the secret in them, damaged in many places.
    let path = folder.path().join("whole.parquet");
    let secrets: ArrayRef = Arc::new(StringArray::from(vec![SECRET; 50]));
    write_parquet(&path, vec![("a", Arc::clone(&secrets)), ("b", secrets)], true);
    let whole = std::fs::read(&path).unwrap();
    for start in (4..whole.len()).step_by(7) {
        let mut scrambled = whole.clone();
        scrambled[start] = 0xff;
        files.push(("scrambled.parquet", scrambled));
    }
    let mut refused = 0;
    for (name, bytes) in files {
        let path = file(&folder, name, bytes);
        let input = Input::new(&path, None);
        let errors = [open(&path, &schema).err(), check(&input, &schema, &Silent).err()];
        for error in errors.into_iter().flatten() {
            refused += 1;
            let shown = format!("{error} {error:?} {:?}", error.advice());
            assert!(!shown.contains("SECRET") && !shown.contains("123.75"), "{name}: {shown}");
        }
    }
    assert!(refused > 34, "{refused}");
    // The same text as a value of a good file is no error at all.
    let good = file(&folder, "good.csv", format!("a,b\n{SECRET},1\n"));
    assert_eq!(rows(&open(&good, &schema).unwrap())[0].0[0], 32768);
}

#[test]
fn a_damaged_layout_is_refused_or_written_without_a_panic() {
    let (folder, schema) = (tempfile::tempdir().unwrap(), schema());
    let good = serde_json::to_string(&Layout::of_schema(&schema)).unwrap();
    for form in [
        "{\"dictionary\":{\"key_bits\":0,\"signed\":true,\"large\":false}}",
        "{\"dictionary\":{\"key_bits\":255,\"signed\":false,\"large\":true}}",
        "{\"decimal128\":{\"precision\":0,\"scale\":-128}}",
        "{\"decimal128\":{\"precision\":255,\"scale\":127}}",
        "\"float16\"",
        "\"u_int8\"",
    ] {
        let layout: Layout = match serde_json::from_str(&good.replace("\"plain\"", form)) {
            Ok(layout) => layout,
            Err(_) => continue,
        };
        for format in every_format() {
            let _ = write(&folder.path().join(format!("out.{}", format.word())), &schema, &layout, &drawn(3, 6, 10));
        }
    }
    let mut short = Layout::of_schema(&schema);
    short.columns.pop();
    let error = write(&folder.path().join("out.csv"), &schema, &short, &drawn(3, 6, 10)).unwrap_err();
    assert!(error.to_string().ends_with("column `ill` of the schema is missing"));
}
