//! What every mechanism writes down, what the quiet double returns, and what is refused.

use sunprint::error::Kind;
use sunprint::privacy::{
    Budget, Charge, Delta, Epsilon, Kernel, LatticeShares, NoiseScale, PathTree, Privacy, Ratio, Sensitive,
    StratumCells, StratumCounts,
};

fn epsilon() -> Epsilon {
    "0.5".parse().unwrap()
}

fn pure() -> Charge {
    let [charge] = Budget::pure(epsilon()).split([1]).unwrap();
    charge
}

fn concentrated() -> Charge {
    let delta: Delta = "1e-9".parse().unwrap();
    let [charge] =
        Budget::concentrated_danger(Ratio::new(1, 8).unwrap(), epsilon(), delta).unwrap().split([1]).unwrap();
    charge
}

fn nothing() -> Charge {
    let [_, charge] = Budget::pure(epsilon()).split([1, 0]).unwrap();
    charge
}

fn tree() -> PathTree {
    PathTree { total: 10, root: 2, strata: vec![vec![3, 5], vec![8]] }
}

fn lattice() -> LatticeShares {
    LatticeShares { total: 10, root: 2, cells: 8, sizes: vec![2, 1] }
}

/// Runs all seven mechanisms with charges from `charge`.
fn all(kernel: &mut Kernel, charge: fn() -> Charge) -> Result<Vec<String>, sunprint::error::Error> {
    Ok(vec![
        format!("{:?}", kernel.cube_sums("centre", Sensitive::new(vec![3, -4, 5]), 65535, charge())?.into_inner()),
        format!("{:?}", kernel.scalar("spread", Sensitive::new(77), 12, charge())?.into_inner()),
        format!("{:?}", kernel.vector("means", Sensitive::new(vec![1, 2]), 5, charge())?.into_inner()),
        format!("{:?}", kernel.symmetric("covariance", Sensitive::new(vec![1, 2, 3]), 2, 4, 6, charge())?.into_inner()),
        format!("{:?}", kernel.moments("moments", Sensitive::new(vec![9, 8, 7]), 2, 100, charge())?.into_inner().lower),
        format!(
            "{:?}",
            kernel.path_counts("cells", &tree(), Sensitive::new(vec![1, 2, 3, 4, 5, 6]), charge())?.into_inner()
        ),
        format!(
            "{:?}",
            kernel.lattice_counts("lattice", &lattice(), Sensitive::new(vec![7, 8, 9]), charge())?.into_inner()
        ),
    ])
}

#[test]
fn the_quiet_kernel_returns_its_input() {
    let counts = vec![
        StratumCounts { root: Some(10), levels: vec![vec![3, 7], vec![1, 2, 3, 4]] },
        StratumCounts { root: Some(11), levels: vec![vec![5, 6]] },
    ];
    let cells =
        vec![StratumCells { root: Some(15), cells: vec![7, 8] }, StratumCells { root: Some(9), cells: vec![9] }];
    let expected =
        ["[3, -4, 5]", "77", "[1, 2]", "[1, 2, 3]", "[9, 8, 7]", &format!("{counts:?}"), &format!("{cells:?}")];
    for charge in [pure, concentrated] {
        assert_eq!(all(&mut Kernel::quiet(), charge).unwrap(), expected);
    }
}

