//! What was released of single columns and of pairs of them, each number with its noise.
//!
//! The model is made of these numbers, but it is not these numbers: it draws them together, shrinks them and bends them into
//! rows. They are kept as they came, so that whoever reads a model can say how sure a mean is, and so that the fit itself can
//! be held to what was released (`verify`).

use super::Residual;
use crate::math::doubt::{Difference, beyond_noise};
use crate::schema::{Form, HOT, Schema};
use crate::tally::codes::{Q, below_value};
use crate::tally::packed_index;
use serde::{Deserialize, Serialize};

/// Wider tables keep no covariances: the file would be long, and the noise of single ones is large.
pub(crate) const MOST_COVARIANCES: usize = 300;

/// Contradictions up to so many deviations are taken for noise. Counts have the heavy tails of Laplace's distribution: one in
/// a thousand is further off.
pub(crate) const EXPLAINED: f64 = 5.0;

/// Released numbers of coordinates in units, and of the rows as parts of n.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Column sums: where rows are, without any bias.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sums: Option<SumEvidence>,
    /// Moments of clipped rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moments: Option<MomentEvidence>,
    /// Counts of the values of columns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<ValueEvidence>,
    /// The strata's parts of the rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strata: Option<StratumEvidence>,
    /// How far drawn rows are from all of that, and from what else was counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub residuals: Vec<Residual>,
}

/// A number that was released, and the standard deviation of its noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noisy {
    /// The number.
    pub value: f64,
    /// The standard deviation of its noise.
    pub noise: f64,
}

/// Means of coordinates, from sums of whole rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SumEvidence {
    /// One for each coordinate; nothing for those that were not summed.
    pub means: Vec<Option<f64>>,
    /// The standard deviation of the noise in each.
    pub noise: f64,
}

/// Means and covariances, of rows that were clipped to a ball: the noise is small, and rows far out are drawn in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MomentEvidence {
    /// Around what rows were clipped, and how far from it a row may be.
    pub centre: Vec<f64>,
    /// See above.
    pub radius: f64,
    /// One for each coordinate.
    pub means: Vec<f64>,
    /// The standard deviation of the noise in each mean.
    pub mean_noise: f64,
    /// One for each coordinate.
    pub variances: Vec<f64>,
    /// The lower triangle of all covariances, row by row; empty for wide tables.
    pub covariances: Vec<f64>,
    /// The standard deviation of the noise in each off the diagonal; on it, it is √2 times that.
    pub covariance_noise: f64,
    /// How far clipping seems to have moved means, in deviations of their columns, and variances, as a part of them: as far
    /// as sums and counts of whole rows contradict them.
    #[serde(default)]
    pub mean_bias: f64,
    /// See above.
    #[serde(default)]
    pub variance_bias: f64,
}

/// Counts of one block's cells, in all strata together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ValueEvidence {
    /// The number of the block.
    pub block: usize,
    /// The code at which each cell but the first begins; empty for categories.
    pub edges: Vec<u16>,
    /// The parts of the rows; behind those of values the one that is missing, if there may be one.
    pub parts: Vec<f64>,
    /// The standard deviation of the noise in each.
    pub noise: f64,
}

/// Parts of the rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StratumEvidence {
    /// One for each stratum of the schema.
    pub parts: Vec<f64>,
    /// The standard deviation of the noise in each.
    pub noise: f64,
}

/// A cell of a column's values: where it lies, and its part of the rows that have a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// Lower end, in units.
    pub low: f64,
    /// Upper end; the lower one for a single value.
    pub high: f64,
    /// The part, as it was released: noise may have made it negative.
    pub part: f64,
}

/// The cells of a column and the noise of each part.
#[derive(Clone, Debug, PartialEq)]
pub struct Cells {
    /// In ascending order.
    pub cells: Vec<Cell>,
    /// The standard deviation of the noise in a part.
    pub noise: f64,
    /// The part of the rows that has no value.
    pub absent: Noisy,
}

impl Noisy {
    fn differs_from(self, other: Noisy, size: f64) -> Difference {
        let noise = self.noise * self.noise + other.noise * other.noise;
        Difference { square: (self.value - other.value).powi(2), noise, size }
    }

