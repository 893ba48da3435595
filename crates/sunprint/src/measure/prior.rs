//! What a Gaussian expects of a tree of cells before they are counted.

use super::partition::Side;
use crate::math::rounding::Expected;
use crate::math::stream::Stream;

/// Points that are drawn for all strata together, and for one at least.
const POINTS: usize = 1 << 19;
const LEAST_POINTS: usize = 1 << 12;
/// Any fixed number: what is drawn here is part of the fit, and its result is stored.
const SEED: u64 = 1;
/// Added to both children of a node, in points: where no point falls, nothing is expected.
const DOUBT: f64 = 0.5;

/// For every stratum the part of each node's rows that falls into its first child, if the rows were Gaussian with this
/// mean, and with this triangular root of the covariance.
///
/// By points drawn from the Gaussian and clamped into the box, as the rows are.
pub fn expected(means: &[Vec<f64>], root: &[Vec<f64>], sides: &[Side], cuts: &[u16], depths: &[u8]) -> Vec<Expected> {
    let points = (POINTS / means.len().max(1)).max(LEAST_POINTS);
    (means.iter().zip(depths).enumerate())
        .map(|(stratum, (mean, &depth))| {
            let mut random = Stream::new(SEED, 0, stratum as u64);
            let mut counts: Vec<Vec<u32>> = (0..depth).map(|level| vec![0; 2 << level]).collect();
            let mut z = vec![0.0; root.len()];
            for _ in 0..points {
                random.normals(&mut z);
                let point: Vec<f64> = (root.iter().zip(mean).zip(sides))
                    .map(|((row, m), side)| {
                        let x = m + row.iter().zip(&z).map(|(l, z)| l * z).sum::<f64>();
                        x.clamp(side.low, side.low + side.width)
                    })
                    .collect();
                descend(&point, sides, cuts, &mut counts);
            }
            let part = |pair: &[u32]| (f64::from(pair[0]) + DOUBT) / (f64::from(pair[0] + pair[1]) + 2.0 * DOUBT);
            counts.iter().map(|level| level.chunks_exact(2).map(part).collect()).collect()
        })
        .collect()
}

/// Counts a point on every level.
fn descend(point: &[f64], sides: &[Side], cuts: &[u16], counts: &mut [Vec<u32>]) {
    let mut cell = sides.to_vec();
    let mut index = 0;
    for (level, &cut) in counts.iter_mut().zip(cuts) {
        let cut = usize::from(cut);
        let side = &mut cell[cut];
        side.width /= 2.0;
        let upper = point[cut] >= side.low + side.width;
        if upper {
            side.low += side.width;
        }
        index = 2 * index + usize::from(upper);
        level[index] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gaussian_in_the_middle_expects_halves_and_its_tails() {
        let sides = [Side { low: -2.0, width: 4.0 }];
        let expected = expected(&[vec![0.0]], &[vec![1.0]], &sides, &[0, 0], &[2]);
        assert!((expected[0][0][0] - 0.5).abs() < 0.01);
        // Below −1 there are 15.87 %, of the half below 0.
        assert!((expected[0][1][0] - 0.3173).abs() < 0.01 && (expected[0][1][1] - 0.6827).abs() < 0.01);
    }
}