#[test]
fn the_log_records_stage_amount_sensitivity_and_noise() {
    let mut kernel = Kernel::quiet();
    all(&mut kernel, pure).unwrap();
    let seen: Vec<_> =
        kernel.log().iter().map(|s| (s.stage.as_str(), s.mechanism.as_str(), s.noise.as_str())).collect();
    assert_eq!(
        seen,
        [
            ("centre", "cube", "cube, scale 131070"),
            ("spread", "laplace", "discrete Laplace, scale 24"),
            ("means", "laplace", "discrete Laplace, scale 20"),
            // b = 6 · 4 · 2²/(2 · ½) = 96.
            ("covariance", "laplace", "discrete Laplace, scale 96; diagonal: discrete Laplace, scale 192"),
            ("moments", "wishart difference", "Wishart difference of order 2, scale 200, rounded to multiples of 2^0"),
            // 2 · 10/(½ · w): 20 for w = 2; 40/3 and 8 for w = 3 and 5.
            (
                "cells",
                "path counts",
                "strata: discrete Laplace, scale 20; levels of the deepest stratum: discrete Laplace, scale 40/3; \
                 discrete Laplace, scale 8"
            ),
            // 2 · 10/(½ · w): 20 for w = 2; 5 for w = 8.
            ("lattice", "lattice counts", "strata: discrete Laplace, scale 20; cells: discrete Laplace, scale 5"),
        ]
    );
    for spent in kernel.log() {
        assert_eq!((spent.privacy, spent.amount), (Privacy::Pure, Ratio::new(1, 2).unwrap()));
        assert!(!spent.sensitivity.is_empty());
    }
    assert!(kernel.log()[0].sensitivity.contains("3 sums by at most 65535"));
    let json = serde_json::to_string(kernel.log()).unwrap();
    assert_eq!(serde_json::from_str::<Vec<sunprint::privacy::Spent>>(&json).unwrap(), kernel.log());
}

#[test]
fn the_log_of_a_concentrated_run() {
    let mut kernel = Kernel::quiet();
    all(&mut kernel, concentrated).unwrap();
    let noise: Vec<_> = kernel.log().iter().map(|spent| spent.noise.as_str()).collect();
    assert_eq!(
        noise,
        [
            // σ² = ℓ₂²/(2ρ) = 4 ℓ₂².
            "discrete Gaussian, variance 51538034700",
            "discrete Gaussian, variance 576",
            "discrete Gaussian, variance 200",
            // slack² s² d²/(4ρ) = 36 · 16 · 4 · 2.
            "discrete Gaussian, variance 4608; diagonal: discrete Gaussian, variance 9216",
            "discrete Gaussian, variance 40000, twice that on the diagonal",
            // total/(ρ w) = 80/w.
            "strata: discrete Gaussian, variance 40; levels of the deepest stratum: discrete Gaussian, variance 80/3; \
             discrete Gaussian, variance 16",
            "strata: discrete Gaussian, variance 40; cells: discrete Gaussian, variance 10",
        ]
    );
    assert!(kernel.log().iter().all(|spent| spent.privacy == Privacy::Concentrated));
}

#[test]
fn a_zero_charge_is_refused_by_every_mechanism_and_not_logged() {
    let mut kernel = Kernel::quiet();
    let refusals = [
        kernel.cube_sums("s", Sensitive::new(vec![1]), 1, nothing()).err(),
        kernel.scalar("s", Sensitive::new(1), 1, nothing()).err(),
        kernel.vector("s", Sensitive::new(vec![1]), 1, nothing()).err(),
        kernel.symmetric("s", Sensitive::new(vec![1]), 1, 1, 1, nothing()).err(),
        kernel.moments("s", Sensitive::new(vec![1]), 1, 1, nothing()).err(),
        kernel.path_counts("s", &tree(), Sensitive::new(vec![0; 6]), nothing()).err(),
        kernel.lattice_counts("s", &lattice(), Sensitive::new(vec![0; 3]), nothing()).err(),
        // No sensitivity, no slack, and noise beyond 128 bits.
        kernel.scalar("s", Sensitive::new(1), 0, pure()).err(),
        kernel.symmetric("s", Sensitive::new(vec![1]), 1, 1, 0, pure()).err(),
        kernel.scalar("s", Sensitive::new(1), u128::MAX, pure()).err(),
    ];
    for refusal in refusals {
        assert_eq!(refusal.map(|error| error.kind()), Some(Kind::Budget));
    }
    assert!(kernel.log().is_empty());
}

