//! What `evaluate` says, against computations of its own kind: by hand, by trying everything, by plain sums.

mod common;

use common::{random_rows, schema, table};
use sunprint::error::Kind;
use sunprint::evaluate::{Evaluation, Metric, Settings, evaluate};
use sunprint::schema::Schema;
use sunprint::source::{Silent, Table};
use sunprint::tally::codes::Q;

type Row = (Vec<u16>, u32);

/// A table in chunks of so many rows.
fn in_chunks(rows: &[Row], schema: &Schema, chunk: usize) -> Table {
    Table::of_codes(rows.chunks(chunk).map(|rows| table(schema.width(), rows)).collect(), schema).unwrap()
}

fn compare(schema: &Schema, real: &[Row], synthetic: &[Row], settings: &Settings) -> Evaluation {
    let tables = [real, synthetic].map(|rows| in_chunks(rows, schema, 7));
    evaluate(&tables[0], &tables[1], schema, settings, &Silent).unwrap()
}

fn all(metric: Metric) -> Settings {
    Settings { metric, rows: None, ..Settings::default() }
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-9, "{a} is not {b}");
}

fn units(row: &Row) -> Vec<f64> {
    row.0.iter().map(|&code| f64::from(code) / f64::from(Q)).collect()
}

fn distance(metric: Metric, a: &Row, b: &Row) -> f64 {
    let gaps = || units(a).into_iter().zip(units(b)).map(|(x, y)| (x - y).abs()).collect::<Vec<f64>>();
    match metric {
        Metric::Euclidean => gaps().iter().map(|x| x * x).sum::<f64>().sqrt(),
        Metric::Largest => gaps().iter().fold(0.0, |most: f64, &x| most.max(x)),
        Metric::Manhattan => gaps().iter().sum(),
    }
}

/// The least sum of distances over all one-to-one plans of the rows from `at` on.
fn by_trying(metric: Metric, a: &[Row], b: &[Row], at: usize, taken: &mut [bool]) -> f64 {
    if at == a.len() {
        return 0.0;
    }
    let mut best = f64::INFINITY;
    for j in 0..b.len() {
        if !std::mem::replace(&mut taken[j], true) {
            best = best.min(distance(metric, &a[at], &b[j]) + by_trying(metric, a, b, at + 1, taken));
            taken[j] = false;
        }
    }
    best
}

fn repeated(rows: &[Row], times: usize) -> Vec<Row> {
    rows.iter().flat_map(|row| std::iter::repeat_n(row.clone(), times)).collect()
}

/// Rows in the lower part of the cube, far from uniform noise.
fn low_rows(width: usize, strata: u32, count: usize, seed: u64) -> Vec<Row> {
    let lower = |(row, stratum): Row| (row.iter().map(|code| code / 4).collect(), stratum);
    random_rows(width, strata, count, seed).into_iter().map(lower).collect()
}

#[test]
fn a_table_is_at_no_distance_from_itself() {
    let (schema, rows) = (schema(4, 3), low_rows(4, 3, 60, 1));
    for metric in Metric::ALL {
        let found = compare(&schema, &rows, &rows, &all(metric));
        assert!(found.private);
        assert_eq!((found.real_rows, found.synthetic_rows, found.features), (60, 60, 4));
        near(found.distances.synthetic.w1, 0.0);
        assert!(found.columns.iter().all(|column| column.w1 == 0.0 && column.mean.unwrap().error == 0.0));
        assert_eq!((found.means.root_mean_square, found.deviations.worst.error), (0.0, 0.0));
        assert_eq!((found.correlations.largest, found.correlations.root_mean_square), (0.0, 0.0));
        assert_eq!((found.labels[0].variation, found.strata_variation), (0.0, 0.0));
        let floor = found.distances.floor.unwrap();
        assert!(floor.w1 > 0.0 && floor.w1 < found.distances.ceiling.w1);
        assert_eq!((floor.rows, found.distances.beyond), ([30, 30], Some(0.0)));
    }
}

