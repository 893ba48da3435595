//! How the values of options are read, and the rule that is said where they cannot be.

use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use sunprint::evaluate::Metric;
use sunprint::plan::Mechanism;
use sunprint::source::Format;

/// A count that may not be zero.
pub fn at_least_one<T: FromStr + PartialOrd + From<u8>>(text: &str) -> Result<T, &'static str> {
    text.parse().ok().filter(|number| *number >= T::from(1)).ok_or("it is a whole number, at least 1")
}

/// The formats that the library knows, by its own words.
pub fn formats() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(Format::word)).map(|word| {
        let named = |format: &Format| format.word() == word;
        Format::ALL.into_iter().find(named).unwrap_or(Format::Csv)
    })
}

/// A seed.
pub fn whole_number(text: &str) -> Result<u64, &'static str> {
    text.parse().map_err(|_| "it is a whole number, 0 or more")
}

/// The demo compares subsamples of 1,000 rows, and holds its table in memory.
pub fn demo_rows(text: &str) -> Result<u64, &'static str> {
    let rows = text.parse().ok().filter(|rows| (2_000..=1_000_000).contains(rows));
    rows.ok_or("the demo takes 2,000 to 1,000,000 rows")
}

/// A number of things, or `None` for all there are.
#[derive(Clone, Copy)]
pub struct AtMost(pub Option<usize>);

/// A count that may not be zero, or `all`.
pub fn some_or_all(text: &str) -> Result<AtMost, &'static str> {
    let count = if text == "all" { Ok(None) } else { at_least_one(text).map(Some) };
    count.map(AtMost).map_err(|_: &str| "it is a whole number, at least 1, or `all`")
}

/// The mechanisms, by the library's own words.
pub fn mechanisms() -> impl TypedValueParser<Value = Mechanism> {
    PossibleValuesParser::new(Mechanism::ALL.map(Mechanism::name)).map(|word| {
        let named = |mechanism: &Mechanism| mechanism.name() == word;
        Mechanism::ALL.into_iter().find(named).unwrap_or_default()
    })
}

/// The ground metrics, by the library's own words.
pub fn metrics() -> impl TypedValueParser<Value = Metric> {
    PossibleValuesParser::new(Metric::ALL.map(Metric::name)).map(|word| {
        let named = |metric: &Metric| metric.name() == word;
        Metric::ALL.into_iter().find(named).unwrap_or(Metric::Euclidean)
    })
}
