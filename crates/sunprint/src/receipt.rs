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
    /// d: columns that take part as numbers.
    pub columns: usize,
    /// Strata.
    pub strata: usize,
    /// How the total is divided, stage by stage.
    pub stages: Vec<Stage>,
    /// What each mechanism was given, in order.
    pub spent: Vec<Spent>,
    /// d′, once it is chosen.
    pub dimension: Option<usize>,
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
            columns: schema.width(),
            strata: schema.strata(),
            stages: Vec::new(),
            spent: Vec::new(),
            dimension: None,
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
        let or = |laplace: &'static str| if pure { laplace } else { "discrete Gaussian noise" };
        let whole = Shares::WHOLE;
        self.stage("centre", shares.centre, whole, or("cube mechanism on column sums"));
        self.stage("spread", shares.spread, whole, or("discrete Laplace noise on the total square"));
        self.stage("moments", shares.moments, whole, or("Wishart-difference noise on clipped moments"));
        self.stage("measure", shares.measure, whole, or("discrete Laplace noise on cell counts"));
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
            "outside an event of probability δ, whatever anybody sees in this release is at most e^ε times likelier \
             than it would have been had any one row been replaced by any other"
                .to_string()
        };
        format!("This release is differentially private with ε = {}{delta}: {odds}.", self.epsilon)
    }
}

impl fmt::Display for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.dataset.is_empty() { "(unnamed)" } else { &self.dataset };
        writeln!(f, "Receipt of Sunprint {} for dataset `{name}`", self.version)?;
        writeln!(f, "{}", self.sentence())?;
        writeln!(f, "  unit of privacy   {}", self.unit)?;
        match &self.delta {
            None => writeln!(f, "  promise           pure ε = {}", self.epsilon)?,
            Some(delta) => writeln!(
                f,
                "  promise           ε = {}, δ = {delta} (by ρ = {:.6} of zCDP)",
                self.epsilon,
                crate::plan::as_float(&self.total)
            )?,
        }
        writeln!(f, "  method            {}", self.method.name())?;
        let rows = self.rows.map_or("counted when the file is opened".to_string(), |rows| rows.to_string());
        writeln!(f, "  rows              {rows}")?;
        let strata = if self.strata > 1 { format!(", {} strata", self.strata) } else { String::new() };
        writeln!(f, "  columns           {}{strata}", self.columns)?;
        if let Some(dimension) = self.dimension {
            writeln!(f, "  dimension d′      {dimension}")?;
        }
        for stage in &self.stages {
            let share = 100.0 * stage.share as f64 / stage.of as f64;
            writeln!(f, "  {:<16} {share:>6.2} %  {}", stage.name, stage.mechanism)?;
        }
        for remark in &self.remarks {
            writeln!(f, "  note: {remark}")?;
        }
        Ok(())
    }
}
