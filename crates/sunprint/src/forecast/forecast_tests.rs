use super::noise::{amount, moment_noise};
use super::*;
use crate::privacy::{NoiseScale, NoisyMoments, Privacy, Ratio};
use crate::subspace::{Centre, Covariance, MomentLayout};
use crate::tally::codes::Q;
use crate::tally::grid_radius;
use proptest::prelude::*;

fn question(rows: u64, width: usize, strata: usize, epsilon: f64, delta: Option<f64>) -> Question {
    Question { rows, width, lines: width, columns: width, strata, epsilon, delta }
}

/// The noise of the second release is what the fit itself says of moments with that noise.
#[test]
fn the_edge_is_that_of_the_fit() {
    for (width, strata) in [(3, 1), (40, 4), (90, 1)] {
        let layout = MomentLayout::new(width, strata);
        let p = layout.order();
        let centre = Centre {
            codes: vec![0; width],
            doubts: vec![0.01; width],
            spread: 1.0,
            categories: 0.0,
            spread_noise: 0.0,
        };
        for (privacy, scale) in [
            (Privacy::Pure, NoiseScale::Wishart { s: u128::from(layout.row_norm_squared()) * 2 }),
            (
                Privacy::Concentrated,
                NoiseScale::Gaussian { sigma_squared: Ratio::whole(u128::from(layout.row_norm_squared()).pow(2)) },
            ),
        ] {
            let moments = NoisyMoments { lower: vec![0; p * (p + 1) / 2], scale };
            let (rows, radius) = (1000, 70_000);
            let read = Covariance::read(&moments, layout, rows, radius, &centre);
            let unit = f64::from(radius) / (grid_radius(width) as f64 * f64::from(Q));
            let (entry, edge) = moment_noise(layout, 0.5, privacy);
            let square = unit * unit / rows as f64;
            assert!((edge * square / read.edge - 1.0).abs() < 1e-9);
            assert!((std::f64::consts::SQRT_2 * entry * square / read.diagonal_noise - 1.0).abs() < 1e-9);
        }
    }
}

#[test]
fn a_share_of_the_budget_is_what_the_fit_spends() {
    let pure = question(1000, 10, 1, 2.0, None);
    assert_eq!(amount(&pure, 2500), (0.5, Privacy::Pure));
    let (rho, privacy) = amount(&question(1000, 10, 1, 1.0, Some(1e-9)), Shares::WHOLE);
    assert!(privacy == Privacy::Concentrated && rho > 0.005 && rho < 0.05, "{rho}");
}

#[test]
fn spectra_add_up_and_fall() {
    for spectrum in Spectrum::ALL {
        for width in [1, 2, 3, 4, 50, 4096] {
            let values = spectrum.values(width, 0.02 * width as f64);
            let sum: f64 = values.iter().sum();
            assert!((sum / (0.02 * width as f64) - 1.0).abs() < 1e-9, "{spectrum:?} {width}");
            assert!(values.windows(2).all(|pair| pair[0] >= pair[1]) && values.len() == width);
        }
    }
}

#[test]
fn few_rows_are_too_few_and_as_many_as_said_would_do() {
    for (width, epsilon) in [(500, 1.0), (20, 0.1), (5, 1.0)] {
        let asked = question(100, width, 1, epsilon, None);
        let Verdict::TooFew { would_do: Some(rows) } = asked.forecast().verdict else { panic!("{width} {epsilon}") };
        let enough = Question { rows, ..asked }.forecast().verdict;
        assert!(
            matches!(enough, Verdict::Enough { directions, measured } if directions >= 1 && measured >= 1),
            "{enough:?}"
        );
        let fewer = Question { rows: rows * 9 / 10, ..asked }.forecast().verdict;
        assert!(matches!(fewer, Verdict::TooFew { .. }), "{width} {epsilon} {rows}: {fewer:?}");
    }
    assert_eq!([two_digits(7), two_digits(100), two_digits(101), two_digits(39_999)], [7, 100, 110, 40_000]);
}

#[test]
fn the_epsilon_for_a_wish_reaches_it_and_no_less() {
    let asked = question(20_000, 20, 1, 1.0, None);
    for spectrum in Spectrum::ALL {
        let now = asked.outlook(spectrum).w1;
        let epsilon = asked.epsilon_for(spectrum, now).unwrap();
        assert!(epsilon <= 1.01, "{spectrum:?}: {epsilon}");
        assert!(Question { epsilon, ..asked }.outlook(spectrum).w1 <= now);
        assert_eq!(asked.epsilon_for(spectrum, 1e-9), None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    /// Whoever has more rows or may spend more is not worse off. Shares are whole ten-thousandths: hence the margin.
    #[test]
    fn more_is_never_worse(
        log_rows in 2.0f64..7.0, width in 1usize..300, strata in 1usize..20, log_epsilon in -1.5f64..1.5,
        more in 1.0f64..8.0, with_delta: bool,
    ) {
        let delta = with_delta.then_some(1e-8);
        let asked = question(10f64.powf(log_rows) as u64, width, strata, 10f64.powf(log_epsilon), delta);
        let richer = Question { rows: (asked.rows as f64 * more).ceil() as u64, ..asked };
        let freer = Question { epsilon: asked.epsilon * more, ..asked };
        for spectrum in Spectrum::ALL {
            let now = asked.outlook(spectrum).w1;
            prop_assert!(now.is_finite() && now > 0.0);
            for other in [richer, freer] {
                let then = other.outlook(spectrum).w1;
                prop_assert!(then <= now * 1.002, "{asked:?} {other:?} {spectrum:?}: {now} {then}");
            }
        }
    }
}
