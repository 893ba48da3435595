//! Columns of two values that divide the strata, where rows are many: found in a pass of its own, kept in every draw.

mod common;

use common::{fit, promise};
use sunprint::fit::Fit;
use sunprint::math::stream::Stream;
use sunprint::model::Model;
use sunprint::plan::{Facts, Plan, Shares};
use sunprint::privacy::Kernel;
use sunprint::schema::Schema;
use sunprint::tally::codes::{Codes, Q};
use sunprint::tally::{Facets, Pass, Work};

/// Enough for three facets of two strata.
const ROWS: usize = 91_000;

/// Two indicators, two numbers, and a label.
fn schema() -> Schema {
    let number = |name: &str| format!("[[column]]\nname = \"{name}\"\nkind = \"continuous\"\nmin = 0\nmax = 1\n");
    let flag = |name: &str| format!("[[column]]\nname = \"{name}\"\nkind = \"integer\"\nmin = 0\nmax = 1\n");
    let label = "[[column]]\nname = \"label\"\nkind = \"boolean\"\nrole = \"label\"\n";
    let columns = [number("x"), flag("north"), flag("south"), number("y"), label.to_string()];
    Schema::parse(&columns.concat(), "facets.toml").unwrap()
}

/// Where the rows of a place and a label are along `x`: the label says the opposite in the north and in the south, which
/// no sum of a place's part and a label's part can say.
fn middle(place: usize, label: u32) -> f64 {
    [[0.5, 0.5], [0.2, 0.8], [0.8, 0.2]][place][label as usize]
}

/// Rows of three places: neither (a tenth), north, south.
fn rows(count: usize) -> Codes {
    let mut stream = Stream::new(8, 93, 0);
    let mut codes = Codes::with_capacity(4, count);
    for _ in 0..count {
        let place = [0, 1, 1, 1, 1, 1, 2, 2, 2, 2][stream.below(10) as usize];
        let label = stream.below(2) as u32;
        let unit = |x: f64| (x.clamp(0.0, 1.0) * f64::from(Q)).round() as u16;
        let x = unit(middle(place, label) + 0.05 * stream.normal());
        let y = unit(0.5 + 0.1 * stream.normal());
        codes.push(&[x, if place == 1 { Q } else { 0 }, if place == 2 { Q } else { 0 }, y], label);
    }
    codes
}

fn plan(facets: u64, labels: u64) -> Plan {
    let shares = Shares {
        centre: 500,
        spread: 500,
        facets,
        moments: 6000 - facets - labels,
        marginals: 2000,
        measure: 1000,
        labels,
        contrasts: 0,
    };
    Plan { shares: Some(shares), ..Plan::default() }
}

fn passes(plan: Plan, codes: &Codes, kernel: Kernel) -> (Vec<Pass>, Model) {
    let mut fit =
        Fit::begin_with_danger_kernel(&schema(), plan, promise("2", None), codes.rows() as u64, kernel).unwrap();
    let mut passes = Vec::new();
    while let Some(pass) = fit.next_pass() {
        fit.absorb(pass.tally(codes)).unwrap();
        passes.push(pass);
    }
    (passes, fit.finish().unwrap())
}

/// Drawn rows: their coordinates and labels.
fn draw(model: &Model, rows: u64) -> Vec<(Vec<f64>, u32)> {
    let draw = model.draw(rows, 4);
    let rows = |block| {
        let drawn = draw.block(block);
        drawn.units.chunks_exact(4).map(<[f64]>::to_vec).zip(drawn.strata).collect::<Vec<_>>()
    };
    (0..draw.blocks()).flat_map(rows).collect()
}

/// The largest error of a mean of `x` in a place and a label.
fn error(model: &Model) -> f64 {
    let rows = draw(model, 20_000);
    let of = |place: usize, label: u32| {
        let there = |row: &[f64]| [row[1] + row[2] == 0.0, row[1] == 1.0, row[2] == 1.0][place];
        let x: Vec<f64> = rows.iter().filter(|(row, l)| *l == label && there(row)).map(|(row, _)| row[0]).collect();
        (x.iter().sum::<f64>() / x.len() as f64 - middle(place, label)).abs()
    };
    [(1, 0), (1, 1), (2, 0), (2, 1)].map(|(place, label)| of(place, label)).into_iter().fold(0.0, f64::max)
}

/// The pass that looks for facets does not divide, and labels are counted as they are; the passes between do, and say so
/// on the wire.
#[test]
fn passes_behind_the_choice_are_divided() {
    let (passes, model) = passes(plan(500, 1000), &rows(ROWS), Kernel::seeded(3));
    let facets = Facets { asked: vec![1, 2] };
    assert!(passes.len() == 6 && passes[..2].iter().all(|pass| pass.facets.is_empty()));
    assert!(matches!((&passes[1].work, &passes[2].work), (Work::Moments(a), Work::Moments(b)) if a == b));
    assert!(passes[5].facets.is_empty() && passes[5].strata == 2);
    for pass in &passes[2..5] {
        assert_eq!((&pass.facets, pass.strata, pass.schema_strata()), (&facets, 6, 2));
        assert_eq!(Pass::from_json(&pass.to_json()).unwrap(), *pass);
    }
    assert_eq!(model.release().facets, facets);
    assert_eq!(model.receipt().facets, ["north", "south"]);
    let text = model.receipt().to_string();
    assert!(text.contains("divided by        `north`, `south`\n"), "{text}");
}

