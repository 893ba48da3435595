//! What `evaluate` calls good, usable and poor, what it says first, and that it does not flatter.

mod common;

use common::{fit, plan, promise, schema, table};
use sunprint::evaluate::{Evaluation, Grade, Judgement, Settings, evaluate};
use sunprint::math::stream::Stream;
use sunprint::plan::Method;
use sunprint::privacy::Kernel;
use sunprint::report::{Tables, compare, html, provenance};
use sunprint::schema::Schema;
use sunprint::source::{Batches, Input, Silent, Table, check};
use sunprint::tally::codes::{Codes, Q};

type Row = (Vec<u16>, u32);

const ROWS: usize = 6_000;

fn code(unit: f64) -> u16 {
    (unit.clamp(0.0, 1.0) * f64::from(Q)).round() as u16
}

/// Six columns of deviation 0.1 that share a factor, and a label that the factor decides, with a rare category. Without
/// the relation every column and the label are as before, and have nothing to do with each other.
fn rows(count: usize, seed: u64, related: bool) -> Vec<Row> {
    let mut random = Stream::new(seed, 40, 0);
    let one = |_| {
        let factor = random.normal();
        let of = |random: &mut Stream| if related { factor } else { random.normal() };
        let mut units: Vec<u16> = Vec::new();
        for _ in 0..6 {
            let shared = of(&mut random);
            units.push(code(0.5 + 0.1 * (0.8_f64.sqrt() * shared + 0.2_f64.sqrt() * random.normal())));
        }
        (units, u32::from(of(&mut random) + 0.5 * random.normal() > 1.5))
    };
    (0..count).map(one).collect()
}

fn codes(schema: &Schema, rows: &[Row]) -> Table {
    Table::of_codes(vec![table(schema.width(), rows)], schema).unwrap()
}

fn settings() -> Settings {
    Settings { rows: Some(300), ..Settings::default() }
}

fn compared(schema: &Schema, real: &[Row], synthetic: &[Row]) -> Evaluation {
    evaluate(&codes(schema, real), &codes(schema, synthetic), schema, &settings(), &Silent).unwrap()
}

fn grades(found: &Evaluation) -> [Option<Grade>; 5] {
    found.verdict.all().map(|(_, one)| one.grade)
}

fn value(judgement: &Judgement, what: &str) -> f64 {
    judgement.figures.iter().find(|figure| figure.what == what).unwrap_or_else(|| panic!("{what}: {judgement:?}")).value
}

const GOOD: Option<Grade> = Some(Grade::Good);
const POOR: Option<Grade> = Some(Grade::Poor);

#[test]
fn other_rows_of_the_same_law_are_good() {
    let schema = schema(6, 2);
    let found = compared(&schema, &rows(ROWS, 1, true), &rows(ROWS, 2, true));
    assert_eq!(grades(&found), [GOOD; 5], "{:#?}", found.verdict);
    assert!(found.notices.is_empty());
    // 3,000 rows a side are asked about twice: 0.5 ± 0.05 but once in a million times (Hoeffding, 2 · 2 exp(−2 m t²)).
    let telling = found.telling.as_ref().unwrap();
    assert_eq!(telling.rows, ROWS);
    assert!((telling.auc - 0.5).abs() < 0.05, "{telling:?}");
    assert!(
        found.verdict.sentence().starts_with("Good: single columns, pairs of columns, whole rows, groups and learning")
    );
}

/// What was called "97 % of the way" before: every column right, and no relation between any two.
#[test]
fn a_cloud_without_any_correlation_is_poor() {
    let schema = schema(6, 2);
    let found = compared(&schema, &rows(ROWS, 1, true), &rows(ROWS, 2, false));
    assert_eq!(grades(&found), [GOOD, POOR, POOR, POOR, POOR], "{:#?}", found.verdict);
    // Whoever has no correlation loses all of them, and one is 0.8.
    let lost = value(&found.verdict.pairs, "correlations lost");
    assert!((lost - 1.0).abs() < 0.05 && (found.correlations.strength - 0.8).abs() < 0.05, "{lost}");
    assert!(found.telling.unwrap().auc > 0.9);
    let lost = value(&found.verdict.groups, "means within lost");
    assert!((lost - 1.0).abs() < 0.1, "{lost}");
    let learning = &found.learning[0];
    assert!(learning.auc_real.unwrap() > 0.9 && learning.auc_synthetic.unwrap() < 0.9, "{learning:?}");
    // The rarest class first; whoever learnt from labels without a relation never finds it.
    assert!(learning.by_class[0].rows < learning.by_class[1].rows && learning.by_class[0].class == "c1");
    assert!(learning.by_class[0].real.unwrap() > 0.3 && learning.by_class[0].synthetic.unwrap() < 0.1);
}

