//! The ledger's file.
//!
//! **The journal.** SQLite's rollback journal, with `synchronous = EXTRA`: a transaction has happened once its journal is
//! removed and that removal is on the disk, so what was committed survives kill -9 and loss of power, and what was not
//! is undone by whoever opens the file next. The write-ahead log would be as safe and a little faster, but it keeps the
//! latest events in a second file, which a curator who copies the ledger would leave behind, and it does not work on
//! network file systems.
//!
//! **Several processes.** Whoever writes begins with `BEGIN IMMEDIATE`: from its first read to its commit no other
//! process can write. Others wait for their turn.

use super::book::Book;
use super::event::{Draft, Event, Head};
use super::{Entry, words};
use crate::error::{Error, Kind, Result};
use crate::schema::dates::iso_moment;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Row, Transaction, TransactionBehavior, params};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Says that a file is a ledger: `Sunp` in ASCII.
const APPLICATION: i64 = 0x5375_6e70;

/// The format of the file.
const FORMAT: i64 = 1;

/// Tables and triggers, by name. The triggers stop accidents; against intent there is the chain.
const OBJECTS: [(&str, &str); 7] = [
    (
        "event",
        "CREATE TABLE event (number INTEGER PRIMARY KEY, time TEXT NOT NULL, step TEXT NOT NULL, \
         dataset TEXT NOT NULL, entry INTEGER, epsilon TEXT, delta TEXT, rho TEXT, method TEXT, \
         version TEXT NOT NULL, schema TEXT, previous TEXT NOT NULL, hash TEXT NOT NULL) STRICT",
    ),
    (
        "event_follows",
        "CREATE TRIGGER event_follows BEFORE INSERT ON event \
         WHEN NOT EXISTS (SELECT 1 FROM head WHERE count + 1 = NEW.number AND hash = NEW.previous) \
         BEGIN SELECT RAISE(ABORT, 'an event follows the last one'); END",
    ),
    (
        "event_stays",
        "CREATE TRIGGER event_stays BEFORE DELETE ON event \
         BEGIN SELECT RAISE(ABORT, 'events are never removed'); END",
    ),
    (
        "event_unchanged",
        "CREATE TRIGGER event_unchanged BEFORE UPDATE ON event \
         BEGIN SELECT RAISE(ABORT, 'events are never changed'); END",
    ),
    (
        "head",
        "CREATE TABLE head (one INTEGER PRIMARY KEY CHECK (one = 1), count INTEGER NOT NULL, hash TEXT NOT NULL) STRICT",
    ),
    (
        "head_grows",
        "CREATE TRIGGER head_grows BEFORE UPDATE ON head WHEN NEW.count <> OLD.count + 1 \
         BEGIN SELECT RAISE(ABORT, 'the head follows the events'); END",
    ),
    (
        "head_stays",
        "CREATE TRIGGER head_stays BEFORE DELETE ON head \
         BEGIN SELECT RAISE(ABORT, 'the head is never removed'); END",
    ),
];

/// What kind of file this is.
enum Found {
    Nothing,
    Ledger,
    Newer(i64),
    Changed,
    Other,
}

/// An open ledger file.
pub(super) struct Store {
    connection: Connection,
    path: PathBuf,
    place: String,
}

impl Store {
    /// Opens a file that is there, and makes a ledger of an empty one.
    pub(super) fn open(path: &Path, patience: Duration) -> Result<Store> {
        let place = path.display().to_string();
        let connection = connect(path, patience).map_err(|fault| words::refused(&place, &fault))?;
        let mut store = Store { connection, path: path.to_path_buf(), place };
        store.settle()?;
        Ok(store)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn refused(&self) -> impl Fn(rusqlite::Error) -> Error + use<> {
        let place = self.place.clone();
        move |fault| words::refused(&place, &fault)
    }

    /// Refuses what is no ledger of this format.
    fn settle(&mut self) -> Result<()> {
        let refused = self.refused();
        // One transaction, so that somebody who makes the ledger meanwhile is not seen half done.
        let look = |connection: &mut Connection| found(&*connection.transaction()?);
        let mut found = look(&mut self.connection).map_err(&refused)?;
        if matches!(found, Found::Nothing) {
            // Someone else may be making it: whoever comes second finds it made.
            let transaction =
                self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&refused)?;
            found = make(&transaction).map_err(&refused)?;
            transaction.commit().map_err(&refused)?;
        }
        match found {
            Found::Ledger => Ok(()),
            Found::Newer(format) => Err(Error::new(
                Kind::Ledger,
                format!("the ledger has format {format}, and this version of Sunprint knows format {FORMAT}"),
            )
            .at(&self.place)
            .hint("use a newer version of Sunprint")),
            Found::Changed => Err(words::damaged(&self.place, "the tables or triggers of the ledger were changed")),
            Found::Nothing | Found::Other => Err(words::not_a_ledger(&self.place)),
        }
    }

