//! The values of each column one by one: which cells are counted, and what their noisy counts ask of the rows.

use super::noted::short;
use super::weighed::{Counted, Known, weigh};
use super::{Fit, MomentCharges, Stage};
use crate::error::Result;
use crate::infer::hear;
use crate::math::rounding::nearest_shares;
use crate::model::{Noisy, Piece, Target, ValueEvidence, Wanted, deviation};
use crate::plan::{cells_for, counted};
use crate::privacy::{Charge, HistogramShare, Sensitive};
use crate::schema::{Block, Form};
use crate::subspace::Centre;
use crate::tally::codes::{Q, below_value};
use crate::tally::{Answer, Histogram, Marginals};

/// Columns with at most so many values have a cell for each, or half as many as others have cells, if that is more.
const MOST_VALUES: u64 = 40;
/// A stratum's values are counted by themselves where the error of their distribution is below this part of its rows.
const OWN: f64 = 0.1;
/// Octaves from the bounds down to eight codes.
const OCTAVES: f64 = 13.0;
/// Rounds in which the strata's shares are moved towards those of all.
const RAKED: usize = 8;

/// What this pass needs.
pub(super) struct ValueStage {
    pub spec: Marginals,
    pub charge: Charge,
    pub centre: Centre,
    pub rest: MomentCharges,
}

impl Fit {
    /// Which cells are counted, around the released means.
    pub(super) fn histograms(&self, centre: &Centre, charge: &Charge) -> Marginals {
        let blocks = self.schema.blocks();
        let columns = blocks.iter().filter(|block| counted(&self.schema, block)).count();
        let noise = 2.0 * std::f64::consts::SQRT_2 * columns as f64 / crate::plan::equivalent_epsilon(charge);
        let cells = cells_for(self.rows, noise);
        let strata = self.schema.strata();
        let of = |block: &Block| match block.form {
            _ if !counted(&self.schema, block) => None,
            Form::Line => {
                let (at, absence) = (block.start, block.absence);
                let edges = match self.values_of(block, cells) {
                    Some(values) => (1..values).map(|value| below_value(value, values)).collect(),
                    None => edges_around(centre.codes[at], cells),
                };
                let error = noise * (edges.len() as f64 + 1.0).sqrt() * strata as f64 / self.rows as f64;
                Some(Histogram::Line { at, edges, absence, apart: strata > 1 && error < OWN })
            }
            Form::OneHot => Some(Histogram::Hot { at: block.start, len: block.len }),
            Form::Circle => None,
        };
        Marginals { histograms: blocks.iter().filter_map(of).collect() }
    }

    /// How many values a column has, where they are few and lie at equal distances.
    fn values_of(&self, block: &Block, cells: usize) -> Option<u64> {
        let most = MOST_VALUES.max(cells as u64 / 2);
        self.schema.columns[block.column].kind.values().filter(|values| (2..=most).contains(values))
    }

    /// Noisy counts of every cell, then the moments of rows that are read by what was found.
    ///
    /// *Shares.* B categories have an error of B times the noise of one; of B cells along a line errors cancel, and √B is
    /// left. So a histogram gets the root of that as its weight: the sum of the errors is then least.
    pub(super) fn absorb_values(&mut self, answer: Sensitive<Answer>, stage: ValueStage) -> Result<Stage> {
        let ValueStage { spec, charge, centre, rest } = stage;
        let counts = answer.map(|answer| match answer {
            Answer::Cells(mut counts) => std::mem::take(&mut counts.leaves),
            _ => Vec::new(),
        });
        let strata = self.schema.strata();
        let share = |histogram: &Histogram| {
            let cells = histogram.size(strata);
            let error = if matches!(histogram, Histogram::Line { .. }) { 0.25 } else { 0.5 };
            HistogramShare { cells, weight: (1024.0 * (cells as f64).powf(error)) as u64 }
        };
        let shares: Vec<HistogramShare> = spec.histograms.iter().map(share).collect();
        let released = self.kernel.histograms("marginals", counts, &shares, charge)?.into_inner();
        let mut rest_of = released.counts.as_slice();
        let counts: Vec<Vec<f64>> = spec
            .histograms
            .iter()
            .map(|histogram| {
                let (mine, others) = rest_of.split_at(histogram.size(strata));
                rest_of = others;
                mine.iter().map(|&count| count as f64).collect()
            })
            .collect();
        let noises: Vec<f64> = released.noises.iter().map(deviation).collect();
        let sizes = self.sizes_of_strata(&spec, &counts, &noises);
        let mut targets = Vec::new();
        let mut found = spec.histograms.iter().zip(&counts).zip(&noises);
        for (number, block) in self.schema.blocks().into_iter().enumerate() {
            if !counted(&self.schema, &block) {
                targets.push(Target::default());
                continue;
            }
            let Some(((histogram, counts), &noise)) = found.next() else { continue };
            self.note_values(number, histogram, counts, noise);
            targets.push(self.target(&block, histogram, counts, noise, &sizes));
        }
        self.ask_moments(centre, Some(targets), rest)
    }