/// Sparse relations count as much as dense ones: two of forty columns are related.
#[test]
fn one_related_pair_among_many_is_not_drowned() {
    let schema = schema(40, 1);
    let sparse = |seed: u64, related: bool| -> Vec<Row> {
        let mut random = Stream::new(seed, 41, 0);
        let one = |_| {
            let mut units: Vec<u16> = (0..40).map(|_| code(0.5 + 0.1 * random.normal())).collect();
            if related {
                units[30] = units[3];
            }
            (units, 0)
        };
        (0..20_000).map(one).collect()
    };
    let found = compared(&schema, &sparse(1, true), &sparse(2, false));
    assert_eq!(found.verdict.pairs.grade, POOR, "{:?}", found.verdict.pairs);
    assert_eq!(
        compared(&schema, &sparse(1, true), &sparse(2, true)).verdict.pairs.grade.map(|grade| grade < Grade::Poor),
        Some(true)
    );
}

#[test]
fn labels_on_other_rows_are_poor() {
    let schema = schema(6, 2);
    let real = rows(ROWS, 1, true);
    let mut shuffled = rows(ROWS, 2, true);
    let labels: Vec<u32> = shuffled.iter().map(|(_, label)| *label).collect();
    shuffled.iter_mut().zip(labels.into_iter().cycle().skip(17)).for_each(|(row, label)| row.1 = label);
    let found = compared(&schema, &real, &shuffled);
    assert_eq!(grades(&found)[..2], [GOOD, GOOD]);
    assert_eq!(grades(&found)[3..], [POOR, POOR], "{:#?}", found.verdict);
}

/// A mean that is half a deviation off is poor, however wide the bounds are.
#[test]
fn a_column_in_the_wrong_place_is_poor() {
    let schema = schema(2, 1);
    let narrow = |seed: u64, centre: f64| -> Vec<Row> {
        let mut random = Stream::new(seed, 42, 0);
        (0..ROWS).map(|_| (vec![code(0.1 + 0.001 * random.normal() + centre), code(random.unit())], 0)).collect()
    };
    let found = compared(&schema, &narrow(1, 0.0), &narrow(2, 0.000_7));
    assert!(found.columns.iter().all(|column| column.w1 < 0.02), "in units of the width it is nothing");
    assert_eq!(found.verdict.columns.grade, POOR, "{:?}", found.verdict.columns);
    assert!((value(&found.verdict.columns, "worst column") - 0.7).abs() < 0.05);
}

/// Before, few rows compared made everything look near: both distances are large then, and their difference small.
#[test]
fn the_number_of_rows_compared_does_not_flatter() {
    let schema = schema(6, 2);
    let (real, synthetic) = (codes(&schema, &rows(ROWS, 1, true)), codes(&schema, &rows(ROWS, 2, false)));
    let beyond = |rows: usize| {
        let settings = Settings { rows: Some(rows), draws: 5, ..Settings::default() };
        evaluate(&real, &synthetic, &schema, &settings, &Silent).unwrap().distances
    };
    let (few, many) = (beyond(60), beyond(1_000));
    let less = |found: &sunprint::evaluate::Distances| found.synthetic.w1 - found.floor.as_ref().unwrap().w1;
    assert!(less(&few) < 0.9 * less(&many), "the plain difference shrinks: {few:?} {many:?}");
    let (few, many) = (few.beyond.unwrap() / few.spread, many.beyond.unwrap() / many.spread);
    assert!(few > 0.5 && many > 0.5 && (few / many - 1.0).abs() < 0.1, "{few} {many}");
}

/// Nothing is called good of a few rows, and nothing is called poor for being few.
#[test]
fn few_rows_are_neither_flattered_nor_blamed() {
    let schema = schema(6, 2);
    let found = compared(&schema, &rows(20, 1, true), &rows(20, 2, true));
    for (what, one) in found.verdict.all() {
        assert_ne!(one.grade, POOR, "{what}: {one:?}");
        // Correlations of 0.8 are known well enough from twenty rows to say that none of them was lost.
        assert!(what == "pairs of columns" || one.grade != GOOD && one.why.is_some(), "{what}: {one:?}");
    }
}

