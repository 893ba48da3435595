//! Exact W1 between whole rows: real against synthetic, beside the least and the most that can be expected.

use super::Settings;
use super::picks::Picks;
use super::relative::beyond;
use crate::error::Result;
use crate::math::stream::Stream;
use crate::math::student;
use crate::math::transport::{Points, wasserstein1};
use crate::schema::{Block, Form, HOT, Schema};
use crate::source::{Progress, Table, Unit, go_on, in_order};
use crate::tally::codes::Q;
use serde::Serialize;

/// Keeps the choice of rows apart from other uses of the same seed.
pub(super) const PURPOSE: u64 = u64::from_be_bytes(*b"evaluate");

/// Problems of at most so many pairs of rows are solved side by side; larger ones one by one, for they need much memory
/// and use all cores themselves.
const SIDE_BY_SIDE: usize = 1 << 24;

/// Real rows that the spread is taken from, at most.
const MOST_SPREAD: usize = 10_000;

/// How far tables are apart: W1, the least mean distance over which rows must be moved to turn one into the other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Distances {
    /// How far apart two rows are: `l2`, `linf` or `l1`, on the cube.
    pub metric: &'static str,
    /// Which rows were drawn.
    pub seed: u64,
    /// Real against synthetic.
    pub synthetic: Distance,
    /// The floor: disjoint parts of the real table against each other, which differ by chance alone. `None` if the
    /// real table has a single row.
    pub floor: Option<Distance>,
    /// The ceiling: real rows against uniform noise between the bounds, and among the categories, which knows nothing
    /// but the schema.
    pub ceiling: Distance,
    /// W1 beyond chance: √(W1² − floor²), or 0 below the floor. Few rows lie far from each other whatever their law, and
    /// what the laws differ by comes on top of that in squares, so that this does not depend on how many rows are
    /// compared; W1 less the floor would be the smaller, the fewer they are. `None` without a floor.
    pub beyond: Option<f64>,
    /// How far real rows are from their own mean, on average: the W1 of a table that knows the mean and nothing else. What
    /// the others are to be held against.
    pub spread: f64,
}

/// W1 of one kind of pair, over several draws of rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Distance {
    /// How many rows a side.
    pub rows: [usize; 2],
    /// The mean over the draws.
    pub w1: f64,
    /// A 95 % confidence interval of the mean over all draws (Student's t); `None` for a single draw, and where all
    /// rows of both tables were used. It says how sure the mean is, not how much larger W1 is for few rows than for
    /// many: the floor says that.
    pub interval: Option<[f64; 2]>,
    /// Every draw.
    pub draws: Vec<Solved>,
}

/// One exact W1 and its proof.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Solved {
    /// The cost of the plan that was found.
    pub w1: f64,
    /// What no plan can be below, by the certificate.
    pub lower: f64,
    /// The first less the second.
    pub gap: f64,
}

/// What is compared with the real rows.
#[derive(Clone, Copy, PartialEq)]
enum Other {
    Synthetic,
    Real,
    Noise,
}

/// Rows of both tables, and how many of them are compared.
struct Problem<'a> {
    real: Picks<'a>,
    synthetic: Picks<'a>,
    width: usize,
    blocks: Vec<Block>,
    /// Real and synthetic rows.
    rows: [usize; 2],
    /// Two parts of the real rows.
    parts: [usize; 2],
    settings: &'a Settings,
}

/// Compares whole rows. The same rows, and so the same numbers, for the same seed and any number of cores.
///
/// In each draw the same real rows meet the synthetic rows, other real rows and noise, so that chance in their choice
/// falls on all three alike.
pub fn distances(
    real: &Table,
    synthetic: &Table,
    schema: &Schema,
    settings: &Settings,
    progress: &dyn Progress,
) -> Result<Distances> {
    settings.check()?;
    let most = settings.rows.unwrap_or(usize::MAX);
    let rows = [real.rows().min(most), synthetic.rows().min(most)];
    let problem = Problem {
        real: Picks::new(real),
        synthetic: Picks::new(synthetic),
        width: real.width(),
        blocks: schema.blocks(),
        rows,
        parts: parts(rows, real.rows()),
        settings,
    };
    let draws = if settings.rows.is_some() { settings.draws } else { 1 };
    let everything = rows == [real.rows(), synthetic.rows()];
    let mut work: Vec<(Other, usize)> = Vec::new();
    for draw in 0..draws {
        // All rows against all rows is the same in every draw.
        work.extend((draw == 0 || !everything).then_some((Other::Synthetic, draw)));
        work.extend((real.rows() > 1).then_some((Other::Real, draw)));
        work.push((Other::Noise, draw));
    }

    let mut found: Vec<(Other, Solved)> = Vec::with_capacity(work.len());
    progress.start("comparing rows", Some(work.len() as u64), Unit::Steps);
    let solve = |(other, draw)| Ok((other, problem.solve(other, draw)?));
    let mut take = |solved| {
        progress.advance(1);
        found.push(solved);
        Ok(())
    };
    let mut work = work.into_iter();
    let done = if rows[0].saturating_mul(rows[1]) <= SIDE_BY_SIDE {
        in_order(|| go_on(progress).map(|()| work.next()), solve, take)
    } else {
        work.try_for_each(|item| go_on(progress).and_then(|()| take(solve(item)?)))
    };
    progress.done();
    done?;

    let over = |other: Other, rows: [usize; 2]| {
        let draws = found.iter().filter(|(one, _)| *one == other).map(|(_, solved)| *solved).collect();
        Distance::over(rows, draws)
    };
    let synthetic = over(Other::Synthetic, rows);
    let floor = (real.rows() > 1).then(|| over(Other::Real, problem.parts));
    let ceiling = over(Other::Noise, rows);
    let beyond = floor.as_ref().map(|floor| beyond(synthetic.w1, floor.w1));
    let spread = problem.spread()?;
    Ok(Distances { metric: settings.metric.name(), seed: settings.seed, synthetic, floor, ceiling, beyond, spread })
}

