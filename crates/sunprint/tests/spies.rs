//! What every stage of every method spends, and in which order: the kernel's own log, read from outside.

mod common;

use common::{plan, promise, random_rows, schema, table};
use sunprint::error::Kind;
use sunprint::fit::Fit;
use sunprint::plan::{Mechanism, Method, Plan, Shares};
use sunprint::privacy::{Budget, Kernel, Privacy, Ratio, Spent};
use sunprint::tally::codes::{Codes, Q};
use sunprint::tally::{GRID, Pass, Work};

const ROWS: usize = 40;
const WIDTH: usize = 3;

/// Stage, share of the whole, mechanism when pure, mechanism when concentrated, which pass.
type Expected = (&'static str, (u64, u64), &'static str, &'static str, u32);

/// One way to run a fit, and what must be seen.
struct Case {
    name: &'static str,
    plan: Plan,
    strata: usize,
    stages: Vec<Expected>,
}

fn cases() -> Vec<Case> {
    let by_hand = Shares { centre: 1000, spread: 500, moments: 4500, measure: 4000 };
    let public = Shares::with_public_basis(ROWS as u64, WIDTH, 0.5);
    let basis = Some(vec![vec![1.0, 0.0, 1.0], vec![0.0, 2.0, 0.0]]);
    let whole = Shares::WHOLE;
    let refined = |shares: &Shares| {
        vec![
            ("centre", (shares.centre, whole), "cube", "gaussian", 1),
            ("spread", (shares.spread, whole), "laplace", "gaussian", 1),
            ("moments", (shares.moments, whole), "wishart difference", "gaussian", 2),
            ("measure", (shares.measure, whole), "path counts", "path counts", 3),
        ]
    };
    let chosen = Shares::for_table(ROWS as u64, WIDTH, 0.5);
    let paper = vec![
        ("covariance", (1, 3), "laplace", "gaussian", 1),
        ("mean", (1, 3), "laplace", "gaussian", 1),
        ("measure", (1, 3), "path counts", "path counts", 2),
    ];
    let cube = vec![("measure", (1, 1), "path counts", "path counts", 1)];
    let on_lattice = |stages: Vec<Expected>| -> Vec<Expected> {
        let swap = |stage: Expected| match stage {
            ("measure", share, _, _, pass) => ("measure", share, "lattice counts", "lattice counts", pass),
            other => other,
        };
        stages.into_iter().map(swap).collect()
    };
    let psmm = |method: Method| Plan { mechanism: Mechanism::Psmm, ..plan(method) };
    let default = || plan(Method::Default);
    let two = || Plan { dimension: Some(2), ..plan(Method::Paper) };
    vec![
        Case { name: "default", plan: default(), strata: 1, stages: refined(&chosen) },
        Case { name: "strata", plan: default(), strata: 4, stages: refined(&chosen) },
        Case { name: "many strata", plan: default(), strata: 100, stages: refined(&chosen) },
        Case {
            name: "by hand",
            plan: Plan { shares: Some(by_hand), ..default() },
            strata: 2,
            stages: refined(&by_hand),
        },
        Case {
            name: "public basis",
            plan: Plan { public_basis: basis, ..default() },
            strata: 1,
            stages: refined(&public),
        },
        Case { name: "paper", plan: two(), strata: 1, stages: paper.clone() },
        Case { name: "paper with strata", plan: two(), strata: 3, stages: paper.clone() },
        Case { name: "cube", plan: plan(Method::Cube), strata: 1, stages: cube.clone() },
        Case { name: "cube with strata", plan: plan(Method::Cube), strata: 5, stages: cube.clone() },
        Case { name: "lattice", plan: psmm(Method::Default), strata: 1, stages: on_lattice(refined(&chosen)) },
        Case {
            name: "lattice with strata",
            plan: psmm(Method::Default),
            strata: 4,
            stages: on_lattice(refined(&chosen)),
        },
        Case { name: "paper's lattice", plan: psmm(Method::Paper), strata: 1, stages: on_lattice(paper.clone()) },
        Case {
            name: "paper's lattice with strata",
            plan: psmm(Method::Paper),
            strata: 3,
            stages: on_lattice(paper.clone()),
        },
        Case {
            name: "paper from dimension 3 on",
            plan: Plan { dimension: Some(3), ..plan(Method::Paper) },
            strata: 1,
            stages: on_lattice(paper.clone()),
        },
        Case { name: "lattice on the cube", plan: psmm(Method::Cube), strata: 1, stages: on_lattice(cube.clone()) },
        Case { name: "lattice on the cube with strata", plan: psmm(Method::Cube), strata: 5, stages: on_lattice(cube) },
    ]
}

fn budgets() -> [Budget; 2] {
    [promise("0.5", None), promise("0.5", Some("1e-6"))]
}

fn rows(strata: usize) -> Codes {
    table(WIDTH, &random_rows(WIDTH, strata as u32, ROWS, 5))
}

fn begin(case: &Case, budget: Budget) -> Fit {
    let kernel = Kernel::quiet();
    Fit::begin_with_danger_kernel(&schema(WIDTH, case.strata), case.plan.clone(), budget, ROWS as u64, kernel).unwrap()
}

/// The numbers behind "scale" or "variance" in the words of a law.
fn scales(spent: &Spent) -> Vec<f64> {
    let number = |text: &str| {
        let text: String = text.chars().take_while(|c| c.is_ascii_digit() || "./".contains(*c)).collect();
        let ratio: Ratio = text.trim_end_matches('.').parse().unwrap();
        ratio.num() as f64 / ratio.den() as f64
    };
    spent.noise.split("e ").skip(1).filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit())).map(number).collect()
}

