//! One column's way out.

use super::Value;
use super::gate::{Gate, Way};
use super::print::Ticks;
use super::scales::{Point, real_at, whole_at};
use crate::schema::dates::DAY;
use crate::schema::{Form, HOT};
use crate::tally::codes::Q;

/// Half of "here" as a place between 0 and 1: an absence above it is one.
const HALF_HOT: f64 = HOT as f64 / (2.0 * Q as f64);

impl Gate {
    /// The value at a place of a line: 0 is the lower bound, 1 the upper; outside is clamped.
    #[inline]
    pub fn decode(&self, unit: f64) -> Value<'_> {
        self.decode_line(unit).0
    }

    /// The same, with the category where there is one.
    #[inline]
    pub fn decode_line(&self, unit: f64) -> (Value<'_>, usize) {
        let tick = |x: f64, ticks: &Option<Ticks>| Value::Number(ticks.as_ref().map_or(x, |ticks| ticks.rounded(x)));
        let value = match &self.way {
            Way::Real { min, max, ticks, .. } => tick(real_at(unit, *min, *max), ticks),
            Way::RealLog { log, ticks, .. } => tick(log.at(unit), ticks),
            Way::Whole { min, max, span } => Value::Integer(whole_at(unit, *min, *max, *span)),
            Way::WholeLog { min, max, log } => Value::Integer((log.at(unit).round() as i64).clamp(*min, *max)),
            Way::Circle { circle, ticks, .. } => match circle.at(&[unit]) {
                Point::Real(x) => tick(x, ticks),
                Point::Whole(x) => Value::Integer(x),
            },
            Way::Boolean { .. } => {
                let truth = if unit.is_nan() { true } else { unit >= 0.5 };
                return (Value::Truth(truth), usize::from(truth));
            }
            Way::Ordered(list) | Way::OneHot(list) => {
                let last = list.values.len() - 1;
                let place = whole_at(unit, 0, last as i64, last as u64) as usize;
                return (Value::Category(&list.values[place]), place);
            }
            Way::Time { min, max, span, step, .. } => match whole_at(unit, *min, *max, *span) {
                day if *step == DAY => Value::Date(day),
                moment => Value::Moment(moment),
            },
        };
        (value, 0)
    }

    /// The value of a block of places, and its category where it has one. Any places give some value of the column.
    pub fn decode_block(&self, units: &[f64]) -> (Value<'_>, usize) {
        match (&self.way, self.form) {
            (Way::OneHot(list), Form::OneHot) => {
                let mut best = 0;
                for (place, unit) in units.iter().enumerate().take(self.len) {
                    // The first of equals; what is not a number is never the largest.
                    if *unit > units[best] || units[best].is_nan() {
                        best = place;
                    }
                }
                match list.values.get(best) {
                    Some(text) => (Value::Category(text), best),
                    None => (Value::Empty, best),
                }
            }
            _ if self.missing && units[self.len] > HALF_HOT => (Value::Empty, 0),
            (Way::Circle { circle, ticks, .. }, _) => match circle.at(units) {
                Point::Real(x) => (Value::Number(ticks.as_ref().map_or(x, |ticks| ticks.rounded(x))), 0),
                Point::Whole(x) => (Value::Integer(x), 0),
            },
            _ => self.decode_line(units[0]),
        }
    }

    /// The values at many places, if the column is continuous, linear and never empty: each is what [`Gate::decode`]
    /// gives.
    pub fn decode_reals<'a>(&self, units: &'a [f64]) -> Option<impl Iterator<Item = f64> + use<'a>> {
        let Way::Real { min, max, ticks: None, .. } = self.way else { return None };
        (!self.missing).then(|| units.iter().map(move |&unit| real_at(unit, min, max)))
    }

    /// The value of a category.
    ///
    /// # Panics
    /// If the column has no such category; categories come from a model, never from the rows.
    pub fn decode_category(&self, category: u32) -> Value<'_> {
        match &self.way {
            Way::Ordered(list) | Way::OneHot(list) => match list.values.get(category as usize) {
                None if self.missing => Value::Empty,
                _ => Value::Category(&list.values[category as usize]),
            },
            _ if category > 1 => Value::Empty,
            _ => Value::Truth(category != 0),
        }
    }
}
