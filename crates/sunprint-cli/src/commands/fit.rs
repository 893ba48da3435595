//! `sunprint fit`: a sensitive table becomes a model that may be published.

use std::path::Path;

use sunprint::error::Result;

use crate::args::FitArgs;
use crate::files;
use crate::measure::{hand_over_receipt, measure, prepare};
use crate::words::Talk;

/// Measures, then writes the model and hands over the receipt.
pub fn run(args: &FitArgs, talk: Talk) -> Result<()> {
    let output = Path::new(&args.output.output);
    let prepared = prepare(&args.measure, &args.report, &[("--output", output)])?;
    let existing = prepared.existing;
    let model = measure(prepared, talk)?;
    files::write_whole(output, &model.to_json(), existing)?;
    hand_over_receipt(model.receipt(), &args.report, talk)?;
    if !files::is_stream(output) {
        talk.hint(format!("`sunprint sample {} --output FILE` draws synthetic rows", output.display()));
    }
    Ok(())
}
