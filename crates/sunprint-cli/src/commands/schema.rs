//! `sunprint schema`: a skeleton for the curator to fill in.

use std::path::Path;

use sunprint::error::Result;

use crate::args::SchemaArgs;
use crate::files;
use crate::measure::input;
use crate::progress::Bars;
use crate::words::Talk;
use sunprint::source::{skeleton, skeleton_from_public_data};

/// Writes the skeleton. Without `--data-is-public` nothing below the header is looked at.
pub fn run(args: &SchemaArgs, talk: Talk) -> Result<()> {
    let output = Path::new(&args.output.output);
    let mut inputs = vec![Path::new(&args.data.input)];
    inputs.extend(args.header.header.as_deref());
    files::check_output("--output", output, &inputs, args.force.existing())?;
    if args.data_is_public {
        talk.warn("bounds and categories are taken from the rows, which is private only if the rows are public");
    }
    let input = input(&args.data, &args.header)?;
    let text =
        if args.data_is_public { skeleton_from_public_data(&input, &Bars::new(talk))? } else { skeleton(&input)? };
    files::write_whole(output, &text, args.force.existing())?;
    if !args.data_is_public {
        talk.hint("replace every `?` by what everybody may know, not by what the rows say");
    }
    Ok(())
}
