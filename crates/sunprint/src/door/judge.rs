//! What the curator is told about values. Never used on the way in.

use super::gate::{Gate, Way, exact_whole};
use super::lists::truth;
use super::{Raw, parse};

/// What the curator is told about a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Between the bounds, or listed.
    Good,
    /// Below the lower bound; it becomes the lower bound, or goes around a circle.
    Below,
    /// Above the upper bound; it becomes the upper bound, or goes around a circle.
    Above,
    /// Not a number, date or truth value; it counts as missing.
    NotANumber,
    /// Nothing; it is kept where missing values are allowed, else it becomes the middle of the bounds, or the category
    /// for what is not listed.
    Empty,
    /// Not a listed category; it becomes `other`, or the first.
    Unlisted,
}

impl Gate {
    /// What the curator is told about a value.
    pub fn judge(&self, raw: Raw) -> Verdict {
        if self.is_blank(raw) {
            return Verdict::Empty;
        }
        let (min, max) = match &self.way {
            Way::Boolean { values } => {
                return truth(values.as_ref(), raw).map_or(Verdict::Unlisted, |_| Verdict::Good);
            }
            Way::Ordered(list) | Way::OneHot(list) => {
                return list.place(raw).map_or(Verdict::Unlisted, |_| Verdict::Good);
            }
            Way::Time { min, max, .. } => {
                return self.time(raw).map_or(Verdict::NotANumber, |x| within(x, *min, *max));
            }
            // As whole numbers first, where comparing is exact.
            Way::Whole { min, max, .. } | Way::WholeLog { min, max, .. } => {
                if let Some(x) = exact_whole(raw) {
                    return within(x, *min, *max);
                }
                (*min as f64, *max as f64)
            }
            Way::Real { min, max, .. } | Way::RealLog { min, max, .. } | Way::Circle { min, max, .. } => (*min, *max),
        };
        match raw {
            Raw::Number(x) => within(x, min, max),
            Raw::Integer(x) => within(x as f64, min, max),
            Raw::Truth(x) => within(f64::from(u8::from(x)), min, max),
            Raw::Text(text) => parse::number(text).map_or(Verdict::NotANumber, |x| within(x, min, max)),
            Raw::Moment(_) => Verdict::NotANumber,
            Raw::Empty => Verdict::Empty,
        }
    }
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
