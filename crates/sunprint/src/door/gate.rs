//! One column's way in.

use super::decimal::Decimal;
use super::lists::{List, truth};
use super::print::Ticks;
use super::scales::{Circle, Log, real_code, whole_code};
use super::{Raw, parse};
use crate::schema::dates::{DAY, Pattern};
use crate::schema::{Column, ColumnKind, Form, HOT, Scale};
use crate::tally::codes::Q;

/// The code of the middle of the bounds: 65535 / 2, rounded up.
pub const MIDDLE: u16 = 32768;

/// One column's way in and out.
pub struct Gate {
    pub(super) way: Way,
    pub(super) form: Form,
    pub(super) len: usize,
    /// Whether missing values are kept.
    pub(super) missing: bool,
}

pub(super) enum Way {
    /// `scale` is 65535 / (max - min); `ticks` where the number of decimals is given, or matters.
    Real {
        min: f64,
        max: f64,
        scale: f64,
        ticks: Option<Ticks>,
    },
    RealLog {
        min: f64,
        max: f64,
        log: Log,
        ticks: Option<Ticks>,
    },
    Whole {
        min: i64,
        max: i64,
        span: u64,
    },
    WholeLog {
        min: i64,
        max: i64,
        log: Log,
    },
    Circle {
        min: f64,
        max: f64,
        circle: Circle,
        ticks: Option<Ticks>,
    },
    Boolean {
        values: Option<[String; 2]>,
    },
    Ordered(List),
    OneHot(List),
    /// Steps of `step` seconds.
    Time {
        min: i64,
        max: i64,
        span: u64,
        step: i64,
        pattern: Pattern,
    },
}

/// A value as it will stand in its block: two codes, a mark for a missing value, or a category. The same for all values
/// that have the same codes. No `Debug`: it is private.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Token(u64);

impl Token {
    const ABSENT: u64 = 1 << 32;
}

impl Gate {
    pub(super) fn new(column: &Column) -> Self {
        let (form, len) = column.form();
        let time = |min: i64, max: i64, step, format: &Option<String>| {
            let moments = step == 1;
            let pattern = format.as_ref().and_then(|format| Pattern::new(format, moments).ok());
            Way::Time {
                min,
                max,
                span: span(min, max),
                step,
                pattern: pattern.unwrap_or_else(|| Pattern::iso(moments)),
            }
        };
        let way = match &column.kind {
            &ColumnKind::Continuous { min, max, scale, decimals } => {
                let ticks = decimals.map(|decimals| Ticks::fixed(min, max, decimals));
                match scale {
                    Scale::Linear => Way::Real { min, max, scale: f64::from(Q) / (max - min), ticks },
                    Scale::Log => Way::RealLog { min, max, log: Log::new(min, max), ticks },
                    Scale::Cyclic => Way::Circle { min, max, circle: Circle::real(min, max), ticks },
                }
            }
            &ColumnKind::Integer { min, max, scale } => match scale {
                Scale::Linear => Way::Whole { min, max, span: span(min, max) },
                Scale::Log => Way::WholeLog { min, max, log: Log::new(min as f64, max as f64) },
                Scale::Cyclic => {
                    let circle = Circle::whole(min, max);
                    Way::Circle { min: min as f64, max: max as f64, circle, ticks: None }
                }
            },
            ColumnKind::Boolean { values } => Way::Boolean { values: values.clone() },
            ColumnKind::Categorical { values, ordered: true, other } => {
                Way::Ordered(List::new(values, other.as_deref()))
            }
            ColumnKind::Categorical { values, other, .. } => Way::OneHot(List::new(values, other.as_deref())),
            ColumnKind::Date { min, max, format } => time(*min, *max, DAY, format),
            ColumnKind::Datetime { min, max, format } => time(*min, *max, 1, format),
        };
        Gate { way, form, len, missing: column.may_be_missing() }
    }

    /// Makes a real number leave as the same whole ticks in every format, as constraints between columns need it.
    pub(super) fn keep_to_ticks(&mut self) {
        if let Way::Real { min, max, ticks, .. } = &mut self.way {
            ticks.get_or_insert_with(|| Ticks::new(*min, *max));
        }
    }

