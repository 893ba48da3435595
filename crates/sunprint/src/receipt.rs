//! What was promised and spent, in words that a lawyer can read.

use crate::plan::{Method, Plan, Shares};
use crate::privacy::{Budget, Privacy, Ratio, Spent};
use crate::schema::Schema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The receipt of a fit. The promise stands before the data is read; `spent` fills as the mechanisms run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Receipt {
    /// The version of Sunprint that ran.
    pub version: String,
    /// The dataset's name.
    pub dataset: String,
    /// Who is protected: what one neighbour may change.
    pub unit: String,
    /// ε, as it was asked for.
    pub epsilon: Ratio,
    /// δ, if one was asked for.
    pub delta: Option<Ratio>,
    /// The total in the currency of the accounting: ε itself, or ρ of zCDP.
    pub total: Ratio,
    /// Which currency.
    pub accounting: Privacy,
    /// The algorithm.
    pub method: Method,
    /// n: public. Nothing until the table is opened.
    pub rows: Option<u64>,
    /// Columns that do not split the table.
    pub columns: usize,
    /// d: the coordinates that these columns take, where they are more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coordinates: Option<usize>,
    /// Strata.
    pub strata: usize,
    /// How the total is divided, stage by stage.
    pub stages: Vec<Stage>,
    /// What each mechanism was given, in order.
    pub spent: Vec<Spent>,
    /// d′, once it is chosen.
    pub dimension: Option<usize>,
    /// Which mechanism counted which cells, once that is chosen.
    #[serde(default)]
    pub cells: Option<String>,
    /// What a reader of the release should know: too few rows, no direction found.
    pub remarks: Vec<String>,
}

/// One stage's part of the whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stage {
    /// Its name.
    pub name: String,
    /// Its share, in parts of `of`.
    pub share: u64,
    /// What the shares add up to.
    pub of: u64,
    /// What it does with it.
    pub mechanism: String,
}

impl Receipt {
    /// The promise, before anything is read or spent.
    pub fn promise(schema: &Schema, plan: &Plan, budget: &Budget) -> Receipt {
        let columns = schema.blocks().len();
        Receipt {
            version: env!("CARGO_PKG_VERSION").to_string(),
            dataset: schema.dataset.name.clone(),
            unit: "one row replaced by any other row; the number of rows is public".to_string(),
            epsilon: budget.epsilon().ratio(),
            delta: budget.delta().map(|delta| delta.ratio()),
            total: budget.amount(),
            accounting: budget.privacy(),
            method: plan.method,
            rows: None,
            columns,
            coordinates: Some(schema.width()).filter(|&width| width != columns),
            strata: schema.strata(),
            stages: Vec::new(),
            spent: Vec::new(),
            dimension: None,
            cells: None,
            remarks: Vec::new(),
        }
    }

    pub(crate) fn stage(&mut self, name: &str, share: u64, of: u64, mechanism: &str) {
        if share > 0 {
            let mechanism = mechanism.to_string();
            self.stages.push(Stage { name: name.to_string(), share, of, mechanism });
        }
    }

    pub(crate) fn default_stages(&mut self, shares: &Shares) {
        let pure = self.accounting == Privacy::Pure;
        let on =
            |noise: &str, what: &str| format!("{} on {what}", if pure { noise } else { "discrete Gaussian noise" });
        let whole = Shares::WHOLE;
        self.stage("centre", shares.centre, whole, &on("cube mechanism", "column sums"));
        self.stage("spread", shares.spread, whole, &on("discrete Laplace noise", "the total square"));
        self.stage("contrasts", shares.contrasts, whole, &on("cube mechanism", "clamped sums of strata"));
        self.stage("moments", shares.moments, whole, &on("Wishart-difference noise", "clipped moments"));
        self.stage("marginals", shares.marginals, whole, &on("discrete Laplace noise", "the values of each column"));
        self.stage("measure", shares.measure, whole, &on("discrete Laplace noise", "cell counts"));
        self.stage("labels", shares.labels, whole, &on("discrete Laplace noise", "strata in the leaves of a tree"));
    }

    /// The sentence that says what is promised.
    pub fn sentence(&self) -> String {
        let delta = self.delta.as_ref().map(|delta| format!(" and δ = {delta}")).unwrap_or_default();
        let odds = if self.delta.is_none() {
            format!(
                "whatever anybody sees in this release would have been seen with at most e^{e} times the probability, \
                 and at least e^-{e} times, had any one row been replaced by any other",
                e = self.epsilon
            )
        } else {
            "the probability of anything that anybody may see in this release is at most e^ε times what it would have \
             been had any one row been replaced by any other, plus δ"
                .to_string()
        };
        format!("This release is differentially private with ε = {}{delta}: {odds}.", self.epsilon)
    }
}

