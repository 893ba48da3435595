//! Against trying everything.

use super::*;

/// The least sum of distances over all one-to-one plans.
fn by_trying(a: &[f64], b: &[f64], width: usize, metric: Metric, at: usize, taken: &mut [bool]) -> f64 {
    if at == taken.len() {
        return 0.0;
    }
    let mut best = f64::INFINITY;
    for j in 0..taken.len() {
        if !std::mem::replace(&mut taken[j], true) {
            let step = metric.distance(&a[at * width..][..width], &b[j * width..][..width]);
            best = best.min(step + by_trying(a, b, width, metric, at + 1, taken));
            taken[j] = false;
        }
    }
    best
}

fn mean_by_trying(a: &[f64], b: &[f64], width: usize, metric: Metric) -> f64 {
    let size = a.len() / width;
    by_trying(a, b, width, metric, 0, &mut vec![false; size]) / size as f64
}

/// Each point as often as its count says.
fn repeated(points: &[f64], width: usize, counts: &[usize]) -> Vec<f64> {
    let each = points.chunks_exact(width).zip(counts);
    each.flat_map(|(point, &count)| point.iter().copied().cycle().take(count * width)).collect()
}

/// Counts with a given sum, some of them 0.
fn counts(parts: usize, sum: usize, stream: &mut Stream) -> Vec<usize> {
    let mut counts = vec![0; parts];
    (0..sum).for_each(|_| counts[stream.below(parts as u64) as usize] += 1);
    counts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn few_points(size in 1usize..=7, width in 1usize..20, seed: u64, metric in metric()) {
        let (a, b) = (cloud(size, width, seed), cloud(size, width, !seed));
        prop_assert!(near(w1(&a, &b, width, metric), mean_by_trying(&a, &b, width, metric)));
    }

    /// n points against m: as n·m/g copies against as many.
    #[test]
    fn unequal_numbers(sizes in prop::sample::select(vec![(1usize, 5usize), (2, 3), (3, 2), (2, 6), (4, 2), (3, 6), (1, 7)]), width in 1usize..6, seed: u64, metric in metric()) {
        let (n, m) = sizes;
        let (a, b) = (cloud(n, width, seed), cloud(m, width, !seed));
        let shared = gcd(n, m);
        let (copies_a, copies_b) = (repeated(&a, width, &vec![m / shared; n]), repeated(&b, width, &vec![n / shared; m]));
        prop_assert!(near(w1(&a, &b, width, metric), mean_by_trying(&copies_a, &copies_b, width, metric)));
    }

    /// Weights that are multiples of 1/k: as k points, equal ones among them.
    #[test]
    fn weights_are_copies(n in 1usize..=5, m in 1usize..=5, k in 1usize..=7, width in 1usize..4, seed: u64, metric in metric()) {
        let (a, b) = (cloud(n, width, seed), cloud(m, width, !seed));
        let mut stream = Stream::new(seed, 3, 0);
        let (counts_a, counts_b) = (counts(n, k, &mut stream), counts(m, k, &mut stream));
        let share = |counts: &[usize]| counts.iter().map(|&count| count as f64 / k as f64).collect::<Vec<_>>();
        let (weights_a, weights_b) = (share(&counts_a), share(&counts_b));
        let (copies_a, copies_b) = (repeated(&a, width, &counts_a), repeated(&b, width, &counts_b));
        let tried = mean_by_trying(&copies_a, &copies_b, width, metric);
        let weighted = proven(&points(&a, width).weighted(&weights_a).unwrap(), &points(&b, width).weighted(&weights_b).unwrap(), metric);
        prop_assert!(near(weighted, tried));
        prop_assert!(near(w1(&copies_a, &copies_b, width, metric), tried));
    }
}
