//! The options of the ledger.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{ForceArg, JsonArg};

/// Where the ledger is.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "Ledger")]
pub struct LedgerArg {
    /// The file that keeps what each dataset has spent, or `none` [default: $SUNPRINT_LEDGER, or ledger.sqlite in the
    /// user's data directory]
    #[arg(long, value_name = "FILE")]
    pub ledger: Option<PathBuf>,
}

/// `sunprint ledger`
#[derive(Args)]
#[command(subcommand_required = true, arg_required_else_help = true, disable_help_subcommand = true)]
pub struct LedgerArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: LedgerCommand,
}

/// What can be done with a ledger.
#[derive(Subcommand)]
pub enum LedgerCommand {
    /// Show what each dataset has spent, and its ceiling
    Show(LedgerShowArgs),
    /// Set the ceiling of a dataset, or take it away
    Limit(LedgerLimitArgs),
    /// Check that no event was edited, removed, moved or put in
    Verify(LedgerVerifyArgs),
    /// Write the whole ledger as JSON
    Export(LedgerExportArgs),
    /// Fill an empty ledger from an exported one
    Import(LedgerImportArgs),
}

/// `sunprint ledger show`
#[derive(Args)]
pub struct LedgerShowArgs {
    /// One dataset, by the name in its schema [default: all]
    #[arg(value_name = "DATASET", help_heading = None)]
    pub dataset: Option<String>,
    /// The ledger.
    #[command(flatten)]
    pub ledger: LedgerArg,
    /// As JSON.
    #[command(flatten)]
    pub json: JsonArg,
    /// Print one line of CSV for each entry
    #[arg(long, help_heading = "Output", conflicts_with = "json")]
    pub csv: bool,
}

/// `sunprint ledger limit`
#[derive(Args)]
pub struct LedgerLimitArgs {
    /// The dataset, by the name in its schema
    #[arg(value_name = "DATASET", help_heading = None)]
    pub dataset: String,
    /// The most that the epsilons of all fits may add up to
    #[arg(long, value_name = "E", allow_hyphen_values = true, help_heading = "Ceiling")]
    pub epsilon: Option<String>,
    /// The most that their deltas may add up to [default: 0, no fit with a delta]
    #[arg(long, value_name = "D", allow_hyphen_values = true, requires = "epsilon", help_heading = "Ceiling")]
    pub delta: Option<String>,
    /// Take a name that the ledger has not seen yet: the ceiling is there before the first fit
    #[arg(long, help_heading = "Ceiling")]
    pub new: bool,
    /// Take the ceiling away
    #[arg(long, conflicts_with_all = ["epsilon", "delta"], help_heading = "Ceiling")]
    pub none: bool,
    /// The ledger.
    #[command(flatten)]
    pub ledger: LedgerArg,
}

/// `sunprint ledger verify`
#[derive(Args)]
pub struct LedgerVerifyArgs {
    /// A receipt in JSON, or a model: its entry must be in the ledger
    #[arg(long, value_name = "FILE", help_heading = "Ledger")]
    pub receipt: Option<PathBuf>,
    /// The ledger.
    #[command(flatten)]
    pub ledger: LedgerArg,
}

/// `sunprint ledger export`
#[derive(Args)]
pub struct LedgerExportArgs {
    /// The file to write, in JSON; `-` for stdout
    #[arg(value_name = "FILE", help_heading = None)]
    pub file: PathBuf,
    /// The ledger.
    #[command(flatten)]
    pub ledger: LedgerArg,
    /// Over another file.
    #[command(flatten)]
    pub force: ForceArg,
}

/// `sunprint ledger import`
#[derive(Args)]
pub struct LedgerImportArgs {
    /// The exported ledger, in JSON; `-` for stdin
    #[arg(value_name = "FILE", help_heading = None)]
    pub file: PathBuf,
    /// The ledger.
    #[command(flatten)]
    pub ledger: LedgerArg,
}
