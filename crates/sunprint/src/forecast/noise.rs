//! The noise of the measurements, as their mechanisms foresee it.

use super::Question;
use crate::error::Result;
use crate::math::zcdp;
use crate::plan::{CELLS, Shares, Tuning, difficulty, sums_of_strata};
use crate::privacy::{Law, NoiseScale, Price, Privacy};
use crate::schema::HOT;
use crate::subspace::{Before, Centre, TYPICAL_SPREAD, clip_radius, contrast_reach};
use crate::tally::codes::Q;
use crate::tally::{ANCHOR, ClampedSums, MomentLayout, contrast_span, grid_radius, helmert};
use serde::Serialize;

/// Standard deviations of released numbers, in units: 1 is the width of a column's bounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Noise {
    /// What is left of the noise in a column's mean once all is released.
    pub mean: f64,
    /// The same in a stratum's mean, where only means are measured and strata have their own. Strata have equally many
    /// rows here.
    pub stratum_mean: Option<f64>,
    /// In a column's variance; a typical one is [`Noise::typical_variance`]. Where only means are measured all columns
    /// have one variance in common.
    pub variance: f64,
    /// Directions with less variance than about this drown. Nothing where none is looked for.
    pub edge: Option<f64>,
    /// In the part of the rows up to a value, where the values of columns are counted one by one.
    pub distribution: Option<f64>,
    /// The variance of a column that is assumed where nothing is known.
    pub typical_variance: f64,
}

/// What a measurement with this share may spend.
pub(super) fn price(question: &Question, share: u64) -> Price {
    let part = share as f64 / Shares::WHOLE as f64;
    match question.delta {
        None => Price::near(question.epsilon * part, Privacy::Pure),
        Some(delta) => Price::near(zcdp::rho_for(question.epsilon, delta) * part, Privacy::Concentrated),
    }
}

/// The deviation of noise; beyond all bounds where a budget is too small for any.
fn deviation(law: Result<Law>) -> f64 {
    law.map_or(f64::MAX.sqrt(), |law| law.deviation())
}

impl Noise {
    /// The noise of a fit with these shares.
    ///
    /// The first release is read as the fit reads it, for a table with a typical spread whose columns have means at 0.3
    /// and 0.7 by turns. The noise σ of a mean carries them apart, to `½ ± √(0.2² + σ²)`: the fit takes σ² from how far
    /// they are apart, and without it would find them closer together the more noise there is. Categories are taken to
    /// be as many in each of their columns.
    pub(super) fn of(question: &Question, shares: &Shares) -> Noise {
        let (d, n) = (question.width as f64, question.rows as f64);
        let (before, centre) = first_release(question, shares);
        let typical_variance = match question.width - question.lines {
            0 => TYPICAL_SPREAD,
            _ => (TYPICAL_SPREAD * question.lines as f64 + centre.categories) / d,
        };
        // Over all coordinates: the root of the mean square.
        let over = |one: &dyn Fn(f64) -> f64| (centre.doubts.iter().map(|&x| one(x).powi(2)).sum::<f64>() / d).sqrt();
        let first = over(&|doubt| doubt);
        let distribution = (shares.marginals > 0).then(|| distribution_noise(question, shares));
        let by_themselves = shares.contrasts > 0 && sums_of_strata(question.strata);
        let stratum_mean = (shares.contrasts > 0).then(|| match by_themselves {
            true => together(stratum_sum_noise(question, shares), typical_variance.sqrt()),
            false => first.hypot(contrast_noise(question, shares, &centre)),
        });
        // All strata together: the mean of k numbers with as much noise as each of them.
        let first = if by_themselves {
            together(stratum_sum_noise(question, shares) / (question.strata as f64).sqrt(), first)
        } else {
            first
        };
        if shares.moments == 0 {
            // What Centre::read draws towards the typical spread keeps an error smaller than either.
            let open = question.lines as f64;
            let common = together(centre.spread_noise, TYPICAL_SPREAD * open) / open;
            let variance = if question.lines == 0 { typical_variance } else { common };
            return Noise { mean: first, stratum_mean, variance, edge: None, distribution, typical_variance };
        }
        let clip = Tuning::default().clip_at(difficulty(question.rows, question.width, question.epsilon));
        let layout = MomentLayout::new(question.width, question.strata);
        let (entry, edge) = moment_noise(layout, price(question, shares.moments));
        let unit = f64::from(clip_radius(&centre, &before, clip)) / (grid_radius(question.width) as f64 * f64::from(Q));
        // The anchor of the constant coordinate is √(K²/10): the mean's noise is that of an entry over it.
        let again = entry / (ANCHOR as f64 * n) * unit;
        let square = unit * unit / n;
        let variance = std::f64::consts::SQRT_2 * entry * square;
        let edge = Some(edge * square);
        let mean = over(&|doubt| together(again, doubt));
        Noise { mean, stratum_mean, variance, edge, distribution, typical_variance }
    }
}

