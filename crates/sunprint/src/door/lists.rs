//! Values out of a list: categories and truth values.

use super::{Raw, parse};
use std::collections::HashMap;

/// Listed texts with their places.
pub(super) struct List {
    pub(super) values: Vec<String>,
    places: HashMap<String, u32>,
    integers: HashMap<i64, u32>,
    /// The place of what is not listed.
    pub(super) other: u32,
}

impl List {
    pub(super) fn new(values: &[String], other: Option<&str>) -> List {
        let numbered = || values.iter().zip(0u32..);
        let mut integers = HashMap::new();
        for (text, place) in numbered() {
            if let Some(whole) = parse::integer(text) {
                integers.entry(whole).or_insert(place);
            }
        }
        let places: HashMap<String, u32> = numbered().map(|(text, place)| (text.clone(), place)).collect();
        let other = other.and_then(|text| places.get(text).copied()).unwrap_or(0);
        List { values: values.to_vec(), places, integers, other }
    }

    pub(super) fn has(&self, text: &str) -> bool {
        self.places.contains_key(text)
    }

    /// The place in the list, if the value is listed.
    pub(super) fn place(&self, raw: Raw) -> Option<u32> {
        let numbered = || self.values.iter().zip(0..);
        match raw {
            Raw::Text(text) => {
                [text, text.trim(), parse::bare(text)].iter().find_map(|spelling| self.places.get(*spelling).copied())
            }
            Raw::Integer(whole) => self.integers.get(&whole).copied(),
            Raw::Number(x) if x.fract() == 0.0 && x.abs() < 9e15 => self.integers.get(&(x as i64)).copied(),
            Raw::Number(x) => numbered().find(|(text, _)| text.parse() == Ok(x)).map(|(_, place)| place),
            Raw::Truth(truth) => numbered().find(|(text, _)| parse::truth(text) == Some(truth)).map(|(_, place)| place),
            Raw::Moment(_) | Raw::Empty => None,
        }
    }
}

/// The truth value that a value spells, by the column's own spellings first.
pub(super) fn truth(values: Option<&[String; 2]>, raw: Raw) -> Option<bool> {
    match raw {
        Raw::Truth(truth) => Some(truth),
        Raw::Integer(whole @ (0 | 1)) => Some(whole == 1),
        Raw::Number(x) if x == 0.0 || x == 1.0 => Some(x == 1.0),
        Raw::Text(text) => {
            if let Some([no, yes]) = values {
                for spelling in [text, text.trim(), parse::bare(text)] {
                    if spelling == no || spelling == yes {
                        return Some(spelling == yes);
                    }
                }
            }
            parse::truth(text)
        }
        _ => None,
    }
}
