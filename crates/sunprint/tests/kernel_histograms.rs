//! The noise of histograms against closed forms, and what they write down. Each comparison has a false-alarm rate of
//! 1e-7 for a fresh seed (see `law`); the seeds are fixed, so that a passing test keeps passing.

mod kernel_support;

use kernel_support::law::{Verdict, cells, gaussian_law, laplace_law};
use kernel_support::{concentrated, pure};
use sunprint::error::Kind;
use sunprint::privacy::{Budget, Charge, Epsilon, Kernel, Privacy, Sensitive};

fn nothing() -> Charge {
    let [_, charge] = Budget::pure("2".parse::<Epsilon>().unwrap()).split([1, 0]).unwrap();
    charge
}

/// Full and empty cells of three histograms.
const COUNTS: [u64; 7] = [0, 900, 4, 0, 0, 904, 0];

fn draws(charge: fn() -> Charge, histograms: u64, seed: u64) -> Vec<i128> {
    let mut kernel = Kernel::seeded(seed);
    let mut noise = Vec::new();
    for _ in 0..20_000 {
        let noisy = kernel.histograms("h", Sensitive::new(COUNTS.to_vec()), histograms, charge()).unwrap().into_inner();
        noise.extend(noisy.iter().zip(COUNTS).map(|(&noisy, count)| i128::from(noisy) - i128::from(count)));
    }
    noise
}

/// `Lap_Z(2m/ε)` with ε = 2, and `N_Z(m/ρ)` with ρ = ½. The laws of one cell that moves instead of two, of one histogram
/// instead of all, and of scales 0.7 and 1.3 times as wide are rejected.
#[test]
fn every_cell_has_the_noise_of_all_histograms() {
    for (m, seed) in [(1, 20), (3, 21), (5, 22)] {
        let (scale, variance) = (m as f64, 2.0 * m as f64);
        let laplace = draws(pure, m, seed);
        assert_eq!(cells(&laplace_law(scale), laplace.iter().copied()), Verdict::Accepted, "{m}");
        let gaussian = draws(concentrated, m, seed + 10);
        assert_eq!(cells(&gaussian_law(variance), gaussian.iter().copied()), Verdict::Accepted, "{m}");
        let mut wrong = vec![0.5, 0.7, 1.3];
        if m > 1 {
            wrong.push(1.0 / m as f64);
        }
        for factor in wrong {
            assert_eq!(cells(&laplace_law(factor * scale), laplace.iter().copied()), Verdict::Rejected, "{m} {factor}");
            let law = gaussian_law(factor * factor * variance);
            assert_eq!(cells(&law, gaussian.iter().copied()), Verdict::Rejected, "{m} {factor}");
        }
    }
}

#[test]
fn the_log_says_what_moves_and_by_which_noise() {
    let mut kernel = Kernel::quiet();
    for charge in [pure, concentrated] {
        let counts = Sensitive::new(COUNTS.to_vec());
        let same = kernel.histograms("marginals", counts, 3, charge()).unwrap().into_inner();
        assert!(same.iter().zip(COUNTS).all(|(&same, count)| same as u64 == count));
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

#[test]
fn a_zero_charge_and_no_histogram_are_refused_and_not_logged() {
    let mut kernel = Kernel::quiet();
    for (histograms, charge) in [(3, nothing()), (0, pure()), (0, concentrated())] {
        let refused = kernel.histograms("h", Sensitive::new(COUNTS.to_vec()), histograms, charge).unwrap_err();
        assert_eq!(refused.kind(), Kind::Budget);
    }
    assert!(kernel.log().is_empty());
    // The largest counts are clamped, and nothing at all is fine, too.
    let mut kernel = Kernel::seeded(1);
    for charge in [pure, concentrated] {
        kernel.histograms("h", Sensitive::new(vec![u64::MAX; 3]), 1, charge()).unwrap();
        assert!(kernel.histograms("h", Sensitive::new(Vec::new()), 1, charge()).unwrap().into_inner().is_empty());
    }
}
