//! `sunprint sample`: synthetic rows from a model, as often as you like.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::path::Path;

use sunprint::error::Result;

use crate::args::{DrawArgs, OutputFormatArg, SampleArgs};
use crate::files;
use crate::measure::format;
use crate::pending::{Model, Output, Progress, TableWriter};
use crate::progress::Bars;
use crate::words::{Talk, thousands};

/// Loads the model and draws.
pub fn run(args: &SampleArgs, talk: Talk) -> Result<()> {
    files::check_output("--output", Path::new(&args.output.output), &[&args.model.model])?;
    let model = Model::load(&args.model.model)?;
    draw_to(&model, args.draw, &args.output.output, args.output_format, talk)
}

/// Draws rows from a model into a table.
pub fn draw_to(model: &Model, draw: DrawArgs, output: &str, form: OutputFormatArg, talk: Talk) -> Result<()> {
    let rows = draw.rows.unwrap_or_else(|| model.rows());
    let seed = draw.seed.unwrap_or_else(fresh_seed);
    let output_file = Output::new(output, form.output_format.map(format))?;
    let mut table = TableWriter::create(&output_file, model.schema(), model.layout())?;
    let bars = Bars::new(talk);
    bars.start("drawing", Some(rows));
    for drawn in model.draw(rows, seed) {
        table.write(&drawn)?;
        bars.advance(drawn.strata.len() as u64);
    }
    table.finish()?;
    bars.done();
    let place = if output == files::STREAM { "stdout" } else { output };
    talk.say(format_args!("drew {} synthetic rows to {place} (`--seed {seed}` draws them again)", thousands(rows)));
    Ok(())
}

/// A seed nobody chose. It only picks which rows are drawn from what is public already, so it need not be secret; it
/// is kept to 32 bits so that it can be typed again.
fn fresh_seed() -> u64 {
    RandomState::new().hash_one(std::process::id()) >> 32
}
