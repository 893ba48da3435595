//! Prints the figures that the documentation quotes. Tables on stdout, talk on stderr.

use clap::{Args, Parser, Subcommand};
use std::process::ExitCode;
use sunprint::error::{Error, Kind, Result};
use sunprint_audit::experiment::{Accuracy, Named, Settings, accuracy, shares, slope_of_error, tables};
use sunprint_audit::measure::Estimate;
use sunprint_audit::mechanisms::{self, Duel};
use sunprint_audit::solve;
use sunprint_audit::speed::{self, Speed};
use sunprint_audit::synthesise::{real_tables, synthesise};

#[derive(Parser)]
#[command(name = "sunprint-measure", about = "Prints the figures that the documentation quotes")]
struct Command {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Subcommand)]
enum Experiment {
    /// W1, one-dimensional W1 and correlations on the generated tables
    Accuracy(Options),
    /// The slope of log W1 against log n, in the coordinates of the true subspace
    Slope {
        #[command(flatten)]
        options: Options,
        /// The number of columns
        #[arg(long, default_value_t = 20)]
        width: usize,
        /// The dimensions of the subspace
        #[arg(long, value_delimiter = ',', default_values_t = [2, 3])]
        subspace: Vec<usize>,
        /// Give the true subspace as public knowledge, so that the measure is seen alone
        #[arg(long)]
        known_basis: bool,
        /// The numbers of rows
        #[arg(long, value_delimiter = ',', default_values_t = [1_000, 3_162, 10_000, 31_623, 100_000, 316_228, 1_000_000])]
        rows: Vec<usize>,
    },
    /// Time and memory of a fit from Parquet, beside reading the file alone
    Speed {
        /// The number of rows
        #[arg(long, default_value_t = 1_000_000)]
        rows: usize,
        /// The number of columns
        #[arg(long, default_value_t = 50)]
        width: usize,
        /// How often the fit is repeated
        #[arg(long, default_value_t = 5)]
        runs: usize,
    },
    /// The seconds of the moments pass over codes in memory, as JSON
    Gram {
        /// The number of rows
        #[arg(long, default_value_t = 1_000_000)]
        rows: usize,
        /// The number of columns
        #[arg(long, default_value_t = 100)]
        width: usize,
        /// The number of threads
        #[arg(long, default_value_t = 2)]
        threads: usize,
        /// How often it is repeated after the warm-up
        #[arg(long, default_value_t = 5)]
        runs: usize,
    },
    /// One fit in a process of its own, for `speed`
    #[command(hide = true)]
    FitOnce { path: std::path::PathBuf, width: usize, epsilon: String },
    /// Problems of transport and flow from stdin, one in a line, and their answers: for other programs to compare with
    #[command(hide = true)]
    Solve,
    /// PMM against PSMM over dimensions, rows and epsilons, on generated tables and on those of a folder
    Mechanisms {
        #[command(flatten)]
        options: Options,
        /// The dimensions
        #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 3, 4, 5, 6])]
        dimensions: Vec<usize>,
        /// The numbers of rows of the generated tables
        #[arg(long, value_delimiter = ',', default_values_t = [1_000, 10_000, 100_000, 1_000_000])]
        rows: Vec<usize>,
        /// The epsilons
        #[arg(long, value_delimiter = ',', default_values_t = ["0.1", "1", "10"].map(String::from))]
        epsilons: Vec<String>,
    },
    /// The accuracy for different shares of the budget
    Shares {
        #[command(flatten)]
        options: Options,
        /// A choice of weights, such as 1,4,5; may be given several times
        #[arg(long = "choice", required = true, value_parser = weights)]
        choices: Vec<Weights>,
    },
}

/// The weights of one choice.
type Weights = std::sync::Arc<[u64]>;

fn weights(text: &str) -> std::result::Result<Weights, std::num::ParseIntError> {
    text.split(',').map(|part| part.trim().parse()).collect()
}

