//! What costs nothing, what does, and what is kept when it has been paid for.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use parquet::arrow::ArrowWriter;

const COLUMNS: &str = "[[column]]\nname = \"age\"\nkind = \"integer\"\nmin = 0\nmax = 120\n\n\
                       [[column]]\nname = \"height\"\nkind = \"continuous\"\nmin = 100.0\nmax = 220.0\n";

fn sunprint(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sunprint"));
    command.args(line.split_whitespace()).current_dir(folder).env("SUNPRINT_LEDGER", folder.join("l/l.sqlite"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(folder: &Path, line: &str) -> Output {
    sunprint(folder, line).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn stage() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let schema = format!("[dataset]\nname = \"people\"\n\n{COLUMNS}");
    fs::write(folder.path().join("people.toml"), schema).unwrap();
    fs::write(folder.path().join("nameless.toml"), COLUMNS).unwrap();
    fs::write(folder.path().join("people.csv"), format!("age,height\n{}", "41,170\n42,180\n".repeat(25))).unwrap();
    fs::write(folder.path().join("older.sunprint"), "a model that was paid for").unwrap();
    folder
}

fn parquet(folder: &Path, name: &str, columns: [&str; 2], values: Vec<i64>) {
    let column = |name| (name, Arc::new(Int64Array::from(values.clone())) as ArrayRef);
    let batch = RecordBatch::try_from_iter(columns.map(column)).unwrap();
    let file = fs::File::create(folder.join(name)).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

/// States of the entries of `people`.
fn states(folder: &Path) -> Vec<String> {
    let shown = run(folder, "ledger show people --json");
    let shown: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap();
    let entries = shown["datasets"][0]["entries"].as_array().unwrap().iter();
    entries.map(|entry| entry["state"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_the_header_says_costs_nothing() {
    let stage = stage();
    let folder = stage.path();
    for (name, text) in [
        ("renamed.csv", "years,height\n41,170\n"),
        ("missing.csv", "age\n41\n"),
        ("extra.csv", "age,height,name\n41,170,Ada\n"),
        ("doubled.csv", "age,height,height\n41,170,170\n"),
        ("semicolons.csv", "age;height\n41;170\n"),
        ("header.csv", "age,height\n"),
        ("blank.csv", "age,height\n\n\n"),
        ("empty.csv", ""),
        ("bare.csv", "41,170\n42,180\n"),
        ("ragged-first.csv", "age,height\n41\n42,180\n"),
        ("ragged-last.csv", "age,height\n41,170\n42,180,3"),
        ("open.csv", "age,height\n41,\"170\n42,180\n"),
        ("not.parquet", "age,height\n41,170\n"),
        ("not.arrow", "age,height\n41,170\n"),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
    parquet(folder, "renamed.parquet", ["years", "height"], vec![41, 42]);
    parquet(folder, "no-rows.parquet", ["age", "height"], Vec::new());
    let mut tables: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| !name.starts_with("people") && !name.ends_with("toml") && !name.ends_with("sunprint"))
        .collect();
    assert_eq!(tables.len(), 16);
    tables.push("nowhere.csv".to_owned());
    for table in tables {
        for command in ["fit TABLE --output new.sunprint", "synth TABLE --output new.csv --model new.sunprint"] {
            let line = command.replace("TABLE", &table) + " --schema people.toml --epsilon 1";
            assert_free(folder, &line, &run(folder, &line));
        }
        let Ok(bytes) = fs::read(folder.join(&table)) else { continue };
        // A pipe can be opened once, and is judged all the same.
        let format = table.rsplit_once('.').unwrap().1;
        let line = format!("fit - --format {format} --schema people.toml --epsilon 1 --output new.sunprint");
        let mut fit = sunprint(folder, &line).stdin(Stdio::piped()).spawn().unwrap();
        fit.stdin.take().unwrap().write_all(&bytes).unwrap();
        assert_free(folder, &format!("{line} < {table}"), &fit.wait_with_output().unwrap());
    }
}

#[test]
fn what_the_options_the_schema_and_the_outputs_say_costs_nothing() {
    let stage = stage();
    let folder = stage.path();
    for (line, sentence) in [
        ("fit people.csv --schema nameless.toml --epsilon 1 --output new", "gives its dataset no name"),
        ("synth people.csv --schema nameless.toml --epsilon 1 --output new.csv", "gives its dataset no name"),
        ("fit people.csv --schema nameless.toml --epsilon 1 --output new --ledger none", "gives its dataset no name"),
        ("fit people.csv --schema people.toml --epsilon 1 --output older.sunprint", "there is a file already"),
        ("fit people.csv --schema people.toml --epsilon 1 --output new --receipt older.sunprint", "there is a file"),
        (
            "synth people.csv --schema people.toml --epsilon 1 --output new.csv --model older.sunprint",
            "there is a file",
        ),
        ("fit people.csv --schema people.toml --epsilon 1 --output new --header nowhere", "does not exist"),
        ("fit people.csv --schema people.toml --epsilon 1 --output new --spill-dir nowhere", "does not exist"),
    ] {
        let output = run(folder, line);
        assert!(said(&output).contains(sentence), "{line}: {}", said(&output));
        assert_free(folder, line, &output);
    }
    // Others do without a name.
    for line in ["check people.csv --schema nameless.toml", "plan nameless.toml --rows 9 --epsilon 1"] {
        assert!(run(folder, line).status.success(), "{line}");
    }
}

/// Refused, without a word of a promise, without a ledger, and without a trace.
fn assert_free(folder: &Path, line: &str, output: &Output) {
    let said = said(output);
    assert_eq!(output.status.code(), Some(1), "{line}: {said}");
    assert!(!said.contains("differentially private") && !said.contains("Receipt"), "{line}: {said}");
    assert!(!folder.join("l").exists(), "{line}: the ledger was touched");
    assert!(output.stdout.is_empty() && !folder.join("new.sunprint").exists() && !folder.join("new.csv").exists());
    assert_eq!(fs::read_to_string(folder.join("older.sunprint")).unwrap(), "a model that was paid for");
}

#[test]
fn a_fault_among_the_rows_is_charged() {
    let stage = stage();
    let folder = stage.path();
    let rows = "41,170\n".repeat(50_000);
    fs::write(folder.join("ragged.csv"), format!("age,height\n{rows}42\n")).unwrap();
    let output = run(folder, "fit ragged.csv --schema people.toml --epsilon 1 --output new.sunprint");
    let said = said(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("differentially private") && said.contains("ragged.csv:50002: this line has 1 value"),
        "{said}"
    );
    assert!(said.contains("the rows were read, so the charge stays in the ledger, as entry 1"), "{said}");
    assert_eq!(states(folder), ["opened"]);
}

/// A copy of a schema under another name has no budget of its own.
#[test]
fn a_copy_of_the_schema_counts_with_the_first() {
    let stage = stage();
    let folder = stage.path();
    fs::copy(folder.join("people.toml"), folder.join("copy.toml")).unwrap();
    assert!(run(folder, "ledger limit people --new --epsilon 1").status.success());
    for (schema, epsilon, code) in [("people", "0.6", 0), ("copy", "0.6", 1), ("copy", "0.4", 0), ("people", "0.1", 1)]
    {
        let line = format!("fit people.csv --schema {schema}.toml --epsilon {epsilon} --output {schema}-{epsilon}");
        let output = run(folder, &line);
        assert_eq!(output.status.code(), Some(code), "{line}: {}", said(&output));
        assert!(code == 0 || said(&output).contains("of its ceiling 1"), "{line}: {}", said(&output));
    }
    assert_eq!(states(folder), ["spent", "spent"]);
}

/// A file that appears under the output's name while rows are read is kept, and so is what was paid for.
#[test]
fn a_file_that_appears_meanwhile_is_kept_and_so_is_the_model() {
    for (line, output, instead) in [
        ("fit - --format csv --schema people.toml --epsilon 1 --output out.sunprint", "out.sunprint", "out-2.sunprint"),
        ("synth - --format csv --schema people.toml --epsilon 1 --output out.csv.gz", "out.csv.gz", "out-2.csv.gz"),
    ] {
        let stage = stage();
        let folder = stage.path();
        let mut fit = sunprint(folder, line).stdin(Stdio::piped()).spawn().unwrap();
        let mut pipe = fit.stdin.take().unwrap();
        // Far more than a pipe and what is judged with the header: once it is taken, the outputs were looked at.
        pipe.write_all(format!("age,height\n{}", "41,170\n".repeat(200_000)).as_bytes()).unwrap();
        fs::write(folder.join(output), "somebody else's").unwrap();
        drop(pipe);
        let ended = fit.wait_with_output().unwrap();
        let said = said(&ended);
        assert_eq!(ended.status.code(), Some(1), "{said}");
        assert!(said.contains(&format!("so that the output is in {instead}")) && said.contains("hint: "), "{said}");
        assert_eq!(fs::read_to_string(folder.join(output)).unwrap(), "somebody else's");
        assert_eq!(states(folder), ["spent"]);
        if instead.ends_with("sunprint") {
            assert!(run(folder, &format!("show {instead}")).status.success());
        } else {
            assert!(run(folder, &format!("check {instead} --schema people.toml")).status.success());
        }
    }
}

/// Every command that has an option for an output has `--force`.
#[test]
fn whoever_writes_files_has_force() {
    for command in ["demo", "schema", "fit", "sample", "synth", "show", "evaluate", "ledger export"] {
        let help = run(Path::new("."), &format!("{command} --help"));
        assert!(String::from_utf8_lossy(&help.stdout).contains("--force"), "{command}");
    }
}
