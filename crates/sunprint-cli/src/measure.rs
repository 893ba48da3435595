//! What `fit`, `synth` and `demo` have in common: from options to a model, in the one order that keeps the promise.
//!
//! The options and the schema are checked, the outputs are tried, and the table's header, footer and first lines are
//! judged. Only then is the charge reserved and the promise written down, and only then are rows read. Nothing that the
//! rows say can change what was promised, and from the first row on nothing takes the charge out again.

use std::path::{Path, PathBuf};

use sunprint::error::{Error, Kind, Result};

use crate::args::{BudgetArgs, DataArgs, HeaderArgs, MeasureArgs, MemoryArgs, MethodName, PlanArgs, ReportArgs};
use crate::basis;
use crate::files;
use crate::ledgers;
use crate::progress::Bars;
use crate::words::Talk;
use sunprint::ledger::{Ledger, Request, Reservation};
use sunprint::math::transport::Metric;
use sunprint::model::Model;
use sunprint::plan::{self, Mechanism, Method, Plan};
use sunprint::privacy::{Budget, Delta, Epsilon};
use sunprint::receipt::Receipt;
use sunprint::run::fit_store_recorded;
use sunprint::schema::Schema;
use sunprint::source::{Existing, Header, Input, Kept, Progress, Room, Store};

/// Everything that is public about a fit, checked.
pub struct Prepared {
    /// What becomes of files in the places of the outputs that appear after this: budget will have been spent.
    pub existing: Existing,
    schema: Schema,
    plan: Plan,
    budget: Budget,
    input: Input,
    room: Room,
    ledger: Option<PathBuf>,
}

/// Checks options, schema and outputs. `outputs` are the options that name files to write, and those files.
pub fn prepare(args: &MeasureArgs, report: &ReportArgs, outputs: &[(&str, &Path)]) -> Result<Prepared> {
    let budget = budget(&args.budget)?;
    let plan = chosen_plan(&args.plan)?;
    let input = input(&args.data, &args.header)?.ignoring_extra(args.extra.ignore_extra);
    let room = room(&args.memory);
    let ledger = ledgers::for_a_fit(&args.ledger)?;
    let schema = Schema::load(&args.schema.schema)?;
    schema.check_named().map_err(|error| error.at(args.schema.schema.display().to_string()))?;
    check_outputs(args, report, outputs, ledger.as_deref())?;
    room.check()?;
    sunprint::fit::check(&plan, &schema)?;
    let existing = report.force.existing().once_spent();
    Ok(Prepared { existing, schema, plan, budget, input, room, ledger })
}

/// Judges the table by its header, reserves the charge, writes down the promise, reads the table and measures it.
pub fn measure(prepared: Prepared, talk: Talk) -> Result<Model> {
    let bars = Bars::new(talk);
    let mut reservation = None;
    let measured = read_and_measure(prepared, &mut reservation, &bars, talk);
    bars.done();
    if let (Err(_), Some(reservation)) = (&measured, &reservation) {
        let number = reservation.entry().number;
        talk.warn(format_args!("the rows were read, so the charge stays in the ledger, as entry {number}"));
    }
    measured
}

fn read_and_measure(
    prepared: Prepared,
    reservation: &mut Option<Reservation>,
    bars: &Bars,
    talk: Talk,
) -> Result<Model> {
    let Prepared { schema, plan, budget, input, room, ledger, .. } = prepared;
    // Called when the header was judged and no row was read.
    let charge = || {
        *reservation = ledger.as_deref().map(|path| reserve(path, &schema, &plan, &budget)).transpose()?;
        let mut receipt = Receipt::promise(&schema, &plan, &budget);
        receipt.ledger = reservation.as_ref().map(|reservation| reservation.entry().clone());
        talk.say(receipt.promised().trim_end());
        talk.gap();
        Ok(())
    };
    let store = Store::open_charged(&input, &schema, &room, bars, charge)?;
    // One sentence for both ways: which of them is taken depends on the clock, and so, a little, on the rows.
    if store.kept() != Kept::Memory {
        talk.say("the rows do not fit in `--memory`: they are measured from disk");
    }
    fit_store_recorded(store, &schema, plan, budget, bars, reservation.as_mut())
}

