//! What a chain of events says: entries and their state, ceilings, accounts.

use super::event::{Event, Head, Step, fraction};
use super::exact::Sum;
use super::totals::Total;
use super::{Entry, Limit, Request, chain};
use crate::error::{Error, Kind, Result};
use crate::privacy::Ratio;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// How far a charge has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It counts, and the table was not opened yet.
    Reserved,
    /// The table was opened: it counts for ever.
    Opened,
    /// Noise was drawn.
    Spent,
    /// The table could not be opened, and the charge was given back.
    Withdrawn,
}

impl State {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            State::Reserved => "reserved",
            State::Opened => "opened",
            State::Spent => "spent",
            State::Withdrawn => "withdrawn",
        }
    }

    /// The state after a step; none where the step is not allowed.
    pub(super) fn after(self, step: Step) -> Option<State> {
        match (self, step) {
            (State::Reserved, Step::Open) => Some(State::Opened),
            (State::Reserved | State::Opened, Step::Spend) => Some(State::Spent),
            (State::Reserved, Step::Withdraw) => Some(State::Withdrawn),
            _ => None,
        }
    }
}

/// A charge as it stands in the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Recorded {
    /// The number of the event that reserved it.
    #[serde(rename = "entry")]
    pub number: u64,
    /// When that was, in UTC.
    pub time: String,
    /// The dataset's name.
    pub dataset: String,
    /// How far it has come.
    pub state: State,
    /// ε.
    pub epsilon: Ratio,
    /// δ; none for a pure promise.
    pub delta: Option<Ratio>,
    /// ρ of zCDP, where that is what the noise is made by.
    pub rho: Option<Ratio>,
    /// The method's word.
    pub method: String,
    /// The version of Sunprint.
    pub version: String,
    /// The SHA-256 of the schema's text.
    pub schema: String,
    /// The hash of the event that reserved it.
    pub hash: String,
}

impl Recorded {
    /// Whether it counts: everything that was reserved and not withdrawn does.
    pub fn counts(&self) -> bool {
        self.state != State::Withdrawn
    }
}

/// One dataset's part of the ledger.
#[derive(Clone, Debug, Serialize)]
pub struct Account {
    /// Its name.
    pub dataset: String,
    /// What all its entries add up to.
    pub total: Total,
    /// Its ceiling, if it has one.
    pub limit: Option<Limit>,
    /// Its entries, in order.
    pub entries: Vec<Recorded>,
}

/// A whole ledger, read and checked.
#[derive(Clone, Debug)]
pub struct Book {
    events: Vec<Event>,
    entries: BTreeMap<u64, Recorded>,
    limits: BTreeMap<String, Limit>,
}

impl Book {
    /// Checks the chain, then what it says. The fault is one sentence.
    pub(super) fn of(events: Vec<Event>, head: &Head) -> std::result::Result<Book, String> {
        chain::check(&events, head)?;
        let mut book = Book { events: Vec::new(), entries: BTreeMap::new(), limits: BTreeMap::new() };
        for event in &events {
            book.replay(event).ok_or_else(|| format!("event {} of the ledger makes no sense", event.number))?;
        }
        book.events = events;
        Ok(book)
    }

    fn replay(&mut self, event: &Event) -> Option<()> {
        let amount = |text: &Option<String>| match text {
            Some(text) => exactly(text).map(Some),
            None => Some(None),
        };
        let (epsilon, delta, rho) = (amount(&event.epsilon)?, amount(&event.delta)?, amount(&event.rho)?);
        match Step::of_word(&event.step)? {
            Step::Reserve => {
                let recorded = Recorded {
                    number: event.number,
                    time: event.time.clone(),
                    dataset: event.dataset.clone(),
                    state: State::Reserved,
                    epsilon: epsilon?,
                    delta,
                    rho,
                    method: event.method.clone()?,
                    version: event.version.clone(),
                    schema: event.schema.clone()?,
                    hash: event.hash.clone(),
                };
                self.entries.insert(event.number, recorded);
            }
            Step::Limit => match (epsilon, delta) {
                (Some(epsilon), Some(delta)) => {
                    self.limits.insert(event.dataset.clone(), Limit { epsilon, delta });
                }
                (None, None) => {
                    self.limits.remove(&event.dataset);
                }
                _ => return None,
            },
            step => {
                let recorded = self.entries.get_mut(&event.entry?).filter(|entry| entry.dataset == event.dataset)?;
                recorded.state = recorded.state.after(step)?;
            }
        }
        Some(())
    }