#[test]
fn a_shift_costs_its_length() {
    let (schema, shift) = (schema(3, 1), 6_000_u16);
    let rows = low_rows(3, 1, 40, 2);
    let mut moved: Vec<Row> = rows.iter().map(|(row, s)| (row.iter().map(|x| x + shift).collect(), *s)).collect();
    moved.rotate_left(11);
    let length = f64::from(shift) / f64::from(Q);
    for (metric, factor) in Metric::ALL.into_iter().zip([3.0_f64.sqrt(), 1.0, 3.0]) {
        let found = compare(&schema, &rows, &moved, &all(metric));
        near(found.distances.synthetic.w1, factor * length);
        for column in &found.columns {
            near(column.w1, length);
            near(column.mean.unwrap().error, length);
            near(column.deviation.unwrap().error, 0.0);
        }
        near(found.means.root_mean_square, length);
        near(found.means.worst.error, length);
        near(found.correlations.largest, 0.0);
    }
}

#[test]
fn rows_of_unequal_number_agree_with_trying_everything() {
    let schema = schema(3, 1);
    for (seed, (m, n)) in [(1, 1), (1, 3), (2, 3), (3, 2), (6, 2), (3, 6), (5, 5)].into_iter().enumerate() {
        let (real, synthetic) = (random_rows(3, 1, m, seed as u64), random_rows(3, 1, n, 100 + seed as u64));
        // Some whole number of copies of each row makes the sides equal, which changes no distance.
        let least = (1..).find(|size| size % m == 0 && size % n == 0).unwrap();
        for metric in Metric::ALL {
            let (a, b) = (repeated(&real, least / m), repeated(&synthetic, least / n));
            let tried = by_trying(metric, &a, &b, 0, &mut vec![false; least]) / least as f64;
            let found = compare(&schema, &real, &synthetic, &all(metric)).distances.synthetic;
            assert_eq!((found.rows, found.interval, found.draws.len()), ([m, n], None, 1));
            near(found.w1, tried);
            assert!(found.draws[0].gap < 1e-9 && found.draws[0].lower <= found.w1);
        }
    }
}

#[test]
fn columns_agree_with_sorting() {
    let schema = schema(10, 1);
    for (m, n) in [(1, 1), (30, 20), (20, 30), (17, 17)] {
        let (real, synthetic) = (random_rows(10, 1, m, 5), random_rows(10, 1, n, 6));
        let found = compare(&schema, &real, &synthetic, &all(Metric::Largest));
        assert!(found.columns.is_sorted_by(|a, b| a.w1 >= b.w1));
        for j in 0..10 {
            let sorted = |rows: &[Row], times| {
                let mut column: Vec<u16> = repeated(rows, times).iter().map(|(row, _)| row[j]).collect();
                column.sort_unstable();
                column
            };
            let pairs = sorted(&real, n).into_iter().zip(sorted(&synthetic, m));
            let total: f64 = pairs.map(|(x, y)| f64::from(x.abs_diff(y))).sum();
            let column = found.columns.iter().find(|column| column.name == format!("x{j}")).unwrap();
            near(column.w1, total / (m * n) as f64 / f64::from(Q));
        }
    }
}

/// Mean, deviation and correlations by plain sums of floats.
fn plain(rows: &[Row], i: usize, j: usize) -> (f64, f64, f64) {
    let count = rows.len() as f64;
    let mean = |j: usize| rows.iter().map(|row| units(row)[j]).sum::<f64>() / count;
    let (x0, y0) = (mean(i), mean(j));
    let product = |a: usize, a0: f64, b: usize, b0: f64| {
        rows.iter().map(|row| (units(row)[a] - a0) * (units(row)[b] - b0)).sum::<f64>() / count
    };
    let (xx, yy, xy) = (product(i, x0, i, x0), product(j, y0, j, y0), product(i, x0, j, y0));
    (x0, xx.sqrt(), xy / (xx * yy).sqrt())
}

