//! From a free row to one that the table could hold: every block of coordinates becomes a value of its column.
//!
//! A row of the model is a point of space: a category is a handful of weights, a missing value a number between "here"
//! and "not here". Settling is monotone in what was drawn, so that what goes together in the model goes together in the
//! rows, and calibrated, so that every value comes as often as was released (see `calibrate`).

use super::curve::{Curve, Limit};
use crate::door::MIDDLE;
use crate::math::stream::Stream;
use crate::schema::{Form, HOT, Schema};
use serde::{Deserialize, Serialize};

/// How the blocks of a row are settled. Without blocks every coordinate is clamped to its bounds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Settle {
    /// One for each block.
    pub blocks: Vec<Settling>,
    /// Columns of two values that exclude one another: they are settled together, before the blocks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub one_of: Vec<OneOf>,
}

/// Columns of two values of which a row sets one, or at most one: a category that the table spells as many columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OneOf {
    /// Their coordinates, ascending.
    pub at: Vec<usize>,
    /// Whether there are rows in which none is set. That is one more alternative, behind the others.
    pub none: bool,
    /// What is added to the weight of each alternative; one list for all strata, or one for each.
    pub offsets: Vec<Vec<f64>>,
}

impl OneOf {
    /// The alternatives of a row.
    pub fn alternatives(&self) -> usize {
        self.at.len() + usize::from(self.none)
    }

    /// The weight of an alternative: a column weighs what was drawn for it, and none of them what they leave of a whole.
    pub(super) fn weight(&self, row: &[f64], alternative: usize) -> f64 {
        match self.at.get(alternative) {
            Some(&at) => row[at],
            None => self.at.iter().fold(1.0, |left, &at| left - row[at]),
        }
    }

    /// The alternative whose weight is largest after the offsets were added, the first of equals.
    fn heaviest(&self, row: &[f64], offsets: &[f64]) -> usize {
        largest((0..self.alternatives()).zip(offsets).map(|(i, offset)| self.weight(row, i) + offset))
    }

    fn settle(&self, stratum: usize, row: &mut [f64]) {
        let Some(offsets) = of(&self.offsets, stratum) else { return };
        let chosen = self.heaviest(row, offsets);
        self.at.iter().enumerate().for_each(|(i, &at)| row[at] = f64::from(u8::from(i == chosen)));
    }
}

/// How one block is settled. Lists have one entry for all strata, or one for each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Settling {
    /// A number: a monotone curve.
    Line {
        /// The coordinate.
        at: usize,
        /// From what was drawn to the place between the bounds; none for clamping.
        curves: Vec<Curve>,
        /// Whether it is missing.
        absent: Option<Absent>,
    },
    /// An angle: the nearest point of the circle.
    Circle {
        /// The first coordinate.
        at: usize,
        /// Whether it is missing.
        absent: Option<Absent>,
    },
    /// A category: the one with the largest weight, after something was added to each.
    Hot {
        /// The first coordinate.
        at: usize,
        /// What is added to the weights.
        offsets: Vec<Vec<f64>>,
    },
}

/// When a value is missing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Absent {
    /// The coordinate that says so.
    pub at: usize,
    /// It is missing above this.
    pub above: Vec<f64>,
    /// Of the rows that stand just there, the part that is missing; as many, or none at all if none is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tied: Vec<f64>,
}

/// A weight of 1 is this in units.
pub(super) const HOT_UNIT: f64 = HOT as f64 / u16::MAX as f64;

/// The entry of a stratum.
fn of<T>(list: &[T], stratum: usize) -> Option<&T> {
    if list.len() == 1 { list.first() } else { list.get(stratum) }
}

impl Absent {
    /// A value that is missing stands in the middle, as it does at the door.
    fn settle(&self, stratum: usize, from: usize, row: &mut [f64], random: &mut Stream) {
        let above = of(&self.above, stratum).copied().unwrap_or(0.5 * HOT_UNIT);
        let tied = of(&self.tied, stratum).copied().unwrap_or(0.0);
        let missing = Limit { above, tied }.is_passed(row[self.at], random);
        if missing {
            row[from..self.at].fill(f64::from(MIDDLE) / f64::from(u16::MAX));
        }
        row[self.at] = f64::from(u8::from(missing));
    }

