//! Points with weights, and what can be wrong with them.

use super::{exact_sum, gcd};
use crate::error::{Error, Kind, Result};
use crate::math::rounding::largest_remainders;

/// The integer masses of weighted points add up to this: fine enough that rounding is lost in a float's own, coarse
/// enough that sums fit.
const TOTAL_MASS: u64 = 1 << 50;

/// Points of one width, row by row, each with the same weight or with a weight of its own.
///
/// Whether the numbers can be used is checked when a distance is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Points<'a> {
    coordinates: &'a [f64],
    width: usize,
    weights: Option<&'a [f64]>,
}

impl<'a> Points<'a> {
    /// Points of `width` coordinates each, one after the other.
    ///
    /// # Errors
    /// If the width is 0 or the last point is cut short.
    pub fn new(coordinates: &'a [f64], width: usize) -> Result<Self> {
        if width == 0 {
            return Err(Error::new(Kind::Data, "`width` must be at least 1")
                .hint("a point without coordinates is at no distance from anything"));
        }
        if !coordinates.len().is_multiple_of(width) {
            return Err(Error::new(
                Kind::Data,
                format!("{} `coordinates` do not make up whole points of `width` {width}", coordinates.len()),
            )
            .hint("give the points one after the other, each with all its coordinates"));
        }
        Ok(Points { coordinates, width, weights: None })
    }

    /// The same points with weights: not negative, with sum 1.
    ///
    /// # Errors
    /// If there is not one weight for each point.
    pub fn weighted(self, weights: &'a [f64]) -> Result<Self> {
        if weights.len() != self.count() {
            return Err(Error::new(
                Kind::Data,
                format!("there are {} `weights` for {} points", weights.len(), self.count()),
            )
            .hint("give one weight for each point"));
        }
        Ok(Points { weights: Some(weights), ..self })
    }

    /// The number of points.
    pub fn count(&self) -> usize {
        self.coordinates.len() / self.width
    }

    /// The number of coordinates of each point.
    pub fn width(&self) -> usize {
        self.width
    }

    pub(super) fn coordinates(&self) -> &'a [f64] {
        self.coordinates
    }

    /// Refuses what has no distance; `side` is what the caller calls these points.
    pub(super) fn check(&self, side: &str) -> Result<()> {
        if self.coordinates.is_empty() {
            return Err(Error::new(Kind::Data, format!("`{side}` has no points"))
                .hint("a distance needs at least one point on each side"));
        }
        if let Some(at) = self.coordinates.iter().position(|x| !x.is_finite()) {
            let (point, coordinate) = (at / self.width, at % self.width);
            return Err(Error::new(
                Kind::Data,
                format!("coordinate {coordinate} of point {point} of `{side}` is not a finite number"),
            )
            .hint("points and coordinates are counted from 0; leave the point out or fill the gap"));
        }
        self.weights.map_or(Ok(()), |weights| check_weights(weights, side))
    }

    /// The weights, unless they are all the same.
    fn own_weights(&self) -> Option<&'a [f64]> {
        self.weights.filter(|weights| weights.iter().any(|weight| *weight != weights[0]))
    }
}

fn check_weights(weights: &[f64], side: &str) -> Result<()> {
    let wrong = |what: String, hint: &str| Err(Error::new(Kind::Data, what).hint(hint));
    if let Some(at) = weights.iter().position(|weight| !weight.is_finite()) {
        return wrong(format!("weight {at} of `{side}` is not a finite number"), "points are counted from 0");
    }
    if let Some(at) = weights.iter().position(|weight| *weight < 0.0) {
        return wrong(
            format!("weight {at} of `{side}` is negative"),
            "points are counted from 0; mass cannot be owed, only carried",
        );
    }
    let sum = exact_sum(weights.iter().copied());
    if sum == 0.0 {
        return wrong(format!("all `weights` of `{side}` are 0"), "at least one point needs a positive weight");
    }
    if (sum - 1.0).abs() > 1e-9 {
        return wrong(format!("the `weights` of `{side}` sum to {sum}, not to 1"), "divide each weight by their sum");
    }
    Ok(())
}

/// Integer masses in the place of weights.
pub(super) struct Masses {
    pub a: Vec<i64>,
    pub b: Vec<i64>,
    /// What each side adds up to.
    pub total: i64,
    /// How far each mass is from total × weight at most, per point of `a` and of `b`; empty if the masses are exact.
    pub off: Option<(Vec<f64>, Vec<f64>)>,
}

impl Masses {
    /// n and m points of equal weights get m/g and n/g each, g = gcd(n, m): exact. Other weights are rounded.
    pub fn of(a: &Points, b: &Points) -> Masses {
        let (n, m) = (a.count(), b.count());
        let (own_a, own_b) = (a.own_weights(), b.own_weights());
        if own_a.is_none() && own_b.is_none() {
            let shared = gcd(n, m);
            let (each_a, each_b) = ((m / shared) as i64, (n / shared) as i64);
            return Masses { a: vec![each_a; n], b: vec![each_b; m], total: n as i64 * each_a, off: None };
        }
        let even = |count: usize| vec![1.0 / count as f64; count];
        let (rounded_a, off_a) = rounded(&own_a.map_or_else(|| even(n), <[f64]>::to_vec));
        let (rounded_b, off_b) = rounded(&own_b.map_or_else(|| even(m), <[f64]>::to_vec));
        Masses { a: rounded_a, b: rounded_b, total: TOTAL_MASS as i64, off: Some((off_a, off_b)) }
    }
}

/// Rounds weights to masses; a point of weight 0 gets none.
fn rounded(weights: &[f64]) -> (Vec<i64>, Vec<f64>) {
    let positive: Vec<f64> = weights.iter().copied().filter(|&weight| weight > 0.0).collect();
    let sum = exact_sum(positive.iter().copied());
    let mut shares = largest_remainders(TOTAL_MASS, &positive).into_iter();
    let masses: Vec<i64> =
        weights.iter().map(|&weight| if weight > 0.0 { shares.next().unwrap_or(0) as i64 } else { 0 }).collect();
    // The sum, the quotient and the difference are each wrong by a last place or two at most.
    let doubt = 4.0 * f64::EPSILON;
    let exact = |weight: f64| TOTAL_MASS as f64 * (weight / sum);
    let off = |(&weight, &mass): (&f64, &i64)| (exact(weight) - mass as f64).abs() + doubt * exact(weight);
    let off = weights.iter().zip(&masses).map(off).collect();
    (masses, off)
}
