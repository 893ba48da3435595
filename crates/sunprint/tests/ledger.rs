//! The ledger as a file: what is allowed, what is refused, and what is found when somebody edits it by other means.

use proptest::prelude::*;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use sunprint::error::Kind;
use sunprint::ledger::{Entry, Ledger, Limit, Request, Reservation, State};
use sunprint::plan::budget;
use sunprint::privacy::Ratio;
use sunprint::schema::Schema;

struct Stage {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Stage {
    fn new() -> Stage {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data/sunprint/ledger.sqlite");
        Stage { path, _folder: folder }
    }

    fn ledger(&self) -> Ledger {
        Ledger::open(&self.path).unwrap()
    }

    /// Does something to the file behind the ledger's back, and puts the triggers back.
    fn behind_its_back(&self, work: &str) {
        let raw = raw(&self.path);
        let triggers: Vec<(String, String)> = raw
            .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
            .unwrap()
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        for (name, _) in &triggers {
            raw.execute(&format!("DROP TRIGGER {name}"), []).unwrap();
        }
        raw.execute_batch(work).unwrap();
        for (_, sql) in &triggers {
            raw.execute(sql, []).unwrap();
        }
    }

    fn fault(&self) -> String {
        let error = Ledger::open_existing(&self.path).and_then(|mut ledger| ledger.read()).unwrap_err();
        assert_eq!(error.kind(), Kind::Ledger, "{error}");
        assert!(error.advice().is_some(), "{error}");
        error.to_string()
    }
}

/// Quick: nobody cuts the power during a test.
fn raw(path: &Path) -> Connection {
    let raw = Connection::open(path).unwrap();
    raw.pragma_update(None, "synchronous", "OFF").unwrap();
    raw
}

fn ratio(text: &str) -> Ratio {
    text.parse().unwrap()
}

fn request(dataset: &str, epsilon: &str, delta: Option<&str>) -> Request {
    let text =
        format!("[dataset]\nname = \"{dataset}\"\n[[column]]\nname = \"age\"\nkind = \"integer\"\nmin = 0\nmax = 9\n");
    let schema = Schema::parse(&text, "people.toml").unwrap();
    let budget = budget(epsilon.parse().unwrap(), delta.map(|delta| delta.parse().unwrap())).unwrap();
    Request::new(&schema, "default", &budget)
}

fn limit(epsilon: &str, delta: &str) -> Option<Limit> {
    Some(Limit { epsilon: ratio(epsilon), delta: ratio(delta) })
}

/// A ledger with every kind of event; the entry of `people` that was spent.
fn filled(stage: &Stage) -> Entry {
    let mut ledger = stage.ledger();
    ledger.limit("people", limit("3", "1e-6")).unwrap();
    let people = ledger.reserve(&request("people", "0.5", Some("1e-9"))).unwrap();
    ledger.opened(&people).unwrap();
    let gone = ledger.reserve(&request("other", "1", None)).unwrap();
    ledger.spend(&people).unwrap();
    ledger.withdraw(&gone).unwrap();
    people
}

#[test]
fn a_ledger_is_made_for_its_owner_alone() {
    let stage = Stage::new();
    filled(&stage);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let rights = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((rights(&stage.path), rights(stage.path.parent().unwrap())), (0o600, 0o700));
    }
    let names = std::fs::read_dir(stage.path.parent().unwrap()).unwrap().count();
    assert_eq!(names, 1, "one file is the whole ledger");
}

