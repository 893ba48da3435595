//! What was promised and spent, in words that a lawyer can read.
//!
//! A [`Receipt`] is written as JSON ([`FORMAT`], described by `docs/receipt.schema.json`) and as text; together with the
//! schema it makes a [`Statement`], the page that goes out with a release, as text and as HTML.

mod checklist;
mod columns;
mod html;
mod odds;
mod read;
mod statement;
mod text;

use crate::ledger::Entry;
use crate::plan::{Method, Plan, Shares};
use crate::privacy::{Budget, Privacy, Ratio, Spent};
use crate::schema::Schema;
use serde::{Deserialize, Serialize};

pub use columns::{LISTED, describe};
pub use odds::Odds;
pub use statement::{Block, Section, Statement};

/// The version of a receipt's form. A reader refuses a larger one. Receipts without a number are of version 1, which had
/// none.
pub const FORMAT: u64 = 2;

/// What a receipt without a number is.
fn first_format() -> u64 {
    1
}

/// The receipt of a fit. The promise stands before the data is read; `spent` fills as the mechanisms run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Receipt {
    /// The version of the receipt's form.
    #[serde(default = "first_format")]
    pub format: u64,
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
    /// Where the spending is written down; nothing where it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<Entry>,
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
            format: FORMAT,
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
            ledger: None,
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
        // In the order in which they are spent: with few rows the strata are counted in the pass of their sums.
        let (values, cells) =
            (on("discrete Laplace noise", "the values of each column"), on("discrete Laplace noise", "cell counts"));
        let mut both = [("marginals", shares.marginals, values), ("measure", shares.measure, cells)];
        if shares.moments == 0 {
            both.reverse();
        }
        for (name, share, what) in both {
            self.stage(name, share, whole, &what);
        }
        self.stage("labels", shares.labels, whole, &on("discrete Laplace noise", "strata in the leaves of a tree"));
        self.stage("sites", shares.sites, whole, &on("discrete Laplace noise", "the rows nearest to each site"));
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

#[cfg(test)]
mod tests {
    use super::text::WIDTH;
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
