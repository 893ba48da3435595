//! Rows that obey the schema's constraints: each drawn row is moved to the nearest one that does.
//!
//! *Nearest* is Euclidean in places between the bounds, as everything else that is drawn. First the row is projected onto
//! the polytope of all rules and bounds; then, because values leave as whole ticks, the projected row is put onto ticks
//! that obey the rules exactly. No random numbers, and no more than a bounded number of steps; where they do not suffice
//! the row becomes a fixed one that obeys all rules, known since the schema was read.

use crate::door::{Door, Value};
use crate::error::Result;
use crate::math::feasible::Rule;
use crate::math::projection::nearest;
use crate::schema::{Block, ColumnKind, Line, Scale, Schema, System, TickRule};
use crate::source::{Layout, PhysicalType};

/// Rounds of tangents where rules are curved.
const TANGENTS: usize = 80;
/// Steps of the search for ticks, for each column.
const STEPS: usize = 40;

/// The constraints of a schema, ready for its rows.
pub struct Constraints {
    system: System,
    door: Door,
    /// The constrained columns, as [`System::lines`].
    places: Vec<Place>,
}

/// Where a constrained column stands in a row, and what its places mean.
struct Place {
    /// Its coordinates: a line, and perhaps an absence behind it.
    block: Block,
    min: f64,
    max: f64,
    per_one: f64,
    /// Whether equal ways are equal ratios.
    log: bool,
    /// The places of the lowest and the highest tick.
    ends: (f64, f64),
}

impl Constraints {
    /// The constraints of a schema; refuses those that no row can obey.
    pub fn new(schema: &Schema) -> Result<Constraints> {
        Ok(Constraints::of(schema, schema.system()?))
    }

    /// The same for rows that are written to a file of this layout, whose types may keep fewer decimals: whole numbers
    /// none, decimals those of their scale. Where no row obeys with so few, the schema's own are taken.
    pub fn for_layout(schema: &Schema, layout: &Layout) -> Result<Constraints> {
        use PhysicalType as T;
        let most = |c: usize| {
            let name = &schema.columns[c].name;
            match layout.columns.iter().find(|column| column.name == *name).map(|column| column.physical) {
                Some(T::Int8 | T::Int16 | T::Int32 | T::Int64 | T::UInt8 | T::UInt16 | T::UInt32 | T::UInt64) => 0,
                Some(T::Decimal128 { scale, .. }) => u32::try_from(scale).unwrap_or(0),
                _ => u32::MAX,
            }
        };
        let system = schema.system_with_decimals(&most).or_else(|_| schema.system())?;
        Ok(Constraints::of(schema, system))
    }

    fn of(schema: &Schema, system: System) -> Constraints {
        let places = Place::all(schema, &system);
        Constraints { system, door: Door::new(schema), places }
    }

    /// Whether there is nothing to obey.
    pub fn is_empty(&self) -> bool {
        self.system.rules.is_empty()
    }

    /// Moves a row of places to the nearest row that obeys all rules as it is written. A row that does already stays.
    pub fn enforce(&self, row: &mut [f64]) {
        if self.is_empty() {
            return;
        }
        let ticks = self.ticks(row);
        let rules = self.rules_on(&ticks);
        if self.obeyed(&ticks, &rules) {
            return;
        }
        let drawn: Vec<f64> = self.places.iter().map(|place| row[place.block.start].clamp(0.0, 1.0)).collect();
        let obeyed: Vec<&TickRule> = rules.iter().map(|&i| &self.system.rules[i]).collect();
        let projected = project(&drawn, &obeyed, &self.places);
        let at = self.places.iter().zip(&projected).map(|(place, &x)| place.ticks(x));
        // Where there are few ticks along the line, one of them is a long way.
        let (wish, firm): (Vec<f64>, Vec<f64>) = at.map(|(ticks, pace)| (ticks, 1.0 / pace)).unzip();
        let found = self.system.near(&wish, &firm, &rules, STEPS * self.places.len());
        // Ticks become places and ticks again: exact for so many digits, and looked at all the same.
        if !found.is_some_and(|found| self.moved(row, &ticks, &found)) {
            self.moved(row, &ticks, &self.system.point);
        }
    }

    /// Moves the constrained columns that are there to other ticks, and says whether they will leave as these.
    fn moved(&self, row: &mut [f64], old: &[Option<i64>], new: &[i64]) -> bool {
        let columns = self.places.iter().zip(old).zip(new);
        columns.clone().for_each(|((place, old), &new)| {
            if old.is_some_and(|old| old != new) {
                row[place.block.start] = place.of(new);
            }
        });
        columns.zip(self.ticks(row)).all(|(((_, old), &new), now)| old.is_none() || now == Some(new))
    }

    /// The rules on a row: those about a column that is empty in it say nothing.
    fn rules_on(&self, ticks: &[Option<i64>]) -> Vec<usize> {
        let there = |rule: &TickRule| rule.terms.iter().all(|&(line, _)| ticks[line].is_some());
        (0..self.system.rules.len()).filter(|&i| there(&self.system.rules[i])).collect()
    }

    /// The ticks that the constrained columns of a row leave with; nothing for an empty cell.
    pub fn ticks(&self, row: &[f64]) -> Vec<Option<i64>> {
        let lines = self.system.lines.iter().zip(&self.places);
        lines
            .map(|(line, place)| {
                let units = &row[place.block.start..place.block.end()];
                match self.door.gate(line.column).decode_block(units).0 {
                    Value::Number(x) => Some((x * place.per_one).round() as i64),
                    Value::Integer(x) | Value::Date(x) | Value::Moment(x) => Some(x),
                    _ => None,
                }
            })
            .collect()
    }