    /// Two measurements of the same, weighed by their noise.
    #[must_use]
    pub fn and(self, other: Noisy) -> Noisy {
        let (a, b) = (self.noise * self.noise, other.noise * other.noise);
        if a + b <= 0.0 {
            return self;
        }
        Noisy { value: (self.value * b + other.value * a) / (a + b), noise: (a * b / (a + b)).sqrt() }
    }

    /// The same where one of them, or both, may be missing.
    pub fn either(one: Option<Noisy>, other: Option<Noisy>) -> Option<Noisy> {
        match (one, other) {
            (Some(one), Some(other)) => Some(one.and(other)),
            (one, other) => one.or(other),
        }
    }

    /// The same with a measurement of clipped rows: what contradicts this one by more than noise explains counts as noise
    /// of the other.
    #[must_use]
    pub fn and_clipped(self, other: Noisy) -> Noisy {
        let explained = EXPLAINED * EXPLAINED * (self.noise * self.noise + other.noise * other.noise);
        let unexplained = ((self.value - other.value).powi(2) - explained).max(0.0);
        self.and(Noisy { value: other.value, noise: (other.noise * other.noise + unexplained).sqrt() })
    }
}

impl Evidence {
    /// Whether nothing was released of columns by themselves.
    pub fn is_empty(&self) -> bool {
        *self == Evidence::default()
    }

    /// The mean of a coordinate of whole rows.
    pub fn sum_mean(&self, at: usize) -> Option<Noisy> {
        let sums = self.sums.as_ref()?;
        Some(Noisy { value: (*sums.means.get(at)?)?, noise: sums.noise })
    }

    /// The mean of a coordinate of clipped rows; what clipping may have done to it counts as noise.
    pub fn moment_mean(&self, at: usize) -> Option<Noisy> {
        let moments = self.moments.as_ref()?;
        let bias = moments.mean_bias.powi(2) * moments.variances.get(at)?.max(0.0);
        Some(Noisy { value: *moments.means.get(at)?, noise: (moments.mean_noise.powi(2) + bias).sqrt() })
    }

    /// The mean of a coordinate: of whole rows, or else of clipped ones.
    pub fn mean(&self, at: usize) -> Option<Noisy> {
        self.sum_mean(at).or_else(|| self.moment_mean(at))
    }

    /// The mean of a coordinate: of whole rows and of clipped ones, each weighed by its noise.
    pub fn both_means(&self, at: usize) -> Option<Noisy> {
        match (self.sum_mean(at), self.moment_mean(at)) {
            (Some(whole), Some(clipped)) => Some(whole.and_clipped(clipped)),
            (whole, clipped) => whole.or(clipped),
        }
    }

    /// The variance of a coordinate of clipped rows, likewise.
    pub fn variance(&self, at: usize) -> Option<Noisy> {
        let moments = self.moments.as_ref()?;
        let value = *moments.variances.get(at)?;
        let bias = moments.variance_bias * value.max(0.0);
        Some(Noisy { value, noise: (2.0 * moments.covariance_noise.powi(2) + bias * bias).sqrt() })
    }

    /// A covariance of clipped rows of two different coordinates, likewise.
    fn covariance(&self, i: usize, j: usize) -> Option<Noisy> {
        let moments = self.moments.as_ref()?;
        let value = *moments.covariances.get(packed_index(i.max(j), i.min(j)))?;
        let bias = moments.variance_bias * value;
        Some(Noisy { value, noise: (moments.covariance_noise.powi(2) + bias * bias).sqrt() })
    }

    /// Compares moments with what was released of whole rows.
    ///
    /// Clipping draws far rows in, all columns alike. So one number for all columns says how far means were moved, in units
    /// of their deviations: with a moment M, a number U of whole rows and their noises, `E (M − U)² = σ_M² + σ_U² + β² v`.
    /// β² is what is seen beyond the noise over all columns, less two deviations of that: where nothing stands out,
    /// clipping is taken to have done nothing. Variances likewise, with `γ² v²`.
    pub(crate) fn notice_clipping(&mut self, schema: &Schema) {
        let (mut means, mut variances) = (Vec::new(), Vec::new());
        for (number, block) in schema.blocks().iter().enumerate().filter(|(_, block)| block.form == Form::Line) {
            let (Some(mean), Some(variance)) = (self.moment_mean(block.start), self.variance(block.start)) else {
                return;
            };
            let cells = self.cells(number, schema).filter(|cells| cells.absent.value == 0.0);
            let counted = cells.as_ref().map(|cells| cells.mean(Cell::middle));
            let whole = Noisy::either(self.sum_mean(block.start), counted);
            means.extend(whole.map(|whole| mean.differs_from(whole, variance.value.max(0.0))));
            let counted = cells.as_ref().map(|cells| cells.mean(|cell| cell.square_around(mean.value)));
            variances.extend(counted.map(|whole| variance.differs_from(whole, variance.value.max(0.0).powi(2))));
        }
        if let Some(moments) = &mut self.moments {
            moments.mean_bias = moments.mean_bias.max(beyond_noise(&means).sqrt());
            moments.variance_bias = beyond_noise(&variances).sqrt();
        }
    }

