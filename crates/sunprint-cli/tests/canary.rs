//! A value that must not be seen: planted in the cells of tables that are refused for every reason, and looked for in
//! everything that comes out.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// A number, a text and bytes with a mark that occurs nowhere else.
const MARK: &str = "7331125990427";

const SCHEMA: &str = "[dataset]\nname = \"people\"\n\n\
                      [[column]]\nname = \"age\"\nkind = \"integer\"\nmin = 0\nmax = 120\n\n\
                      [[column]]\nname = \"height\"\nkind = \"continuous\"\nmin = 100.0\nmax = 220.0\n\n\
                      [[column]]\nname = \"smokes\"\nkind = \"categorical\"\nvalues = [\"no\", \"yes\"]\n\
                      role = \"label\"\n";

/// Tables that a fit refuses, each with the mark in a cell.
fn refused() -> Vec<(&'static str, Vec<u8>)> {
    let header = "age,height,smokes\n";
    let good = "41,7331125990427,SECRET_7331125990427\n";
    let text = |rows: &str| format!("{header}{good}{rows}").into_bytes();
    let mut tables = vec![
        ("too-short.csv", text("SECRET_7331125990427,7331125990427\n")),
        ("too-long.csv", text("SECRET_7331125990427,7331125990427,no,7331125990427\n")),
        ("one-value.csv", text("SECRET_7331125990427\n")),
        ("quoted.csv", text("\"SECRET_7331125990427,7331125990427,no\n")),
        ("quoted-short.csv", text("\"SECRET_7331125990427\",\"7331125990427\"\n")),
        ("behind-quote.csv", text("\"SECRET_7331125990427\"7331125990427,1,no\n")),
        ("joined-header.csv", b"age,height,\"smokes\n41,7331125990427,SECRET_7331125990427\n\"42\",1,no\n".to_vec()),
        ("returns.csv", b"age,height,smokes\r41,7331125990427,SECRET_7331125990427\r".to_vec()),
        ("one-name.csv", b"age,7331125990427,SECRET_7331125990427\n42,7331125990427,no\n".to_vec()),
        ("not-text.csv", b"age,height,\xff7331125990427\n42,7331125990427,no\n".to_vec()),
        ("no-header.csv", b"41,7331125990427,SECRET_7331125990427\n42,7331125990427,no\n".to_vec()),
        ("missing.csv", b"age,height\n7331125990427,7331125990427\n".to_vec()),
        (
            "doubled.csv",
            b"age,height,height,smokes\n7331125990427,7331125990427,7331125990427,SECRET_7331125990427\n".to_vec(),
        ),
        ("extra.csv", b"age,height,smokes,name\n7331125990427,7331125990427,no,SECRET_7331125990427\n".to_vec()),
        ("tabs.tsv", text("")),
    ];
    for name in ["not.csv.gz", "not.csv.zst", "not.parquet", "not.arrow"] {
        tables.push((name, text("")));
    }
    tables
}

/// Every run writes into it, also one that is refused.
const LEDGER: &str = "ledger.sqlite";

/// Everything that came out of a run: both streams, and the files that were not there before.
fn traces(folder: &Path, line: &str, known: &[&str]) -> (Option<i32>, Vec<(String, Vec<u8>)>) {
    let output = Command::new(env!("CARGO_BIN_EXE_sunprint"))
        .args(line.split_whitespace())
        .current_dir(folder)
        .stdin(Stdio::null())
        .env("RUST_BACKTRACE", "full")
        .env("SUNPRINT_LEDGER", LEDGER)
        .output()
        .unwrap();
    let mut traces = vec![("stdout".to_owned(), output.stdout), ("stderr".to_owned(), output.stderr)];
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name == LEDGER {
            assert_unseen(line, &[(name, fs::read(&path).unwrap())]);
        } else if !known.contains(&name.as_str()) {
            traces.push((name, fs::read(&path).unwrap()));
            fs::remove_file(path).unwrap();
        }
    }
    (output.status.code(), traces)
}