    /// Everything, checked. SQLite's own check of its pages is part of it.
    pub(super) fn read(&mut self) -> Result<Book> {
        let refused = self.refused();
        let transaction = self.connection.transaction().map_err(&refused)?;
        let sound = transaction.pragma_query_value(None, "integrity_check", |row| row.get::<_, String>(0));
        if sound.map_err(&refused)? != "ok" {
            return Err(words::damaged(&self.place, "the file of the ledger is damaged"));
        }
        let (events, head) = everything(&transaction).map_err(&refused)?;
        Book::of(events, &head).map_err(|fault| words::damaged(&self.place, fault))
    }

    /// Reads everything, checks it, lets the caller decide, and appends: one transaction that keeps all others out.
    pub(super) fn append(&mut self, decide: impl FnOnce(&Book) -> Result<Draft>) -> Result<Entry> {
        let refused = self.refused();
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&refused)?;
        let (events, head) = everything(&transaction).map_err(&refused)?;
        let book = Book::of(events, &head).map_err(|fault| words::damaged(&self.place, fault))?;
        let draft =
            decide(&book).map_err(|error| if error.place().is_some() { error } else { error.at(&self.place) })?;
        let event = Event::after(&head, draft, now());
        insert(&transaction, &event).map_err(&refused)?;
        transaction.commit().map_err(&refused)?;
        Ok(Entry { number: event.number, hash: event.hash })
    }

    /// Fills an empty ledger with events that were checked.
    pub(super) fn fill(&mut self, events: &[Event]) -> Result<()> {
        let refused = self.refused();
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&refused)?;
        let (_, head) = everything(&transaction).map_err(&refused)?;
        if head != Head::empty() {
            return Err(Error::new(Kind::Ledger, "only an empty ledger can take an import")
                .at(&self.place)
                .hint("name a new file with `--ledger FILE`"));
        }
        events.iter().try_for_each(|event| insert(&transaction, event)).map_err(&refused)?;
        transaction.commit().map_err(&refused)
    }
}

fn connect(path: &Path, patience: Duration) -> rusqlite::Result<Connection> {
    // Without the flag that makes files: a file that is made has owner-only rights from the beginning.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    // A whole path: to SQLite some short names are not files, such as `:memory:`.
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let connection = Connection::open_with_flags(whole, flags)?;
    connection.busy_timeout(patience)?;
    // The file may come from anywhere: no functions in its schema, no writing to its inner tables.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.pragma_update(None, "synchronous", "EXTRA")?;
    connection.pragma_update(None, "recursive_triggers", true)?;
    Ok(connection)
}

fn found(connection: &Connection) -> rusqlite::Result<Found> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let mut statement = connection
        .prepare("SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name")?;
    let objects: Vec<(String, Option<String>)> =
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<rusqlite::Result<_>>()?;
    Ok(match (number("application_id")?, number("user_version")?) {
        (0, 0) if objects.is_empty() => Found::Nothing,
        (APPLICATION, FORMAT) => {
            let ours = OBJECTS.map(|(name, sql)| (name.to_string(), Some(sql.to_string())));
            if objects == ours { Found::Ledger } else { Found::Changed }
        }
        (APPLICATION, format) if format > FORMAT => Found::Newer(format),
        _ => Found::Other,
    })
}

