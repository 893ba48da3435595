//! The schema file: every rule with its full sentence, line and column; and the way back to text.

use sunprint::error::Kind;
use sunprint::schema::{Column, ColumnKind, Constraint, Dataset, Role, Schema, Unit};

/// What a schema file is refused with. Every refusal is of kind Schema and has a hint.
fn refusal(text: &str) -> String {
    match Schema::parse(text, "people.toml") {
        Ok(_) => "accepted".to_string(),
        Err(error) => {
            assert_eq!(error.kind(), Kind::Schema);
            assert!(error.advice().is_some_and(|hint| !hint.is_empty()), "a hint for: {error}");
            error.to_string()
        }
    }
}

const AGE: &str = "[[column]]\nname = \"age\"\nkind = \"integer\"\nmin = 0\nmax = 120\n";

#[test]
fn every_rule_names_its_line_and_column() {
    let column = |rest: &str| format!("[[column]]\nname = \"x\"\n{rest}\n");
    let with_age = |rest: &str| format!("{AGE}{rest}");
    let cases: Vec<(String, &str)> = vec![
        ("".into(), "people.toml:1:1: the schema has no columns"),
        ("[[column]\n".into(), "people.toml:1:10: not valid TOML: unclosed array table, expected `]`"),
        ("name = \"a\"\nname = \"b\"\n".into(), "people.toml:2:1: not valid TOML: duplicate key"),
        (with_age("[extra]\n"), "people.toml:6:2: unknown key `extra`"),
        ("dataset = 3\n".into(), "people.toml:1:1: `dataset` must be a table"),
        ("[column]\nname = \"x\"\n".into(), "people.toml:1:2: `column` must be a list of tables"),
        ("column = [3]\n".into(), "people.toml:1:11: `column` must be a list of tables"),
        ("[dataset]\nowner = \"me\"\n".into(), "people.toml:2:1: unknown key `owner` in `[dataset]`"),
        ("[dataset]\nname = 3\n".into(), "people.toml:2:8: `name` must be a text"),
        ("[dataset]\nunit = \"person\"\n".into(), "people.toml:2:8: `unit` must be \"row\""),
        (with_age("colour = \"red\"\n"), "people.toml:6:1: unknown key `colour` in `[[column]]`"),
        ("\n[[column]]\nkind = \"integer\"\n".into(), "people.toml:2:1: a column has no `name`"),
        ("[[column]]\nname = 3\n".into(), "people.toml:2:8: `name` must be a text"),
        ("[[column]]\nname = \"\"\nkind = \"boolean\"\n".into(), "people.toml:2:8: a column name must not be empty"),
        (with_age(AGE), "people.toml:7:8: column `age` is described twice"),
        (column(""), "people.toml:1:1: column `x` has no `kind`"),
        (column("kind = \"number\""), "people.toml:3:8: unknown kind `number` of column `x`"),
        (column("kind = \"date\""), "people.toml:1:1: column `x` has no `min`"),
        (column("kind = \"datetime\"\nmin = \"?\""), "people.toml:4:7: `min` of column `x` is still \"?\""),
        (column("kind = \"continuous\"\nmax = 1.0"), "people.toml:1:1: column `x` has no `min`"),
        (column("kind = \"continuous\"\nmin = 0.0"), "people.toml:1:1: column `x` has no `max`"),
        (
            column("kind = \"continuous\"\nmin = \"?\"\nmax = \"?\""),
            "people.toml:4:7: `min` of column `x` is still \"?\"",
        ),
        (column("kind = \"integer\"\nmin = 0\nmax = \"?\""), "people.toml:5:7: `max` of column `x` is still \"?\""),
        (
            column("kind = \"continuous\"\nmin = \"0\"\nmax = 1.0"),
            "people.toml:4:7: `min` of column `x` must be a number",
        ),
        (
            column("kind = \"continuous\"\nmin = 0.0\nmax = inf"),
            "people.toml:5:7: `max` of column `x` must be a finite number, not inf",
        ),
        (
            column("kind = \"continuous\"\nmin = nan\nmax = 1.0"),
            "people.toml:4:7: `min` of column `x` must be a finite number, not NaN",
        ),
        (
            column("kind = \"continuous\"\nmin = 1.0\nmax = 1.0"),
            "people.toml:4:7: `min` of column `x` must be below `max`, but 1 is not below 1",
        ),
        (
            column("kind = \"continuous\"\nmin = 2.5\nmax = -1.0"),
            "people.toml:4:7: `min` of column `x` must be below `max`, but 2.5 is not below -1",
        ),
        (
            column("kind = \"continuous\"\nmin = -1e308\nmax = 1e308"),
            "people.toml:5:7: `max` - `min` of column `x` must lie between 1e-300 and 1e300",
        ),
        (
            column("kind = \"integer\"\nmin = 7\nmax = 7"),
            "people.toml:4:7: `min` of column `x` must be below `max`, but 7 is not below 7",
        ),
        (
            column("kind = \"integer\"\nmin = 0.5\nmax = 7"),
            "people.toml:4:7: `min` of integer column `x` must be a whole number",
        ),
        (
            column("kind = \"integer\"\nmin = 0\nmax = 9223372036854775808"),
            "people.toml:5:7: `max` of column `x` does not fit in 64 bits",
        ),
        (column("kind = \"categorical\"\nrole = \"label\""), "people.toml:1:1: column `x` has no `values`"),
        (
            column("kind = \"categorical\"\nvalues = \"?\"\nrole = \"label\""),
            "people.toml:4:10: `values` of column `x` is still \"?\"",
        ),
        (
            column("kind = \"categorical\"\nvalues = []\nrole = \"label\""),
            "people.toml:4:10: `values` of column `x` is empty",
        ),
        (
            column("kind = \"categorical\"\nvalues = [\"a\", \"b\", \"a\"]\nrole = \"label\""),
            "people.toml:4:10: `values` of column `x` lists `a` twice",
        ),
        (
            column("kind = \"categorical\"\nvalues = [\"a\", 1]\nrole = \"label\""),
            "people.toml:4:16: `values` of column `x` must be texts",
        ),
        (
            column("kind = \"categorical\"\nvalues = 3\nrole = \"label\""),
            "people.toml:4:10: `values` of column `x` must be a list of texts",
        ),
        (
            column("kind = \"categorical\"\nvalues = [\"a\"]\nmin = 0\nrole = \"label\""),
            "people.toml:5:1: column `x` is categorical and must not have `min`",
        ),
        (
            column("kind = \"integer\"\nmin = 0\nmax = 1\nvalues = [\"a\"]"),
            "people.toml:6:1: column `x` is integer and must not have `values`",
        ),
        (
            column("kind = \"boolean\"\nvalues = [\"a\"]"),
            "people.toml:4:10: `values` of boolean column `x` must list two texts",
        ),
        (
            column("kind = \"boolean\"\nvalues = [\"a\", \"a\"]"),
            "people.toml:4:10: `values` of column `x` lists `a` twice",
        ),
        (column("kind = \"boolean\"\nmax = 1"), "people.toml:4:1: column `x` is boolean and must not have `max`"),
        (column("kind = \"boolean\"\nrole = \"target\""), "people.toml:4:8: unknown role `target` of column `x`"),
        (column("kind = \"boolean\"\nrole = 1"), "people.toml:4:8: `role` must be a text"),
        (
            column("kind = \"integer\"\nmin = 0\nmax = 1\nrole = \"stratum\""),
            "people.toml:6:8: column `x` is integer and cannot be a stratum",
        ),
        (
            column("kind = \"boolean\"\nordered = true"),
            "people.toml:4:1: column `x` is boolean and must not have `ordered`",
        ),
        (
            column("kind = \"continuous\"\nmin = 0\nmax = 1\nscale = \"log\""),
            "people.toml:4:7: `min` of column `x` must be above 0 on a log scale, but it is 0",
        ),
        (
            column("kind = \"categorical\"\nvalues = [\"a\", \"b\"]\nother = \"c\""),
            "people.toml:5:9: `other` of column `x` is `c`, which `values` does not list",
        ),
        (
            column("kind = \"date\"\nmin = \"2020-01-01\"\nmax = 2019-12-31"),
            "people.toml:4:7: `min` of column `x` must be below `max`, but 2020-01-01 is not below 2019-12-31",
        ),
        (
            column("kind = \"boolean\"\nmissing = \"perhaps\""),
            "people.toml:4:11: unknown rule `perhaps` for missing values of column `x`",
        ),
        (column("kind = \"boolean\"\nrole = \"label\""), "people.toml:1:1: the schema has no feature columns"),
    ];
    for (text, expected) in &cases {
        assert_eq!(refusal(text), *expected, "for the schema:\n{text}");
    }
}

