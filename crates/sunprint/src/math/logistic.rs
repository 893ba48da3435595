//! Logistic regression: which class a point belongs to, by the largest of some linear scores.
//!
//! The weights minimise `F(w) = Σ_rows −ln p(class | row) + ½ ‖w‖²`, where the probabilities of the classes are
//! proportional to `exp(score)` and the intercepts are free of the penalty. Of two classes the first has the score 0, so
//! that there is one weight for each coordinate; of more, each class has its own. This is what others call a penalty
//! with C = 1.
//!
//! F is convex, so whatever has no slope is a minimum, and how far from one a point is can be read off its gradient:
//! [`Logistic::slope`] is the certificate of a fit.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// Steps whose curvature is remembered.
const MEMORY: usize = 12;
/// More steps are not taken.
const STEPS: usize = 400;
/// A fit is done when no partial derivative of `F/rows` is larger.
pub const FLAT: f64 = 1e-5;

/// Scores that were learnt.
#[derive(Clone, Debug, PartialEq)]
pub struct Logistic {
    /// For each class that has a score of its own: a weight for each coordinate, and the intercept behind them. Two
    /// classes have one list, of the second class.
    pub weights: Vec<Vec<f64>>,
    /// The largest partial derivative of `F/rows` in absolute value: at most [`FLAT`], unless the steps ran out.
    pub slope: f64,
}

/// Points and their classes.
struct Task<'a> {
    points: &'a [f64],
    classes: &'a [usize],
    rows: usize,
    width: usize,
    /// Score lists.
    lists: usize,
}

/// Learns from rows of `width` numbers, given one after the other, and a class below `count` for each.
///
/// # Panics
/// If the lengths do not fit together, or a class is not below `count`.
pub fn learn(points: &[f64], width: usize, classes: &[usize], count: usize) -> Logistic {
    assert_eq!(points.len(), classes.len() * width, "learn: whole rows");
    assert!(classes.iter().all(|&class| class < count), "learn: classes are below their count");
    let lists = if count <= 2 { count.saturating_sub(1) } else { count };
    let task = Task { points, classes, rows: classes.len(), width, lists };
    let (weights, slope) = task.descend();
    Logistic { weights: weights.chunks(width + 1).map(<[f64]>::to_vec).collect(), slope }
}

impl Logistic {
    /// The class with the largest score; the first of equals.
    pub fn class(&self, point: &[f64]) -> usize {
        let scores = self.scores(point).into_iter().enumerate();
        let largest = |best: (usize, f64), (class, score)| if score > best.1 { (class, score) } else { best };
        scores.fold((0, f64::NEG_INFINITY), largest).0
    }

    /// The score of every class. Probabilities are proportional to their exponentials.
    pub fn scores(&self, point: &[f64]) -> Vec<f64> {
        let score = |weights: &Vec<f64>| {
            let (intercept, weights) = weights.split_last().unwrap_or((&0.0, &[]));
            weights.iter().zip(point).map(|(w, x)| w * x).sum::<f64>() + intercept
        };
        // One class, or the first of two, has no list.
        let hidden = (self.weights.len() <= 1).then_some(0.0);
        hidden.into_iter().chain(self.weights.iter().map(score)).collect()
    }

    /// For every class the logarithm of its odds against all others together: what ranks rows by how sure it is of them.
    pub fn log_odds(&self, point: &[f64]) -> Vec<f64> {
        let scores = self.scores(point);
        let against = |class: usize| {
            let others = scores.iter().enumerate().filter(|(other, _)| *other != class).map(|(_, score)| *score);
            let top = others.clone().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = others.map(|score| libm::exp(score - top)).sum();
            scores[class] - (top + libm::log(sum))
        };
        (0..scores.len()).map(against).collect()
    }
}

