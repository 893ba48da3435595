//! A file that changes while it is read: one sentence, whenever and however it happens.

mod door_support;

use door_support::*;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use sunprint::error::{Error, Kind, Result};
use sunprint::fit::Fit;
use sunprint::plan::{Plan, budget};
use sunprint::run::run;
use sunprint::source::*;

/// Does something to a file at a moment: when a job begins, or when it is on its way.
struct Meddler<'a> {
    job: &'a str,
    on_the_way: bool,
    now: Mutex<bool>,
    done: AtomicBool,
    act: &'a (dyn Fn() + Sync),
}

impl<'a> Meddler<'a> {
    fn new(job: &'a str, on_the_way: bool, act: &'a (dyn Fn() + Sync)) -> Self {
        Meddler { job, on_the_way, now: Mutex::new(false), done: AtomicBool::new(false), act }
    }

    fn act(&self) {
        if !self.done.swap(true, Ordering::SeqCst) {
            (self.act)();
        }
    }
}

impl Progress for Meddler<'_> {
    fn start(&self, what: &str, _: Option<u64>, _: Unit) {
        let now = what.starts_with(self.job);
        *self.now.lock().unwrap() = now;
        if now && !self.on_the_way {
            self.act();
        }
    }
    fn advance(&self, _: u64) {
        if *self.now.lock().unwrap() {
            self.act();
        }
    }
    fn done(&self) {
        *self.now.lock().unwrap() = false;
    }
}

fn again() -> Room {
    Room { beyond: Some(Kept::ReadAgain), ..Room::of(100) }
}

/// Fits a file out of core.
fn fit(path: &Path, room: &Room, progress: &dyn Progress) -> Result<()> {
    let schema = two();
    let store = Store::open(&Input::new(path, None), &schema, room, progress)?;
    let promise = budget("1".parse().unwrap(), None).unwrap();
    let begun = Fit::begin(&schema, Plan::default(), promise, store.rows()).unwrap();
    run(begun, &store, progress).map(drop)
}

/// A file of each kind, so large that it is read in several parts.
fn files(folder: &tempfile::TempDir) -> Vec<PathBuf> {
    let schema = two();
    let one = |word: &str| {
        let path = folder.path().join(format!("in.{word}"));
        write(&path, &schema, &Layout::of_schema(&schema), &drawn(2, 1, 20_000)).unwrap();
        path
    };
    ["csv", "csv.gz", "csv.zst", "parquet", "arrow"].map(one).to_vec()
}