#[test]
fn wrong_shapes_and_weights_are_refused() {
    let mut kernel = Kernel::quiet();
    for (strata, root) in
        [(vec![vec![8, 3]], 0), (vec![vec![5], vec![9]], 2), (vec![vec![u64::MAX, 5]], 0), (vec![vec![0]], 1)]
    {
        let tree = PathTree { total: 10, root, strata };
        let leaves = Sensitive::new(vec![0; tree.leaves()]);
        let error = kernel.path_counts("s", &tree, leaves, pure()).unwrap_err();
        assert_eq!(error.kind(), Kind::Budget, "{tree:?}");
    }
    for (root, cells) in [(3, 8), (0, 11), (5, 0), (u64::MAX, 1)] {
        let shares = LatticeShares { total: 10, root, cells, sizes: vec![1] };
        let error = kernel.lattice_counts("s", &shares, Sensitive::new(vec![0]), pure()).unwrap_err();
        assert_eq!(error.kind(), Kind::Budget, "{shares:?}");
    }
    let shapes = [
        kernel.lattice_counts("s", &lattice(), Sensitive::new(vec![0; 4]), pure()).err(),
        kernel.path_counts("s", &tree(), Sensitive::new(vec![0; 5]), pure()).err(),
        kernel.moments("s", Sensitive::new(vec![1, 2]), 2, 1, pure()).err(),
        kernel.symmetric("s", Sensitive::new(vec![1, 2]), 2, 1, 1, pure()).err(),
    ];
    for error in shapes {
        assert_eq!(error.map(|error| error.kind()), Some(Kind::Protocol));
    }
}

#[test]
fn extreme_values_are_clamped_and_never_fail() {
    let mut kernel = Kernel::seeded(1);
    for charge in [pure, concentrated] {
        kernel.scalar("s", Sensitive::new(i128::MAX), 1 << 40, charge()).unwrap();
        kernel.vector("s", Sensitive::new(vec![i128::MIN, i128::MAX]), 1 << 40, charge()).unwrap();
        kernel.cube_sums("s", Sensitive::new(vec![i64::MIN, i64::MAX]), 65535, charge()).unwrap();
        kernel.moments("s", Sensitive::new(vec![i64::MIN, i64::MAX, 0]), 2, u64::MAX >> 8, charge()).unwrap();
        kernel.path_counts("s", &tree(), Sensitive::new(vec![u64::MAX; 6]), charge()).unwrap();
        kernel.lattice_counts("s", &lattice(), Sensitive::new(vec![u64::MAX; 3]), charge()).unwrap();
    }
    // Nothing at all is fine, too.
    assert!(kernel.vector("s", Sensitive::new(vec![]), 1, pure()).unwrap().into_inner().is_empty());
    assert!(kernel.cube_sums("s", Sensitive::new(vec![]), 1, pure()).unwrap().into_inner().is_empty());
}

#[test]
fn the_scale_of_the_moments_is_never_below_the_need() {
    for (bound, share) in [(100, 3), (1 << 27, 7), ((1 << 40) + 1, 1000), (u64::MAX, 1_000_000)] {
        let [charge, _] = Budget::pure(epsilon()).split([1, share - 1]).unwrap();
        let NoiseScale::Wishart { s } = NoiseScale::of(bound, charge.price()).unwrap() else { panic!("pure") };
        // s ≥ R/ε with ε = 1/(2·share), and by less than one part in 2²³, or one.
        let need = u128::from(bound) * 2 * u128::from(share);
        assert!(s >= need && s - need <= 1 + (need >> 23), "{bound} {share}");
    }
}

#[test]
fn a_seed_fixes_the_noise_and_two_live_kernels_differ() {
    let run = |mut kernel: Kernel| all(&mut kernel, pure).unwrap();
    assert_eq!(run(Kernel::seeded(5)), run(Kernel::seeded(5)));
    assert_ne!(run(Kernel::seeded(5)), run(Kernel::seeded(6)));
    assert_ne!(run(Kernel::new().unwrap()), run(Kernel::new().unwrap()));
}