    /// The strata's parts of the rows, from all histograms that count them apart, each weighed by its noise.
    fn sizes_of_strata(&self, spec: &Marginals, counts: &[Vec<f64>], noises: &[f64]) -> Vec<f64> {
        let strata = self.schema.strata();
        let (mut sums, mut weights) = (vec![0.0; strata], 0.0);
        for ((histogram, counts), noise) in spec.histograms.iter().zip(counts).zip(noises) {
            if histogram.is_apart() {
                let cells = histogram.cells();
                let weight = 1.0 / (cells as f64 * noise * noise).max(f64::MIN_POSITIVE);
                weights += weight;
                for (sum, counts) in sums.iter_mut().zip(counts.chunks_exact(cells)) {
                    *sum += weight * counts.iter().sum::<f64>() / self.rows as f64;
                }
            }
        }
        if weights <= 0.0 {
            return vec![1.0 / strata as f64; strata];
        }
        nearest_shares(&sums.iter().map(|sum| sum / weights).collect::<Vec<f64>>())
    }

    /// Counts as they were released, all strata together.
    fn note_values(&mut self, block: usize, histogram: &Histogram, counts: &[f64], noise: f64) {
        let (cells, rows) = (histogram.cells().max(1), self.rows as f64);
        let noise = noise / rows * (counts.len() as f64 / cells as f64).sqrt();
        let parts = together(counts, cells).iter().map(|count| short(count / rows, noise)).collect();
        let edges = match histogram {
            Histogram::Line { edges, .. } => edges.clone(),
            _ => Vec::new(),
        };
        self.evidence.values.push(ValueEvidence { block, edges, parts, noise });
    }

    /// What counts ask of the rows of one block: all together, and of each stratum as far as that is heard.
    fn target(&self, block: &Block, histogram: &Histogram, counts: &[f64], noise: f64, sizes: &[f64]) -> Target {
        let (cells, rows) = (histogram.cells().max(1), self.rows as f64);
        let Histogram::Line { edges, absence, .. } = histogram else {
            let shares: Vec<f64> = counts.iter().map(|count| count / rows).collect();
            return Target { all: Some(categories(&nearest_shares(&shares))), strata: Vec::new() };
        };
        let all_noise = noise * (counts.len() as f64 / cells as f64).sqrt();
        let all = together(counts, cells);
        let here = edges.len() + 1;
        let absent = if *absence { (all[cells - 1] / rows).clamp(0.0, 1.0) } else { 0.0 };
        let listed = self.values_of(block, usize::MAX).filter(|values| *values as usize == here);
        let mut pieces = pieces(edges, listed);
        if absent < 1.0 {
            let counted = Counted { counts: &all[..here], noise: all_noise, rows: rows * (1.0 - absent) };
            let known = self.evidence.sum_mean(block.start).map(|sum| Known::of_sum(sum, absent));
            weigh(&mut pieces, &counted, known.as_ref());
        }
        let wanted = Wanted { pieces, absent };
        let strata = match histogram.is_apart() {
            true => own(&wanted, counts, cells, noise, rows, sizes),
            false => Vec::new(),
        };
        Target { all: Some(wanted), strata }
    }
}

