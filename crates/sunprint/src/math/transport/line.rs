//! One-Wasserstein distances on the line.

use super::exact_sum;

/// The exact W1 between two samples on the line, of any sizes: ∫|F − G|. Infinite if just one of them is empty.
///
/// On the line the monotone plan is optimal, and its cost is the area between the distribution functions.
pub fn w1_line(a: &[f64], b: &[f64]) -> f64 {
    if a.is_empty() || b.is_empty() {
        return if a.len() == b.len() { 0.0 } else { f64::INFINITY };
    }
    let sorted = |x: &[f64]| {
        let mut x = x.to_vec();
        x.sort_by(f64::total_cmp);
        x
    };
    let (a, b) = (sorted(a), sorted(b));
    if a.len() == b.len() {
        return a.iter().zip(&b).map(|(x, y)| (x - y).abs()).sum::<f64>() / a.len() as f64;
    }
    // Between quantile levels k/(|a||b|) both quantile functions are constant; walk the levels where one of them steps.
    let (mut i, mut j, mut level, mut area) = (0, 0, 0u128, 0.0);
    let (na, nb) = (a.len() as u128, b.len() as u128);
    while i < a.len() && j < b.len() {
        let (next_a, next_b) = ((i as u128 + 1) * nb, (j as u128 + 1) * na);
        let next = next_a.min(next_b);
        area += (next - level) as f64 * (a[i] - b[j]).abs();
        level = next;
        i += usize::from(next_a == next);
        j += usize::from(next_b == next);
    }
    area / (na * nb) as f64
}

/// The same for weighted samples: the weights of each side are divided by their sum. Infinite if just one side has no
/// weight.
///
/// # Panics
/// If a sample and its weights differ in number.
pub fn w1_line_weighted(a: &[f64], weights_a: &[f64], b: &[f64], weights_b: &[f64]) -> f64 {
    assert!(a.len() == weights_a.len() && b.len() == weights_b.len(), "w1_line_weighted: one weight for each point");
    let sum_a = exact_sum(weights_a.iter().copied());
    let sum_b = exact_sum(weights_b.iter().copied());
    if !(sum_a > 0.0 && sum_b > 0.0) {
        return if (sum_a > 0.0) == (sum_b > 0.0) { 0.0 } else { f64::INFINITY };
    }
    // F − G falls and rises as we pass the points in order.
    let rises = a.iter().zip(weights_a).map(|(&x, &weight)| (x, weight / sum_a));
    let falls = b.iter().zip(weights_b).map(|(&x, &weight)| (x, -weight / sum_b));
    let mut steps: Vec<(f64, f64)> = rises.chain(falls).filter(|step| step.1 != 0.0).collect();
    steps.sort_by(|x, y| x.0.total_cmp(&y.0));
    let mut height = 0.0;
    exact_sum(steps.windows(2).map(|pair| {
        height += pair[0].1;
        f64::abs(height) * (pair[1].0 - pair[0].0)
    }))
}