#[test]
fn means_deviations_and_correlations_are_those_of_plain_sums() {
    let schema = schema(5, 2);
    let (real, synthetic) = (random_rows(5, 2, 90, 7), random_rows(5, 2, 50, 8));
    let found = compare(&schema, &real, &synthetic, &all(Metric::Largest));
    let (mut mean_square, mut deviation_square) = (0.0, 0.0);
    for j in 0..5 {
        let column = found.columns.iter().find(|column| column.name == format!("x{j}")).unwrap();
        let ((a, da, _), (b, db, _)) = (plain(&real, j, j), plain(&synthetic, j, j));
        near(column.mean.unwrap().real, a);
        near(column.mean.unwrap().synthetic, b);
        near(column.mean.unwrap().error, b - a);
        near(column.deviation.unwrap().real, da);
        near(column.deviation.unwrap().error, db - da);
        mean_square += (b - a) * (b - a) / 5.0;
        deviation_square += (db - da) * (db - da) / 5.0;
    }
    near(found.means.root_mean_square, mean_square.sqrt());
    near(found.deviations.root_mean_square, deviation_square.sqrt());
    let worst = found.columns.iter().map(|column| column.mean.unwrap().error.abs()).fold(0.0, f64::max);
    near(found.means.worst.error.abs(), worst);

    let errors = &found.correlations;
    assert_eq!((errors.pairs, errors.worst.len()), (10, 10));
    let mut square = 0.0;
    for pair in &errors.worst {
        let [i, j] = pair.columns.each_ref().map(|name| name[1..].parse::<usize>().unwrap());
        near(pair.real, plain(&real, i, j).2);
        near(pair.synthetic, plain(&synthetic, i, j).2);
        near(pair.error, pair.synthetic - pair.real);
        square += pair.error * pair.error / 10.0;
    }
    near(errors.root_mean_square, square.sqrt());
    near(errors.largest, errors.worst[0].error.abs());
    assert!(errors.worst.is_sorted_by(|a, b| a.error.abs() >= b.error.abs()));
}

#[test]
fn own_units_are_those_of_the_schema() {
    let toml = "[[column]]\nname = \"age\"\nkind = \"integer\"\nmin = 20\nmax = 120\n\
                [[column]]\nname = \"wide\"\nkind = \"continuous\"\nmin = -5e299\nmax = 4e299\n\
                [[column]]\nname = \"ill\"\nkind = \"boolean\"\n";
    let schema = Schema::parse(toml, "units.toml").unwrap();
    let (real, synthetic) = ([(vec![0, 0, 0], 0), (vec![Q, Q, Q], 0)], [(vec![0, Q, 0], 0)]);
    let found = compare(&schema, &real, &synthetic, &all(Metric::Largest));
    let column = |name: &str| found.columns.iter().find(|column| column.name == name).unwrap();
    let age = column("age");
    assert_eq!((age.w1, age.w1_own, age.mean.unwrap().real, age.mean.unwrap().synthetic), (0.5, 50.0, 70.0, 20.0));
    assert_eq!((age.deviation.unwrap().real, age.deviation.unwrap().synthetic), (50.0, 0.0));
    assert_eq!((age.constant_real, age.constant_synthetic), (false, true));
    assert!((column("wide").w1_own / 4.5e299 - 1.0).abs() < 1e-12);
    assert_eq!((column("ill").mean.unwrap().real, column("ill").w1_own), (0.5, 0.5));
}

#[test]
fn columns_that_do_not_vary_have_correlation_zero() {
    let schema = schema(3, 1);
    let real: Vec<Row> = (0..50).map(|i| (vec![1_000 * i, 60_000 - 1_000 * i, 7], 0)).collect();
    let flat: Vec<Row> = (0..50).map(|i| (vec![1_000 * i, 30_000, 7], 0)).collect();
    let errors = compare(&schema, &real, &flat, &all(Metric::Largest)).correlations;
    assert_eq!((errors.constant_real, errors.constant_synthetic), (1, 2));
    near(errors.largest, 1.0);
    near(errors.worst[0].real, -1.0);
    assert_eq!((errors.worst[0].synthetic, errors.worst[1].error, errors.worst[2].error), (0.0, 0.0, 0.0));
    let same: Vec<Row> = vec![(vec![5, 5, 5], 0); 9];
    let found = compare(&schema, &same, &same, &all(Metric::Euclidean));
    assert_eq!((found.distances.synthetic.w1, found.correlations.largest), (0.0, 0.0));
    near(found.distances.floor.unwrap().w1, 0.0);
}

