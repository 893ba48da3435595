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

/// A distance between tables.
pub fn distance(text: &str) -> Result<f64, &'static str> {
    text.parse().ok().filter(|distance: &f64| distance.is_finite() && *distance > 0.0).ok_or("it is a number above 0")
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

/// An amount of memory; `None` for half of what there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemorySize(pub Option<u64>);

/// A number of bytes with or without a unit, or `half`.
pub fn memory_size(text: &str) -> Result<MemorySize, &'static str> {
    const UNITS: [(&str, u64); 10] = [
        ("", 1),
        ("b", 1),
        ("kb", 1_000),
        ("mb", 1_000_000),
        ("gb", 1_000_000_000),
        ("tb", 1_000_000_000_000),
        ("kib", 1 << 10),
        ("mib", 1 << 20),
        ("gib", 1 << 30),
        ("tib", 1 << 40),
    ];
    // Below this the buffers of the readers would take more than the rows.
    const LEAST: u64 = 16_000_000;
    if text == "half" {
        return Ok(MemorySize(None));
    }
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = unit.trim_start().to_ascii_lowercase();
    let factor = UNITS.iter().find(|(word, _)| *word == unit).map(|(_, factor)| *factor);
    let bytes = number.parse::<u64>().ok().zip(factor).and_then(|(number, factor)| number.checked_mul(factor));
    let enough = bytes.filter(|&bytes| bytes >= LEAST);
    enough.map(|bytes| MemorySize(Some(bytes))).ok_or("it is a size such as 256MB or 2GiB, at least 16MB, or `half`")
}

#[cfg(test)]
mod tests {
    use super::{MemorySize, memory_size};

    #[test]
    fn sizes_of_memory() {
        for (text, bytes) in [
            ("256MB", 256_000_000),
            ("2GiB", 2 << 30),
            ("16000000", 16_000_000),
            ("20 mib", 20 << 20),
            ("1tb", 1_000_000_000_000),
        ] {
            assert_eq!(memory_size(text), Ok(MemorySize(Some(bytes))), "{text}");
        }
        assert_eq!(memory_size("half"), Ok(MemorySize(None)));
        for text in ["", "MB", "15MB", "0", "-1GB", "1.5GB", "256M", "lots", "99999999999TB", "16 000 000"] {
            assert!(memory_size(text).is_err(), "{text}");
        }
    }
}