/// Lists that contradict are refused, and so are versions that would overlook the facets.
#[test]
fn passes_whose_facets_contradict_are_refused() {
    let work = Work::Products;
    let [plain, divided] = [Facets::default(), Facets { asked: vec![1] }].map(|f| Pass::new(1, 4, 2, f, work.clone()));
    assert!(!plain.to_json().contains("facets"));
    assert_eq!(Pass::from_json(&divided.to_json()).unwrap(), divided);
    let wrong = [
        Pass { version: 2, ..plain.clone() },
        Pass { version: 3, ..divided.clone() },
        Pass { version: 5, ..divided.clone() },
        Pass { strata: 3, ..divided.clone() },
        Pass { facets: Facets { asked: vec![4] }, ..divided.clone() },
        Pass { facets: Facets { asked: vec![1, 1] }, strata: 6, ..divided.clone() },
    ];
    for pass in wrong {
        assert!(Pass::from_json(&pass.to_json()).is_err(), "{pass:?}");
    }
}

/// However the rows are parted, the merged tallies of divided passes are the same integers.
#[test]
fn divided_tallies_merge() {
    let codes = rows(ROWS);
    let (passes, _) = passes(plan(500, 1000), &codes, Kernel::seeded(3));
    for pass in &passes {
        let mut merged = pass.empty();
        for part in [0..50_000, 50_000..50_001, 50_001..ROWS] {
            let mut some = Codes::with_capacity(4, part.len());
            part.for_each(|i| some.push(codes.row(i), codes.stratum(i)));
            merged.merge(pass.tally(&some)).unwrap();
        }
        assert!(merged == pass.tally(&codes), "pass {}", pass.number);
    }
}

/// Divided strata have means of their own; without facets, along one direction, a place and a label cannot contradict
/// each other.
#[test]
fn a_facet_has_its_own_shape() {
    let codes = rows(ROWS);
    let [with, without] =
        [500, 0].map(|facets| passes(Plan { dimension: Some(1), ..plan(facets, 0) }, &codes, Kernel::seeded(5)).1);
    assert!(without.release().facets.is_empty());
    assert!(error(&with) < 0.05, "{}", error(&with));
    assert!(error(&without) > 0.15, "the control: {}", error(&without));
}

/// Labels come as they were, columns of facets have their two values and exclude one another, and the model is the
/// same after a journey through its file.
#[test]
fn drawn_rows_are_of_their_facet() {
    let (_, model) = passes(plan(500, 1000), &rows(ROWS), Kernel::seeded(6));
    let text = model.to_json();
    assert!(text.starts_with("{\"sunprint_model\":6,"));
    let again = Model::from_json(text.as_bytes(), "m").unwrap();
    let rows = draw(&model, 5_000);
    assert_eq!(rows, draw(&again, 5_000));
    for (row, label) in &rows {
        assert!(*label < 2 && [row[1], row[2]].iter().all(|x| *x == 0.0 || *x == 1.0));
        assert!(row[1] + row[2] <= 1.0);
    }
    let part = |at: usize| rows.iter().filter(|(row, _)| row[at] == 1.0).count() as f64 / 5_000.0;
    // The noise of the counts, and of 5,000 drawn rows, is below 0.01 at one deviation.
    assert!((part(1) - 0.5).abs() < 0.05 && (part(2) - 0.4).abs() < 0.05, "{} {}", part(1), part(2));
    let labels = rows.iter().filter(|(_, label)| *label == 1).count() as f64 / 5_000.0;
    assert!((labels - 0.5).abs() < 0.05, "{labels}");
}

/// Whether rows are many is a matter of public numbers: rows, strata, ε, and columns of two values.
#[test]
fn only_many_rows_are_divided() {
    let share = |rows: u64, epsilon: f64| Shares::for_table(&Facts::of(&schema(), rows, epsilon)).facets;
    assert_eq!([share(55_000, 1.0), share(55_000, 10.0), share(111_000, 0.5)], [0, 0, 0]);
    assert!(share(57_000, 1.0) > 0 && share(113_000, 0.5) > 0);
    let mut numbers = schema();
    numbers.columns.retain(|column| !["north", "south"].contains(&column.name.as_str()));
    assert_eq!(Shares::for_table(&Facts::of(&numbers, 61_000, 1.0)).facets, 0);
    let mut unlabelled = schema();
    unlabelled.columns.pop();
    assert_eq!(Shares::for_table(&Facts::of(&unlabelled, 1_000_000, 1.0)).facets, 0);
    let codes = rows(ROWS);
    let model = fit(&codes, &schema(), Plan::default(), promise("1", None), Kernel::seeded(2)).unwrap();
    assert_eq!(model.receipt().facets, ["north", "south"]);
}
