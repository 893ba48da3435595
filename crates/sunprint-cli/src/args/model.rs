//! The options of the commands that read a model.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{DrawArgs, ForceArg, JsonArg, OutputArg, OutputFormatArg, PageArgs, ReceiptArg};

/// `sunprint sample`
#[derive(Args)]
pub struct SampleArgs {
    /// The model to draw from
    #[command(flatten)]
    pub model: ModelArg,
    /// How much to draw.
    #[command(flatten)]
    pub draw: DrawArgs,
    /// Where the rows go.
    #[command(flatten)]
    pub output: OutputArg,
    /// In which form.
    #[command(flatten)]
    pub output_format: OutputFormatArg,
    /// Over another file.
    #[command(flatten)]
    pub force: ForceArg,
}

/// `sunprint show`
#[derive(Args)]
pub struct ShowArgs {
    /// The model.
    #[command(flatten)]
    pub model: ModelArg,
    /// The form of the answer.
    #[command(flatten)]
    pub json: JsonArg,
    /// Print the privacy statement instead, the page that goes out with a release: `text` or `html`
    #[arg(long, value_name = "FORM", value_enum, hide_possible_values = true, conflicts_with = "json")]
    #[arg(help_heading = "Output")]
    pub statement: Option<StatementForm>,
    /// Where it goes.
    #[command(flatten)]
    pub output: OutputArg,
    /// The receipt's own file.
    #[command(flatten)]
    pub receipt: ReceiptArg,
    /// The page that may be published.
    #[command(flatten)]
    pub page: PageArgs,
    /// Over other files.
    #[command(flatten)]
    pub force: ForceArg,
}

/// The forms of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StatementForm {
    // For a terminal.
    Text,
    // One file for a browser.
    Html,
}

/// A model that was written by `fit`.
#[derive(Args)]
pub struct ModelArg {
    /// The model, as `fit` wrote it
    #[arg(value_name = "MODEL", help_heading = None)]
    pub model: PathBuf,
}
