//! Weighted least squares on a tree of noisy counts (Hay, Rastogi, Miklau, Suciu 2010), strata first.
//!
//! Proof: docs/proofs.md, Lemma 18.
//!
//! The tree: a root whose count is known exactly; one child for each stratum, with a noisy count or none; below each
//! stratum a binary tree of its own depth, where level j has 2^(j+1) noisy counts of one variance. Wanted: the counts
//! that add up exactly at every node and lie nearest to the noisy ones, Σ (h − n′)²/variance.
//!
//! **Up.** Let (z, s) be the best estimate of a node's count from its own subtree alone, and its variance. A leaf has
//! its own noisy count. The children of an inner node are independent with the same variance, so their sum has
//! (Σz, 2s), independent of the node's own noisy count: the two are combined with inverse variances as weights.
//!
//! **Down.** Once a parent's count h is fixed, what its children must add up to is known, and the discrepancy is
//! shared in proportion to their variances: equally between two children, and s_i/Σs among the strata. (Lagrange: the
//! least Σ(h_i − z_i)²/s_i with Σh_i = h.) Everything below a child depends on the rest through its count alone, so
//! the two sweeps solve the whole problem.

/// Noisy counts of one level of a stratum's binary tree, all of one variance.
#[derive(Clone, Debug, PartialEq)]
pub struct NoisyLevel {
    /// Twice as many as in the level above; the children of node i are 2i and 2i + 1.
    pub counts: Vec<f64>,
    /// The variance of the noise: 0 for exact counts, infinite for counts that were not measured.
    pub variance: f64,
}

/// What was released of one stratum.
#[derive(Clone, Debug, PartialEq)]
pub struct NoisyStratum {
    /// The stratum's count and the variance of its noise; `None` if it was not measured.
    pub root: Option<(f64, f64)>,
    /// The levels below, the first with two counts. May be empty.
    pub levels: Vec<NoisyLevel>,
}

/// Counts that add up, before they are rounded.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedStratum {
    /// The stratum's count. Perhaps negative.
    pub root: f64,
    /// The variance of the stratum's count as its own subtree knows it; infinite if it knows nothing.
    pub variance: f64,
    /// The counts of the levels below; the children of a node add up to it.
    pub levels: Vec<Vec<f64>>,
    /// The variance of a count of each level as its own subtree knows it.
    pub spreads: Vec<f64>,
}

/// An estimate and its variance.
#[derive(Clone, Copy)]
struct Estimate(f64, f64);

impl Estimate {
    /// The best mixture of two independent estimates of one number: weights are inverse variances.
    fn with(self, other: Estimate) -> Estimate {
        let (Estimate(x, v), Estimate(y, w)) = (self, other);
        match (v.is_infinite(), w.is_infinite()) {
            (true, true) => Estimate(0.0, f64::INFINITY),
            (true, false) => other,
            (false, true) => self,
            (false, false) if v + w > 0.0 => Estimate((x * w + y * v) / (v + w), v * (w / (v + w))),
            (false, false) => Estimate(0.5 * (x + y), 0.0),
        }
    }
}

/// What is known of every node from its own subtree.
struct Upward {
    root: Estimate,
    levels: Vec<Vec<f64>>,
    spreads: Vec<f64>,
}

fn upward(stratum: &NoisyStratum) -> Upward {
    let depth = stratum.levels.len();
    let mut levels: Vec<Vec<f64>> = Vec::with_capacity(depth);
    let mut spread = f64::INFINITY;
    let mut spreads = Vec::with_capacity(depth);
    for (j, level) in stratum.levels.iter().enumerate().rev() {
        assert_eq!(level.counts.len(), 2 << j, "least_squares: level {j} has 2^({j}+1) counts");
        let below = levels.last();
        let estimates: Vec<Estimate> = (level.counts.iter().enumerate())
            .map(|(i, &count)| match below {
                Some(z) => Estimate(count, level.variance).with(Estimate(z[2 * i] + z[2 * i + 1], 2.0 * spread)),
                None => Estimate(count, level.variance).with(Estimate(0.0, f64::INFINITY)),
            })
            .collect();
        spread = estimates[0].1;
        spreads.push(spread);
        levels.push(estimates.into_iter().map(|e| e.0).collect());
    }
    let of_children = levels.last().map_or(Estimate(0.0, f64::INFINITY), |z| Estimate(z[0] + z[1], 2.0 * spread));
    levels.reverse();
    spreads.reverse();
    let own = stratum.root.map_or(Estimate(0.0, f64::INFINITY), |(count, variance)| Estimate(count, variance));
    Upward { root: own.with(of_children), levels, spreads }
}