/// The sensitivity that each stage must name, and the noise that it needs, both derived here anew from the promise "one
/// row replaced by any other".
fn check(spent: &Spent, strata: usize, pass: &Pass) {
    let (d, q, n) = (WIDTH as f64, f64::from(Q), ROWS as f64);
    let amount = spent.amount.num() as f64 / spent.amount.den() as f64;
    let pure = spent.privacy == Privacy::Pure;
    let scales = scales(spent);
    // Relative room for the rounding of this test's own floats.
    let at_least = |scale: f64, need: f64| {
        assert!(scale >= need * (1.0 - 1e-12), "{}: {scale} < {need}", spent.stage);
        assert!(scale <= need * (1.0 + 1e-6) + 1.0, "{}: {scale} wastes what {need} would do", spent.stage);
    };
    match spent.stage.as_str() {
        "centre" => {
            assert_eq!(spent.sensitivity, format!("each of {WIDTH} sums by at most {Q}"));
            at_least(scales[0], if pure { q / amount } else { d * q * q / (2.0 * amount) });
        }
        "spread" => {
            let square = WIDTH as u64 * u64::from(Q) * u64::from(Q);
            assert_eq!(spent.sensitivity, format!("one number by at most {square}"));
            at_least(scales[0], if pure { square as f64 / amount } else { (square as f64).powi(2) / (2.0 * amount) });
        }
        "moments" => {
            // t = 2590 for the mean, t_L = 3172 for the one-hot of at most 64 strata.
            let hot = if strata > 1 && strata <= 64 { 3172_u64 * 3172 } else { 0 };
            let bound = GRID * GRID + 2590 * 2590 + hot;
            assert_eq!(
                spent.sensitivity,
                format!("rows of squared norm at most {bound}: nuclear norm at most twice that")
            );
            at_least(scales[0], if pure { bound as f64 / amount } else { (bound as f64).powi(2) / (2.0 * amount) });
        }
        "covariance" => {
            // Entries of n²Q² M, divided by a power of two so that n Q² has 24 bits, and rounded down.
            let most = ROWS as u64 * u64::from(Q) * u64::from(Q);
            let grid = 1 << (64 - most.leading_zeros() - 24);
            let entry = most / grid + 1;
            assert!(entry > 1 << 23);
            assert!(spent.sensitivity.ends_with(&format!("matrix of order {WIDTH} by at most {entry}")));
            let entry = entry as f64;
            // The paper's σ = 3d²/(εn) for entries of M. Twice that on the diagonal.
            let sigma = 3.0 * d * d / (amount * n) * (n * q).powi(2) / grid as f64;
            let variance = 36.0 * entry * entry * d * d / (4.0 * amount);
            at_least(scales[0], if pure { sigma } else { variance });
            at_least(scales[1], 2.0 * if pure { sigma } else { variance });
        }
        "mean" => {
            assert_eq!(spent.sensitivity, format!("each of {WIDTH} numbers by at most {Q}"));
            at_least(scales[0], if pure { d * q / amount } else { d * q * q / (2.0 * amount) });
        }
        "measure" => {
            let levels = usize::from(strata > 1)
                + match &pass.work {
                    Work::Cells(cells) => usize::from(*cells.depths.iter().max().unwrap()),
                    Work::Grid(_) => 1,
                    _ => panic!("the measure counts cells"),
                };
            assert_eq!(scales.len(), levels);
            assert_eq!(
                spent.sensitivity,
                format!("one count down and one up, by 1, on each of {levels} released levels")
            );
            // Two counts move by one on every level: pure 2 Σ 1/σ, concentrated Σ 2/(2σ²).
            let loss: f64 = scales.iter().map(|scale| if pure { 2.0 / scale } else { 1.0 / scale }).sum();
            assert!(loss <= amount * (1.0 + 1e-12), "{loss} > {amount}");
            assert!(loss > 0.999 * amount, "{loss} leaves much of {amount} unused");
        }
        other => panic!("an unknown stage, {other}"),
    }
}