#[test]
fn too_many_strata_are_refused() {
    let values: Vec<String> = (0..33).map(|i| format!("\"{i}\"")).collect();
    let column = |name: &str| {
        format!(
            "[[column]]\nname = \"{name}\"\nkind = \"categorical\"\nvalues = [{}]\nrole = \"stratum\"\n",
            values.join(",")
        )
    };
    assert_eq!(
        refusal(&format!("{AGE}{}{}", column("a"), column("b"))),
        "people.toml:12:8: with column `b` the schema has 1089 strata and at most 1024 are supported"
    );
    assert_eq!(refusal(&format!("{AGE}{}", column("a"))), "accepted");
}

#[test]
fn too_many_features_are_refused() {
    let columns = |count: usize| -> String {
        (0..count).map(|i| format!("[[column]]\nname = \"c{i}\"\nkind = \"boolean\"\n")).collect()
    };
    assert_eq!(
        refusal(&columns(10_000)),
        "people.toml:1:1: the schema has 10000 feature columns and at most 4096 are supported"
    );
    assert_eq!(
        refusal(&columns(4097)),
        "people.toml:1:1: the schema has 4097 feature columns and at most 4096 are supported"
    );
    assert_eq!(refusal(&columns(4096)), "accepted");
}

#[test]
fn too_many_coordinates_are_refused() {
    let values = |count: usize| (0..count).map(|i| format!("\"{i}\"")).collect::<Vec<_>>().join(",");
    let column = |name: &str, count: usize, more: &str| {
        let values = values(count);
        format!("[[column]]\nname = \"{name}\"\nkind = \"categorical\"\nvalues = [{values}]\n{more}")
    };
    let many = format!("{AGE}{}", column("town", 5000, ""));
    assert_eq!(
        refusal(&many),
        "people.toml:1:1: the 2 feature columns have 5001 coordinates and at most 4096 are supported"
    );
    let hint = Schema::parse(&many, "x").unwrap_err().advice().unwrap_or_default().to_string();
    assert!(hint.contains("`town` alone has 5000"), "{hint}");
    // A missing value is a coordinate too; an order makes one of all.
    assert_eq!(refusal(&column("town", 4096, "")), "accepted");
    assert_ne!(refusal(&column("town", 4096, "missing = \"allow\"\n")), "accepted");
    assert_eq!(refusal(&format!("{AGE}{}", column("town", 5000, "ordered = true\n"))), "accepted");
    assert_eq!(refusal(&format!("{AGE}{}", column("town", 1000, ""))), "accepted");
}

