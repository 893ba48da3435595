//! What a run has left, and whether it may.

use crate::dice::Dice;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use sunprint::ledger::{Entry, Ledger, Recorded, State};
use sunprint::model::Model;
use sunprint::receipt::Receipt;
use sunprint::schema::Schema;
use sunprint::source::{Input, Silent, Table};

const SCHEMA: &str = "[dataset]\nname = \"people\"\n\n\
    [[column]]\nname = \"age\"\nkind = \"integer\"\nmin = 0\nmax = 120\n\n\
    [[column]]\nname = \"height\"\nkind = \"continuous\"\nmin = 100\nmax = 220\n\n\
    [[column]]\nname = \"income\"\nkind = \"continuous\"\nmin = 1\nmax = 1e6\nscale = \"log\"\nmissing = \"allow\"\n\n\
    [[column]]\nname = \"smokes\"\nkind = \"boolean\"\nrole = \"label\"\n\n";

/// Further columns of numbers, so that the codes do not fit in the smallest memory.
const MORE: usize = 36;

const OLDER: &[u8] = b"older";
const OUTPUTS: [&str; 4] = ["model.sunprint", "receipt.json", "rows.parquet", "rows.csv.gz"];

/// A folder with a table, its schema, a ledger, and places for outputs and temporary files.
pub(crate) struct Stage {
    folder: tempfile::TempDir,
    table: Vec<u8>,
    rows: usize,
    schema: Schema,
}

impl Stage {
    pub(crate) fn set(rows: usize) -> Result<Stage, String> {
        let unset = |fault: std::io::Error| format!("the stage cannot be set: {fault}");
        let folder = tempfile::tempdir().map_err(unset)?;
        let names: Vec<String> = (0..MORE).map(|i| format!("m{i}")).collect();
        let mut schema = SCHEMA.to_string();
        for name in &names {
            let _ = write!(schema, "[[column]]\nname = \"{name}\"\nkind = \"integer\"\nmin = 0\nmax = 9\n\n");
        }
        let mut table = format!("age,height,income,smokes,{}\n", names.join(","));
        let mut dice = Dice::new(1);
        for _ in 0..rows {
            let (age, height, income) = (dice.below(100), 120 + dice.below(80), dice.below(90_000));
            let _ = write!(table, "{age},{height}.5,{income},{}", dice.below(2));
            (0..MORE).for_each(|_| table.push_str([",1", ",2", ",7"][dice.below(3)]));
            table.push('\n');
        }
        let place = |name: &str| folder.path().join(name);
        fs::write(place("people.toml"), &schema).map_err(unset)?;
        fs::write(place("people.csv"), &table).map_err(unset)?;
        ["spill", "temporary", "ledger"].iter().try_for_each(|name| fs::create_dir(place(name))).map_err(unset)?;
        let schema = Schema::parse(&schema, "people.toml").map_err(|error| error.to_string())?;
        Ok(Stage { folder, table: table.into_bytes(), rows, schema })
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn ledger(&self) -> PathBuf {
        self.folder().join("ledger").join("ledger.sqlite")
    }

    pub(crate) fn table(&self) -> &[u8] {
        &self.table
    }

    /// No outputs, or older ones.
    pub(crate) fn clear(&mut self, over: bool) -> Result<(), String> {
        for name in OUTPUTS {
            let path = self.folder().join(name);
            let done = if over { fs::write(&path, OLDER) } else { remove(&path) };
            done.map_err(|fault| format!("{name} cannot be put back: {fault}"))?;
        }
        Ok(())
    }

    fn output(&self, name: &str) -> Option<Vec<u8>> {
        fs::read(self.folder().join(name)).ok().filter(|bytes| bytes != OLDER)
    }

    pub(crate) fn has_new_output(&self) -> bool {
        OUTPUTS.iter().any(|name| self.output(name).is_some())
    }

    /// Files under hidden names.
    pub(crate) fn hidden(&self) -> usize {
        let names = fs::read_dir(self.folder()).into_iter().flatten().flatten();
        names.filter(|entry| entry.file_name().to_string_lossy().ends_with(".part")).count()
    }

    /// Names that should not be there; hidden ones are counted elsewhere. SQLite's journal may be there after a kill:
    /// whoever opens the ledger next undoes what it says, and whoever writes next removes it.
    pub(crate) fn strangers(&self, killed: bool) -> Vec<String> {
        let mut strangers = Vec::new();
        let known = ["people.toml", "people.csv", "spill", "temporary", "ledger"];
        let ledgers = if killed { vec!["ledger.sqlite", "ledger.sqlite-journal"] } else { vec!["ledger.sqlite"] };
        for (folder, may) in [("", &known[..]), ("spill", &[]), ("temporary", &[]), ("ledger", &ledgers[..])] {
            for entry in fs::read_dir(self.folder().join(folder)).into_iter().flatten().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                let hidden = folder.is_empty() && name.starts_with('.') && name.ends_with(".part");
                let output = folder.is_empty() && OUTPUTS.contains(&name.as_str());
                if !may.contains(&name.as_str()) && !hidden && !output {
                    strangers.push(format!("{folder}/{name}"));
                }
            }
        }
        strangers
    }
}