#[derive(Args)]
struct Options {
    /// The privacy budget
    #[arg(long, default_value = "1")]
    epsilon: String,
    /// Concentrated accounting with this delta
    #[arg(long)]
    delta: Option<String>,
    /// default, paper or cube
    #[arg(long, default_value = "default")]
    method: String,
    /// auto, pmm or psmm
    #[arg(long, default_value = "auto")]
    mechanism: String,
    /// PSMM's rows in a cell times ε, if not the default
    #[arg(long)]
    rows_per_cell: Option<f64>,
    /// The dimension of the subspace, if it is not to be chosen
    #[arg(long)]
    dimension: Option<usize>,
    /// Leave the complement flat
    #[arg(long)]
    no_texture: bool,
    /// A folder of real tables to measure as well: one subfolder each, with a schema.toml and a data file
    #[arg(long)]
    data: Option<std::path::PathBuf>,
    /// Only these tables
    #[arg(long = "table")]
    tables: Vec<String>,
    /// How often each measurement is repeated
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Rows of each subsample
    #[arg(long, default_value_t = 1_000)]
    size: usize,
    /// The first table's seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Options {
    fn settings(&self) -> Settings {
        Settings {
            epsilon: self.epsilon.clone(),
            delta: self.delta.clone(),
            method: self.method.clone(),
            mechanism: self.mechanism.clone(),
            rows_per_cell: self.rows_per_cell,
            dimension: self.dimension,
            texture: !self.no_texture,
            basis: None,
            shares: None,
            seed: self.seed,
        }
    }

    fn tables(&self) -> Result<Vec<Named>> {
        let wanted = |table: &Named| self.tables.is_empty() || self.tables.contains(&table.name);
        let real = self.data.as_deref().map_or(Ok(Vec::new()), real_tables)?;
        Ok(tables().into_iter().chain(real).filter(wanted).collect())
    }
}

fn main() -> ExitCode {
    match run(&Command::parse().experiment) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            if let Some(hint) = error.advice() {
                eprintln!("hint: {hint}");
            }
            ExitCode::FAILURE
        }
    }
}

fn run(experiment: &Experiment) -> Result<()> {
    match experiment {
        Experiment::Accuracy(options) => {
            heading(options, "table");
            for table in options.tables()? {
                let found = accuracy(&table, &options.settings(), options.runs, options.size, &synthesise)?;
                print(options, &found, |found| accuracy_line(&found.table, found));
            }
        }
        Experiment::Slope { options, width, subspace, known_basis, rows } => {
            for &dimension in subspace {
                let settings = options.settings();
                let shape = (*width, dimension);
                let found = slope_of_error(shape, rows, &settings, *known_basis, options.runs, &synthesise)?;
                print(options, &found, |found| {
                    let point = |p: &sunprint_audit::experiment::Point| {
                        format!("{:>10}  {}  floor {:.5}\n", p.rows, figure(&p.w1), p.floor)
                    };
                    let points: String = found.points.iter().map(point).collect();
                    format!("d' = {dimension}\n{points}slope {:.3} +- {:.3}", found.slope, found.standard_error)
                });
            }
        }
        Experiment::Mechanisms { options, dimensions, rows, epsilons } => {
            compare_mechanisms(options, dimensions, rows, epsilons)?;
        }
        Experiment::Speed { rows, width, runs } => measure_speed(*rows, *width, *runs)?,
        Experiment::Gram { rows, width, threads, runs } => {
            let found = speed::moments(*rows, *width, *threads, *runs);
            println!("{}", serde_json::to_string(&found).expect("figures are plain numbers"));
        }
        Experiment::FitOnce { path, width, epsilon } => {
            let found = speed::fit_once(path, *width, epsilon)?;
            println!("{}", serde_json::to_string(&found).expect("figures are plain numbers"));
        }
        Experiment::Solve => solve::answer_all(std::io::stdin().lock(), std::io::stdout().lock())?,
        Experiment::Shares { options, choices } => {
            let choices: Vec<Vec<u64>> = choices.iter().map(|weights| weights.to_vec()).collect();
            for table in options.tables()? {
                heading(options, &format!("{} shares", table.name));
                let repeat = (options.runs, options.size);
                for found in shares(&table, &choices, &options.settings(), repeat, &synthesise)? {
                    print(options, &found, |found| accuracy_line(&format!("{:?}", found.shares), &found.accuracy));
                }
            }
        }
    }
    Ok(())
}

