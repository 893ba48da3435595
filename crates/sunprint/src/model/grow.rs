//! A tree of questions that tells the strata of a model apart: grown on drawn rows, so it is public.

use super::Pool;
use crate::schema::{Form, Schema};
use crate::tally::codes::{Q, below_value};
use crate::tally::{Fork, Forks};
use std::collections::BinaryHeap;

/// Numbers that are looked at, and rows at least and at most.
const NUMBERS: usize = 1 << 22;
const ROWS: (usize, usize) = (2048, 65_536);
/// Places where a coordinate may be cut.
const EDGES: usize = 31;
/// Values that are more than this are as good as a continuum.
const MANY: u64 = 1 << 14;
/// Between a category that is not there and one that is.
const SET: u16 = 1 << 14;
/// No leaf has fewer rows of the trial, and none fewer than this part of what leaves of equal size would have.
const LEAST_ROWS: usize = 16;
const LEAST_PART: f64 = 0.25;

/// The code of a drawn coordinate.
pub(super) fn code(unit: f64) -> u16 {
    (unit * f64::from(Q)).round().clamp(0.0, f64::from(Q)) as u16
}

/// Grows a tree of at most `most` leaves in which the strata of the model are as far apart as questions can bring them.
///
/// The fork with the largest gain is taken first; the gain is what Gini's impurity `Σ_leaves N (1 − Σ_s p_s²)` loses,
/// that is `Σ_s b_s²/B + Σ_s a_s²/A − Σ_s n_s²/N` for N rows of which B go below and A above.
pub(crate) fn grow(pool: &Pool, schema: &Schema, most: usize) -> Forks {
    let strata = schema.strata();
    let sample = Sample::of(pool, schema);
    let least = (LEAST_PART * sample.strata.len() as f64 / most.max(1) as f64) as usize;
    let least = least.max(LEAST_ROWS);
    let mut order: Vec<u32> = (0..sample.strata.len() as u32).collect();
    let mut forks: Vec<Fork> = Vec::new();
    let mut waiting = BinaryHeap::new();
    let root = Group { first: 0, last: order.len(), parent: None };
    waiting.extend(sample.best(&order, root, strata, least));
    // Leaves are numbered when all forks are there.
    while let Some(cut) = waiting.pop() {
        if forks.len() + 1 >= most {
            break;
        }
        let number = forks.len();
        let Group { first, last, parent } = cut.group;
        forks.push(Fork { at: cut.at as u32, edge: sample.edges[cut.at][cut.edge], below: OPEN, above: OPEN });
        if let Some((parent, above)) = parent {
            let way = if above { &mut forks[parent].above } else { &mut forks[parent].below };
            *way = number as i32;
        }
        let column = &sample.bins[cut.at * sample.strata.len()..][..sample.strata.len()];
        let rows = &mut order[first..last];
        rows.sort_by_key(|&row| usize::from(column[row as usize]) > cut.edge);
        let middle = first + rows.partition_point(|&row| usize::from(column[row as usize]) <= cut.edge);
        for (first, last, above) in [(first, middle, false), (middle, last, true)] {
            let group = Group { first, last, parent: Some((number, above)) };
            waiting.extend(sample.best(&order, group, strata, least));
        }
    }
    let mut leaf = 0;
    for fork in &mut forks {
        for way in [&mut fork.below, &mut fork.above] {
            if *way == OPEN {
                leaf += 1;
                *way = -leaf;
            }
        }
    }
    Forks { forks }
}

/// A way that leads nowhere yet.
const OPEN: i32 = i32::MIN;

/// Drawn rows, column by column, as the number of edges at or below each code.
struct Sample {
    strata: Vec<u32>,
    edges: Vec<Vec<u16>>,
    bins: Vec<u8>,
}

/// Rows that came the same way: a part of the order, and the fork and side they come from.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Group {
    first: usize,
    last: usize,
    parent: Option<(usize, bool)>,
}

/// The best question to a group.
struct Cut {
    gain: f64,
    at: usize,
    edge: usize,
    group: Group,
}