/// Makes the tables, unless somebody else did meanwhile.
fn make(transaction: &Transaction<'_>) -> rusqlite::Result<Found> {
    let found = found(transaction)?;
    if !matches!(found, Found::Nothing) {
        return Ok(found);
    }
    for (_, sql) in OBJECTS.iter().filter(|(_, sql)| sql.starts_with("CREATE TABLE")) {
        transaction.execute(sql, [])?;
    }
    let head = Head::empty();
    transaction.execute("INSERT INTO head (one, count, hash) VALUES (1, 0, ?1)", [head.hash])?;
    for (_, sql) in OBJECTS.iter().filter(|(_, sql)| sql.starts_with("CREATE TRIGGER")) {
        transaction.execute(sql, [])?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", FORMAT)?;
    Ok(Found::Ledger)
}

fn everything(connection: &Connection) -> rusqlite::Result<(Vec<Event>, Head)> {
    let mut statement = connection.prepare(
        "SELECT number, time, step, dataset, entry, epsilon, delta, rho, method, version, schema, previous, hash \
         FROM event ORDER BY number",
    )?;
    let events = statement.query_map([], event)?.collect::<rusqlite::Result<_>>()?;
    let head = connection
        .query_row("SELECT count, hash FROM head", [], |row| Ok(Head { count: row.get(0)?, hash: row.get(1)? }))?;
    Ok((events, head))
}

fn event(row: &Row<'_>) -> rusqlite::Result<Event> {
    Ok(Event {
        number: row.get(0)?,
        time: row.get(1)?,
        step: row.get(2)?,
        dataset: row.get(3)?,
        entry: row.get(4)?,
        epsilon: row.get(5)?,
        delta: row.get(6)?,
        rho: row.get(7)?,
        method: row.get(8)?,
        version: row.get(9)?,
        schema: row.get(10)?,
        previous: row.get(11)?,
        hash: row.get(12)?,
    })
}

fn insert(transaction: &Transaction<'_>, event: &Event) -> rusqlite::Result<()> {
    transaction.execute(
        "INSERT INTO event VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        params![
            event.number,
            event.time,
            event.step,
            event.dataset,
            event.entry,
            event.epsilon,
            event.delta,
            event.rho,
            event.method,
            event.version,
            event.schema,
            event.previous,
            event.hash
        ],
    )?;
    transaction.execute("UPDATE head SET count = ?1, hash = ?2", params![event.number, event.hash])?;
    Ok(())
}

/// This moment in UTC, such as `2026-01-31T12:00:00Z`.
fn now() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    iso_moment(i64::try_from(seconds).unwrap_or(0)).replace(' ', "T") + "Z"
}

#[cfg(test)]
mod tests {
    use super::super::event::Step;
    use super::super::place;
    use super::*;

    #[test]
    fn a_ledger_that_is_held_for_too_long_is_an_error_and_not_a_wait() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.sqlite");
        place::make(&path).unwrap();
        let mut store = Store::open(&path, Duration::ZERO).unwrap();
        let mut other = connect(&path, Duration::ZERO).unwrap();
        let held = other.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
        let error = store.append(|_| Ok(Draft::about(Step::Limit, "people", None))).unwrap_err();
        assert_eq!(error.kind(), Kind::Ledger);
        assert!(error.to_string().contains("held the ledger for too long") && error.advice().is_some(), "{error}");
        drop(held);
        store.append(|_| Ok(Draft::about(Step::Limit, "people", None))).unwrap();
    }

    #[test]
    fn what_was_not_committed_did_not_happen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.sqlite");
        place::make(&path).unwrap();
        let mut store = Store::open(&path, Duration::ZERO).unwrap();
        let mut other = connect(&path, Duration::ZERO).unwrap();
        let begun = other.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
        insert(&begun, &Event::after(&Head::empty(), Draft::about(Step::Limit, "people", None), now())).unwrap();
        drop(begun);
        assert!(store.read().unwrap().events().is_empty());
    }

    #[test]
    fn times_are_in_utc() {
        let time = now();
        assert!(time.len() == 20 && time.ends_with('Z') && time.as_bytes()[10] == b'T', "{time}");
    }
}
