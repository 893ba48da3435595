//! The ledger: what each dataset has spent, written down before it is spent, and never taken back.
//!
//! One SQLite file holds *events* in a chain. A fit appends three of them:
//!
//! | event | when | afterwards |
//! |---|---|---|
//! | `reserve` | when everything was judged that can be judged without the rows | the charge counts against the ceiling |
//! | `open` | before the first row is read | the charge can never be withdrawn |
//! | `spend` | before the first noise is drawn | – |
//!
//! and `withdraw` instead of `open` where somebody reserved and then did not read. `limit` sets a ceiling. Whatever is reserved
//! and not withdrawn counts, so a crash, a kill or an error can make a dataset look more spent than it is, never less.
//!
//! * A reservation reads the whole chain, checks it, sums in exact rationals, compares with the ceiling and appends, all
//!   in one transaction that keeps every other writer out: fits that run at once cannot overspend together.
//! * Every event carries the hash of the one before, so an event that was edited, removed, moved or put in is found.
//!   Whoever rewrites the whole chain, or cuts off its end together with the head, is found by a receipt, which names
//!   the number and the hash of its entry.
//! * Everything in a ledger is public: names, promises, methods, times. It never sees a row.

mod book;
mod chain;
mod event;
mod exact;
mod export;
mod place;
mod reservation;
mod store;
mod totals;
mod words;

use crate::error::{Error, Kind, Result};
use crate::privacy::{Budget, Ratio};
use crate::schema::Schema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use book::{Account, Book, Recorded, State};
pub use event::Event;
use event::{Draft, Step};
pub use exact::Sum;
pub use export::MOST_BYTES;
pub use reservation::Reservation;
use store::Store;
pub use totals::{Concentrated, Total, Way};

/// How long a writer waits for the others. A transaction takes milliseconds, so this is for many of them, or for a slow
/// disk; whoever waits longer waits for something that hangs.
const PATIENCE: Duration = Duration::from_secs(30);

/// An entry as a receipt names it: the number and the hash of the event that reserved the charge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The number of the event, from 1.
    #[serde(rename = "entry")]
    pub number: u64,
    /// Its SHA-256, in hexadecimal.
    pub hash: String,
}

/// What a fit asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The dataset's name, the ledger's key.
    pub dataset: String,
    /// ε of the promise.
    pub epsilon: Ratio,
    /// δ of the promise; none for a pure one.
    pub delta: Option<Ratio>,
    /// ρ of zCDP, where that is what the noise is made by.
    pub rho: Option<Ratio>,
    /// The method's word.
    pub method: String,
    /// The SHA-256 of the schema's text.
    pub schema: String,
}

impl Request {
    /// What a fit with this schema, method and budget asks for.
    pub fn new(schema: &Schema, method: &str, budget: &Budget) -> Request {
        Request {
            dataset: schema.dataset.name.clone(),
            epsilon: budget.epsilon().ratio(),
            delta: budget.delta().map(|delta| delta.ratio()),
            rho: budget.delta().map(|_| budget.amount()),
            method: method.to_string(),
            schema: event::hex(&Sha256::digest(schema.to_toml())),
        }
    }
}

/// A ceiling: all fits of a dataset together keep (ε, δ). Without δ they must all be pure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// The most that the ε of all fits may add up to.
    pub epsilon: Ratio,
    /// The most that their δ may add up to.
    pub delta: Ratio,
}

/// An open ledger.
pub struct Ledger {
    store: Store,
}

impl Ledger {
    /// Opens a ledger, or makes an empty one that only its owner can read, with its folder.
    ///
    /// # Errors
    /// [`Kind::Ledger`] where the file is not a ledger, or one of a newer version; [`Kind::Io`] where it cannot be made.
    pub fn open(path: &Path) -> Result<Ledger> {
        Ledger::open_with(path, PATIENCE)
    }

    fn open_with(path: &Path, patience: Duration) -> Result<Ledger> {
        place::make(path)?;
        Store::open(path, patience).map(|store| Ledger { store })
    }

    /// Opens a ledger that is there already.
    ///
    /// # Errors
    /// As [`Ledger::open`], and [`Kind::Io`] where there is no such file.
    pub fn open_existing(path: &Path) -> Result<Ledger> {
        place::check(path)?;
        Store::open(path, PATIENCE).map(|store| Ledger { store })
    }