    /// A correlation of clipped rows. Its noise is that of the covariance and, to first order, of both variances: with
    /// `ρ = c/√(v w)`, `dρ = dc/√(v w) − ρ/2 (dv/v + dw/w)`. A variance that noise has taken is at least its noise.
    pub fn correlation(&self, i: usize, j: usize) -> Option<Noisy> {
        let (c, v, w) = (self.covariance(i, j)?, self.variance(i)?, self.variance(j)?);
        let at_least = |x: Noisy| x.value.max(x.noise).max(f64::MIN_POSITIVE);
        let (first, second) = (at_least(v), at_least(w));
        let value = c.value / (first * second).sqrt();
        let of_variances =
            0.5 * value.clamp(-1.0, 1.0) * ((v.noise / first).powi(2) + (w.noise / second).powi(2)).sqrt();
        Some(Noisy { value, noise: (c.noise * c.noise / (first * second) + of_variances * of_variances).sqrt() })
    }

    /// The shares of a block of categories: counts and moments, each weighed by its noise.
    pub fn categories(&self, block: usize, schema: &Schema) -> Option<Vec<Noisy>> {
        let shape = schema.blocks().into_iter().nth(block)?;
        let unit = f64::from(HOT) / f64::from(Q);
        let summed = |c: usize| {
            let mean = self.moment_mean(shape.start + c)?;
            Some(Noisy { value: mean.value / unit, noise: mean.noise / unit })
        };
        let Some(values) = self.values.iter().find(|values| values.block == block && values.edges.is_empty()) else {
            return (0..shape.len).map(summed).collect();
        };
        let both = |(c, &value): (usize, &f64)| {
            let counted = Noisy { value, noise: values.noise };
            summed(c).map_or(counted, |summed| counted.and_clipped(summed))
        };
        Some(values.parts.iter().enumerate().map(both).collect())
    }

    /// The cells of a block of numbers, whose parts add up to one as those of all rows do.
    ///
    /// The noise of B parts that are moved by the same amount so that they add up to what they should is less than before
    /// by the factor `√(1 − 1/B)`; that is left aside.
    pub fn cells(&self, block: usize, schema: &Schema) -> Option<Cells> {
        let values = self.values.iter().find(|values| values.block == block && !values.edges.is_empty())?;
        let shape = schema.blocks().into_iter().nth(block)?;
        let even = schema.columns[shape.column].kind.values();
        let edges = &values.edges;
        let missing = if shape.absence { values.parts.last().copied().unwrap_or(0.0).clamp(0.0, 1.0) } else { 0.0 };
        let absent = Noisy { value: missing, noise: if shape.absence { values.noise } else { 0.0 } };
        let here = (1.0 - missing).max(values.noise).max(1e-9);
        let parts = values.parts.get(..=edges.len())?;
        let surplus = (parts.iter().sum::<f64>() - here) / parts.len() as f64;
        let listed =
            even.filter(|&even| even >= 2 && (1..even).map(|v| below_value(v, even)).eq(edges.iter().copied()));
        let unit = |code: u16| f64::from(code) / f64::from(Q);
        let cell = |(i, part): (usize, &f64)| {
            let (low, high) = match listed {
                Some(even) => (i as f64 / (even - 1) as f64, i as f64 / (even - 1) as f64),
                None if i == 0 => (0.0, 0.0),
                None if i == edges.len() => (1.0, 1.0),
                None => (unit(edges[i - 1]), unit(edges[i])),
            };
            Cell { low, high, part: (part - surplus) / here }
        };
        Some(Cells { cells: parts.iter().enumerate().map(cell).collect(), noise: values.noise / here, absent })
    }

