//! The noise of histograms against closed forms, and what they write down. Each comparison has a false-alarm rate of
//! 1e-7 for a fresh seed (see `law`); the seeds are fixed, so that a passing test keeps passing.

mod kernel_support;

use kernel_support::law::{Verdict, cells, gaussian_law, laplace_law};
use kernel_support::{concentrated, pure};
use sunprint::error::Kind;
use sunprint::privacy::{Budget, Charge, Epsilon, HistogramShare, Kernel, NoiseLaw, Privacy, Ratio, Sensitive};

fn nothing() -> Charge {
    let [_, charge] = Budget::pure("2".parse::<Epsilon>().unwrap()).split([1, 0]).unwrap();
    charge
}

/// Full and empty cells of three histograms.
const COUNTS: [u64; 7] = [0, 900, 4, 0, 0, 904, 0];
const SIZES: [usize; 3] = [3, 1, 3];

/// The three histograms with their weights.
fn shares(weights: [u64; 3]) -> Vec<HistogramShare> {
    SIZES.iter().zip(weights).map(|(&cells, weight)| HistogramShare { cells, weight }).collect()
}

/// The noise of each histogram, and the law that was claimed for it.
fn draws(charge: fn() -> Charge, weights: [u64; 3], seed: u64) -> [(Vec<i128>, NoiseLaw); 3] {
    let mut kernel = Kernel::seeded(seed);
    let mut noise = [const { Vec::new() }; 3];
    let mut laws = Vec::new();
    for _ in 0..20_000 {
        let counts = Sensitive::new(COUNTS.to_vec());
        let noisy = kernel.histograms("h", counts, &shares(weights), charge()).unwrap().into_inner();
        assert_eq!((noisy.counts.len(), noisy.noises.len()), (COUNTS.len(), 3));
        let mut differences =
            noisy.counts.iter().zip(COUNTS).map(|(&noisy, count)| i128::from(noisy) - i128::from(count));
        for (noise, size) in noise.iter_mut().zip(SIZES) {
            noise.extend(differences.by_ref().take(size));
        }
        laws = noisy.noises;
    }
    let mut laws = laws.into_iter();
    noise.map(|noise| (noise, laws.next().unwrap()))
}

/// `Lap_Z(2W/(ε w))` with ε = 2, and `N_Z(W/(ρ w))` with ρ = ½, for a histogram of weight w among W. The laws of one cell
/// that moves instead of two, of one histogram instead of all, and of scales 0.7 and 1.3 times as wide are rejected.
#[test]
fn every_cell_has_the_noise_of_its_histogram() {
    for (weights, seed) in [([1, 1, 1], 20), ([1, 2, 5], 21), ([1024, 3000, 512], 22)] {
        let whole = weights.iter().sum::<u64>() as f64;
        let (laplace, gaussian) = (draws(pure, weights, seed), draws(concentrated, weights, seed + 10));
        let ratio = |ratio: &Ratio| ratio.num() as f64 / ratio.den() as f64;
        let (mut epsilon, mut rho) = (0.0, 0.0);
        for (i, weight) in weights.into_iter().enumerate() {
            let parts = whole / weight as f64;
            let (scale, variance) = (parts, 2.0 * parts);
            let ((laplace, law), (gaussian, normal)) = (&laplace[i], &gaussian[i]);
            // What is claimed is what is drawn, and all that is claimed together is what was charged.
            let (NoiseLaw::Laplace { scale: b }, NoiseLaw::Gaussian { sigma_squared: v }) = (law, normal) else {
                panic!("{law:?} {normal:?}")
            };
            let (b, v) = (ratio(b), ratio(v));
            assert!((b / scale - 1.0).abs() < 1e-9 && (v / variance - 1.0).abs() < 1e-9, "{b} {v}");
            epsilon += 2.0 / b;
            rho += 1.0 / v;
            assert_eq!(cells(&laplace_law(scale), laplace.iter().copied()), Verdict::Accepted, "{weights:?} {i}");
            assert_eq!(cells(&gaussian_law(variance), gaussian.iter().copied()), Verdict::Accepted, "{weights:?} {i}");
            for factor in [0.5, 0.7, 1.3, 1.0 / parts] {
                let law = laplace_law(factor * scale);
                assert_eq!(cells(&law, laplace.iter().copied()), Verdict::Rejected, "{weights:?} {i} {factor}");
                let law = gaussian_law(factor * factor * variance);
                assert_eq!(cells(&law, gaussian.iter().copied()), Verdict::Rejected, "{weights:?} {i} {factor}");
            }
        }
        assert!(epsilon <= 2.0 * (1.0 + 1e-12) && epsilon > 1.999, "{epsilon}");
        assert!(rho <= 0.5 * (1.0 + 1e-12) && rho > 0.4999, "{rho}");
    }
}

