//! The noise that mechanisms really add, against closed forms. Each comparison has a false-alarm rate of 1e-7 for a
//! fresh seed (see `law`); the seeds are fixed, so that a passing test keeps passing.

mod kernel_support;

use kernel_support::law::{Verdict, cells, gaussian_law, laplace_law};
use kernel_support::{concentrated, pure};
use sunprint::error::Kind;
use sunprint::privacy::{Charge, Kernel, LatticeShares, NoiseScale, PathTree, Sensitive};

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

/// How often two noises have the same sign: as often as not, where they are independent.
fn independent(name: &str, a: &[i128], b: &[i128]) {
    let law = [(-1, 0.5), (1, 0.5)];
    let signs = a.iter().zip(b).map(|(a, b)| a.signum() * b.signum()).filter(|&sign| sign != 0);
    assert_eq!(cells(&law, signs), Verdict::Accepted, "{name}");
    let same = a.iter().map(|a| a.signum() * a.signum()).filter(|&sign| sign != 0);
    assert_eq!(cells(&law, same), Verdict::Rejected, "{name}: the same noise twice is noticed");
}

/// Of order 1 the Wishart difference is `s (χ²₂ − χ²₂)`: Laplace noise of scale 2s, here rounded to a grid. Every block has
/// its own, of the same law as a matrix alone.
#[test]
fn every_block_of_moments_has_its_noise() {
    let (bound, grams) = (40_u64, [4096_i64, -8192, 0]);
    let mut kernel = Kernel::seeded(12);
    let mut noise = [const { Vec::new() }; 3];
    for _ in 0..40_000 {
        let all = kernel.moments_of_blocks("m", Sensitive::new(grams.to_vec()), 1, 3, bound, pure()).unwrap();
        for ((noise, block), gram) in noise.iter_mut().zip(all.into_inner()).zip(grams) {
            assert!(matches!(block.scale, NoiseScale::Wishart { s: 20 }), "R/ε: {:?}", block.scale);
            noise.push(i128::from(block.lower[0] - gram));
        }
    }
    let spent = &kernel.log()[0];
    assert_eq!(spent.sensitivity, "rows of squared norm at most 40 in 3 blocks: nuclear norm at most twice that");
    let exponent: u32 = spent.noise.rsplit('^').next().unwrap().parse().unwrap();
    let grid = f64::from(exponent).exp2();
    assert!(grams.iter().all(|gram| gram % (1 << exponent) == 0), "the noise is rounded as it stands");
    let law = |f: f64| -> Vec<(i128, f64)> {
        let below = |x: f64| {
            let tail = 0.5 * (-x.abs() / (40.0 * f)).exp();
            if x < 0.0 { tail } else { 1.0 - tail }
        };
        let most = (2000.0 / grid) as i128;
        let cell = |k: i128| (k << exponent, below((k as f64 + 0.5) * grid) - below((k as f64 - 0.5) * grid));
        (-most..=most).map(cell).collect()
    };
    noise.iter().for_each(|noise| check("a block", law, noise));
    independent("blocks", &noise[0], &noise[1]);
    independent("blocks", &noise[1], &noise[2]);
}

#[test]
fn every_block_of_gaussian_moments_has_its_noise() {
    let mut kernel = Kernel::seeded(13);
    let mut parts = [const { Vec::new() }; 4];
    for _ in 0..40_000 {
        let all = kernel.moments_of_blocks("m", Sensitive::new(vec![5; 6]), 2, 2, 6, concentrated()).unwrap();
        for (to, block) in all.into_inner().into_iter().enumerate() {
            let noise: Vec<i128> = block.lower.iter().map(|x| i128::from(x - 5)).collect();
            parts[2 * to].push(noise[1]);
            parts[2 * to + 1].extend([noise[0], noise[2]]);
        }
    }
    // σ² = 36/(2 · ½), as for one block.
    for block in parts.chunks(2) {
        check("off-diagonal", |f| gaussian_law(36.0 * f * f), &block[0]);
        check("diagonal", |f| gaussian_law(72.0 * f * f), &block[1]);
    }
    independent("blocks", &parts[0], &parts[2]);
    independent("blocks", &parts[1], &parts[3]);
}

#[test]
fn blocks_of_other_lengths_are_refused_and_not_logged() {
    let mut kernel = Kernel::seeded(14);
    for (entries, order, blocks) in [(5, 2, 2), (6, 2, 1), (6, 2, 0), (0, 0, 2), (6, 2, 3)] {
        let grams = Sensitive::new(vec![0; entries]);
        let refused = kernel.moments_of_blocks("m", grams, order, blocks, 6, pure()).err().unwrap();
        assert_eq!(refused.kind(), Kind::Protocol);
    }
    for (sums, blocks) in [(5, 2), (4, 0)] {
        let refused = kernel.cube_sums_of_blocks("c", Sensitive::new(vec![0; sums]), blocks, 6, pure()).err().unwrap();
        assert_eq!(refused.kind(), Kind::Protocol);
    }
    assert!(kernel.log().is_empty());
}

/// P(‖z‖_∞ = m) in two dimensions, for scale b.
fn square_law(b: f64) -> Vec<(i128, f64)> {
    let weight = |m: i32| if m == 0 { 1.0 } else { 8.0 * f64::from(m) * (-f64::from(m) / b).exp() };
    let norm: f64 = (0..2000).map(weight).sum();
    (0..2000).map(|m| (i128::from(m), weight(m) / norm)).collect()
}

/// Blocks together move by at most the span, so each has the noise of one alone: b = 20/2, and σ² = 2 · 400/(2 · ½).
#[test]
fn every_block_of_cube_sums_has_its_noise() {
    let sums = [-5, 9, 0, 7, 100, -100];
    let mut kernel = Kernel::seeded(15);
    let (mut norms, mut first) = ([const { Vec::new() }; 3], [const { Vec::new() }; 3]);
    let mut gaussian = Vec::new();
    for _ in 0..60_000 {
        let mut noise = |charge: Charge| -> Vec<i128> {
            let noisy = kernel.cube_sums_of_blocks("c", Sensitive::new(sums.to_vec()), 3, 20, charge).unwrap();
            noisy.into_inner().iter().zip(sums).map(|(noisy, sum)| i128::from(noisy - sum)).collect()
        };
        for (block, noise) in noise(pure()).chunks(2).enumerate() {
            norms[block].push(noise[0].abs().max(noise[1].abs()));
            first[block].push(noise[0]);
        }
        gaussian.extend(noise(concentrated()));
    }
    norms.iter().for_each(|norms| check("a block", |f| square_law(10.0 * f), norms));
    independent("blocks", &first[0], &first[1]);
    independent("blocks", &first[1], &first[2]);
    check("gaussian", |f| gaussian_law(800.0 * f * f), &gaussian);
    assert_eq!(kernel.log()[0].sensitivity, "each of 2 sums in 3 blocks, together by at most 20");
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
    check("cube", |f| square_law(10.0 * f), &draws);
}
