//! The experiments: accuracy on generated tables, the slope of the error against n, the shares of the budget.
//!
//! Each takes the synthesiser as a function, so that anything that turns codes into rows can be measured.

use crate::generate::{Generated, Recipe, generated};
use crate::matching::near_w1;
use crate::measure::{Estimate, ceiling_w1, correlation_error, floor_w1, mean_line_w1, slope, subsample_w1};
use crate::rows::Rows;
use crate::synthesise::unit_schema;
use serde::Serialize;
use std::time::Instant;
use sunprint::error::Result;
use sunprint::math::stream::Stream;
use sunprint::schema::Schema;
use sunprint::tally::codes::Codes;

/// How to synthesise. Whatever a run of the tool may be given.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// ε, as a decimal.
    pub epsilon: String,
    /// δ, as a decimal, for concentrated accounting.
    pub delta: Option<String>,
    /// `default`, `paper` or `cube`.
    pub method: String,
    /// `auto`, `pmm` or `psmm`.
    pub mechanism: String,
    /// PSMM's rows in a cell times ε, if not the default.
    pub rows_per_cell: Option<f64>,
    /// d′ if it is given rather than chosen.
    pub dimension: Option<usize>,
    /// Whether the complement is drawn back as texture.
    pub texture: bool,
    /// Directions given as public knowledge.
    #[serde(skip)]
    pub basis: Option<Vec<Vec<f64>>>,
    /// The weights of the budget's shares, if not the default.
    pub shares: Option<Vec<u64>>,
    /// For the draw. The privacy noise has no seed.
    pub seed: u64,
}

/// Makes as many synthetic rows as there are real ones.
pub type Synthesise<'a> = &'a dyn Fn(&Codes, &Schema, &Settings) -> Result<Rows>;

/// A table with a name.
pub struct Named {
    /// What it is called in reports.
    pub name: String,
    /// Where its rows come from.
    pub origin: Origin,
}

/// Where a table's rows come from.
pub enum Origin {
    /// Generated anew in each run; the seed is replaced by the run's number.
    Recipe(Recipe),
    /// A real table, the same in each run.
    Real(Codes, Schema),
}

/// The tables that the accuracy bars speak of. Spreads are set so that two halves of the real rows are apart by 0.09
/// (`gen50`) and 0.18 (`gen100`), and `gen20` by 0.05.
pub fn tables() -> Vec<Named> {
    let named = |name: &str, rows, width, dimension, spread| Named {
        name: String::from(name),
        origin: Origin::Recipe(Recipe::new(rows, width, dimension, 0).with_spread(spread)),
    };
    vec![named("gen20", 2_000, 20, 2, 0.4), named("gen50", 10_000, 50, 3, 0.357), named("gen100", 50_000, 100, 3, 0.76)]
}

/// What was found on one table.
#[derive(Clone, Debug, Serialize)]
pub struct Accuracy {
    /// The table.
    pub table: String,
    /// W1 between subsamples of real and synthetic rows.
    pub w1: Estimate,
    /// W1 between two subsamples of the real rows.
    pub floor: Estimate,
    /// W1 between the real rows and uniform noise.
    pub ceiling: Estimate,
    /// Mean one-dimensional W1 over columns.
    pub line: Estimate,
    /// Mean absolute error of the correlations.
    pub correlation: Estimate,
    /// Seconds of a synthesis.
    pub seconds: Estimate,
}

