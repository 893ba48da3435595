//! A table in memory, in a spill file and read again: the same bits.

mod door_support;

use door_support::*;
use std::path::{Path, PathBuf};
use sunprint::error::Result;
use sunprint::fit::Fit;
use sunprint::plan::{Method, Plan, budget};
use sunprint::privacy::Kernel;
use sunprint::run::run;
use sunprint::schema::Schema;
use sunprint::source::*;
use sunprint::tally::codes::Codes;

/// Room for so few codes that no table fits.
fn tight(folder: &Path, beyond: Option<Kept>) -> Room {
    Room { bytes: 100, spill_dir: Some(folder.to_path_buf()), beyond }
}

fn store(path: &Path, schema: &Schema, room: &Room) -> Result<Store> {
    Store::open(&Input::new(path, None), schema, room, &Silent)
}

/// The model of a fit with noise that is always the same.
fn model(store: &Store, schema: &Schema) -> String {
    let promise = budget("1".parse().unwrap(), None).unwrap();
    let kernel = Kernel::seeded(5);
    let fit = Fit::begin_with_danger_kernel(schema, Plan::default(), promise, store.rows(), kernel).unwrap();
    run(fit, store, &Silent).unwrap().to_json()
}

#[test]
fn memory_spill_file_and_reading_again_give_the_same_model() {
    let (folder, schema) = (tempfile::tempdir().unwrap(), schema());
    let mut models = Vec::new();
    for format in every_format() {
        let path = folder.path().join(format!("in.{}", format.word()));
        write(&path, &schema, &Layout::of_schema(&schema), &drawn(schema.width(), 6, 30_000)).unwrap();
        for (room, kept) in [
            (Room::unlimited(), Kept::Memory),
            (tight(folder.path(), Some(Kept::Spilled)), Kept::Spilled),
            (tight(folder.path(), Some(Kept::ReadAgain)), Kept::ReadAgain),
        ] {
            let store = store(&path, &schema, &room).unwrap();
            assert_eq!((store.rows(), store.width(), store.kept()), (30_000, schema.width(), kept));
            assert_eq!(store.layout().columns.len(), schema.columns.len());
            models.push(model(&store, &schema));
        }
    }
    assert!(models.iter().all(|model| *model == models[0]), "one model for all formats and all places");
}

#[test]
fn a_fit_of_a_store_is_a_fit_of_a_table() {
    let (folder, schema) = (tempfile::tempdir().unwrap(), two());
    let path = folder.path().join("in.csv");
    write(&path, &schema, &Layout::of_schema(&schema), &drawn(2, 1, 5_000)).unwrap();
    let fit = |rows| {
        let promise = budget("1".parse().unwrap(), None).unwrap();
        Fit::begin_with_danger_kernel(&schema, Plan::default(), promise, rows, Kernel::seeded(9)).unwrap()
    };
    let table = open(&path, &schema).unwrap();
    let store = store(&path, &schema, &tight(folder.path(), None)).unwrap();
    let from_table = run(fit(5_000), &table, &Silent).unwrap();
    assert_eq!(run(fit(store.rows()), &store, &Silent).unwrap().to_json(), from_table.to_json());
    let promise = budget("1".parse().unwrap(), None).unwrap();
    let fitted = sunprint::run::fit_store(store, &schema, Plan::default(), promise, &Silent).unwrap();
    assert_eq!(fitted.receipt().rows, Some(5_000));
}

/// A fit that says that it needs no more rows asks for none, and says so before it looks for the measure.
#[test]
fn the_last_pass_is_known_to_be_the_last() {
    let rows = 2_000;
    for label in ["", "role = \"label\"\n"] {
        let text = format!(
            "[[column]]\nname = \"x\"\nkind = \"continuous\"\nmin = 0\nmax = 1\n\
             [[column]]\nname = \"y\"\nkind = \"categorical\"\nvalues = [\"a\", \"b\"]\n{label}"
        );
        let schema = Schema::parse(&text, "last.toml").unwrap();
        for method in [Method::Default, Method::Paper, Method::Cube] {
            let plan = Plan { method, ..Plan::default() };
            let promise = budget("1".parse().unwrap(), None).unwrap();
            let mut fit = Fit::begin(&schema, plan, promise, rows).unwrap();
            let mut last = false;
            while let Some(pass) = fit.next_pass() {
                assert!(!last, "a pass came after the last one");
                last = fit.needs_no_more_rows();
                let mut codes = Codes::with_capacity(pass.width, rows as usize);
                let row = |i: u64| (0..pass.width as u64).map(|j| (i * (7919 + j) % 65536) as u16).collect::<Vec<_>>();
                (0..rows).for_each(|i| codes.push(&row(i), (i % pass.strata as u64) as u32));
                fit.absorb(pass.tally(&codes)).unwrap();
            }
            assert!(last, "{} says which pass is the last", method.name());
        }
    }
}

