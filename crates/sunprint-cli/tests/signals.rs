//! A program that is told to stop, by Ctrl-C or by the system, leaves nothing behind, whatever it is at.
#![cfg(unix)]

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};

const SCHEMA: &str = "[dataset]\nname = \"people\"\n\n\
                      [[column]]\nname = \"age\"\nkind = \"integer\"\nmin = 0\nmax = 120\n\n\
                      [[column]]\nname = \"height\"\nkind = \"continuous\"\nmin = 100.0\nmax = 220.0\n";

/// The one file that is meant to stay, beside SQLite's journal, which the next one to open the ledger undoes.
const LEDGER: &str = "ledger.sqlite";

const SIGNALS: [Signal; 2] = [Signal::SIGINT, Signal::SIGTERM];

fn sunprint(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sunprint"));
    command.args(line.split_whitespace()).current_dir(folder).stdin(Stdio::null()).env("SUNPRINT_LEDGER", LEDGER);
    command
}

/// A folder with a schema, a table, a model and an older output.
fn stage() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("people.toml"), SCHEMA).unwrap();
    let rows: String = (0..50).map(|i| format!("{},{}\n", 20 + i, 150 + i)).collect();
    fs::write(folder.path().join("people.csv"), format!("age,height\n{rows}")).unwrap();
    fs::write(folder.path().join("older"), "older").unwrap();
    let fit = "fit people.csv --schema people.toml --epsilon 1 --output people.sunprint --quiet";
    assert!(sunprint(folder.path(), fit).status().unwrap().success());
    folder
}

/// Names and sizes: a file that was begun is seen, and so is one that was written over.
fn state(folder: &Path) -> Vec<(String, u64)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut state: Vec<_> = entries
        .filter(|entry| !entry.file_name().to_string_lossy().starts_with(LEDGER))
        // A file may vanish between its name and its size.
        .filter_map(|entry| Some((entry.file_name().into_string().unwrap(), entry.metadata().ok()?.len())))
        .collect();
    state.sort();
    state
}

fn stop(mut child: Child, signal: Signal) -> Option<i32> {
    kill(Pid::from_raw(child.id() as i32), signal).unwrap();
    child.wait().unwrap().code()
}

#[test]
fn while_rows_are_written() {
    let folder = stage();
    let before = state(folder.path());
    // Far more rows than anybody waits for.
    for line in [
        "sample people.sunprint --rows 1000000000 --output out.csv --quiet",
        "sample people.sunprint --rows 1000000000 --output out.csv.gz --quiet",
        "sample people.sunprint --rows 1000000000 --output older --force --output-format parquet --quiet",
        "sample people.sunprint --rows 1000000000 --output older --force --output-format arrow --quiet",
        "synth people.csv --schema people.toml --epsilon 1 --rows 1000000000 --output out.tsv.zst --quiet",
    ] {
        for signal in SIGNALS {
            let mut child = sunprint(folder.path(), line).spawn().unwrap();
            // At work once the file has got something, under a hidden name or under none.
            let hidden = || state(folder.path()).iter().any(|(name, length)| name.ends_with(".part") && *length > 0);
            while !hidden() && !has_nameless_file(child.id(), folder.path()) {
                assert!(child.try_wait().unwrap().is_none(), "the program stopped by itself: {line}");
                std::thread::yield_now();
            }
            assert_eq!(stop(child, signal), Some(130), "{line}");
            assert_eq!(state(folder.path()), before, "{line}");
        }
    }
    assert_eq!(fs::read_to_string(folder.path().join("older")).unwrap(), "older");
}

/// Rows come through a pipe that does not end. More than it holds has been taken, so the program is reading.
#[test]
fn while_rows_are_read() {
    let folder = stage();
    let before = state(folder.path());
    let rows = "33,171.5\n".repeat(200_000);
    for line in [
        "fit - --format csv --schema people.toml --epsilon 1 --output older --force --quiet",
        "synth - --format csv --schema people.toml --epsilon 1 --output out.parquet --model m.sunprint --quiet",
        "check - --format csv --schema people.toml --quiet",
    ] {
        for signal in SIGNALS {
            let mut child = sunprint(folder.path(), line).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
            let mut pipe = child.stdin.take().unwrap();
            pipe.write_all(b"age,height\n").unwrap();
            pipe.write_all(rows.as_bytes()).unwrap();
            assert_eq!(stop(child, signal), Some(130), "{line}");
            assert_eq!(state(folder.path()), before, "{line}");
        }
    }
}

/// Rows that do not fit in memory wait in a file without a name: it is gone with the program, even if that is killed.
#[cfg(target_os = "linux")]
#[test]
fn while_rows_are_spilled() {
    let folder = stage();
    let before = state(folder.path());
    let line = "fit - --format csv --schema people.toml --epsilon 1 --output older --force --quiet --memory 16MB --spill-dir .";
    // Eight bytes a row: more than 16 MB of codes.
    let rows = "33,171.5\n".repeat(3_000_000);
    for (signal, code) in [(Signal::SIGINT, Some(130)), (Signal::SIGTERM, Some(130)), (Signal::SIGKILL, None)] {
        let mut child = sunprint(folder.path(), line).stdin(Stdio::piped()).spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        pipe.write_all(b"age,height\n").unwrap();
        pipe.write_all(rows.as_bytes()).unwrap();
        // The pipe does not end, so the file is there until the program is stopped.
        while !has_nameless_file(child.id(), folder.path()) {
            assert!(child.try_wait().unwrap().is_none(), "the program stopped by itself");
            std::thread::yield_now();
        }
        assert_eq!(state(folder.path()), before, "it has no name");
        assert_eq!(stop(child, signal), code);
        assert_eq!(state(folder.path()), before);
    }
}

/// Whether a program has a file open, with something in it, that this folder does not list.
#[cfg(target_os = "linux")]
fn has_nameless_file(program: u32, folder: &Path) -> bool {
    let folder = folder.canonicalize().unwrap();
    let open = fs::read_dir(format!("/proc/{program}/fd")).into_iter().flatten().flatten().map(|entry| entry.path());
    open.into_iter().any(|path| {
        let target = fs::read_link(&path).unwrap_or_default();
        let nameless = target.starts_with(&folder) && target.to_string_lossy().ends_with("(deleted)");
        nameless && fs::metadata(&path).is_ok_and(|about| about.len() > 0)
    })
}

#[cfg(not(target_os = "linux"))]
fn has_nameless_file(_: u32, _: &Path) -> bool {
    false
}