const BAD_FILE: &str = "[[column]]\nname = \"weight\"\nkind = \"continuous\"\nmin = 0\nmax = 200\n\
                        [[column]]\nname = \"town\"\nkind = \"categorical\"\nvalues = [\"Ulm\", \"Köln\", \"unknown\"]\nother = \"unknown\"\n\
                        [[column]]\nname = \"age\"\nkind = \"integer\"\nmin = 0\nmax = 50\n\
                        [[column]]\nname = \"height\"\nkind = \"integer\"\nmin = 0\nmax = 250\n";

/// Decimal commas, a typo in a category, bounds that cut, and gaps where none may be.
fn bad_rows(count: usize) -> String {
    let mut text = "weight;town;age;height\n".replace(';', "\t");
    for i in 0..count {
        let weight = if i % 2 == 0 { format!("{},5", 60 + i % 30) } else { format!("{}.5", 60 + i % 30) };
        let height = if i % 50 == 0 { String::new() } else { (150 + i % 40).to_string() };
        text += &format!("{weight}\t{}\t{}\t{height}\n", ["Ulm", "Koeln", "Köln"][i % 3], 30 + i % 30);
    }
    text
}

#[test]
fn what_the_schema_changed_is_counted_and_said_first() {
    let schema = Schema::parse(BAD_FILE, "s").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("real.tsv");
    std::fs::write(&path, bad_rows(3_000)).unwrap();
    let input = Input::new(&path, None);
    let real = Table::open_checked(&input, &schema, &Silent).unwrap();
    assert_eq!(real.check(), Some(&check(&input, &schema, &Silent).unwrap()), "as `check` counts");
    assert!(Table::open(&input, &schema, &Silent).unwrap().check().is_none(), "a fit counts nothing");
    // The same rows as "synthetic": by the codes alone they are perfect.
    let pair = Tables { real: &real, synthetic: &real, schema: &schema, model: None };
    let (compared, page) = compare(&pair, &settings(), &Silent).unwrap();
    let found = compared.evaluation;
    let of = |name: &str| found.changed.iter().find(|column| column.name == name).unwrap().real.unwrap();
    assert_eq!((of("weight").unreadable, of("weight").share), (1_500, 0.5));
    assert_eq!((of("town").unlisted, of("town").changed), (1_000, 1_000));
    assert_eq!((of("age").clamped, of("height").missing), (900, 60));
    assert!(grades(&found).iter().all(|grade| *grade != GOOD), "{:#?}", found.verdict);
    assert_eq!(found.verdict.columns.grade, POOR);
    let first = &found.notices[0];
    assert!(first.starts_with("The schema changed 50.0 % of the real cells of weight (1500 unreadable)"), "{first}");
    assert!(found.notices[1].contains("3460 cells"), "the synthetic table has such cells too: {:?}", found.notices);
    assert_eq!(page.headline.notices, found.notices);
    let html = html(&page).unwrap();
    let place = |text: &str| html.find(text).unwrap_or_else(|| panic!("{text}"));
    assert!(
        place("<ul class=\"notices\">") < place("id=\"verdict\"")
            && place("id=\"verdict\"") < place("<section class=\"panel\"")
    );
    assert_eq!(page.changed.unwrap().columns[0].name, "weight", "most first");
}

/// One per cent is not worth the first line.
#[test]
fn a_few_changed_cells_are_only_counted() {
    let schema = Schema::parse("[[column]]\nname = \"x\"\nkind = \"integer\"\nmin = 0\nmax = 99\n", "s").unwrap();
    let table = |above: usize| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.csv");
        let cells = (0..2_000).map(|i| if i < above { 100 } else { i % 100 });
        let text: Vec<String> = std::iter::once("x".to_owned()).chain(cells.map(|x| x.to_string())).collect();
        std::fs::write(&path, text.join("\n") + "\n").unwrap();
        Table::open_checked(&Input::new(&path, None), &schema, &Silent).unwrap()
    };
    let notices = |real: usize, synthetic: usize| {
        evaluate(&table(real), &table(synthetic), &schema, &settings(), &Silent).unwrap()
    };
    let found = notices(20, 0);
    assert_eq!((found.changed[0].real.unwrap().clamped, found.notices.len()), (20, 0));
    assert!(notices(21, 0).notices[0].starts_with("The schema changed 1.1 %"));
    // Rows of a model have no such cells: if the real table has none and the synthetic one has, they may be swapped.
    assert!(notices(0, 7).notices[0].contains("7 cells") && notices(0, 7).notices[0].contains("swapped"));
    assert!(!notices(1, 7).notices[0].contains("swapped"));
}

