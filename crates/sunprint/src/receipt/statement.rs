//! The page that goes out with a release: what was promised, what it means, what it rests on.
//!
//! A statement is made of the receipt and the schema, so a model alone is enough. It is a list of sections that knows
//! nothing of its form; [`Statement::to_text`] and [`Statement::to_html`] show the same.

use super::text::visible;
use super::{LISTED, Odds, Receipt, checklist, describe};
use crate::plan::as_float;
use crate::privacy::{Privacy, Ratio};
use crate::schema::Schema;
use serde::Serialize;

/// A privacy statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// What it is.
    pub title: String,
    /// Its parts, in order.
    pub sections: Vec<Section>,
}

/// A part of a statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Section {
    /// Its heading.
    pub heading: String,
    /// What it says.
    pub blocks: Vec<Block>,
}

/// Plain text in one of a few forms. Names from the schema stand in it as they are, with control characters made
/// visible; whoever puts it into a page has to escape it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Block {
    /// The heading of what follows.
    Heading(String),
    /// Sentences.
    Words(String),
    /// Points of equal rank.
    List(Vec<String>),
    /// Names, and what is known of each.
    Facts(Vec<(String, String)>),
    /// Rows under a heading for each column.
    Table {
        /// The headings.
        head: Vec<String>,
        /// The rows, each as long as the head.
        rows: Vec<Vec<String>>,
    },
}

impl Statement {
    /// The statement about a release, from its receipt and its schema.
    pub fn of(receipt: &Receipt, schema: &Schema) -> Statement {
        let section = |heading: &str, blocks| Section { heading: heading.to_string(), blocks };
        let words = |texts: Vec<String>| texts.into_iter().map(Block::Words).collect();
        let mut spending = budget(receipt);
        if !receipt.remarks.is_empty() {
            spending.push(Block::Heading("What the fit remarked".to_string()));
            spending.push(Block::List(receipt.remarks.iter().map(|remark| visible(remark)).collect()));
        }
        Statement {
            title: "Privacy statement".to_string(),
            sections: vec![
                section("The promise", vec![Block::Words(receipt.sentence()), Block::Facts(facts(receipt))]),
                section("What an attacker can learn", words(Odds::of(receipt).in_words())),
                section("Where the budget went", spending),
                section("What is public", public(receipt, schema)),
                section("What is assumed", vec![Block::List(assumed(receipt))]),
                section("The points of NIST SP 800-226", checklist::blocks(receipt)),
            ],
        }
    }
}

fn facts(receipt: &Receipt) -> Vec<(String, String)> {
    let name = if receipt.dataset.is_empty() { "(unnamed)".to_string() } else { visible(&receipt.dataset) };
    let delta = receipt.delta.as_ref().map_or("none: the promise is pure".to_string(), ToString::to_string);
    let accounting = match receipt.accounting {
        Privacy::Pure => "pure differential privacy; the parts of ε add up".to_string(),
        Privacy::Concentrated => {
            let rho = as_float(&receipt.total);
            format!("zero-concentrated differential privacy with ρ = {rho:.6}, turned into ε and δ")
        }
    };
    let mut facts = vec![
        ("dataset", name),
        ("unit", visible(&receipt.unit)),
        ("neighbours", "two tables with the same number of rows that differ in one row, in any way".to_string()),
        ("epsilon", receipt.epsilon.to_string()),
        ("delta", delta),
        ("accounting", accounting),
        ("method", receipt.method.name().to_string()),
        ("made by", format!("Sunprint {}", visible(&receipt.version))),
    ];
    match &receipt.ledger {
        Some(entry) => {
            facts.push(("ledger entry", format!("number {}", entry.number)));
            facts.push(("ledger hash", visible(&entry.hash)));
        }
        None => facts.push(("ledger entry", NOT_RECORDED.to_string())),
    }
    facts.into_iter().map(|(name, what)| (name.to_string(), what)).collect()
}

/// Said where no ledger was kept.
const NOT_RECORDED: &str =
    "none: this release was recorded in no ledger, so nothing shows what else was spent on the same rows";

