//! What is charged for rows: after everything was judged that can be judged without them, once, and before they are read.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use sunprint::error::{Error, Kind};
use sunprint::schema::Schema;
use sunprint::source::{
    Drawn, Format, Header, Input, Layout, Output, Progress, Room, Silent, Store, TableWriter, Unit,
};

fn schema(columns: [&str; 2]) -> Schema {
    let column = |name: &str| format!("[[column]]\nname = \"{name}\"\nkind = \"integer\"\nmin = 0\nmax = 9\n");
    Schema::parse(&columns.map(column).concat(), "s.toml").unwrap()
}

/// A table of that many rows.
fn table(folder: &Path, format: Format, rows: usize) -> PathBuf {
    let (path, schema) = (folder.join(format!("{rows}.{}", format.word())), schema(["a", "b"]));
    let output = Output::new(&path, None);
    let mut writer = TableWriter::create(&output, format, &schema, &Layout::of_schema(&schema)).unwrap();
    if rows > 0 {
        writer.write(&Drawn { width: 2, units: vec![0.5; 2 * rows], strata: vec![0; rows] }).unwrap();
    }
    writer.finish().unwrap();
    path
}

/// What came of opening a table, and how often it was charged for.
fn opened(input: &Input, schema: &Schema, refuse: bool) -> (Result<u64, Error>, u32) {
    let mut charged = 0;
    let charge = || {
        charged += 1;
        if refuse { Err(Error::new(Kind::Budget, "nothing is left")) } else { Ok(()) }
    };
    let store = Store::open_charged(input, schema, &Room::unlimited(), &Silent, charge);
    (store.map(|store| store.rows()), charged)
}

#[test]
fn a_good_table_is_charged_once_and_a_bad_one_never() {
    let folder = tempfile::tempdir().unwrap();
    for format in Format::ALL {
        let word = format.word();
        let good = Input::new(table(folder.path(), format, 100), None);
        let (rows, charged) = opened(&good, &schema(["a", "b"]), false);
        assert_eq!((rows.unwrap(), charged), (100, 1), "{word}");
        let (refused, charged) = opened(&good, &schema(["a", "b"]), true);
        assert_eq!((refused.unwrap_err().kind(), charged), (Kind::Budget, 1), "{word}");
        let (refused, charged) = opened(&good, &schema(["a", "c"]), false);
        assert_eq!((refused.unwrap_err().kind(), charged), (Kind::Data, 0), "{word}");
        let (refused, charged) = opened(&Input::new(table(folder.path(), format, 0), None), &schema(["a", "b"]), false);
        let error = refused.unwrap_err().to_string();
        assert!(error.ends_with("the table has no rows") && charged == 0, "{word}: {error}");
    }
}

/// The first 256 KiB are judged together with the header; what stands behind them is found among the rows.
#[test]
fn the_beginning_is_judged_before_the_charge() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let known = schema(["a", "b"]);
    let found = |text: &str| {
        std::fs::write(&path, text).unwrap();
        let (rows, charged) = opened(&Input::new(&path, None), &known, false);
        (rows.map_err(|error| error.to_string().replace(&path.display().to_string(), "")), charged)
    };
    let far = "1,2\n".repeat(100_000);
    let uneven = |line: u32| Err(format!(":{line}: this line has 1 value and the header names 2 columns"));
    assert_eq!(found("a,b\n1\n1,2\n"), (uneven(2), 0));
    assert_eq!(found("a,b\n1,2\n1"), (uneven(3), 0));
    assert_eq!(found(&format!("a,b\n1\n{far}")), (uneven(2), 0));
    assert_eq!(found(&format!("a,b\n{far}1\n")), (uneven(100_002), 1));
    assert_eq!(found(&format!("a,b\n{far}")), (Ok(100_000), 1));
    // Values in quotes go on where the beginning ends, wherever that is.
    for shift in 0..6 {
        let quoted = format!("a,b\n{}{}", " ".repeat(shift) + "1,2\n", "\"1\n\",2\n".repeat(60_000));
        assert_eq!(found(&quoted), (Ok(60_001), 1), "{shift}");
    }
    let open = Err(":2: a quoted value begins on this line and is not closed".to_string());
    assert_eq!(found("a,b\n\"1,2\n"), (open, 0));
    // A line that is longer than the beginning.
    assert_eq!(found(&format!("a,b\n{},2\n", "1".repeat(400_000))), (Ok(1), 1));
}

#[test]
fn names_that_are_given_leave_the_first_line_a_row() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let known = schema(["a", "b"]);
    let names = Header::Names(vec!["b".to_string(), "a".to_string()]);
    for (text, header, rows) in [
        ("1,2\n3,4\n", Header::Absent, Some(2)),
        ("1,2\n3,4\n", names.clone(), Some(2)),
        ("\u{feff}1,2\n3,4\n", Header::Absent, Some(2)),
        ("1,2\n3,4\n", Header::FirstLine, None),
        ("1,2,3\n", Header::Absent, None),
        ("1\n", names, None),
    ] {
        std::fs::write(&path, text).unwrap();
        let (found, charged) = opened(&Input::new(&path, None).with_header(header.clone()), &known, false);
        assert_eq!(found.as_ref().ok(), rows.as_ref(), "{text} {header:?} {found:?}");
        assert_eq!(charged, u32::from(rows.is_some()), "{text}");
    }
}

/// Whoever watches hears of every byte, also of those that were read before the charge.
#[test]
fn all_of_a_file_is_told() {
    #[derive(Default)]
    struct Heard(Mutex<(Option<u64>, u64)>);
    impl Progress for Heard {
        fn start(&self, _: &str, total: Option<u64>, _: Unit) {
            *self.0.lock().unwrap() = (total, 0);
        }
        fn advance(&self, by: u64) {
            self.0.lock().unwrap().1 += by;
        }
        fn done(&self) {}
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    for rows in [1, 100_000] {
        let text = format!("a,b\n{}", "1,2\n".repeat(rows));
        std::fs::write(&path, &text).unwrap();
        let (heard, charged) = (Heard::default(), AtomicBool::new(false));
        let charge = || {
            charged.store(true, Ordering::Relaxed);
            assert_eq!(*heard.0.lock().unwrap(), (None, 0), "nothing is announced before the charge");
            Ok(())
        };
        let input = Input::new(&path, None);
        Store::open_charged(&input, &schema(["a", "b"]), &Room::unlimited(), &heard, charge).unwrap();
        assert!(charged.load(Ordering::Relaxed));
        assert_eq!(*heard.0.lock().unwrap(), (Some(text.len() as u64), text.len() as u64));
    }
}