    /// All events, in order.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// All charges, in order.
    pub fn entries(&self) -> impl Iterator<Item = &Recorded> {
        self.entries.values()
    }

    /// The number and the hash of the last event.
    pub fn head(&self) -> Option<(u64, &str)> {
        self.events.last().map(|event| (event.number, event.hash.as_str()))
    }

    /// The ceiling of a dataset.
    pub fn limit(&self, dataset: &str) -> Option<Limit> {
        self.limits.get(dataset).copied()
    }

    /// What a dataset's entries add up to.
    pub fn total(&self, dataset: &str) -> Total {
        Total::of(self.entries().filter(|entry| entry.dataset == dataset && entry.counts()))
    }

    /// The names of all datasets that were ever written of, in the order of the alphabet.
    pub fn datasets(&self) -> Vec<&str> {
        let names: BTreeSet<&str> = self.events.iter().map(|event| event.dataset.as_str()).collect();
        names.into_iter().collect()
    }

    /// A dataset's part of the ledger; none where the ledger does not know it.
    pub fn account(&self, dataset: &str) -> Option<Account> {
        self.events.iter().any(|event| event.dataset == dataset).then(|| Account {
            dataset: dataset.to_string(),
            total: self.total(dataset),
            limit: self.limit(dataset),
            entries: self.entries().filter(|entry| entry.dataset == dataset).cloned().collect(),
        })
    }

    /// Refuses a name that nothing was ever written under.
    pub(super) fn check_known(&self, dataset: &str) -> Result<()> {
        if self.datasets().contains(&dataset) {
            return Ok(());
        }
        let rule = format!("the ledger knows no dataset `{}`", dataset.escape_debug());
        Err(Error::new(Kind::Usage, rule).hint(
            "check the name, which is that of the schema; `--new` sets the ceiling of one that is not fitted yet",
        ))
    }

    /// The charge that a receipt names.
    ///
    /// # Errors
    /// [`Kind::Ledger`] where the ledger has no such entry, which then was cut off, or is in another ledger.
    pub fn entry(&self, entry: &Entry) -> Result<&Recorded> {
        self.entries.get(&entry.number).filter(|recorded| recorded.hash == entry.hash).ok_or_else(|| {
            Error::new(Kind::Ledger, format!("the ledger has no entry {} with the hash of the receipt", entry.number))
                .hint("the receipt is of another ledger, or this one was cut off or rewritten")
        })
    }

    /// Refuses what would exceed the dataset's ceiling. Exact: a sum that meets the ceiling is allowed.
    pub(super) fn check_ceiling(&self, request: &Request) -> Result<()> {
        let name = &request.dataset;
        let Some(limit) = self.limit(name) else { return Ok(()) };
        let spent = self.total(name);
        let amounts = [
            ("epsilon", spent.epsilon, Some(request.epsilon), limit.epsilon),
            ("delta", spent.delta, request.delta, limit.delta),
        ];
        for (what, spent, asked, ceiling) in amounts {
            let (asked, ceiling) = (asked.map_or_else(Sum::zero, Sum::from), Sum::from(ceiling));
            if spent.plus(&asked) > ceiling {
                let left = ceiling.less(&spent);
                let rule = format!(
                    "dataset `{name}` has spent {what} {spent} of its ceiling {ceiling}, and this fit asks for {asked}"
                );
                let less = if left.is_zero() { String::new() } else { format!("ask for at most {left}, or ") };
                return Err(Error::new(Kind::Budget, rule)
                    .hint(format!("{less}raise the ceiling with `sunprint ledger limit`, if you may")));
            }
        }
        Ok(())
    }
}

/// A fraction, if it is written in the one way that ledgers write it.
fn exactly(text: &str) -> Option<Ratio> {
    let ratio: Ratio = text.parse().ok()?;
    (fraction(&ratio) == text).then_some(ratio)
}
