//! `fit` and `synth`, killed at random moments of their run.
//!
//! After every kill -9:
//! * the ledger verifies, and holds as spent whatever appeared; nothing in it was withdrawn, and an entry whose rows were
//!   read is at least opened;
//! * each output is absent, or as it was, or whole;
//! * nothing else is in the folder, in the spill folder or in the folder for temporary files.

use crate::dice::Dice;
use crate::traces::{Stage, Traces};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What is run: the words of the command, and what it leaves when nobody kills it.
pub(crate) struct Play {
    pub(crate) line: &'static str,
    /// Outputs stand there already.
    pub(crate) over: bool,
    /// The rows come through a pipe.
    pub(crate) piped: bool,
}

const PLAYS: [Play; 5] = [
    Play {
        line: "fit people.csv --schema people.toml --epsilon 0.01 --output model.sunprint --receipt receipt.json",
        over: false,
        piped: false,
    },
    Play {
        line: "fit people.csv --schema people.toml --epsilon 0.01 --output model.sunprint --receipt receipt.json --force",
        over: true,
        piped: false,
    },
    Play {
        line: "synth people.csv --schema people.toml --epsilon 0.01 --delta 1e-9 --output rows.parquet \
               --model model.sunprint --receipt receipt.json",
        over: false,
        piped: false,
    },
    Play {
        line: "synth people.csv --schema people.toml --epsilon 0.01 --output rows.csv.gz --model model.sunprint \
               --force",
        over: true,
        piped: false,
    },
    Play {
        line: "fit - --format csv --schema people.toml --epsilon 0.01 --output model.sunprint --memory 16MB \
               --spill-dir spill",
        over: false,
        piped: true,
    },
];

/// More bytes than a pipe holds: whoever has taken them has read some.
const PIPE: u64 = 1 << 20;

/// What to do.
pub struct Orders {
    /// The program under test.
    pub program: PathBuf,
    /// The rows of its table.
    pub rows: usize,
    /// How many times it is killed.
    pub times: usize,
    /// Which moments.
    pub seed: u64,
    /// No kill begins after so long.
    pub most: Duration,
}

/// What was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Runs that were killed before they ended.
    pub killed: usize,
    /// Runs that ended by themselves before their moment came.
    pub ended: usize,
    /// Kills after which the charge was only reserved, the table opened, the noise drawn; and those before any.
    pub states: [usize; 4],
    /// Kills after which an output was there.
    pub outputs: usize,
    /// Whole files under a hidden name: the kill fell between a link and a rename. The next run removed them.
    pub hidden: usize,
    /// What must not be, in words.
    pub faults: Vec<String>,
}

/// Kills and looks, again and again.
///
/// # Errors
/// A sentence, where the program does not run at all.
pub fn run(orders: &Orders, mut say: impl FnMut(&str)) -> Result<Found, String> {
    let mut stage = Stage::set(orders.rows)?;
    let mut dice = Dice::new(orders.seed);
    let mut lengths = Vec::new();
    for play in &PLAYS {
        stage.clear(play.over)?;
        let begun = Instant::now();
        let (done, _) = attend(start(orders, play, &stage)?, play, &stage, Duration::from_secs(600));
        if done != Some(0) {
            return Err(format!("`sunprint {}` ended with {done:?}", play.line));
        }
        lengths.push(begun.elapsed());
        say(&format!("{:6.2} s  sunprint {}", begun.elapsed().as_secs_f64(), play.line));
    }
    let mut found = Found::default();
    let begun = Instant::now();
    for time in 0.. {
        if found.killed == orders.times || begun.elapsed() > orders.most {
            break;
        }
        let which = time % PLAYS.len();
        let play = &PLAYS[which];
        stage.clear(play.over)?;
        let before = Traces::look(&orders.program, &stage)?;
        let moment = lengths[which].mul_f64(1.05 * dice.unit());
        let (code, taken) = attend(start(orders, play, &stage)?, play, &stage, moment);
        match code {
            Some(0) => found.ended += 1,
            None => found.killed += 1,
            Some(other) => found.faults.push(format!("kill {time}: ended by itself with {other}")),
        }
        let hidden = stage.hidden();
        let after = Traces::look(&orders.program, &stage);
        let verdict = after.and_then(|after| after.judge(&before, &stage, taken > PIPE, code == Some(0)));
        match verdict {
            Ok(entry) => {
                found.states[entry.map_or(3, |state| state as usize)] += 1;
                found.outputs += usize::from(stage.has_new_output());
            }
            Err(fault) => {
                found.faults.push(format!("kill {time}, {moment:?} into `sunprint {}`: {fault}", play.line));
                found.faults.last().into_iter().for_each(|fault| say(fault));
            }
        }
        if hidden > 0 {
            found.hidden += hidden;
            // The next writer of the same outputs sweeps.
            attend(start(orders, play, &stage)?, play, &stage, Duration::from_secs(600));
            if stage.hidden() > 0 {
                found.faults.push(format!("kill {time}: a hidden file stayed"));
            }
        }
        if (time + 1) % 50 == 0 {
            say(&format!("{} of {}: {} faults", found.killed, orders.times, found.faults.len()));
        }
    }
    // What a killed writer of the ledger left is gone after the next one.
    stage.clear(false)?;
    let (done, _) = attend(start(orders, &PLAYS[0], &stage)?, &PLAYS[0], &stage, Duration::from_secs(600));
    let strangers = stage.strangers(false);
    if done != Some(0) || !strangers.is_empty() {
        found.faults.push(format!("the last run, which nobody killed: {done:?}, {}", strangers.join(", ")));
    }
    Ok(found)
}

/// Starts the program in a process group of its own.
fn start(orders: &Orders, play: &Play, stage: &Stage) -> Result<Child, String> {
    let mut command = Command::new(&orders.program);
    command
        .args(play.line.split_whitespace())
        .current_dir(stage.folder())
        .env("SUNPRINT_LEDGER", stage.ledger())
        .env("TMPDIR", stage.folder().join("temporary"))
        .stdin(if play.piped { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0);
    command.spawn().map_err(|fault| format!("{} does not start: {fault}", orders.program.display()))
}

/// Waits until the moment has come, then kills the group. The exit code, if it ended by itself, and the bytes that it
/// took from the pipe.
fn attend(mut child: Child, play: &Play, stage: &Stage, moment: Duration) -> (Option<i32>, u64) {
    let begun = Instant::now();
    let taken = AtomicU64::new(0);
    let pipe = child.stdin.take();
    let group = Pid::from_raw(child.id().cast_signed());
    let code = std::thread::scope(|scope| {
        if let Some(mut pipe) = pipe {
            let (taken, table) = (&taken, stage.table());
            scope.spawn(move || {
                for part in table.chunks(1 << 16) {
                    if pipe.write_all(part).is_err() {
                        return;
                    }
                    taken.fetch_add(part.len() as u64, Ordering::Relaxed);
                }
            });
        }
        loop {
            match child.try_wait() {
                Ok(Some(status)) => break status.code(),
                _ if begun.elapsed() >= moment => {
                    let _ = killpg(group, Signal::SIGKILL);
                    break child.wait().ok().and_then(|status| status.code());
                }
                _ => std::thread::sleep(Duration::from_micros(200).min(moment)),
            }
        }
    });
    (code, if play.piped { taken.into_inner() } else { 0 })
}

/// Where the program stands that was built last.
pub fn built_program() -> PathBuf {
    let here = std::env::current_exe().unwrap_or_default();
    here.parent().unwrap_or(Path::new(".")).join("sunprint")
}
