//! The options of the commands that read a model.

use std::path::PathBuf;

use clap::Args;

use super::{DrawArgs, JsonArg, OutputArg, OutputFormatArg};

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
}

/// A model that was written by `fit`.
#[derive(Args)]
pub struct ModelArg {
    /// The model, as `fit` wrote it
    #[arg(value_name = "MODEL", help_heading = None)]
    pub model: PathBuf,
}