impl Task<'_> {
    /// Newton's method with the curvature of the last steps (L-BFGS), halving each step until F falls enough.
    fn descend(&self) -> (Vec<f64>, f64) {
        let mut weights = vec![0.0; (self.width + 1) * self.lists];
        if self.rows == 0 || weights.is_empty() {
            return (weights, 0.0);
        }
        let mut gradient = vec![0.0; weights.len()];
        let mut value = self.value(&weights, &mut gradient);
        let mut past: Vec<(Vec<f64>, Vec<f64>, f64)> = Vec::new();
        for _ in 0..STEPS {
            if largest(&gradient) <= FLAT {
                break;
            }
            let mut direction = newton(&gradient, &past);
            let mut fall = dot(&direction, &gradient);
            if fall >= 0.0 {
                past.clear();
                direction = gradient.iter().map(|g| -g).collect();
                fall = -dot(&gradient, &gradient);
            }
            let mut length = 1.0;
            let mut next_gradient = vec![0.0; weights.len()];
            let (next, next_value) = loop {
                let next: Vec<f64> = weights.iter().zip(&direction).map(|(w, d)| w + length * d).collect();
                let next_value = self.value(&next, &mut next_gradient);
                if next_value <= value + 1e-4 * length * fall || length < 1e-12 {
                    break (next, next_value);
                }
                length *= 0.5;
            };
            if next_value >= value && length < 1e-12 {
                break;
            }
            let step: Vec<f64> = next.iter().zip(&weights).map(|(a, b)| a - b).collect();
            let turn: Vec<f64> = next_gradient.iter().zip(&gradient).map(|(a, b)| a - b).collect();
            let curvature = dot(&step, &turn);
            if curvature > 1e-300 {
                past.push((step, turn, curvature));
                if past.len() > MEMORY {
                    past.remove(0);
                }
            }
            (weights, gradient, value) = (next, next_gradient, next_value);
        }
        let slope = largest(&gradient);
        (weights, slope)
    }

    /// `F/rows`, and its gradient.
    ///
    /// With probabilities p and e the indicator of the class, the gradient of a row's part is `(p − e) xᵀ`.
    fn value(&self, weights: &[f64], gradient: &mut [f64]) -> f64 {
        let (rows, width, lists) = (self.rows, self.width, self.lists);
        // Weights of one class stand one behind the other, with the intercept between them and the next class.
        let wide = width + 1;
        let points = MatRef::from_row_major_slice(self.points, rows, width);
        let by_list = MatRef::from_column_major_slice_with_stride(weights, width, lists, wide);
        let mut scores: Vec<f64> = weights.chunks(wide).map(|list| list[width]).collect::<Vec<_>>().repeat(rows);
        let out = MatMut::from_row_major_slice_mut(&mut scores, rows, lists);
        matmul(out, Accum::Add, points, by_list, 1.0, Par::Seq);
        let mut loss = 0.0;
        for (scores, &class) in scores.chunks_exact_mut(lists).zip(self.classes) {
            // One list: the other class has the score 0, and is the one before it.
            let hidden = lists == 1;
            let start = if hidden { 0.0 } else { f64::NEG_INFINITY };
            let top = scores.iter().fold(start, |top: f64, &score| top.max(score));
            let mut sum = if hidden { libm::exp(-top) } else { 0.0 };
            let own = if hidden && class == 0 { 0.0 } else { scores[class - usize::from(hidden)] };
            for score in scores.iter_mut() {
                *score = libm::exp(*score - top);
                sum += *score;
            }
            loss += top + libm::log(sum) - own;
            scores.iter_mut().for_each(|p| *p /= sum);
            if !(hidden && class == 0) {
                scores[class - usize::from(hidden)] -= 1.0;
            }
        }
        let each = 1.0 / rows as f64;
        let left = MatRef::from_row_major_slice(&scores, rows, lists);
        let out = MatMut::from_column_major_slice_with_stride_mut(gradient, width, lists, wide);
        matmul(out, Accum::Replace, points.transpose(), left, each, Par::Seq);
        let mut square = 0.0;
        for (list, (gradient, weights)) in gradient.chunks_mut(wide).zip(weights.chunks(wide)).enumerate() {
            gradient[width] = each * scores.iter().skip(list).step_by(lists).sum::<f64>();
            for (g, w) in gradient.iter_mut().zip(weights).take(width) {
                *g += each * w;
                square += w * w;
            }
        }
        each * (loss + 0.5 * square)
    }
}

/// The direction −H g, with H the inverse curvature that the past steps and turns of the gradient tell.
fn newton(gradient: &[f64], past: &[(Vec<f64>, Vec<f64>, f64)]) -> Vec<f64> {
    let mut direction: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut along = Vec::with_capacity(past.len());
    for (step, turn, curvature) in past.iter().rev() {
        let a = dot(step, &direction) / curvature;
        direction.iter_mut().zip(turn).for_each(|(d, y)| *d -= a * y);
        along.push(a);
    }
    if let Some((_, turn, curvature)) = past.last() {
        let scale = curvature / dot(turn, turn).max(f64::MIN_POSITIVE);
        direction.iter_mut().for_each(|d| *d *= scale);
    }
    for ((step, turn, curvature), a) in past.iter().zip(along.into_iter().rev()) {
        let b = dot(turn, &direction) / curvature;
        direction.iter_mut().zip(step).for_each(|(d, s)| *d += (a - b) * s);
    }
    direction
}

/// Four sums side by side: these vectors are long, and the order of summation decides nothing.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (fours, others) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest: f64 = fours.remainder().iter().zip(others.remainder()).map(|(x, y)| x * y).sum();
    for (a, b) in fours.zip(others) {
        (0..4).for_each(|i| sums[i] += a[i] * b[i]);
    }
    sums.iter().sum::<f64>() + rest
}

