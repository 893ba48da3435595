//! `sunprint demo`: the whole job on a simulated clinic, with the same steps that a curator would take.

mod clinic;
mod columns;
mod compare;
mod patient;
mod report;

use std::path::Path;

use sunprint::error::{Error, Kind, Result};

use crate::args::{
    BudgetArgs, DataArgs, DemoArgs, DrawArgs, ExtraArg, HeaderArgs, LedgerArg, MeasureArgs, MemoryArgs,
    OutputFormatArg, PlanArgs, ReportArgs, SchemaArg,
};
use crate::commands::{Target, draw_to};
use crate::files;
use crate::ledgers::NONE;
use crate::measure::{hand_over_receipt, measure, prepare};
use crate::pictures;
use crate::progress::Bars;
use crate::verdict;
use crate::words::{Talk, thousands};
use sunprint::evaluate::Settings;
use sunprint::report::{Tables, html};
use sunprint::schema::Schema;
use sunprint::source::{Input, Table};

use clinic::Clinic;
use compare::Comparison;

/// Simulates, writes down, synthesises, compares.
pub fn run(args: &DemoArgs, talk: Talk) -> Result<()> {
    let folder = &args.output_dir;
    let [table, schema, model_file, synthetic] =
        ["clinic.csv", "clinic.toml", "clinic.sunprint", "clinic-synthetic.csv"].map(|name| folder.join(name));
    let rows = args.draw.rows.unwrap_or(20_000);
    let seed = args.draw.seed.unwrap_or(1);
    let existing = args.force.existing();
    // A wrong epsilon is refused before anything is written, and so is a folder that holds another demo.
    crate::measure::budget(&args.budget)?;
    make_folder(folder)?;
    let page = folder.join(report::PAGE);
    for file in [&table, &schema, &model_file, &synthetic, &page] {
        files::check_output("--output-dir", file, &[], existing)?;
    }

    let clinic = Clinic::simulate(rows as usize, seed);
    files::write_whole(&table, &clinic.to_csv(), existing)?;
    files::write_whole(&schema, &clinic::schema_toml(), existing)?;
    talk.say(format_args!(
        "simulated {} patients of a clinic: {}\nwhat everybody may know about them: {}\n",
        thousands(rows),
        table.display(),
        schema.display()
    ));

    talk.say(format_args!(
        "$ sunprint fit {} --schema {} --epsilon {} --output {}",
        table.display(),
        schema.display(),
        args.budget.epsilon,
        model_file.display()
    ));
    let options = fit_of(&table, &schema, &args.budget);
    let report = ReportArgs { force: args.force, ..ReportArgs::default() };
    let prepared = prepare(&options, &report, &[("--output-dir", &model_file)])?;
    let model = measure(prepared, talk)?;
    files::write_whole(&model_file, &model.to_json(), existing)?;
    hand_over_receipt(model.receipt(), &report, talk)?;

    let target = synthetic.to_string_lossy();
    talk.say(format_args!(
        "\n$ sunprint sample {} --rows {rows} --seed {seed} --output {target}",
        model_file.display()
    ));
    let draw = DrawArgs { rows: Some(rows), seed: Some(seed) };
    draw_to(&model, draw, &Target::new(&target, OutputFormatArg::default(), existing)?, talk)?;
    talk.gap();

    let known = Schema::load(&schema)?;
    let open = |file: &Path| Table::open_checked(&Input::new(file, None), &known, &Bars::new(talk));
    let [real, drawn] = [open(&table)?, open(&synthetic)?];
    let comparison = Comparison::between(&real, &drawn, &known, seed)?;
    let tables = Tables { real: &real, synthetic: &drawn, schema: &known, model: Some(&model) };
    let settings = Settings { rows: Some(compare::SUBSAMPLE), draws: 1, seed, ..Settings::default() };
    let (compared, shown) = sunprint::report::compare(&tables, &settings, &Bars::new(talk))?;
    files::write_private(&page, &html(&shown)?, existing)?;
    let pictures = pictures::if_looked_at(&compared);
    files::print(&report::text(
        &comparison,
        &verdict::table(&compared.evaluation),
        &pictures,
        &args.budget.epsilon,
        folder,
    ))
}

/// What to measure, and how: as a curator would say it who says no more than has to be said.
fn fit_of(table: &Path, schema: &Path, budget: &BudgetArgs) -> MeasureArgs {
    MeasureArgs {
        data: DataArgs { input: table.to_string_lossy().into_owned(), format: None },
        schema: SchemaArg { schema: schema.to_path_buf() },
        header: HeaderArgs::default(),
        extra: ExtraArg::default(),
        budget: budget.clone(),
        plan: PlanArgs::default(),
        memory: MemoryArgs::default(),
        // Nobody's budget is spent on a simulation.
        ledger: LedgerArg { ledger: Some(NONE.into()) },
    }
}

fn make_folder(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|_| {
        Error::new(Kind::Io, format!("the folder `{}` cannot be made", folder.display()))
            .hint("choose another `--output-dir`")
    })
}
