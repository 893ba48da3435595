//! Where results go, and in which form.

use std::path::PathBuf;

use clap::Args;
use sunprint::source::{Existing, Format};

use super::values::formats;

/// Where the result goes.
#[derive(Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArg {
    /// The file to write, or `-` for stdout
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: String,
}

/// The form of the synthetic table.
#[derive(Args, Clone, Copy, Default)]
#[command(next_help_heading = "Output")]
pub struct OutputFormatArg {
    /// Format of the output: csv, tsv, csv.gz, csv.zst, parquet or arrow [default: by its extension; csv for stdout]
    #[arg(long, value_name = "FORMAT", value_parser = formats(), hide_possible_values = true)]
    pub output_format: Option<Format>,
}

/// A machine-readable result.
#[derive(Args, Clone, Copy, Default)]
#[command(next_help_heading = "Output")]
pub struct JsonArg {
    /// Print the report as JSON on stdout
    #[arg(long)]
    pub json: bool,
}

/// The receipt as a file of its own.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "Output")]
pub struct ReceiptArg {
    /// Write the receipt here too: plain text, or JSON if the name ends in .json
    #[arg(long, value_name = "FILE")]
    pub receipt: Option<PathBuf>,
}

/// What becomes of files that are there already.
#[derive(Args, Clone, Copy, Default)]
#[command(next_help_heading = "Output")]
pub struct ForceArg {
    /// Replace files that are there already; without it they are kept, and the command is refused
    #[arg(long)]
    pub force: bool,
}

impl ForceArg {
    /// The same for the library.
    pub fn existing(self) -> Existing {
        Existing::replaced_if(self.force)
    }
}