#[test]
fn a_sum_that_meets_its_ceiling_is_allowed_and_not_a_hair_more() {
    let stage = Stage::new();
    let mut ledger = stage.ledger();
    for (dataset, ceiling, parts) in [
        ("tenths", "0.3", vec!["0.1", "0.2"]),
        ("thirds", "1", vec!["1/3", "1/3", "1/3"]),
        ("odd", "20/21", vec!["1/3", "1/7", "10/21"]),
    ] {
        ledger.limit(dataset, limit(ceiling, "0")).unwrap();
        for part in parts {
            ledger.reserve(&request(dataset, part, None)).unwrap();
        }
        let error = ledger.reserve(&request(dataset, "0.0001", None)).unwrap_err();
        assert_eq!(error.kind(), Kind::Budget);
        assert!(error.to_string().contains(&format!("`{dataset}`")) && error.advice().is_some(), "{error}");
    }
    // δ has a ceiling of its own; without one no fit may have a δ.
    let error = ledger.reserve(&request("pure", "1", Some("1e-9"))).map(|_| ledger.limit("pure", limit("9", "0")));
    error.unwrap().unwrap();
    assert_eq!(ledger.reserve(&request("pure", "1", Some("1e-9"))).unwrap_err().kind(), Kind::Budget);
    ledger.limit("pure", limit("9", "2e-9")).unwrap();
    ledger.reserve(&request("pure", "1", Some("1e-9"))).unwrap();
    assert_eq!(ledger.reserve(&request("pure", "1", Some("1e-30"))).unwrap_err().kind(), Kind::Budget);
    ledger.reserve(&request("pure", "1", None)).unwrap();
    // A ceiling that is gone holds nobody back, and one below what is spent refuses all.
    ledger.limit("tenths", None).unwrap();
    ledger.reserve(&request("tenths", "5", None)).unwrap();
    ledger.limit("tenths", limit("1", "0")).unwrap();
    assert!(ledger.reserve(&request("tenths", "0.0001", None)).unwrap_err().to_string().contains("5.3"));
}

#[test]
fn nothing_gives_a_charge_back_once_the_table_was_opened() {
    let stage = Stage::new();
    let asked = request("people", "1", None);
    let spent = || stage.ledger().read().unwrap().total("people").epsilon.to_string();
    Reservation::make(stage.ledger(), &asked).unwrap().withdraw().unwrap();
    assert_eq!(spent(), "0");
    // Dropped, as by a crash: it counts.
    drop(Reservation::make(stage.ledger(), &asked).unwrap());
    assert_eq!(spent(), "1");
    let mut opened = Reservation::make(stage.ledger(), &asked).unwrap();
    opened.opened().unwrap();
    assert_eq!(opened.opened().unwrap_err().kind(), Kind::Protocol, "once is enough");
    let entry = opened.entry().clone();
    assert_eq!(opened.withdraw().unwrap_err().kind(), Kind::Protocol);
    stage.ledger().spend(&entry).unwrap();
    assert_eq!(stage.ledger().withdraw(&entry).unwrap_err().kind(), Kind::Protocol);
    assert_eq!(spent(), "2");
    let states: Vec<State> = stage.ledger().read().unwrap().entries().map(|entry| entry.state).collect();
    assert_eq!(states, [State::Withdrawn, State::Reserved, State::Spent]);
}

#[test]
fn several_writers_cannot_overspend_together() {
    let stage = Stage::new();
    stage.ledger().limit("people", limit("0.5", "0")).unwrap();
    let asked = request("people", "0.1", None);
    let allowed: usize = std::thread::scope(|scope| {
        let writers: Vec<_> =
            (0..8).map(|_| scope.spawn(|| usize::from(stage.ledger().reserve(&asked).is_ok()))).collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).sum()
    });
    assert_eq!(allowed, 5);
    assert_eq!(stage.ledger().read().unwrap().total("people").epsilon.to_string(), "0.5");
}

#[test]
fn several_may_make_the_same_ledger_at_once() {
    for _ in 0..5 {
        let stage = Stage::new();
        std::thread::scope(|scope| {
            for i in 0..6 {
                let stage = &stage;
                scope.spawn(move || stage.ledger().limit(&format!("d{i}"), None).unwrap());
            }
        });
        assert_eq!(stage.ledger().read().unwrap().datasets().len(), 6);
    }
}

#[test]
fn triggers_stop_accidents() {
    let stage = Stage::new();
    filled(&stage);
    let raw = raw(&stage.path);
    raw.pragma_update(None, "recursive_triggers", true).unwrap();
    for accident in [
        "UPDATE event SET epsilon = '1/100' WHERE number = 2",
        "DELETE FROM event WHERE number = 6",
        "DELETE FROM event",
        "INSERT OR REPLACE INTO event SELECT * FROM event WHERE number = 2",
        "INSERT INTO event SELECT 7, time, step, dataset, entry, epsilon, delta, rho, method, version, schema, \
         previous, hash FROM event WHERE number = 6",
        "UPDATE head SET count = 3",
        "DELETE FROM head",
        "INSERT INTO head VALUES (2, 0, '')",
    ] {
        assert!(raw.execute(accident, []).is_err(), "{accident}");
    }
    drop(raw);
    stage.ledger().read().unwrap();
}