    /// The number of coordinates of the column's block, with the absence.
    pub fn width(&self) -> usize {
        self.len + usize::from(self.has_absence())
    }

    fn has_absence(&self) -> bool {
        self.missing && self.form != Form::OneHot
    }

    /// Whether values may be missing on the way out.
    pub fn may_be_empty(&self) -> bool {
        self.missing
    }

    /// Whether the column is a single coordinate.
    pub fn is_single(&self) -> bool {
        self.form == Form::Line && !self.missing
    }

    /// Whether the column holds numbers on a line, whose digits can be read where they stand.
    pub fn is_number(&self) -> bool {
        matches!(self.way, Way::Real { .. } | Way::RealLog { .. } | Way::Whole { .. } | Way::WholeLog { .. })
    }

    /// The code of a value on a line: clamped, then rounded to the nearest; the middle if there is none. On a circle the
    /// first of two. The code of a category without an order is its number.
    #[inline]
    pub fn encode(&self, raw: Raw) -> u16 {
        (self.token(raw).0 & 0xffff) as u16
    }

    /// What a value becomes, before it takes its coordinates.
    #[inline]
    pub fn token(&self, raw: Raw) -> Token {
        if let Way::OneHot(_) = self.way {
            return Token(u64::from(self.category(raw)));
        }
        match self.codes(raw) {
            Some((one, two)) => Token(u64::from(one) | u64::from(two) << 16),
            None => Token(u64::from(MIDDLE) | u64::from(MIDDLE) << 16 | Token::ABSENT),
        }
    }

    /// Writes the coordinates of a value, all of them.
    #[inline]
    pub fn spread(&self, token: Token, out: &mut [u16]) {
        match self.form {
            Form::OneHot => {
                out.fill(0);
                // There is a coordinate for every category.
                if let Some(here) = out.get_mut(token.0 as usize) {
                    *here = HOT;
                }
                return;
            }
            Form::Circle => [out[0], out[1]] = [token.0 as u16, (token.0 >> 16) as u16],
            Form::Line => out[0] = token.0 as u16,
        }
        if self.missing {
            out[self.len] = if token.0 & Token::ABSENT != 0 { HOT } else { 0 };
        }
    }

    /// The coordinates of a value.
    pub fn encode_block(&self, raw: Raw, out: &mut [u16]) {
        self.spread(self.token(raw), out);
    }

    /// The codes of a value that can be read, on a line (the second is 0) or a circle.
    #[inline]
    fn codes(&self, raw: Raw) -> Option<(u16, u16)> {
        let code = match &self.way {
            Way::Real { min, scale, .. } => real_code(number(raw)?, *min, *scale),
            Way::Whole { min, max, span } => whole_code(whole(raw)?, *min, *max, *span),
            Way::RealLog { log, .. } => log.code(number(raw)?),
            Way::WholeLog { min, max, log } => log.code(whole(raw)?.clamp(*min, *max) as f64),
            Way::Circle { circle, .. } => return self.circle_codes(circle, raw),
            Way::Boolean { values } if truth(values.as_ref(), raw)? => Q,
            Way::Boolean { .. } => 0,
            Way::Ordered(list) if self.is_blank(raw) && list.place(raw).is_none() => return None,
            Way::Ordered(list) => {
                let last = list.values.len().saturating_sub(1).max(1);
                whole_code(i64::from(list.place(raw).unwrap_or(list.other)), 0, last as i64, last as u64)
            }
            Way::Time { min, max, span, .. } => whole_code(self.time(raw)?, *min, *max, *span),
            Way::OneHot(_) => return None,
        };
        Some((code, 0))
    }

    fn circle_codes(&self, circle: &Circle, raw: Raw) -> Option<(u16, u16)> {
        if circle.is_whole()
            && let Some(x) = exact_whole(raw)
        {
            return Some(circle.whole_code(x));
        }
        circle.code(number(raw)?)
    }

    /// The step of a moment, if the value is one.
    pub(super) fn time(&self, raw: Raw) -> Option<i64> {
        let Way::Time { step, pattern, .. } = &self.way else { return None };
        let moment = match raw {
            Raw::Moment(moment) => moment,
            Raw::Text(text) => pattern.read(text).or_else(|| pattern.read(parse::bare(text)))?,
            _ => return None,
        };
        Some(moment.div_euclid(*step))
    }

