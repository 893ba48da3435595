//! How the table is read.

use std::path::PathBuf;

use clap::Args;

use super::values::{MemorySize, memory_size};

/// What to do with columns that the schema does not describe.
#[derive(Args, Clone, Copy, Default)]
#[command(next_help_heading = "Data")]
pub struct ExtraArg {
    /// Leave out columns that are not in the schema, instead of refusing the table
    #[arg(long)]
    pub ignore_extra: bool,
}

/// What a text table calls its columns.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "Data")]
pub struct HeaderArgs {
    /// DATA has no line with names: its columns are those of the schema, in the same order
    #[arg(long)]
    pub no_header: bool,
    /// DATA has no line with names, and they stand in this file: on one line as in a header, or one on each line
    #[arg(long, value_name = "FILE", conflicts_with = "no_header")]
    pub header: Option<PathBuf>,
}

/// Where the table is kept while it is measured.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "Memory")]
pub struct MemoryArgs {
    /// Memory for the rows, such as 256MB or 2GiB; larger tables are measured from disk [default: half of what there
    /// is]
    #[arg(long, value_name = "SIZE", value_parser = memory_size, allow_hyphen_values = true)]
    pub memory: Option<MemorySize>,
    /// Folder for a private file of rows that do not fit in memory [default: $TMPDIR, or /var/tmp]
    #[arg(long, value_name = "DIR")]
    pub spill_dir: Option<PathBuf>,
}
