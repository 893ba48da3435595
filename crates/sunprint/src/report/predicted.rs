//! How accurate a release should be, from the release alone.
//!
//! *Why it can be known.* A release is a table T that went through noise: a number θ(T) of the table became a number v
//! of rows drawn from the model. How far v is from θ(T) depends on the table, which is private, and on the noise, whose
//! law is public. The model is the best public guess of the table. So the whole is done once more in the open: rows T*
//! are drawn from the model, are fitted again with fresh noise of the same law, and rows are drawn from that. In this
//! world the truth θ(T*) is known, and δ = v* − θ(T*) is an error that can be looked at, as often as one likes. If T* is
//! like T in what makes errors large or small, δ is distributed as v − θ(T) is (the bootstrap, with the mechanism in
//! the place of the draw).
//!
//! *Intervals.* With runs 1 to R, mean error b and standard deviation s, the interval is
//! `v − b ± t s √(1 + 1/R)`, t being the two-sided quantile of Student's distribution with R − 1 degrees of freedom:
//! where a further error, that of the real release, would lie if errors are about normal. With so few runs that holds
//! better than counting off the second smallest and the second largest. A constant bias of the method is subtracted by
//! it (the interval is *pivotal*: around v − b and not around v).
//!
//! *Size.* T* has at most [`MOST_ROWS`] rows, each standing for as many rows as make up n; tallies are sums, so that
//! takes no longer. Noise is added to the tally of n rows, as it was. What T* is not like T in, by that, are rare rows.
//!
//! *What it cannot see.* A structure that the model has lost is not in T*, so its loss is in no δ: fine detail of a
//! distribution, relations between three columns, correlations too weak for the noise. The intervals of means, shares
//! and of what was measured are honest; those of quantiles and deviations are a little narrow where a column is far
//! from smooth.

use super::page::{Origin, Predicted, PredictedColumn, PredictedPair, PredictedPanel, PublicBars};
use super::refit::{Begin, refit};
use super::round::{five, four, within};
use super::{curator, drawn};
use crate::error::{Error, Kind, Result};
use crate::evaluate::{Alone, Moments, alone, coordinate_names};
use crate::math::student;
use crate::model::Model;
use crate::schema::{Column, ColumnKind, Schema};
use crate::source::{Progress, Silent, Table, Unit, in_order};
use std::time::{Duration, Instant};

/// Rows that are drawn and fitted again.
pub(super) const MOST_ROWS: u64 = 5_000;
/// Runs, if there is time for so many, and the fewest that say anything.
const MOST_RUNS: u64 = 30;
const FEWEST_RUNS: u64 = 8;
/// No run begins later than this, once there are enough of them; and none at all later than that.
const PATIENCE: Duration = Duration::from_secs(8);
const END: Duration = Duration::from_secs(120);
/// Fits of more coordinates are not repeated: one of them takes the better part of a minute.
const MOST_COORDINATES: usize = 1_200;
/// The part of the truths that intervals are meant to hold.
const LEVEL: f64 = 0.9;
/// The strongest correlations that are listed.
const MOST_PAIRS: usize = 40;

/// The rows T* with everything that is known of them.
pub(super) struct Open<'a> {
    pub(super) model: &'a Model,
    pub(super) table: &'a Table,
    pub(super) moments: &'a Moments,
    /// How many rows each of them stands for.
    pub(super) times: u64,
}

/// All numbers of one table, in the order of the columns.
struct Numbers {
    figures: Vec<f64>,
    pairs: Vec<f64>,
    /// The mean square difference of all correlations from those of T*.
    square: f64,
}

/// The panel; or, where the runs take too long, why there is none. Whoever does not hurry waits for all of them.
pub(super) fn panel(
    open: &Open,
    begin: Begin,
    hurry: bool,
    progress: &dyn Progress,
) -> Result<std::result::Result<PredictedPanel, String>> {
    const TOO_LONG: &str = "fits of this size take too long to be repeated";
    let schema = open.model.schema();
    if schema.width() > MOST_COORDINATES {
        return Ok(Err(TOO_LONG.to_owned()));
    }
    let columns = alone(open.table, schema)?;
    let pairs = strongest(schema, open.moments);
    let every: Vec<usize> = (0..schema.width()).collect();
    let base = Base { open, pairs: &pairs, correlations: open.moments.correlations(&every), every: &every };
    let runs = base.runs(begin, hurry, progress)?;
    if (runs.len() as u64) < FEWEST_RUNS {
        return Ok(Err(TOO_LONG.to_owned()));
    }
    let figures = columns.iter().flat_map(|column| column.figures.iter().map(|(_, value)| *value)).collect::<Vec<_>>();
    let intervals = intervals(&figures, &runs, |run| &run.figures);
    let mut found = intervals.into_iter();
    let column = |(column, alone): (&Column, Alone)| of_column(column, alone, &mut found);
    let listed = schema.columns.iter().zip(columns).map(column).collect();
    let values: Vec<f64> = pairs.iter().map(|&(i, j)| open.moments.correlation(i, j)).collect();
    let names = coordinate_names(schema);
    let of_pairs = self::intervals(&values, &runs, |run| &run.pairs);
    let pair = |((&(i, j), &value), [low, high]): ((&(usize, usize), &f64), [f64; 2])| PredictedPair {
        columns: [names[i].clone(), names[j].clone()],
        value: four(value),
        low: four(low.clamp(-1.0, 1.0)),
        high: four(high.clamp(-1.0, 1.0)),
    };
    let square = runs.iter().map(|run| run.square).sum::<f64>() / runs.len() as f64;
    Ok(Ok(PredictedPanel {
        origin: Origin::Released,
        runs: runs.len(),
        level: LEVEL,
        columns: listed,
        correlations: (schema.width() > 1).then(|| four(square.sqrt())),
        pairs: pairs.iter().zip(&values).zip(of_pairs).map(pair).collect(),
    }))
}