/// The shares of strata: those of all times what is heard of each stratum, so that together they are those of all.
fn own(all: &Wanted, counts: &[f64], cells: usize, noise: f64, rows: f64, sizes: &[f64]) -> Vec<Option<Wanted>> {
    let here = all.pieces.len();
    let shares: Vec<f64> = all.pieces.iter().map(|piece| piece.share * (1.0 - all.absent)).collect();
    let absence = (cells > here).then_some(all.absent);
    let parts: Vec<f64> = shares.iter().copied().chain(absence).collect();
    let cell = |(i, &counted): (usize, &f64)| {
        let expected = rows * sizes[i / cells] * parts.get(i % cells).copied().unwrap_or(0.0);
        hear::Cell { counted, expected, noise: noise * noise, known: 1.0, seen: 0.0 }
    };
    let factors = hear::factors(&counts.iter().enumerate().map(cell).collect::<Vec<_>>());
    let mut strata: Vec<Vec<f64>> = factors
        .chunks_exact(cells)
        .map(|factors| parts.iter().zip(factors).map(|(part, factor)| part * factor).collect())
        .collect();
    for _ in 0..RAKED {
        for shares in &mut strata {
            let whole = shares.iter().sum::<f64>().max(f64::MIN_POSITIVE);
            shares.iter_mut().for_each(|share| *share /= whole);
        }
        for (i, part) in parts.iter().enumerate() {
            let now: f64 = strata.iter().zip(sizes).map(|(shares, size)| size * shares[i]).sum();
            if now > 0.0 {
                strata.iter_mut().for_each(|shares| shares[i] *= part / now);
            }
        }
    }
    let wanted = |shares: Vec<f64>| {
        let whole = shares.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let absent = if cells > here { shares[cells - 1] / whole } else { 0.0 };
        let piece =
            |(piece, share): (&Piece, &f64)| Piece { share: share / whole / (1.0 - absent).max(1e-9), ..*piece };
        Some(Wanted { pieces: all.pieces.iter().zip(&shares).map(piece).collect(), absent })
    };
    strata.into_iter().map(wanted).collect()
}

/// The counts of all strata together.
fn together(counts: &[f64], cells: usize) -> Vec<f64> {
    let mut all = vec![0.0; cells];
    for stratum in counts.chunks_exact(cells) {
        all.iter_mut().zip(stratum).for_each(|(sum, count)| *sum += count);
    }
    all
}

/// Categories by their shares.
pub(super) fn categories(shares: &[f64]) -> Wanted {
    let piece = |(c, &share): (usize, &f64)| Piece { low: c as f64, high: c as f64, share };
    Wanted { pieces: shares.iter().enumerate().map(piece).collect(), absent: 0.0 }
}

/// Where the cells between edges lie: single values where these are listed, and at both bounds.
fn pieces(edges: &[u16], listed: Option<u64>) -> Vec<Piece> {
    let unit = |code: u16| f64::from(code) / f64::from(Q);
    let piece = |i: usize| {
        let (low, high) = match listed {
            Some(values) => (i as f64 / (values - 1) as f64, i as f64 / (values - 1) as f64),
            None if i == 0 => (0.0, 0.0),
            None if i == edges.len() => (1.0, 1.0),
            None => (unit(edges[i - 1]), unit(edges[i])),
        };
        Piece { low, high, share: 0.0 }
    };
    (0..=edges.len()).map(piece).collect()
}

/// Edges at distances from a centre that grow by a constant factor, and for the two bounds.
///
/// How wide a column is nobody knows yet. So cells are as wide as a fixed part of their distance from the centre: whether
/// values take up all of the bounds or a thousandth of them, they have about as many cells.
fn edges_around(centre: u16, cells: usize) -> Vec<u16> {
    let (side, q) = (cells / 2, f64::from(Q));
    let far = (0..side).map(|i| q * (-OCTAVES * i as f64 / side as f64).exp2());
    let around = far.flat_map(|far| [f64::from(centre) - far, f64::from(centre) + far]).chain([f64::from(centre)]);
    let inside = around.map(f64::round).filter(|edge| (2.0..q).contains(edge));
    let mut edges: Vec<u16> = inside.map(|edge| edge as u16).chain([1, Q]).collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}

impl Known {
    /// What a sum of whole rows says of the rows that have a value, if `absent` of the rows have none and stand in the
    /// middle.
    pub(super) fn of_sum(sum: Noisy, absent: f64) -> Known {
        let here = (1.0 - absent).max(1e-9);
        Known { mean: (sum.value - 0.5 * absent) / here, mean_noise: sum.noise / here }
    }
}
