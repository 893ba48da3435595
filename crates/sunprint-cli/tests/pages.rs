//! Pages as files: the public one needs no table, and nobody but its owner reads the curator's.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const SCHEMA: &str = "[dataset]\nname = \"people\"\n\n\
                      [[column]]\nname = \"age\"\nkind = \"integer\"\nmin = 0\nmax = 1000000\n\n\
                      [[column]]\nname = \"height\"\nkind = \"continuous\"\nmin = 100.0\nmax = 220.0\n\n\
                      [[column]]\nname = \"smokes\"\nkind = \"categorical\"\nvalues = [\"no\", \"yes\"]\n\
                      role = \"label\"\n";

fn run(folder: &Path, line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sunprint"));
    command.args(line.split_whitespace()).current_dir(folder).env("SUNPRINT_LEDGER", "none").output().unwrap()
}

fn made(folder: &Path, line: &str) {
    let output = run(folder, line);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A table, its schema, and a model of it.
fn stage(folder: &Path) {
    let rows: String =
        (0..300).map(|i| format!("{},{}.5,{}\n", 700_000 + i, 150 + i % 60, ["no", "yes"][i % 2])).collect();
    fs::write(folder.join("people.csv"), format!("age,height,smokes\n{rows}")).unwrap();
    fs::write(folder.join("people.toml"), SCHEMA).unwrap();
    made(folder, "fit people.csv --schema people.toml --epsilon 1 --output people.sunprint --quiet");
}

#[test]
fn the_public_page_is_made_without_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    stage(folder);
    for file in ["people.csv", "people.toml"] {
        fs::remove_file(folder.join(file)).unwrap();
    }
    for line in [
        "evaluate --public --model people.sunprint --report page.html --report-json page.json",
        "evaluate people.csv people.csv --schema people.toml --public --model people.sunprint --report page.html --report-json page.json",
        "show people.sunprint --report page.html --report-json page.json",
    ] {
        made(folder, &format!("{line} --force"));
        let json: serde_json::Value = serde_json::from_slice(&fs::read(folder.join("page.json")).unwrap()).unwrap();
        assert_eq!(json["origin"], "released", "{line}");
        for panel in ["distances", "columns", "learning", "strata", "validity"] {
            assert!(json[panel].is_null(), "{line}: {panel}");
        }
        assert!(json["correlations"]["real"].is_null() && json["plane"]["real"].as_array().unwrap().is_empty());
        assert!(fs::read_to_string(folder.join("page.html")).unwrap().starts_with("<!doctype html>"));
    }
}

/// The ages are a run of 300 numbers out of a million: a page from released numbers alone cannot hit many of them.
#[test]
fn no_row_is_on_the_public_page() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    stage(folder);
    made(folder, "evaluate --public --model people.sunprint --report page.html --report-json page.json --quiet");
    made(
        folder,
        "evaluate people.csv people.csv --schema people.toml --report own.html --report-json own.json --quiet",
    );
    let numbers = |name: &str| -> usize {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        (0..300).filter(|i| text.contains(&format!("{}", 700_000 + i))).count()
    };
    assert!(numbers("page.json") < 10 && numbers("page.html") < 10);
    // The control: the curator's page shows what it is for.
    assert!(fs::read_to_string(folder.join("own.json")).unwrap().contains("\"mean\":{\"real\":7001"));
}

#[cfg(unix)]
#[test]
fn the_curators_page_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    stage(folder);
    let evaluated = run(
        folder,
        "evaluate people.csv people.csv --schema people.toml --report own.html --report-json own.json --output words.txt",
    );
    let said = String::from_utf8_lossy(&evaluated.stderr);
    assert!(evaluated.status.success() && said.matches("do not publish it").count() == 2, "{said}");
    made(folder, "show people.sunprint --report page.html --report-json page.json");
    let mode = |name: &str| fs::metadata(folder.join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(["own.html", "own.json", "words.txt"].map(mode), [0o600; 3]);
    let usual = mode("people.sunprint");
    assert_eq!(["page.html", "page.json"].map(mode), [usual; 2]);
}