#[test]
fn one_row_and_one_column_are_enough() {
    let schema = schema(1, 1);
    let found = compare(&schema, &[(vec![0], 0)], &[(vec![Q / 5], 0)], &Settings::default());
    near(found.distances.synthetic.w1, 0.2);
    assert_eq!((found.distances.floor, found.distances.beyond), (None, None));
    assert_eq!((found.correlations.pairs, found.correlations.largest), (0, 0.0));
    assert_eq!(found.deviations.worst.error, 0.0);
    // Uniform noise is between 0 and 1 away from a row at the lower bound.
    assert!((0.0..1.0).contains(&found.distances.ceiling.w1));
    let two = compare(&schema, &[(vec![0], 0), (vec![Q], 0)], &[(vec![0], 0)], &all(Metric::Euclidean));
    near(two.distances.floor.unwrap().w1, 1.0);
    near(two.distances.synthetic.w1, 0.5);
}

#[test]
fn draws_give_a_mean_and_an_interval() {
    let (schema, real, synthetic) = (schema(3, 1), random_rows(3, 1, 200, 9), random_rows(3, 1, 150, 10));
    let settings = Settings { rows: Some(40), ..Settings::default() };
    let found = compare(&schema, &real, &synthetic, &settings).distances;
    for distance in [&found.synthetic, found.floor.as_ref().unwrap(), &found.ceiling] {
        let draws: Vec<f64> = distance.draws.iter().map(|draw| draw.w1).collect();
        assert_eq!((distance.rows, draws.len()), ([40, 40], 5));
        assert_ne!(draws[0], draws[1], "other rows are drawn each time");
        let mean = draws.iter().sum::<f64>() / 5.0;
        let variance = draws.iter().map(|draw| (draw - mean) * (draw - mean)).sum::<f64>() / 4.0;
        let half = 2.776_445_105 * (variance / 5.0).sqrt();
        let [low, high] = distance.interval.unwrap();
        near(distance.w1, mean);
        near(low, mean - half);
        near(high, mean + half);
    }
    assert_eq!(compare(&schema, &real, &synthetic, &settings).distances, found, "a seed draws the same again");
    let other = Settings { seed: 2, ..settings.clone() };
    assert_ne!(compare(&schema, &real, &synthetic, &other).distances.synthetic.w1, found.synthetic.w1);
    let single = Settings { draws: 1, ..settings };
    let single = compare(&schema, &real, &synthetic, &single).distances;
    assert_eq!((single.synthetic.interval, single.synthetic.draws[0]), (None, found.synthetic.draws[0]));
}

#[test]
fn more_rows_than_there_are_means_all_of_them() {
    let (schema, real, synthetic) = (schema(2, 1), random_rows(2, 1, 30, 11), random_rows(2, 1, 10, 12));
    let settings = Settings { rows: Some(1_000), ..Settings::default() };
    let found = compare(&schema, &real, &synthetic, &settings).distances;
    let whole = compare(&schema, &real, &synthetic, &all(Metric::Euclidean)).distances;
    assert_eq!((found.synthetic.rows, found.synthetic.interval), ([30, 10], None), "nothing is left to chance");
    assert_eq!(found.synthetic, whole.synthetic);
    // The real table cannot give 30 + 10 rows, so it is divided in the same proportion.
    assert_eq!(found.floor.as_ref().unwrap().rows, [22, 8]);
    assert_eq!((found.floor.unwrap().draws.len(), whole.floor.unwrap().draws.len()), (5, 1));
    let some = Settings { rows: Some(20), ..Settings::default() };
    let some = compare(&schema, &real, &synthetic, &some).distances;
    assert_eq!((some.synthetic.rows, some.floor.unwrap().rows), ([20, 10], [20, 10]));
}

#[test]
fn labels_on_the_wrong_rows_are_seen() {
    let schema = schema(2, 2);
    let row = |high: bool, label: u32| (vec![if high { Q } else { 0 }, Q / 2], label);
    let real: Vec<Row> = (0..20).map(|i| row(i % 2 == 0, i % 2)).collect();
    let turned: Vec<Row> = (0..20).map(|i| row(i % 2 == 0, 1 - i % 2)).collect();
    let found = compare(&schema, &real, &turned, &all(Metric::Euclidean));
    near(found.distances.synthetic.w1, 0.0);
    assert_eq!((found.labels[0].name.as_str(), found.labels[0].variation), ("label", 0.0));
    for category in &found.labels[0].categories {
        assert_eq!((category.real, category.synthetic), (0.5, 0.5));
        near(category.mean_error.unwrap(), 0.5_f64.sqrt());
    }
    let lone: Vec<Row> = (0..20).map(|_| row(true, 0)).collect();
    let label = &compare(&schema, &real, &lone, &all(Metric::Euclidean)).labels[0];
    near(label.variation, 0.5);
    let other = label.categories.iter().find(|category| category.value == "c1").unwrap();
    assert_eq!((other.real, other.synthetic, other.mean_error), (0.5, 0.0, None));
}

