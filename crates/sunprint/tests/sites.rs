//! Sites: what they say is found again among the drawn rows, and no table is too odd for them.

mod common;

use common::{fit, promise, random_rows, schema, table};
use sunprint::math::stream::Stream;
use sunprint::model::Model;
use sunprint::plan::{Plan, Shares};
use sunprint::privacy::{Kernel, Ratio};
use sunprint::schema::Schema;
use sunprint::tally::codes::Codes;
use sunprint::tally::{Histogram, Work};

const ROWS: usize = 20_000;

/// Codes and a stratum.
type Row = (Vec<u16>, u32);

/// Shares by hand, with so much for sites.
fn plan(sites: u64) -> Plan {
    let shares = Shares { centre: 1000, spread: 500, moments: 4500 - sites, measure: 4000, sites, ..Shares::default() };
    // One direction is measured by itself: the hole below has two.
    Plan { shares: Some(shares), dimension: Some(1), ..Plan::default() }
}

/// Rows on a circle: the best Gaussian puts most of its rows inside, where there are none.
fn circle() -> Codes {
    let mut stream = Stream::new(5, 90, 0);
    let mut codes = Codes::with_capacity(2, ROWS);
    for _ in 0..ROWS {
        let (x, y) = (stream.normal(), stream.normal());
        let place = |x: f64, y: f64| (32_768.0 + 20_000.0 * x / (x * x + y * y).sqrt()) as u16;
        codes.push(&[place(x, y), place(y, x)], 0);
    }
    codes
}

/// The part of the drawn rows that is well inside of the circle.
fn inside(model: &Model) -> f64 {
    let draw = model.draw(ROWS as u64, 3);
    let rows = (0..draw.blocks()).flat_map(|block| draw.block(block).units);
    let rows: Vec<f64> = rows.collect();
    let far = |row: &&[f64]| (row[0] - 0.5).hypot(row[1] - 0.5) < 0.2;
    rows.chunks_exact(2).filter(far).count() as f64 / ROWS as f64
}

/// However small the noise, moments cannot say that there is a hole; sites can, with the noise of ε = 4 as well.
#[test]
fn sites_find_a_hole() {
    let (codes, schema) = (circle(), schema(2, 1));
    let model = |sites: u64, kernel: Kernel| fit(&codes, &schema, plan(sites), promise("4", None), kernel).unwrap();
    let without = inside(&model(0, Kernel::quiet()));
    for kernel in [Kernel::quiet(), Kernel::seeded(1)] {
        let with = inside(&model(2000, kernel));
        assert!(with < 0.25 * without, "{with} of the rows are in the hole, {without} without sites");
    }
}

/// The last pass is one of sites, its sites fit, and one row belongs to one of them.
#[test]
fn the_last_pass_counts_rows_near_sites() {
    use sunprint::fit::Fit;
    let (codes, schema) = (circle(), schema(2, 1));
    let mut fit =
        Fit::begin_with_danger_kernel(&schema, plan(2000), promise("4", None), ROWS as u64, Kernel::quiet()).unwrap();
    let mut last = None;
    while let Some(pass) = fit.next_pass() {
        fit.absorb(pass.tally(&codes)).unwrap();
        last = Some(pass);
    }
    let Some(Work::Marginals(marginals)) = last.map(|pass| pass.work) else { panic!("counts") };
    let [Histogram::Sites(sites)] = &marginals.histograms[..] else { panic!("sites alone") };
    assert!(sites.fit(2, 1) && sites.len() > 100, "{}", sites.len());
    let model = fit.finish().unwrap();
    assert!(model.receipt().cells.as_ref().is_some_and(|cells| cells.ends_with(&format!(", then {}", sites.len()))));
}

