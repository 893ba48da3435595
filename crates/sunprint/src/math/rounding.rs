//! From noisy counts that need not make sense to integers ≥ 0 that add up to n.
//!
//! Proof: docs/proofs.md, Lemma 17.

use super::tree::{FittedStratum, NoisyStratum};

/// Integer leaf counts of each stratum by the *difference rule*: together they are exactly `total`.
///
/// Top down. The strata get the nearest non-negative counts ([`nearest_split`]). A node with m rows and fitted children
/// h₀, h₁ gives the first m₀ = clamp(round((m + h₀ − h₁)/2), 0, m) and the second the rest.
///
/// **Why.** Let n₀ + n₁ be the true counts. Moving from the true measure to the rounded one, a node has to carry rows
/// from one child to the other only if one got too many and the other too few, and then the smaller of the two:
/// min(|n₀ − m₀|, |n₁ − m₁|) ≤ |(n₀ − n₁) − (m₀ − m₁)|/2, which is at most half the error of the fitted difference
/// plus ½ for the rounding. The clamp only brings m₀ nearer. No error of a parent is passed on to this step.
pub fn difference_rule(total: u64, strata: &[FittedStratum]) -> Vec<Vec<u64>> {
    let roots: Vec<f64> = strata.iter().map(|s| s.root).collect();
    let variances: Vec<f64> = strata.iter().map(|s| s.variance).collect();
    let split = nearest_split(total, &roots, &variances);
    (split.into_iter().zip(strata))
        .map(|(count, stratum)| {
            top_down(count, stratum.levels.iter().map(Vec::as_slice), |m, _, left, right| {
                at_most(m, 0.5 * (m as f64 + (left - right)))
            })
        })
        .collect()
}

/// What is expected of a stratum's tree before it is counted: for every inner node, level by level, the part of its rows
/// that goes to the first child.
pub type Expected = Vec<Vec<f64>>;

/// The difference rule with something known beforehand.
///
/// At a node with m rows of which a part p is expected in the first child, the difference of the children is expected to
/// be `m (2p − 1)`, give or take a deviation of `2 β m √(p (1 − p))`: a prior of variance P. The fitted difference has
/// the variance `V = 2 spread` of its two subtrees. The two are combined with inverse variances as weights, so that a
/// node whose noise is larger than itself keeps to what was expected, and a node with many rows to what was counted.
pub fn expected_difference_rule(
    total: u64,
    strata: &[FittedStratum],
    expected: &[Expected],
    beta: f64,
) -> Vec<Vec<u64>> {
    let roots: Vec<f64> = strata.iter().map(|s| s.root).collect();
    let variances: Vec<f64> = strata.iter().map(|s| s.variance).collect();
    let split = nearest_split(total, &roots, &variances);
    (split.into_iter().zip(strata).zip(expected))
        .map(|((count, stratum), expected)| {
            let levels = stratum.levels.iter().zip(expected).zip(&stratum.spreads);
            let mut parents = vec![count];
            for ((level, parts), spread) in levels {
                let mut children = Vec::with_capacity(level.len());
                for ((&m, pair), &p) in parents.iter().zip(level.chunks_exact(2)).zip(parts) {
                    let rows = m as f64;
                    let prior = (2.0 * beta * rows).powi(2) * p * (1.0 - p);
                    let noise = 2.0 * spread;
                    let keep = if prior > 0.0 && noise.is_finite() { prior / (prior + noise) } else { 0.0 };
                    let difference = keep * (pair[0] - pair[1]) + (1.0 - keep) * rows * (2.0 * p - 1.0);
                    let left = at_most(m, 0.5 * (rows + difference));
                    children.extend([left, m - left]);
                }
                parents = children;
            }
            parents
        })
        .collect()
}

