//! What the noise leaves of a typical table.

use super::Question;
use super::noise::{Noise, price};
use crate::measure::{Allocation, Side, predicted_error};
use crate::plan::{Shares, Tuning, as_float};
use serde::Serialize;

/// How the variance of a table may lie in its directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spectrum {
    /// The same in all directions: nothing to find.
    Flat,
    /// Each direction has half of what the one before has.
    Decaying,
    /// Three directions have nine tenths of it, and the others share the rest.
    LowDimensional,
}

impl Spectrum {
    /// All of them.
    pub const ALL: [Spectrum; 3] = [Spectrum::Flat, Spectrum::Decaying, Spectrum::LowDimensional];

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Spectrum::Flat => "flat",
            Spectrum::Decaying => "decaying",
            Spectrum::LowDimensional => "low-dimensional",
        }
    }

    /// The eigenvalues of a table of d columns, largest first, that add up to `trace`.
    pub fn values(self, width: usize, trace: f64) -> Vec<f64> {
        let even = trace / width as f64;
        let weights: Vec<f64> = match self {
            Spectrum::Flat => vec![1.0; width],
            // No direction has more than a quarter in every column, nor less than nothing that counts.
            Spectrum::Decaying => (0..width).map(|i| 0.5_f64.powi(i.min(1000) as i32)).collect(),
            Spectrum::LowDimensional if width <= 3 => vec![1.0; width],
            Spectrum::LowDimensional => {
                (0..width).map(|i| if i < 3 { 0.3 } else { 0.1 / (width - 3) as f64 }).collect()
            }
        };
        let sum: f64 = weights.iter().sum();
        weights.iter().map(|weight| weight / sum * even * width as f64).collect()
    }
}

/// What can be expected of a table with one spectrum.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outlook {
    /// The spectrum.
    pub spectrum: Spectrum,
    /// Its leading eigenvalue over the noise edge. Nothing where no direction is looked for.
    pub leading_over_edge: Option<f64>,
    /// Directions that clear the edge.
    pub above: usize,
    /// d′: directions that are measured in detail.
    pub dimension: usize,
    /// The predicted distance between the table and what is drawn: W1, Euclidean, 1 is the width of a column's bounds.
    pub w1: f64,
    /// The same if only the mean were known: the root of the table's whole variance.
    pub w1_of_the_mean: f64,
}

/// The prediction at one ε, by the rule that chooses d′ in a fit: `√(lost + η² drawn) + w E_k`, plus what the rule does not
/// see because no choice changes it.
///
/// *Edge.* An eigenvalue λ shows as `λ̂ = λ + e²/4λ` if it is above e/2, where e is the edge; below it drowns. It counts if
/// `λ̂ > 1.05 e`. *Turned.* A direction that is found is off by an angle with `sin² ≈ e²/4λ²`, so about `e²/4λ` of its
/// variance lies elsewhere. *Moved.* The mean of every column is off by its own noise. *Blurred.* If the columns' common
/// variance v stands out of its noise, what is in no direction comes back as noise of each column's own: of the right size
/// and without direction, `(√λ − √v)²` away from what it was.
pub(super) fn at(question: &Question, spectrum: Spectrum) -> Outlook {
    let facts = question.facts();
    // Marginals are left out: they make the values of columns right, of which a spectrum says nothing.
    let shares = if facts.few_rows() { Shares::for_table(&facts) } else { Shares::without_marginals(&facts) };
    let noise = Noise::of(question, &shares);
    let Some(edge) = noise.edge else { return of_means(question, spectrum, &noise) };
    let tuning = Tuning::default();
    let price = price(question, shares.measure);
    let (amount, privacy) = (as_float(&price.amount), price.privacy);
    let allocation = Allocation {
        rows: question.rows as f64,
        amount,
        privacy,
        strata: question.strata,
        depth_noise: tuning.depth_noise,
    };
    let trace = noise.typical_variance * question.width as f64;
    let values = spectrum.values(question.width, trace);
    let off = |value: f64| edge * edge / (4.0 * value);
    let above = values.iter().take_while(|&&v| v > 0.5 * edge && v + off(v) > tuning.edge_margin * edge).count();
    let even = noise.typical_variance;
    let texture = tuning.texture_weight * tuning.texture_weight;
    let clear = even > 2.0 * noise.variance / (question.width as f64).sqrt();
    let blurred =
        |value: f64| if clear { value.min((value.sqrt() - even.sqrt()).powi(2) + texture * value) } else { value };
    let lost: f64 = values[above..].iter().map(|&value| blurred(value)).sum();
    // A direction that is found is never worse off than one that is not.
    let turned = |value: f64| off(value).min(blurred(value));
    let drawn = |value: f64| (off(value) + texture * value).min(blurred(value));
    let moved = question.width as f64 * noise.mean * noise.mean;
    let mut best = (f64::INFINITY, 0);
    // Without a share for the measure every direction is texture.
    let dimensions = if shares.measure == 0 { 0..=0 } else { 1..=above.min(tuning.most_dimensions).max(1) };
    for k in dimensions {
        // Without a direction to measure, the first one of the noise is, in a box that the edge makes.
        let side = |value: f64| {
            let deviation = if above == 0 { 0.5 * edge.min(trace) } else { value }.sqrt();
            Side { low: -tuning.reach * deviation, width: 2.0 * tuning.reach * deviation }
        };
        let sides: Vec<Side> = values[..k].iter().map(|&value| side(value)).collect();
        let (measured, rest) = values[..above].split_at(k.min(above));
        let found = measured.iter().map(|&v| turned(v)).sum::<f64>() + rest.iter().map(|&v| drawn(v)).sum::<f64>();
        let across = (lost + found + moved).sqrt();
        let along = if k == 0 { 0.0 } else { tuning.measure_weight * predicted_error(&sides, &allocation) };
        if across + along < best.0 {
            best = (across + along, k);
        }
    }
    Outlook {
        spectrum,
        leading_over_edge: Some(values[0] / edge),
        above,
        // Where sites are counted, no direction is measured in detail; what they give is not foreseen.
        dimension: if Shares::for_table(&facts).measure == 0 { 0 } else { best.1 },
        w1: best.0,
        w1_of_the_mean: trace.sqrt(),
    }
}

/// The prediction where only means are measured: a round cloud is drawn.
///
/// Every direction comes back with the common variance v, `(√λ − √v)²` away from what it was and without its shape, and v
/// itself is off by δ, which moves a row by `δ/2√v`.
fn of_means(question: &Question, spectrum: Spectrum, noise: &Noise) -> Outlook {
    let (d, even) = (question.width as f64, noise.typical_variance);
    let texture = Tuning::default().texture_weight.powi(2);
    let values = spectrum.values(question.width, even * d);
    let round: f64 = values.iter().map(|value| (value.sqrt() - even.sqrt()).powi(2) + texture * value).sum();
    let swollen = d * noise.variance * noise.variance / (4.0 * even);
    let moved = d * noise.mean * noise.mean;
    Outlook {
        spectrum,
        leading_over_edge: None,
        above: 0,
        dimension: 0,
        w1: (round + swollen + moved).sqrt(),
        w1_of_the_mean: (even * d).sqrt(),
    }
}