/// One row, rows that are all equal, at one corner or at two, more sites than rows, one column, categories alone, a stratum
/// without rows, very many columns: every fit ends, its model is read again, and it draws rows of the cube.
#[test]
fn no_table_is_too_odd() {
    let categories = "[[column]]\nname = \"a\"\nkind = \"categorical\"\nvalues = [\"x\", \"y\", \"z\"]\n\
        [[column]]\nname = \"b\"\nkind = \"categorical\"\nvalues = [\"u\", \"v\", \"w\"]\n";
    let q = u16::MAX;
    let hot = |a: usize, b: usize| (0..6).map(|i| if i == a || i == 3 + b { 46_340 } else { 0 }).collect::<Vec<u16>>();
    let listed: Vec<Row> = (0..50).map(|i| (hot(i % 3, i % 2), 0)).collect();
    let wide = vec![(vec![q; 300], 0); 3];
    let tables: Vec<(Schema, Vec<Row>)> = vec![
        (schema(3, 1), vec![(vec![1, 2, 3], 0)]),
        (schema(1, 1), vec![(vec![7], 0); 40]),
        (schema(2, 1), vec![(vec![q, q], 0); 40]),
        (schema(2, 1), (0..40).map(|i| (vec![q * (i % 2); 2], 0)).collect()),
        (schema(2, 3), random_rows(2, 2, 60, 1)),
        (Schema::parse(categories, "s").unwrap(), listed),
        (schema(300, 1), wide),
    ];
    for (schema, rows) in tables {
        let lines = schema.width() != 6;
        for epsilon in ["0.01", "1000"] {
            let shares = match lines {
                true => plan(2000).shares,
                false => Some(Shares { moments: 4000, measure: 4000, sites: 2000, ..Shares::default() }),
            };
            let plan = Plan { shares, ..Plan::default() };
            let codes = table(schema.width(), &rows);
            let model = fit(&codes, &schema, plan, promise(epsilon, None), Kernel::seeded(2)).unwrap();
            let read = Model::from_json(model.to_json().as_bytes(), "a model").unwrap();
            let (a, b) = (model.draw(30, 1).block(0), read.draw(30, 1).block(0));
            assert!(a.units == b.units && a.units.iter().all(|x| (0.0..=1.0).contains(x)));
            assert_eq!(a.strata.len(), 30);
        }
    }
}

/// With much ε sites are counted four times. Each time costs an equal part of their share, and together they cost just that;
/// each stands where the rounds before found rows; and the hole is as empty as after one round, or emptier.
#[test]
fn rounds_share_their_budget_and_go_where_rows_are() {
    use sunprint::fit::Fit;
    let (codes, schema) = (circle(), schema(2, 1));
    let shares = Shares { centre: 1000, spread: 500, moments: 6500, sites: 2000, ..Shares::default() };
    let plan = Plan { shares: Some(shares), ..Plan::default() };
    let mut fit =
        Fit::begin_with_danger_kernel(&schema, plan, promise("100", None), ROWS as u64, Kernel::seeded(3)).unwrap();
    let mut holes = Vec::new();
    while let Some(pass) = fit.next_pass() {
        if let Work::Marginals(marginals) = &pass.work {
            let [Histogram::Sites(sites)] = &marginals.histograms[..] else { panic!("sites alone") };
            let places = sites.groups.iter().flat_map(|group| group.sites.chunks_exact(2));
            let middle = |of: usize| {
                let all = || sites.groups.iter().flat_map(|group| group.sites.chunks_exact(2)).map(|site| site[of]);
                0.5 * (f64::from(all().min().unwrap()) + f64::from(all().max().unwrap()))
            };
            let (x, y) = (middle(0), middle(1));
            let far = |site: &&[i16]| (f64::from(site[0]) - x).hypot(f64::from(site[1]) - y) < 0.5 * x;
            holes.push(places.filter(far).count() as f64 / sites.len() as f64);
        }
        fit.absorb(pass.tally(&codes)).unwrap();
    }
    assert!(holes.len() == 4 && holes[1..].iter().all(|hole| *hole < 0.5 * holes[0]), "{holes:?}");
    let model = fit.finish().unwrap();
    assert_eq!(model.release().ancestors.len(), 3);
    let amounts: Vec<Ratio> =
        model.receipt().spent.iter().filter(|spent| spent.stage == "sites").map(|spent| spent.amount).collect();
    assert!(amounts.iter().all(|amount| *amount == amounts[0]), "{amounts:?}");
    let whole = amounts.iter().fold(Ratio::ZERO, |sum, amount| sum.checked_add(*amount).unwrap());
    assert_eq!(whole, Ratio::new(20, 1).unwrap(), "a fifth of 100");
    assert!(inside(&model) < 0.01, "{}", inside(&model));
}
