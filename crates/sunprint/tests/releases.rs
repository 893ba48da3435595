//! Contrasts and marginals: what they spend on odd tables, that no value stops them, and their tallies on the wire.

mod common;

use common::{fit, promise, random_rows, table};
use proptest::prelude::*;
use sunprint::plan::{Method, Plan, Shares};
use sunprint::privacy::{Kernel, Ratio};
use sunprint::schema::Schema;
use sunprint::tally::codes::{Codes, Q};
use sunprint::tally::{Axis, ClampedSums, Fork, Forks, Group, Histogram, Marginals, Opened, Pass, Sites, Tally, Work};
use sunprint::{error::Kind, fit, tally};

/// Columns of many kinds, and a label of so many categories.
fn schema(columns: &str, strata: usize) -> Schema {
    let mut text = String::new();
    for (number, kind) in columns.split_whitespace().enumerate() {
        let kind = match kind {
            "number" => "kind = \"continuous\"\nmin = 0\nmax = 1\nmissing = \"allow\"",
            "angle" => "kind = \"continuous\"\nmin = 0\nmax = 1\nscale = \"cyclic\"",
            "choice" => "kind = \"categorical\"\nvalues = [\"a\", \"b\", \"c\"]\nmissing = \"allow\"",
            _ => "kind = \"boolean\"",
        };
        text += &format!("[[column]]\nname = \"x{number}\"\n{kind}\n");
    }
    if strata > 1 {
        let values: Vec<String> = (0..strata).map(|s| format!("\"s{s}\"")).collect();
        text += &format!(
            "[[column]]\nname = \"y\"\nkind = \"categorical\"\nvalues = [{}]\nrole = \"label\"\n",
            values.join(", ")
        );
    }
    Schema::parse(&text, "s.toml").unwrap()
}

/// The same row again and again, or anything.
fn rows(schema: &Schema, count: usize, style: u64) -> Codes {
    let (width, strata) = (schema.width(), schema.strata());
    match style {
        0 => table(width, &vec![(vec![0; width], 0); count]),
        1 => table(width, &vec![(vec![Q; width], strata as u32 - 1); count]),
        seed => table(width, &random_rows(width, strata as u32, count, seed)),
    }
}

/// Runs a fit, draws from it, and says how much of the whole was spent by which stages.
fn spent(
    codes: &Codes,
    schema: &Schema,
    plan: Plan,
    promise: sunprint::privacy::Budget,
) -> (Ratio, Ratio, Vec<String>) {
    let model = fit(codes, schema, plan, promise, Kernel::seeded(5)).unwrap();
    let (units, _) = common::drawn(&model, 20, 1);
    assert!(units.iter().all(|unit| (0.0..=1.0).contains(unit)), "{units:?}");
    let receipt = model.receipt();
    let spent = receipt.spent.iter().fold(Ratio::ZERO, |sum, s| sum.checked_add(s.amount).unwrap());
    (spent, receipt.total, receipt.spent.iter().map(|s| s.stage.clone()).collect())
}

/// Whatever the columns, the strata, the rows and their values, a fit ends, and has spent the whole: no less, no more.
#[test]
fn odd_tables_spend_the_whole_budget() {
    for columns in ["number", "angle", "choice", "flag", "number angle choice flag", "angle choice"] {
        for strata in [1, 2, 3, 20] {
            let schema = schema(columns, strata);
            let tables =
                [(1, 0, None), (2, 1, None), (40, 9, Some("1e-6")), (3_000, 0, None), (3_000, 9, Some("1e-6"))];
            for (count, style, delta) in tables {
                let codes = rows(&schema, count, style);
                let (spent, total, stages) = spent(&codes, &schema, Plan::default(), promise("1", delta));
                assert_eq!(spent, total, "{columns}, {strata} strata, {count} rows: {stages:?}");
            }
        }
    }
}

/// The same where directions are asked for, known, or drawn without texture: also with few rows, and with so many that
/// values would be counted.
#[test]
fn plans_by_hand_spend_the_whole_budget() {
    for (columns, width) in [("number number", 4), ("choice flag", 5), ("angle angle", 4)] {
        for strata in [1, 3] {
            let schema = schema(columns, strata);
            assert_eq!(schema.width(), width);
            let basis = Some(vec![vec![1.0; width], (0..width).map(|j| j as f64).collect()]);
            let plans = [
                Plan { dimension: Some(2), ..Plan::default() },
                Plan { texture: false, ..Plan::default() },
                Plan { public_basis: basis, ..Plan::default() },
                Plan { method: Method::Gaussian, ..Plan::default() },
            ];
            for plan in plans {
                for count in [1, 4_000] {
                    let codes = rows(&schema, count, 7);
                    let (spent, total, stages) = spent(&codes, &schema, plan.clone(), promise("1", None));
                    assert!(spent == total, "{columns}, {strata} strata, {count} rows, {plan:?}: {stages:?}");
                }
            }
        }
    }
}