/// What is left if two measurements with these errors, or one and what was known before, are put together.
fn together(one: f64, other: f64) -> f64 {
    one * other / (one * one + other * other).sqrt().max(f64::MIN_POSITIVE)
}

/// The coordinates as the fit sees them, and its first release.
pub(super) fn first_release(question: &Question, shares: &Shares) -> (Vec<Before>, Centre) {
    let (n, q, open) = (question.rows as f64, f64::from(Q), question.lines.min(question.width));
    let among = (question.width - open).div_ceil(question.categories.max(1)).max(1);
    let category = Before::Category { hot: f64::from(HOT) / q, among };
    let before: Vec<Before> = (0..question.width).map(|j| if j < open { Before::Open } else { category }).collect();
    if open == 0 {
        return (before.clone(), Centre::read(question.rows, &before, &[], 0, 0.0, 0.0));
    }
    let d = open as f64;
    let square_sensitivity = open as u128 * u128::from(Q) * u128::from(Q);
    let square_noise = deviation(Law::of_number(square_sensitivity, price(question, shares.spread)));
    if shares.centre == 0 {
        let square = 4.0 * n * q * q * d * TYPICAL_SPREAD;
        return (before.clone(), Centre::unmeasured(question.rows, &before, square as i128, square_noise));
    }
    let sum_noise = deviation(Law::of_cube(open as u64, Q.into(), price(question, shares.centre)));
    let apart = (0.04 + (sum_noise / (n * q)).powi(2)).sqrt();
    let place = |j: usize| if j.is_multiple_of(2) { 0.5 - apart } else { 0.5 + apart };
    let sums: Vec<i64> = (0..open).map(|j| (n * q * place(j)) as i64).collect();
    // T/(4nQ²) is the mean of ‖x − ½‖²: the spread and the squares of the means around the middle.
    let square = 4.0 * n * q * q * d * (TYPICAL_SPREAD + 0.04);
    let centre = Centre::read(question.rows, &before, &sums, square as i128, sum_noise, square_noise);
    (before, centre)
}

/// The noise in the mean of one of k equal strata that are summed by themselves, about the middle of the bounds: the cube
/// mechanism with span Q over n/k rows.
fn stratum_sum_noise(question: &Question, shares: &Shares) -> f64 {
    let law = Law::of_cube(question.width as u64, Q.into(), price(question, shares.contrasts));
    deviation(law) * question.strata as f64 / (question.rows as f64 * f64::from(Q))
}

/// What the contrasts leave of the difference between a stratum's mean and that of all rows.
///
/// The mean of one of k equal strata is `Σ_c S_cs T_c/‖S_c‖²` over n/k rows; over the strata the squares of
/// `S_cs/‖S_c‖²` have the mean `Σ_c 1/(k ‖S_c‖²)`. Differences are thought to be as large as a column deviates.
fn contrast_noise(question: &Question, shares: &Shares, centre: &Centre) -> f64 {
    let (k, q) = (question.strata as f64, f64::from(Q));
    let codes = helmert(question.strata);
    let spec = ClampedSums { centre: centre.codes.clone(), reach: contrast_reach(centre) };
    let entries = codes.len() * question.width;
    let one = deviation(Law::of_cube(entries as u64, contrast_span(&spec), price(question, shares.contrasts)));
    let square = |row: &Vec<i64>| row.iter().map(|&x| (x * x) as f64).sum::<f64>();
    let weight = codes.iter().map(|row| 1.0 / square(row)).sum::<f64>() / k;
    let measured = one * weight.sqrt() * k / (question.rows as f64 * q);
    let typical = (centre.spread / question.width as f64).sqrt();
    together(measured, typical)
}

/// The error of a column's distribution function: `b √B/n`, where the counts of B cells have Laplace noise of scale b, or
/// Gaussian noise as wide as that, `σ = √2 b`.
fn distribution_noise(question: &Question, shares: &Shares) -> f64 {
    let law = Law::of_histograms(question.columns as u64, price(question, shares.marginals));
    let cells = f64::from(CELLS);
    (deviation(law) * (0.5 * cells).sqrt() / question.rows as f64).min(1.0)
}

/// Standard deviation of an entry of the noisy moments and their noise edge, in the integers of the grid.
pub(super) fn moment_noise(layout: MomentLayout, price: Price) -> (f64, f64) {
    match NoiseScale::of(layout.row_norm_squared(), price) {
        Ok(scale) => (scale.entry(layout.order()), scale.edge(layout.order())),
        Err(_) => (f64::MAX.sqrt(), f64::MAX.sqrt()),
    }
}