#[test]
fn the_log_says_what_moves_and_by_which_noise() {
    let mut kernel = Kernel::quiet();
    for charge in [pure, concentrated] {
        let counts = Sensitive::new(COUNTS.to_vec());
        let same = kernel.histograms("marginals", counts, &shares([1, 1, 1]), charge()).unwrap().into_inner();
        assert!(same.counts.iter().zip(COUNTS).all(|(&same, count)| same as u64 == count));
    }
    let seen: Vec<_> = kernel.log().iter().map(|s| (s.mechanism.as_str(), s.privacy, s.noise.as_str())).collect();
    assert_eq!(
        seen,
        [
            ("laplace", Privacy::Pure, "discrete Laplace, scale 3"),
            ("gaussian", Privacy::Concentrated, "discrete Gaussian, variance 6"),
        ]
    );
    for spent in kernel.log() {
        assert_eq!(spent.stage, "marginals");
        assert_eq!(spent.sensitivity, "in each of 3 histograms one count down and one up, by 1");
    }
}

/// With weights of their own the log names the least noise and the most.
#[test]
fn the_log_says_both_ends_of_weighted_noise() {
    let mut kernel = Kernel::quiet();
    for charge in [pure, concentrated] {
        kernel.histograms("h", Sensitive::new(COUNTS.to_vec()), &shares([2, 1, 5]), charge()).unwrap();
    }
    let seen: Vec<_> = kernel.log().iter().map(|spent| spent.noise.as_str()).collect();
    assert_eq!(
        seen,
        [
            "discrete Laplace, scale 8/5 to discrete Laplace, scale 8",
            "discrete Gaussian, variance 16/5 to discrete Gaussian, variance 16",
        ]
    );
}

#[test]
fn a_zero_charge_no_histogram_and_other_lengths_are_refused_and_not_logged() {
    let mut kernel = Kernel::quiet();
    let good = shares([1, 1, 1]);
    let (nobody, short) = (shares([1, 0, 1]), &good[..2]);
    for (shares, charge, kind) in [
        (&good[..], nothing(), Kind::Budget),
        (&[], pure(), Kind::Budget),
        (&[], concentrated(), Kind::Budget),
        (&nobody, pure(), Kind::Budget),
        (&nobody, concentrated(), Kind::Budget),
        (short, pure(), Kind::Protocol),
        (short, concentrated(), Kind::Protocol),
    ] {
        let refused = kernel.histograms("h", Sensitive::new(COUNTS.to_vec()), shares, charge).err().unwrap();
        assert_eq!(refused.kind(), kind);
    }
    assert!(kernel.log().is_empty());
    // The largest counts are clamped, and nothing at all is fine, too.
    let mut kernel = Kernel::seeded(1);
    let one = |cells: usize| [HistogramShare { cells, weight: 1 }];
    for charge in [pure, concentrated] {
        kernel.histograms("h", Sensitive::new(vec![u64::MAX; 3]), &one(3), charge()).unwrap();
        let none = kernel.histograms("h", Sensitive::new(Vec::new()), &one(0), charge()).unwrap();
        assert!(none.into_inner().counts.is_empty());
    }
}