    /// `SUNPRINT_LEDGER`, or else `sunprint/ledger.sqlite` in the user's data directory.
    pub fn default_place() -> Option<PathBuf> {
        place::default()
    }

    /// The file.
    pub fn path(&self) -> &Path {
        self.store.path()
    }

    /// Everything that was written down, checked from the first event to the last.
    ///
    /// # Errors
    /// [`Kind::Ledger`] naming the first event that is not as it was written.
    pub fn read(&mut self) -> Result<Book> {
        self.store.read()
    }

    /// Reserves a charge: from here on it counts.
    ///
    /// # Errors
    /// [`Kind::Budget`] where the dataset's ceiling would be exceeded.
    pub fn reserve(&mut self, request: &Request) -> Result<Entry> {
        if request.dataset.is_empty() {
            return Err(Error::new(Kind::Schema, "the dataset has no name to keep its spending under")
                .hint("give the schema a `[dataset]` with a `name`"));
        }
        self.store.append(|book| {
            book.check_ceiling(request)?;
            Ok(Draft {
                step: Step::Reserve,
                dataset: request.dataset.clone(),
                entry: None,
                epsilon: Some(request.epsilon),
                delta: request.delta,
                rho: request.rho,
                method: Some(request.method.clone()),
                schema: Some(request.schema.clone()),
            })
        })
    }

    /// The table is about to be read: the charge can no longer be withdrawn.
    pub fn opened(&mut self, entry: &Entry) -> Result<()> {
        self.step(entry, Step::Open)
    }

    /// Noise is about to be drawn.
    pub fn spend(&mut self, entry: &Entry) -> Result<()> {
        self.step(entry, Step::Spend)
    }

    /// Gives a charge back.
    ///
    /// # Errors
    /// [`Kind::Protocol`] where the table was opened: then nothing gives it back.
    pub fn withdraw(&mut self, entry: &Entry) -> Result<()> {
        self.step(entry, Step::Withdraw)
    }

    fn step(&mut self, entry: &Entry, step: Step) -> Result<()> {
        let draft = |book: &Book| {
            let recorded = book.entry(entry)?;
            if recorded.state.after(step).is_none() {
                let rule = format!("entry {} is {} and cannot {}", entry.number, recorded.state.word(), step.word());
                return Err(Error::new(Kind::Protocol, rule));
            }
            Ok(Draft::about(step, &recorded.dataset, Some(entry.number)))
        };
        self.store.append(draft).map(drop)
    }

    /// Sets the ceiling of a dataset, or takes it away. It holds for fits to come; what was spent stays spent.
    pub fn limit(&mut self, dataset: &str, limit: Option<Limit>) -> Result<()> {
        self.limit_if(dataset, limit, |_| Ok(()))
    }

    /// The same for a dataset that the ledger has heard of: the ceiling of a name that was mistyped holds nobody back.
    ///
    /// # Errors
    /// [`Kind::Usage`] where nothing was ever written under this name.
    pub fn limit_known(&mut self, dataset: &str, limit: Option<Limit>) -> Result<()> {
        self.limit_if(dataset, limit, |book| book.check_known(dataset))
    }

    fn limit_if(&mut self, dataset: &str, limit: Option<Limit>, check: impl Fn(&Book) -> Result<()>) -> Result<()> {
        if dataset.is_empty() {
            return Err(Error::new(Kind::Usage, "the dataset's name is empty").hint("give the `name` of its schema"));
        }
        self.store
            .append(|book| {
                check(book)?;
                Ok(Draft {
                    epsilon: limit.map(|limit| limit.epsilon),
                    delta: limit.map(|limit| limit.delta),
                    ..Draft::about(Step::Limit, dataset, None)
                })
            })
            .map(drop)
    }

    /// The whole ledger as JSON, for a copy or for another machine.
    pub fn export(&mut self) -> Result<String> {
        export::write(&self.read()?)
    }

    /// Makes a ledger, or fills an empty one, from what [`Ledger::export`] wrote. The chain is checked first, and
    /// nothing is made of a bad one. Numbers and hashes stay what they were, so receipts can still be verified. Returns
    /// the number of events.
    ///
    /// # Errors
    /// [`Kind::Ledger`] where the text is not a whole ledger, or where there are events already.
    pub fn import(path: &Path, text: &[u8], place: &str) -> Result<u64> {
        let events = export::read(text, place)?;
        Ledger::open(path)?.store.fill(&events)?;
        Ok(events.len() as u64)
    }
}