/// Shares that give a stage nothing to do are refused before anything is spent.
#[test]
fn a_stage_with_nothing_to_do_gets_no_share() {
    let marginals =
        Shares { centre: 2000, spread: 500, moments: 2500, marginals: 2500, measure: 2500, ..Shares::default() };
    let plan = Plan { shares: Some(marginals), ..Plan::default() };
    let angles = schema("angle angle", 1);
    assert_eq!(fit::check(&plan, &angles).unwrap_err().kind(), Kind::Usage, "nothing is counted of angles");
    let numbers = schema("number flag", 2);
    // The smallest ε has the largest noise.
    for epsilon in ["1", "0.0001"] {
        let (spent, total, stages) = spent(&rows(&numbers, 50, 3), &numbers, plan.clone(), promise(epsilon, None));
        assert_eq!(stages, ["centre", "spread", "moments", "marginals", "measure"]);
        assert_eq!(spent, total);
    }
    let useless = Shares { measure: 0, moments: 5000, ..marginals };
    let plan = Plan { shares: Some(useless), public_basis: Some(vec![vec![1.0; 4]]), ..Plan::default() };
    assert_eq!(fit::check(&plan, &angles).unwrap_err().kind(), Kind::Usage);
}

fn passes(width: usize, strata: usize, reach: u16) -> Vec<Pass> {
    let hot = Histogram::Hot { at: 0, len: width };
    let line = |absence: bool| Histogram::Line { at: 0, edges: vec![1, 500, 40_000, Q], absence };
    let fork = |edge: u16, below: i32, above: i32| Fork { at: width as u32 - 1, edge, below, above };
    let tree = Histogram::Tree(Forks { forks: vec![fork(30_000, 1, -1), fork(900, -3, -2)] });
    let group = |place: i16| Group { stratum: 0, middle: vec![place; width], sites: vec![place; 2 * width] };
    let sites = Sites { axes: vec![Axis { low: 9, times: 200 }; width], groups: vec![group(3), group(700)] };
    let works = [
        Work::Clamped(ClampedSums { centre: vec![30_000; width], reach }),
        Work::Marginals(Marginals { histograms: vec![line(width > 1), hot.clone(), line(false)] }),
        Work::Marginals(Marginals { histograms: vec![hot] }),
        Work::Marginals(Marginals { histograms: vec![tree] }),
        Work::Marginals(Marginals { histograms: vec![Histogram::Sites(sites)] }),
    ];
    works.into_iter().map(|work| Pass::new(2, width, strata, work)).collect()
}

proptest! {
    /// Whatever the rows, their tallies come back from the wire: rows far from the centre, and all in one stratum.
    #[test]
    fn tallies_come_back_from_bytes(
        width in 1_usize..5, strata in 1_usize..4, reach: u16, count in 1_usize..30, style in 0_u64..40, other in 0_u64..40,
    ) {
        let codes = |style: u64| match style {
            0 => table(width, &vec![(vec![0; width], 0); count]),
            1 => table(width, &vec![(vec![Q; width], 9); count]),
            seed => table(width, &random_rows(width, strata as u32 + 1, count, seed)),
        };
        for pass in passes(width, strata, reach) {
            let tally = pass.tally(&codes(style));
            let mut back = Tally::from_secret_bytes(&tally.to_secret_bytes(), &pass).unwrap();
            prop_assert!(back == tally);
            back.merge(pass.tally(&codes(other))).unwrap();
            prop_assert!(Tally::from_secret_bytes(&back.to_secret_bytes(), &pass).unwrap() == back);
            prop_assert_eq!(Pass::from_json(&pass.to_json()).unwrap(), pass);
        }
    }

    /// A replaced row moves no contrast by more than the span, whatever it was and wherever it goes.
    #[test]
    fn contrasts_move_inside_their_span(
        width in 1_usize..5, strata in 2_usize..6, reach: u16, centre: u16, count in 1_usize..10, seed in 0_u64..1000,
        corner: bool, stratum in 0_u32..8,
    ) {
        let here = random_rows(width, strata as u32 + 1, count, seed);
        let mut there = here.clone();
        there[0] = (vec![if corner { Q } else { 0 }; width], stratum);
        let spec = ClampedSums { centre: vec![centre; width], reach };
        let pass = Pass::new(2, width, strata, Work::Clamped(spec.clone()));
        let [a, b] = [&here, &there].map(|rows| match pass.tally(&table(width, rows)).open_danger() {
            Opened::Moments(t) => tally::contrasts(t, &tally::helmert(strata)),
            _ => unreachable!("clamped sums"),
        });
        prop_assert_eq!(a.len(), (strata - 1) * width);
        let span = tally::contrast_span(&spec);
        prop_assert!(a.iter().zip(&b).all(|(a, b)| a.abs_diff(*b) <= span));
    }
}

/// The bound is attained: a row that goes from end to end and from the first stratum to the second.
#[test]
fn the_span_of_contrasts_is_attained() {
    let spec = ClampedSums { centre: vec![Q / 2; 2], reach: 1000 };
    let pass = Pass::new(2, 2, 3, Work::Clamped(spec.clone()));
    let moved = |to: u32| {
        let [a, b] = [(vec![0; 2], 0), (vec![Q; 2], to)].map(|row| match pass.tally(&table(2, &[row])).open_danger() {
            Opened::Moments(t) => tally::contrasts(t, &tally::helmert(3)),
            _ => unreachable!("clamped sums"),
        });
        a.iter().zip(&b).map(|(a, b)| a.abs_diff(*b)).max()
    };
    assert_eq!(moved(0), Some(tally::contrast_span(&spec)));
    assert!(moved(1) < moved(0), "the signs of two strata differ");
}
