//! The options of `evaluate`.

use std::path::PathBuf;

use clap::Args;
use sunprint::evaluate::Metric;
use sunprint::source::Format;

use super::values::{AtMost, at_least_one, formats, metrics, some_or_all, whole_number};
use super::{DataArgs, ForceArg, HeaderArgs, JsonArg, OutputArg, PageArgs, SchemaArg};

/// `sunprint evaluate`
#[derive(Args)]
pub struct EvaluateArgs {
    /// The real table.
    #[command(flatten)]
    pub real: DataArgs,
    /// The synthetic table, after the real one: a file, or `-` for stdin
    #[arg(index = 2, value_name = "SYNTH", help_heading = None, required_unless_present = "public")]
    #[arg(default_value = "-", hide_default_value = true)]
    pub synthetic: String,
    /// Format of SYNTH, in the same words [default: by its extension]
    #[arg(long, value_name = "FORMAT", value_parser = formats(), hide_possible_values = true, help_heading = "Data")]
    pub synthetic_format: Option<Format>,
    /// What the real table calls its columns.
    #[command(flatten)]
    pub header: HeaderArgs,
    /// The schema of both.
    #[command(flatten)]
    pub schema: SchemaArg,
    /// The model that SYNTH was drawn from: whether it was is checked, and the page shows what was promised
    #[arg(long, value_name = "MODEL", help_heading = "Data")]
    pub model: Option<PathBuf>,
    /// How rows are compared.
    #[command(flatten)]
    pub compare: CompareArgs,
    /// Where the report goes.
    #[command(flatten)]
    pub output: OutputArg,
    /// In which form.
    #[command(flatten)]
    pub json: JsonArg,
    /// The page.
    #[command(flatten)]
    pub page: PageArgs,
    /// Over other files.
    #[command(flatten)]
    pub force: ForceArg,
    /// Write the page that may be published, from `--model` alone: no table is opened
    #[arg(long, requires_all = ["model", "report"], help_heading = "Output")]
    pub public: bool,
    /// How many columns, pairs and categories to list, the worst first; or `all`
    #[arg(long, value_name = "N", default_value = "10", value_parser = some_or_all, allow_negative_numbers = true,
        help_heading = "Output")]
    pub columns: AtMost,
}

/// How rows are compared.
#[derive(Args)]
#[command(next_help_heading = "Distance")]
pub struct CompareArgs {
    /// How far apart two rows are: `l2` (Euclidean), `linf` (largest coordinate) or `l1` (sum of coordinates)
    #[arg(long, default_value = "l2", value_parser = metrics(), hide_possible_values = true)]
    pub metric: Metric,
    /// Rows to draw from each table, or `all`, which takes every row once and can take long
    #[arg(long, value_name = "N", default_value = "1000", value_parser = some_or_all, allow_negative_numbers = true)]
    pub rows: AtMost,
    /// How often to draw them: the confidence interval comes from several draws
    #[arg(long, value_name = "K", default_value = "5", value_parser = at_least_one::<u32>, allow_negative_numbers = true)]
    pub draws: u32,
    /// Which rows are drawn: the same seed gives the same numbers
    #[arg(long, value_name = "S", default_value = "1", value_parser = whole_number, allow_negative_numbers = true)]
    pub seed: u64,
}
