//! Is there a point of the unit cube that obeys linear rules? Phase one of the simplex method, with proofs.
//!
//! Either answer can be checked without trusting the search: a point by putting it in, and "no" by Farkas' lemma, a
//! weighted sum of the rules that no point of the cube can obey.

/// `Σ a_j x_j ≤ bound`, or `=`.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Which coordinates, with their factors; each coordinate once.
    pub terms: Vec<(usize, f64)>,
    /// The right-hand side.
    pub bound: f64,
    /// Whether the two sides must be equal.
    pub equal: bool,
}

/// The answer.
#[derive(Clone, Debug)]
pub enum Answer {
    /// A point of the cube that obeys all rules up to [`CLOSE`].
    Point(Vec<f64>),
    /// One weight for each rule, not negative where the rule is an inequality: see [`proves`].
    Never(Vec<f64>),
    /// Rounding leaves it open.
    Unclear,
}

/// Rules are obeyed up to this. Factors are of the order of 1.
pub const CLOSE: f64 = 1e-9;

/// Whether weights prove that no point of `[0, 1]^width` obeys the rules.
///
/// With weights y, not negative on inequalities, every point that obeys the rules has `Σ_j r_j x_j ≤ Σ_i y_i b_i`, where
/// `r = Σ_i y_i a_i`. In the cube the left-hand side is at least `Σ_j min(0, r_j)`. If that is larger, there is no such
/// point.
pub fn proves(width: usize, rules: &[Rule], weights: &[f64]) -> bool {
    if weights.len() != rules.len() || rules.iter().zip(weights).any(|(rule, &y)| !rule.equal && y < 0.0) {
        return false;
    }
    let mut sums = vec![0.0; width];
    let (mut right, mut size) = (0.0, 0.0_f64);
    for (rule, &y) in rules.iter().zip(weights) {
        rule.terms.iter().for_each(|&(j, a)| sums[j] += y * a);
        right += y * rule.bound;
        size = size.max(y.abs());
    }
    let least: f64 = sums.iter().map(|r| r.min(0.0)).sum();
    least - right > CLOSE * size.max(f64::MIN_POSITIVE)
}

/// Looks for a point of `[0, 1]^width` that obeys the rules.
pub fn feasible(width: usize, rules: &[Rule]) -> Answer {
    let mut search = Search::new(width, rules);
    // The steepest step is quick but may go round in circles; Bland's, the first one that helps, cannot.
    let steps = 20 * (width + rules.len()) + 100;
    for step in 0..2 * steps {
        if !search.step(step >= steps) {
            break;
        }
    }
    if search.missing() <= CLOSE {
        return Answer::Point(search.point());
    }
    let weights = search.weights(rules);
    if proves(width, rules, &weights) { Answer::Never(weights) } else { Answer::Unclear }
}

/// `A x + s = b` with `0 ≤ x ≤ 1` and slacks `s ≥ 0` (`s = 0` in equations), in the form `basic + T · others = values`.
struct Search {
    width: usize,
    /// One row for each rule over all variables, slacks behind; a basic variable has the unit column.
    table: Vec<Vec<f64>>,
    basic: Vec<usize>,
    values: Vec<f64>,
    upper: Vec<f64>,
    /// Of variables that are not basic: whether they stand at their upper end.
    high: Vec<bool>,
}

const TINY: f64 = 1e-11;

impl Search {
    fn new(width: usize, rules: &[Rule]) -> Search {
        let all = width + rules.len();
        let mut upper = vec![1.0; width];
        upper.extend(rules.iter().map(|rule| if rule.equal { 0.0 } else { f64::INFINITY }));
        let table = rules.iter().enumerate().map(|(i, rule)| {
            let mut row = vec![0.0; all];
            rule.terms.iter().for_each(|&(j, a)| row[j] += a);
            row[width + i] = 1.0;
            row
        });
        Search {
            width,
            table: table.collect(),
            basic: (width..all).collect(),
            values: rules.iter().map(|rule| rule.bound).collect(),
            upper,
            high: vec![false; all],
        }
    }

