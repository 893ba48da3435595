//! The options of `audit`.

use clap::Args;

use super::JsonArg;
use super::values::at_least_one;

/// What stands below the options.
pub const HELP: &str = "Nothing of yours is read: the tables are made up, as bad for privacy as they can be. A line that \
    exceeds its claim ends the program with exit code 1.\n\n\
    Examples:\n  \
    sunprint audit\n  \
    sunprint audit --quick --only centre\n  \
    sunprint audit --broken";

/// `sunprint audit`
#[derive(Args)]
pub struct AuditArgs {
    /// What to audit.
    #[command(flatten)]
    pub scope: ScopeArgs,
    /// In which form.
    #[command(flatten)]
    pub json: JsonArg,
}

/// What to audit, and how thoroughly.
#[derive(Args)]
#[command(next_help_heading = "Audit")]
pub struct ScopeArgs {
    /// Only lines whose name has this in it, such as `centre`, `moments`, `fit` or `with δ`
    #[arg(long, value_name = "NAME")]
    pub only: Option<String>,
    /// Runs on each table for the lines that get most; the others are in proportion [default: 100000]
    #[arg(long, value_name = "N", value_parser = at_least_one::<u64>, allow_negative_numbers = true)]
    pub runs: Option<u64>,
    /// A short audit: one line of each kind, a tenth of the runs
    #[arg(long)]
    pub quick: bool,
    /// Audit mechanisms that are broken on purpose instead: all of them should be caught
    #[arg(long)]
    pub broken: bool,
    /// The ε of every line, from 0.1 to 10 [default: 1, 3 for the moments, 2 for whole fits]
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub epsilon: Option<String>,
}
