//! The canary in every cell, in every command, on every path that ends badly: nothing that comes out depends on it.
//!
//! A *twin* is the same table with another canary of the same shape. What a refused command says, and its exit code, must
//! be the same for both, so that not even a message chosen by a value would go unseen.
//!
//! `check` and `evaluate` are for the curator's eyes: they count and compare exactly what is in the table, so they are
//! held to show no cell that is outside of its bounds, and to say nothing of any when they are refused. Headers, the
//! schema and the number of rows are public.
#![cfg(unix)]

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use parquet::arrow::ArrowWriter;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

/// Marks of the same length that occur nowhere else, as text and as numbers.
const MARKS: [&str; 2] = ["7331125990427", "8442236880518"];

const LEDGER: &str = "ledger.sqlite";

/// The first column holds its canaries within the bounds.
const SCHEMA: &str = "[dataset]\nname = \"people\"\n\n\
    [[column]]\nname = \"wealth\"\nkind = \"continuous\"\nmin = 0\nmax = 9e13\n\n\
    [[column]]\nname = \"age\"\nkind = \"integer\"\nmin = 0\nmax = 120\nmissing = \"allow\"\n\n\
    [[column]]\nname = \"colour\"\nkind = \"categorical\"\nvalues = [\"red\", \"green\"]\nmissing = \"allow\"\n\n\
    [[column]]\nname = \"born\"\nkind = \"date\"\nmin = \"1920-01-01\"\nmax = \"2020-12-31\"\n\n\
    [[column]]\nname = \"ill\"\nkind = \"boolean\"\nrole = \"label\"\n";

const HEADER: &str = "wealth,age,colour,born,ill\n";

fn rows(mark: &str, count: usize) -> String {
    let cells = [
        format!("{mark},{mark},SECRET_{mark},{mark}-01-01,{mark}\n"),
        format!("{mark}.5,,\"SECRET,{mark}\",{mark},yes{mark}\n"),
    ];
    (0..count).map(|i| cells[i % 2].as_str()).collect()
}

/// The same as a typed file.
fn typed(mark: &str) -> RecordBatch {
    let number: f64 = mark.parse().unwrap();
    let numbers: ArrayRef = Arc::new(Float64Array::from(vec![number; 40]));
    let texts: ArrayRef = Arc::new(StringArray::from(vec![format!("SECRET_{mark}"); 40]));
    let column = |name: &str, array: &ArrayRef| (name.to_string(), Arc::clone(array));
    RecordBatch::try_from_iter([
        column("wealth", &numbers),
        column("age", &numbers),
        column("colour", &texts),
        column("born", &texts),
        column("ill", &texts),
    ])
    .unwrap()
}

fn parquet_of(mark: &str) -> Vec<u8> {
    let (batch, mut bytes) = (typed(mark), Vec::new());
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

/// Tables that are refused, by name.
fn refused(mark: &str) -> Vec<(&'static str, Vec<u8>)> {
    let text = |more: &str| format!("{HEADER}{}{more}", rows(mark, 40)).into_bytes();
    let mut tables = vec![
        ("ragged.csv", text(&format!("{mark},{mark}\n"))),
        ("long.csv", text(&format!("{mark},{mark},{mark},{mark},{mark},{mark}\n"))),
        ("open-quote.csv", text(&format!("{mark},\"{mark},{mark}\n"))),
        ("no-rows.csv", HEADER.as_bytes().to_vec()),
        ("other-names.csv", format!("a,b\n{mark},{mark}\n").into_bytes()),
        ("not.csv.gz", text("")),
        ("not.csv.zst", text("")),
        ("not.parquet", text("")),
        ("not.arrow", text("")),
    ];
    let parquet = parquet_of(mark);
    tables.push(("half.parquet", parquet[..parquet.len() / 2].to_vec()));
    tables.push(("tail.parquet", parquet[parquet.len() / 2..].to_vec()));
    let mut dented = parquet;
    let at = dented.len() / 3;
    dented[at..at + 40].iter_mut().for_each(|byte| *byte ^= 0x5a);
    tables.push(("dented.parquet", dented));
    tables
}

/// Commands over a table.
const COMMANDS: [&str; 9] = [
    "fit DATA --schema people.toml --epsilon 1 --output new.sunprint --receipt receipt.json --json",
    "fit DATA --schema people.toml --epsilon 1 --output new.sunprint --method gaussian --delta 1e-6",
    "synth DATA --schema people.toml --epsilon 1 --output new.csv --model new.sunprint --receipt receipt.txt",
    "synth DATA --schema people.toml --epsilon 1 --method paper",
    "check DATA --schema people.toml",
    "check DATA --schema people.toml --json",
    "evaluate DATA DATA --schema people.toml",
    "evaluate DATA DATA --schema people.toml --json --output new.json",
    "schema DATA --output new.toml",
];

fn sunprint(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sunprint"));
    command
        .args(line.split_whitespace())
        .current_dir(folder)
        .stdin(Stdio::null())
        .env("SUNPRINT_LEDGER", LEDGER)
        .env("RUST_BACKTRACE", "full");
    command
}

fn stage() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("people.toml"), SCHEMA).unwrap();
    folder
}