/// The counts nearest to the noisy ones that add up at every node, and to `total` at the root.
///
/// Nothing for no strata. A part of the tree of which nothing was measured shares its parent's remainder evenly.
///
/// # Panics
/// If a level does not have twice the counts of the level above.
pub fn least_squares(total: f64, strata: &[NoisyStratum]) -> Vec<FittedStratum> {
    let known: Vec<Upward> = strata.iter().map(upward).collect();
    let surplus = total - known.iter().map(|k| k.root.0).sum::<f64>();
    let shares = shares_of_surplus(&known.iter().map(|k| k.root.1).collect::<Vec<f64>>());
    known
        .into_iter()
        .zip(shares)
        .map(|(known, share)| {
            let Estimate(z, variance) = known.root;
            let mut fitted =
                FittedStratum { root: z + share * surplus, variance, levels: known.levels, spreads: known.spreads };
            let FittedStratum { root, levels, .. } = &mut fitted;
            let mut parents = std::slice::from_ref(root);
            for level in levels {
                for (pair, parent) in level.chunks_exact_mut(2).zip(parents) {
                    let correction = 0.5 * (parent - (pair[0] + pair[1]));
                    pair[0] += correction;
                    pair[1] += correction;
                }
                parents = level;
            }
            fitted
        })
        .collect()
}

