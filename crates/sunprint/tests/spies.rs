//! What every stage of every method spends, and in which order: the kernel's own log, read from outside.

mod common;

use common::{plan, promise, random_rows, schema, table};
use sunprint::error::Kind;
use sunprint::fit::Fit;
use sunprint::plan::{Facts, Mechanism, Method, Plan, Shares};
use sunprint::privacy::{Budget, Kernel, Privacy, Ratio, Spent};
use sunprint::tally::codes::{Codes, Q};
use sunprint::tally::{ClampedSums, GRID, Histogram, Marginals, Pass, Sums, Work};

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

fn facts(strata: usize) -> Facts {
    Facts::of(&schema(WIDTH, strata), ROWS as u64, 0.5)
}

/// The stages of the default method that have a share, each in its pass.
fn refined(shares: &Shares) -> Vec<Expected> {
    let whole = Shares::WHOLE;
    let second = if shares.moments + shares.contrasts > 0 || shares.measure > 0 { 2 } else { 1 };
    let third = second + u32::from(shares.marginals > 0);
    // Without moments the measure counts strata, in the pass that sums them.
    let last = if shares.moments > 0 { third + 1 } else { third };
    let stages = [
        ("centre", (shares.centre, whole), "cube", "gaussian", 1),
        ("spread", (shares.spread, whole), "laplace", "gaussian", 1),
        ("contrasts", (shares.contrasts, whole), "cube", "gaussian", second),
        ("moments", (shares.moments, whole), "wishart difference", "gaussian", second),
        ("marginals", (shares.marginals, whole), "laplace", "gaussian", third),
        ("measure", (shares.measure, whole), "path counts", "path counts", last),
        ("labels", (shares.labels, whole), "laplace", "gaussian", last + 1),
        ("sites", (shares.sites, whole), "laplace", "gaussian", last + 1 + u32::from(shares.labels > 0)),
    ];
    stages.into_iter().filter(|stage| stage.1.0 > 0).collect()
}

fn cases() -> Vec<Case> {
    let by_hand = Shares { centre: 1000, spread: 500, moments: 4500, measure: 4000, ..Shares::default() };
    let counted = Shares { marginals: 1500, moments: 3000, ..by_hand };
    let sorted = Shares { labels: 2000, moments: 2500, ..by_hand };
    let both = Shares { labels: 1000, moments: 2000, ..counted };
    let near = Shares { sites: 2000, moments: 2500, ..by_hand };
    let all = Shares { sites: 500, measure: 3500, ..both };
    let apart = Shares { centre: 4000, spread: 500, contrasts: 5000, measure: 500, ..Shares::default() };
    let basis = Some(vec![vec![1.0, 0.0, 1.0], vec![0.0, 2.0, 0.0]]);
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
    let case =
        |name: &'static str, plan: Plan, strata: usize, stages: Vec<Expected>| Case { name, plan, strata, stages };
    let default = || plan(Method::Default);
    let few = |strata: usize| refined(&Shares::for_table(&facts(strata)));
    // Directions that are asked for are measured, however few the rows.
    let asked = || Plan { dimension: Some(2), ..default() };
    let found = |strata: usize| refined(&Shares::with_directions(&facts(strata)));
    let hand = |shares: Shares| Plan { shares: Some(shares), ..default() };
    let psmm = |plan: Plan| Plan { mechanism: Mechanism::Psmm, ..plan };
    let two = || Plan { dimension: Some(2), ..plan(Method::Paper) };
    let three = || Plan { dimension: Some(3), ..plan(Method::Paper) };
    // A Gaussian has no cells: what there is of a measure counts strata, in the pass of the moments.
    let gaussian = |strata: usize| {
        let mut stages = refined(&Shares::for_gaussian(&facts(strata)));
        stages.iter_mut().filter(|stage| stage.0 == "measure").for_each(|stage| stage.4 = 2);
        stages
    };
    vec![
        case("few rows", default(), 1, few(1)),
        case("few rows in two strata", default(), 2, few(2)),
        case("few rows in four strata", default(), 4, few(4)),
        case("few rows in too many strata", default(), 100, few(100)),
        case("contrasts by hand", hand(apart), 3, refined(&apart)),
        case("directions", asked(), 1, found(1)),
        case("directions and strata", asked(), 4, found(4)),
        case("directions and many strata", asked(), 100, found(100)),
        case("without texture", Plan { texture: false, ..default() }, 2, found(2)),
        case("by hand", hand(by_hand), 2, refined(&by_hand)),
        case("marginals", hand(counted), 1, refined(&counted)),
        case("marginals and strata", hand(counted), 3, refined(&counted)),
        case("labels", hand(sorted), 3, refined(&sorted)),
        case("marginals and labels", hand(both), 2, refined(&both)),
        case("lattice and labels", psmm(hand(sorted)), 3, on_lattice(refined(&sorted))),
        case("sites", hand(near), 1, refined(&near)),
        case("sites and strata", hand(near), 3, refined(&near)),
        case("marginals, labels and sites", hand(all), 2, refined(&all)),
        case(
            "public basis",
            Plan { public_basis: basis, ..default() },
            1,
            refined(&Shares::with_public_basis(&facts(1))),
        ),
        case("gaussian", plan(Method::Gaussian), 1, gaussian(1)),
        case("gaussian with strata", plan(Method::Gaussian), 3, gaussian(3)),
        case("paper", two(), 1, paper.clone()),
        case("paper with strata", two(), 3, paper.clone()),
        case("cube", plan(Method::Cube), 1, cube.clone()),
        case("cube with strata", plan(Method::Cube), 5, cube.clone()),
        case("lattice", psmm(asked()), 1, on_lattice(found(1))),
        case("lattice with strata", psmm(asked()), 4, on_lattice(found(4))),
        case("lattice and marginals", psmm(hand(counted)), 3, on_lattice(refined(&counted))),
        case("paper's lattice", psmm(plan(Method::Paper)), 1, on_lattice(paper.clone())),
        case("paper's lattice with strata", psmm(plan(Method::Paper)), 3, on_lattice(paper.clone())),
        case("paper from dimension 3 on", three(), 1, on_lattice(paper.clone())),
        case("lattice on the cube", psmm(plan(Method::Cube)), 1, on_lattice(cube.clone())),
        case("lattice on the cube with strata", psmm(plan(Method::Cube)), 5, on_lattice(cube)),
    ]
}