#[test]
fn every_key_is_written_and_read_back() {
    let text = "[dataset]\nname = \"all\"\nunit = \"row\"\n\
        \n[[column]]\nname = \"a\"\nkind = \"continuous\"\nmin = 0.5\nmax = 10.0\nscale = \"log\"\ndecimals = 2\n\
        missing = \"allow\"\n\
        \n[[column]]\nname = \"b\"\nkind = \"integer\"\nmin = 0\nmax = 23\nscale = \"cyclic\"\n\
        \n[[column]]\nname = \"c\"\nkind = \"categorical\"\nvalues = [\"x\", \"y\"]\nordered = true\nother = \"y\"\n\
        \n[[column]]\nname = \"d\"\nkind = \"date\"\nmin = \"1920-02-29\"\nmax = \"2020-12-31\"\nformat = \"%d.%m.%Y\"\n\
        \n[[column]]\nname = \"e\"\nkind = \"datetime\"\nmin = \"1969-12-31T23:59:59\"\nmax = \"2020-12-31T00:00:00\"\n\
        missing = \"allow\"\nrole = \"label\"\n";
    let schema = Schema::parse(text, "all.toml").unwrap();
    assert_eq!(schema.to_toml(), text);
    let json = serde_json::to_string(&schema).unwrap();
    assert_eq!(serde_json::from_str::<Schema>(&json).unwrap(), schema);
    assert!(json.contains("1969-12-31T23:59:59"));
}

