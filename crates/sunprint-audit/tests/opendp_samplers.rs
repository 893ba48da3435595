//! Our exact samplers and OpenDP's draw from the same laws.
//!
//! OpenDP takes its randomness from the operating system and cannot be seeded, so the tolerance is wide enough for a
//! test that runs for ever: see `same_law`.

use opendp::traits::samplers::{sample_discrete_gaussian, sample_discrete_laplace};
use sunprint::privacy::{Kernel, Ratio};

const DRAWS: usize = 60_000;

/// The largest distance between two empirical distribution functions of N draws each.
///
/// By the inequality of Dvoretzky, Kiefer, Wolfowitz and Massart each strays from the true one by more than t with
/// probability at most 2 exp(−2 N t²). With t = 0.0145, N = 60,000: 2.2e-11 each. So samplers of the same law differ by
/// more than 0.029 with probability below 5e-11, and the eight comparisons of this file raise a false alarm with
/// probability below 4e-10.
///
/// The controls: scales 0.7 and 1.3 times as large move the distribution function by at least 0.048 at some point. To be
/// missed, the difference there must stray by 0.019, which by Hoeffding has probability below exp(−N 0.019²) < 4e-10;
/// sixteen controls: below 1e-8.
fn same_law(mut one: Vec<i128>, mut two: Vec<i128>) -> bool {
    assert_eq!((one.len(), two.len()), (DRAWS, DRAWS));
    one.sort_unstable();
    two.sort_unstable();
    let at_most = |sorted: &[i128], x: i128| sorted.partition_point(|&y| y <= x);
    let far = one.iter().chain(&two).map(|&x| at_most(&one, x).abs_diff(at_most(&two, x))).max().unwrap_or(0);
    (far as f64) < 0.029 * DRAWS as f64
}

/// Scales as quarters, which floats hold exactly.
fn quarters(quarters: u32) -> (f64, Ratio) {
    (f64::from(quarters) / 4.0, Ratio::new(quarters.into(), 4).unwrap())
}

#[test]
fn laplace() {
    let mut kernel = Kernel::seeded(1);
    for number in [6, 10, 40, 4001] {
        let (theirs, ours) = quarters(number);
        let opendp: Vec<i128> = (0..DRAWS)
            .map(|_| i128::try_from(sample_discrete_laplace(theirs.try_into().unwrap()).unwrap()).unwrap())
            .collect();
        let mut draw = |scale: Ratio| (0..DRAWS).map(|_| kernel.draw_laplace(scale)).collect::<Vec<_>>();
        assert!(same_law(draw(ours), opendp.clone()), "{theirs}");
        for tenths in [7, 13] {
            let wrong = ours.checked_mul(Ratio::new(tenths, 10).unwrap()).unwrap();
            assert!(!same_law(draw(wrong), opendp.clone()), "{theirs} * {tenths}/10");
        }
    }
}

#[test]
fn gaussian() {
    let mut kernel = Kernel::seeded(2);
    for number in [6, 10, 40, 4001] {
        // OpenDP is given σ, ours σ².
        let (theirs, sigma) = quarters(number);
        let ours = sigma.checked_mul(sigma).unwrap();
        let opendp: Vec<i128> = (0..DRAWS)
            .map(|_| i128::try_from(sample_discrete_gaussian(theirs.try_into().unwrap()).unwrap()).unwrap())
            .collect();
        let mut draw = |variance: Ratio| (0..DRAWS).map(|_| kernel.draw_gaussian(variance)).collect::<Vec<_>>();
        assert!(same_law(draw(ours), opendp.clone()), "{theirs}");
        for hundredths in [49, 169] {
            let wrong = ours.checked_mul(Ratio::new(hundredths, 100).unwrap()).unwrap();
            assert!(!same_law(draw(wrong), opendp.clone()), "{theirs} * {hundredths}/100");
        }
    }
}
