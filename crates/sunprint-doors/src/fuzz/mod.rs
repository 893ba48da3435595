//! Damaged and hostile files, made from a corpus by small changes, at every door.
//!
//! An execution hands one changed file to one door. It fails if the door panics, takes more than a second for each
//! kibibyte (and at least one second) three times in a row, if the process dies, as it does when it asks for absurd
//! amounts of memory, or if it has used more than [`MOST_MEMORY`] in the end. Doors answer with a sentence; a file that
//! gives a sentence that was not heard before joins the corpus for the rest of the run, so that the changes go deeper.

mod doors;
mod mutate;

pub use doors::{DOORS, Door};
use mutate::mutate;

use crate::dice::Dice;
use std::collections::HashSet;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The memory that a process that executes may have used at its peak.
pub const MOST_MEMORY: u64 = 1 << 30;

/// Its address space: more is refused by the system, and the process ends. Readers ask for what a compressed buffer can
/// become at best, which is 2 GiB for the longest changed file, and use only what is there.
pub const MOST_ADDRESSES: u64 = 1 << 33;

/// A changed file is never longer.
const LONGEST: usize = 1 << 16;

/// A file is slow if the door takes too long for it this often in a row. The clock on the wall also runs while others
/// use the processor; what a file alone makes slow is slow every time.
const SLOW_TIMES: usize = 3;

/// The corpus of a run never has more files.
const MOST_FILES: usize = 4000;

/// What a run of one door has found.
#[derive(Debug, Default)]
pub struct Found {
    /// Files that were handed to the door.
    pub executions: u64,
    /// Of these, files that it accepted.
    pub accepted: u64,
    /// Different sentences.
    pub sentences: usize,
    /// How long it took in all, and for the slowest file.
    pub time: Duration,
    /// The slowest file.
    pub slowest: Duration,
    /// What must not be, in words.
    pub faults: Vec<String>,
}

/// Runs one door. `keep` is where files that fail are written, and `current` where each file is written before it is
/// handed over, so that one that ends the process can be found.
///
/// # Errors
/// Where the corpus cannot be read.
pub fn run(door: &'static Door, executions: u64, seed: u64, corpus: &Path, keep: Option<&Path>) -> io::Result<Found> {
    static PANICKED: AtomicBool = AtomicBool::new(false);
    std::panic::set_hook(Box::new(|_| {
        if !sunprint::source::panic_is_caught() {
            PANICKED.store(true, Ordering::Relaxed);
        }
    }));
    let mut files = read_corpus(&corpus.join(door.name))?;
    let mut hall = doors::Hall::new()?;
    let current = keep.map(|folder| File::create(folder.join(format!("{}.current", door.name)))).transpose()?;
    let mut dice = Dice::new(seed);
    let mut heard = HashSet::new();
    let mut found = Found::default();
    let begun = Instant::now();
    let given = files.len() as u64;
    for number in 0..executions.max(given) {
        // The corpus itself comes first.
        let bytes = if number < given {
            files[number as usize].clone()
        } else {
            let mut bytes = mutate(&mut dice, &files, door.form, door.words);
            bytes.truncate(LONGEST);
            bytes
        };
        if let Some(current) = &current {
            note(current, &bytes)?;
        }
        PANICKED.store(false, Ordering::Relaxed);
        let allowed = Duration::from_millis(bytes.len() as u64 * 1000 / 1024).max(Duration::from_secs(1));
        let mut taken = Duration::MAX;
        let mut answer = Ok(None);
        for _ in 0..SLOW_TIMES {
            let started = Instant::now();
            answer = catch_unwind(AssertUnwindSafe(|| (door.knock)(&mut hall, &bytes)));
            taken = taken.min(started.elapsed());
            if taken <= allowed || answer.is_err() {
                break;
            }
        }
        let slow = taken > allowed;
        found.slowest = found.slowest.max(taken);
        found.executions += 1;
        let fault = match &answer {
            _ if PANICKED.load(Ordering::Relaxed) => Some("panic"),
            Err(_) => Some("panic"),
            Ok(_) if slow => Some("slow"),
            Ok(_) => None,
        };
        if let Some(fault) = fault {
            let name = format!("{}-{fault}-{seed}-{number}", door.name);
            if let Some(folder) = keep {
                fs::write(folder.join(&name), &bytes)?;
            }
            found.faults.push(format!("{name}: {} bytes, {taken:?}", bytes.len()));
            if found.faults.len() > 20 {
                break;
            }
            continue;
        }
        let Ok(answer) = answer else { continue };
        let accepted = answer.is_none();
        found.accepted += u64::from(accepted);
        let mut hasher = DefaultHasher::new();
        answer.map(|sentence| bare(&sentence)).hash(&mut hasher);
        // Accepted files all give the same answer, and the changes should go on from some of them.
        if (heard.insert(hasher.finish()) || accepted && dice.once_in(10)) && files.len() < MOST_FILES {
            files.push(bytes);
        }
    }
    drop(std::panic::take_hook());
    found.sentences = heard.len();
    found.time = begun.elapsed();
    Ok(found)
}

fn read_corpus(folder: &Path) -> io::Result<Vec<Vec<u8>>> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    paths.sort();
    let files: Vec<Vec<u8>> = paths.iter().map(fs::read).collect::<io::Result<_>>()?;
    if files.is_empty() { Err(io::ErrorKind::NotFound.into()) } else { Ok(files) }
}

/// Writes the file that is executed next: its length, then its bytes.
fn note(current: &File, bytes: &[u8]) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileExt;
        let mut noted = (bytes.len() as u64).to_le_bytes().to_vec();
        noted.extend(bytes);
        current.write_all_at(&noted, 0)?;
    }
    #[cfg(not(unix))]
    let _ = (current, bytes);
    Ok(())
}

/// The file that was handed over last.
///
/// # Errors
/// Where nothing was noted.
pub fn last_note(keep: &Path, door: &Door) -> io::Result<Vec<u8>> {
    let noted = fs::read(keep.join(format!("{}.current", door.name)))?;
    let (length, bytes) = noted.split_first_chunk::<8>().ok_or(io::ErrorKind::UnexpectedEof)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
    Ok(bytes[..length.min(bytes.len())].to_vec())
}

/// Sentences that differ in their numbers, or in what they quote, are one.
fn bare(sentence: &str) -> String {
    let unquoted: String = sentence.split('`').step_by(2).collect();
    unquoted.chars().filter(|c| !c.is_ascii_digit()).take(200).collect()
}

/// The corpus of this repository.
pub fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus")
}

impl Door {
    /// The door of a name.
    pub fn named(name: &str) -> Option<&'static Door> {
        DOORS.iter().find(|door| door.name == name)
    }
}
