//! Counted values that agree with the moments.
//!
//! Noisy counts of a column's cells know its shape, but each cell brings its noise: with deviation σ in every count, the
//! mean `Σ c_i x_i/n` is off by `σ √Σ(x_i − m)²/n`, often ten times more than the mean that the moments give. So the
//! shares are moved as little as possible until their mean and variance are those of the moments: among all shares with
//! these two, `p_i ∝ p_i exp(a x_i + b x_i²)` is the one nearest to what was counted (it has the least relative entropy).
//! Rows that were clipped bias the moments; where the counts contradict them by more than noise explains, the counts
//! are believed. Post-processing: only released numbers enter.

use crate::model::Piece;

/// What the moments say of one coordinate, and how far noise may have moved that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Known {
    pub mean: f64,
    pub mean_noise: f64,
    /// Variance and its noise; nothing for strata, whose own variances are not measured.
    pub variance: Option<(f64, f64)>,
}

/// What was counted in the cells of one column: counts of the rows that have a value, one for each piece.
pub(super) struct Counted<'a> {
    pub counts: &'a [f64],
    /// The standard deviation of the noise in one count.
    pub noise: f64,
    /// Rows that have a value.
    pub rows: f64,
}

/// Contradictions up to so many deviations are taken for noise.
const NOISE: f64 = 2.0;
/// Steps of Newton's method, and how large an exponent may become: shares are moved, not made up.
const STEPS: usize = 60;
const LARGEST: f64 = 30.0;
/// Keeps the steps finite where pieces are too few to have any mean and variance.
const RIDGE: f64 = 1e-9;

impl Known {
    /// The same for the rows that have a value, if `absent` of the rows have none and stand in the middle.
    pub(super) fn of_present(self, absent: f64) -> Known {
        let here = 1.0 - absent;
        let mean = (self.mean - 0.5 * absent) / here;
        let square = |variance: f64| (variance + self.mean * self.mean - 0.25 * absent) / here - mean * mean;
        let variance = self.variance.map(|(variance, noise)| (square(variance).max(0.0), noise / here));
        Known { mean, mean_noise: self.mean_noise / here, variance }
    }
}

/// Moves the shares of pieces, which add up to one, towards what the moments say.
pub(super) fn tilt(pieces: &mut [Piece], counted: &Counted, known: &Known) {
    let Counted { counts, noise, rows } = *counted;
    if counts.len() != pieces.len() || rows <= 0.0 {
        return;
    }
    // Places around the known mean, and their squares with that of a uniform spread within the piece.
    let place = |piece: &Piece| 0.5 * (piece.low + piece.high) - known.mean;
    let square = |piece: &Piece| place(piece).powi(2) + (piece.high - piece.low).powi(2) / 12.0;
    // A statistic Σ c_i (f_i − f)/n + f, f being what is known: all counts together are n, so this has less noise.
    let wanted = |of: &dyn Fn(&Piece) -> f64, value: f64, value_noise: f64| {
        let off = |piece: &Piece| of(piece) - value;
        let seen = value + counts.iter().zip(pieces.iter()).map(|(c, piece)| c * off(piece)).sum::<f64>() / rows;
        let seen_noise = noise * pieces.iter().map(|piece| off(piece).powi(2)).sum::<f64>().sqrt() / rows;
        between((value, value_noise), (seen, seen_noise))
    };
    let mean = wanted(&place, 0.0, known.mean_noise);
    let second = known.variance.map(|(variance, noise)| wanted(&square, variance, noise));
    let features: Vec<[f64; 2]> =
        pieces.iter().map(|piece| [place(piece), if second.is_some() { square(piece) } else { 0.0 }]).collect();
    let shares: Vec<f64> = pieces.iter().map(|piece| piece.share).collect();
    if let Some(moved) = tilted(&shares, &features, [mean, second.unwrap_or(0.0)]) {
        pieces.iter_mut().zip(moved).for_each(|(piece, share)| piece.share = share);
    }
}

/// One number from two, each with its noise: weighed by it, where they agree; the second, the more they do not.
fn between((first, first_noise): (f64, f64), (second, second_noise): (f64, f64)) -> f64 {
    let (first_square, second_square) = (first_noise * first_noise, (second_noise * second_noise).max(1e-30));
    let unexplained = ((second - first).powi(2) - NOISE * NOISE * (first_square + second_square)).max(0.0);
    let weight = second_square / (first_square + unexplained + second_square);
    second + weight * (first - second)
}