/// In proportion to the variances. Among strata of which nothing is known, evenly, and nothing to the others; evenly
/// too if all are exact and still do not add up.
fn shares_of_surplus(variances: &[f64]) -> Vec<f64> {
    let unknown = variances.iter().filter(|v| v.is_infinite()).count();
    let sum: f64 = variances.iter().sum();
    let share = |v: &f64| match (unknown, sum > 0.0) {
        (0, true) => v / sum,
        (0, false) => 1.0 / variances.len() as f64,
        _ if v.is_infinite() => 1.0 / unknown as f64,
        _ => 0.0,
    };
    variances.iter().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::stream::Stream;
    use proptest::prelude::*;

    /// Solves a dense linear system by elimination with pivots.
    fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
        let size = b.len();
        for p in 0..size {
            let best = (p..size).max_by(|&i, &j| a[i][p].abs().total_cmp(&a[j][p].abs())).unwrap();
            a.swap(p, best);
            b.swap(p, best);
            for i in 0..size {
                if i != p {
                    let factor = a[i][p] / a[p][p];
                    let pivot = a[p].clone();
                    a[i].iter_mut().zip(&pivot).for_each(|(x, y)| *x -= factor * y);
                    b[i] -= factor * b[p];
                }
            }
        }
        (0..size).map(|i| b[i] / a[i][i]).collect()
    }

    /// The same problem without any tree: unknown leaves x, every noisy count a row of a design matrix, and one
    /// Lagrange multiplier for Σx = total.
    fn dense_leaves(total: f64, strata: &[NoisyStratum]) -> Vec<f64> {
        let leaves: Vec<usize> = strata.iter().map(|s| 1 << s.levels.len()).collect();
        let size: usize = leaves.iter().sum();
        let mut a = vec![vec![0.0; size + 1]; size + 1];
        let mut b = vec![0.0; size + 1];
        let mut first = 0;
        for (stratum, &leaves) in strata.iter().zip(&leaves) {
            let mut measured: Vec<(std::ops::Range<usize>, f64, f64)> =
                stratum.root.iter().map(|&(count, v)| (first..first + leaves, count, v)).collect();
            for level in &stratum.levels {
                let span = leaves / level.counts.len();
                measured.extend(
                    level
                        .counts
                        .iter()
                        .enumerate()
                        .map(|(i, &n)| (first + i * span..first + (i + 1) * span, n, level.variance)),
                );
            }
            for (range, count, variance) in measured {
                for i in range.clone() {
                    range.clone().for_each(|j| a[i][j] += 1.0 / variance);
                    b[i] += count / variance;
                }
            }
            first += leaves;
        }
        a.iter_mut().for_each(|row| row[size] = 1.0);
        a[size] = vec![1.0; size + 1];
        a[size][size] = 0.0;
        b[size] = total;
        let mut x = solve(a, b);
        x.truncate(size);
        x
    }

    fn random_tree(strata: usize, depth: usize, seed: u64) -> Vec<NoisyStratum> {
        let mut stream = Stream::new(seed, 0, 0);
        (0..strata)
            .map(|_| {
                let depth = stream.below(depth as u64 + 1) as usize;
                let root = (strata > 1).then(|| (20.0 * stream.normal(), 0.5 + 9.0 * stream.unit()));
                let level = |j: usize, stream: &mut Stream| NoisyLevel {
                    counts: (0..2 << j).map(|_| 10.0 * stream.normal()).collect(),
                    variance: 0.5 + 9.0 * stream.unit(),
                };
                NoisyStratum { root, levels: (0..depth).map(|j| level(j, &mut stream)).collect() }
            })
            .collect()
    }

    fn adds_up(total: f64, fitted: &[FittedStratum]) -> bool {
        let near = |x: f64, y: f64| (x - y).abs() < 1e-9 * (1.0 + x.abs());
        near(total, fitted.iter().map(|f| f.root).sum())
            && fitted.iter().all(|f| {
                let mut parents = vec![f.root];
                f.levels.iter().all(|level| {
                    let sums: Vec<f64> = level.chunks_exact(2).map(|p| p[0] + p[1]).collect();
                    let equal = sums.len() == parents.len() && sums.iter().zip(&parents).all(|(&s, &p)| near(s, p));
                    parents = level.clone();
                    equal
                })
            })
    }

    proptest! {
        #[test]
        fn two_sweeps_give_the_dense_solution(strata in 1usize..5, depth in 0usize..4, seed: u64) {
            let tree = random_tree(strata, depth, seed);
            let fitted = least_squares(100.0, &tree);
            prop_assert!(adds_up(100.0, &fitted));
            let leaves = fitted.iter().flat_map(|f| f.levels.last().cloned().unwrap_or_else(|| vec![f.root]));
            for (fast, dense) in leaves.zip(dense_leaves(100.0, &tree)) {
                prop_assert!((fast - dense).abs() < 1e-8, "{} {}", fast, dense);
            }
        }

        #[test]
        fn consistent_counts_are_left_alone(strata in 1usize..5, depth in 0usize..6, seed: u64, exact: bool) {
            let mut stream = Stream::new(seed, 0, 0);
            let mut total = 0.0;
            let tree: Vec<NoisyStratum> = (0..strata).map(|_| {
                let mut counts: Vec<f64> = (0..1 << depth).map(|_| stream.below(50) as f64).collect();
                let variance = |stream: &mut Stream| if exact { 0.0 } else { 1.0 + stream.unit() };
                let mut levels = Vec::new();
                while counts.len() > 1 {
                    let above = counts.chunks_exact(2).map(|p| p[0] + p[1]).collect();
                    levels.push(NoisyLevel { counts: std::mem::replace(&mut counts, above), variance: variance(&mut stream) });
                }
                levels.reverse();
                total += counts[0];
                NoisyStratum { root: (strata > 1).then(|| (counts[0], variance(&mut stream))), levels }
            }).collect();
            let fitted = least_squares(total, &tree);
            for (fitted, noisy) in fitted.iter().zip(&tree) {
                prop_assert!(noisy.root.is_none_or(|(count, _)| (fitted.root - count).abs() < 1e-9));
                for (level, noisy) in fitted.levels.iter().zip(&noisy.levels) {
                    prop_assert!(level.iter().zip(&noisy.counts).all(|(x, y)| (x - y).abs() < 1e-9));
                }
            }
        }
    }

    #[test]
    fn the_unmeasured_share_evenly() {
        let unmeasured = NoisyLevel { counts: vec![7.0, -3.0], variance: f64::INFINITY };
        let blank = NoisyStratum { root: None, levels: vec![unmeasured] };
        let known = NoisyStratum { root: Some((4.0, 1.0)), levels: vec![] };
        let fitted = least_squares(10.0, &[blank.clone(), known, NoisyStratum { root: None, levels: vec![] }]);
        assert_eq!(fitted.iter().map(|f| f.root).collect::<Vec<_>>(), [3.0, 4.0, 3.0]);
        assert_eq!(fitted[0].levels, [[1.5, 1.5]]);
        assert_eq!(least_squares(10.0, &[blank])[0].root, 10.0);
        assert!(least_squares(10.0, &[]).is_empty());
    }
}
