//! One point, equal points, points far out.

use super::*;

#[test]
fn one_point() {
    for metric in Metric::ALL {
        assert_eq!(w1(&[1.0, 2.0], &[1.0, 5.0], 2, metric), 3.0);
        assert_eq!(w1(&[0.0], &[-1.0, 2.0, 3.0], 1, metric), 2.0);
    }
}

#[test]
fn equal_points_by_the_thousand() {
    for metric in Metric::ALL {
        let same = vec![0.5; 3 * 4_000];
        assert_eq!(w1(&same, &same, 3, metric), 0.0);
        assert_eq!(w1(&same, &same[..3 * 999], 3, metric), 0.0);
        // Four places, two sides, thousands of copies each: 1,500 of 3,000 points have to move by 1.
        let a: Vec<f64> = (0..3_000).map(|i| f64::from(i % 4 / 2)).collect();
        assert!(near(w1(&a, &vec![0.0; 3_000], 1, metric), 0.5));
        assert!(near(w1(&a, &vec![1.0; 1_000], 1, metric), 0.5));
    }
}

/// Many equal points among different ones, on both sides, at equal sizes.
#[test]
fn a_crowd_among_others() {
    let mut a = cloud(600, 3, 5);
    let mut b = cloud(600, 3, 6);
    a[..3 * 250].fill(0.25);
    b[3 * 350..].fill(-0.5);
    for metric in Metric::ALL {
        assert!(w1(&a, &b, 3, metric) > 0.1);
    }
}

#[test]
fn a_grid_of_ties() {
    let a = lattice(500, 2, 8, 1);
    for metric in Metric::ALL {
        assert!(w1(&a, &lattice(500, 2, 8, 2), 2, metric) > 0.0);
        assert!(w1(&a, &lattice(333, 2, 8, 3), 2, metric) > 0.0);
    }
}

#[test]
fn points_without_weight_take_no_part() {
    let (a, b) = ([0.0, 1e6, 1.0], [3.0, -1e6, 1e9, 4.0]);
    let a = points(&a, 1).weighted(&[0.5, 0.0, 0.5]).unwrap();
    let b = points(&b, 1).weighted(&[0.5, 0.0, 0.0, 0.5]).unwrap();
    for metric in Metric::ALL {
        assert!(near(proven(&a, &b, metric), 3.0));
        assert!(near(proven(&b, &a, metric), 3.0));
    }
}

/// A weight too small to be a mass is lost, and the bound knows.
#[test]
fn a_weight_too_small_to_count() {
    let (a, b) = ([0.0, 1.0], [0.0, 1.0]);
    let a = points(&a, 1).weighted(&[1.0, 1e-18]).unwrap();
    let b = points(&b, 1).weighted(&[0.0, 1.0]).unwrap();
    let found = wasserstein1(&a, &b, Metric::Euclidean).unwrap();
    assert!(found.verify(&a, &b) && near(found.cost, 1.0));
}

/// Weights that are all the same are no weights: the same answer, to the last bit.
#[test]
fn even_weights_are_no_weights() {
    let (a, b) = (cloud(30, 2, 1), cloud(20, 2, 2));
    let even = (vec![1.0 / 30.0; 30], vec![1.0 / 20.0; 20]);
    let weighted =
        proven(&points(&a, 2).weighted(&even.0).unwrap(), &points(&b, 2).weighted(&even.1).unwrap(), Metric::Euclidean);
    assert_eq!(weighted, w1(&a, &b, 2, Metric::Euclidean));
}

/// A point far out on both sides makes the largest distance huge; the plan does not use it, and the proof stays sharp.
#[test]
fn an_outlier_on_both_sides_does_not_blur_the_proof() {
    for (far, n, m) in [(1e6, 60, 60), (1e15, 60, 60), (1e100, 60, 60), (1e250, 60, 60), (1e15, 60, 30)] {
        let (mut a, mut b) = (cloud(n, 3, 1), cloud(m, 3, 2));
        for metric in Metric::ALL {
            let inner = w1(&a[3 * n / m..], &b[3..], 3, metric);
            a[..3 * n / m].fill(far);
            b[..3].fill(far);
            let whole = w1(&a, &b, 3, metric);
            assert!(near(whole, inner * (m - 1) as f64 / m as f64), "{far} {metric:?}");
        }
    }
}

/// One point far out on one side has to be carried there.
#[test]
fn an_outlier_on_one_side_is_paid_for() {
    let (mut a, b) = (cloud(50, 2, 1), cloud(50, 2, 2));
    (a[0], a[1]) = (1e300, 0.0);
    for metric in Metric::ALL {
        assert!(near(w1(&a, &b, 2, metric), 1e300 / 50.0));
    }
}

#[test]
fn distances_at_the_ends_of_the_range() {
    for metric in Metric::ALL {
        assert!(near(
            metric.distance(&[3e300, 0.0], &[0.0, 4e300]),
            match metric {
                Metric::Euclidean => 5e300,
                Metric::Largest => 4e300,
                Metric::Manhattan => 7e300,
            }
        ));
        assert!(near(
            metric.distance(&[3e-300, 0.0], &[0.0, 4e-300]),
            match metric {
                Metric::Euclidean => 5e-300,
                Metric::Largest => 4e-300,
                Metric::Manhattan => 7e-300,
            }
        ));
        assert_eq!(metric.distance(&[f64::NAN], &[0.0]), f64::INFINITY);
        assert_eq!(metric.distance(&[f64::INFINITY], &[0.0]), f64::INFINITY);
        // No float lies between 0 and the smallest, so a bound cannot be near; it is still a bound.
        let tiny = f64::from_bits(1);
        let (a, b) = (points(&[0.0], 1), [tiny]);
        let found = wasserstein1(&a, &points(&b, 1), metric).unwrap();
        assert!(found.verify(&a, &points(&b, 1)) && found.cost == tiny && found.certificate.lower <= tiny);
        assert_eq!(w1(&[-1e308], &[0.5e308], 1, metric), 1.5e308);
    }
}