#[test]
fn what_is_done_behind_its_back_is_found() {
    let fields = "time step dataset entry epsilon delta rho method version schema previous hash";
    let mut edits: Vec<(String, u64)> = Vec::new();
    for number in 1..=6 {
        for field in fields.split(' ').filter(|field| *field != "entry") {
            edits.push((
                format!("UPDATE event SET {field} = coalesce({field}, '') || ' ' WHERE number = {number}"),
                number,
            ));
        }
        edits.push((format!("UPDATE event SET entry = coalesce(entry, 0) + 1 WHERE number = {number}"), number));
    }
    // One byte in one field, as somebody would who wants to have spent less.
    edits.push(("UPDATE event SET epsilon = '1/3' WHERE number = 2".to_string(), 2));
    edits.push(("UPDATE event SET epsilon = '5/10' WHERE number = 2".to_string(), 2));
    edits.push(("UPDATE event SET step = 'withdraw', entry = 2 WHERE number = 3".to_string(), 3));
    edits.push(("DELETE FROM event WHERE number = 2".to_string(), 2));
    edits.push(("UPDATE event SET number = -number; UPDATE event SET number = 7 + number".to_string(), 1));
    edits.push((
        "UPDATE event SET number = 9 WHERE number = 3; UPDATE event SET number = 3 WHERE number = 4; \
                 UPDATE event SET number = 4 WHERE number = 9"
            .to_string(),
        3,
    ));
    let stage = Stage::new();
    filled(&stage);
    let good = std::fs::read(&stage.path).unwrap();
    for (edit, number) in edits {
        stage.behind_its_back(&edit);
        let fault = stage.fault();
        assert!(fault.contains(&format!("event {number} ")), "{edit}: {fault}");
        let error = stage.ledger().reserve(&request("people", "0.1", None)).unwrap_err();
        assert_eq!(error.kind(), Kind::Ledger, "nothing is added to a ledger that was changed");
        std::fs::write(&stage.path, &good).unwrap();
    }
    for (edit, fault) in [
        ("DELETE FROM event WHERE number = 6", "its head counts 6"),
        ("DELETE FROM event", "its head counts 6"),
        ("UPDATE head SET count = 5", "its head counts 5"),
        ("UPDATE head SET hash = replace(hash, 'a', 'b') || 'x'", "another last event"),
        ("DELETE FROM head", "damaged"),
    ] {
        stage.behind_its_back(edit);
        assert!(stage.fault().contains(fault), "{edit}: {}", stage.fault());
        std::fs::write(&stage.path, &good).unwrap();
    }
    raw(&stage.path).execute("DROP TRIGGER event_stays", []).unwrap();
    assert!(stage.fault().contains("triggers of the ledger were changed"));
}

#[test]
fn a_tail_that_is_cut_off_with_its_head_is_found_by_a_receipt() {
    let stage = Stage::new();
    let receipt = filled(&stage);
    assert_eq!(stage.ledger().read().unwrap().entry(&receipt).unwrap().state, State::Spent);
    stage.behind_its_back(
        "DELETE FROM event WHERE number > 1; UPDATE head SET count = 1, hash = (SELECT hash FROM event)",
    );
    let book = stage.ledger().read().unwrap();
    assert_eq!(book.entry(&receipt).unwrap_err().kind(), Kind::Ledger);
}

