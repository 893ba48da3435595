//! `sunprint sample`: synthetic rows from a model, as often as you like.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::path::Path;

use sunprint::error::Result;

use crate::args::{DrawArgs, ModelArg, OutputFormatArg, SampleArgs};
use crate::files;
use crate::progress::Bars;
use crate::words::{Talk, counted};
use sunprint::model::Model;
use sunprint::run::write_rows;
use sunprint::source::{Existing, Format, Output, Progress, TableWriter, Unit};

/// Loads the model and draws.
pub fn run(args: &SampleArgs, talk: Talk) -> Result<()> {
    let existing = args.force.existing();
    files::check_output("--output", Path::new(&args.output.output), &[&args.model.model], existing)?;
    let target = Target::new(&args.output.output, args.output_format, existing)?;
    draw_to(&load(&args.model)?, args.draw, &target, talk)
}

/// Where synthetic rows go, and in which form.
pub struct Target {
    output: Output,
    format: Format,
}

impl Target {
    /// The format is settled before anything is measured or drawn.
    pub fn new(output: &str, form: OutputFormatArg, existing: Existing) -> Result<Target> {
        let output = Output::new(output, form.output_format).over(existing);
        let streamed = output.path().is_none();
        let format = match output.format() {
            Ok(format) => format,
            Err(_) if streamed => Format::Csv,
            // The library's hint speaks of the input's option.
            Err(error) => return Err(error.hint(files::format_hint("--output-format"))),
        };
        Ok(Target { output, format })
    }
}

/// Reads a model file.
pub fn load(args: &ModelArg) -> Result<Model> {
    Model::from_json(&files::read(&args.model)?, &args.model.display().to_string())
}

/// Draws rows from a model into a table.
pub fn draw_to(model: &Model, draw: DrawArgs, target: &Target, talk: Talk) -> Result<()> {
    let rows = draw.rows.unwrap_or_else(|| model.rows());
    let seed = draw.seed.unwrap_or_else(fresh_seed);
    let mut table = TableWriter::create(&target.output, target.format, model.schema(), &model.layout())?;
    let bars = Bars::new(talk);
    bars.start("drawing", Some(rows), Unit::Rows);
    write_rows(&model.draw(rows, seed), &mut table, &bars)?;
    table.finish()?;
    bars.done();
    let place = target.output.path().map_or_else(|| "stdout".to_owned(), |path| path.display().to_string());
    talk.say(format_args!("drew {} to {place} (`--seed {seed}` draws the same again)", counted(rows, "synthetic row")));
    Ok(())
}

/// A seed nobody chose. It only picks which rows are drawn from what is public already, so it need not be secret; it
/// is kept to 32 bits so that it can be typed again.
fn fresh_seed() -> u64 {
    RandomState::new().hash_one(std::process::id()) >> 32
}