fn assert_unseen(line: &str, traces: &[(String, Vec<u8>)]) {
    for (name, bytes) in traces {
        let seen = bytes.windows(MARK.len()).any(|window| window == MARK.as_bytes());
        assert!(!seen, "{line}: the canary is in {name}: {}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn a_refused_table_shows_no_value() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("people.toml"), SCHEMA).unwrap();
    fs::write(folder.path().join("good.csv"), "age,height,smokes\n7331125990427,7331125990427,no\n").unwrap();
    for (name, bytes) in refused() {
        fs::write(folder.path().join(name), bytes).unwrap();
        for command in [
            "fit DATA --schema people.toml --epsilon 1 --output new.sunprint",
            "fit DATA --schema people.toml --epsilon 1 --output new.sunprint --json --receipt receipt.txt",
            "synth DATA --schema people.toml --epsilon 1 --output new.csv --model new.sunprint",
            "synth DATA --schema people.toml --epsilon 1 --method cube --delta 1e-9",
            "check DATA --schema people.toml",
            "check DATA --schema people.toml --json",
            "evaluate DATA good.csv --schema people.toml",
            "evaluate good.csv DATA --schema people.toml --json --output new.json",
            "evaluate DATA good.csv --schema people.toml --report new.html --report-json new.json",
            "evaluate good.csv DATA --schema people.toml --report new.html --output new.txt",
        ] {
            for talk in ["", " --quiet"] {
                let line = command.replace("DATA", name) + talk;
                let (code, traces) = traces(folder.path(), &line, &["people.toml", "good.csv", name]);
                assert_eq!(code, Some(1), "{line}: {}", String::from_utf8_lossy(&traces[1].1));
                assert_eq!(traces.len(), 2, "{line}: something was left behind");
                assert!(traces[0].1.is_empty(), "{line}: something is on stdout");
                assert_unseen(&line, &traces);
            }
        }
        fs::remove_file(folder.path().join(name)).unwrap();
    }
}

/// A table without a header begins with the first person's values, and none of them becomes a name that is shown.
#[test]
fn a_table_without_a_header_shows_no_value() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("people.toml"), SCHEMA).unwrap();
    fs::write(folder.path().join("names"), "age\nheight\nsmokes\n").unwrap();
    let row = "41,7331125990427,SECRET_7331125990427\n";
    fs::write(folder.path().join("bare.csv"), row.repeat(30)).unwrap();
    fs::write(folder.path().join("ragged.csv"), format!("{row}{row}7331125990427\n")).unwrap();
    for (command, code) in [
        ("schema bare.csv", 1),
        ("schema bare.csv --output new.toml", 1),
        ("schema bare.csv --no-header", 0),
        ("schema bare.csv --header names --output new.toml", 0),
        ("check bare.csv --schema people.toml", 1),
        ("check bare.csv --schema people.toml --no-header", 0),
        ("check ragged.csv --schema people.toml --no-header", 1),
        ("fit bare.csv --schema people.toml --epsilon 1 --output new.sunprint", 1),
        ("fit bare.csv --schema people.toml --epsilon 1 --output new.sunprint --no-header", 0),
        ("fit bare.csv --schema people.toml --epsilon 1 --output new.sunprint --header names --json", 0),
        ("fit ragged.csv --schema people.toml --epsilon 1 --output new.sunprint --no-header", 1),
        ("evaluate bare.csv bare.csv --schema people.toml --no-header", 1),
    ] {
        let known = ["people.toml", "names", "bare.csv", "ragged.csv"];
        let (found, traces) = traces(folder.path(), command, &known);
        assert_eq!(found, Some(code), "{command}: {}", String::from_utf8_lossy(&traces[1].1));
        assert_unseen(command, &traces);
    }
}

#[test]
fn an_output_that_fails_shows_no_value() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("people.toml"), SCHEMA).unwrap();
    fs::write(
        folder.path().join("people.csv"),
        "age,height,smokes\n7331125990427,7331125990427,SECRET_7331125990427\n",
    )
    .unwrap();
    fs::create_dir(folder.path().join("folder")).unwrap();
    for (output, code) in [("folder", 1), ("nowhere/new", 1), ("people.csv", 2), ("people.toml", 2), ("", 2)] {
        for command in [
            "fit people.csv --schema people.toml --epsilon 1",
            "synth people.csv --schema people.toml --epsilon 1",
            "evaluate people.csv people.csv --schema people.toml",
        ] {
            let line = format!(
                "{command} --output={output} {}",
                if command.starts_with("synth") { "--output-format csv" } else { "" }
            );
            let (found, traces) = traces(folder.path(), &line, &["people.toml", "people.csv", "folder"]);
            assert_eq!((found, traces.len()), (Some(code), 2), "{line}: {}", String::from_utf8_lossy(&traces[1].1));
            assert_unseen(&line, &traces);
        }
    }
}

#[test]
fn a_fit_takes_the_canary_and_keeps_it() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("people.toml"), SCHEMA).unwrap();
    fs::write(
        folder.path().join("people.csv"),
        "age,height,smokes\n7331125990427,-7331125990427.7331125990427,SECRET_7331125990427\nSECRET_7331125990427,\"a,7331125990427\",\n",
    )
    .unwrap();
    for command in [
        "fit people.csv --schema people.toml --epsilon 1 --output new.sunprint --json --receipt receipt.txt",
        "synth people.csv --schema people.toml --epsilon 1 --output new.csv --model new.sunprint --rows 50",
        "synth people.csv --schema people.toml --epsilon 1 --method paper --rows 50 --quiet",
        // What the curator is told is private, but values out of bounds are not shown even there.
        "check people.csv --schema people.toml",
        "check people.csv --schema people.toml --json",
        "evaluate people.csv people.csv --schema people.toml",
        "evaluate people.csv people.csv --schema people.toml --rows all --json --output new.json",
        "evaluate people.csv people.csv --schema people.toml --report new.html --report-json new.json --output new.txt",
    ] {
        let (code, traces) = traces(folder.path(), command, &["people.toml", "people.csv"]);
        assert_eq!(code, Some(0), "{command}");
        assert_unseen(command, &traces);
    }
}