fn remove(path: &Path) -> std::io::Result<()> {
    match fs::remove_file(path) {
        Err(fault) if fault.kind() != std::io::ErrorKind::NotFound => Err(fault),
        _ => Ok(()),
    }
}

/// What the ledger says.
pub(crate) struct Traces {
    entries: BTreeMap<u64, Recorded>,
}

impl Traces {
    /// Verifies the ledger with the program itself, which also undoes what a killed writer began, and reads it.
    pub(crate) fn look(program: &Path, stage: &Stage) -> Result<Traces, String> {
        if !stage.ledger().exists() {
            return Ok(Traces { entries: BTreeMap::new() });
        }
        let verified = Command::new(program)
            .args(["ledger", "verify"])
            .env("SUNPRINT_LEDGER", stage.ledger())
            .output()
            .map_err(|fault| format!("`ledger verify` does not run: {fault}"))?;
        if !verified.status.success() {
            return Err(format!("`ledger verify`: {}", String::from_utf8_lossy(&verified.stderr)));
        }
        let read = Ledger::open_existing(&stage.ledger()).and_then(|mut ledger| ledger.read());
        let book = read.map_err(|error| error.to_string())?;
        let entries = book.entries().cloned();
        Ok(Traces { entries: entries.map(|entry| (entry.number, entry)).collect() })
    }

    /// The state of the new entry, if there is one; a sentence where something must not be.
    pub(crate) fn judge(
        &self,
        before: &Traces,
        stage: &Stage,
        rows_read: bool,
        finished: bool,
    ) -> Result<Option<State>, String> {
        let strangers = stage.strangers(!finished);
        if !strangers.is_empty() {
            return Err(format!("left behind: {}", strangers.join(", ")));
        }
        for (number, old) in &before.entries {
            if self.entries.get(number) != Some(old) {
                return Err(format!("entry {number} of the ledger is not what it was"));
            }
        }
        let new: Vec<&Recorded> = self.entries.values().filter(|e| !before.entries.contains_key(&e.number)).collect();
        if new.len() > 1 {
            return Err("one run, and more than one entry".to_string());
        }
        let state = new.first().map(|entry| entry.state);
        if state == Some(State::Withdrawn) {
            return Err("a charge was withdrawn".to_string());
        }
        if (rows_read || finished) && !matches!(state, Some(State::Opened | State::Spent)) {
            return Err(format!("rows were read, and the charge is {state:?}"));
        }
        if stage.has_new_output() && state != Some(State::Spent) {
            return Err(format!("there is an output, and the charge is {state:?}"));
        }
        let recorded = |entry: Option<&Entry>| match (entry, new.first()) {
            (Some(entry), Some(new)) if (entry.number, &entry.hash) == (new.number, &new.hash) => Ok(()),
            _ => Err("an output names another entry than the ledger's".to_string()),
        };
        if let Some(bytes) = stage.output("model.sunprint") {
            let model = Model::from_json(&bytes, "model.sunprint").map_err(|error| error.to_string())?;
            recorded(model.receipt().ledger.as_ref())?;
        }
        if let Some(bytes) = stage.output("receipt.json") {
            let receipt: Receipt =
                serde_json::from_slice(&bytes).map_err(|_| "the receipt is not whole".to_string())?;
            recorded(receipt.ledger.as_ref())?;
        }
        for name in ["rows.parquet", "rows.csv.gz"] {
            if stage.output(name).is_some() {
                let input = Input::new(stage.folder().join(name), None);
                let table = Table::open(&input, &stage.schema, &Silent).map_err(|error| error.to_string())?;
                if table.rows() != stage.rows {
                    return Err(format!("{name} has {} rows", table.rows()));
                }
            }
        }
        Ok(state)
    }
}
