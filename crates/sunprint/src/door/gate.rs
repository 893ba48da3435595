//! One column's way in and out.

use super::decimal::Decimal;
use super::parse;
use super::{Raw, Value};
use crate::schema::{Column, ColumnKind, Line};
use crate::tally::codes::Q;
use std::collections::HashMap;

/// The code of the middle of the bounds: 65535 / 2, rounded up.
pub const MIDDLE: u16 = 32768;

/// What the curator is told about a value. Never used on the way in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Between the bounds, or listed.
    Good,
    /// Below the lower bound; it becomes the lower bound.
    Below,
    /// Above the upper bound; it becomes the upper bound.
    Above,
    /// Not a number; it becomes the middle of the bounds.
    NotANumber,
    /// Nothing; it becomes the middle of the bounds, or the first category.
    Empty,
    /// Not a listed category; it becomes the first, or the middle of a boolean feature.
    Unlisted,
}

/// One column's way in and out.
pub struct Gate {
    way: Way,
    /// Of a continuous column in a constraint: ticks in one unit, the lowest and the highest tick.
    ticks: Option<(f64, f64, f64)>,
}

enum Way {
    /// `scale` is 65535 / (max - min).
    Continuous {
        min: f64,
        max: f64,
        scale: f64,
    },
    Integer {
        min: i64,
        max: i64,
        span: u64,
    },
    Boolean {
        values: Option<[String; 2]>,
    },
    Categorical {
        values: Vec<String>,
        places: HashMap<String, u32>,
        integers: HashMap<i64, u32>,
    },
}

impl Gate {
    pub(super) fn new(column: &Column) -> Self {
        let way = match &column.kind {
            &ColumnKind::Continuous { min, max } => Way::Continuous { min, max, scale: f64::from(Q) / (max - min) },
            &ColumnKind::Integer { min, max } => Way::Integer { min, max, span: min.abs_diff(max).max(1) },
            ColumnKind::Boolean { values } => Way::Boolean { values: values.clone() },
            ColumnKind::Categorical { values } => {
                let numbered = || values.iter().zip(0u32..);
                let mut integers = HashMap::new();
                for (text, place) in numbered() {
                    if let Some(whole) = parse::integer(text) {
                        integers.entry(whole).or_insert(place);
                    }
                }
                Way::Categorical {
                    places: numbered().map(|(text, place)| (text.clone(), place)).collect(),
                    integers,
                    values: values.clone(),
                }
            }
        };
        Gate { way, ticks: None }
    }

    /// Makes the column leave in whole ticks whatever the format, as constraints between columns need it.
    pub(super) fn keep_to(&mut self, line: &Line) {
        // Powers of ten up to 15 and whole numbers of fifteen digits are exact.
        self.ticks = Some((10f64.powi(line.decimals as i32), line.least as f64, line.most as f64));
    }

    /// The nearest value that can leave.
    #[inline]
    fn settled(&self, value: f64) -> f64 {
        self.ticks.map_or(value, |(per_one, least, most)| (value * per_one).round().clamp(least, most) / per_one)
    }

    /// The code of a value: clamped, then rounded to the nearest. A categorical column's code is its category.
    #[inline]
    pub fn encode(&self, raw: Raw) -> u16 {
        match (&self.way, raw) {
            (Way::Continuous { min, scale, .. }, Raw::Number(x)) => real_code(x, *min, *scale),
            (Way::Continuous { min, scale, .. }, Raw::Integer(x)) => real_code(x as f64, *min, *scale),
            (Way::Continuous { min, scale, .. }, Raw::Text(text)) => {
                parse::number(text).map_or(MIDDLE, |x| real_code(x, *min, *scale))
            }
            (Way::Integer { min, max, span }, Raw::Integer(x)) => whole_code(x, *min, *max, *span),
            (Way::Integer { min, max, span }, Raw::Number(x)) => real_whole_code(x, *min, *max, *span),
            (Way::Integer { min, max, span }, Raw::Text(text)) => match parse::integer(text) {
                Some(x) => whole_code(x, *min, *max, *span),
                None => parse::number(text).map_or(MIDDLE, |x| real_whole_code(x, *min, *max, *span)),
            },
            (Way::Continuous { min, scale, .. }, Raw::Truth(x)) => real_code(f64::from(u8::from(x)), *min, *scale),
            (Way::Integer { min, max, span }, Raw::Truth(x)) => whole_code(i64::from(x), *min, *max, *span),
            (Way::Boolean { .. }, raw) => match self.truth(raw) {
                Some(false) => 0,
                Some(true) => Q,
                None => MIDDLE,
            },
            (Way::Categorical { .. }, raw) => self.category(raw).min(u32::from(Q)) as u16,
            (_, Raw::Empty) => MIDDLE,
        }
    }

