//! The noise that mechanisms really add, against closed forms. Each comparison has a false-alarm rate of 1e-7 for a
//! fresh seed (see `law`); the seeds are fixed, so that a passing test keeps passing.

mod kernel_support;

use kernel_support::law::{Verdict, cells, gaussian_law, laplace_law};
use kernel_support::{concentrated, pure};
use sunprint::privacy::{Charge, Kernel, LatticeShares, PathTree, Sensitive};

/// The right law is accepted; scales 0.7 and 1.3 times as wide are rejected.
fn check(name: &str, law: impl Fn(f64) -> Vec<(i128, f64)>, draws: &[i128]) {
    assert_eq!(cells(&law(1.0), draws.iter().copied()), Verdict::Accepted, "{name}");
    assert_eq!(cells(&law(0.7), draws.iter().copied()), Verdict::Rejected, "{name}: 0.7");
    assert_eq!(cells(&law(1.3), draws.iter().copied()), Verdict::Rejected, "{name}: 1.3");
}

#[test]
fn vectors() {
    let mut kernel = Kernel::seeded(1);
    let (mut laplace, mut gaussian) = (Vec::new(), Vec::new());
    for _ in 0..20_000 {
        let values = || Sensitive::new(vec![10; 6]);
        // Scale 6 · 3/2 = 9; variance 6 · 9/(2 · ½) = 54.
        laplace.extend(kernel.vector("v", values(), 3, pure()).unwrap().into_inner().iter().map(|x| x - 10));
        gaussian.extend(kernel.vector("v", values(), 3, concentrated()).unwrap().into_inner().iter().map(|x| x - 10));
    }
    check("laplace", |f| laplace_law(9.0 * f), &laplace);
    check("gaussian", |f| gaussian_law(54.0 * f * f), &gaussian);
}

#[test]
fn symmetric_matrices() {
    let mut kernel = Kernel::seeded(2);
    let mut parts = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..40_000 {
        for (charge, to) in [(pure(), 0), (concentrated(), 2)] {
            let lower = kernel.symmetric("m", Sensitive::new(vec![0; 6]), 3, 2, 1, charge).unwrap().into_inner();
            parts[to].extend([lower[1], lower[3], lower[4]]);
            parts[to + 1].extend([lower[0], lower[2], lower[5]]);
        }
    }
    // b = 2 · 9/(2 · 2) = 4.5, diagonal 9; σ² = 4 · 9/(4 · ½) = 18, diagonal 36.
    check("off-diagonal", |f| laplace_law(4.5 * f), &parts[0]);
    check("diagonal", |f| laplace_law(9.0 * f), &parts[1]);
    check("off-diagonal, gaussian", |f| gaussian_law(18.0 * f * f), &parts[2]);
    check("diagonal, gaussian", |f| gaussian_law(36.0 * f * f), &parts[3]);
}

#[test]
fn gaussian_moments() {
    let mut kernel = Kernel::seeded(3);
    let (mut off_diagonal, mut diagonal) = (Vec::new(), Vec::new());
    for _ in 0..40_000 {
        let lower = kernel.moments("m", Sensitive::new(vec![5; 3]), 2, 6, concentrated()).unwrap().into_inner().lower;
        off_diagonal.push(i128::from(lower[1] - 5));
        diagonal.extend([i128::from(lower[0] - 5), i128::from(lower[2] - 5)]);
    }
    // σ² = 36/(2 · ½).
    check("off-diagonal", |f| gaussian_law(36.0 * f * f), &off_diagonal);
    check("diagonal", |f| gaussian_law(72.0 * f * f), &diagonal);
}