struct Base<'a> {
    open: &'a Open<'a>,
    pairs: &'a [(usize, usize)],
    correlations: Vec<f64>,
    every: &'a [usize],
}

impl Base<'_> {
    /// As many runs as there is time for.
    fn runs(&self, begin: Begin, hurry: bool, progress: &dyn Progress) -> Result<Vec<Numbers>> {
        let (started, mut next, mut runs) = (Instant::now(), 0..MOST_RUNS, Vec::new());
        progress.start("repeating the fit", Some(MOST_RUNS), Unit::Steps);
        let feed = || {
            let late = next.start >= FEWEST_RUNS && started.elapsed() > PATIENCE || started.elapsed() > END;
            Ok(if late && hurry { None } else { next.next() })
        };
        let done = in_order(
            feed,
            |run| self.run(run, begin),
            |run| {
                progress.advance(1);
                runs.extend(run);
                Ok(())
            },
        );
        progress.done();
        done.map(|()| runs)
    }

    /// Fits T* again, draws as many rows, and takes their numbers; nothing if that would take long.
    fn run(&self, run: u64, begin: Begin) -> Result<Option<Numbers>> {
        let Open { model, table, times, .. } = *self.open;
        let Some(again) = refit(model, table, times, run, begin)? else { return Ok(None) };
        // Another seed than that of T*, or both would share the luck of the draw.
        let drawn = drawn::table(&again, table.rows() as u64, super::public::SEED + 1 + run)?;
        let figures = alone(&drawn, model.schema())?.into_iter().flat_map(|column| column.figures);
        let figures = figures.map(|(_, value)| value).collect();
        let moments = Moments::of(&drawn, model.schema(), &Silent)
            .ok_or_else(|| Error::new(Kind::Model, "a draw has other columns than its model"))?;
        let correlations = moments.correlations(self.every);
        let squares = correlations.iter().zip(&self.correlations).map(|(a, b)| (a - b) * (a - b));
        let square = squares.sum::<f64>() / correlations.len().max(1) as f64;
        let pairs = self.pairs.iter().map(|&(i, j)| moments.correlation(i, j)).collect();
        Ok(Some(Numbers { figures, pairs, square }))
    }
}

/// An interval for each number.
fn intervals(values: &[f64], runs: &[Numbers], of: impl Fn(&Numbers) -> &Vec<f64>) -> Vec<[f64; 2]> {
    let count = runs.len() as f64;
    let quantile = student::two_sided(LEVEL, runs.len() as u32 - 1);
    let one = |(place, &value): (usize, &f64)| {
        let errors: Vec<f64> = runs.iter().map(|run| of(run)[place] - value).collect();
        let bias = errors.iter().sum::<f64>() / count;
        let square = errors.iter().map(|error| (error - bias) * (error - bias)).sum::<f64>() / (count - 1.0);
        let half = quantile * (square * (1.0 + 1.0 / count)).sqrt();
        [value - bias - half, value - bias + half]
    };
    values.iter().enumerate().map(one).collect()
}

/// The strongest correlations between coordinates of different columns.
fn strongest(schema: &Schema, moments: &Moments) -> Vec<(usize, usize)> {
    let column: Vec<usize> = schema.blocks().iter().flat_map(|block| vec![block.column; block.width()]).collect();
    let mut found: Vec<(f64, usize, usize)> = Vec::with_capacity(2 * MOST_PAIRS);
    let keep = |found: &mut Vec<(f64, usize, usize)>| {
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| (a.1, a.2).cmp(&(b.1, b.2))));
        found.truncate(MOST_PAIRS);
    };
    for i in 0..column.len() {
        for j in (0..i).filter(|&j| column[j] != column[i]) {
            found.push((moments.correlation(i, j).abs(), j, i));
            if found.len() == 2 * MOST_PAIRS {
                keep(&mut found);
            }
        }
    }
    keep(&mut found);
    found.into_iter().filter(|pair| pair.0 > 0.0).map(|(_, i, j)| (i, j)).collect()
}

/// One column, with the next of the intervals for each of its figures. Nothing is said to lie where it cannot.
fn of_column(column: &Column, alone: Alone, intervals: &mut impl Iterator<Item = [f64; 2]>) -> PredictedColumn {
    let bounds = match column.kind {
        ColumnKind::Continuous { min, max, .. } => (min, max),
        ColumnKind::Integer { min, max, .. }
        | ColumnKind::Date { min, max, .. }
        | ColumnKind::Datetime { min, max, .. } => (min as f64, max as f64),
        ColumnKind::Boolean { .. } | ColumnKind::Categorical { .. } => (0.0, 1.0),
    };
    let width = bounds.1 - bounds.0;
    let figure = |((name, value), [low, high]): ((String, f64), [f64; 2])| {
        let (least, most) = match name.as_str() {
            _ if column.kind.is_listed() || name == "missing" => (0.0, 1.0),
            // Half the rows at each bound.
            "standard deviation" => (0.0, width / 2.0),
            _ => bounds,
        };
        let short = |x: f64| if most - least == width { within(x, width) } else { five(x) };
        let inside = |x: f64| short(x.clamp(least, most));
        Predicted { value: short(value), low: inside(low), high: inside(high), name }
    };
    PredictedColumn {
        name: column.name.clone(),
        kind: column.kind.word(),
        figures: alone.figures.into_iter().zip(intervals).map(figure).collect(),
        bars: alone.histogram.map(|histogram| PublicBars {
            edges: curator::edges(&histogram),
            scale: histogram.scale,
            synthetic: histogram.shares[0].iter().map(|&share| four(share)).collect(),
        }),
    }
}