    /// The codes of many real numbers, one after the other.
    #[inline]
    pub fn encode_reals<'c>(&self, numbers: impl Iterator<Item = f64>, codes: impl Iterator<Item = &'c mut u16>) {
        match &self.way {
            Way::Continuous { min, scale, .. } => {
                let (min, scale) = (*min, *scale);
                numbers.zip(codes).for_each(|(x, code)| *code = real_code(x, min, scale));
            }
            _ => numbers.zip(codes).for_each(|(x, code)| *code = self.encode(Raw::Number(x))),
        }
    }

    /// The codes of many whole numbers, one after the other.
    #[inline]
    pub fn encode_wholes<'c>(&self, numbers: impl Iterator<Item = i64>, codes: impl Iterator<Item = &'c mut u16>) {
        match &self.way {
            Way::Continuous { min, scale, .. } => {
                let (min, scale) = (*min, *scale);
                numbers.zip(codes).for_each(|(x, code)| *code = real_code(x as f64, min, scale));
            }
            Way::Integer { min, max, span } => {
                let (min, max, span) = (*min, *max, *span);
                numbers.zip(codes).for_each(|(x, code)| *code = whole_code(x, min, max, span));
            }
            _ => numbers.zip(codes).for_each(|(x, code)| *code = self.encode(Raw::Integer(x))),
        }
    }

    /// The code of a number in plain digits, the same as of its text; `None` where only the text can tell.
    #[inline]
    pub fn encode_decimal(&self, decimal: Decimal) -> Option<u16> {
        match &self.way {
            // The cast and each operation before it keep the order of numbers, so their code never falls.
            Way::Continuous { min, scale, .. } => decimal.code(|x| real_code(x, *min, *scale)),
            Way::Integer { min, max, span } => match decimal.whole() {
                Some(x) => Some(whole_code(x, *min, *max, *span)),
                None => decimal.exact().map(|x| real_whole_code(x, *min, *max, *span)),
            },
            Way::Boolean { .. } | Way::Categorical { .. } => None,
        }
    }

    /// Whether the column holds numbers.
    pub fn is_number(&self) -> bool {
        matches!(self.way, Way::Continuous { .. } | Way::Integer { .. })
    }

    /// The category of a value; what is not listed takes the first. Numbers have no categories: always 0.
    pub fn category(&self, raw: Raw) -> u32 {
        match &self.way {
            Way::Boolean { .. } => self.truth(raw).map_or(0, u32::from),
            Way::Categorical { .. } => self.listed(raw).unwrap_or(0),
            Way::Continuous { .. } | Way::Integer { .. } => 0,
        }
    }

    /// The value at a place between the bounds: 0 is the lower bound, 1 the upper; outside is clamped.
    #[inline]
    pub fn decode(&self, unit: f64) -> Value<'_> {
        match &self.way {
            Way::Continuous { min, max, .. } => Value::Number(self.settled(real_at(unit, *min, *max))),
            Way::Integer { min, max, span } => Value::Integer(whole_at(inside(unit), *min, *max, *span)),
            Way::Boolean { .. } => Value::Truth(inside(unit) >= 0.5),
            Way::Categorical { values, .. } => {
                let place = (inside(unit) * values.len() as f64) as usize;
                Value::Category(&values[place.min(values.len() - 1)])
            }
        }
    }

    /// The values at many places, if the column is continuous and in no constraint: each is what [`Gate::decode`] gives.
    pub fn decode_reals<'a>(&self, units: &'a [f64]) -> Option<impl Iterator<Item = f64> + use<'a>> {
        let (Way::Continuous { min, max, .. }, None) = (&self.way, self.ticks) else { return None };
        let (min, max) = (*min, *max);
        Some(units.iter().map(move |&unit| real_at(unit, min, max)))
    }

    /// The value of a category.
    ///
    /// # Panics
    /// If the column has no such category; categories come from a model, never from the rows.
    pub fn decode_category(&self, category: u32) -> Value<'_> {
        match &self.way {
            Way::Categorical { values, .. } => Value::Category(&values[category as usize]),
            _ => Value::Truth(category != 0),
        }
    }

    /// What the curator is told about a value.
    pub fn judge(&self, raw: Raw) -> Verdict {
        if matches!(raw, Raw::Empty) || matches!(raw, Raw::Text(text) if text.trim().is_empty() && !self.lists(text)) {
            return Verdict::Empty;
        }
        let (min, max) = match &self.way {
            Way::Boolean { .. } => return self.truth(raw).map_or(Verdict::Unlisted, |_| Verdict::Good),
            Way::Categorical { .. } => return self.listed(raw).map_or(Verdict::Unlisted, |_| Verdict::Good),
            // As whole numbers first, where comparing is exact.
            Way::Integer { min, max, .. } => {
                let whole = match raw {
                    Raw::Integer(x) => Some(x),
                    Raw::Text(text) => parse::integer(text),
                    _ => None,
                };
                if let Some(x) = whole {
                    return within(x, *min, *max);
                }
                (*min as f64, *max as f64)
            }
            Way::Continuous { min, max, .. } => (*min, *max),
        };
        match raw {
            Raw::Number(x) => within(x, min, max),
            Raw::Integer(x) => within(x as f64, min, max),
            Raw::Truth(x) => within(f64::from(u8::from(x)), min, max),
            Raw::Text(text) => parse::number(text).map_or(Verdict::NotANumber, |x| within(x, min, max)),
            Raw::Empty => Verdict::Empty,
        }
    }

    fn lists(&self, text: &str) -> bool {
        matches!(&self.way, Way::Categorical { places, .. } if places.contains_key(text))
    }

    fn truth(&self, raw: Raw) -> Option<bool> {
        match raw {
            Raw::Truth(truth) => Some(truth),
            Raw::Integer(whole @ (0 | 1)) => Some(whole == 1),
            Raw::Number(x) if x == 0.0 || x == 1.0 => Some(x == 1.0),
            Raw::Text(text) => {
                if let Way::Boolean { values: Some([no, yes]) } = &self.way {
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

    /// The place in the list of categories, if the value is listed.
    fn listed(&self, raw: Raw) -> Option<u32> {
        let Way::Categorical { values, places, integers } = &self.way else { return None };
        match raw {
            Raw::Text(text) => {
                [text, text.trim(), parse::bare(text)].iter().find_map(|spelling| places.get(*spelling).copied())
            }
            Raw::Integer(whole) => integers.get(&whole).copied(),
            Raw::Number(x) if x.fract() == 0.0 && x.abs() < 9e15 => integers.get(&(x as i64)).copied(),
            Raw::Number(x) => values.iter().zip(0..).find(|(text, _)| text.parse() == Ok(x)).map(|(_, place)| place),
            Raw::Truth(truth) => {
                values.iter().zip(0..).find(|(text, _)| parse::truth(text) == Some(truth)).map(|(_, place)| place)
            }
            Raw::Empty => None,
        }
    }
}

/// The nearest code. The cast drops the fraction and saturates: everything below 0 becomes 0, above 65535 becomes Q,
/// infinities included.
#[inline]
fn real_code(x: f64, min: f64, scale: f64) -> u16 {
    if x.is_nan() { MIDDLE } else { ((x - min) * scale + 0.5) as u16 }
}

/// The nearest code, exactly: floor((2 (x - min) Q + span) / (2 span)).
#[inline]
fn whole_code(x: i64, min: i64, max: i64, span: u64) -> u16 {
    let above = x.clamp(min, max).abs_diff(min);
    // Up to 2^35 numerator and denominator are exact as `f64`. A quotient that is no integer is at least 2^-36 below
    // the next one, which is at most 2^16; there numbers are rounded by at most 2^-38, so never up to the integer, and
    // dropping the fraction is the floor.
    if span <= 1 << 35 {
        return ((2 * above * u64::from(Q) + span) as i64 as f64 / (2 * span) as i64 as f64) as u16;
    }
    let (above, span) = (u128::from(above), u128::from(span));
    ((2 * above * u128::from(Q) + span) / (2 * span)) as u16
}

/// A real number in an integer column: the nearest whole number first. The cast saturates, and clamping follows.
#[inline]
fn real_whole_code(x: f64, min: i64, max: i64, span: u64) -> u16 {
    if x.is_nan() { MIDDLE } else { whole_code(x.round() as i64, min, max, span) }
}

/// A place between the bounds; no place at all is the middle.
#[inline]
fn inside(unit: f64) -> f64 {
    if unit.is_nan() { 0.5 } else { unit.clamp(0.0, 1.0) }
}

#[inline]
fn real_at(unit: f64, min: f64, max: f64) -> f64 {
    (min + inside(unit) * (max - min)).clamp(min, max)
}

fn whole_at(unit: f64, min: i64, max: i64, span: u64) -> i64 {
    // The cast saturates; a span above 2^53 loses low digits only.
    let above = ((unit * span as f64).round() as u64).min(span);
    min.saturating_add_unsigned(above).min(max)
}

fn within<T: PartialOrd>(x: T, min: T, max: T) -> Verdict {
    if x < min {
        Verdict::Below
    } else if x > max {
        Verdict::Above
    } else if x >= min {
        Verdict::Good
    } else {
        Verdict::NotANumber
    }
}