/// As schemas were written before there were scales, orders and missing values.
#[test]
fn schemas_of_older_models_are_read() {
    let old = r#"{"dataset":{"name":"old","unit":"row"},"columns":[
        {"name":"a","kind":{"kind":"continuous","min":0.0,"max":1.0},"role":"feature"},
        {"name":"b","kind":{"kind":"integer","min":0,"max":9},"role":"feature"},
        {"name":"c","kind":{"kind":"boolean","values":null},"role":"feature"},
        {"name":"d","kind":{"kind":"categorical","values":["x","y"]},"role":"label"}]}"#;
    let schema: Schema = serde_json::from_str(old).unwrap();
    schema.validate().unwrap();
    assert_eq!((schema.width(), schema.strata()), (3, 2));
    assert!(schema.columns.iter().all(|column| !column.may_be_missing()));
}

fn sample() -> Schema {
    let column = |name: &str, kind, role| Column::new(name, kind, role);
    Schema {
        dataset: Dataset { name: "people".into(), unit: Unit::Row },
        columns: vec![
            column("age \"in years\"\t\\", ColumnKind::integer(i64::MIN, i64::MAX), Role::Feature),
            column("sex", ColumnKind::categorical(["f", "m", "\n"]), Role::Stratum),
            column("height", ColumnKind::continuous(-0.1, 1e300), Role::Label),
            column("smoker", ColumnKind::Boolean { values: None }, Role::Feature),
            column("ill", ColumnKind::Boolean { values: Some(["no".into(), "yes".into()]) }, Role::Label),
            column("a b", ColumnKind::integer(0, 9), Role::Feature),
        ],
        constraints: vec![Constraint { rule: "2 * `a b` <= 9".into() }],
    }
}

#[test]
fn text_and_json_read_back_to_the_same_schema() {
    let schema = sample();
    assert_eq!(Schema::parse(&schema.to_toml(), "people.toml").unwrap(), schema);
    let json = serde_json::to_string(&schema).unwrap();
    let back: Schema = serde_json::from_str(&json).unwrap();
    assert_eq!(back, schema);
    back.validate().unwrap();
}

#[test]
fn a_schema_that_came_from_elsewhere_is_validated() {
    let mut schema = sample();
    schema.columns[2].kind = ColumnKind::continuous(1.0, 0.0);
    assert_eq!(
        schema.validate().unwrap_err().to_string(),
        "`min` of column `height` must be below `max`, but 1 is not below 0"
    );
    schema.columns.clear();
    assert_eq!(schema.validate().unwrap_err().to_string(), "the schema has no columns");
}

#[test]
fn strata_are_numbered_by_all_combinations() {
    let schema = sample();
    assert_eq!(schema.features(), [0, 2, 3, 5]);
    assert_eq!(schema.width(), 4);
    assert_eq!(schema.stratum_columns(), [1, 4]);
    assert_eq!(schema.strata(), 6);
    for stratum in 0..6 {
        assert_eq!(schema.stratum_of(&schema.categories_of(stratum)), stratum);
    }
    assert_eq!(schema.categories_of(3), [1, 1]);
}

#[test]
fn the_file_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("clinic.toml");
    let refusal = |path: &std::path::Path| Schema::load(path).unwrap_err().to_string();
    assert_eq!(refusal(&path), format!("{}: the schema file does not exist", path.display()));
    assert_eq!(refusal(folder.path()), format!("{}: the schema is a directory, not a file", folder.path().display()));
    std::fs::write(&path, b"\xff\xfe").unwrap();
    assert_eq!(refusal(&path), format!("{}: the schema is not UTF-8 text", path.display()));
    std::fs::write(&path, format!("\u{feff}{AGE}").replace('\n', "\r\n")).unwrap();
    // A copy of the file would have another name, and a budget of its own.
    let nameless = Schema::load(&path).unwrap();
    assert_eq!(nameless.dataset.name, "");
    let error = nameless.check_named().unwrap_err();
    assert!(error.to_string().contains("no name") && error.advice().unwrap().contains("[dataset]"), "{error}");
    std::fs::write(&path, format!("[dataset]\nname = \"clinic\"\n{AGE}")).unwrap();
    Schema::load(&path).unwrap().check_named().unwrap();
    std::fs::write(&path, format!("[dataset]\nname = \"?\"\n{AGE}")).unwrap();
    assert_eq!(refusal(&path), format!("{}:2:8: `name` of the dataset is still \"?\"", path.display()));
}
