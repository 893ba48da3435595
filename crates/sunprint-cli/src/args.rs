//! The command line: every flag is defined once, here, and shared by the commands that take it.

mod audit;
mod command;
mod evaluate;
#[cfg(test)]
mod examples;
mod ledger;
mod model;
mod output;
mod page;
mod planning;
mod reading;
mod values;

use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Style, Styles};
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

use sunprint::math::transport::Metric;
use sunprint::plan::Mechanism;
use sunprint::source::Format;

pub use audit::{AuditArgs, ScopeArgs};
pub use command::{command, names};
pub use evaluate::{CompareArgs, EvaluateArgs};
pub use ledger::{
    LedgerArg, LedgerArgs, LedgerCommand, LedgerExportArgs, LedgerImportArgs, LedgerLimitArgs, LedgerShowArgs,
    LedgerVerifyArgs,
};
pub use model::{ModelArg, SampleArgs, ShowArgs, StatementForm};
pub use output::{ForceArg, JsonArg, OutputArg, OutputFormatArg, ReceiptArg};
pub use page::PageArgs;
pub use planning::PlanningArgs;
pub use reading::{ExtraArg, HeaderArgs, MemoryArgs};
use values::{at_least_one, formats, mechanisms, metrics, whole_number};

/// Differentially private synthetic data from tables with many columns.
#[derive(Parser)]
#[command(
    name = "sunprint",
    version,
    styles = STYLES,
    after_help = "Sunprint measures a sensitive table once, with noise, and draws as many synthetic rows from the \
        measurement as you like. Whatever anybody does with the result, they learn almost the same about a person \
        whether that person's row was in the table or not; `--epsilon` says how nearly the same.\n\n\
        New here? `sunprint demo` runs the whole job on a simulated clinic.",
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    disable_help_flag = true,
    disable_version_flag = true
)]
pub struct Cli {
    /// What goes to stderr.
    #[command(flatten)]
    pub talk: TalkArgs,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Print version
    #[arg(short = 'V', long, action = ArgAction::Version, help_heading = "General")]
    version: Option<bool>,
}

const STYLES: Styles = Styles::styled()
    .header(Style::new().bold())
    .usage(Style::new().bold())
    .literal(AnsiColor::Cyan.on_default())
    .placeholder(AnsiColor::Cyan.on_default());

/// The commands, in the order in which a newcomer meets them.
#[derive(Subcommand)]
pub enum Command {
    /// Run the whole job on a simulated clinic, and compare
    #[command(after_help = "Examples:\n  \
        sunprint demo\n  \
        sunprint demo --epsilon 0.1 --output-dir strict")]
    Demo(DemoArgs),
    /// Write the skeleton of a schema from a file's header
    #[command(
        after_help = "Only the header is read, so bounds and categories are left as `?` for you to fill in from \
        what everybody may know.\n\n\
        Examples:\n  \
        sunprint schema people.csv --output people.toml\n  \
        sunprint schema bare.csv --no-header --output bare.toml\n  \
        sunprint schema census.parquet --data-is-public --output census.toml"
    )]
    Schema(SchemaArgs),
    /// Count the cells of a file that do not fit its schema (for the curator's eyes)
    #[command(after_help = "Examples:\n  \
        sunprint check people.csv --schema people.toml\n  \
        sunprint check people.parquet --schema people.toml --json")]
    Check(CheckArgs),
    /// Say what a fit can give, before there is a table: error, directions, memory and time
    #[command(
        after_help = "Only the schema is read. The predictions are for three typical tables; yours will differ.\n\n\
        Examples:\n  \
        sunprint plan people.toml --rows 20000 --epsilon 1\n  \
        sunprint plan people.toml --rows 20000 --epsilon 0.5,1,4 --wish 0.2"
    )]
    Plan(PlanningArgs),
    /// Measure a sensitive table with noise and write a model that may be published
    #[command(after_help = "Examples:\n  \
        sunprint fit people.csv --schema people.toml --epsilon 1 -o people.sunprint\n  \
        sunprint fit people.parquet --schema people.toml --epsilon 1 --delta 1e-9 -o people.sunprint\n  \
        sunprint fit - --format csv --schema people.toml --epsilon 0.5 -o people.sunprint < people.csv")]
    Fit(FitArgs),
    /// Draw synthetic rows from a model, at no further cost in privacy
    #[command(after_help = "Examples:\n  \
        sunprint sample people.sunprint -o synthetic.csv\n  \
        sunprint sample people.sunprint --rows 100000 --seed 7 -o synthetic.parquet")]
    Sample(SampleArgs),
    /// Fit and sample in one go
    #[command(after_help = "Every run measures the table again and spends `--epsilon` again; `--model` keeps the \
        measurement, so that more rows can be drawn for nothing.\n\n\
        Examples:\n  \
        sunprint synth people.csv --schema people.toml --epsilon 1 -o synthetic.csv\n  \
        sunprint synth people.csv --schema people.toml --epsilon 1 --model people.sunprint | head")]
    Synth(SynthArgs),
    /// Show a model's receipt, dimension and bounds, or its privacy statement
    #[command(after_help = "Examples:\n  \
        sunprint show people.sunprint\n  \
        sunprint show people.sunprint --json\n  \
        sunprint show people.sunprint --statement html -o privacy.html --receipt receipt.json\n  \
        sunprint show people.sunprint --report page.html")]
    Show(ShowArgs),
    /// Compare a real and a synthetic table (for the curator's eyes)
    #[command(after_help = "The numbers come from the private rows without noise: nothing is spent, and nothing of \
        it may be published, but what `--public` writes.\n\
        The real table is the first of the two, the synthetic one the second.\n\n\
        Examples:\n  \
        sunprint evaluate people.csv synthetic.csv --schema people.toml\n  \
        sunprint evaluate people.csv synthetic.parquet --schema people.toml --rows all --json\n  \
        sunprint evaluate people.csv synthetic.csv --schema people.toml --model people.sunprint --report report.html\n  \
        sunprint evaluate --public --model people.sunprint --report page.html")]
    Evaluate(EvaluateArgs),
    /// Say what each dataset has spent; set ceilings; verify
    #[command(
        after_help = "Every fit writes its charge into the ledger before it opens the table. Nothing in a ledger is \
        private.\n\n\
        Examples:\n  \
        sunprint ledger show\n  \
        sunprint ledger limit people --new --epsilon 3\n  \
        sunprint ledger verify --receipt receipt.json"
    )]
    Ledger(LedgerArgs),
    /// Measure what the shipped mechanisms lose, on made-up tables, beside what they claim
    #[command(after_help = audit::HELP)]
    Audit(AuditArgs),
}