    /// By how much a basic variable is outside: negative below, positive above.
    fn outside(&self, row: usize) -> f64 {
        let value = self.values[row];
        if value < -TINY { value } else { (value - self.upper[self.basic[row]] - TINY).max(0.0) }
    }

    /// By how much all basic variables together are outside: what is minimised.
    fn missing(&self) -> f64 {
        (0..self.basic.len()).map(|row| self.outside(row).abs()).sum()
    }

    /// The sign of each row in what is minimised.
    fn signs(&self) -> Vec<f64> {
        let sign = |x: f64| if x == 0.0 { 0.0 } else { x.signum() };
        (0..self.basic.len()).map(|row| sign(self.outside(row))).collect()
    }

    /// One exchange that makes less missing, if there is one.
    fn step(&mut self, first: bool) -> bool {
        let signs = self.signs();
        if signs.iter().all(|&sign| sign == 0.0) {
            return false;
        }
        let mut gains = vec![0.0; self.upper.len()];
        for (row, &sign) in self.table.iter().zip(&signs).filter(|(_, sign)| **sign != 0.0) {
            gains.iter_mut().zip(row).for_each(|(gain, t)| *gain += sign * t);
        }
        self.basic.iter().for_each(|&j| gains[j] = 0.0);
        // Growing variable j by 1 makes `gains[j]` less missing.
        let useful = |j: usize| if self.high[j] { -gains[j] } else { gains[j] };
        let candidates = (0..gains.len()).filter(|&j| self.upper[j] > 0.0 && useful(j) > 1e-10);
        let entering = if first {
            candidates.min()
        } else {
            candidates.max_by(|&i, &j| useful(i).total_cmp(&useful(j)).then(j.cmp(&i)))
        };
        let Some(entering) = entering else { return false };
        self.exchange(entering, &signs);
        true
    }

    fn exchange(&mut self, entering: usize, signs: &[f64]) {
        let way = if self.high[entering] { -1.0 } else { 1.0 };
        // How far until the variable itself or a basic one comes to an end. One that is outside stops where it comes in.
        let mut far = self.upper[entering];
        let mut leaving: Option<(usize, bool)> = None;
        for (row, &sign) in signs.iter().enumerate() {
            let speed = -way * self.table[row][entering];
            let upper = self.upper[self.basic[row]];
            let end = match (sign, speed) {
                (_, speed) if speed.abs() < TINY => continue,
                (s, v) if s < 0.0 && v > 0.0 => 0.0,
                (s, v) if s > 0.0 && v < 0.0 => upper,
                (s, _) if s != 0.0 => continue,
                (_, v) if v > 0.0 => upper,
                _ => 0.0,
            };
            let reach = ((end - self.values[row]) / speed).max(0.0);
            let better = match leaving {
                None => reach < far,
                Some((other, _)) => {
                    reach < far - TINY
                        || reach < far + TINY && speed.abs() > self.table[other][entering].abs().max(TINY)
                }
            };
            if better {
                far = reach;
                leaving = Some((row, end > 0.0));
            }
        }
        if !far.is_finite() {
            return;
        }
        for (value, row) in self.values.iter_mut().zip(&self.table) {
            *value -= way * far * row[entering];
        }
        let Some((row, at_upper)) = leaving else {
            self.high[entering] = !self.high[entering];
            return;
        };
        let start = if self.high[entering] { self.upper[entering] } else { 0.0 };
        self.high[self.basic[row]] = at_upper;
        self.high[entering] = false;
        self.basic[row] = entering;
        self.values[row] = start + way * far;
        let pivot = self.table[row][entering];
        self.table[row].iter_mut().for_each(|t| *t /= pivot);
        let chosen = self.table[row].clone();
        for (other, line) in self.table.iter_mut().enumerate() {
            let factor = line[entering];
            if other != row && factor != 0.0 {
                line.iter_mut().zip(&chosen).for_each(|(t, c)| *t -= factor * c);
                line[entering] = 0.0;
            }
        }
    }

