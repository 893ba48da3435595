//! The tour of the readme, line by line as it stands there: it spends once, and typed again it spends and loses nothing.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The lines of the first block behind the heading of the tour.
fn tour() -> Vec<&'static str> {
    let readme = include_str!("../../../README.md");
    let behind = readme.split("## A tour in twelve lines").nth(1).unwrap();
    let block = behind.split("```console\n").nth(1).unwrap().split("```").next().unwrap();
    block.lines().map(|line| line.strip_prefix("$ ").unwrap()).collect()
}

/// A table of numbers, and an editor that fills in every question mark.
fn stage(folder: &Path) {
    let mut table = "age,height,weight\n".to_owned();
    for i in 0..2_000 {
        let _ = writeln!(table, "{},{},{}.5", 20 + i * 7 % 60, 150 + i * 11 % 50, 50 + i * 13 % 70);
    }
    fs::write(folder.join("people.csv"), table).unwrap();
    fs::write(folder.join("editor"), "sed -i 's/min = \"?\"/min = 0/; s/max = \"?\"/max = 250/' \"$1\"\n").unwrap();
}

/// Types a line into a shell.
fn typed(folder: &Path, line: &str) -> Output {
    let programs = Path::new(env!("CARGO_BIN_EXE_sunprint")).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    Command::new("sh")
        .args(["-c", line])
        .current_dir(folder)
        .stdin(Stdio::null())
        .env("PATH", format!("{}:{path}", programs.display()))
        .env("EDITOR", "sh editor")
        .env("SUNPRINT_LEDGER", folder.join("ledger/ledger.sqlite"))
        .output()
        .unwrap()
}

/// The sum of the epsilons, and how many entries there are.
fn spent(folder: &Path) -> (String, usize) {
    let shown = typed(folder, "sunprint ledger show people --json");
    let shown: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap();
    let account = &shown["datasets"][0];
    (account["total"]["epsilon"].as_str().unwrap().to_owned(), account["entries"].as_array().unwrap().len())
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    entries.map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(path).unwrap())).collect()
}

#[test]
fn the_tour_spends_once_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    stage(folder);
    let lines = tour();
    assert_eq!(lines.len(), 12, "it says so");
    for line in &lines {
        let output = typed(folder, line);
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(spent(folder), ("1/1".to_owned(), 1));
    let before = files(folder);
    for name in ["people.toml", "people.sunprint", "synthetic.csv", "synthetic.parquet"] {
        assert!(before.contains_key(name), "{name}");
    }
    // Once more, by somebody who does not read what comes back.
    for line in &lines {
        let output = typed(folder, line);
        let writes = line.contains("--output");
        assert_eq!(output.status.success(), !writes, "{line}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(!writes || String::from_utf8_lossy(&output.stderr).contains("`--force`"), "{line}");
    }
    assert_eq!(spent(folder), ("1/1".to_owned(), 1));
    assert!(files(folder) == before, "a file was changed");
}