    /// Whether a row obeys all rules as it is written.
    pub fn hold(&self, row: &[f64]) -> bool {
        let ticks = self.ticks(row);
        self.obeyed(&ticks, &self.rules_on(&ticks))
    }

    /// Whether ticks lie between the bounds and obey some rules, all of whose columns are there.
    fn obeyed(&self, ticks: &[Option<i64>], rules: &[usize]) -> bool {
        let inside = |(line, ticks): (&Line, &Option<i64>)| ticks.is_none_or(|k| (line.least..=line.most).contains(&k));
        let known: Vec<i64> = ticks.iter().map(|ticks| ticks.unwrap_or(0)).collect();
        self.system.lines.iter().zip(ticks).all(inside) && rules.iter().all(|&i| self.system.rules[i].holds(&known))
    }
}

impl Place {
    /// Where the constrained columns of a schema stand.
    fn all(schema: &Schema, system: &System) -> Vec<Place> {
        let blocks = schema.blocks();
        let one = |line: &Line| {
            let kind = &schema.columns[line.column].kind;
            let (min, max) = match *kind {
                ColumnKind::Continuous { min, max, .. } => (min, max),
                _ => (line.least as f64, line.most as f64),
            };
            let block = *blocks.iter().find(|block| block.column == line.column)?;
            // Powers of ten up to 15 are exact.
            let per_one = 10f64.powi(line.decimals as i32);
            let mut place = Place { block, min, max, per_one, log: kind.scale() == Scale::Log, ends: (0.0, 1.0) };
            place.ends = (place.of(line.least), place.of(line.most));
            Some(place)
        };
        // Columns that can be in a constraint have a block.
        system.lines.iter().filter_map(one).collect()
    }

    /// The place between the bounds of a number of ticks.
    fn of(&self, ticks: i64) -> f64 {
        let value = ticks as f64 / self.per_one;
        let place = if self.log {
            libm::log(value / self.min) / libm::log(self.max / self.min)
        } else {
            (value - self.min) / (self.max - self.min)
        };
        place.clamp(0.0, 1.0)
    }

    /// The ticks at a place, with a fraction, and how many more there are along the line at that pace.
    fn ticks(&self, unit: f64) -> (f64, f64) {
        if self.log {
            let ratio = libm::log(self.max / self.min);
            let ticks = self.min * libm::exp(unit * ratio) * self.per_one;
            (ticks, ticks * ratio)
        } else {
            let span = self.max - self.min;
            ((self.min + unit * span) * self.per_one, span * self.per_one)
        }
    }
}

/// A rule in places, near a point: exactly what it says if all columns are linear, or if it compares two on log scales.
fn near(rule: &TickRule, places: &[Place], point: &[f64]) -> Rule {
    let ratio = compared_ratios(rule, places);
    let mut bound = if ratio { 0.0 } else { rule.bound as f64 };
    let mut terms = Vec::with_capacity(rule.terms.len());
    for &(line, factor) in &rule.terms {
        let place = &places[line];
        let (start, pace) = if ratio {
            // a f ≤ b g is ln a + ln f ≤ ln b + ln g.
            let sign = if factor < 0 { -1.0 } else { 1.0 };
            let low = libm::log(factor.abs() as f64 * place.min * place.per_one);
            (sign * low, sign * libm::log(place.max / place.min))
        } else {
            let (ticks, pace) = place.ticks(point[line]);
            (factor as f64 * (ticks - pace * point[line]), factor as f64 * pace)
        };
        bound -= start;
        terms.push((line, pace));
    }
    let size = terms.iter().map(|(_, pace)| pace.abs()).fold(f64::MIN_POSITIVE, f64::max);
    terms.iter_mut().for_each(|(_, pace)| *pace /= size);
    Rule { terms, bound: bound / size, equal: rule.equal }
}

/// Whether a rule compares two columns on log scales and nothing else.
fn compared_ratios(rule: &TickRule, places: &[Place]) -> bool {
    match rule.terms[..] {
        [(a, x), (b, y)] => rule.bound == 0 && (x < 0) != (y < 0) && places[a].log && places[b].log,
        _ => false,
    }
}

/// The point between the ends nearest to another that obeys some rules.
///
/// Where a column has a log scale, sums are curved in places. They are replaced by their tangents at the point found last,
/// again and again; the whole way to the next point would go round in circles, a part of it settles.
fn project(drawn: &[f64], rules: &[&TickRule], places: &[Place]) -> Vec<f64> {
    let ends: Vec<(f64, f64)> = places.iter().map(|place| place.ends).collect();
    let curved =
        |rule: &TickRule| !compared_ratios(rule, places) && rule.terms.iter().any(|&(line, _)| places[line].log);
    let part = if rules.iter().any(|rule| curved(rule)) { 0.3 } else { 1.0 };
    let mut point = drawn.to_vec();
    for _ in 0..if part < 1.0 { TANGENTS } else { 1 } {
        let tangents: Vec<Rule> = rules.iter().map(|rule| near(rule, places, &point)).collect();
        let next = nearest(drawn, &tangents, &ends);
        let moved = next.iter().zip(&point).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
        point.iter_mut().zip(&next).for_each(|(x, next)| *x += part * (next - *x));
        if moved < 1e-9 {
            break;
        }
    }
    point
}

#[cfg(test)]
#[path = "constraints_tests.rs"]
mod tests;