/// The charge in its ledger, marked as one whose rows are read from here on.
fn reserve(path: &Path, schema: &Schema, plan: &Plan, budget: &Budget) -> Result<Reservation> {
    let request = Request::new(schema, plan.method.name(), budget);
    let mut reservation = Reservation::make(Ledger::open(path)?, &request)?;
    reservation.opened()?;
    Ok(reservation)
}

/// Hands over the receipt: in its own file and on stdout as JSON, as asked, and what is new in it on stderr, where the
/// promise stands already.
pub fn hand_over_receipt(receipt: &Receipt, report: &ReportArgs, talk: Talk) -> Result<()> {
    if let Some(path) = &report.receipt.receipt {
        files::write_receipt(path, receipt, report.force.existing().once_spent())?;
    }
    talk.say(format_args!("Measured\n{}", receipt.measured().trim_end()));
    receipt.remarks.iter().for_each(|remark| talk.warn(remark));
    if report.json.json { files::print(&files::to_json(receipt)?) } else { Ok(()) }
}

/// The promise that was asked for.
pub fn budget(args: &BudgetArgs) -> Result<Budget> {
    let epsilon: Epsilon = args.epsilon.parse()?;
    let delta = args.delta.as_deref().map(str::parse::<Delta>).transpose()?;
    plan::budget(epsilon, delta)
}

/// The method that was asked for.
fn chosen_plan(args: &PlanArgs) -> Result<Plan> {
    let method = match args.method {
        MethodName::Default => Method::Default,
        MethodName::Paper => Method::Paper,
        MethodName::Cube => Method::Cube,
        MethodName::Gaussian => Method::Gaussian,
    };
    if args.metric.is_some() && args.mechanism != Mechanism::Psmm {
        return Err(Error::new(Kind::Usage, "`--metric` works with `--mechanism psmm` only")
            .hint("give `--mechanism psmm` too, or leave `--metric` out"));
    }
    let (mechanism, metric) = (args.mechanism, args.metric.unwrap_or(Metric::Euclidean));
    let public_basis = args.public_basis.as_deref().map(basis::read).transpose()?;
    let (dimension, texture, cell) = (args.dimension, !args.no_texture, args.cell);
    Ok(Plan { method, dimension, texture, mechanism, metric, cell, public_basis, ..Plan::default() })
}

/// The table that was named, and what it calls its columns.
pub fn input(args: &DataArgs, header: &HeaderArgs) -> Result<Input> {
    let input = Input::new(&args.input, args.format);
    let header = match &header.header {
        Some(path) => Header::read(path, input.format()?)?,
        None if header.no_header => Header::Absent,
        None => Header::FirstLine,
    };
    let input = input.with_header(header);
    input.format()?;
    Ok(input)
}

/// The memory that was allowed.
fn room(args: &MemoryArgs) -> Room {
    let room = args.memory.and_then(|size| size.0).map_or_else(Room::default, Room::of);
    Room { spill_dir: args.spill_dir.clone(), ..room }
}

/// Tries every output, and refuses two that want the same place.
fn check_outputs(
    args: &MeasureArgs,
    report: &ReportArgs,
    outputs: &[(&str, &Path)],
    ledger: Option<&Path>,
) -> Result<()> {
    let mut wanted: Vec<(&str, &Path)> = outputs.to_vec();
    wanted.extend(report.receipt.receipt.as_deref().map(|path| ("--receipt", path)));
    if report.json.json {
        wanted.push(("--json", Path::new(files::STREAM)));
    }
    files::check_apart(&wanted)?;
    let mut inputs = vec![args.schema.schema.as_path()];
    inputs.extend(args.plan.public_basis.as_deref());
    inputs.extend(args.header.header.as_deref());
    inputs.push(Path::new(&args.data.input));
    for (option, path) in wanted {
        ledger.map_or(Ok(()), |ledger| ledgers::keep_apart(path, ledger))?;
        files::check_output(option, path, &inputs, report.force.existing())?;
    }
    Ok(())
}