/// What goes to stderr.
#[derive(Args, Clone, Copy, Default)]
#[command(next_help_heading = "General")]
pub struct TalkArgs {
    /// Say nothing on stderr but errors
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Draw no progress bars
    #[arg(long, global = true)]
    pub no_progress: bool,
    /// Print help
    #[arg(short, long, global = true, action = ArgAction::Help)]
    help: Option<bool>,
}

/// The sensitive table.
#[derive(Args)]
#[command(next_help_heading = "Data")]
pub struct DataArgs {
    /// The table: a file, or `-` for stdin
    #[arg(value_name = "DATA", help_heading = None)]
    pub input: String,
    /// Format of DATA: csv, tsv, csv.gz, csv.zst, parquet or arrow [default: by its extension]
    #[arg(long, value_name = "FORMAT", value_parser = formats(), hide_possible_values = true)]
    pub format: Option<Format>,
}

/// The public knowledge about the table.
#[derive(Args)]
#[command(next_help_heading = "Data")]
pub struct SchemaArg {
    /// The schema: what everybody may know about the table, in TOML
    #[arg(long, value_name = "FILE")]
    pub schema: PathBuf,
}

/// The promise. Kept as text: an epsilon of 0.1 means one tenth, not the nearest binary fraction.
#[derive(Args, Clone)]
#[command(next_help_heading = "Promise")]
pub struct BudgetArgs {
    /// How much may be learnt about one row: smaller is more private; 1 is a common choice
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub epsilon: String,
    /// A weaker promise for less noise: probabilities may also differ by this much outright [default: none]
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub delta: Option<String>,
}

/// How to measure.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "Method")]
pub struct PlanArgs {
    /// How to measure: `default`, `paper` (as published, constants repaired), `cube` (no projection) or `gaussian`
    #[arg(long, value_enum, default_value_t = MethodName::Default, hide_possible_values = true)]
    pub method: MethodName,
    /// Directions to measure in detail [default: chosen from the released numbers]
    #[arg(long, value_name = "K", value_parser = at_least_one::<usize>, allow_negative_numbers = true)]
    pub dimension: Option<usize>,
    /// How to measure the shape: `pmm` (a tree of counts), `psmm` (a lattice and the nearest measure) or `auto`
    #[arg(long, default_value = "auto", value_parser = mechanisms(), hide_possible_values = true)]
    pub mechanism: Mechanism,
    /// The distance that psmm moves mass by: l2, linf or l1 [default: l2]
    #[arg(long, value_parser = metrics(), hide_possible_values = true)]
    pub metric: Option<Metric>,
    /// The side of psmm's cells, in units of a column's range [default: by the number of rows]
    #[arg(long, value_name = "SIDE", allow_negative_numbers = true)]
    pub cell: Option<f64>,
    /// Leave out the variation outside of the measured directions
    #[arg(long)]
    pub no_texture: bool,
    /// Directions known from public sources: a CSV or JSON file of K rows, each with one number for each feature
    #[arg(long, value_name = "FILE")]
    pub public_basis: Option<PathBuf>,
}

