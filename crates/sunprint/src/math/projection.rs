//! The point of a box nearest to another that obeys linear rules, exactly: the dual active-set method of Goldfarb and
//! Idnani for the Euclidean distance.

use super::feasible::Rule;
use super::vector::dot;

/// Rules count as obeyed up to this; factors are of the order of 1.
const CLOSE: f64 = 1e-12;
/// A direction shorter than this lies in the span of the others.
const FLAT: f64 = 1e-20;

/// A rule that holds with equality: its normal, whose factor is never negative unless `free`.
struct Active {
    normal: Vec<f64>,
    which: usize,
    pull: f64,
    free: bool,
}

/// The nearest point. Where rules contradict one another, or rounding makes them, whatever was found last.
///
/// Of `min ½‖x − p‖²` under `g_i x ≤ h_i` the minimum is `x = p − Σ λ_i g_i` with `λ_i ≥ 0`, and `λ_i = 0` where the rule
/// holds strictly. The method keeps these conditions for the rules in its active set and takes in the rule that is broken
/// most, by moving x along that part of its normal that leaves the active rules as they are. Whenever a factor would become
/// negative on the way, its rule is let go. The distance grows with every rule taken in, so no active set comes twice.
pub fn nearest(point: &[f64], rules: &[Rule], ends: &[(f64, f64)]) -> Vec<f64> {
    let width = point.len();
    let mut x = point.to_vec();
    let mut active: Vec<Active> = Vec::new();
    for _ in 0..4 * (rules.len() + 2 * width) + 16 {
        let Some((which, sign, over)) = worst(&x, rules, ends) else { break };
        let normal = normal(which, sign, rules, width);
        let mut pull = 0.0;
        let mut over = over;
        loop {
            let share = shares(&active, &normal);
            let mut z = normal.clone();
            for (one, r) in active.iter().zip(&share) {
                z.iter_mut().zip(&one.normal).for_each(|(z, g)| *z -= r * g);
            }
            let square = dot(&z, &z);
            let whole = if square > FLAT { over / square } else { f64::INFINITY };
            let first = active.iter().zip(&share).enumerate().filter(|(_, (one, r))| !one.free && **r > 0.0);
            let first = first.map(|(i, (one, r))| (one.pull / r, i)).min_by(|a, b| a.0.total_cmp(&b.0));
            let step = first.map_or(whole, |(step, _)| step.min(whole));
            if !step.is_finite() {
                return x;
            }
            if square > FLAT {
                x.iter_mut().zip(&z).for_each(|(x, z)| *x -= step * z);
                over -= step * square;
            }
            active.iter_mut().zip(&share).for_each(|(one, r)| one.pull -= step * r);
            pull += step;
            match first {
                Some((limit, i)) if limit < whole => drop(active.swap_remove(i)),
                _ => break,
            }
        }
        let free = which < rules.len() && rules[which].equal;
        active.push(Active { normal, which, pull, free });
        // Rounding leaves traces across the rules that hold; none of them may count as broken again.
        if active.iter().filter(|one| one.which == which).count() > 1 {
            break;
        }
    }
    x.iter_mut().zip(ends).for_each(|(x, &(low, high))| *x = x.clamp(low, high));
    x
}

/// The rule that is broken most, with the sign of its normal; behind the rules stand the ends, lower and upper.
fn worst(x: &[f64], rules: &[Rule], ends: &[(f64, f64)]) -> Option<(usize, f64, f64)> {
    let mut most = (0, 1.0, CLOSE);
    for (i, rule) in rules.iter().enumerate() {
        let over = rule.terms.iter().map(|&(j, a)| a * x[j]).sum::<f64>() - rule.bound;
        let broken = if rule.equal { over.abs() } else { over };
        if broken > most.2 {
            most = (i, if over < 0.0 { -1.0 } else { 1.0 }, broken);
        }
    }
    for (j, (x, &(low, high))) in x.iter().zip(ends).enumerate() {
        for (side, over) in [(0, low - x), (1, x - high)] {
            if over > most.2 {
                most = (rules.len() + 2 * j + side, 1.0, over);
            }
        }
    }
    (most.2 > CLOSE).then_some(most)
}

fn normal(which: usize, sign: f64, rules: &[Rule], width: usize) -> Vec<f64> {
    let mut normal = vec![0.0; width];
    match rules.get(which) {
        Some(rule) => rule.terms.iter().for_each(|&(j, a)| normal[j] = sign * a),
        None => {
            let end = which - rules.len();
            normal[end / 2] = if end.is_multiple_of(2) { -1.0 } else { 1.0 };
        }
    }
    normal
}

/// The least-squares factors of a vector on the active normals: `(NᵀN) r = Nᵀg` by Cholesky's method.
fn shares(active: &[Active], vector: &[f64]) -> Vec<f64> {
    let k = active.len();
    let mut right: Vec<f64> = active.iter().map(|one| dot(&one.normal, vector)).collect();
    let mut lower = vec![vec![0.0; k]; k];
    for i in 0..k {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|l| lower[i][l] * lower[j][l]).sum();
            let left = dot(&active[i].normal, &active[j].normal) - sum;
            // Active normals are independent; the floor is against rounding.
            lower[i][j] = if i == j { left.max(FLAT).sqrt() } else { left / lower[j][j] };
        }
    }
    for i in 0..k {
        let sum: f64 = (0..i).map(|l| lower[i][l] * right[l]).sum();
        right[i] = (right[i] - sum) / lower[i][i];
    }
    for i in (0..k).rev() {
        let sum: f64 = (i + 1..k).map(|l| lower[l][i] * right[l]).sum();
        right[i] = (right[i] - sum) / lower[i][i];
    }
    right
}