/// The cases above, said once more as a reader expects them: shares of few rows and passes of each way.
#[test]
fn the_cases_are_what_they_are_called() {
    let cases = cases();
    let stages = |name: &str| -> Vec<(&str, u64, u32)> {
        let case = cases.iter().find(|case| case.name == name).unwrap();
        case.stages.iter().map(|stage| (stage.0, stage.1.0, stage.4)).collect()
    };
    assert_eq!(stages("few rows"), [("centre", 9400, 1), ("spread", 600, 1)]);
    let apart = [("centre", 5800, 1), ("spread", 600, 1), ("contrasts", 2800, 2), ("measure", 800, 2)];
    assert_eq!(stages("few rows in two strata"), apart);
    let by_themselves = [("spread", 600, 1), ("contrasts", 8400, 2), ("measure", 1000, 2)];
    assert_eq!(stages("few rows in four strata"), by_themselves);
    assert_eq!(stages("few rows in too many strata"), [("centre", 8600, 1), ("spread", 600, 1), ("measure", 800, 2)]);
    assert_eq!(stages("marginals")[2..], [("moments", 3000, 2), ("marginals", 1500, 3), ("measure", 4000, 4)]);
    assert_eq!(stages("directions")[3].2, 3);
    assert_eq!(stages("gaussian").len(), 3);
    assert_eq!(stages("gaussian with strata")[3], ("measure", 500, 2));
}

fn budgets() -> [Budget; 2] {
    [promise("0.5", None), promise("0.5", Some("1e-6"))]
}

fn all_sums() -> Work {
    Work::Sums(Sums { counted: vec![true; WIDTH] })
}

fn rows(strata: usize) -> Codes {
    table(WIDTH, &random_rows(WIDTH, strata as u32, ROWS, 5))
}