/// The methods. (Plain comments: doc comments would spread the help over several lines.)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum MethodName {
    #[default]
    // Moments with matrix noise, a chosen dimension, a tree of counts, texture.
    Default,
    // The published algorithm step by step, with only the constants repaired that break its privacy.
    Paper,
    // A tree of counts over the whole cube, without projection.
    Cube,
    // One Gaussian with a noisy mean and covariance.
    Gaussian,
}

/// How many rows, and which.
#[derive(Args, Clone, Copy)]
#[command(next_help_heading = "Draw")]
pub struct DrawArgs {
    /// Synthetic rows to draw [default: as many as were measured]
    #[arg(long, value_name = "N", value_parser = at_least_one::<u64>, allow_negative_numbers = true)]
    pub rows: Option<u64>,
    /// Draw the same rows again: seeds the draw, never the privacy noise [default: a fresh one]
    #[arg(long, value_name = "S", value_parser = whole_number, allow_negative_numbers = true)]
    pub seed: Option<u64>,
}

/// `sunprint demo`
#[derive(Args)]
pub struct DemoArgs {
    /// The promise.
    #[command(flatten)]
    pub budget: BudgetArgs,
    /// The size and seed of the simulation.
    #[command(flatten)]
    pub draw: DrawArgs,
    /// Folder for the files of the demo
    #[arg(long, value_name = "DIR", default_value = "sunprint-demo", help_heading = "Output")]
    pub output_dir: PathBuf,
    /// Over older ones.
    #[command(flatten)]
    pub force: ForceArg,
}

/// `sunprint schema`
#[derive(Args)]
pub struct SchemaArgs {
    /// The table.
    #[command(flatten)]
    pub data: DataArgs,
    /// What it calls its columns.
    #[command(flatten)]
    pub header: HeaderArgs,
    /// Where the skeleton goes.
    #[command(flatten)]
    pub output: OutputArg,
    /// Over another file.
    #[command(flatten)]
    pub force: ForceArg,
    /// Fill in bounds and categories from the rows: only for data that is public already
    #[arg(long, help_heading = "Data")]
    pub data_is_public: bool,
}

/// `sunprint check`
#[derive(Args)]
pub struct CheckArgs {
    /// The table.
    #[command(flatten)]
    pub data: DataArgs,
    /// Its schema.
    #[command(flatten)]
    pub schema: SchemaArg,
    /// What it calls its columns.
    #[command(flatten)]
    pub header: HeaderArgs,
    /// Its other columns.
    #[command(flatten)]
    pub extra: ExtraArg,
    /// The form of the report.
    #[command(flatten)]
    pub json: JsonArg,
}

/// What `fit` and `synth` need in order to measure.
#[derive(Args)]
pub struct MeasureArgs {
    /// The table.
    #[command(flatten)]
    pub data: DataArgs,
    /// Its schema.
    #[command(flatten)]
    pub schema: SchemaArg,
    /// What it calls its columns.
    #[command(flatten)]
    pub header: HeaderArgs,
    /// Its other columns.
    #[command(flatten)]
    pub extra: ExtraArg,
    /// The promise.
    #[command(flatten)]
    pub budget: BudgetArgs,
    /// The method.
    #[command(flatten)]
    pub plan: PlanArgs,
    /// Where the table is kept meanwhile.
    #[command(flatten)]
    pub memory: MemoryArgs,
    /// Where the charge is written down.
    #[command(flatten)]
    pub ledger: LedgerArg,
}

/// What `fit` and `synth` hand over besides their output.
#[derive(Args, Default)]
pub struct ReportArgs {
    /// The receipt's own file.
    #[command(flatten)]
    pub receipt: ReceiptArg,
    /// The receipt on stdout.
    #[command(flatten)]
    pub json: JsonArg,
    /// Over other files.
    #[command(flatten)]
    pub force: ForceArg,
}

/// `sunprint fit`
#[derive(Args)]
pub struct FitArgs {
    /// What to measure, and how.
    #[command(flatten)]
    pub measure: MeasureArgs,
    /// Where the model goes.
    #[command(flatten)]
    pub output: OutputArg,
    /// The receipt.
    #[command(flatten)]
    pub report: ReportArgs,
}

/// `sunprint synth`
#[derive(Args)]
pub struct SynthArgs {
    /// What to measure, and how.
    #[command(flatten)]
    pub measure: MeasureArgs,
    /// How much to draw.
    #[command(flatten)]
    pub draw: DrawArgs,
    /// Where the rows go.
    #[command(flatten)]
    pub output: OutputArg,
    /// In which form.
    #[command(flatten)]
    pub output_format: OutputFormatArg,
    /// Keep the model too, to draw more rows from it later
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub model: Option<PathBuf>,
    /// The receipt.
    #[command(flatten)]
    pub report: ReportArgs,
}
