//! Offsets by which the largest of several weights is each alternative as often as it should be.
//!
//! Row i chooses the alternative with the largest `x_ic + o_c`, and a part p_c of the rows shall choose c. That is optimal
//! transport from rows to alternatives: the offsets are the maximum of the concave function
//! `F(o) = Σ_c p_c o_c − mean_i max_c (x_ic + o_c)`, whose gradient is p less the shares that are chosen. Its second
//! derivative is minus a graph's Laplacian: the edge between a and b weighs as many rows as stand on the border between them,
//! per unit of offset. Rows within h of the border (the gap between the largest weight and the second) say how many these
//! are, and Newton's method needs a few steps where raising one offset after the other needs a hundred (Kitagawa, Mérigot and
//! Thibert, *Convergence of a Newton algorithm for semi-discrete optimal transport*, 2019). As h, the distance over which
//! twice as many rows change as must, which shrinks with what is left to be done.

use super::cholesky::Cholesky;

/// Steps at most, and the error of a share at which they end, if one row is not more.
const STEPS: usize = 40;
const EXACT: f64 = 5e-4;
/// A step that is too long is halved at most so often.
const HALVINGS: usize = 20;
/// Of the rows, at least this part says how dense the borders are.
const LEAST_AT_BORDER: f64 = 0.02;
/// An alternative with no row near its border moves by so many times h.
const REACH: f64 = 4.0;
/// Rows that are looked at together: their weights and choices stay in the nearest cache.
const TOGETHER: usize = 512;

/// The offsets, given every alternative's weights in all rows, and the shares. The shares are positive with sum 1.
pub fn offsets(weights: &[Vec<f32>], shares: &[f64]) -> Vec<f64> {
    let order = shares.len();
    let exact = EXACT.max(1.0 / weights[0].len().max(1) as f64);
    let mut at = Chosen::by(weights, vec![0.0; order]);
    for _ in 0..STEPS {
        let short: Vec<f64> = shares.iter().zip(&at.shares).map(|(p, seen)| p - seen).collect();
        if order < 2 || weights[0].is_empty() || short.iter().all(|short| short.abs() <= exact) {
            break;
        }
        let Some(next) = at.risen(&at.step(&short), weights, shares) else { break };
        at = next;
    }
    at.offsets
}

/// What the rows choose with some offsets.
struct Chosen {
    offsets: Vec<f64>,
    /// The part of the rows that chooses each.
    shares: Vec<f64>,
    /// Of every row the largest, the second, and the gap between them.
    borders: Vec<(u16, u16, f32)>,
    /// The mean of the largest weights.
    largest: f64,
}

impl Chosen {
    fn by(weights: &[Vec<f32>], offsets: Vec<f64>) -> Chosen {
        let rows = weights[0].len();
        let mut borders = Vec::with_capacity(rows);
        let mut largest = 0.0;
        let mut counts = vec![0_u32; offsets.len()];
        for start in (0..rows).step_by(TOGETHER) {
            let here = (rows - start).min(TOGETHER);
            let (mut most, mut next) = ([f32::NEG_INFINITY; TOGETHER], [f32::NEG_INFINITY; TOGETHER]);
            let (mut first, mut second) = ([0_u32; TOGETHER], [0_u32; TOGETHER]);
            for (c, (weights, &offset)) in weights.iter().zip(&offsets).enumerate() {
                let (weights, offset, c) = (&weights[start..start + here], offset as f32, c as u32);
                // Choices without a branch, so that several rows are done at once.
                for i in 0..here {
                    let weight = weights[i] + offset;
                    let (leads, follows) = (weight > most[i], weight > next[i]);
                    let (behind, who) = if follows { (weight, c) } else { (next[i], second[i]) };
                    (next[i], second[i]) = if leads { (most[i], first[i]) } else { (behind, who) };
                    (most[i], first[i]) = if leads { (weight, c) } else { (most[i], first[i]) };
                }
            }
            for i in 0..here {
                counts[first[i] as usize] += 1;
                largest += f64::from(most[i]);
                borders.push((first[i] as u16, second[i] as u16, most[i] - next[i]));
            }
        }
        let shares = counts.iter().map(|&count| f64::from(count) / rows.max(1) as f64).collect();
        Chosen { offsets, shares, borders, largest: largest / rows.max(1) as f64 }
    }

