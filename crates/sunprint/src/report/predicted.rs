//! How accurate a release should be, from the released numbers and their noise.
//!
//! *Why it can be known.* Every mechanism adds noise of a known law to an exact number, and the model keeps what came out
//! with the deviation of its noise ([`Evidence`]). The truth is what came out less that noise, so the interval
//! `v ± z σ`, z being the two-sided quantile of the normal distribution, holds the truth as often as the noise stays within
//! z deviations. Nothing that the model makes of these numbers enters, so no mistake of the model can make an interval false.
//!
//! *Means and deviations* come from column sums and from counts of values, weighed by their noise; both are of whole rows.
//! (The moments are of rows that were clipped to a ball, so they are less noisy but biased; they stand in where nothing else
//! was measured.) *Quantiles* are read off the counts: where the counted part of the rows below a place may be what it
//! should be. *Shares* are counts. *Correlations* come from the moments: of clipped rows, with the noise of a covariance and of
//! two variances. What clipping has done to them is taken to be what it does to rows drawn from the model, give or take as much.
//!
//! *What it cannot see.* How rows lie within a counted cell is taken to be even. Where values were not counted there are no
//! quantiles; where nothing of a column was released by itself (`--method cube`), there is nothing to say of it.

use super::curator;
use super::page::{Origin, Predicted, PredictedColumn, PredictedPair, PredictedPanel, PublicBars};
use super::round::{five, four, within};
use crate::error::Result;
use crate::evaluate::{Alone, Moments, QUANTILES, alone, coordinate_names, own};
use crate::model::{Cell, Evidence, Model, MomentEvidence, Noisy};
use crate::schema::{Block, Column, ColumnKind, Form, HOT, Scale, Schema};
use crate::source::Table;
use crate::tally::codes::Q;

/// Rows that are drawn to say what the release says.
pub(super) const MOST_ROWS: u64 = 5_000;
/// The part of the truths that intervals are meant to hold, and the deviations of noise that do.
const LEVEL: f64 = 0.9;
const DEVIATIONS: f64 = 1.645;
/// The strongest correlations that are listed.
const MOST_PAIRS: usize = 40;
/// The part of what clipping seems to have done to a correlation that is doubted.
const CLIPPING_DOUBT: f64 = 1.0;
/// Points of a cell at which a curved scale is looked at.
const POINTS: u32 = 8;

/// The panel; or why there is none.
pub(super) fn panel(
    model: &Model,
    table: &Table,
    moments: &Moments,
) -> Result<std::result::Result<PredictedPanel, String>> {
    let (schema, evidence) = (model.schema(), model.evidence());
    if evidence.is_empty() {
        return Ok(Err("this release has no number of a single column by itself".to_owned()));
    }
    let blocks = schema.blocks();
    let listed = schema.columns.iter().zip(alone(table, schema)?).enumerate().map(|(number, (column, alone))| {
        let block = blocks.iter().position(|block| block.column == number);
        let found = match block {
            Some(at) => figures(&Released { evidence, schema, column, at, block: &blocks[at] }),
            None => shares_of_label(evidence, schema, number),
        };
        of_column(column, alone, &found)
    });
    let pairs = strongest(schema, moments);
    let names = coordinate_names(schema);
    let clipped = evidence.moments.as_ref().filter(|_| !pairs.is_empty()).map(|of| Clipped::of(table, of));
    let pair = |&(i, j): &(usize, usize)| {
        let found = evidence.correlation(i, j)?;
        // What clipping does to the rows that are drawn it has done to the real ones, or about that.
        let moved = clipped.as_ref().map_or(0.0, |clipped| clipped.correlation(i, j) - moments.correlation(i, j));
        let noise = (found.noise.powi(2) + (CLIPPING_DOUBT * moved).powi(2)).sqrt();
        let (low, high) = around(Noisy { value: found.value - moved, noise });
        Some(PredictedPair {
            columns: [names[i].clone(), names[j].clone()],
            value: four(moments.correlation(i, j)),
            low: four(low.clamp(-1.0, 1.0)),
            high: four(high.clamp(-1.0, 1.0)),
        })
    };
    Ok(Ok(PredictedPanel {
        origin: Origin::Released,
        level: LEVEL,
        columns: listed.collect(),
        correlations: typical_error(schema, evidence).map(four),
        pairs: pairs.iter().filter_map(pair).collect(),
    }))
}

/// Sums of drawn rows that were clipped as the real ones were.
struct Clipped {
    rows: f64,
    sums: Vec<f64>,
    products: Vec<f64>,
}

