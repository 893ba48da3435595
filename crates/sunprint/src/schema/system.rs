//! All constraints of a schema together, on the grids that their columns are written on.
//!
//! A value leaves as a whole number of *ticks*: an integer counts ones, a date days, a datetime seconds, a continuous
//! column the power of ten that its text ends with. On ticks every rule is an inequality between whole numbers, and holds exactly or not at all.

use super::constraint::{self, Constraint, Exact, MOST_CONSTRAINTS, Refusal, Relation};
use super::rules::Fault;
use super::{Column, ColumnKind, Scale};
use crate::math::feasible::{self, Answer};

/// A column that is in a constraint: `value = ticks / 10^decimals`, `least ≤ ticks ≤ most`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Which column of the schema.
    pub column: usize,
    /// Decimals of its text.
    pub decimals: u32,
    /// The lowest tick within the bounds.
    pub least: i64,
    /// The highest tick within the bounds.
    pub most: i64,
}

/// `Σ factor · ticks ≤ bound`, or `=`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TickRule {
    /// Lines by their place in [`System::lines`], with factors that are not 0.
    pub terms: Vec<(usize, i128)>,
    /// The right-hand side.
    pub bound: i128,
    /// Whether the two sides must be equal.
    pub equal: bool,
}

/// The constraints of a schema and the columns they are about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct System {
    /// The columns.
    pub lines: Vec<Line>,
    /// The rules, in the order of the schema's constraints.
    pub rules: Vec<TickRule>,
    /// Ticks that obey all rules: what a row falls back to.
    pub point: Vec<i64>,
}

/// Below this a tick is found again after it was a place between the bounds as an f64, with digits to spare.
const MOST_TICKS: f64 = 1e15;
/// The same on a log scale, where a place is a logarithm.
const MOST_LOG_TICKS: f64 = 1e12;
/// Sums of factors times ticks stay below this.
const MOST_SUM: i128 = 1 << 100;
/// Steps of the search for ticks that obey all rules.
const STEPS: usize = 100_000;

impl TickRule {
    /// Whether some ticks obey it.
    pub fn holds(&self, ticks: &[i64]) -> bool {
        let sum: i128 = self.terms.iter().map(|&(line, factor)| factor * i128::from(ticks[line])).sum();
        if self.equal { sum == self.bound } else { sum <= self.bound }
    }
}

impl Line {
    /// The grid of a column.
    fn new(c: usize, column: &Column, most_decimals: u32) -> Result<Line, Fault> {
        let log = column.kind.scale() == Scale::Log;
        let (decimals, least, most) = match column.kind {
            ColumnKind::Integer { min, max, .. }
            | ColumnKind::Date { min, max, .. }
            | ColumnKind::Datetime { min, max, .. } => (0, min as f64, max as f64),
            ColumnKind::Continuous { min, max, decimals, .. } => {
                if log && decimals.is_none() {
                    return Err(Fault {
                        key: "rule",
                        rule: format!("column `{}` has a log scale and no `decimals` for a constraint", column.name),
                        hint: "say how many decimals it is written with, for instance `decimals = 2`".to_string(),
                    });
                }
                let decimals = decimals.map_or_else(|| text_decimals(min, max), u32::from).min(most_decimals);
                let per_one = 10f64.powi(decimals as i32);
                let (mut least, mut most) = ((min * per_one).ceil(), (max * per_one).floor());
                least += f64::from(u8::from(least / per_one < min));
                most -= f64::from(u8::from(most / per_one > max));
                (decimals, least, most)
            }
            _ => (0, 1.0, 0.0),
        };
        let far = if log { MOST_LOG_TICKS } else { MOST_TICKS };
        if decimals > 15 || least.abs() > far || most.abs() > far || least > most {
            return Err(Fault {
                key: "rule",
                rule: format!("column `{}` has bounds that are too wide or too narrow for a constraint", column.name),
                hint: "constraints hold exactly up to fifteen digits: give other bounds or another unit".to_string(),
            });
        }
        Ok(Line { column: c, decimals, least: least as i64, most: most as i64 })
    }
}

/// The decimals that the text of a continuous column has: the fewest that tell 65,536 codes apart.
fn text_decimals(min: f64, max: f64) -> u32 {
    let step = (max - min) / 65535.0;
    let (mut decimals, mut per_one) = (0, 1.0);
    while per_one * step < 1.0 && decimals < 22 {
        decimals += 1;
        per_one *= 10.0;
    }
    decimals
}

impl System {
    /// Puts the constraints on the grids of their columns. Refuses what cannot be read, and rules that no row can obey;
    /// a refusal names the constraint and the byte of its text.
    pub(super) fn new(columns: &[Column], constraints: &[Constraint]) -> Result<System, (usize, Refusal)> {
        System::with_decimals(columns, constraints, &|_| u32::MAX)
    }