fn begin(case: &Case, budget: Budget) -> Fit {
    let schema = schema(WIDTH, case.strata);
    let kernel = Kernel::quiet();
    Fit::begin_with_danger_kernel(&schema, case.plan.clone(), budget, ROWS as u64, kernel).unwrap()
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
        "contrasts" => {
            // Entries of the contrasts are at most 1024; a row that is clamped to the reach leaves with one sign and
            // comes back with the other.
            let Work::Clamped(ClampedSums { reach, .. }) = pass.work else { panic!("contrasts are of clamped rows") };
            // From four strata on each is summed by itself: a row leaves one block and enters another, by the reach each.
            let (entries, span) = match strata {
                2 | 3 => ((strata - 1) * WIDTH, 2 * 1024 * u64::from(reach)),
                _ => (WIDTH, 2 * u64::from(reach)),
            };
            let divided = if strata > 3 { format!(" in {strata} blocks, together") } else { String::new() };
            assert_eq!(spent.sensitivity, format!("each of {entries} sums{divided} by at most {span}"));
            let (entries, span) = (entries as f64, span as f64);
            let need = if pure { (span / amount).max(2.0 * entries) } else { entries * span * span / (2.0 * amount) };
            at_least(scales[0], need);
        }
        "marginals" => {
            let Work::Marginals(marginals) = &pass.work else { panic!("marginals count values") };
            assert_eq!(marginals.histograms.len(), WIDTH, "one for each column");
            assert_eq!(spent.sensitivity, format!("in each of {WIDTH} histograms one count down and one up, by 1"));
            at_least(scales[0], if pure { 2.0 * d / amount } else { 2.0 * d / (2.0 * amount) });
        }
        "labels" => {
            let Work::Marginals(Marginals { histograms }) = &pass.work else { panic!("labels are counted in leaves") };
            assert!(matches!(histograms[..], [Histogram::Tree(_)]), "one tree");
            assert_eq!(spent.sensitivity, "in each of 1 histograms one count down and one up, by 1");
            at_least(scales[0], if pure { 2.0 / amount } else { 2.0 / (2.0 * amount) });
        }
        "sites" => {
            let Work::Marginals(Marginals { histograms }) = &pass.work else { panic!("sites are counted") };
            assert!(matches!(histograms[..], [Histogram::Sites(_)]), "one histogram");
            assert_eq!(spent.sensitivity, "in each of 1 histograms one count down and one up, by 1");
            at_least(scales[0], if pure { 2.0 / amount } else { 2.0 / (2.0 * amount) });
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
                    // Strata alone are counted, of which there must be more than one.
                    Work::Moments(_) | Work::Clamped(_) if strata > 1 => 0,
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
            let (mut seen, mut last) = (0, 0);
            while let Some(pass) = fit.next_pass() {
                fit.absorb(pass.tally(&codes)).unwrap();
                let spent = &fit.receipt().spent;
                let expected = case.stages.iter().filter(|stage| stage.4 == pass.number).count();
                assert_eq!(spent.len() - seen, expected, "{}: pass {}", case.name, pass.number);
                for entry in &spent[seen..] {
                    check(entry, pass.strata, &pass);
                }
                (seen, last) = (spent.len(), pass.number);
            }
            let passes = case.stages.iter().map(|stage| stage.4).max();
            assert_eq!(Some(last), passes, "{}: no pass without a stage", case.name);
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
                let other = if matches!(pass.work, Work::Sums(_)) { Work::Products } else { all_sums() };
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
            let last = Pass::new(9, WIDTH, 1, all_sums());
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
    let shares =
        |centre, spread, moments, measure| Some(Shares { centre, spread, moments, measure, ..Shares::default() });
    let counted =
        Shares { centre: 1000, spread: 500, moments: 4000, marginals: 1000, measure: 3500, ..Shares::default() };
    let sorted = Shares { labels: 1000, marginals: 0, ..counted };
    let apart = Shares { centre: 1000, spread: 500, contrasts: 8500, ..Shares::default() };
    let short = Some(vec![vec![1.0; WIDTH - 1]]);
    let twice = Some(vec![vec![1.0; WIDTH]; 2]);
    let good = Some(vec![vec![1.0; WIDTH]]);
    let default = || plan(Method::Default);
    let psmm = |method: Method| Plan { mechanism: Mechanism::Psmm, ..plan(method) };
    let wrong = [
        Plan { shares: shares(0, 1000, 4000, 5000), ..default() },
        Plan { shares: shares(1000, 0, 4000, 5000), ..default() },
        Plan { shares: shares(1000, 4000, 0, 5000), ..default() },
        Plan { shares: shares(1000, 4000, 5000, 0), dimension: Some(1), ..default() },
        Plan { shares: shares(1000, 4000, 5000, 0), public_basis: good.clone(), ..default() },
        Plan { shares: shares(1000, 1000, 4000, 4000), ..plan(Method::Gaussian) },
        Plan { shares: Some(apart), ..default() },
        Plan { shares: Some(Shares { marginals: 1000, centre: 8500, moments: 0, measure: 0, ..counted }), ..default() },
        Plan { shares: Some(counted), public_basis: good.clone(), ..default() },
        Plan { shares: Some(counted), texture: false, ..default() },
        Plan { shares: Some(sorted), ..default() },
        Plan { shares: Some(counted), ..plan(Method::Gaussian) },
        Plan { dimension: Some(1), ..plan(Method::Gaussian) },
        Plan { public_basis: good.clone(), ..plan(Method::Gaussian) },
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