#[test]
fn every_stage_spends_its_share_in_the_order_of_the_passes() {
    for case in cases() {
        for budget in budgets() {
            let (total, privacy) = (budget.amount(), budget.privacy());
            let codes = rows(case.strata);
            let mut fit = begin(&case, budget);
            assert!(fit.receipt().spent.is_empty(), "{}: begin spends nothing", case.name);
            let mut seen = 0;
            while let Some(pass) = fit.next_pass() {
                fit.absorb(pass.tally(&codes)).unwrap();
                let spent = &fit.receipt().spent;
                let expected = case.stages.iter().filter(|stage| stage.4 == pass.number).count();
                assert_eq!(spent.len() - seen, expected, "{}: pass {}", case.name, pass.number);
                for entry in &spent[seen..] {
                    check(entry, case.strata, &pass);
                }
                seen = spent.len();
            }
            let model = fit.finish().unwrap();
            let log = &model.receipt().spent;
            assert_eq!(log.len(), case.stages.len(), "{}", case.name);
            let mut sum = Ratio::ZERO;
            for (entry, &(stage, (share, of), pure, concentrated, _)) in log.iter().zip(&case.stages) {
                let mechanism = if privacy == Privacy::Pure { pure } else { concentrated };
                assert_eq!((entry.stage.as_str(), entry.mechanism.as_str()), (stage, mechanism), "{}", case.name);
                assert_eq!(entry.privacy, privacy);
                let part = Ratio::new(share.into(), of.into()).unwrap();
                assert_eq!(Some(entry.amount), total.checked_mul(part), "{}: {stage}", case.name);
                sum = sum.checked_add(entry.amount).unwrap();
            }
            assert_eq!(sum, total, "{}: the shares are the whole, exactly", case.name);
            let stages: Vec<_> = model.receipt().stages.iter().map(|s| (s.name.as_str(), (s.share, s.of))).collect();
            let promised: Vec<_> = case.stages.iter().map(|s| (s.0, s.1)).collect();
            assert_eq!(stages, promised, "{}: the receipt promised what was spent", case.name);
        }
    }
}

