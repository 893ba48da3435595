//! The curator's page: what stands on it, and that odd tables are no trouble.

mod common;

use common::{random_rows, schema, table};
use sunprint::evaluate::Settings;
use sunprint::report::page::{Origin, Page};
use sunprint::report::{Tables, compare, html, to_json};
use sunprint::schema::Schema;
use sunprint::source::{CheckReport, ColumnReport, Silent, Table};
use sunprint::tally::codes::{Codes, Q};

type Row = (Vec<u16>, u32);

fn settings() -> Settings {
    Settings { rows: Some(200), draws: 2, ..Settings::default() }
}

fn page_of(schema: &Schema, real: &[Row], synthetic: &[Row]) -> Page {
    let tables = [real, synthetic].map(|rows| Table::of_codes(vec![table(schema.width(), rows)], schema).unwrap());
    let pair = Tables { real: &tables[0], synthetic: &tables[1], schema, model: None };
    let (compared, page) = compare(&pair, &settings(), &Silent).unwrap();
    assert_eq!(page.columns.as_ref().unwrap().columns.len(), compared.evaluation.columns.len());
    // Every page can be drawn and written, and JSON holds no number that is none.
    assert!(html(&page).unwrap().starts_with("<!doctype html>"));
    let json = to_json(&page).unwrap();
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&value["origin"], &value["format"]), (&"curator".into(), &2.into()));
    page
}

fn clustered(count: usize, seed: u64) -> Vec<Row> {
    let low = |(row, stratum): Row| (row.iter().map(|x| x / 8 + 20_000 * (1 + stratum as u16 % 2)).collect(), stratum);
    random_rows(4, 2, count, seed).into_iter().map(low).collect()
}

fn why(page: &Page, panel: &str) -> Vec<String> {
    page.absent.iter().filter(|absent| absent.panel == panel).map(|absent| absent.why.clone()).collect()
}

#[test]
fn every_panel_is_there_or_said_to_be_missing() {
    let schema = schema(4, 2);
    let page = page_of(&schema, &clustered(600, 1), &clustered(500, 2));
    assert_eq!(page.origin, Origin::Curator);
    let value = serde_json::to_value(&page).unwrap();
    let silent = ["format", "origin", "dataset", "version", "headline", "absent"];
    for (name, panel) in value.as_object().unwrap() {
        if !silent.contains(&name.as_str()) {
            assert_eq!(panel.is_null(), !why(&page, name).is_empty(), "{name}");
            assert!(panel.is_null() || panel["origin"] == "curator", "{name}: it comes from private rows");
        }
    }
    // Labels sit with their rows in both tables: what is learnt from either tells nearly all.
    let learning = &page.learning.as_ref().unwrap().labels[0];
    assert_eq!((learning.training, learning.testing, learning.classes.len()), (420, 180, 2));
    assert!(learning.real > 0.99 && learning.synthetic > 0.99 && learning.commonest < 0.65, "{learning:?}");
    assert_eq!(learning.by_class.iter().map(|class| class.rows).sum::<usize>(), 180);
    assert!(learning.weights.iter().all(|weight| weight.class == "c1"), "of two classes the second");
    let strata = page.strata.as_ref().unwrap();
    assert_eq!(strata.strata.iter().map(|stratum| stratum.real_rows).sum::<u64>(), 600);
    assert!(strata.strata.windows(2).all(|two| two[0].real_rows <= two[1].real_rows), "smallest first");
    for column in &page.columns.as_ref().unwrap().columns {
        let bars = column.bars.as_ref().unwrap();
        for shares in [&bars.real, &bars.synthetic] {
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-2, "rounded to four digits each");
        }
    }
}