impl Clipped {
    fn of(table: &Table, evidence: &MomentEvidence) -> Clipped {
        let d = evidence.centre.len();
        let mut clipped = Clipped { rows: 0.0, sums: vec![0.0; d], products: vec![0.0; d * d] };
        let mut away = vec![0.0; d];
        for codes in table.chunks() {
            for row in 0..codes.rows() {
                let unit = |code: u16| f64::from(code) / f64::from(Q);
                away.iter_mut()
                    .zip(codes.row(row))
                    .zip(&evidence.centre)
                    .for_each(|((x, &code), c)| *x = unit(code) - c);
                let length = away.iter().map(|x| x * x).sum::<f64>().sqrt();
                let by = if length > evidence.radius { evidence.radius / length } else { 1.0 };
                away.iter_mut().for_each(|x| *x *= by);
                clipped.rows += 1.0;
                for (i, x) in away.iter().enumerate() {
                    clipped.sums[i] += x;
                    clipped.products[i * d..=i * d + i].iter_mut().zip(&away).for_each(|(sum, y)| *sum += x * y);
                }
            }
        }
        clipped
    }

    fn covariance(&self, i: usize, j: usize) -> f64 {
        let (i, j, n) = (i.max(j), i.min(j), self.rows.max(1.0));
        self.products[i * self.sums.len() + j] / n - self.sums[i] / n * self.sums[j] / n
    }

    fn correlation(&self, i: usize, j: usize) -> f64 {
        let both = self.covariance(i, i).max(0.0) * self.covariance(j, j).max(0.0);
        if both > 1e-18 { self.covariance(i, j) / both.sqrt() } else { 0.0 }
    }
}

/// The interval around a number.
fn around(found: Noisy) -> (f64, f64) {
    (found.value - DEVIATIONS * found.noise, found.value + DEVIATIONS * found.noise)
}

/// The root mean square of the noise in correlations between different columns. None is off by more than 1.
fn typical_error(schema: &Schema, evidence: &Evidence) -> Option<f64> {
    let column: Vec<usize> = schema.blocks().iter().flat_map(|block| vec![block.column; block.width()]).collect();
    let (mut sum, mut count) = (0.0, 0_u64);
    for i in 0..column.len() {
        for j in (0..i).filter(|&j| column[j] != column[i]) {
            sum += evidence.correlation(i, j)?.noise.min(1.0).powi(2);
            count += 1;
        }
    }
    (count > 0).then(|| (sum / count as f64).sqrt())
}

/// A figure by its name, and its interval.
type Named = (String, (f64, f64));

/// A column that is not a label, the number and the shape of its block, and what was released.
#[derive(Clone, Copy)]
struct Released<'a> {
    evidence: &'a Evidence,
    schema: &'a Schema,
    column: &'a Column,
    at: usize,
    block: &'a Block,
}

/// Names and intervals of the figures of a column that is not a label.
fn figures(of: &Released) -> Vec<Named> {
    let Released { evidence, schema, column, at, block } = *of;
    let mut found = Vec::new();
    if column.kind.is_listed() {
        let names = column.categories().into_iter().map(str::to_owned);
        let shares = listed_shares(of);
        found.extend(names.zip(shares.unwrap_or_default().into_iter().map(around)));
    } else if block.form == Form::Line {
        found = numbers(of);
    }
    if block.absence {
        let counted = evidence.cells(at, schema).map(|cells| cells.absent);
        // The coordinate that says whether a value is missing is a category of its own.
        let unit = f64::from(HOT) / f64::from(Q);
        let summed = || evidence.mean(block.start + block.len);
        let missing = counted.or_else(|| summed().map(|x| Noisy { value: x.value / unit, noise: x.noise / unit }));
        found.extend(missing.map(|missing| ("missing".to_owned(), around(missing))));
    }
    found
}

/// Shares of categories, in their order.
fn listed_shares(of: &Released) -> Option<Vec<Noisy>> {
    let Released { evidence, schema, column, at, block } = *of;
    if block.form == Form::OneHot {
        return evidence.categories(at, schema);
    }
    if let Some(cells) = evidence.cells(at, schema) {
        return Some(cells.cells.iter().map(|cell| Noisy { value: cell.part, noise: cells.noise }).collect());
    }
    // Two values at the two bounds: the mean is the share of the second.
    let two = column.kind.values() == Some(2) && !block.absence;
    let second = evidence.mean(block.start).filter(|_| two)?;
    Some(vec![Noisy { value: 1.0 - second.value, noise: second.noise }, second])
}

