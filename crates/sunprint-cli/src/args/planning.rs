//! The options of `plan`.

use std::path::PathBuf;

use clap::Args;

use super::JsonArg;
use super::values::{at_least_one, distance};

/// `sunprint plan`
#[derive(Args)]
pub struct PlanningArgs {
    /// The schema: what everybody may know about the table, in TOML
    #[arg(value_name = "SCHEMA", help_heading = None)]
    pub schema: PathBuf,
    /// Rows that the table will have
    #[arg(long, value_name = "N", value_parser = at_least_one::<u64>, allow_negative_numbers = true)]
    #[arg(help_heading = "Data")]
    pub rows: u64,
    /// How much may be learnt about one row; several after commas are set side by side
    #[arg(long, value_name = "E", required = true, value_delimiter = ',', allow_hyphen_values = true)]
    #[arg(help_heading = "Promise")]
    pub epsilon: Vec<String>,
    /// A weaker promise for less noise: probabilities may also differ by this much outright [default: none]
    #[arg(long, value_name = "D", allow_hyphen_values = true, help_heading = "Promise")]
    pub delta: Option<String>,
    /// Say which epsilon would bring the predicted W1 down to this
    #[arg(long, value_name = "W1", value_parser = distance, allow_negative_numbers = true, help_heading = "Promise")]
    pub wish: Option<f64>,
    /// The form of the answer.
    #[command(flatten)]
    pub json: JsonArg,
}
