//! What was promised, as the page shows it: the receipt and the statement, always public.

use super::page::{LedgerEntry, Origin, Privacy, StageShare};
use super::round::five;
use crate::receipt::{Receipt, Statement};
use crate::schema::Schema;
use std::fmt::Write;

/// The promise of a receipt.
pub(super) fn panel(receipt: &Receipt, schema: &Schema) -> Privacy {
    let stage = |stage: &crate::receipt::Stage| StageShare {
        name: stage.name.clone(),
        share: five(stage.share as f64 / stage.of.max(1) as f64),
        mechanism: stage.mechanism.clone(),
    };
    let entry = |entry: &crate::ledger::Entry| LedgerEntry { number: entry.number, hash: entry.hash.clone() };
    Privacy {
        origin: Origin::Released,
        sentence: receipt.sentence(),
        epsilon: receipt.epsilon.to_string(),
        delta: receipt.delta.as_ref().map(ToString::to_string),
        unit: receipt.unit.clone(),
        ledger: receipt.ledger.as_ref().map(entry),
        stages: receipt.stages.iter().map(stage).collect(),
        statement: Statement::of(receipt, schema).sections,
    }
}

/// How to cite a release: what it is, what made it, what it promises, and where that is written down.
pub(super) fn cite(receipt: &Receipt) -> String {
    let name = if receipt.dataset.is_empty() { "Unnamed table" } else { &receipt.dataset };
    let kind = if receipt.delta.is_some() { "approximate differential privacy" } else { "pure differential privacy" };
    let mut text = format!("{name}: synthetic data made with Sunprint {}, {kind}", receipt.version);
    let _ = write!(text, " with ε = {}", receipt.epsilon);
    if let Some(delta) = &receipt.delta {
        let _ = write!(text, " and δ = {delta}");
    }
    let _ = write!(text, " for the replacement of one row");
    if let Some(rows) = receipt.rows {
        let _ = write!(text, " of {rows}");
    }
    if let Some(entry) = &receipt.ledger {
        let _ = write!(text, "; ledger entry {}, {}", entry.number, entry.hash);
    }
    text + "."
}