    /// What reading relies on: lengths agree and numbers are finite.
    pub(super) fn fits(&self, schema: &Schema) -> bool {
        let (d, blocks) = (schema.width(), schema.blocks());
        let number = |x: &f64| x.abs() <= 1e30;
        let noise = |x: f64| (0.0..=1e30).contains(&x);
        let sums = self
            .sums
            .as_ref()
            .is_none_or(|sums| sums.means.len() == d && sums.means.iter().flatten().all(number) && noise(sums.noise));
        let moments = self.moments.as_ref().is_none_or(|moments| {
            let whole = moments.covariances.is_empty() || moments.covariances.len() == d * (d + 1) / 2;
            let biases = noise(moments.mean_bias) && noise(moments.variance_bias) && moments.variances.len() == d;
            let finite =
                moments.means.iter().chain(&moments.variances).chain(&moments.covariances).all(number) && biases;
            let ball = moments.centre.len() == d && moments.centre.iter().all(number) && noise(moments.radius);
            moments.means.len() == d
                && ball
                && whole
                && finite
                && noise(moments.mean_noise)
                && noise(moments.covariance_noise)
        });
        let values = |values: &ValueEvidence| {
            let Some(block) = blocks.get(values.block) else { return false };
            let cells =
                if values.edges.is_empty() { block.len } else { values.edges.len() + 1 + usize::from(block.absence) };
            let ascending = values.edges.is_sorted();
            values.parts.len() == cells && ascending && values.parts.iter().all(number) && noise(values.noise)
        };
        let strata = self.strata.as_ref().is_none_or(|strata| {
            strata.parts.len() == schema.strata() && strata.parts.iter().all(number) && noise(strata.noise)
        });
        sums && moments && self.values.iter().all(values) && strata && self.residuals.iter().all(Residual::fits)
    }
}

impl Cell {
    /// Its middle.
    pub fn middle(&self) -> f64 {
        0.5 * (self.low + self.high)
    }

    /// The mean square of what lies evenly in it, around a place.
    pub fn square_around(&self, place: f64) -> f64 {
        (self.middle() - place).powi(2) + (self.high - self.low).powi(2) / 12.0
    }
}

impl Cells {
    /// The mean of something that is `f` of a cell on average. All parts together are known, so noise moves a mean only as
    /// far as cells differ from the mean itself.
    pub fn mean(&self, f: impl Fn(&Cell) -> f64) -> Noisy {
        let value: f64 = self.cells.iter().map(|cell| cell.part * f(cell)).sum();
        let apart: f64 = self.cells.iter().map(|cell| (f(cell) - value).powi(2)).sum();
        Noisy { value, noise: self.noise * apart.sqrt() }
    }

    /// Where the quantile of a part of the rows may be, if the noise of a part below a place is at most `times` its
    /// deviation: all places x with `|F̂(x) − part| ≤ times · noise(x)`, and everything between them.
    ///
    /// The part below the k-th of B cells is a sum of k noisy numbers of which all B add up to one: `√(k (B − k)/B)` times
    /// the noise of one. Within a cell both are taken to grow evenly.
    pub fn quantile(&self, part: f64, times: f64) -> (f64, f64) {
        let count = self.cells.len() as f64;
        let slack = |k: f64| times * self.noise * (k * (count - k) / count).max(0.0).sqrt();
        let (mut below, mut low, mut high) = (0.0_f64, None, 0.0_f64);
        for (k, cell) in self.cells.iter().enumerate() {
            let next = below + cell.part;
            let (before, after) = (slack(k as f64), slack(k as f64 + 1.0));
            // Where the upper end of what F may be reaches the part for the first time.
            if low.is_none() && next + after >= part {
                low = Some(along(cell, below + before, next + after, part));
            }
            // Where the lower end of what F may be was below it for the last time.
            if below - before < part {
                high = high.max(along(cell, below - before, next - after, part));
            }
            below = next;
        }
        let low = low.unwrap_or_else(|| self.cells.last().map_or(0.0, |cell| cell.high));
        (low, high.max(low))
    }
}

/// The place in a cell where something that goes evenly from one number to another reaches a third.
fn along(cell: &Cell, from: f64, to: f64, wanted: f64) -> f64 {
    let part = if to > from {
        ((wanted - from) / (to - from)).clamp(0.0, 1.0)
    } else if from >= wanted {
        0.0
    } else {
        1.0
    };
    cell.low + part * (cell.high - cell.low)
}
