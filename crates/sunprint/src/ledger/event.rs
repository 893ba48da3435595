//! One event, as it is kept: text and whole numbers, and a hash over all of it.

use crate::privacy::Ratio;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// What an event says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Reserve,
    Open,
    Spend,
    Withdraw,
    Limit,
}

impl Step {
    const ALL: [Step; 5] = [Step::Reserve, Step::Open, Step::Spend, Step::Withdraw, Step::Limit];

    pub(super) fn word(self) -> &'static str {
        match self {
            Step::Reserve => "reserve",
            Step::Open => "open",
            Step::Spend => "spend",
            Step::Withdraw => "withdraw",
            Step::Limit => "limit",
        }
    }

    pub(super) fn of_word(word: &str) -> Option<Step> {
        Step::ALL.into_iter().find(|step| step.word() == word)
    }
}

/// What is to be written down, before it has a number, a time and a hash.
pub(super) struct Draft {
    pub(super) step: Step,
    pub(super) dataset: String,
    pub(super) entry: Option<u64>,
    pub(super) epsilon: Option<Ratio>,
    pub(super) delta: Option<Ratio>,
    pub(super) rho: Option<Ratio>,
    pub(super) method: Option<String>,
    pub(super) schema: Option<String>,
}

impl Draft {
    /// A step without amounts.
    pub(super) fn about(step: Step, dataset: &str, entry: Option<u64>) -> Draft {
        let dataset = dataset.to_string();
        Draft { step, dataset, entry, epsilon: None, delta: None, rho: None, method: None, schema: None }
    }
}

/// An event. Every field is kept exactly as it stands in the file: the hash is over the text, not over its meaning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// Its place in the chain, from 1.
    pub number: u64,
    /// When it was written, in UTC.
    pub time: String,
    /// `reserve`, `open`, `spend`, `withdraw` or `limit`.
    pub step: String,
    /// The dataset's name.
    pub dataset: String,
    /// The number of the reservation that an `open`, `spend` or `withdraw` is about.
    pub entry: Option<u64>,
    /// ε as an exact fraction.
    pub epsilon: Option<String>,
    /// δ as an exact fraction.
    pub delta: Option<String>,
    /// ρ as an exact fraction.
    pub rho: Option<String>,
    /// The method's word.
    pub method: Option<String>,
    /// The version of Sunprint that wrote it.
    pub version: String,
    /// The SHA-256 of the schema's text.
    pub schema: Option<String>,
    /// The hash of the event before; 64 zeros for the first.
    pub previous: String,
    /// The hash of everything above.
    pub hash: String,
}

impl Event {
    /// The event that follows a head.
    pub(super) fn after(head: &Head, draft: Draft, time: String) -> Event {
        let text = |ratio: Option<Ratio>| ratio.map(|ratio| fraction(&ratio));
        let mut event = Event {
            number: head.count + 1,
            time,
            step: draft.step.word().to_string(),
            dataset: draft.dataset,
            entry: draft.entry,
            epsilon: text(draft.epsilon),
            delta: text(draft.delta),
            rho: text(draft.rho),
            method: draft.method,
            version: env!("CARGO_PKG_VERSION").to_string(),
            schema: draft.schema,
            previous: head.hash.clone(),
            hash: String::new(),
        };
        event.hash = event.digest();
        event
    }

    /// SHA-256 over a tag and the fields in order. A field is a byte (is it there?), its length and its bytes, so that
    /// no two different events have the same encoding: the fields can be read back from it one by one.
    pub(super) fn digest(&self) -> String {
        let (number, entry) = (self.number.to_string(), self.entry.map(|entry| entry.to_string()));
        let fields = [
            Some(&number),
            Some(&self.time),
            Some(&self.step),
            Some(&self.dataset),
            entry.as_ref(),
            self.epsilon.as_ref(),
            self.delta.as_ref(),
            self.rho.as_ref(),
            self.method.as_ref(),
            Some(&self.version),
            self.schema.as_ref(),
            Some(&self.previous),
        ];
        let mut hash = Sha256::new();
        hash.update(b"sunprint ledger event 1\n");
        for field in fields {
            hash.update([u8::from(field.is_some())]);
            if let Some(text) = field {
                hash.update((text.len() as u64).to_le_bytes());
                hash.update(text.as_bytes());
            }
        }
        hex(&hash.finalize())
    }
}

/// The end of the chain: how many events there are, and the hash of the last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Head {
    pub(super) count: u64,
    pub(super) hash: String,
}

impl Head {
    /// The head of an empty chain.
    pub(super) fn empty() -> Head {
        Head { count: 0, hash: "0".repeat(64) }
    }
}

/// A ratio as it is kept: `a/b`, reduced.
pub(super) fn fraction(ratio: &Ratio) -> String {
    format!("{}/{}", ratio.num(), ratio.den())
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The encoding is part of the file format. The expected value comes from another implementation of SHA-256, over
    /// bytes put together by hand.
    #[test]
    fn the_hash_is_that_of_the_format() {
        let draft = Draft {
            epsilon: Ratio::new(1, 2),
            method: Some("default".to_string()),
            ..Draft::about(Step::Reserve, "people", None)
        };
        let mut event = Event::after(&Head::empty(), draft, "2026-01-02T03:04:05Z".to_string());
        event.version = "0.1.0".to_string();
        assert_eq!(event.digest(), "672591fb090c607cdbe5010436d64bd97a3b71df5f437f90592648001e5b883c");
    }

    #[test]
    fn what_is_not_there_is_not_what_is_empty() {
        let event = Event::after(&Head::empty(), Draft::about(Step::Limit, "people", None), String::new());
        let empty = Event { epsilon: Some(String::new()), ..event.clone() };
        let moved = Event { delta: Some(String::new()), ..event.clone() };
        assert!(event.digest() != empty.digest() && empty.digest() != moved.digest());
    }
}