/// A table of what every mechanism was given; of the shares, where nothing is spent yet.
fn budget(receipt: &Receipt) -> Vec<Block> {
    let currency = match receipt.accounting {
        Privacy::Pure => "ε",
        Privacy::Concentrated => "ρ",
    };
    let whole = as_float(&receipt.total);
    let part = |amount: f64| format!("{:.2} %", 100.0 * amount);
    let strings = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
    if receipt.spent.is_empty() {
        let row = |stage: &super::Stage| {
            vec![visible(&stage.name), part(stage.share as f64 / stage.of as f64), visible(&stage.mechanism)]
        };
        let rows = receipt.stages.iter().map(row).collect();
        return vec![
            Block::Words("Nothing was spent yet; this is how the budget is divided.".to_string()),
            Block::Table { head: strings(&["stage", "share", "mechanism"]), rows },
        ];
    }
    let stage_of = |name: &str| receipt.stages.iter().find(|stage| stage.name == name);
    let row = |spent: &crate::privacy::Spent| {
        let mechanism = stage_of(&spent.stage).map_or(&spent.mechanism, |stage| &stage.mechanism);
        vec![
            visible(&spent.stage),
            part(as_float(&spent.amount) / whole),
            format!("{currency} = {}", spent.amount),
            visible(mechanism),
            visible(&spent.sensitivity),
            visible(&spent.noise),
        ]
    };
    let sum = receipt.spent.iter().try_fold(Ratio::ZERO, |sum, spent| sum.checked_add(spent.amount));
    let together = match sum {
        Some(sum) if sum == receipt.total => format!("Together {currency} = {sum}, which is the whole budget."),
        Some(sum) if sum < receipt.total => {
            format!("Together {currency} = {sum}, of a budget of {}: the rest was not needed.", receipt.total)
        }
        _ => format!("This is MORE than the budget of {}: do not trust this receipt.", receipt.total),
    };
    vec![
        Block::Table {
            head: strings(&["stage", "share", "spent", "mechanism", "one row can change", "noise"]),
            rows: receipt.spent.iter().map(row).collect(),
        },
        Block::Words(
            together + " Everything else in the release is computed from these noisy numbers, which costs nothing.",
        ),
    ]
}

fn public(receipt: &Receipt, schema: &Schema) -> Vec<Block> {
    let rows = receipt.rows.map_or("not known yet".to_string(), |rows| rows.to_string());
    let column = |column: &crate::schema::Column| (visible(&column.name), visible(&describe(column, LISTED)));
    let mut blocks = vec![
        Block::Words(
            "The following is taken to be known to everybody. It is not protected, and Sunprint did not take it from \
             the rows: it reads bounds and categories from the schema alone."
                .to_string(),
        ),
        Block::Facts(vec![
            ("rows".to_string(), rows),
            ("columns".to_string(), schema.columns.len().to_string()),
            ("strata".to_string(), receipt.strata.to_string()),
        ]),
        Block::Heading("Columns and their bounds".to_string()),
        Block::Facts(schema.columns.iter().take(LISTED).map(column).collect()),
    ];
    if schema.columns.len() > LISTED {
        let rest = schema.columns.len() - LISTED;
        let columns = if rest == 1 { "column" } else { "columns" };
        blocks
            .push(Block::Words(format!("And {rest} more {columns}: `sunprint show` lists all that the model holds.")));
    }
    if !schema.constraints.is_empty() {
        let count = schema.constraints.len();
        let rules = if count == 1 { "one rule" } else { &format!("{count} rules") };
        blocks.push(Block::Words(format!("The schema also holds {rules} between columns, which synthetic rows obey.")));
    }
    blocks
}

fn assumed(receipt: &Receipt) -> Vec<String> {
    let mut points = vec![
        "Every person has one row at most. Whoever has more is protected less, as said above.",
        "Bounds, categories and rules of the schema, and the options of the fit, were chosen without looking at the rows.",
        "The number of rows, the file's format, and the names, types and order of its columns may be known.",
        "Nobody but the curator saw the machine while it worked: not its clock, memory, swap or temporary files; and what \
         `check` and `evaluate` print stayed with the curator.",
        "The operating system's random numbers cannot be predicted, and ChaCha20, which stretches them, cannot be told \
         from chance. Nothing else rests on a limit of anybody's computing power.",
        "This statement was made from the release's own receipt, which is not signed. `sunprint ledger verify --receipt` \
         compares it with the curator's ledger.",
        "Sunprint, the libraries it is built from, the compiler and the processor do what they say.",
    ];
    points.push(if receipt.ledger.is_some() {
        "All other releases of the same rows are in the same ledger, under the same name; what they spent adds up."
    } else {
        "All other releases of the same rows are known to the curator; what they spent adds up with this one."
    });
    points.into_iter().map(str::to_string).collect()
}