fn largest(numbers: &[f64]) -> f64 {
    numbers.iter().fold(0.0, |most, x| most.max(x.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::stream::Stream;
    use proptest::prelude::*;

    fn rows(count: usize, width: usize, classes: usize, seed: u64) -> (Vec<f64>, Vec<usize>) {
        let mut random = Stream::new(seed, 0, 0);
        let mut points = Vec::new();
        let mut labels = Vec::new();
        for _ in 0..count {
            let class = random.below(classes as u64) as usize;
            let centre = class as f64 / classes as f64;
            points.extend((0..width).map(|j| if j == 0 { centre } else { 0.5 } + 0.2 * random.normal()));
            labels.push(class);
        }
        (points, labels)
    }

    /// The gradient of F/rows by hand, entry by entry.
    fn slope(points: &[f64], width: usize, classes: &[usize], found: &Logistic) -> f64 {
        let two = found.weights.len() == 1;
        let mut most = 0.0_f64;
        for (list, weights) in found.weights.iter().enumerate() {
            for j in 0..=width {
                let mut sum = if j < width { weights[j] } else { 0.0 };
                for (row, &class) in points.chunks(width).zip(classes) {
                    let score = |w: &Vec<f64>| (0..width).map(|i| w[i] * row[i]).sum::<f64>() + w[width];
                    let others: f64 =
                        found.weights.iter().map(|w| score(w).exp()).sum::<f64>() + if two { 1.0 } else { 0.0 };
                    let own = class == list + usize::from(two);
                    let x = if j < width { row[j] } else { 1.0 };
                    sum += (score(weights).exp() / others - if own { 1.0 } else { 0.0 }) * x;
                }
                most = most.max(sum.abs() / classes.len() as f64);
            }
        }
        most
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        /// F is convex: a point without a slope is a minimum.
        #[test]
        fn a_fit_has_no_slope(count in 1usize..200, width in 1usize..6, classes in 2usize..5, seed: u64) {
            let (points, labels) = rows(count, width, classes, seed);
            let found = learn(&points, width, &labels, classes);
            prop_assert_eq!(found.weights.len(), if classes == 2 { 1 } else { classes });
            let by_hand = slope(&points, width, &labels, &found);
            prop_assert!(found.slope <= FLAT, "{}", found.slope);
            prop_assert!((by_hand - found.slope).abs() < 1e-9, "{} {}", by_hand, found.slope);
        }
    }

    #[test]
    fn what_can_be_told_is_told() {
        let (points, labels) = rows(2_000, 3, 2, 1);
        let found = learn(&points, 3, &labels, 2);
        let right = points.chunks(3).zip(&labels).filter(|(row, label)| found.class(row) == **label).count();
        // Two normals half a unit apart with deviation 0.2: the nearer is right for Φ(1.25) = 89 % of the rows; 2,000
        // rows are off by 4 % with probability 10⁻⁸.
        assert!((1_710..=1_870).contains(&right), "{right}");
        assert!(found.weights[0][0] > 5.0 * found.weights[0][1].abs());
    }

    #[test]
    fn odds_are_those_of_the_probabilities() {
        let (points, labels) = rows(300, 2, 3, 4);
        let found = learn(&points, 2, &labels, 3);
        let row = &points[..2];
        let parts: Vec<f64> = found.scores(row).iter().map(|score| score.exp()).collect();
        let sum: f64 = parts.iter().sum();
        for (class, odds) in found.log_odds(row).into_iter().enumerate() {
            let p = parts[class] / sum;
            assert!((odds - (p / (1.0 - p)).ln()).abs() < 1e-9);
        }
        let two = learn(&[0.0, 1.0], 1, &[0, 1], 2);
        let [first, second] = two.log_odds(&[0.7])[..] else { panic!("two classes") };
        assert!((first + second).abs() < 1e-12 && second > 0.0);
    }

    #[test]
    fn one_class_and_no_rows_are_no_trouble() {
        assert_eq!(learn(&[0.5, 0.2], 1, &[0, 0], 1).class(&[0.1]), 0);
        assert_eq!(learn(&[], 3, &[], 4).slope, 0.0);
        let all_of_one = learn(&[0.5, 0.2, 0.1], 1, &[2, 2, 2], 3);
        assert_eq!(all_of_one.class(&[0.7]), 2);
        // Points that can be told apart without a mistake: the penalty keeps the weights finite.
        let apart = learn(&[0.0, 0.0, 1.0, 1.0], 1, &[0, 0, 1, 1], 2);
        assert!(apart.slope <= FLAT && apart.weights[0][0].is_finite());
    }
}
