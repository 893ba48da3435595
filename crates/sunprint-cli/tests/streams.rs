//! What transcripts cannot show: streams that close, disks that fill, seeds, and files that are not text.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

const SCHEMA: &str = "[dataset]\nname = \"people\"\n\n\
                      [[column]]\nname = \"age\"\nkind = \"integer\"\nmin = 0\nmax = 120\n\n\
                      [[column]]\nname = \"height\"\nkind = \"continuous\"\nmin = 100.0\nmax = 220.0\n";

fn sunprint(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sunprint"));
    command.args(line.split_whitespace()).current_dir(folder).stdin(Stdio::null()).env("SUNPRINT_LEDGER", "none");
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

/// A limit on the size of files stands for a disk that fills up halfway: the older file stays, and nothing else does.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_fills_up_halfway_leaves_the_older_file() {
    let folder = stage();
    fs::write(folder.path().join("out"), "older").unwrap();
    let before = names(folder.path());
    for line in [
        "sample people.sunprint --rows 100000 --output out --output-format csv",
        "sample people.sunprint --rows 100000 --output out --output-format csv.zst",
        "sample people.sunprint --rows 100000 --output out --output-format parquet",
        "sample people.sunprint --rows 100000 --output out --output-format arrow",
        "synth people.csv --schema people.toml --epsilon 1 --rows 100000 --output out --output-format csv",
    ] {
        let script = format!("ulimit -f 16; exec \"$0\" {line} --force --quiet");
        let output = Command::new("sh")
            .env("SUNPRINT_LEDGER", "none")
            .args(["-c", &script, env!("CARGO_BIN_EXE_sunprint")])
            .current_dir(folder.path())
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), said.lines().count()), (Some(1), 2), "{line}: {said}");
        assert_eq!(said.lines().next(), Some("error: out: the disk is full"), "{line}");
        assert_eq!(fs::read_to_string(folder.path().join("out")).unwrap(), "older", "{line}");
        assert_eq!(names(folder.path()), before, "{line}");
    }
}

/// Which of the two warnings comes depends on the noise; that one comes does not.
#[test]
fn a_single_row_is_worth_a_warning_with_every_method() {
    let folder = stage();
    fs::write(folder.path().join("one.csv"), "age,height\n41,170\n").unwrap();
    for method in ["default", "paper", "cube"] {
        let line =
            format!("fit one.csv --schema people.toml --epsilon 1 --method {method} --output one.sunprint --force");
        let output = run(folder.path(), &line);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{method}");
        assert_eq!(said.lines().filter(|line| line.starts_with("warning: ")).count(), 1, "{method}: {said}");
        let shown = String::from_utf8(run(folder.path(), "show one.sunprint").stdout).unwrap();
        assert_eq!(shown.matches("note: ").count(), 1, "{method}: {shown}");
    }
}

fn json(path: &Path) -> serde_json::Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn parquet_and_arrow_come_out_with_the_types_that_went_in() {
    let folder = stage();
    let layout = |table: &str| {
        let line = format!("fit {table} --schema people.toml --epsilon 1 --output again.sunprint --force --quiet");
        assert!(run(folder.path(), &line).status.success(), "{table}");
        json(&folder.path().join("again.sunprint"))["layout"].clone()
    };
    assert_eq!(layout("people.csv")["columns"][0]["type"], "plain");
    for (first, second) in [("a.parquet", "b.parquet"), ("a.arrow", "b.arrow")] {
        let drawn = run(folder.path(), &format!("sample people.sunprint --rows 30 --output {first} --quiet"));
        assert!(drawn.status.success());
        let line = format!("synth {first} --schema people.toml --epsilon 1 --output {second} --quiet");
        assert!(run(folder.path(), &line).status.success());
        let types = layout(first);
        assert_eq!(types, layout(second), "{first}");
        assert_ne!(types["columns"][0]["type"], "plain", "{first}");
    }
}

#[test]
fn the_model_in_json_is_the_model_in_words() {
    let folder = stage();
    let shown: serde_json::Value =
        serde_json::from_slice(&run(folder.path(), "show people.sunprint --json").stdout).unwrap();
    assert_eq!((&shown["rows"], &shown["features"]), (&50.into(), &2.into()));
    assert_eq!(shown["spectrum"].as_array().map(Vec::len), Some(2));
    assert_eq!(shown["box"].as_array().map(Vec::len), shown["dimension"].as_u64().map(|d| d as usize));
    assert_eq!(shown["schema"]["columns"][0]["name"], "age");
    let words = String::from_utf8(run(folder.path(), "show people.sunprint").stdout).unwrap();
    for part in ["Receipt of Sunprint", "noise reaches", "depth", "age     integer, 0 to 120"] {
        assert!(words.contains(part), "{part} is not in {words}");
    }
    assert!(words.lines().all(|line| line.chars().count() <= 80), "{words}");
}

/// A short line in front of long ones says nothing about how many rows follow: memory is not asked for as if it did.
#[cfg(target_os = "linux")]
#[test]
fn a_blank_line_asks_for_no_memory() {
    let folder = stage();
    let columns = 4096;
    let column = |i: usize| format!("[[column]]\nname = \"c{i}\"\nkind = \"integer\"\nmin = 0\nmax = 9\n");
    let schema = format!("[dataset]\nname = \"wide\"\n{}", (0..columns).map(column).collect::<String>());
    fs::write(folder.path().join("wide.toml"), schema).unwrap();
    let header = (0..columns).map(|i| format!("c{i}")).collect::<Vec<_>>().join(",");
    let row = vec!["7"; columns].join(",") + "\n";
    // The last row is too short, so that the file is refused as soon as it is read.
    fs::write(folder.path().join("wide.csv"), format!("{header}\n\n{}7,7\n", row.repeat(300))).unwrap();
    let script = "ulimit -v 4000000; exec \"$0\" fit wide.csv --schema wide.toml --epsilon 1 --output out --quiet";
    let output = Command::new("sh")
        .env("SUNPRINT_LEDGER", "none")
        .args(["-c", script, env!("CARGO_BIN_EXE_sunprint")])
        // Many threads ask for many places in memory, whatever they do with them.
        .env("SUNPRINT_THREADS", "2")
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let expected = "error: wide.csv:303: this line has 2 values and the header names 4096 columns";
    assert_eq!((output.status.code(), said.lines().next()), (Some(1), Some(expected)), "{said}");
}