/// Runs the synthesiser on a table, fresh in each run if it is generated, and measures every result.
pub fn accuracy(
    table: &Named,
    settings: &Settings,
    runs: usize,
    size: usize,
    synthesise: Synthesise,
) -> Result<Accuracy> {
    let mut found: [Vec<f64>; 6] = Default::default();
    for run in 0..runs as u64 {
        let seed = settings.seed + run;
        let made;
        let (codes, schema) = match &table.origin {
            Origin::Real(codes, schema) => (codes, schema),
            Origin::Recipe(recipe) => {
                let Generated { codes, .. } = generated(&Recipe { seed, ..recipe.clone() });
                let schema = unit_schema(codes.width());
                made = (codes, schema);
                (&made.0, &made.1)
            }
        };
        let start = Instant::now();
        let synthetic = synthesise(codes, schema, &Settings { seed, ..settings.clone() })?;
        let seconds = start.elapsed().as_secs_f64();
        let real = Rows::from_codes(codes);
        let size = size.min(real.count() / 2);
        let mut stream = Stream::new(seed, 10, 0);
        let values = [
            subsample_w1(&real, &synthetic, size, &mut stream),
            floor_w1(&real, size, &mut stream),
            ceiling_w1(&real, size, &mut stream),
            mean_line_w1(&real, &synthetic),
            correlation_error(&real, &synthetic),
            seconds,
        ];
        found.iter_mut().zip(values).for_each(|(list, value)| list.push(value));
    }
    let [w1, floor, ceiling, line, correlation, seconds] = found.map(|values| Estimate::of(&values));
    Ok(Accuracy { table: table.name.clone(), w1, floor, ceiling, line, correlation, seconds })
}

/// One point of the curve of error against n.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    /// n
    pub rows: usize,
    /// W1 between all real and all synthetic rows in the coordinates of the true subspace (a bound from above, see
    /// [`crate::matching`]).
    pub w1: Estimate,
    /// The same between the real rows and as many fresh ones, in the first run: what sampling alone makes of it.
    pub floor: f64,
}

/// The curve, and the slope of log W1 against log n.
#[derive(Clone, Debug, Serialize)]
pub struct Slope {
    /// d′
    pub dimension: usize,
    /// One for each n.
    pub points: Vec<Point>,
    /// By least squares over all points.
    pub slope: f64,
    /// Its standard error.
    pub standard_error: f64,
}

/// Rounds of improvement for the plans behind a slope.
const ROUNDS: usize = 4;

/// Measures the error against n in the `dimension` coordinates of the true subspace, at each of the given n; with
/// `known_basis` the subspace is given as public knowledge, so that the measure is seen alone.
pub fn slope_of_error(
    (width, dimension): (usize, usize),
    counts: &[usize],
    settings: &Settings,
    known_basis: bool,
    runs: usize,
    synthesise: Synthesise,
) -> Result<Slope> {
    let mut points = Vec::new();
    for &rows in counts {
        let (mut distances, mut floor) = (Vec::new(), 0.0);
        for run in 0..runs as u64 {
            let seed = settings.seed + run;
            let table = |rows| generated(&Recipe::new(rows, width, dimension, seed));
            let Generated { codes, basis } = table(rows);
            let real = Rows::from_codes(&codes).coordinates(&basis);
            let settings = Settings { seed, basis: known_basis.then(|| basis.clone()), ..settings.clone() };
            let synthetic = synthesise(&codes, &unit_schema(width), &settings)?.coordinates(&basis);
            distances.push(near_w1(&real, &synthetic, ROUNDS, seed));
            if run == 0 {
                let twice = Rows::from_codes(&table(2 * rows).codes).coordinates(&basis);
                let fresh: Vec<usize> = (rows..2 * rows).collect();
                floor = near_w1(&real, &twice.pick(&fresh), ROUNDS, seed);
            }
        }
        points.push(Point { rows, w1: Estimate::of(&distances), floor });
    }
    let logs: Vec<(f64, f64)> = points.iter().map(|p| ((p.rows as f64).ln(), p.w1.mean.ln())).collect();
    let (slope, standard_error) = slope(&logs);
    Ok(Slope { dimension, points, slope, standard_error })
}

/// One choice of shares on one table.
#[derive(Clone, Debug, Serialize)]
pub struct Share {
    /// The weights.
    pub shares: Vec<u64>,
    /// What they gave.
    pub accuracy: Accuracy,
}

/// Measures every choice of shares on a table.
pub fn shares(
    table: &Named,
    choices: &[Vec<u64>],
    settings: &Settings,
    (runs, size): (usize, usize),
    synthesise: Synthesise,
) -> Result<Vec<Share>> {
    let one = |shares: &Vec<u64>| {
        let settings = Settings { shares: Some(shares.clone()), ..settings.clone() };
        Ok(Share { shares: shares.clone(), accuracy: accuracy(table, &settings, runs, size, synthesise)? })
    };
    choices.iter().map(one).collect()
}
