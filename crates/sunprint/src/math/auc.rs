//! The area under the curve: how often a score puts one of two kinds before the other.

/// The part of all pairs, one of each kind, in which the first kind has the larger score; a tie is half a pair. 0.5 is
/// what a coin reaches and 1 is perfect. `None` where one kind has nobody. What is no number is below every number.
///
/// Counted exactly: twice the pairs won, and the ties, are whole numbers.
pub fn auc(first: &[f64], second: &[f64]) -> Option<f64> {
    if first.is_empty() || second.is_empty() {
        return None;
    }
    let number = |&score: &f64| if score.is_nan() { f64::NEG_INFINITY } else { score + 0.0 };
    let mut scores: Vec<(f64, bool)> = first.iter().map(|score| (number(score), true)).collect();
    scores.extend(second.iter().map(|score| (number(score), false)));
    scores.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let (mut below, mut twice) = (0_u128, 0_u128);
    for tied in scores.chunk_by(|a, b| a.0 == b.0) {
        let ones = tied.iter().filter(|(_, one)| *one).count() as u128;
        let others = tied.len() as u128 - ones;
        twice += ones * (2 * below + others);
        below += others;
    }
    Some(twice as f64 / (2.0 * first.len() as f64 * second.len() as f64))
}

/// The standard deviation of [`auc`] for scores that tell nothing, of so many a side: √((m + n + 1)/(12 m n)), the one of
/// Wilcoxon's rank sum.
pub fn chance(first: usize, second: usize) -> f64 {
    let (m, n) = (first as f64, second as f64);
    ((m + n + 1.0) / (12.0 * m * n)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::stream::Stream;

    #[test]
    fn small_cases_by_hand() {
        assert_eq!(auc(&[2.0, 3.0], &[0.0, 1.0]), Some(1.0));
        assert_eq!(auc(&[0.0], &[1.0, 2.0]), Some(0.0));
        assert_eq!(auc(&[1.0, 1.0], &[1.0]), Some(0.5));
        // Won: 3 over 2, 3 over 1, 2 over 1; tied: 2 with 2; lost: none.
        assert_eq!(auc(&[3.0, 2.0], &[2.0, 1.0]), Some(3.5 / 4.0));
        assert_eq!((auc(&[], &[1.0]), auc(&[1.0], &[])), (None, None));
        assert_eq!(auc(&[f64::NAN, -0.0], &[0.0, f64::NEG_INFINITY]), Some((0.5 + 1.0 + 0.5) / 4.0));
    }

    #[test]
    fn it_is_the_part_of_all_pairs() {
        let mut random = Stream::new(1, 0, 0);
        let mut some = |count: usize| (0..count).map(|_| random.below(7) as f64).collect::<Vec<f64>>();
        let (one, other) = (some(40), some(33));
        let pair = |a: f64, b: f64| {
            if a > b {
                1.0
            } else if a == b {
                0.5
            } else {
                0.0
            }
        };
        let sum: f64 = one.iter().flat_map(|&a| other.iter().map(move |&b| pair(a, b))).sum();
        assert!((auc(&one, &other).unwrap() - sum / (40.0 * 33.0)).abs() < 1e-15);
        // One of each: won or lost, each half of the time, so the deviation is a half.
        assert_eq!(chance(1, 1), 0.5);
    }
}