    /// F along a step: the whole of it where F still rises at its end, else the best of some points between, by halving.
    /// F is concave, so a step uphill leads higher unless it is too long. Nothing where no point is higher.
    fn risen(&self, step: &[f64], weights: &[Vec<f32>], shares: &[f64]) -> Option<Chosen> {
        let (mut low, mut high, mut length, mut best) = (0.0, 1.0, 1.0, None);
        for _ in 0..HALVINGS {
            let offsets = self.offsets.iter().zip(step).map(|(offset, step)| offset + length * step).collect();
            let next = Chosen::by(weights, offsets);
            let rises =
                step.iter().zip(shares).zip(&next.shares).map(|((d, p), seen)| d * (p - seen)).sum::<f64>() >= 0.0;
            let height = |at: &Chosen| at.height(shares);
            if height(&next) > best.as_ref().map_or(height(self), height) {
                best = Some(next);
            }
            if rises && length == 1.0 || best.is_some() && high - low < 0.3 {
                break;
            }
            *(if rises { &mut low } else { &mut high }) = length;
            length = 0.5 * (low + high);
        }
        best
    }

    /// F.
    fn height(&self, shares: &[f64]) -> f64 {
        self.offsets.iter().zip(shares).map(|(offset, share)| offset * share).sum::<f64>() - self.largest
    }

    /// The part of the rows that must choose otherwise.
    #[cfg(test)]
    fn off(&self, shares: &[f64]) -> f64 {
        0.5 * shares.iter().zip(&self.shares).map(|(p, seen)| (p - seen).abs()).sum::<f64>()
    }

    /// Newton's step for shares that are short by so much.
    fn step(&self, short: &[f64]) -> Vec<f64> {
        let (order, rows) = (short.len(), self.borders.len() as f64);
        let moving = short.iter().map(|short| short.abs()).sum::<f64>().clamp(LEAST_AT_BORDER, 1.0);
        let mut gaps: Vec<f32> = self.borders.iter().map(|border| border.2).collect();
        let at = ((moving * rows) as usize).min(gaps.len() - 1);
        let near = f64::from(*gaps.select_nth_unstable_by(at, f32::total_cmp).1).max(1e-6);
        let mut laplacian = vec![0.0; order * order];
        for &(first, second, gap) in &self.borders {
            if f64::from(gap) <= near {
                // Rows on both sides of a border, hence 2h.
                let density = 0.5 / (near * rows);
                let (a, b) = (usize::from(first), usize::from(second));
                laplacian[a * order + a] += density;
                laplacian[b * order + b] += density;
                laplacian[a * order + b] -= density;
                laplacian[b * order + a] -= density;
            }
        }
        for (c, short) in short.iter().enumerate() {
            laplacian[c * order + c] += short.abs().max(1e-9) / (REACH * near);
        }
        Cholesky::new(&laplacian, order).solve(short)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::stream::Stream;
    use proptest::prelude::*;

    fn normals(rows: usize, order: usize, seed: u64) -> Vec<Vec<f32>> {
        let mut random = Stream::new(seed, 5, 0);
        (0..order).map(|c| (0..rows).map(|_| (random.normal() * (1.0 + c as f64)) as f32).collect()).collect()
    }

    proptest! {
        /// The shares are met, whatever they are; and no offsets are better than those, by the concave function: its
        /// gradient is what the shares are off.
        #[test]
        fn the_shares_are_met(parts in prop::collection::vec(0.02_f64..1.0, 2..40), seed in 0_u64..1000) {
            let whole: f64 = parts.iter().sum();
            let shares: Vec<f64> = parts.iter().map(|part| part / whole).collect();
            let weights = normals(6000, shares.len(), seed);
            let found = Chosen::by(&weights, offsets(&weights, &shares));
            let most = (0.5 * EXACT * shares.len() as f64).max(4e-3);
            prop_assert!(found.off(&shares) <= most, "{} of {}", found.off(&shares), shares.len());
        }
    }

    /// Rare alternatives that nobody chooses at first are found, also where their weights are far below the others'.
    #[test]
    fn rare_ones_are_found() {
        let mut weights = normals(30_000, 12, 3);
        weights[4].iter_mut().for_each(|x| *x -= 300.0);
        let mut shares = vec![0.001; 12];
        shares[0] = 0.989;
        let found = Chosen::by(&weights, offsets(&weights, &shares));
        assert!(found.off(&shares) < 2e-3, "{:?}", found.shares);
    }

    /// Weights that are all equal are chosen together, whatever is wanted: it ends.
    #[test]
    fn equal_weights_end() {
        let weights = vec![vec![1.0; 1000]; 3];
        let found = offsets(&weights, &[0.2, 0.3, 0.5]);
        assert!(found.iter().all(|offset| offset.is_finite()));
        assert_eq!(offsets(&[vec![1.0; 5]], &[1.0]), [0.0]);
        assert_eq!(offsets(&[vec![], vec![]], &[0.5, 0.5]), [0.0, 0.0]);
    }
}