#[test]
fn path_counts() {
    let tree = PathTree { total: 12, root: 2, strata: vec![vec![4, 6], vec![], vec![10]] };
    let leaves = vec![1, 2, 3, 4, 100, 7, 8];
    for (seed, charge) in [(4, pure as fn() -> Charge), (5, concentrated)] {
        let mut kernel = Kernel::seeded(seed);
        let quiet =
            Kernel::quiet().path_counts("c", &tree, Sensitive::new(leaves.clone()), charge()).unwrap().into_inner();
        let mut noise: std::collections::BTreeMap<u64, Vec<i128>> = Default::default();
        for _ in 0..30_000 {
            let noisy = kernel.path_counts("c", &tree, Sensitive::new(leaves.clone()), charge()).unwrap().into_inner();
            for ((noisy, quiet), weights) in noisy.iter().zip(&quiet).zip(&tree.strata) {
                noise.entry(2).or_default().push(i128::from(noisy.root.unwrap() - quiet.root.unwrap()));
                for ((noisy, quiet), &weight) in noisy.levels.iter().zip(&quiet.levels).zip(weights) {
                    noise.entry(weight).or_default().extend(noisy.iter().zip(quiet).map(|(n, q)| i128::from(n - q)));
                }
            }
        }
        assert_eq!(noise.keys().copied().collect::<Vec<_>>(), [2, 4, 6, 10]);
        for (weight, draws) in noise {
            let w = weight as f64;
            if seed == 4 {
                check("pure", |f| laplace_law(f * 2.0 * 12.0 / (2.0 * w)), &draws);
            } else {
                check("concentrated", |f| gaussian_law(f * f * 12.0 / (0.5 * w)), &draws);
            }
        }
    }
}

#[test]
fn lattice_counts() {
    let shares = LatticeShares { total: 10, root: 2, cells: 8, sizes: vec![3, 0, 4] };
    let counts = vec![1_u64, 0, 900, 4, 0, 0, 7];
    for (seed, charge) in [(7, pure as fn() -> Charge), (8, concentrated)] {
        let mut kernel = Kernel::seeded(seed);
        let (mut roots, mut cells) = (Vec::new(), Vec::new());
        for _ in 0..30_000 {
            let noisy = kernel.lattice_counts("l", &shares, Sensitive::new(counts.clone()), charge()).unwrap();
            let noisy = noisy.into_inner();
            let sums = [901, 0, 11];
            roots.extend(noisy.iter().zip(sums).map(|(stratum, sum)| i128::from(stratum.root.unwrap() - sum)));
            let all = noisy.iter().flat_map(|stratum| &stratum.cells).zip(&counts);
            cells.extend(all.map(|(noisy, &count)| i128::from(noisy - count as i64)));
        }
        if seed == 7 {
            // 2 · 10/(2 w): Lap_Z(5) for w = 2, Lap_Z(10/8) for w = 8.
            check("strata", |f| laplace_law(5.0 * f), &roots);
            check("cells", |f| laplace_law(1.25 * f), &cells);
        } else {
            check("strata, gaussian", |f| gaussian_law(f * f * 10.0 / (0.5 * 2.0)), &roots);
            check("cells, gaussian", |f| gaussian_law(f * f * 10.0 / (0.5 * 8.0)), &cells);
        }
    }
    // One stratum: the whole charge is the cells', Lap_Z(2/ε).
    let shares = LatticeShares { total: 10, root: 0, cells: 10, sizes: vec![2] };
    let mut kernel = Kernel::seeded(9);
    let mut noise = Vec::new();
    for _ in 0..60_000 {
        let noisy = kernel.lattice_counts("l", &shares, Sensitive::new(vec![5, 0]), pure()).unwrap().into_inner();
        assert!(noisy[0].root.is_none());
        noise.extend([i128::from(noisy[0].cells[0] - 5), i128::from(noisy[0].cells[1])]);
    }
    check("one stratum", |f| laplace_law(1.0 * f), &noise);
}

/// The cube through the front door: d = 2, span/ε = 10 is above 2d, so it is the scale.
#[test]
fn cube_sums() {
    let mut kernel = Kernel::seeded(6);
    let draws: Vec<i128> = (0..60_000)
        .map(|_| {
            let sums = kernel.cube_sums("c", Sensitive::new(vec![-5, 9]), 20, pure()).unwrap().into_inner();
            i128::from((sums[0] + 5).abs().max((sums[1] - 9).abs()))
        })
        .collect();
    let law = |f: f64| -> Vec<(i128, f64)> {
        let weight = |m: i32| if m == 0 { 1.0 } else { 8.0 * f64::from(m) * (-f64::from(m) / (10.0 * f)).exp() };
        let norm: f64 = (0..2000).map(weight).sum();
        (0..2000).map(|m| (i128::from(m), weight(m) / norm)).collect()
    };
    check("cube", law, &draws);
}
