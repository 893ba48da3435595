//! Ticks near a wish that obey all rules: one column after the other, and what each leaves for the rest.
//!
//! After a column has its ticks, the bounds of the others are narrowed until no rule narrows them further. For chains of
//! comparisons and for one sum that is enough: every value that is left can be completed. Where rules are coupled more
//! tightly the search may have to go back, which it does a bounded number of times.

use super::system::{System, TickRule};

/// How many values of a column are tried before the one before it is changed.
const TRIES: i64 = 12;
/// Rounds of narrowing. Two rules can chase each other for ever.
const ROUNDS: usize = 24;

/// Bounds that are narrowed and restored.
struct Bounds {
    bounds: Vec<(i64, i64)>,
    /// What was narrowed, to be restored from behind.
    trail: Vec<(usize, (i64, i64))>,
}

impl Bounds {
    /// Narrows one column's bounds; false if nothing is left.
    fn narrow(&mut self, line: usize, low: i128, high: i128) -> Option<bool> {
        let (least, most) = self.bounds[line];
        let new = (i128::from(least).max(low), i128::from(most).min(high));
        if new.0 > new.1 {
            return None;
        }
        // Both lie between bounds that fit.
        let new = (new.0 as i64, new.1 as i64);
        if new == (least, most) {
            return Some(false);
        }
        self.trail.push((line, (least, most)));
        self.bounds[line] = new;
        Some(true)
    }

    fn restore(&mut self, length: usize) {
        while self.trail.len() > length
            && let Some((line, bounds)) = self.trail.pop()
        {
            self.bounds[line] = bounds;
        }
    }

    /// What one rule leaves of the bounds of its columns: `f_j k_j ≤ bound − least sum of the others`.
    fn propagate(&mut self, rule: &TickRule) -> Option<bool> {
        let end = |bounds: (i64, i64), factor: i128, low: bool| {
            factor * i128::from(if (factor > 0) == low { bounds.0 } else { bounds.1 })
        };
        let sum = |bounds: &[(i64, i64)], low: bool| -> i128 {
            rule.terms.iter().map(|&(line, factor)| end(bounds[line], factor, low)).sum()
        };
        let mut changed = false;
        let (low_sum, high_sum) = (sum(&self.bounds, true), sum(&self.bounds, false));
        if low_sum > rule.bound || rule.equal && high_sum < rule.bound {
            return None;
        }
        for &(line, factor) in &rule.terms {
            let before = self.bounds[line];
            let most = rule.bound - (low_sum - end(before, factor, true));
            let least = rule.bound - (high_sum - end(before, factor, false));
            let (mut low, mut high) = (i128::MIN, i128::MAX);
            if factor > 0 {
                high = most.div_euclid(factor);
            } else {
                low = ceiling(most, factor);
            }
            if rule.equal && factor > 0 {
                low = ceiling(least, factor);
            } else if rule.equal {
                high = floor(least, factor);
            }
            changed |= self.narrow(line, low, high)?;
        }
        Some(changed)
    }
}

fn floor(a: i128, b: i128) -> i128 {
    if b > 0 { a.div_euclid(b) } else { (-a).div_euclid(-b) }
}

fn ceiling(a: i128, b: i128) -> i128 {
    -floor(-a, b)
}

impl System {
    /// Ticks near `wish` that obey the rules of these numbers; `None` if a bounded search finds none. `firm` says how much
    /// a tick of each column weighs: the firmest are settled first.
    pub fn near(&self, wish: &[f64], firm: &[f64], rules: &[usize], steps: usize) -> Option<Vec<i64>> {
        let order = self.order(rules, firm);
        let bounds = self.lines.iter().map(|line| (line.least, line.most)).collect();
        let mut bounds = Bounds { bounds, trail: Vec::new() };
        self.settle(&mut bounds, rules, None)?;
        // For each column so far: how long the trail was, the wished ticks, and how many were tried.
        let mut path: Vec<(usize, i64, i64)> = Vec::new();
        let mut steps = steps;
        let mut back = false;
        while path.len() < order.len() || back {
            if back {
                let last = path.last_mut()?;
                bounds.restore(last.0);
                last.2 += 1;
            } else {
                let line = order[path.len()];
                let (least, most) = bounds.bounds[line];
                path.push((bounds.trail.len(), (wish[line].round() as i64).clamp(least, most), 0));
            }
            steps = steps.checked_sub(1)?;
            let &(_, wished, tries) = path.last()?;
            let line = order[path.len() - 1];
            let (least, most) = bounds.bounds[line];
            back = true;
            if tries >= TRIES.min(2 * (most - least) + 1) {
                path.pop();
                continue;
            }
            // The wish, then one above, one below, two above, and so on.
            let away = (tries + 1) / 2;
            let ticks = wished + if tries % 2 == 1 { away } else { -away };
            if (least..=most).contains(&ticks)
                && bounds.narrow(line, i128::from(ticks), i128::from(ticks)).is_some()
                && self.settle(&mut bounds, rules, Some(line)).is_some()
            {
                back = false;
            }
        }
        let found: Vec<i64> = bounds.bounds.iter().zip(wish).map(|(b, w)| (w.round() as i64).clamp(b.0, b.1)).collect();
        rules.iter().all(|&i| self.rules[i].holds(&found)).then_some(found)
    }

    /// Coarse columns first: the finest can take up what is left. Of equally fine ones the firmest first.
    fn order(&self, rules: &[usize], firm: &[f64]) -> Vec<usize> {
        let mut weights = vec![0_i128; self.lines.len()];
        for &(line, factor) in rules.iter().flat_map(|&i| &self.rules[i].terms) {
            weights[line] = weights[line].max(factor.abs());
        }
        let mut order: Vec<usize> = (0..weights.len()).filter(|&line| weights[line] > 0).collect();
        order.sort_by(|&a, &b| weights[b].cmp(&weights[a]).then(firm[b].total_cmp(&firm[a])).then(a.cmp(&b)));
        order
    }

    /// Narrows until nothing changes, beginning with the rules about one column if only that has changed.
    fn settle(&self, bounds: &mut Bounds, rules: &[usize], changed: Option<usize>) -> Option<()> {
        let about = |rule: &TickRule| changed.is_none_or(|line| rule.terms.iter().any(|(known, _)| *known == line));
        let mut any = false;
        for &i in rules.iter().filter(|&&i| about(&self.rules[i])) {
            any |= bounds.propagate(&self.rules[i])?;
        }
        for _ in 0..ROUNDS {
            if !any {
                return Some(());
            }
            any = false;
            for &i in rules {
                any |= bounds.propagate(&self.rules[i])?;
            }
        }
        Some(())
    }
}
