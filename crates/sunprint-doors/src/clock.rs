//! How long a fit takes with different rows of the same shape.
//!
//! Every table has the same header, the same number of rows and the same number of bytes in every row; only the digits
//! differ. What is left is what the values themselves change: branches, memory, compression.

use crate::dice::Dice;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const COLUMNS: usize = 12;

/// The rows of a table, as digits from 10 to 99.
type Rows = fn(&mut Dice, usize) -> usize;

const TABLES: [(&str, Rows); 5] = [
    ("all rows equal", |_, _| 55),
    ("all at the lower bound", |_, _| 10),
    ("spread evenly", |dice, _| 10 + dice.below(90)),
    ("two far corners", |dice, _| if dice.once_in(2) { 10 } else { 99 }),
    ("one column varies", |dice, column| if column == 0 { 10 + dice.below(90) } else { 55 }),
];

/// The median time of a fit for each table.
pub struct Timed {
    /// Which rows.
    pub rows: &'static str,
    /// Wall-clock time of a whole run of the program.
    pub median: Duration,
    /// The shortest and the longest.
    pub range: (Duration, Duration),
}

/// Runs the program `times` times on each table, in turns.
///
/// # Errors
/// A sentence, where the program does not run.
pub fn run(program: &Path, rows: usize, times: usize) -> Result<Vec<Timed>, String> {
    let unset = |fault: std::io::Error| format!("the tables cannot be written: {fault}");
    let folder = tempfile::tempdir().map_err(unset)?;
    let names: Vec<String> = (0..COLUMNS).map(|i| format!("c{i}")).collect();
    let mut schema = "[dataset]\nname = \"table\"\n\n".to_string();
    for name in &names {
        let _ = write!(schema, "[[column]]\nname = \"{name}\"\nkind = \"integer\"\nmin = 10\nmax = 99\n\n");
    }
    fs::write(folder.path().join("table.toml"), schema).map_err(unset)?;
    for (i, (_, value)) in TABLES.iter().enumerate() {
        let mut dice = Dice::new(1);
        let mut text = names.join(",") + "\n";
        for _ in 0..rows {
            let row: Vec<String> = (0..COLUMNS).map(|column| value(&mut dice, column).to_string()).collect();
            text += &(row.join(",") + "\n");
        }
        fs::write(folder.path().join(format!("{i}.csv")), text).map_err(unset)?;
    }
    let mut times_of = vec![Vec::new(); TABLES.len()];
    // The first round warms up.
    for round in 0..=times {
        for (i, all) in times_of.iter_mut().enumerate() {
            let begun = Instant::now();
            let table = format!("{i}.csv");
            let status = Command::new(program)
                .args(["fit", &table, "--schema", "table.toml", "--epsilon", "1", "--output", "out", "--quiet"])
                .args(["--ledger", "none", "--force"])
                .current_dir(folder.path())
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            if !status.is_ok_and(|status| status.success()) {
                return Err(format!("{} does not fit", program.display()));
            }
            if round > 0 {
                all.push(begun.elapsed());
            }
        }
    }
    let timed = |(mut all, (rows, _)): (Vec<Duration>, &(&'static str, Rows))| {
        all.sort();
        Timed { rows, median: all[all.len() / 2], range: (all[0], all[all.len() - 1]) }
    };
    Ok(times_of.into_iter().zip(&TABLES).map(timed).collect())
}