    /// The same where some columns cannot be written with all of their decimals.
    pub(super) fn with_decimals(
        columns: &[Column],
        constraints: &[Constraint],
        most: &dyn Fn(usize) -> u32,
    ) -> Result<System, (usize, Refusal)> {
        if constraints.len() > MOST_CONSTRAINTS {
            let rule = format!(
                "the schema has {} constraints and at most {MOST_CONSTRAINTS} are supported",
                constraints.len()
            );
            let hint = "keep those that matter most".to_string();
            return Err((MOST_CONSTRAINTS, (0, Fault { key: "rule", rule, hint })));
        }
        let mut system = System { lines: Vec::new(), rules: Vec::new(), point: Vec::new() };
        for (i, Constraint { rule: text }) in constraints.iter().enumerate() {
            let linear = constraint::read(text, columns).map_err(|refusal| (i, refusal))?;
            let mut terms = Vec::new();
            for (c, factor) in linear.terms {
                let known = system.lines.iter().position(|line| line.column == c);
                let line = match known {
                    Some(line) => line,
                    None => {
                        system.lines.push(Line::new(c, &columns[c], most(c)).map_err(|fault| (i, (0, fault)))?);
                        system.lines.len() - 1
                    }
                };
                terms.push((line, factor));
            }
            let rule = system.whole(&terms, linear.relation, linear.bound).ok_or_else(|| {
                let rule = format!("the numbers in the rule `{text}` have too many digits for its columns");
                let hint = "write fewer digits, or give the columns another unit".to_string();
                (i, (0, Fault { key: "rule", rule, hint }))
            })?;
            system.rules.push(rule);
        }
        let found = system.some_point().map_err(|guilty| {
            let texts: Vec<String> = guilty.iter().map(|&i| format!("`{}`", constraints[i].rule)).collect();
            let at = guilty.last().copied().unwrap_or(0);
            (at, (0, contradiction(&texts)))
        })?;
        system.point = found;
        Ok(system)
    }

    /// A rule in whole numbers: `Σ f_j k_j 10^(−D_j)` against `b`, times the power of ten that leaves no decimals, divided
    /// by what the factors have in common. Then `<` is `≤` with one less. `None` where the numbers do not fit.
    fn whole(&self, terms: &[(usize, Exact)], relation: Relation, bound: Exact) -> Option<TickRule> {
        let behind = |&(line, factor): &(usize, Exact)| factor.decimals + self.lines[line].decimals;
        let scale = terms.iter().map(behind).max().unwrap_or(0).max(bound.decimals);
        let lift = |x: Exact, more: u32| x.mantissa.checked_mul(10i128.checked_pow(scale - x.decimals - more)?);
        let mut bound = lift(bound, 0)?;
        let factor = |&(line, factor): &(usize, Exact)| Some((line, lift(factor, self.lines[line].decimals)?));
        let mut terms: Vec<(usize, i128)> = terms.iter().map(factor).collect::<Option<_>>()?;
        let common = terms.iter().fold(0, |common, (_, factor)| divisor(common, factor.abs())).max(1);
        terms.iter_mut().for_each(|(_, factor)| *factor /= common);
        let equal = relation == Relation::Equal;
        bound -= i128::from(relation == Relation::Below);
        if equal && bound % common != 0 {
            // No whole number is this far between: kept as a rule that nothing obeys.
            terms.iter_mut().for_each(|(_, factor)| *factor *= common);
        } else {
            bound = bound.div_euclid(common);
        }
        let reach = terms.iter().try_fold(bound.checked_abs()?, |sum, &(line, factor)| {
            let far = i128::from(self.lines[line].least.abs().max(self.lines[line].most.abs()));
            factor.checked_abs()?.checked_mul(far)?.checked_add(sum)
        })?;
        (reach < MOST_SUM).then_some(TickRule { terms, bound, equal })
    }

    /// The rules in places between the bounds, from 0 to 1, with largest factor 1.
    pub fn in_places(&self) -> Vec<feasible::Rule> {
        let one = |rule: &TickRule| {
            let span = |line: usize| (self.lines[line].most - self.lines[line].least).max(1) as f64;
            let terms: Vec<(usize, f64)> = rule.terms.iter().map(|&(line, f)| (line, f as f64 * span(line))).collect();
            let low: i128 = rule.terms.iter().map(|&(line, f)| f * i128::from(self.lines[line].least)).sum();
            let size = terms.iter().map(|(_, f)| f.abs()).fold(f64::MIN_POSITIVE, f64::max);
            let terms = terms.into_iter().map(|(line, f)| (line, f / size)).collect();
            feasible::Rule { terms, bound: (rule.bound - low) as f64 / size, equal: rule.equal }
        };
        self.rules.iter().map(one).collect()
    }

    /// Ticks that obey all rules, or the rules that contradict one another.
    fn some_point(&self) -> Result<Vec<i64>, Vec<usize>> {
        let places = match feasible::feasible(self.lines.len(), &self.in_places()) {
            Answer::Point(places) => places,
            Answer::Never(weights) => {
                let most = weights.iter().fold(0.0_f64, |most, y| most.max(y.abs()));
                return Err((0..weights.len()).filter(|&i| weights[i].abs() > 1e-6 * most).collect());
            }
            Answer::Unclear => vec![0.5; self.lines.len()],
        };
        let all: Vec<usize> = (0..self.rules.len()).collect();
        // From the corner that the simplex method found, and from the middle.
        [places, vec![0.5; self.lines.len()]]
            .iter()
            .find_map(|places| {
                let wish = self
                    .lines
                    .iter()
                    .zip(places)
                    .map(|(line, place)| line.least as f64 + place * (line.most - line.least) as f64);
                self.near(&wish.collect::<Vec<f64>>(), &vec![0.0; self.lines.len()], &all, STEPS)
            })
            .ok_or(all)
    }
}

fn contradiction(texts: &[String]) -> Fault {
    let rule = match texts {
        [one] => format!("the constraint {one} cannot hold within the bounds of its columns"),
        [first, second] => format!("the constraints {first} and {second} contradict one another within the bounds"),
        [first, second, rest @ ..] => format!(
            "the constraints {first}, {second} and {} more contradict one another within the bounds",
            rest.len()
        ),
        [] => "the constraints contradict one another within the bounds".to_string(),
    };
    Fault { key: "rule", rule, hint: "widen the bounds, or drop a constraint".to_string() }
}

fn divisor(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
