//! `sunprint evaluate`: a real and a synthetic table side by side, for the curator's eyes.

mod text;

use std::path::Path;

use sunprint::error::{Error, Kind, Result};
use sunprint::evaluate::{Settings, evaluate};
use sunprint::schema::Schema;
use sunprint::source::{Input, Table};

use crate::args::EvaluateArgs;
use crate::files;
use crate::files::to_json;
use crate::measure::input;
use crate::progress::Bars;
use crate::words::{Talk, counted, thousands};

/// More rows than this a side are worth a word of warning.
const MANY: usize = 20_000;

/// Reads both tables, compares them, and prints what was found.
pub fn run(args: &EvaluateArgs, talk: Talk) -> Result<()> {
    let output = Path::new(&args.output.output);
    let [real, synthetic] = inputs(args)?;
    let schema = Schema::load(&args.schema.schema)?;
    let read = [args.real.input.as_ref(), args.synthetic.as_ref(), args.schema.schema.as_path()];
    files::check_output("--output", output, &read)?;

    let compare = &args.compare;
    let settings =
        Settings { metric: compare.metric, rows: compare.rows.0, draws: compare.draws as usize, seed: compare.seed };
    let bars = Bars::new(talk);
    let tables = [Table::open(&real, &schema, &bars)?, Table::open(&synthetic, &schema, &bars)?];
    let places = [real.place(), synthetic.place()];
    for (table, place) in tables.iter().zip(&places) {
        announce(table.rows(), place, settings.rows, talk);
    }
    let found = evaluate(&tables[0], &tables[1], &schema, &settings, &bars)?;
    let report = if args.json.json { to_json(&found)? } else { text::report(&found, &places, args.columns.0) };
    files::write_private(output, &report)?;
    // The text says it in its first line.
    if args.json.json || !files::is_stream(output) {
        talk.warn("these numbers come from the private rows without noise: do not publish them");
    }
    Ok(())
}

/// The two tables. Stdin can be one of them.
fn inputs(args: &EvaluateArgs) -> Result<[Input; 2]> {
    if args.real.input == files::STREAM && args.synthetic == files::STREAM {
        return Err(Error::new(Kind::Usage, "`REAL` and `SYNTH` are both `-`, and stdin holds one table")
            .hint("give one of them as a file"));
    }
    let (real, synthetic) = (input(&args.real), Input::new(&args.synthetic, args.synthetic_format));
    real.format()?;
    synthetic.format().map_err(|error| error.hint(files::format_hint("--synthetic-format")))?;
    Ok([real, synthetic])
}

/// Says what `--rows` comes to for a table, where that is not what it says or takes long.
fn announce(rows: usize, place: &str, wanted: Option<usize>, talk: Talk) {
    let used = rows.min(wanted.unwrap_or(rows));
    if let Some(wanted) = wanted.filter(|wanted| *wanted > rows) {
        let has = counted(rows as u64, "row");
        talk.say(format_args!("{place} has {has}, fewer than `--rows {wanted}`: all of it is used"));
    }
    if used > MANY {
        let used = thousands(used as u64);
        talk.warn(format_args!("an exact distance of {used} rows of {place} takes long; `--rows 1000` is quick"));
    }
}