/// Mean, standard deviation and quantiles of a column of numbers, in its own unit.
fn numbers(of: &Released) -> Vec<Named> {
    let Released { evidence, schema, column, at, block } = *of;
    let own = own(column);
    let width = own(1.0) - own(0.0);
    let straight = column.kind.scale() != Scale::Log;
    let cells = evidence.cells(at, schema);
    // A missing value stands in the middle of a sum.
    let summed = evidence.mean(block.start).filter(|_| straight && !block.absence);
    let summed = summed.map(|mean| Noisy { value: own(mean.value), noise: mean.noise * width });
    let counted = cells.as_ref().map(|cells| cells.mean(|cell| average(cell, &own)));
    let Some(mean) = Noisy::either(summed, counted) else { return Vec::new() };
    let mut found = vec![("mean".to_owned(), around(mean))];
    let variance = match &cells {
        Some(cells) => Some(cells.mean(|cell| average(cell, &|x| (own(x) - mean.value).powi(2)))),
        None => evidence
            .variance(block.start)
            .filter(|_| straight)
            .map(|variance| Noisy { value: variance.value * width * width, noise: variance.noise * width * width }),
    };
    if let Some(variance) = variance {
        let (low, high) = around(variance);
        found.push(("standard deviation".to_owned(), (low.max(0.0).sqrt(), high.max(0.0).sqrt())));
    }
    let whole = !matches!(column.kind, ColumnKind::Continuous { .. });
    for (part, name) in QUANTILES.iter().filter(|_| cells.is_some()) {
        let Some(cells) = &cells else { break };
        let (low, high) = cells.quantile(*part, DEVIATIONS);
        let (low, high) = (own(low), own(high));
        // A whole number that lies between two stands for everything that is rounded to it.
        found.push(((*name).to_owned(), if whole { (low.round(), high.round()) } else { (low, high) }));
    }
    found
}

/// The average of a function over a cell.
fn average(cell: &Cell, of: &dyn Fn(f64) -> f64) -> f64 {
    if cell.high <= cell.low {
        return of(cell.low);
    }
    let at = |i: u32| cell.low + (f64::from(i) + 0.5) / f64::from(POINTS) * (cell.high - cell.low);
    (0..POINTS).map(|i| of(at(i))).sum::<f64>() / f64::from(POINTS)
}

/// The shares of a label: sums over the strata that have each category.
fn shares_of_label(evidence: &Evidence, schema: &Schema, number: usize) -> Vec<Named> {
    let (Some(strata), Some(place)) = (&evidence.strata, schema.stratum_columns().iter().position(|&c| c == number))
    else {
        return Vec::new();
    };
    let column = &schema.columns[number];
    let mut shares = vec![Noisy { value: 0.0, noise: 0.0 }; column.radix()];
    for (stratum, &part) in strata.parts.iter().enumerate() {
        let share = &mut shares[schema.categories_of(stratum as u32)[place] as usize];
        share.value += part;
        share.noise = (share.noise.powi(2) + strata.noise.powi(2)).sqrt();
    }
    // Shares are of the rows that have a category.
    let missing = column.may_be_missing().then(|| shares.pop()).flatten();
    let here = (1.0 - missing.map_or(0.0, |missing| missing.value)).max(strata.noise).max(1e-9);
    let listed = column.categories().into_iter().map(str::to_owned);
    let scaled = shares.into_iter().map(|share| Noisy { value: share.value / here, noise: share.noise / here });
    let mut found: Vec<Named> = listed.zip(scaled.map(around)).collect();
    found.extend(missing.map(|missing| ("missing".to_owned(), around(missing))));
    found
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

/// One column, with the intervals of those of its figures that have one. Nothing is said to lie where it cannot.
fn of_column(column: &Column, alone: Alone, intervals: &[Named]) -> PredictedColumn {
    let bounds = match column.kind {
        ColumnKind::Continuous { min, max, .. } => (min, max),
        ColumnKind::Integer { min, max, .. }
        | ColumnKind::Date { min, max, .. }
        | ColumnKind::Datetime { min, max, .. } => (min as f64, max as f64),
        ColumnKind::Boolean { .. } | ColumnKind::Categorical { .. } => (0.0, 1.0),
    };
    let width = bounds.1 - bounds.0;
    let figure = |(name, value): (String, f64)| {
        let (low, high) = intervals.iter().find(|(other, _)| *other == name)?.1;
        let (least, most) = match name.as_str() {
            _ if column.kind.is_listed() || name == "missing" => (0.0, 1.0),
            // Half the rows at each bound.
            "standard deviation" => (0.0, width / 2.0),
            _ => bounds,
        };
        let short = |x: f64| if most - least == width { within(x, width) } else { five(x) };
        let inside = |x: f64| short(x.clamp(least, most));
        Some(Predicted { value: short(value), low: inside(low), high: inside(high), name })
    };
    PredictedColumn {
        name: column.name.clone(),
        kind: column.kind.word(),
        figures: alone.figures.into_iter().filter_map(figure).collect(),
        bars: alone.histogram.map(|histogram| PublicBars {
            edges: curator::edges(&histogram),
            scale: histogram.scale,
            synthetic: histogram.shares[0].iter().map(|&share| four(share)).collect(),
        }),
    }
}