type Change = (&'static str, fn(&Path));

const CHANGES: [Change; 6] = [
    ("rows are added", |path| {
        fs::OpenOptions::new().append(true).open(path).unwrap().write_all(b"1,2\n").unwrap();
    }),
    ("it is cut short", |path| {
        let file = fs::OpenOptions::new().write(true).open(path).unwrap();
        file.set_len(file.metadata().unwrap().len() / 2).unwrap();
    }),
    ("another file takes its name", |path| {
        let other = path.with_extension("other");
        fs::copy(path, &other).unwrap();
        fs::rename(other, path).unwrap();
    }),
    ("it is touched", |path| {
        let file = File::options().write(true).open(path).unwrap();
        file.set_modified(file.metadata().unwrap().modified().unwrap() + std::time::Duration::from_nanos(1)).unwrap();
    }),
    ("it is deleted", |path| fs::remove_file(path).unwrap()),
    ("it is emptied", |path| drop(File::create(path).unwrap())),
];

fn is_changed(error: &Error, path: &Path, spent: bool, what: &str) {
    let expected = format!("{}: the file changed while it was being read", path.display());
    assert_eq!(error.to_string(), expected, "{what}");
    let advice = error.advice().unwrap();
    assert_eq!(advice.contains("the whole epsilon counts as spent"), spent, "{what}: {advice}");
}

#[test]
fn a_file_that_changes_is_refused_whenever_it_does() {
    for (what, change) in CHANGES {
        for (job, on_the_way) in [
            ("reading", true),
            ("measuring, pass 1", false),
            ("measuring, pass 2", true),
            ("measuring, pass 3", false),
            ("measuring, pass 3", true),
        ] {
            let folder = tempfile::tempdir().unwrap();
            for path in files(&folder) {
                let act = || change(&path);
                let error = fit(&path, &again(), &Meddler::new(job, on_the_way, &act)).unwrap_err();
                is_changed(&error, &path, job != "reading", &format!("{what} while {job}"));
            }
        }
    }
}

/// Once the rows are in memory or in a spill file, nobody looks at the input any more.
#[test]
fn rows_that_are_kept_do_not_change() {
    let folder = tempfile::tempdir().unwrap();
    for path in files(&folder) {
        let spilled = Room { spill_dir: Some(folder.path().into()), beyond: Some(Kept::Spilled), ..Room::of(100) };
        for room in [Room::unlimited(), spilled] {
            let whole = fs::read(&path).unwrap();
            let act = || fs::remove_file(&path).unwrap();
            fit(&path, &room, &Meddler::new("measuring, pass 2", false, &act)).unwrap();
            fs::write(&path, whole).unwrap();
        }
    }
}

/// The same length, time and file: only the contents tell.
fn disguise(path: &Path, bytes: &[u8]) {
    let about = fs::metadata(path).unwrap();
    assert_eq!(about.len(), bytes.len() as u64);
    let mut file = File::options().write(true).open(path).unwrap();
    file.write_all(bytes).unwrap();
    file.set_modified(about.modified().unwrap()).unwrap();
}

#[test]
fn a_change_in_disguise_is_seen_in_the_shape() {
    let folder = tempfile::tempdir().unwrap();
    let schema = two();
    let text = format!("a,b\n{}", "1,2\n3,4\n".repeat(500));
    let mut fewer = text.clone().into_bytes();
    // One row with a longer number instead of two.
    fewer[4..12].copy_from_slice(b"1,22222\n");
    let mut torn = text.clone().into_bytes();
    torn[5] = b'7';
    let swapped = text.replacen("a,b", "b,a", 1);
    for (what, bytes) in
        [("another number of rows", &fewer[..]), ("a torn row", &torn), ("a header", swapped.as_bytes())]
    {
        let path = file(&folder, "in.csv", &text);
        let store = Store::open(&Input::new(&path, None), &schema, &again(), &Silent).unwrap();
        // The protocol by hand: two passes are answered, the third finds another file.
        let promise = budget("1".parse().unwrap(), None).unwrap();
        let mut fit = Fit::begin(&schema, Plan::default(), promise, store.rows()).unwrap();
        for _ in 0..2 {
            let pass = fit.next_pass().unwrap();
            fit.absorb(store.answer(&pass, &Silent).unwrap()).unwrap();
        }
        disguise(&path, bytes);
        let pass = fit.next_pass().unwrap();
        is_changed(&store.answer(&pass, &Silent).err().unwrap(), &path, true, what);
    }
}

#[test]
fn compressed_files_that_break_in_disguise_are_one_clear_error() {
    let folder = tempfile::tempdir().unwrap();
    for path in files(&folder) {
        let whole = fs::read(&path).unwrap();
        if path.extension().is_some_and(|extension| extension == "csv") {
            continue;
        }
        let mut broken = whole.clone();
        let middle = broken.len() / 2;
        broken[middle..].fill(0x55);
        let act = || disguise(&path, &broken);
        let error = fit(&path, &again(), &Meddler::new("measuring, pass 3", false, &act)).unwrap_err();
        assert!([Kind::Io, Kind::Data].contains(&error.kind()), "{error}");
        assert!(error.advice().unwrap().contains("the whole epsilon counts as spent"), "{error}");
        // The folder's name is drawn at random, and may hold a 5 of its own.
        let said = error.to_string().replace(&folder.path().display().to_string(), "");
        assert!(!said.contains('5'), "no value: {said}");
    }
}