    /// One limit for all strata, or one for each.
    pub(super) fn set(&mut self, limits: &[Limit]) {
        self.above = limits.iter().map(|limit| limit.above).collect();
        let tied = limits.iter().any(|limit| limit.tied > 0.0);
        self.tied = limits.iter().filter(|_| tied).map(|limit| limit.tied).collect();
    }
}

impl Settle {
    /// Nothing is calibrated: numbers are clamped, the largest weight wins, what is more missing than not is missing.
    /// Columns that excluded one another still do.
    pub fn plain(schema: &Schema, mut one_of: Vec<OneOf>) -> Settle {
        one_of.iter_mut().for_each(|one_of| one_of.offsets = vec![vec![0.0; one_of.alternatives()]]);
        let blocks = schema.blocks().into_iter().map(|block| {
            let at = block.start;
            let absent =
                block.absence.then(|| Absent { at: at + block.len, above: vec![0.5 * HOT_UNIT], tied: Vec::new() });
            match block.form {
                Form::Line => Settling::Line { at, curves: Vec::new(), absent },
                Form::Circle => Settling::Circle { at, absent },
                Form::OneHot => Settling::Hot { at, offsets: vec![vec![0.0; block.len]] },
            }
        });
        Settle { blocks: blocks.collect(), one_of }
    }

    /// Settles a row.
    pub fn apply(&self, stratum: usize, row: &mut [f64], random: &mut Stream) {
        self.one_of.iter().for_each(|one_of| one_of.settle(stratum, row));
        for block in &self.blocks {
            match block {
                Settling::Line { at, curves, absent } => {
                    if let Some(curve) = of(curves, stratum) {
                        row[*at] = curve.at(row[*at], random);
                    }
                    absent.iter().for_each(|absent| absent.settle(stratum, *at, row, random));
                }
                Settling::Circle { at, absent } => {
                    let (x, y) = (row[*at] - 0.5, row[at + 1] - 0.5);
                    let length = (x * x + y * y).sqrt();
                    let (x, y) = if length > 1e-12 { (0.5 * x / length, 0.5 * y / length) } else { (0.5, 0.0) };
                    (row[*at], row[at + 1]) = (0.5 + x, 0.5 + y);
                    absent.iter().for_each(|absent| absent.settle(stratum, *at, row, random));
                }
                Settling::Hot { at, offsets } => {
                    let Some(offsets) = of(offsets, stratum) else { continue };
                    let block = &mut row[*at..at + offsets.len()];
                    let chosen = largest(block.iter().zip(offsets).map(|(x, offset)| x / HOT_UNIT + offset));
                    block.fill(0.0);
                    block[chosen] = 1.0;
                }
            }
        }
        row.iter_mut().for_each(|x| *x = x.clamp(0.0, 1.0));
    }

    /// What settling relies on; rows have `width` coordinates.
    pub(super) fn fits(&self, width: usize, strata: usize) -> bool {
        let listed = |count: usize| count <= 1 || count == strata;
        // The coordinate that says so stands behind those that it speaks of.
        let absence = |from: usize, absent: &Option<Absent>| {
            absent.as_ref().is_none_or(|a| {
                let tied = a.tied.is_empty() || a.tied.len() == a.above.len();
                let parts = a.tied.iter().all(|part| (0.0..=1.0).contains(part));
                let limits = listed(a.above.len()) && a.above.iter().all(|x| x.is_finite());
                (from + 1..width).contains(&a.at) && limits && tied && parts
            })
        };
        let mut together: Vec<usize> = self.one_of.iter().flat_map(|one_of| one_of.at.iter().copied()).collect();
        together.sort_unstable();
        let once = together.windows(2).all(|pair| pair[0] < pair[1]) && together.last().is_none_or(|&at| at < width);
        let one_of = |one_of: &OneOf| {
            let fits = |o: &Vec<f64>| o.len() == one_of.alternatives() && o.iter().all(|x| x.is_finite());
            !one_of.at.is_empty() && listed(one_of.offsets.len()) && one_of.offsets.iter().all(fits)
        };
        once && self.one_of.iter().all(one_of)
            && self.blocks.iter().all(|block| match block {
                Settling::Line { at, curves, absent } => {
                    *at < width && listed(curves.len()) && curves.iter().all(Curve::fits) && absence(*at, absent)
                }
                Settling::Circle { at, absent } => at.saturating_add(1) < width && absence(at + 1, absent),
                Settling::Hot { at, offsets } => {
                    let fits = |o: &Vec<f64>| {
                        !o.is_empty() && at.saturating_add(o.len()) <= width && o.iter().all(|x| x.is_finite())
                    };
                    !offsets.is_empty() && listed(offsets.len()) && offsets.iter().all(fits)
                }
            })
    }
}

