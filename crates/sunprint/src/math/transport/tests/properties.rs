//! What a distance between measures must satisfy.

use super::*;

fn shifted(points: &[f64], by: f64) -> Vec<f64> {
    points.iter().map(|x| x + by).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn symmetry_and_triangle(sizes in (1usize..25, 1usize..25, 1usize..25), width in 1usize..5, seed: u64, metric in metric(), crowded: bool) {
        let side = |count: usize, seed: u64| if crowded { lattice(count, width, 3, seed) } else { cloud(count, width, seed) };
        let (a, b, c) = (side(sizes.0, seed), side(sizes.1, !seed), side(sizes.2, seed ^ 77));
        let (weights_a, weights_b) = (weights(sizes.0, seed), weights(sizes.1, !seed));
        let a = points(&a, width).weighted(&weights_a).unwrap();
        let b = points(&b, width).weighted(&weights_b).unwrap();
        let c = points(&c, width);
        let (ab, bc, ac) = (proven(&a, &b, metric), proven(&b, &c, metric), proven(&a, &c, metric));
        prop_assert!(near(ab, proven(&b, &a, metric)));
        prop_assert!(ac <= (ab + bc) * (1.0 + 1e-11));
        prop_assert_eq!(proven(&a, &a, metric), 0.0);
    }

    #[test]
    fn a_shift_costs_its_length(size in 1usize..60, width in 1usize..12, seed: u64, shift in 0.01f64..3.0) {
        let a = cloud(size, width, seed);
        let mut b = shifted(&a, -shift);
        b.rotate_left(width * (size / 3));
        for (metric, length) in [(Metric::Largest, 1.0), (Metric::Manhattan, width as f64), (Metric::Euclidean, (width as f64).sqrt())] {
            prop_assert!((w1(&a, &b, width, metric) - shift * length).abs() < 1e-12 * width as f64);
        }
    }

    #[test]
    fn moving_and_scaling_both(sizes in (1usize..40, 1usize..40), width in 1usize..6, seed: u64, metric in metric()) {
        let (a, b) = (lattice(sizes.0, width, 40, seed), lattice(sizes.1, width, 40, !seed));
        let plain = w1(&a, &b, width, metric);
        prop_assert!(near(w1(&shifted(&a, 1024.0), &shifted(&b, 1024.0), width, metric), plain));
        for factor in [1e-300, 1e-5, 3.0, 1e300] {
            let scaled = |points: &[f64]| points.iter().map(|x| x * factor).collect::<Vec<_>>();
            prop_assert!(near(w1(&scaled(&a), &scaled(&b), width, metric), plain * factor));
        }
    }

    /// In whatever order the points come, and however equal points are counted.
    #[test]
    fn order_and_copies_do_not_matter(size in 1usize..40, width in 1usize..4, copies in 2usize..4, seed: u64, metric in metric()) {
        let (a, b) = (cloud(size, width, seed), lattice(size, width, 3, seed));
        let plain = w1(&a, &b, width, metric);
        let reversed: Vec<f64> = a.chunks_exact(width).rev().flatten().copied().collect();
        prop_assert!(near(w1(&reversed, &b, width, metric), plain));
        prop_assert!(near(w1(&a.repeat(copies), &b, width, metric), plain));
        prop_assert!(near(w1(&a.repeat(copies), &b.repeat(copies), width, metric), plain));
    }

    #[test]
    fn one_dimension_agrees_with_sorting(na in 1usize..60, nb in 1usize..60, seed: u64, metric in metric()) {
        let (a, b) = (cloud(na, 1, seed), cloud(nb, 1, !seed));
        prop_assert!(near(w1(&a, &b, 1, metric), w1_line(&a, &b)));
        let (weights_a, weights_b) = (weights(na, seed), weights(nb, !seed));
        let weighted = proven(&points(&a, 1).weighted(&weights_a).unwrap(), &points(&b, 1).weighted(&weights_b).unwrap(), metric);
        prop_assert!((weighted - w1_line_weighted(&a, &weights_a, &b, &weights_b)).abs() < 1e-12);
    }

    #[test]
    fn repeating_a_sample_changes_nothing_on_the_line(na in 1usize..30, nb in 1usize..30, seed: u64) {
        let (a, b) = (cloud(na, 1, seed), cloud(nb, 1, !seed));
        let repeated = w1_line(&a.repeat(nb), &b.repeat(na));
        prop_assert!((w1_line(&a, &b) - repeated).abs() < 1e-12);
        prop_assert!((w1_line_weighted(&a, &vec![0.5; na], &b, &vec![2.0; nb]) - repeated).abs() < 1e-12);
    }

    /// A plan carries what there is, and its steps cost what the transport says.
    #[test]
    fn the_plan_is_a_plan(na in 1usize..30, nb in 1usize..30, seed: u64, metric in metric()) {
        let (a, b) = (lattice(na, 2, 6, seed), lattice(nb, 2, 6, !seed));
        let (weights_a, weights_b) = (weights(na, seed), weights(nb, !seed));
        let (a, b) = (points(&a, 2).weighted(&weights_a).unwrap(), points(&b, 2).weighted(&weights_b).unwrap());
        let found = wasserstein1(&a, &b, metric).unwrap();
        let (mut given, mut taken, mut cost) = (vec![0.0; na], vec![0.0; nb], 0.0);
        for Moved { from, to, mass } in found.plan() {
            given[from] += mass;
            taken[to] += mass;
            cost += mass * metric.distance(&a.coordinates()[from * 2..][..2], &b.coordinates()[to * 2..][..2]);
        }
        let same = |x: &[f64], y: &[f64]| x.iter().zip(y).all(|(x, y)| (x - y).abs() < 1e-14);
        prop_assert!(same(&given, &weights_a) && same(&taken, &weights_b));
        prop_assert!(near(cost, found.cost));
        prop_assert_eq!(found.metric(), metric);
    }
}