/// No line of a receipt is wider than this.
const WIDTH: usize = 80;

impl Receipt {
    /// What is promised, as text: everything that is known before the data is read.
    pub fn promised(&self) -> String {
        let name = if self.dataset.is_empty() { "(unnamed)" } else { &self.dataset };
        let mut text = format!("Receipt of Sunprint {} for dataset `{name}`\n", self.version);
        text.push_str(&wrapped(&self.sentence(), ""));
        line(&mut text, "unit of privacy", &self.unit);
        line(&mut text, "promise", &self.promise_in_numbers());
        line(&mut text, "method", self.method.name());
        let strata = if self.strata > 1 { format!(", and {} strata", self.strata) } else { String::new() };
        let coordinates = self.coordinates.map(|count| format!(" with {count} coordinates")).unwrap_or_default();
        line(&mut text, "columns", &format!("{}{coordinates}{strata}", self.columns));
        text
    }

    /// What came of it, as text: what only the fit could tell, without the remarks.
    pub fn measured(&self) -> String {
        let mut text = String::new();
        let rows = self.rows.map_or("counted when the table is opened".to_string(), |rows| rows.to_string());
        line(&mut text, "rows", &rows);
        if let Some(dimension) = self.dimension {
            line(&mut text, "dimension d′", &dimension.to_string());
        }
        if let Some(cells) = &self.cells {
            line(&mut text, "cells", cells);
        }
        if !self.stages.is_empty() {
            line(&mut text, "budget", "divided between the stages:");
        }
        for stage in &self.stages {
            let share = 100.0 * stage.share as f64 / stage.of as f64;
            line(&mut text, &stage.name, &format!("{share:>6.2} %  {}", stage.mechanism));
        }
        text
    }

    fn promise_in_numbers(&self) -> String {
        let epsilon = &self.epsilon;
        match &self.delta {
            None => format!("pure ε = {epsilon}"),
            Some(delta) => {
                format!("ε = {epsilon}, δ = {delta} (by ρ = {:.6} of zCDP)", crate::plan::as_float(&self.total))
            }
        }
    }
}

/// The whole receipt: the promise, what came of it, and the remarks.
impl fmt::Display for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.promised())?;
        f.write_str(&self.measured())?;
        self.remarks.iter().try_for_each(|remark| f.write_str(&wrapped(&format!("note: {remark}"), "  ")))
    }
}

/// A title and what it says.
fn line(text: &mut String, title: &str, what: &str) {
    text.push_str(&wrapped(what, &format!("  {title:<18}")));
}

/// Words on lines of at most [`WIDTH`] letters. The first begins with `head`, the others with as many spaces.
fn wrapped(words: &str, head: &str) -> String {
    let indent = head.chars().count();
    let (mut text, mut used) = (head.to_string(), indent);
    for (i, word) in words.split(' ').enumerate() {
        let length = word.chars().count();
        if i > 0 && used + 1 + length > WIDTH {
            text.push('\n');
            text.push_str(&" ".repeat(indent));
            used = indent;
        } else if i > 0 {
            text.push(' ');
            used += 1;
        }
        text.push_str(word);
        used += length;
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::Epsilon;

    #[test]
    fn no_line_is_wider_than_a_screen() {
        let schema = Schema::parse("[[column]]\nname = \"a\"\nkind = \"integer\"\nmin = 0\nmax = 9\n", "s").unwrap();
        let epsilon: Epsilon = "0.30000000000000004".parse().unwrap();
        for delta in [None, Some("1e-9".parse().unwrap())] {
            let budget = crate::plan::budget(epsilon, delta).unwrap();
            let mut receipt = Receipt::promise(&schema, &Plan::default(), &budget);
            receipt.default_stages(&Shares::for_table(&crate::plan::Facts::of(&schema, 1_000, 1.0)));
            receipt.rows = Some(1_000);
            receipt.dimension = Some(1);
            receipt.remarks.push("word ".repeat(60).trim().to_string());
            let text = receipt.to_string();
            assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
            assert!(text.starts_with(&receipt.promised()) && text.contains(&receipt.measured()));
            assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains(&receipt.sentence()));
        }
    }
}
