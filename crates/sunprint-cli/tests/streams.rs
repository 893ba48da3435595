//! What transcripts cannot show: streams that close, disks that fill, seeds, and files that are not text.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

const SCHEMA: &str = "[[column]]\nname = \"age\"\nkind = \"integer\"\nmin = 0\nmax = 120\n\n\
                      [[column]]\nname = \"height\"\nkind = \"continuous\"\nmin = 100.0\nmax = 220.0\n";

fn sunprint(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sunprint"));
    command.args(line.split_whitespace()).current_dir(folder).stdin(Stdio::null());
    command
}

fn run(folder: &Path, line: &str) -> Output {
    sunprint(folder, line).output().unwrap()
}

/// A folder with a schema, a table and a model.
fn stage() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("people.toml"), SCHEMA).unwrap();
    let rows: String = (0..50).map(|i| format!("{},{}\n", 20 + i, 150 + i)).collect();
    fs::write(folder.path().join("people.csv"), format!("age,height\n{rows}")).unwrap();
    let fit = run(folder.path(), "fit people.csv --schema people.toml --epsilon 1 --output people.sunprint --quiet");
    assert!(fit.status.success() && fit.stdout.is_empty() && fit.stderr.is_empty());
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_reader_that_leaves_early_is_not_an_error() {
    let folder = stage();
    // Far more than a pipe holds, so that the program must notice that nobody reads.
    let mut child = sunprint(folder.path(), "sample people.sunprint --rows 300000 --seed 1")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut header = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut header).unwrap();
    assert_eq!(header, "age,height\n");
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn a_seed_draws_the_same_rows_again() {
    let folder = stage();
    let draw = |seed: u64| run(folder.path(), &format!("sample people.sunprint --rows 100 --seed {seed}")).stdout;
    assert_eq!(draw(7), draw(7));
    assert_ne!(draw(7), draw(8));
    assert_eq!(String::from_utf8(draw(7)).unwrap().lines().count(), 101);
}

#[test]
fn receipt_and_model_go_where_they_are_sent() {
    let folder = stage();
    let line = "synth people.csv --schema people.toml --epsilon 0.5 --rows 9 --output out.csv --model kept.sunprint \
                --receipt receipt.json --json --quiet";
    let output = run(folder.path(), line);
    assert!(output.status.success() && output.stderr.is_empty());
    assert_eq!(fs::read(folder.path().join("receipt.json")).unwrap(), output.stdout);
    let receipt: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(receipt["rows"], 50);
    assert_eq!(fs::read_to_string(folder.path().join("out.csv")).unwrap().lines().count(), 10);
    assert!(run(folder.path(), "show kept.sunprint --json").status.success());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said_in_one_sentence() {
    let folder = stage();
    for line in [
        "sample people.sunprint --rows 100000 --output /dev/full --output-format csv",
        "sample people.sunprint --rows 100000 --output /dev/full --output-format parquet",
        "fit people.csv --schema people.toml --epsilon 1 --output /dev/full",
    ] {
        let output = run(folder.path(), &format!("{line} --quiet"));
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{line}");
        assert_eq!(said.lines().next(), Some("error: /dev/full: the disk is full"), "{line}");
    }
}

#[test]
fn a_table_that_is_not_text_is_refused_without_a_trace() {
    let folder = stage();
    fs::write(folder.path().join("bytes.csv"), b"age,height\n41,\xff\xfe\n").unwrap();
    let wide: Vec<String> = (0..10_000).map(|i| format!("c{i}")).collect();
    fs::write(folder.path().join("wide.csv"), format!("{}\n{}\n", wide.join(","), vec!["1"; 10_000].join(",")))
        .unwrap();
    let before = names(folder.path());
    for table in ["bytes.csv", "wide.csv"] {
        let output = run(folder.path(), &format!("fit {table} --schema people.toml --epsilon 1 --output new --quiet"));
        assert_eq!(output.status.code(), Some(1), "{table}");
        assert_eq!(String::from_utf8(output.stderr).unwrap().lines().count(), 2, "{table}: one sentence and a hint");
    }
    assert_eq!(names(folder.path()), before);
}