/// `p_i exp(a·f_i)` with the sum one and the mean of f as wanted, by Newton's method on the dual, which is convex:
/// `log Σ p_i exp(a·f_i) − a·wanted`. Nothing if no step makes the error smaller.
fn tilted(shares: &[f64], features: &[[f64; 2]], wanted: [f64; 2]) -> Option<Vec<f64>> {
    // In units of their spread, so that the ridge means the same for both.
    let scales: Vec<f64> = (0..2).map(|k| spread(shares, features, k).max(1e-12)).collect();
    let unit = |f: &[f64; 2]| [(f[0] - wanted[0]) / scales[0], (f[1] - wanted[1]) / scales[1]];
    let features: Vec<[f64; 2]> = features.iter().map(unit).collect();
    let (mut a, mut best) = ([0.0_f64; 2], State::at(shares, &features, [0.0; 2]));
    for _ in 0..STEPS {
        let step = best.step();
        let mut length = 1.0;
        let next = loop {
            let tried = [a[0] + length * step[0], a[1] + length * step[1]];
            let state = State::at(shares, &features, tried);
            if state.exponent < LARGEST && state.dual < best.dual {
                break Some((tried, state));
            }
            length *= 0.5;
            if length < 1e-6 {
                break None;
            }
        };
        let Some((at, state)) = next else { break };
        let done = best.dual - state.dual < 1e-15;
        (a, best) = (at, state);
        if done {
            break;
        }
    }
    (a != [0.0; 2] && best.shares.iter().all(|share| share.is_finite())).then_some(best.shares)
}

/// The standard deviation of a feature.
fn spread(shares: &[f64], features: &[[f64; 2]], k: usize) -> f64 {
    let mean: f64 = shares.iter().zip(features).map(|(p, f)| p * f[k]).sum();
    shares.iter().zip(features).map(|(p, f)| p * (f[k] - mean).powi(2)).sum::<f64>().sqrt()
}

/// The dual and its derivatives at a point.
struct State {
    shares: Vec<f64>,
    dual: f64,
    gradient: [f64; 2],
    hessian: [f64; 3],
    /// The largest exponent, in absolute value.
    exponent: f64,
}

impl State {
    fn at(shares: &[f64], features: &[[f64; 2]], a: [f64; 2]) -> State {
        let exponents: Vec<f64> = features.iter().map(|f| a[0] * f[0] + a[1] * f[1]).collect();
        let counted = || exponents.iter().zip(shares).filter(|(_, share)| **share > 0.0).map(|(e, _)| *e);
        let most = counted().fold(f64::NEG_INFINITY, f64::max);
        let exponent = counted().fold(0.0, |largest: f64, e| largest.max(e.abs()));
        let weights: Vec<f64> =
            shares.iter().zip(&exponents).map(|(p, e)| if *p > 0.0 { p * libm::exp(e - most) } else { 0.0 }).collect();
        let sum: f64 = weights.iter().sum();
        let shares: Vec<f64> = weights.iter().map(|w| w / sum).collect();
        let ridge = 0.5 * RIDGE * (a[0] * a[0] + a[1] * a[1]);
        let mean = |of: &dyn Fn(&[f64; 2]) -> f64| shares.iter().zip(features).map(|(p, f)| p * of(f)).sum::<f64>();
        let first = [mean(&|f| f[0]), mean(&|f| f[1])];
        let both = |i: usize, j: usize| mean(&|f| (f[i] - first[i]) * (f[j] - first[j]));
        State {
            dual: most + libm::log(sum) + ridge,
            gradient: [first[0] + RIDGE * a[0], first[1] + RIDGE * a[1]],
            hessian: [both(0, 0) + RIDGE, both(0, 1), both(1, 1) + RIDGE],
            exponent,
            shares,
        }
    }

    /// Newton's step: −H⁻¹ g.
    fn step(&self) -> [f64; 2] {
        let ([g0, g1], [h00, h01, h11]) = (self.gradient, self.hessian);
        let determinant = (h00 * h11 - h01 * h01).max(f64::MIN_POSITIVE);
        [-(h11 * g0 - h01 * g1) / determinant, -(h00 * g1 - h01 * g0) / determinant]
    }
}

#[cfg(test)]
#[path = "tilt_tests.rs"]
mod tests;
