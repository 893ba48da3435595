//! Several fits at once, and fits that are stopped: the ledger counts what it must.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

const SCHEMA: &str = "[dataset]\nname = \"people\"\n\n\
                      [[column]]\nname = \"age\"\nkind = \"integer\"\nmin = 0\nmax = 120\n";

fn sunprint(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sunprint"));
    command.args(line.split_whitespace()).current_dir(folder).stdin(Stdio::null()).env("SUNPRINT_LEDGER", "l.sqlite");
    command
}

fn run(folder: &Path, line: &str) -> Output {
    let output = sunprint(folder, line).output().unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// A folder with a schema and a small table.
fn stage() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("people.toml"), SCHEMA).unwrap();
    let rows: String = (0..50).map(|i| format!("{}\n", 20 + i)).collect();
    fs::write(folder.path().join("people.csv"), format!("age\n{rows}")).unwrap();
    folder
}

/// The sum of the epsilons of `people`, and the states of its entries.
fn account(folder: &Path) -> (String, Vec<String>) {
    run(folder, "ledger verify");
    let shown: serde_json::Value = serde_json::from_slice(&run(folder, "ledger show people --json").stdout).unwrap();
    let account = &shown["datasets"][0];
    let states = account["entries"].as_array().unwrap().iter();
    let states = states.map(|entry| entry["state"].as_str().unwrap().to_owned()).collect();
    (account["total"]["epsilon"].as_str().unwrap().to_owned(), states)
}

#[test]
fn sixteen_fits_at_once_under_a_ceiling_for_ten() {
    let stage = stage();
    let folder = stage.path();
    run(folder, "ledger limit people --new --epsilon 1");
    let begin = |i: usize| -> Child {
        let line = format!("fit people.csv --schema people.toml --epsilon 0.1 --output {i}.sunprint");
        sunprint(folder, &line).stderr(Stdio::piped()).spawn().unwrap()
    };
    let fits: Vec<Child> = (0..16).map(begin).collect();
    let mut good = 0;
    for (i, fit) in fits.into_iter().enumerate() {
        let output = fit.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(folder.join(format!("{i}.sunprint")).exists(), output.status.success());
        if output.status.success() {
            good += 1;
        } else {
            assert_eq!(output.status.code(), Some(1), "{said}");
            assert!(said.contains("dataset `people` has spent epsilon 1 of its ceiling 1"), "{said}");
            assert!(!said.contains("Receipt"), "refused before anything is promised: {said}");
        }
    }
    assert_eq!(good, 10);
    assert_eq!(account(folder), ("1/1".to_owned(), vec!["spent".to_owned(); 10]));
}

/// Killed while it reads rows from a pipe that does not end: the charge stays.
#[test]
fn a_fit_that_is_killed_has_spent() {
    use std::io::Write;
    let stage = stage();
    let line = "fit - --format csv --schema people.toml --epsilon 0.5 --output a.sunprint --quiet";
    let mut fit = sunprint(stage.path(), line).stdin(Stdio::piped()).spawn().unwrap();
    let mut pipe = fit.stdin.take().unwrap();
    // More than a pipe holds: once it is written, the program has begun to read.
    pipe.write_all(b"age\n").unwrap();
    pipe.write_all("33\n".repeat(200_000).as_bytes()).unwrap();
    fit.kill().unwrap();
    fit.wait().unwrap();
    assert_eq!(account(stage.path()), ("1/2".to_owned(), vec!["opened".to_owned()]));
    assert!(!stage.path().join("a.sunprint").exists());
}

#[test]
fn the_user_s_data_directory_is_where_it_is_kept() {
    let stage = stage();
    let line = "fit people.csv --schema people.toml --epsilon 0.5 --output a.sunprint --force --quiet";
    let home = stage.path().join("home");
    let mut fit = sunprint(stage.path(), line);
    fit.env_remove("SUNPRINT_LEDGER").env_remove("XDG_DATA_HOME").env("HOME", &home);
    assert!(fit.status().unwrap().success());
    assert!(cfg!(windows) || home.join(".local/share/sunprint/ledger.sqlite").exists());
    fit.env("XDG_DATA_HOME", stage.path().join("data"));
    assert!(fit.status().unwrap().success());
    assert!(stage.path().join("data/sunprint/ledger.sqlite").exists());
    fit.env_remove("XDG_DATA_HOME").env_remove("HOME").env_remove("LOCALAPPDATA");
    assert_eq!(fit.output().unwrap().status.code(), Some(2), "no place to keep it is said, and nothing is spent");
}