/// The mark in columns of every kind: not listed, not a date, missing or not.
#[test]
fn a_fit_keeps_the_canary_of_every_kind() {
    let folder = tempfile::tempdir().unwrap();
    let schema = "[dataset]\nname = \"people\"\n\n\
                  [[column]]\nname = \"colour\"\nkind = \"categorical\"\nvalues = [\"red\", \"green\"]\nmissing = \"allow\"\n\n\
                  [[column]]\nname = \"size\"\nkind = \"categorical\"\nvalues = [\"s\", \"l\"]\nordered = true\nother = \"l\"\n\n\
                  [[column]]\nname = \"born\"\nkind = \"date\"\nmin = \"1920-01-01\"\nmax = \"2020-12-31\"\n\n\
                  [[column]]\nname = \"seen\"\nkind = \"datetime\"\nmin = \"2020-01-01\"\nmax = \"2021-01-01\"\n\
                  format = \"%d.%m.%Y %H:%M\"\nmissing = \"allow\"\n\n\
                  [[column]]\nname = \"income\"\nkind = \"continuous\"\nmin = 1\nmax = 1e6\nscale = \"log\"\nmissing = \"allow\"\n\n\
                  [[column]]\nname = \"hour\"\nkind = \"integer\"\nmin = 0\nmax = 23\nscale = \"cyclic\"\n\n\
                  [[column]]\nname = \"ill\"\nkind = \"boolean\"\nrole = \"label\"\nmissing = \"allow\"\n";
    fs::write(folder.path().join("people.toml"), schema).unwrap();
    let row = |value: &str| [value; 7].join(",") + "\n";
    let rows = ["7331125990427", "SECRET_7331125990427", "7331125990427-01-01", "\"7331125990427,7331125990427\"", ""]
        .map(row);
    fs::write(folder.path().join("people.csv"), format!("colour,size,born,seen,income,hour,ill\n{}", rows.concat()))
        .unwrap();
    fs::write(
        folder.path().join("short.csv"),
        format!("colour,size,born,seen,income,hour,ill\n{}{MARK}\n", rows.concat()),
    )
    .unwrap();
    let known = ["people.toml", "people.csv", "short.csv"];
    for command in [
        "fit people.csv --schema people.toml --epsilon 1 --output new.sunprint --json --receipt receipt.txt",
        "synth people.csv --schema people.toml --epsilon 1 --output new.csv --model new.sunprint --rows 50",
        "synth people.csv --schema people.toml --epsilon 1 --output new.parquet --rows 50 --quiet",
        "check people.csv --schema people.toml",
        "check people.csv --schema people.toml --json",
        "evaluate people.csv people.csv --schema people.toml",
        "evaluate people.csv people.csv --schema people.toml --rows all --json --output new.json",
        "evaluate people.csv people.csv --schema people.toml --report new.html --report-json new.json --output new.txt",
        "fit short.csv --schema people.toml --epsilon 1 --output new.sunprint",
        "check short.csv --schema people.toml",
    ] {
        let (code, traces) = traces(folder.path(), command, &known);
        assert_eq!(
            code,
            Some(i32::from(command.contains("short"))),
            "{command}: {}",
            String::from_utf8_lossy(&traces[1].1)
        );
        assert_unseen(command, &traces);
    }
}

/// Every damage to a typed file is a refusal or goes unnoticed, and never looks like a bug of the program, although the
/// readers of such files may panic.
#[test]
fn a_damaged_file_is_no_bug() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("people.toml"), SCHEMA).unwrap();
    fs::write(folder.path().join("people.csv"), "age,height,smokes\n41,170,yes\n42,160,no\n").unwrap();
    let run = |line: &str| {
        let arguments = line.split_whitespace();
        let mut command = Command::new(env!("CARGO_BIN_EXE_sunprint"));
        command.args(arguments).current_dir(folder.path()).env("SUNPRINT_LEDGER", "none").output().unwrap()
    };
    for word in ["parquet", "arrow"] {
        let made = run(&format!("synth people.csv --schema people.toml --epsilon 1 --output good.{word} --quiet"));
        assert!(made.status.success());
        let good = fs::read(folder.path().join(format!("good.{word}"))).unwrap();
        for at in (0..good.len()).step_by(good.len().div_ceil(150)) {
            let mut bad = good.clone();
            bad[at] ^= 0xff;
            fs::write(folder.path().join(format!("bad.{word}")), &bad).unwrap();
            let checked = run(&format!("check bad.{word} --schema people.toml --quiet"));
            let said = String::from_utf8_lossy(&checked.stderr);
            assert!(!said.contains("bug"), "{word}, byte {at}: {said}");
        }
    }
}