impl PartialEq for Cut {
    fn eq(&self, other: &Cut) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Cut {}

impl PartialOrd for Cut {
    fn partial_cmp(&self, other: &Cut) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Cut {
    /// By gain; among equals the earlier rows first, so that the tree is the same on every machine.
    fn cmp(&self, other: &Cut) -> std::cmp::Ordering {
        self.gain.total_cmp(&other.gain).then(other.group.first.cmp(&self.group.first))
    }
}

impl Sample {
    fn of(pool: &Pool, schema: &Schema) -> Sample {
        let width = schema.width();
        let rows = (NUMBERS / width.max(1)).clamp(ROWS.0, ROWS.1).min(pool.rows());
        // Candidates stand in the order of their strata: every so many of them.
        let some: Vec<usize> = (0..rows).map(|i| (i as u64 * pool.rows() as u64 / rows as u64) as usize).collect();
        let codes: Vec<u16> = some.iter().flat_map(|&i| pool.row(i).iter().copied()).collect();
        let strata = some.iter().map(|&i| pool.strata[i]).collect();
        let mut sample = Sample { strata, edges: vec![Vec::new(); width], bins: Vec::new() };
        let mut column = Vec::new();
        for block in schema.blocks() {
            let steps = schema.columns[block.column].kind.values();
            for at in block.start..block.end() {
                column.clear();
                column.extend(codes.iter().skip(at).step_by(width));
                let listed = block.form == Form::OneHot || at >= block.start + block.len;
                sample.edges[at] = if listed { vec![SET] } else { edges(&column, steps) };
                let edges = &sample.edges[at];
                sample.bins.extend(column.iter().map(|&code| edges.partition_point(|&edge| edge <= code) as u8));
            }
        }
        sample
    }

    /// The question with the largest gain, if there is one that leaves enough rows on both sides.
    fn best(&self, order: &[u32], group: Group, strata: usize, least: usize) -> Option<Cut> {
        let rows = &order[group.first..group.last];
        if rows.len() < 2 * least {
            return None;
        }
        let mut all = vec![0_u32; strata];
        rows.iter().for_each(|&row| all[self.strata[row as usize] as usize] += 1);
        let square = |counts: &[u32]| counts.iter().map(|&c| f64::from(c) * f64::from(c)).sum::<f64>();
        let now = square(&all) / rows.len() as f64;
        let mut best: Option<Cut> = None;
        let mut counts = vec![0_u32; (EDGES + 1) * strata];
        for at in 0..self.edges.len() {
            let column = &self.bins[at * self.strata.len()..][..self.strata.len()];
            let bins = self.edges[at].len() + 1;
            counts[..bins * strata].fill(0);
            for &row in rows {
                counts[usize::from(column[row as usize]) * strata + self.strata[row as usize] as usize] += 1;
            }
            let mut below = vec![0_u32; strata];
            let mut above = all.clone();
            let mut number = 0_usize;
            for edge in 0..bins - 1 {
                for s in 0..strata {
                    let count = counts[edge * strata + s];
                    below[s] += count;
                    above[s] -= count;
                    number += count as usize;
                }
                if number < least || rows.len() - number < least {
                    continue;
                }
                let gain = square(&below) / number as f64 + square(&above) / (rows.len() - number) as f64 - now;
                if gain > best.as_ref().map_or(1e-9, |best| best.gain) {
                    best = Some(Cut { gain, at, edge, group });
                }
            }
        }
        best
    }
}

/// Where a coordinate may be cut: between values where these are few, else at quantiles.
///
/// A number that is written as one of V values at equal distances is cut halfway between two of them: a drawn number and
/// the value it will be written as are on the same side.
fn edges(column: &[u16], values: Option<u64>) -> Vec<u16> {
    let mut edges: Vec<u16> = match values {
        Some(values) if values <= EDGES as u64 + 1 => (1..values).map(|value| below_value(value, values)).collect(),
        _ => quantiles(column),
    };
    if let Some(values) = values.filter(|values| (EDGES as u64 + 2..MANY).contains(values)) {
        let nearest = |code: u16| (f64::from(code) / f64::from(Q) * (values - 1) as f64).round() as u64;
        edges.iter_mut().for_each(|edge| *edge = below_value(nearest(*edge).max(1), values));
    }
    edges.sort_unstable();
    edges.dedup();
    edges.retain(|&edge| edge > 0);
    edges
}

/// Codes that divide a column into parts of equal size.
fn quantiles(column: &[u16]) -> Vec<u16> {
    let mut sorted = column.to_vec();
    sorted.sort_unstable();
    let last = sorted.len().saturating_sub(1);
    (1..=EDGES).filter_map(|i| sorted.get(last * i / (EDGES + 1)).copied()).collect()
}
