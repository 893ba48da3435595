//! Generated tables: a mixture of three Gaussians in a random subspace, clipped to the cube.

use sunprint::math::stream::Stream;
use sunprint::tally::codes::{Codes, Q};

/// The part of the variance that lies between the three centres rather than within them.
pub const BETWEEN: f64 = 0.75;

/// What to generate. The same recipe gives the same table on every machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// n
    pub rows: usize,
    /// d
    pub width: usize,
    /// k, the dimension of the subspace; at most d.
    pub dimension: usize,
    /// The standard deviation of the whole mixture along an axis of the subspace (root mean square over its axes).
    pub spread: f64,
    /// Chooses subspace, centres and rows.
    pub seed: u64,
}

impl Recipe {
    /// A recipe whose columns vary about as much whatever the width: a spread of 0.057 √d.
    pub fn new(rows: usize, width: usize, dimension: usize, seed: u64) -> Self {
        Recipe { rows, width, dimension, spread: 0.057 * (width as f64).sqrt(), seed }
    }

    /// The same with another spread.
    #[must_use]
    pub fn with_spread(mut self, spread: f64) -> Self {
        self.spread = spread;
        self
    }
}

/// A generated table, and what a curator would not know: the subspace it lies in.
pub struct Generated {
    /// The rows, as the door would encode them.
    pub codes: Codes,
    /// The orthonormal basis of the subspace through the middle of the cube.
    pub basis: Vec<Vec<f64>>,
}

/// Rows of one stream: blocks can be generated in any order.
const BLOCK: usize = 4096;

/// Generates the table of a recipe: x = ½ + Σ_l a_l v_l, clipped to [0, 1]^d, where a is drawn from one of three
/// spherical Gaussians, each equally likely.
///
/// # Panics
/// If the dimension is 0 or larger than the width.
pub fn generated(recipe: &Recipe) -> Generated {
    let Recipe { rows, width, dimension, spread, seed } = *recipe;
    assert!(dimension >= 1 && dimension <= width, "generated: a subspace of the cube");
    let basis = random_basis(width, dimension, &mut Stream::new(seed, 1, 0));
    let centres = spread_centres(dimension, &mut Stream::new(seed, 2, 0));
    let within = spread * (1.0 - BETWEEN).sqrt();

    let mut codes = Codes::with_capacity(width, rows);
    let mut point = vec![0.0; width];
    for block in 0..rows.div_ceil(BLOCK) {
        let mut stream = Stream::new(seed, 3, block as u64);
        for _ in block * BLOCK..rows.min((block + 1) * BLOCK) {
            let centre = &centres[stream.below(3) as usize];
            point.fill(0.5);
            for (v, c) in basis.iter().zip(centre) {
                let a = spread * c + within * stream.normal();
                point.iter_mut().zip(v).for_each(|(x, v)| *x += a * v);
            }
            // A cast saturates at 0 and 65535: that is the clipping.
            let row: Vec<u16> = point.iter().map(|x| (x * f64::from(Q)).round() as u16).collect();
            codes.push(&row, 0);
        }
    }
    Generated { codes, basis }
}

/// A uniformly random subspace: normal vectors have no preferred direction, and making them orthonormal one after the
/// other (twice, against rounding) does not give them one.
pub(crate) fn random_basis(width: usize, dimension: usize, stream: &mut Stream) -> Vec<Vec<f64>> {
    let mut basis: Vec<Vec<f64>> = Vec::with_capacity(dimension);
    for _ in 0..dimension {
        let mut v: Vec<f64> = (0..width).map(|_| stream.normal()).collect();
        for _ in 0..2 {
            for u in &basis {
                let along: f64 = u.iter().zip(&v).map(|(u, v)| u * v).sum();
                v.iter_mut().zip(u).for_each(|(v, u)| *v -= along * u);
            }
            let length = v.iter().map(|x| x * x).sum::<f64>().sqrt();
            v.iter_mut().for_each(|x| *x /= length);
        }
        basis.push(v);
    }
    basis
}

/// Three random centres with mean 0 and mean square `BETWEEN` per axis, so that the mixture has spread 1.
fn spread_centres(dimension: usize, stream: &mut Stream) -> [Vec<f64>; 3] {
    let mut centres: [Vec<f64>; 3] = std::array::from_fn(|_| (0..dimension).map(|_| stream.normal()).collect());
    for l in 0..dimension {
        let mean = centres.iter().map(|c| c[l]).sum::<f64>() / 3.0;
        centres.iter_mut().for_each(|c| c[l] -= mean);
    }
    let square = centres.iter().flatten().map(|x| x * x).sum::<f64>() / (3 * dimension) as f64;
    let scale = (BETWEEN / square).sqrt();
    centres.iter_mut().flatten().for_each(|x| *x *= scale);
    centres
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::Rows;

    #[test]
    fn the_table_lies_in_its_subspace() {
        let table = generated(&Recipe::new(500, 40, 3, 9).with_spread(0.2));
        let rows = Rows::from_codes(&table.codes);
        let inside = rows.coordinates(&table.basis);
        for i in 0..rows.count() {
            let square = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
            let whole: Vec<f64> = rows.row(i).iter().map(|x| x - 0.5).collect();
            assert!((square(&whole) - square(inside.row(i))).abs() < 1e-3, "nothing is clipped at this spread");
        }
        let variance = inside.values().iter().map(|x| x * x).sum::<f64>() / inside.values().len() as f64;
        assert!((variance.sqrt() - 0.2).abs() < 0.02, "{}", variance.sqrt());
    }

    #[test]
    fn recipes_are_reproducible_and_a_longer_table_begins_with_the_shorter() {
        let (short, long) = (generated(&Recipe::new(10, 6, 2, 1)), generated(&Recipe::new(5_000, 6, 2, 1)));
        assert!((0..10).all(|i| short.codes.row(i) == long.codes.row(i)));
        let other = generated(&Recipe::new(10, 6, 2, 2));
        assert!((0..10).any(|i| short.codes.row(i) != other.codes.row(i)));
    }
}