/// Counts do not depend on the form in which a table comes.
#[test]
fn batches_are_counted_too() {
    use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
    use std::sync::Arc;
    let text = "[[column]]\nname = \"x\"\nkind = \"continuous\"\nmin = 0\nmax = 1\n\
                [[column]]\nname = \"y\"\nkind = \"categorical\"\nvalues = [\"a\", \"b\"]\nother = \"b\"\n";
    let schema = Schema::parse(text, "s").unwrap();
    let x: ArrayRef = Arc::new(Float64Array::from(vec![Some(0.5), Some(2.0), Some(-1.0), None]));
    let y: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "c", "c"]));
    let batch = RecordBatch::try_from_iter([("x", x), ("y", y)]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let [parquet, arrow] = ["t.parquet", "t.arrow"].map(|name| folder.path().join(name));
    let create = |path| std::fs::File::create(path).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(create(&parquet), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(create(&arrow), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let fields = batch.schema().fields().clone();
    let batches = Batches::new(&fields, &schema, "t", false, std::iter::once(Ok(batch))).unwrap();
    let mut tables = vec![Table::of_batches_checked(batches, &schema, &Silent).unwrap()];
    tables.extend([parquet, arrow].map(|path| Table::open_checked(&Input::new(path, None), &schema, &Silent).unwrap()));
    for table in tables {
        let check = table.check().unwrap();
        assert_eq!((check.rows, check.columns[0].changed(), check.columns[1].changed()), (4, 3, 2));
        assert_eq!((check.columns[0].below, check.columns[0].above, check.columns[0].empty), (1, 1, 1));
        assert_eq!(check.columns[1].unlisted, 2);
    }
}

/// A model that did not make the rows, and swapped tables, are noticed; rows that it made are not accused.
#[test]
fn a_model_knows_its_rows() {
    let schema = schema(3, 2);
    let law = |seed: u64, centre: f64| -> Vec<Row> {
        let mut random = Stream::new(seed, 43, 0);
        let one = |_| {
            let units = (0..3).map(|j| code(centre + 0.1 * f64::from(j) + 0.05 * random.normal())).collect();
            (units, random.below(2) as u32)
        };
        (0..4_000).map(one).collect()
    };
    let real = law(1, 0.3);
    let kernel = Kernel::seeded(7);
    let model = fit(&table(3, &real), &schema, plan(Method::Gaussian), promise("1", None), kernel).unwrap();
    let (units, strata) = common::drawn(&model, 3_000, 5);
    let mut drawn = Codes::with_capacity(3, 3_000);
    for (row, &stratum) in units.chunks(3).zip(&strata) {
        drawn.push(&row.iter().map(|&unit| code(unit)).collect::<Vec<u16>>(), stratum);
    }
    let made = Table::of_codes(vec![drawn], &schema).unwrap();
    let (real, other) = (codes(&schema, &law(1, 0.3)), codes(&schema, &law(2, 0.6)));
    assert_eq!(provenance(&model, &real, &made, &Silent).unwrap(), None);
    let swapped = provenance(&model, &made, &other, &Silent).unwrap().unwrap();
    assert!(swapped.starts_with("The model did not make the synthetic table as it is: x0 and 2 other"), "{swapped}");
    assert!(swapped.contains("perhaps the tables are swapped"), "{swapped}");
    let foreign = provenance(&model, &other, &other, &Silent).unwrap().unwrap();
    assert!(
        foreign.starts_with("The model did not make the synthetic table") && !foreign.contains("swapped"),
        "{foreign}"
    );
    // On the page they stand first.
    let pair = Tables { real: &made, synthetic: &other, schema: &schema, model: Some(&model) };
    let (_, page) = compare(&pair, &settings(), &Silent).unwrap();
    assert_eq!(page.headline.notices, [swapped]);
}