    /// The codes of many real numbers, one after the other, for a column that is a single coordinate.
    #[inline]
    pub fn encode_reals<'c>(&self, numbers: impl Iterator<Item = f64>, codes: impl Iterator<Item = &'c mut u16>) {
        match &self.way {
            Way::Real { min, scale, .. } => {
                let (min, scale) = (*min, *scale);
                numbers.zip(codes).for_each(|(x, code)| *code = real_code(x, min, scale));
            }
            _ => numbers.zip(codes).for_each(|(x, code)| *code = self.encode(Raw::Number(x))),
        }
    }

    /// The codes of many whole numbers, one after the other, for a column that is a single coordinate.
    #[inline]
    pub fn encode_wholes<'c>(&self, numbers: impl Iterator<Item = i64>, codes: impl Iterator<Item = &'c mut u16>) {
        match &self.way {
            Way::Real { min, scale, .. } => {
                let (min, scale) = (*min, *scale);
                numbers.zip(codes).for_each(|(x, code)| *code = real_code(x as f64, min, scale));
            }
            Way::Whole { min, max, span } => {
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
            Way::Real { min, scale, .. } => decimal.code(|x| real_code(x, *min, *scale)),
            Way::Whole { min, max, span } => match decimal.whole() {
                Some(x) => Some(whole_code(x, *min, *max, *span)),
                None => decimal.exact().map(|x| whole_code(x.round() as i64, *min, *max, *span)),
            },
            // A logarithm in software need not keep the order in its last digit.
            Way::RealLog { .. } => decimal.exact().map(|x| self.encode(Raw::Number(x))),
            Way::WholeLog { .. } => match decimal.whole() {
                Some(x) => Some(self.encode(Raw::Integer(x))),
                None => decimal.exact().map(|x| self.encode(Raw::Number(x))),
            },
            _ => None,
        }
    }

    /// The category of a value; what is not listed takes the place that the schema says, and a missing value the last
    /// where it is kept. Numbers have no categories: always 0.
    pub fn category(&self, raw: Raw) -> u32 {
        match &self.way {
            Way::Boolean { values } => match truth(values.as_ref(), raw) {
                Some(truth) => u32::from(truth),
                None => 2 * u32::from(self.missing),
            },
            Way::Ordered(list) | Way::OneHot(list) => match list.place(raw) {
                Some(place) => place,
                None if self.missing && self.is_blank(raw) => list.values.len() as u32,
                None => list.other,
            },
            _ => 0,
        }
    }

    /// Nothing, or blank text that is not listed.
    pub(super) fn is_blank(&self, raw: Raw) -> bool {
        match (&self.way, raw) {
            (_, Raw::Empty) => true,
            (Way::Ordered(list) | Way::OneHot(list), Raw::Text(text)) => text.trim().is_empty() && !list.has(text),
            (_, Raw::Text(text)) => text.trim().is_empty(),
            _ => false,
        }
    }
}

fn span(min: i64, max: i64) -> u64 {
    min.abs_diff(max).max(1)
}

/// The real number that a value spells; `None` for what is not a number.
#[inline]
fn number(raw: Raw) -> Option<f64> {
    let x = match raw {
        Raw::Number(x) => x,
        Raw::Integer(x) => x as f64,
        Raw::Truth(x) => f64::from(u8::from(x)),
        Raw::Text(text) => parse::number(text)?,
        Raw::Moment(_) | Raw::Empty => return None,
    };
    if x.is_nan() { None } else { Some(x) }
}

/// The whole number that a value spells.
#[inline]
pub(super) fn exact_whole(raw: Raw) -> Option<i64> {
    match raw {
        Raw::Integer(x) => Some(x),
        Raw::Truth(x) => Some(i64::from(x)),
        Raw::Text(text) => parse::integer(text),
        _ => None,
    }
}

/// The whole number nearest to a value. The cast saturates, and clamping follows.
#[inline]
fn whole(raw: Raw) -> Option<i64> {
    exact_whole(raw).or_else(|| number(raw).map(|x| x.round() as i64))
}
