//! `sunprint evaluate`: a real and a synthetic table side by side, for the curator's eyes.

mod text;

use std::path::Path;

use sunprint::error::{Error, Kind, Result};
use sunprint::evaluate::{Settings, compare};
use sunprint::model::Model;
use sunprint::report::{self, Tables};
use sunprint::schema::Schema;
use sunprint::source::{Input, Table};

use crate::args::{CompareArgs, EvaluateArgs};
use crate::files;
use crate::files::to_json;
use crate::measure::input;
use crate::pages;
use crate::pictures;
use crate::progress::Bars;
use crate::verdict;
use crate::words::{Talk, counted, thousands};

/// More rows than this a side are worth a word of warning.
const MANY: usize = 20_000;

/// Reads both tables, compares them, and prints what was found; or, from a model alone, what may be published.
pub fn run(args: &EvaluateArgs, talk: Talk) -> Result<()> {
    if args.public {
        return publish(args, talk);
    }
    let output = Path::new(&args.output.output);
    let [real, synthetic] = inputs(args)?;
    let schema = Schema::load(&args.schema.schema)?;
    check_outputs(args, output)?;
    let model = args.model.as_deref().map(load).transpose()?;
    check_model(args, model.as_ref(), &schema)?;

    let CompareArgs { metric, rows, draws, seed } = args.compare;
    let settings = Settings { metric, rows: rows.0, draws: draws as usize, seed };
    let bars = Bars::new(talk);
    let open = |input: &Input| Table::open_checked(input, &schema, &bars);
    let tables = [open(&real)?, open(&synthetic)?];
    let places = [real.place(), synthetic.place()];
    for (table, place) in tables.iter().zip(&places) {
        announce(table.rows(), place, settings.rows, talk);
    }
    let found = if args.page.wanted() {
        let [real, synthetic] = tables.each_ref();
        let pair = Tables { real, synthetic, schema: &schema, model: model.as_ref() };
        let (found, page) = report::compare(&pair, &settings, &bars)?;
        pages::write(&page, &args.page, args.force.existing(), talk)?;
        found
    } else {
        let mut found = compare(&tables[0], &tables[1], &schema, &settings, &bars)?;
        if let Some(model) = &model {
            found.evaluation.notices.extend(report::provenance(model, &tables[0], &tables[1], &bars)?);
        }
        found
    };
    let report = match (args.json.json, files::is_stream(output)) {
        (true, _) => to_json(&found.evaluation)?,
        (false, false) => text::report(&found.evaluation, &places, args.columns.0),
        (false, true) => text::report(&found.evaluation, &places, args.columns.0) + &pictures::if_looked_at(&found),
    };
    files::write_private(output, &report, args.force.existing())?;
    // A text on the screen begins with them.
    if args.json.json || !files::is_stream(output) {
        found.evaluation.notices.iter().for_each(|notice| talk.warn(verdict::spoken(notice)));
    }
    // The text says it in its first line.
    if args.json.json || !files::is_stream(output) {
        talk.warn("these numbers come from the private rows without noise: do not publish them");
    }
    Ok(())
}

/// The page that may be published. Only the model is opened, whatever else was named.
fn publish(args: &EvaluateArgs, talk: Talk) -> Result<()> {
    let model = args.model.as_deref().unwrap_or_else(|| Path::new(""));
    let (wanted, existing) = (args.page.outputs(), args.force.existing());
    files::check_apart(&wanted)?;
    wanted.iter().try_for_each(|(option, path)| files::check_output(option, path, &[model], existing))?;
    pages::write(&report::public(&load(model)?)?, &args.page, existing, talk)
}

/// Tries every output: all in different places, none of them an input's.
fn check_outputs(args: &EvaluateArgs, output: &Path) -> Result<()> {
    let mut read = vec![Path::new(&args.real.input), Path::new(&args.synthetic), args.schema.schema.as_path()];
    read.extend(args.model.as_deref());
    read.extend(args.header.header.as_deref());
    let mut wanted = vec![("--output", output)];
    wanted.extend(args.page.outputs());
    files::check_apart(&wanted)?;
    let existing = args.force.existing();
    wanted.iter().try_for_each(|(option, path)| files::check_output(option, path, &read, existing))
}

/// A model of other columns says nothing about these tables.
fn check_model(args: &EvaluateArgs, model: Option<&Model>, schema: &Schema) -> Result<()> {
    if model.is_none_or(|model| model.schema().columns == schema.columns) {
        return Ok(());
    }
    let place = args.model.as_deref().map(|path| path.display().to_string()).unwrap_or_default();
    Err(Error::new(Kind::Usage, "the model was fitted with other columns than the schema has")
        .at(place)
        .hint("give the model that the synthetic table was drawn from, or leave `--model` out"))
}

fn load(path: &Path) -> Result<Model> {
    Model::from_json(&files::read(path)?, &path.display().to_string())
}

/// The two tables. Stdin can be one of them.
fn inputs(args: &EvaluateArgs) -> Result<[Input; 2]> {
    if args.real.input == files::STREAM && args.synthetic == files::STREAM {
        return Err(Error::new(Kind::Usage, "`REAL` and `SYNTH` are both `-`, and stdin holds one table")
            .hint("give one of them as a file"));
    }
    let (real, synthetic) = (input(&args.real, &args.header)?, Input::new(&args.synthetic, args.synthetic_format));
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
