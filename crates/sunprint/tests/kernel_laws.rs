//! The noise comes with the number: what a release says of its noise is what its noise is.
//!
//! Each deviation is estimated from many draws. The sample variance of N independent draws of a law with kurtosis κ has a
//! relative deviation of √((κ − 1)/N); κ is at most 6 for all laws here (Laplace 6, the cube's less, Gaussian 3). With N =
//! 40,000 that is 0.011, so six of them are 0.067: a false alarm about once in 10⁸ comparisons. A claim that is a tenth off
//! moves the variance by a fifth and must be noticed.

use sunprint::privacy::{Budget, Charge, Kernel, Law, Price, Privacy, Ratio, Sensitive};

const DRAWS: usize = 40_000;
const ALLOWED: f64 = 0.067;

fn charge(privacy: Privacy) -> Charge {
    let budget = match privacy {
        Privacy::Pure => Budget::pure("0.5".parse().unwrap()),
        Privacy::Concentrated => {
            let rho = Ratio::new(1, 8).unwrap();
            Budget::concentrated_danger(rho, "1".parse().unwrap(), "1e-6".parse().unwrap()).unwrap()
        }
    };
    let [charge] = budget.split([1]).unwrap();
    charge
}

/// Whether draws around nothing have the deviation that a law claims, times `wrong`.
fn agrees(draws: &[f64], law: Law, wrong: f64) -> bool {
    let variance = draws.iter().map(|x| x * x).sum::<f64>() / draws.len() as f64;
    (variance / (wrong * law.deviation()).powi(2) - 1.0).abs() < ALLOWED
}

/// What a mechanism says of its noise, and that noise.
type Mechanism = (&'static str, fn(&mut Kernel, Charge) -> (Vec<f64>, Law), usize);

const MECHANISMS: &[Mechanism] = &[
    (
        "scalar",
        |kernel, charge| {
            let (value, law) = kernel.scalar("x", Sensitive::new(0), 40, charge).unwrap().into_parts();
            (vec![value as f64], law)
        },
        1,
    ),
    (
        "vector",
        |kernel, charge| {
            let (values, law) = kernel.vector("x", Sensitive::new(vec![0; 8]), 40, charge).unwrap().into_parts();
            (values.iter().map(|&x| x as f64).collect(), law)
        },
        8,
    ),
    (
        "histograms",
        |kernel, charge| {
            let (values, law) = kernel.histograms("x", Sensitive::new(vec![0; 8]), 5, charge).unwrap().into_parts();
            (values.iter().map(|&x| x as f64).collect(), law)
        },
        8,
    ),
    (
        "cube",
        |kernel, charge| {
            // One coordinate of each cube: those of one cube are not independent.
            let sums = Sensitive::new(vec![0; 4]);
            let (values, law) = kernel.cube_sums("x", sums, 65_535, charge).unwrap().into_parts();
            (vec![values[0] as f64], law)
        },
        1,
    ),
];

#[test]
fn every_release_says_how_noisy_it_is() {
    for privacy in [Privacy::Pure, Privacy::Concentrated] {
        for (seed, (name, mechanism, many)) in MECHANISMS.iter().enumerate() {
            let mut kernel = Kernel::seeded(900 + seed as u64);
            let mut draws = Vec::with_capacity(DRAWS);
            let mut law = None;
            for _ in 0..DRAWS / many {
                let (values, said) = mechanism(&mut kernel, charge(privacy));
                draws.extend(values);
                law = Some(said);
            }
            let law = law.unwrap();
            assert!(agrees(&draws, law, 1.0), "{name}, {privacy:?}");
            assert!(!agrees(&draws, law, 1.1) && !agrees(&draws, law, 0.9), "{name}, {privacy:?}: the control");
        }
    }
}

/// What is foreseen is what comes: before a charge is spent its price says the same law.
#[test]
fn laws_can_be_foreseen() {
    for privacy in [Privacy::Pure, Privacy::Concentrated] {
        let price = charge(privacy).price();
        let mut kernel = Kernel::seeded(1);
        let counts = kernel.histograms("x", Sensitive::new(vec![3, 4]), 7, charge(privacy)).unwrap();
        assert_eq!(*counts.law(), Law::of_histograms(7, price).unwrap());
        let sums = kernel.cube_sums("x", Sensitive::new(vec![3, 4]), 100, charge(privacy)).unwrap();
        assert_eq!(*sums.law(), Law::of_cube(2, 100, price).unwrap());
        let number = kernel.scalar("x", Sensitive::new(3), 100, charge(privacy)).unwrap();
        assert_eq!(*number.law(), Law::of_number(100, price).unwrap());
        let near = Price::near(price.amount.num() as f64 / price.amount.den() as f64, privacy);
        assert_eq!(near, price, "these prices are short binary fractions");
    }
}