    fn point(&self) -> Vec<f64> {
        let mut all: Vec<f64> =
            self.upper.iter().zip(&self.high).map(|(&u, &high)| if high { u } else { 0.0 }).collect();
        self.basic.iter().zip(&self.values).for_each(|(&j, &value)| all[j] = value);
        all[..self.width].iter().map(|x| x.clamp(0.0, 1.0)).collect()
    }

    /// The weights of the proof. What is minimised is `c · basic`, c the signs; with `y = cᵀB⁻¹`, which stands in the
    /// columns of the slacks, `y (A x + s) = y b`. At the minimum every variable of a feasible point would make the left
    /// side smaller than the right, by what is missing: `−y` is the proof.
    fn weights(&self, rules: &[Rule]) -> Vec<f64> {
        let signs = self.signs();
        let weight = |(i, rule): (usize, &Rule)| {
            let y: f64 = self.table.iter().zip(&signs).map(|(row, sign)| sign * row[self.width + i]).sum();
            if rule.equal { -y } else { (-y).max(0.0) }
        };
        rules.iter().enumerate().map(weight).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn obeys(rules: &[Rule], point: &[f64]) -> bool {
        point.iter().all(|x| (0.0..=1.0).contains(x))
            && rules.iter().all(|rule| {
                let left: f64 = rule.terms.iter().map(|&(j, a)| a * point[j]).sum();
                if rule.equal { (left - rule.bound).abs() < 1e-7 } else { left < rule.bound + 1e-7 }
            })
    }

    fn rule(terms: &[f64], bound: f64, equal: bool) -> Rule {
        Rule { terms: terms.iter().copied().enumerate().filter(|(_, a)| *a != 0.0).collect(), bound, equal }
    }

    #[test]
    fn small_systems() {
        let feasible_ones = [
            vec![],
            vec![rule(&[1.0, -1.0], 0.0, false), rule(&[-1.0, 1.0], 0.0, false)],
            vec![rule(&[1.0, 1.0], 2.0, true)],
            vec![rule(&[-1.0, -1.0], -2.0, false)],
        ];
        for rules in feasible_ones {
            match feasible(2, &rules) {
                Answer::Point(point) => assert!(obeys(&rules, &point), "{rules:?} {point:?}"),
                other => panic!("{rules:?} {other:?}"),
            }
        }
        let contradictions = [
            vec![rule(&[1.0, 1.0], 2.1, true)],
            vec![rule(&[1.0, -1.0], -0.1, false), rule(&[-1.0, 1.0], -0.1, false)],
            vec![rule(&[1.0, 0.0], -0.5, false)],
        ];
        for rules in contradictions {
            match feasible(2, &rules) {
                Answer::Never(weights) => assert!(proves(2, &rules, &weights)),
                other => panic!("{rules:?} {other:?}"),
            }
        }
        // The control: weights that prove nothing, and weights with a forbidden sign.
        let rules = [rule(&[1.0, -1.0], 0.0, false)];
        assert!(!proves(2, &rules, &[1.0]) && !proves(2, &rules, &[-1.0]) && !proves(2, &rules, &[]));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn every_answer_is_proved(
            width in 1usize..7,
            drawn in prop::collection::vec((prop::collection::vec(-3i32..=3, 6), -8i32..=8, 0u8..4), 0..9),
        ) {
            let rules: Vec<Rule> = drawn.iter().map(|(terms, bound, equal)| {
                let terms: Vec<f64> = terms[..width].iter().map(|&a| f64::from(a)).collect();
                rule(&terms, f64::from(*bound) / 2.0, *equal == 0)
            }).collect();
            match feasible(width, &rules) {
                Answer::Point(point) => prop_assert!(obeys(&rules, &point)),
                Answer::Never(weights) => prop_assert!(proves(width, &rules, &weights)),
                Answer::Unclear => prop_assert!(false, "left open"),
            }
        }
    }
}