#[test]
fn odd_tables_are_no_trouble() {
    let one_column = schema(1, 1);
    let page = page_of(&one_column, &random_rows(1, 1, 30, 1), &random_rows(1, 1, 20, 2));
    assert!(page.correlations.is_none() && page.plane.is_none() && page.strata.is_none() && page.learning.is_none());
    // A label with one class, and columns that do not vary.
    let two = schema(3, 2);
    let constant: Vec<Row> = vec![(vec![7, 7, 7], 0); 40];
    let page = page_of(&two, &constant, &constant);
    assert!(why(&page, "learning")[0].contains("one class"), "{:?}", page.absent);
    assert!(page.columns.unwrap().columns.iter().all(|column| column.figures.constant_real));
    // The synthetic table has one class, the real one two: that can be learnt from, badly.
    let page = page_of(&two, &random_rows(3, 2, 60, 4), &constant);
    assert!(page.learning.unwrap().labels[0].synthetic < 0.9);
    // One row a side.
    let page = page_of(&two, &random_rows(3, 2, 1, 5), &random_rows(3, 2, 1, 6));
    assert!(why(&page, "learning")[0].contains("too few rows"));
}

#[test]
fn a_column_without_values_is_no_trouble() {
    let text = "[[column]]\nname = \"</script><b>\\u0000\"\nkind = \"integer\"\nmin = 0\nmax = 9\nmissing = \"allow\"\n\
                [[column]]\nname = \"y\"\nkind = \"categorical\"\nvalues = [\"a\\u2028\", \"b\"]\nmissing = \"allow\"\n";
    let schema = Schema::parse(text, "s").unwrap();
    let hot = sunprint::schema::HOT;
    let missing: Vec<Row> = vec![(vec![32_768, hot, 0, 0, hot], 0); 12];
    let there: Vec<Row> = vec![(vec![7_282, 0, hot, 0, 0], 0); 9];
    for (real, synthetic) in [(&missing, &missing), (&missing, &there), (&there, &missing)] {
        let page = page_of(&schema, real, synthetic);
        let columns = page.columns.unwrap().columns;
        let missing = columns.iter().find(|column| column.figures.name == "y").unwrap().figures.missing.unwrap();
        assert_eq!(missing.real, if real.len() == 12 { 1.0 } else { 0.0 });
    }
}

#[test]
fn broken_rules_come_first() {
    let text = "[[column]]\nname = \"low\"\nkind = \"integer\"\nmin = 0\nmax = 9\nmissing = \"allow\"\n\
                [[column]]\nname = \"high\"\nkind = \"integer\"\nmin = 0\nmax = 9\n\
                [[constraint]]\nrule = \"low <= high\"\n";
    let schema = Schema::parse(text, "s").unwrap();
    let code = |x: u16| (u32::from(x) * u32::from(Q) / 9) as u16;
    let mut codes = Codes::with_capacity(3, 0);
    (0..10).for_each(|i| codes.push(&[code(if i < 3 { 8 } else { 2 }), 0, code(5)], 0));
    let synthetic = Table::of_codes(vec![codes], &schema).unwrap();
    let column = |name: &str, above: u64, empty: u64, missing_allowed: bool| ColumnReport {
        name: name.to_owned(),
        kind: "integer".to_owned(),
        below: 0,
        above,
        not_a_number: 0,
        empty,
        unlisted: 0,
        missing_allowed,
    };
    let check = CheckReport { rows: 10, columns: vec![column("low", 0, 4, true), column("high", 1, 1, false)] };
    let synthetic = synthetic.with_check(check);
    let pair = Tables { real: &synthetic, synthetic: &synthetic, schema: &schema, model: None };
    let (_, page) = compare(&pair, &settings(), &Silent).unwrap();
    let rules = page.validity.unwrap().rules;
    let broken: Vec<(&str, u64, u64)> = rules.iter().map(|rule| (rule.what.as_str(), rule.broken, rule.of)).collect();
    assert_eq!(broken, [("low <= high", 3, 10), ("high", 2, 10), ("low", 0, 10)]);
    assert_eq!((rules[2].missing, rules[1].missing), (Some([0.0, 0.4]), None));
    assert!(
        page.headline.notes.iter().any(|note| note.starts_with("2 rules of the schema are broken")),
        "{:?}",
        page.headline
    );
}

#[test]
fn numbers_are_short() {
    let schema = schema(4, 2);
    let page = page_of(&schema, &clustered(600, 1), &clustered(500, 2));
    let text = to_json(&Page { distances: None, ..page }).unwrap();
    let mut digits = 0;
    for letter in text.chars().chain([' ']) {
        digits = if letter.is_ascii_digit() { digits + 1 } else { 0 };
        assert!(digits <= 9, "{}", &text[..text.len().min(300)]);
    }
}