#[test]
fn a_wrong_tally_is_refused_before_anything_is_spent() {
    for case in cases() {
        for budget in budgets() {
            let codes = rows(case.strata);
            let few = table(WIDTH, &random_rows(WIDTH, case.strata as u32, ROWS - 1, 5));
            let mut fit = begin(&case, budget);
            while let Some(pass) = fit.next_pass() {
                let before = fit.receipt().spent.len();
                let other = if pass.work == Work::Sums { Work::Products } else { Work::Sums };
                let wrong = [
                    pass.tally(&few),
                    pass.empty(),
                    Pass { number: pass.number + 1, ..pass.clone() }.tally(&codes),
                    Pass { work: other, ..pass.clone() }.tally(&codes),
                ];
                for tally in wrong {
                    assert_eq!(fit.absorb(tally).unwrap_err().kind(), Kind::Protocol);
                    assert_eq!(fit.receipt().spent.len(), before, "{}: nothing spent", case.name);
                    assert_eq!(fit.next_pass().as_ref(), Some(&pass), "{}: the fit waits for the right one", case.name);
                }
                fit.absorb(pass.tally(&codes)).unwrap();
            }
            let last = Pass { version: 1, number: 9, width: WIDTH, strata: 1, work: Work::Sums };
            assert_eq!(fit.absorb(last.tally(&codes)).unwrap_err().kind(), Kind::Protocol, "no pass is left");
            fit.finish().unwrap();
        }
    }
}

#[test]
fn an_unfinished_fit_gives_no_model() {
    for case in cases() {
        let fit = begin(&case, promise("1", None));
        assert_eq!(fit.finish().unwrap_err().kind(), Kind::Protocol);
    }
}

/// What is wrong with a plan is public, so it is said before a row is read.
#[test]
fn plans_that_cannot_work_are_refused_at_the_beginning() {
    let shares = |centre, spread, moments, measure| Some(Shares { centre, spread, moments, measure });
    let short = Some(vec![vec![1.0; WIDTH - 1]]);
    let twice = Some(vec![vec![1.0; WIDTH]; 2]);
    let good = Some(vec![vec![1.0; WIDTH]]);
    let default = || plan(Method::Default);
    let psmm = |method: Method| Plan { mechanism: Mechanism::Psmm, ..plan(method) };
    let wrong = [
        Plan { shares: shares(0, 1000, 4000, 5000), ..default() },
        Plan { shares: shares(1000, 0, 4000, 5000), ..default() },
        Plan { shares: shares(1000, 4000, 0, 5000), ..default() },
        Plan { shares: shares(1000, 4000, 5000, 0), ..default() },
        Plan { shares: shares(1000, 1000, 4000, 4001), ..default() },
        Plan { shares: shares(u64::MAX, u64::MAX, u64::MAX, 10_003), ..default() },
        Plan { shares: shares(2000, 1000, 0, 7000), public_basis: good.clone(), ..default() },
        Plan { public_basis: short, ..default() },
        Plan { public_basis: twice, ..default() },
        Plan { public_basis: Some(vec![vec![0.0; WIDTH]]), ..default() },
        Plan { public_basis: Some(vec![vec![f64::NAN; WIDTH]]), ..default() },
        Plan { public_basis: Some(Vec::new()), ..default() },
        Plan { public_basis: good.clone(), dimension: Some(2), ..default() },
        Plan { public_basis: good, ..plan(Method::Paper) },
        Plan { dimension: Some(0), ..default() },
        Plan { dimension: Some(WIDTH + 1), ..default() },
        Plan { dimension: Some(1), ..plan(Method::Cube) },
        Plan { cell: Some(0.1), ..default() },
        Plan { cell: Some(0.1), mechanism: Mechanism::Pmm, ..default() },
        Plan { cell: Some(0.0), ..psmm(Method::Default) },
        Plan { cell: Some(-1.0), ..psmm(Method::Cube) },
        Plan { cell: Some(f64::NAN), ..psmm(Method::Default) },
        Plan { cell: Some(1e-5), ..psmm(Method::Cube) },
    ];
    for plan in wrong {
        let words = format!("{plan:?}");
        let schema = schema(WIDTH, 1);
        let refused = Fit::begin_with_danger_kernel(&schema, plan, promise("1", None), 9, Kernel::quiet());
        assert_eq!(refused.err().map(|error| error.kind()), Some(Kind::Usage), "{words}");
    }
    for rows in [0, u64::MAX] {
        let refused =
            Fit::begin_with_danger_kernel(&schema(WIDTH, 1), default(), promise("1", None), rows, Kernel::quiet());
        assert_eq!(refused.err().map(|error| error.kind()), Some(Kind::Data), "{rows} rows");
    }
}