/// Both mechanisms everywhere, one line each, as a table in Markdown.
fn compare_mechanisms(options: &Options, dimensions: &[usize], rows: &[usize], epsilons: &[String]) -> Result<()> {
    if !options.json {
        println!("| table | d′ | rows | ε | PMM | PSMM | PSMM/PMM |\n|---|---|---|---|---|---|---|");
    }
    let words = |duel: &Duel| {
        let (pmm, psmm) = (duel.pmm.mean, duel.psmm.mean);
        let Duel { table, dimension, rows, epsilon, .. } = duel;
        format!("| {table} | {dimension} | {rows} | {epsilon} | {pmm:.4} | {psmm:.4} | {:.2} |", duel.ratio())
    };
    let real = options.data.as_deref().map_or(Ok(Vec::new()), real_tables)?;
    let wanted = |name: &str| options.tables.is_empty() || options.tables.iter().any(|table| table == name);
    for &dimension in dimensions {
        for epsilon in epsilons {
            let settings = Settings { epsilon: epsilon.clone(), ..options.settings() };
            for &rows in rows.iter().filter(|_| wanted("mixture")) {
                print(options, &mechanisms::on_mixture(rows, dimension, &settings, options.runs)?, words);
            }
            for table in real.iter().filter(|table| wanted(&table.name)) {
                if let Some(duel) = mechanisms::on_table(table, dimension, &settings, options.runs)? {
                    print(options, &duel, words);
                }
            }
        }
    }
    Ok(())
}

/// Medians over some runs of a fit at ε = 1, and the bounds that they must keep.
fn measure_speed(rows: usize, width: usize, runs: usize) -> Result<()> {
    let folder = std::env::temp_dir().join(format!("sunprint-speed-{}", std::process::id()));
    let unwritable = |_| Error::new(Kind::Io, "a folder for the measured file cannot be made");
    std::fs::create_dir_all(&folder).map_err(unwritable)?;
    let file = folder.join("table.parquet");
    let found = speed::write_table(&file, rows, width)
        .and_then(|()| (0..runs.max(1)).map(|_| speed::fit_apart(&file, width, "1")).collect::<Result<Vec<_>>>());
    // Nothing is left behind, whether it went well or not.
    let _ = std::fs::remove_dir_all(&folder);
    let found = found?;
    let median = |value: fn(&Speed) -> f64| {
        let mut values: Vec<f64> = found.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let (read, fit) = (median(|s| s.read), median(|s| s.fit));
    let allowed = 2.5 * (rows * width) as f64 / 1e6 + 300.0;
    println!("{rows} x {width} float64, Parquet, epsilon 1, median of {runs} runs");
    println!("reading the file   {read:>8.2} s");
    println!("reading and fit    {:>8.2} s   {:.2} times reading alone", read + fit, (read + fit) / read);
    println!("peak memory        {:>8.0} MB  of {allowed:.0} MB allowed", median(|s| s.peak));
    // The phases of the run in the middle.
    let mut by_time: Vec<&Speed> = found.iter().collect();
    by_time.sort_by(|a, b| (a.read + a.fit).total_cmp(&(b.read + b.fit)));
    for (what, seconds) in &by_time[by_time.len() / 2].phases {
        println!("  {what:<28}{seconds:>8.3} s");
    }
    Ok(())
}

fn print<T: serde::Serialize>(options: &Options, found: &T, words: impl Fn(&T) -> String) {
    if options.json {
        println!("{}", serde_json::to_string(found).expect("figures are plain numbers"));
    } else {
        println!("{}", words(found));
    }
}

fn heading(options: &Options, first: &str) {
    if !options.json {
        let rest = ["W1", "floor", "ceiling", "1-D", "corr", "seconds"].map(|name| format!("{name:>16}")).concat();
        println!("{first:<16}{rest}");
    }
}

fn figure(estimate: &Estimate) -> String {
    format!("{:>8.5} ±{:.5}", estimate.mean, estimate.standard_error)
}

fn accuracy_line(name: &str, found: &Accuracy) -> String {
    let figures = [&found.w1, &found.floor, &found.ceiling, &found.line, &found.correlation, &found.seconds];
    format!("{name:<16}{}", figures.map(|e| format!("{:>16}", figure(e))).concat())
}
