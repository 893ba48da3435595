//! `sunprint synth`: fit and sample in one go.

use std::path::Path;

use sunprint::error::Result;

use crate::args::SynthArgs;
use crate::commands::{Target, draw_to};
use crate::files;
use crate::measure::{hand_over_receipt, measure, prepare};
use crate::words::Talk;

/// Measures, keeps the model if asked, and draws.
///
/// The model is written first: it is what the budget was spent on, and rows can be drawn from it again if the drawing
/// is interrupted.
pub fn run(args: &SynthArgs, talk: Talk) -> Result<()> {
    let mut outputs = vec![("--output", Path::new(&args.output.output))];
    outputs.extend(args.model.as_deref().map(|path| ("--model", path)));
    let prepared = prepare(&args.measure, &args.report, &outputs)?;
    let existing = prepared.existing;
    let target = Target::new(&args.output.output, args.output_format, existing)?;
    let model = measure(prepared, talk)?;
    if let Some(path) = &args.model {
        files::write_whole(path, &model.to_json(), existing)?;
    }
    hand_over_receipt(model.receipt(), &args.report, talk)?;
    draw_to(&model, args.draw, &target, talk)
}