#[test]
fn certificates_hold_at_many_sizes() {
    for (n, m, width) in
        [(1, 1, 1), (2, 2, 3), (50, 50, 50), (200, 200, 7), (500, 500, 3), (1_000, 1_000, 20), (300, 200, 9)]
    {
        let (a, b) = (cloud(n, width, 1), cloud(m, width, 2));
        let (a, b) = (points(&a, width), points(&b, width));
        let found = wasserstein1(&a, &b, Metric::Euclidean).unwrap();
        assert!(found.verify(&a, &b), "{n} against {m}");
        assert!(!found.verify(&b, &a) || n == 1, "the proof of another problem");
    }
}

#[test]
fn a_tampered_transport_is_refused() {
    let (a, b) = (cloud(40, 2, 3), cloud(40, 2, 4));
    let (a, b) = (points(&a, 2), points(&b, 2));
    let good = wasserstein1(&a, &b, Metric::Euclidean).unwrap();
    assert!(good.verify(&a, &b));
    let refused = |why: &str, change: &dyn Fn(&mut Transport)| {
        let mut bad = good.clone();
        change(&mut bad);
        assert!(!bad.verify(&a, &b), "{why}");
    };
    refused("a lower cost", &|t| t.cost *= 0.999);
    refused("a higher bound", &|t| t.certificate.lower = t.cost);
    refused("another unit", &|t| t.certificate.unit *= 2.0);
    refused("no power of two", &|t| t.certificate.unit *= 1.5);
    refused("no unit", &|t| t.certificate.unit = 0.0);
    refused("a potential too high", &|t| t.certificate.rows[3] += 1);
    refused("a potential too low", &|t| t.certificate.columns[3] -= 1);
    refused("a potential beyond all", &|t| t.certificate.columns[3] = i64::MAX);
    refused("a potential missing", &|t| t.certificate.rows.truncate(39));
    refused("a step missing", &|t| t.moved.truncate(39));
    refused("a step twice", &|t| t.moved.push(t.moved[0]));
    refused("a step elsewhere", &|t| t.moved[0].1 = t.moved[1].1);
    refused("a point that is not there", &|t| t.moved[0].0 = 40);
    refused("a step back", &|t| t.moved[0].2 = -1);
    refused("a plan that is not the best", &|t| {
        let (first, second) = (t.moved[0].1, t.moved[1].1);
        (t.moved[0].1, t.moved[1].1) = (second, first);
    });
    refused("another metric", &|t| t.metric = Metric::Largest);
    refused("another total", &|t| t.total = 1);
}

#[test]
fn metrics_have_names() {
    for metric in Metric::ALL {
        assert_eq!(metric.name().parse::<Metric>().unwrap(), metric);
    }
    assert!("L2".parse::<Metric>().unwrap_err().to_string().contains("`metric`"));
}