#[test]
fn several_labels_are_compared_one_by_one_and_together() {
    let toml = "[[column]]\nname = \"x\"\nkind = \"continuous\"\nmin = 0\nmax = 1\n\
                [[column]]\nname = \"a\"\nkind = \"categorical\"\nvalues = [\"p\", \"q\"]\nrole = \"label\"\n\
                [[column]]\nname = \"b\"\nkind = \"boolean\"\nrole = \"stratum\"\n";
    let schema = Schema::parse(toml, "labels.toml").unwrap();
    let rows = |strata: [u32; 4]| strata.map(|stratum| (vec![0], stratum));
    // Each label by itself has the right shares, but they go together in another way.
    let found = compare(&schema, &rows([0, 0, 3, 3]), &rows([1, 1, 2, 2]), &all(Metric::Euclidean));
    let variations: Vec<(&str, f64)> =
        found.labels.iter().map(|label| (label.name.as_str(), label.variation)).collect();
    assert_eq!((variations, found.strata_variation), (vec![("a", 0.0), ("b", 0.0)], 1.0));
}

#[test]
fn nothing_depends_on_how_a_table_is_cut() {
    let schema = schema(9, 2);
    let (real, synthetic) = (random_rows(9, 2, 120, 13), random_rows(9, 2, 70, 14));
    let settings = Settings { rows: Some(30), draws: 3, ..Settings::default() };
    let cut = |chunk: usize| {
        let tables = [&real, &synthetic].map(|rows| in_chunks(rows, &schema, chunk));
        evaluate(&tables[0], &tables[1], &schema, &settings, &Silent).unwrap()
    };
    let whole = cut(1_000);
    assert!([1, 2, 13, 64].into_iter().all(|chunk| cut(chunk) == whole));
}

#[test]
fn the_report_is_marked_as_private_and_holds_numbers_only() {
    let found = compare(&schema(2, 2), &[(vec![0, 1], 0)], &[(vec![5, 5], 1)], &Settings::default());
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(json["private"], true);
    assert_eq!(json["distances"]["metric"], "l2");
    for number in ["w1", "lower", "gap"] {
        assert!(json["distances"]["synthetic"]["draws"][0][number].is_number(), "{number}");
    }
    assert!(json["distances"]["floor"].is_null(), "one row has no two parts");
    let text = serde_json::to_string(&json).unwrap();
    // The floor, what lies beyond it, three intervals less the floor's, two categories without rows on one side, with
    // three numbers each; two columns that have no categories and may not be missing; and no classifier of two rows.
    let verdict = serde_json::to_string(&json["verdict"]).unwrap();
    assert_eq!(text.matches("null").count() - verdict.matches("null").count(), 14, "{text}");
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let rows = random_rows(2, 2, 5, 15);
    let (small, large) = (schema(2, 1), schema(2, 2));
    let table = |schema: &Schema| in_chunks(&rows, schema, 3);
    for (settings, word) in [
        (Settings { rows: Some(0), ..Settings::default() }, "`rows`"),
        (Settings { draws: 0, ..Settings::default() }, "`draws`"),
    ] {
        let error = evaluate(&table(&large), &table(&large), &large, &settings, &Silent).unwrap_err();
        assert!(error.kind() == Kind::Usage && error.to_string().contains(word) && error.advice().is_some());
    }
    for schema in [&small, &schema(3, 2)] {
        let error = evaluate(&table(&large), &table(&large), schema, &Settings::default(), &Silent).unwrap_err();
        assert!(error.kind() == Kind::Data && error.to_string().contains("the real table"), "{error}");
    }
    let chunks = |rows: &[Row]| vec![common::table(2, rows)];
    for refused in [Table::of_codes(chunks(&rows), &small), Table::of_codes(chunks(&[]), &large)] {
        assert_eq!(refused.err().map(|error| error.kind()), Some(Kind::Data));
    }
}
