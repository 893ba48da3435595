use super::noise::{first_release, moment_noise, price};
use super::*;
use crate::plan::as_float;
use crate::privacy::{NoiseScale, NoisyMoments, Price, Privacy, Ratio};
use crate::subspace::{Centre, Covariance, TYPICAL_SPREAD, contrast_reach};
use crate::tally::codes::{Codes, Q};
use crate::tally::{MomentLayout, Work, grid_radius};
use proptest::prelude::*;

fn question(rows: u64, width: usize, strata: usize, epsilon: f64, delta: Option<f64>) -> Question {
    Question { rows, width, lines: width, columns: width, compared: width, categories: 0, strata, epsilon, delta }
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
            open: vec![true; width],
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
            let (entry, edge) = moment_noise(layout, Price::near(0.5, privacy));
            let square = unit * unit / rows as f64;
            assert!((edge * square / read.edge - 1.0).abs() < 1e-6);
            assert!((std::f64::consts::SQRT_2 * entry * square / read.diagonal_noise - 1.0).abs() < 1e-6);
        }
    }
}

/// The contrasts are clamped where the fit clamps them: a typical table, without noise that moves it.
#[test]
fn the_reach_of_the_contrasts_is_that_of_the_fit() {
    let (rows, width) = (400_u64, 10);
    let column = |j| format!("[[column]]\nname = \"x{j}\"\nkind = \"continuous\"\nmin = 0\nmax = 1\n");
    let label = "[[column]]\nname = \"y\"\nkind = \"boolean\"\nrole = \"label\"\n";
    let text: Vec<String> = (0..width).map(column).chain([label.to_string()]).collect();
    let schema = Schema::parse(&text.concat(), "s.toml").unwrap();
    for delta in [None, Some("1e-6")] {
        let budget = crate::plan::budget("0.5".parse().unwrap(), delta.map(|d| d.parse().unwrap())).unwrap();
        let asked = Question::new(&schema, rows, 0.5, delta.map(|d| d.parse().unwrap()));
        let shares = Shares::for_table(&asked.facts());
        let (_, centre) = first_release(&asked, &shares);
        // Noise would carry the means apart by as much as the forecast does.
        let apart = (centre.codes[1] as f64 - centre.codes[0] as f64) / 2.0;
        let mut codes = Codes::with_capacity(width, rows as usize);
        for i in 0..rows {
            let deviation = TYPICAL_SPREAD.sqrt() * f64::from(Q);
            let away = if i.is_multiple_of(2) { deviation } else { -deviation };
            let place = |j: usize| 0.5 * f64::from(Q) + if j.is_multiple_of(2) { -apart } else { apart };
            let row: Vec<u16> = (0..width).map(|j| (place(j) + away) as u16).collect();
            codes.push(&row, (i / 2 % 2) as u32);
        }
        let plan = crate::plan::Plan::default();
        let kernel = crate::privacy::Kernel::quiet();
        let mut fit = crate::fit::Fit::begin_with_danger_kernel(&schema, plan, budget, rows, kernel).unwrap();
        fit.absorb(fit.next_pass().unwrap().tally(&codes)).unwrap();
        let Some(Work::Clamped(spec)) = fit.next_pass().map(|pass| pass.work) else { panic!("no contrasts") };
        let ratio = f64::from(spec.reach) / f64::from(contrast_reach(&centre));
        assert!((ratio - 1.0).abs() < 0.1, "{ratio}");
    }
}

#[test]
fn a_share_of_the_budget_is_what_the_fit_spends() {
    let pure = question(1000, 10, 1, 2.0, None);
    assert_eq!(price(&pure, 2500), Price { privacy: Privacy::Pure, amount: Ratio::new(1, 2).unwrap() });
    let Price { privacy, amount } = price(&question(1000, 10, 1, 1.0, Some(1e-9)), Shares::WHOLE);
    let rho = as_float(&amount);
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
        let (Verdict::OnlyMeans { would_do } | Verdict::TooFew { would_do }) = asked.forecast().verdict else {
            panic!("{width} {epsilon}")
        };
        let rows = would_do.unwrap();
        let enough = Question { rows, ..asked }.forecast().verdict;
        assert!(
            matches!(enough, Verdict::Enough { directions, measured } if directions >= 1 && measured >= 1),
            "{enough:?}"
        );
        let fewer = Question { rows: rows * 9 / 10, ..asked }.forecast().verdict;
        assert!(
            matches!(fewer, Verdict::TooFew { .. } | Verdict::OnlyMeans { .. }),
            "{width} {epsilon} {rows}: {fewer:?}"
        );
    }
    assert_eq!([two_digits(7), two_digits(100), two_digits(101), two_digits(39_999)], [7, 100, 110, 40_000]);
}

/// Where the rule of the shares says so, and nowhere else, only means are predicted.
#[test]
fn means_alone_are_predicted_where_they_are_all() {
    for strata in [1, 2, 3, 4, 16, 64, 65] {
        for rows in [20, 200, 390, 410, 2_490, 2_510, 1_000_000] {
            let asked = question(rows, 20, strata, 1.0, None);
            let forecast = asked.forecast();
            let few = asked.facts().few_rows();
            assert_eq!(matches!(forecast.verdict, Verdict::OnlyMeans { .. }), few, "{strata} {rows}");
            assert!(forecast.outlooks.iter().all(|o| o.leading_over_edge.is_none() == few && (o.above == 0 || !few)));
            assert_eq!(forecast.noise.stratum_mean.is_some(), few && (2..=64).contains(&strata));
        }
    }
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
