//! Test help: draws against closed-form probabilities, with a stated false-alarm rate.

/// What a comparison of draws with a law says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing speaks against the law.
    Accepted,
    /// A frequency is too far away, at a false-alarm rate of 1e-7.
    Rejected,
}

/// ln of the Chernoff bound for a Binomial(n, p) count to be at least (or at most) as far from n·p as `count` is:
/// P ≤ exp(−n·KL(count/n ‖ p)), valid for every n and p.
fn log_tail(count: f64, n: f64, p: f64) -> f64 {
    let f = count / n;
    let part = |f: f64, p: f64| if f == 0.0 { 0.0 } else { f * (f / p).ln() };
    if p >= 1.0 {
        return if f < 1.0 { f64::NEG_INFINITY } else { 0.0 };
    }
    -n * (part(f, p) + part(1.0 - f, 1.0 - p))
}

/// Compares draws with a law given as (value, probability); values not listed share what is left.
///
/// Values are merged, in the order of the list, into groups of probability at least 1/50; each group and the running
/// sum up to it are binomial counts. With m comparisons in all, each may be off by what a Chernoff bound allows with
/// probability 1e-7/(2m), on either side: by the union bound the false-alarm rate is at most 1e-7.
pub fn cells(law: &[(i128, f64)], draws: impl Iterator<Item = i128>) -> Verdict {
    let mut group_of = std::collections::HashMap::new();
    let mut groups = vec![0.0];
    for &(value, probability) in law {
        if groups[groups.len() - 1] >= 0.02 {
            groups.push(0.0);
        }
        let last = groups.len() - 1;
        groups[last] += probability;
        group_of.insert(value, last);
    }
    let listed: f64 = groups.iter().sum();
    groups.push((1.0 - listed).max(1e-15));
    let mut counts = vec![0.0; groups.len()];
    let mut n = 0.0;
    for draw in draws {
        counts[group_of.get(&draw).copied().unwrap_or(groups.len() - 1)] += 1.0;
        n += 1.0;
    }
    let allowed = (1e-7 / (4.0 * groups.len() as f64)).ln();
    let (mut running_count, mut running) = (0.0, 0.0);
    for (&count, &probability) in counts.iter().zip(&groups) {
        running_count += count;
        running = (running + probability).min(1.0);
        // Rounding of the closed forms: far below what the counts can tell.
        let certain = running > 1.0 - 1e-12;
        if log_tail(count, n, probability) < allowed || (!certain && log_tail(running_count, n, running) < allowed) {
            return Verdict::Rejected;
        }
    }
    Verdict::Accepted
}

/// Lap_Z(b), from −40 b to 40 b.
pub fn laplace_law(b: f64) -> Vec<(i128, f64)> {
    let q = (-1.0 / b).exp();
    let norm = (1.0 - q) / (1.0 + q);
    let far = (40.0 * b).ceil() as i64 + 1;
    (-far..=far).map(|z| (i128::from(z), norm * (-(z.abs() as f64) / b).exp())).collect()
}

/// N_Z(0, σ²), from −12 σ to 12 σ.
pub fn gaussian_law(variance: f64) -> Vec<(i128, f64)> {
    let far = (12.0 * variance.sqrt()).ceil() as i64 + 1;
    let weight = |z: i64| (-(z as f64).powi(2) / (2.0 * variance)).exp();
    let norm: f64 = (-far..=far).map(weight).sum();
    (-far..=far).map(|z| (i128::from(z), weight(z) / norm)).collect()
}