/// The place of the largest, the first of equals.
fn largest(weights: impl Iterator<Item = f64>) -> usize {
    let better = |best: (usize, f64), (c, weight): (usize, f64)| if weight > best.1 { (c, weight) } else { best };
    weights.enumerate().fold((0, f64::NEG_INFINITY), better).0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One column is set, or none where that is an alternative; what is drawn decides, and offsets move it.
    #[test]
    fn columns_that_exclude_one_another() {
        let one_of = |none: bool, offsets: Vec<Vec<f64>>| Settle {
            one_of: vec![OneOf { at: vec![0, 2, 3], none, offsets }],
            ..Settle::default()
        };
        let settled = |settle: &Settle, mut row: [f64; 4]| {
            settle.apply(1, &mut row, &mut Stream::new(0, 0, 0));
            row
        };
        let plain = one_of(false, vec![vec![0.0; 3]]);
        assert_eq!(settled(&plain, [0.2, 0.7, 0.9, 0.8]), [0.0, 0.7, 1.0, 0.0]);
        assert_eq!(settled(&plain, [-0.2, 0.7, -0.9, -0.8]), [1.0, 0.7, 0.0, 0.0]);
        let by_stratum = one_of(false, vec![vec![0.0; 3], vec![0.0, 0.0, 0.5]]);
        assert_eq!(settled(&by_stratum, [0.2, 0.7, 0.9, 0.8]), [0.0, 0.7, 0.0, 1.0]);
        let none = one_of(true, vec![vec![0.0; 4]]);
        assert_eq!(settled(&none, [0.1, 0.7, 0.1, 0.2]), [0.0, 0.7, 0.0, 0.0], "0.6 is left for none");
        assert!(plain.fits(4, 2) && by_stratum.fits(4, 2) && none.fits(4, 2));
        assert!(!by_stratum.fits(4, 3) && !plain.fits(3, 2), "strata and coordinates that are not there");
        assert!(!one_of(true, vec![vec![0.0; 3]]).fits(4, 2), "an offset is missing");
        let twice = Settle { one_of: [plain.one_of.clone(), none.one_of].concat(), ..Settle::default() };
        assert!(!twice.fits(4, 2), "a column of two lists");
    }

    #[test]
    fn blocks_become_values() {
        let settle = Settle {
            one_of: Vec::new(),
            blocks: vec![
                Settling::Line {
                    at: 0,
                    curves: vec![],
                    absent: Some(Absent { at: 1, above: vec![0.3], tied: vec![] }),
                },
                Settling::Circle { at: 2, absent: None },
                Settling::Hot { at: 4, offsets: vec![vec![0.0, 0.0, 9.0], vec![0.0; 3]] },
            ],
        };
        assert!(settle.fits(7, 2) && !settle.fits(6, 2) && !settle.fits(7, 3));
        let before = Absent { at: 1, above: vec![], tied: vec![] };
        for block in [
            Settling::Line { at: 2, curves: vec![], absent: Some(before.clone()) },
            Settling::Circle { at: 0, absent: Some(before) },
        ] {
            assert!(!Settle { blocks: vec![block], ..Settle::default() }.fits(7, 2));
        }
        let mut random = Stream::new(0, 0, 0);
        let mut row = [1.7, 0.31, 0.5, 2.0, 0.9, 0.1, 0.2];
        settle.apply(0, &mut row, &mut random);
        assert_eq!(row, [f64::from(MIDDLE) / f64::from(u16::MAX), 1.0, 0.5, 1.0, 0.0, 0.0, 1.0]);
        let mut row = [-0.2, 0.29, 0.5, 0.5, 0.9, 0.1, 0.2];
        settle.apply(1, &mut row, &mut random);
        assert_eq!(row, [0.0, 0.0, 1.0, 0.5, 1.0, 0.0, 0.0]);
    }
}