/// Whichever is faster is not known in advance, but it is one of the two.
#[test]
fn what_does_not_fit_is_not_kept_in_memory() {
    let (folder, schema) = (tempfile::tempdir().unwrap(), two());
    let path = folder.path().join("in.parquet");
    write(&path, &schema, &Layout::of_schema(&schema), &drawn(2, 1, 5_000)).unwrap();
    let kept = store(&path, &schema, &tight(folder.path(), None)).unwrap().kept();
    assert_ne!(kept, Kept::Memory);
    // Without a folder for a spill file, the file is read again.
    for folder in [folder.path().join("absent"), path.clone()] {
        for beyond in [None, Some(Kept::Spilled)] {
            let room = tight(&folder, beyond);
            assert_eq!(store(&path, &schema, &room).unwrap().kept(), Kept::ReadAgain);
            assert!(room.check().is_err());
        }
    }
}

/// A named pipe that gives its reader one text.
#[cfg(unix)]
fn pipe(folder: &Path, name: &str, text: String) -> (PathBuf, std::thread::JoinHandle<()>) {
    let path = folder.join(name);
    let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    let to = path.clone();
    // A reader that goes away early is no fault of the writer.
    (path, std::thread::spawn(move || drop(std::fs::write(to, text))))
}

#[cfg(unix)]
#[test]
fn a_stream_is_spilled_or_refused() {
    let (folder, schema) = (tempfile::tempdir().unwrap(), two());
    let text = format!("a,b\n{}", "1,2\n3,4\n".repeat(1000));
    let (path, writer) = pipe(folder.path(), "one.csv", text.clone());
    // A stream cannot be read again, whatever is wished.
    let spilled = store(&path, &schema, &tight(folder.path(), Some(Kept::ReadAgain))).unwrap();
    writer.join().unwrap();
    assert_eq!((spilled.rows(), spilled.kept()), (2000, Kept::Spilled));
    let plain = store(&file(&folder, "plain.csv", &text), &schema, &Room::unlimited()).unwrap();
    assert_eq!(model(&spilled, &schema), model(&plain, &schema));

    let absent = folder.path().join("absent");
    let (path, writer) = pipe(folder.path(), "two.csv", text);
    let error = store(&path, &schema, &tight(&absent, None)).err().expect("there is no room anywhere");
    writer.join().unwrap();
    assert_eq!(error.to_string(), format!("{}: the folder does not exist", absent.display()));
    assert!(error.advice().unwrap().contains("`--spill-dir`"));
}

/// The files in a folder that this process has open: their rights, their names in the folder, and where they lead.
#[cfg(target_os = "linux")]
#[test]
fn a_spill_file_has_no_name_and_belongs_to_its_owner() {
    use std::os::unix::fs::MetadataExt;
    let (data, spills, schema) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), two());
    let path = file(&data, "in.csv", format!("a,b\n{}", "1,2\n3,4\n".repeat(1000)));
    let store = store(&path, &schema, &tight(spills.path(), Some(Kept::Spilled))).unwrap();
    let inside = std::fs::canonicalize(spills.path()).unwrap();
    let open_files = || {
        let all = std::fs::read_dir("/proc/self/fd").unwrap().filter_map(|entry| Some(entry.ok()?.path()));
        all.filter(|fd| std::fs::read_link(fd).is_ok_and(|to| to.starts_with(&inside))).collect::<Vec<_>>()
    };
    let found = open_files();
    assert_eq!(found.len(), 1, "one spill file is open");
    let about = std::fs::metadata(&found[0]).unwrap();
    assert_eq!((about.mode() & 0o777, about.nlink(), about.len()), (0o600, 0, 2000 * 2 * 2));
    assert_eq!(std::fs::read_dir(spills.path()).unwrap().count(), 0, "it has no name");
    drop(store);
    assert!(open_files().is_empty(), "it is gone with the store");
}

#[test]
fn a_spill_folder_is_checked_before_any_row_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let sentence = |spill_dir: &Path| {
        let room = tight(spill_dir, None);
        let error = room.check().unwrap_err();
        assert!(error.advice().is_some());
        error.to_string().replace(&spill_dir.display().to_string(), "DIR")
    };
    assert_eq!(sentence(&folder.path().join("absent")), "DIR: the folder does not exist");
    assert_eq!(sentence(&file(&folder, "plain", b"x")), "DIR: this is not a folder");
    Room::unlimited().check().unwrap();
    tight(folder.path(), None).check().unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left");
}