/// Every spelling in which a mark could come out.
fn spellings(mark: &str) -> Vec<Vec<u8>> {
    let number: i64 = mark.parse().unwrap();
    let hex = format!("{number:x}");
    let grouped: Vec<&str> = mark.as_bytes().rchunks(3).rev().map(|part| std::str::from_utf8(part).unwrap()).collect();
    vec![
        mark.as_bytes().to_vec(),
        hex.into_bytes(),
        grouped.join(",").into_bytes(),
        number.to_le_bytes().to_vec(),
        (number as f64).to_le_bytes().to_vec(),
        b"SECRET".to_vec(),
    ]
}

/// Looks for the mark on both streams, and in the names and bytes of all files that were not there, which are removed.
fn assert_unseen(what: &str, folder: &Path, known: &[&str], mark: &str, output: &Output) {
    let mut traces = vec![("stdout".to_string(), output.stdout.clone()), ("stderr".to_string(), output.stderr.clone())];
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if known.contains(&name.as_str()) || entry.path().is_dir() {
            continue;
        }
        traces.push((name.clone(), name.clone().into_bytes()));
        traces.push((name.clone(), fs::read(entry.path()).unwrap()));
        if !name.starts_with(LEDGER) {
            fs::remove_file(entry.path()).unwrap();
        }
    }
    for (place, bytes) in traces {
        for spelling in spellings(mark) {
            let seen = bytes.windows(spelling.len()).any(|window| window == spelling);
            assert!(!seen, "{what}: the canary is in {place}: {}", String::from_utf8_lossy(&bytes));
        }
    }
}

/// Runs a command on a table and on its twin. The exit code and what was said.
fn twins(what: &str, known: &[&str], set: impl Fn(&Path, &str), run: impl Fn(&Path) -> Output) -> Option<i32> {
    let said = MARKS.map(|mark| {
        let folder = stage();
        set(folder.path(), mark);
        let output = run(folder.path());
        assert_unseen(what, folder.path(), known, mark, &output);
        (output.status.code(), output.stdout, output.stderr)
    });
    // The receipt holds the time's hash, and what was measured with noise; both differ from run to run.
    let words = |said: &(Option<i32>, Vec<u8>, Vec<u8>)| {
        let text = String::from_utf8_lossy(&said.2).into_owned();
        let spoken = |line: &&str| line.starts_with("error: ") || line.starts_with("hint: ");
        (said.0, text.lines().filter(spoken).map(str::to_owned).collect::<Vec<_>>())
    };
    if said[0].0 != Some(0) {
        assert_eq!(words(&said[0]), words(&said[1]), "{what}: what is said depends on a value");
        assert!(said.iter().all(|(_, stdout, _)| stdout.is_empty()), "{what}: something is on stdout");
    }
    said[0].0
}

#[test]
fn tables_that_are_refused() {
    for (i, (name, _)) in refused(MARKS[0]).into_iter().enumerate() {
        for command in COMMANDS {
            let line = command.replace("DATA", name);
            let set = |folder: &Path, mark: &str| fs::write(folder.join(name), &refused(mark)[i].1).unwrap();
            let code = twins(&line, &["people.toml", name], set, |folder| sunprint(folder, &line).output().unwrap());
            // The header of a ragged table is good enough for a skeleton.
            assert!(code == Some(1) || line.starts_with("schema"), "{line}: {code:?}");
        }
    }
}

#[test]
fn tables_that_are_taken() {
    let known = ["people.toml", "people.csv", "people.parquet"];
    let set = |folder: &Path, mark: &str| {
        fs::write(folder.join("people.csv"), format!("{HEADER}{}", rows(mark, 400))).unwrap();
        fs::write(folder.join("people.parquet"), parquet_of(mark)).unwrap();
    };
    for name in ["people.csv", "people.parquet"] {
        // `evaluate` shows means of what is within the bounds, exactly: that is what it is for.
        for command in COMMANDS.iter().filter(|command| !command.starts_with("evaluate")) {
            let line = command.replace("DATA", name);
            let code = twins(&line, &known, set, |folder| sunprint(folder, &line).output().unwrap());
            assert_eq!(code, Some(0), "{line}");
        }
    }
    // What follows a fit.
    for line in [
        "show new.sunprint",
        "show new.sunprint --json",
        "sample new.sunprint --rows 300 --output new.csv",
        "sample new.sunprint --rows 300 --output new.parquet",
        "plan people.toml --rows 400 --epsilon 1",
        "ledger show",
        "ledger show --json",
        "ledger verify --receipt new.sunprint",
        "ledger export out.json",
    ] {
        let code = twins(line, &known, set, |folder| {
            let fit = "fit people.csv --schema people.toml --epsilon 1000 --output new.sunprint --quiet";
            assert!(sunprint(folder, fit).status().unwrap().success());
            sunprint(folder, line).output().unwrap()
        });
        assert_eq!(code, Some(0), "{line}");
    }
}