/// The sizes of two disjoint parts of the real table: those of the two sides if there are enough rows, else all rows in
/// the same proportion.
pub(super) fn parts([a, b]: [usize; 2], rows: usize) -> [usize; 2] {
    if a + b <= rows {
        return [a, b];
    }
    let first = (a as u128 * rows as u128 / (a + b) as u128) as usize;
    let first = first.clamp(1, rows.saturating_sub(1).max(1));
    [first, rows - first]
}

/// A value of which nothing is known but the schema: anywhere between the bounds, any category, missing or not.
fn random(block: &Block, noise: &mut Stream, out: &mut Vec<f64>) {
    const HERE: f64 = HOT as f64 / Q as f64;
    let one_hot = |out: &mut Vec<f64>, here: usize, places: usize| {
        out.extend((0..places).map(|place| if place == here { HERE } else { 0.0 }));
    };
    let missing = block.absence && noise.below(2) == 1;
    match block.form {
        Form::OneHot => one_hot(out, noise.below(block.len as u64) as usize, block.len),
        _ if missing => out.extend((0..block.len).map(|_| 0.5)),
        Form::Line => out.push(noise.unit()),
        Form::Circle => {
            let (sin, cos) = libm::sincos(std::f64::consts::TAU * noise.unit());
            out.extend([0.5 + 0.5 * cos, 0.5 + 0.5 * sin]);
        }
    }
    if block.absence {
        out.push(if missing { HERE } else { 0.0 });
    }
}

impl Problem<'_> {
    /// The mean distance of real rows from their mean.
    fn spread(&self) -> Result<f64> {
        let rows =
            self.real.choose(self.real.rows().min(MOST_SPREAD), &mut Stream::new(self.settings.seed, PURPOSE, 3));
        let points = self.real.points(&rows);
        let mut mean = vec![0.0; self.width];
        for point in points.chunks(self.width) {
            mean.iter_mut().zip(point).for_each(|(mean, x)| *mean += x / rows.len() as f64);
        }
        // One row opposite all others: there is only one plan.
        let (one, two) = (Points::new(&points, self.width)?, Points::new(&mean, self.width)?);
        Ok(wasserstein1(&one, &two, self.settings.metric)?.cost)
    }

    fn solve(&self, other: Other, draw: usize) -> Result<Solved> {
        let stream = |number: u64| Stream::new(self.settings.seed, PURPOSE, 4 * draw as u64 + number);
        let [first, second] = if other == Other::Real { self.parts } else { self.rows };
        // A longer choice begins with the shorter one, so that all three kinds of pairs have the same real rows.
        let (one, two) = match other {
            Other::Real => {
                let chosen = stream(0).choose(self.real.rows(), first + second);
                (self.real.points(&chosen[..first]), self.real.points(&chosen[first..]))
            }
            Other::Synthetic => {
                let (real, synthetic) =
                    (self.real.choose(first, &mut stream(0)), self.synthetic.choose(second, &mut stream(1)));
                (self.real.points(&real), self.synthetic.points(&synthetic))
            }
            Other::Noise => {
                let mut noise = stream(2);
                let mut uniform = Vec::with_capacity(second * self.width);
                (0..second).for_each(|_| self.blocks.iter().for_each(|block| random(block, &mut noise, &mut uniform)));
                (self.real.points(&self.real.choose(first, &mut stream(0))), uniform)
            }
        };
        let (one, two) = (Points::new(&one, self.width)?, Points::new(&two, self.width)?);
        let found = wasserstein1(&one, &two, self.settings.metric)?;
        let lower = found.certificate.lower;
        Ok(Solved { w1: found.cost, lower, gap: (found.cost - lower).max(0.0) })
    }
}

impl Distance {
    fn over(rows: [usize; 2], draws: Vec<Solved>) -> Distance {
        let count = draws.len() as f64;
        let w1 = draws.iter().map(|draw| draw.w1).sum::<f64>() / count;
        let square: f64 = draws.iter().map(|draw| (draw.w1 - w1) * (draw.w1 - w1)).sum();
        let interval = (draws.len() > 1).then(|| {
            let half = student::two_sided(0.95, draws.len() as u32 - 1) * (square / (count * (count - 1.0))).sqrt();
            [(w1 - half).max(0.0), w1 + half]
        });
        Distance { rows, w1, interval, draws }
    }
}