/// Integer leaf counts of each stratum by *proportional consistency*, straight from the noisy counts.
///
/// Top down. Negative counts become 0, then siblings are scaled to add up to their parent and rounded; where all are 0
/// they share evenly. Scaling raises both children or lowers both, and so does the rounded result if the noisy counts
/// are integers: the condition under which the original proof of the private measure mechanism holds.
pub fn proportional(total: u64, strata: &[NoisyStratum]) -> Vec<Vec<u64>> {
    let unmeasured = |s: &NoisyStratum| if s.levels.is_empty() { 0.0 } else { s.levels[0].counts.iter().sum() };
    let roots: Vec<f64> = strata.iter().map(|s| non_negative(s.root.map_or_else(|| unmeasured(s), |r| r.0))).collect();
    let split = largest_remainders(total, &roots);
    (split.into_iter().zip(strata))
        .map(|(count, stratum)| {
            top_down(count, stratum.levels.iter().map(|l| l.counts.as_slice()), |m, index, left, right| {
                let (left, right) = (non_negative(left), non_negative(right));
                if left + right > 0.0 {
                    at_most(m, m as f64 * (left / (left + right)))
                } else {
                    // An odd row goes left and right by turns.
                    m / 2 + if index % 2 == 0 { m % 2 } else { 0 }
                }
            })
        })
        .collect()
}

/// Splits `count` down a binary tree; `left_of(m, index of the node in its level, value left, value right)` ≤ m.
fn top_down<'a>(
    count: u64,
    levels: impl Iterator<Item = &'a [f64]>,
    left_of: impl Fn(u64, usize, f64, f64) -> u64,
) -> Vec<u64> {
    let mut parents = vec![count];
    for level in levels {
        let mut children = Vec::with_capacity(level.len());
        for (index, (&m, pair)) in parents.iter().zip(level.chunks_exact(2)).enumerate() {
            let left = left_of(m, index, pair[0], pair[1]);
            children.extend([left, m - left]);
        }
        parents = children;
    }
    parents
}

fn non_negative(x: f64) -> f64 {
    if x > 0.0 { x } else { 0.0 }
}

/// The nearest integer of {0, …, `most`}; 0 for what is not a number (a cast saturates).
fn at_most(most: u64, x: f64) -> u64 {
    (x.round() as u64).min(most)
}

/// The integers ≥ 0 with sum `total` near `values`, each as far off as its variance allows.
///
/// First the least Σ(m_i − values_i)²/variance_i over real m_i ≥ 0 with Σm_i = total: by Lagrange's rule
/// m_i = max(0, values_i − τ variance_i) for one τ, found by dropping from the sum whoever would be negative, until no
/// one is. Then [`largest_remainders`]. Scaling the positive parts instead would take from a large stratum what the
/// noise has given to a hundred empty ones. Variances count as equal where one of them is zero or infinite.
pub fn nearest_split(total: u64, values: &[f64], variances: &[f64]) -> Vec<u64> {
    let usable = variances.iter().all(|&v| v.is_finite() && v > 0.0);
    let weight = |i: usize| if usable { variances[i] } else { 1.0 };
    let value = |i: usize| if values[i].is_finite() { values[i] } else { 0.0 };

    // In order of values_i/variance_i, the last to be dropped first: keep the longest prefix that stays positive.
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&i, &j| (value(j) / weight(j)).total_cmp(&(value(i) / weight(i))));
    let (mut sum, mut weights, mut shift) = (0.0, 0.0, f64::NEG_INFINITY);
    for &i in &order {
        let next = (sum + value(i) - total as f64) / (weights + weight(i));
        if weights > 0.0 && value(i) - next * weight(i) <= 0.0 {
            break;
        }
        (sum, weights, shift) = (sum + value(i), weights + weight(i), next);
    }
    let real: Vec<f64> = (0..values.len()).map(|i| non_negative(value(i) - shift * weight(i))).collect();
    largest_remainders(total, &real)
}