#[test]
fn outputs_ledgers_and_disks_that_fail() {
    let known = ["people.toml", "people.csv", "folder", "bad.sqlite"];
    let set = |folder: &Path, mark: &str| {
        fs::write(folder.join("people.csv"), format!("{HEADER}{}", rows(mark, 400))).unwrap();
        fs::write(folder.join("bad.sqlite"), "not a ledger").unwrap();
        fs::create_dir(folder.join("folder")).unwrap();
    };
    for (line, code) in [
        ("fit people.csv --schema people.toml --epsilon 1 --output /dev/full", 1),
        ("fit people.csv --schema people.toml --epsilon 1 --output m --receipt /dev/full", 1),
        ("synth people.csv --schema people.toml --epsilon 1 --output /dev/full --output-format parquet", 1),
        ("synth people.csv --schema people.toml --epsilon 1 --output folder --output-format csv", 1),
        ("fit people.csv --schema people.toml --epsilon 1 --output people.csv/m", 1),
        ("fit people.csv --schema people.toml --epsilon 1 --output people.csv", 2),
        ("fit people.csv --schema people.toml --epsilon 1 --output /proc/m", 1),
        ("fit people.csv --schema people.toml --epsilon 1 --output m --ledger bad.sqlite", 1),
        ("fit people.csv --schema people.toml --epsilon 1 --output m --ledger folder", 1),
        ("fit people.csv --schema people.toml --epsilon 1 --output m --spill-dir nowhere", 1),
        ("evaluate people.csv people.csv --schema people.toml --output folder", 1),
        ("check people.csv --schema bad.sqlite", 1),
        ("show people.csv", 1),
        ("sample people.csv --output m.csv", 1),
        ("ledger verify --receipt people.csv", 1),
        ("ledger import people.csv", 1),
    ] {
        let found = twins(line, &known, set, |folder| sunprint(folder, line).output().unwrap());
        assert_eq!(found, Some(code), "{line}");
    }
    // A ceiling that is too low, and a disk that fills up after the noise was drawn.
    let refused = twins("a ceiling", &known, set, |folder| {
        assert!(sunprint(folder, "ledger limit people --new --epsilon 0.5").output().unwrap().status.success());
        sunprint(folder, "fit people.csv --schema people.toml --epsilon 1 --output m").output().unwrap()
    });
    assert_eq!(refused, Some(1));
    let full = twins("a full disk", &known, set, |folder| {
        let script =
            "ulimit -f 1; exec \"$0\" fit people.csv --schema people.toml --epsilon 1 --output m --ledger none";
        let mut command = Command::new("sh");
        command.args(["-c", script, env!("CARGO_BIN_EXE_sunprint")]).current_dir(folder).stdin(Stdio::null());
        command.output().unwrap()
    });
    assert_eq!(full, Some(1));
}

/// Told to stop, or killed, in the middle of the rows.
#[test]
fn runs_that_are_stopped() {
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGKILL] {
        for line in [
            "fit - --format csv --schema people.toml --epsilon 1 --output m --memory 16MB --spill-dir .",
            "synth - --format csv --schema people.toml --epsilon 1 --output new.csv",
            "check - --format csv --schema people.toml",
        ] {
            let what = format!("{signal} {line}");
            let set = |_: &Path, _: &str| {};
            let mark = std::cell::Cell::new(0);
            let code = twins(&what, &["people.toml"], set, |folder| {
                let mut child = sunprint(folder, line)
                    .stdin(Stdio::piped())
                    .stdout(Stdio::piped())
                    .stderr(Stdio::piped())
                    .spawn()
                    .unwrap();
                let mut pipe = child.stdin.take().unwrap();
                // Far more than a pipe holds, and no end.
                let table = format!("{HEADER}{}", rows(MARKS[mark.replace(mark.get() + 1)], 20_000));
                pipe.write_all(table.as_bytes()).unwrap();
                kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
                let output = child.wait_with_output().unwrap();
                drop(pipe);
                output
            });
            assert_eq!(code, if signal == Signal::SIGKILL { None } else { Some(130) }, "{what}");
        }
    }
}
