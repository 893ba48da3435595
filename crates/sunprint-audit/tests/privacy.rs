//! The privacy audit. Fixed seeds: what passes keeps passing. See `sunprint_audit::privacy` for false-alarm rates.

use sunprint_audit::privacy::flaws::{self, Keys};
use sunprint_audit::privacy::{Epsilons, Finding, Level, Source, Trial, broken, stages, whole};

const SEED: u64 = 20_260;

/// All trials of a test at one level, each with a seed of its own.
fn audit(trials: Vec<Trial>, first: u64) -> Vec<Finding> {
    let level = Level::of(trials.len());
    let one = |(number, trial): (u64, Trial)| trial.audit(Source::Seeded(SEED + number), level, &|_| {});
    (first..).zip(trials).map(one).collect()
}

/// A sixth of the runs of a real audit, which takes minutes.
fn fewer(trials: Vec<Trial>) -> Vec<Trial> {
    let fewer = |trial: Trial| Trial { runs: (trial.runs / 6).max(20), ..trial };
    trials.into_iter().map(fewer).collect()
}

#[test]
fn no_stage_loses_more_than_it_claims() {
    for found in audit(fewer(stages::all(&Epsilons::default())), 0) {
        assert!(!found.caught(), "{found:?}");
    }
}

/// An audit that sees little proves little: these stages attain their claims, and the audit sees most of it. What is
/// spread over several levels, or reached in far tails only, is seen in part.
#[test]
fn the_audit_sees_what_is_there() {
    let parts = [
        ("centre, pure, all rows equal", 0.9),
        ("level, pure, corner to opposite corner", 0.9),
        ("moments of order 1, pure, the whole nuclear norm", 0.9),
        ("spread, pure, middle to corner", 0.8),
        ("paper mean, pure", 0.8),
        ("measure, pure, corner to opposite corner", 0.4),
        ("lattice, pure, corner to opposite corner", 0.8),
        ("moments, pure, corner to next corner", 0.5),
        ("contrasts, pure, corner to corner of a stratum", 0.8),
        ("contrasts, pure, from stratum to stratum", 0.8),
        ("marginals, pure, corner to opposite corner", 0.6),
    ];
    let part = |trial: &Trial| parts.iter().find(|(name, _)| trial.name.starts_with(name)).map(|(_, part)| *part);
    let (trials, wanted): (Vec<Trial>, Vec<f64>) = stages::all(&Epsilons::default())
        .into_iter()
        .filter_map(|trial| part(&trial).map(|part| (trial, part)))
        .unzip();
    assert_eq!(wanted.len(), parts.len());
    assert_eq!(trials.iter().filter(|trial| trial.tight).count(), 3);
    for (found, wanted) in audit(trials, 100).into_iter().zip(wanted) {
        assert!(found.part() > wanted && !found.caught(), "{found:?}");
    }
}

/// The Gaussian paths claim a ρ, and on these tables their loss is exactly that: of μ most is seen.
#[test]
fn the_audit_sees_the_gaussian_noise() {
    let names = [
        "centre, with δ, all rows equal",
        "moments of order 1, with δ, the whole",
        "level, with δ, corner to opposite",
    ];
    let named = |trial: &Trial| names.iter().any(|name| trial.name.starts_with(name));
    let found = audit(stages::all(&Epsilons::default()).into_iter().filter(named).collect(), 150);
    assert_eq!(found.len(), names.len());
    for found in found {
        let gaussian = found.gaussian.expect("a ρ");
        assert!(gaussian.mu_measured > 0.75 * gaussian.mu_claimed && !found.caught(), "{found:?}");
        assert!(gaussian.mu_measured < 1.01 * gaussian.mu_claimed, "{found:?}");
    }
}

#[test]
fn no_fit_loses_more_than_it_claims() {
    for found in audit(fewer(whole::all(&Epsilons::default())), 200) {
        assert!(!found.caught(), "{found:?}");
    }
}

#[test]
fn whatever_is_broken_is_caught() {
    let broken = broken::all(&Epsilons::default());
    let known = broken.iter().filter(|trial| trial.short).count();
    assert!(known >= 10 && broken.len() > known);
    let missed: Vec<Finding> = audit(broken, 300).into_iter().filter(|found| !found.caught()).collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

/// Two neighbouring tables under one key are told apart, by which cells differ; under keys of their own they are not, on
/// the same tables and by the same numbers. With the operating system's noise, as `audit --broken` runs it, the one is
/// caught always, and the other with a probability below one in a million.
#[test]
fn a_key_that_is_repeated_is_caught_and_keys_of_their_own_are_not() {
    let terms = stages::Terms::honest(Epsilons::default().stage, None);
    let level = Level { whole: 1e-6, lines: 1 };
    let audit = |keys: Keys| flaws::forked(terms, keys).audit(Source::System, level, &|_| {});
    let (repeated, own) = (audit(Keys::Repeated), audit(Keys::Own));
    assert!(repeated.caught() && repeated.counts == [repeated.runs, 0], "{repeated:?}");
    assert!(!own.caught() && own.measured > 0.0, "{own:?}");
    assert!(broken::all(&Epsilons::default()).iter().any(|trial| trial.name.starts_with("key repeated")));
}