/// The shares ≥ 0 with sum 1 that are nearest to some numbers in the Euclidean norm: `max(0, x_i − τ)` for one τ, which
/// is found by leaving out the smallest until none is negative. Even shares for what is not a number.
pub fn nearest_shares(values: &[f64]) -> Vec<f64> {
    if values.iter().any(|x| !x.is_finite()) {
        return vec![1.0 / values.len() as f64; values.len()];
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let (mut sum, mut shift) = (0.0, 0.0);
    for (i, &x) in sorted.iter().enumerate() {
        sum += x;
        let next = (sum - 1.0) / (i + 1) as f64;
        if x - next <= 0.0 {
            break;
        }
        shift = next;
    }
    values.iter().map(|x| non_negative(x - shift)).collect()
}

/// Integers with sum `total` in proportion to `parts`, which are ≥ 0: whole shares first, then one more to those with
/// the largest fraction left, the first among equals. Even shares if all parts are 0; nothing for no parts.
pub fn largest_remainders(total: u64, parts: &[f64]) -> Vec<u64> {
    if parts.is_empty() {
        return Vec::new();
    }
    let sum: f64 = parts.iter().sum();
    let share = |part: f64| if sum > 0.0 { part / sum } else { 1.0 / parts.len() as f64 };
    let exact: Vec<f64> = parts.iter().map(|&part| total as f64 * share(part)).collect();
    // Rounding may lift a whole share by one unit in the last place; it never takes more than what is left.
    let mut left = total;
    let mut whole: Vec<u64> = Vec::with_capacity(parts.len());
    for x in &exact {
        let take = (x.floor() as u64).min(left);
        whole.push(take);
        left -= take;
    }
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by(|&i, &j| (exact[j] - exact[j].floor()).total_cmp(&(exact[i] - exact[i].floor())));
    // More than one round only if `total` is beyond 2⁵³ and shares are no longer exact.
    for &i in order.iter().cycle() {
        if left == 0 {
            break;
        }
        let rounds = (left / parts.len() as u64).max(1);
        whole[i] += rounds;
        left -= rounds;
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::stream::Stream;
    use crate::math::tree::{NoisyLevel, least_squares};
    use proptest::prelude::*;

    fn noisy_tree(strata: usize, depth: usize, seed: u64, noise: f64) -> (Vec<NoisyStratum>, Vec<Vec<u64>>) {
        let mut stream = Stream::new(seed, 0, 0);
        let mut add = |count: u64| count as f64 + (noise * stream.normal()).round();
        let mut draw = Stream::new(seed, 1, 0);
        let truth: Vec<Vec<u64>> = (0..strata).map(|_| (0..1 << depth).map(|_| draw.below(30)).collect()).collect();
        let tree = truth.iter().map(|leaves| {
            let mut counts = leaves.clone();
            let mut levels = Vec::new();
            while counts.len() > 1 {
                levels.push(NoisyLevel { counts: counts.iter().map(|&n| add(n)).collect(), variance: 2.0 });
                counts = counts.chunks_exact(2).map(|p| p[0] + p[1]).collect();
            }
            levels.reverse();
            NoisyStratum { root: (strata > 1).then(|| (add(counts[0]), 2.0)), levels }
        });
        (tree.collect(), truth)
    }

    fn sum(leaves: &[Vec<u64>]) -> u64 {
        leaves.iter().flatten().sum()
    }

    proptest! {
        #[test]
        fn counts_add_up_to_n_whatever_the_noise(strata in 1usize..6, depth in 0usize..6, seed: u64, noise in 0.0f64..500.0, total in 0u64..5_000) {
            let (tree, truth) = noisy_tree(strata, depth, seed, noise);
            let fitted = least_squares(total as f64, &tree);
            let by_difference = difference_rule(total, &fitted);
            let by_proportion = proportional(total, &tree);
            prop_assert_eq!((sum(&by_difference), sum(&by_proportion)), (total, total));
            for (stratum, leaves) in truth.iter().enumerate() {
                prop_assert_eq!((by_difference[stratum].len(), by_proportion[stratum].len()), (leaves.len(), leaves.len()));
            }
        }

        #[test]
        fn without_noise_nothing_changes(strata in 1usize..6, depth in 0usize..6, seed: u64) {
            let (tree, truth) = noisy_tree(strata, depth, seed, 0.0);
            let total = sum(&truth);
            prop_assert_eq!(&difference_rule(total, &least_squares(total as f64, &tree)), &truth);
            prop_assert_eq!(&proportional(total, &tree), &truth);
        }

        #[test]
        fn both_children_rise_or_both_fall(m in 0u64..500, left in -50i32..300, right in -50i32..300) {
            let level = NoisyLevel { counts: vec![f64::from(left), f64::from(right)], variance: 1.0 };
            let found = proportional(m, &[NoisyStratum { root: None, levels: vec![level] }]);
            let (n0, n1) = (left.max(0) as u64, right.max(0) as u64);
            let (m0, m1) = (found[0][0], found[0][1]);
            prop_assert!((m0 >= n0 && m1 >= n1) || (m0 <= n0 && m1 <= n1));
        }

        #[test]
        fn the_flux_is_at_most_half_the_error_of_the_difference(n0 in 0i64..200, n1 in 0i64..200, m in 0u64..400, d in -500.0f64..500.0) {
            let fitted = FittedStratum { root: m as f64, variance: 1.0, levels: vec![vec![d / 2.0, -d / 2.0]], spreads: vec![1.0] };
            let found = difference_rule(m, &[fitted]);
            let (e0, e1) = (n0 - found[0][0] as i64, n1 - found[0][1] as i64);
            let flux = if e0.signum() * e1.signum() < 0 { e0.abs().min(e1.abs()) } else { 0 };
            prop_assert!(flux as f64 <= (d - (n0 - n1) as f64).abs() / 2.0 + 0.5);
        }

        #[test]
        fn the_nearest_split_is_the_nearest(values in prop::collection::vec(-20.0f64..40.0, 1..5), total in 0u64..25, equal: bool, seed: u64) {
            let mut stream = Stream::new(seed, 0, 0);
            let variances: Vec<f64> = values.iter().map(|_| if equal { 1.0 } else { 0.2 + 3.0 * stream.unit() }).collect();
            let found = nearest_split(total, &values, &variances);
            prop_assert_eq!(found.iter().sum::<u64>(), total);
            // Against every integer split: rounding may cost at most what one unit each way does.
            let cost = |m: &[u64]| -> f64 { (0..m.len()).map(|i| (m[i] as f64 - values[i]).powi(2) / variances[i]).sum() };
            let mut best = f64::INFINITY;
            let mut split = vec![0; values.len()];
            fn each(split: &mut Vec<u64>, at: usize, left: u64, visit: &mut impl FnMut(&[u64])) {
                if at + 1 == split.len() {
                    split[at] = left;
                    visit(split);
                } else {
                    for take in 0..=left {
                        split[at] = take;
                        each(split, at + 1, left - take, visit);
                    }
                }
            }
            each(&mut split, 0, total, &mut |m| best = best.min(cost(m)));
            let rounding: f64 = variances.iter().map(|v| 1.0 / v).sum();
            prop_assert!(cost(&found) <= best + rounding + 1e-9, "{:?}: {} against {}", found, cost(&found), best);
        }
    }

    #[test]
    fn a_large_stratum_is_not_eaten_by_empty_ones() {
        let mut values = vec![9.0; 400];
        values[7] = 1_000.0;
        let split = nearest_split(1_000, &values, &vec![100.0; 400]);
        assert!(split[7] > 990, "{}", split[7]);
    }

    #[test]
    fn degenerate_splits() {
        assert_eq!(largest_remainders(5, &[]), Vec::<u64>::new());
        assert_eq!(largest_remainders(5, &[0.0, 0.0]), [3, 2]);
        assert_eq!(largest_remainders(10, &[1.0, 1.0, 1.0]), [4, 3, 3]);
        assert_eq!(largest_remainders(u64::MAX, &[1.0, 2.0]).iter().sum::<u64>(), u64::MAX);
        assert_eq!(nearest_split(7, &[-5.0, -9.0], &[1.0, 1.0]), [6, 1]);
        assert_eq!(nearest_split(0, &[3.0, 4.0], &[0.0, 1.0]), [0, 0]);
        assert_eq!(nearest_split(9, &[f64::NAN, 4.0], &[f64::INFINITY, 1.0]), [3, 6]);
        assert_eq!(difference_rule(3, &[]), Vec::<Vec<u64>>::new());
    }
}