/// Any byte of the file: what SQLite does not use may change, but no event does unseen.
#[test]
fn a_damaged_file_never_says_something_else() {
    let stage = Stage::new();
    filled(&stage);
    let good = std::fs::read(&stage.path).unwrap();
    let events = stage.ledger().read().unwrap().events().to_vec();
    for at in (0..good.len()).step_by(29) {
        let mut bad = good.clone();
        bad[at] ^= 0x11;
        std::fs::write(&stage.path, &bad).unwrap();
        match Ledger::open_existing(&stage.path).and_then(|mut ledger| ledger.read()) {
            Ok(book) => assert_eq!(book.events(), events, "byte {at}"),
            Err(error) => assert!(error.advice().is_some(), "byte {at}: {error}"),
        }
    }
    for length in (0..good.len()).step_by(511) {
        std::fs::write(&stage.path, &good[..length]).unwrap();
        let cut = Ledger::open_existing(&stage.path).and_then(|mut ledger| ledger.read());
        // A file without a byte is how a ledger begins, and a receipt tells.
        assert!(if length == 0 { cut.unwrap().events().is_empty() } else { cut.is_err() }, "{length} bytes");
    }
}

#[test]
fn other_files_are_no_ledgers() {
    let stage = Stage::new();
    assert_eq!(Ledger::open_existing(&stage.path).err().unwrap().kind(), Kind::Io);
    std::fs::create_dir_all(stage.path.parent().unwrap()).unwrap();
    std::fs::write(&stage.path, "age,height\n41,170\n").unwrap();
    assert!(stage.fault().contains("not a ledger"));
    assert_eq!(std::fs::read(&stage.path).unwrap(), b"age,height\n41,170\n", "it is left alone");
    std::fs::remove_file(&stage.path).unwrap();
    raw(&stage.path).execute_batch("CREATE TABLE t (x)").unwrap();
    assert!(stage.fault().contains("not a ledger"));
    std::fs::remove_file(&stage.path).unwrap();
    stage.ledger();
    raw(&stage.path).pragma_update(None, "user_version", 2).unwrap();
    assert!(stage.fault().contains("format 2"));
    let folder = stage.path.parent().unwrap();
    assert!(Ledger::open(folder).err().unwrap().to_string().contains("directory"));
}

#[test]
fn an_export_is_the_whole_ledger() {
    let stage = Stage::new();
    let receipt = filled(&stage);
    let text = stage.ledger().export().unwrap();
    let other = Stage::new();
    assert_eq!(Ledger::import(&other.path, text.as_bytes(), "export").unwrap(), 6);
    let book = other.ledger().read().unwrap();
    assert_eq!(book.events(), stage.ledger().read().unwrap().events());
    assert_eq!(book.limit("people"), limit("3", "1e-6"));
    book.entry(&receipt).unwrap();
    assert_eq!(other.ledger().export().unwrap(), text);
    let error = Ledger::import(&other.path, text.as_bytes(), "export").unwrap_err();
    assert!(error.to_string().contains("only an empty ledger"), "{error}");
    for (old, new) in [("\"version\": 1,", "\"version\": 2,"), ("sunprint-ledger", "another"), ("\"1/2\"", "\"1/3\"")] {
        let refused = Stage::new();
        let changed = text.replacen(old, new, 1);
        assert_eq!(Ledger::import(&refused.path, changed.as_bytes(), "export").unwrap_err().kind(), Kind::Ledger);
        assert!(!refused.path.exists(), "nothing is made of a bad export");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A chain whose hashes are right can still say nonsense, and garbage may be anything: both are refused in words.
    #[test]
    fn garbage_is_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let error = Ledger::import(Path::new("/nowhere/at/all"), &bytes, "export").unwrap_err();
        prop_assert_eq!(error.kind(), Kind::Ledger);
        prop_assert!(error.advice().is_some());
    }
}

/// Every byte of an export: the change is refused, or changes nothing that is said.
#[test]
fn an_edited_export_is_refused() {
    let stage = Stage::new();
    filled(&stage);
    let text = stage.ledger().export().unwrap();
    let meaning = |text: &[u8]| serde_json::from_slice::<serde_json::Value>(text).ok();
    let whole = meaning(text.as_bytes());
    for at in 0..text.len() {
        let mut bytes = text.clone().into_bytes();
        bytes[at] ^= 1;
        if meaning(&bytes) != whole {
            // The place cannot be made, so that an export that is believed shows itself by another kind of error.
            let error = Ledger::import(Path::new("/proc/none/ledger"), &bytes, "export").unwrap_err();
            assert_eq!(error.kind(), Kind::Ledger, "byte {at}: {}", String::from_utf8_lossy(&bytes));
        }
    }
}
