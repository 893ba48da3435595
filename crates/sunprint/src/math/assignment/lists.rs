//! The cheapest columns of a row.

use super::{CostRows, State};

/// Columns of a fresh list, at least.
pub(super) const SHORT: usize = 16;

/// Columns are looked through in chunks; only a chunk whose minimum is low is opened.
const CHUNK: usize = 16;

/// A column and what it costs the row.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub cost: f64,
    pub column: u32,
}

/// Some columns of a row; no column outside the list has a reduced cost below `bound`, now or later.
#[derive(Clone)]
pub(super) struct List {
    pub entries: Vec<Entry>,
    pub bound: f64,
}

impl Default for List {
    /// The list of a row that was never read: it knows nothing.
    fn default() -> Self {
        List { entries: Vec::new(), bound: f64::NEG_INFINITY }
    }
}

/// The cheapest and the second cheapest entry of a list, with their reduced costs.
pub(super) struct BestTwo {
    pub first: (f64, Entry),
    pub second: (f64, Entry),
}

impl List {
    pub fn best_two(&self, v: &[f64]) -> BestTwo {
        let none = (f64::INFINITY, Entry { cost: 0.0, column: super::NONE });
        let mut best = BestTwo { first: none, second: none };
        for &entry in &self.entries {
            let reduced = entry.cost - v[entry.column as usize];
            if reduced < best.second.0 {
                if reduced < best.first.0 {
                    best = BestTwo { first: (reduced, entry), second: best.first };
                } else {
                    best.second = (reduced, entry);
                }
            }
        }
        best
    }
}

/// Memory that is used again from row to row.
#[derive(Default)]
pub(super) struct Scratch {
    pub buffer: Vec<f64>,
    lows: Vec<f64>,
    sorted: Vec<f64>,
}

impl<C: CostRows> State<'_, C> {
    /// Reads row i and lists at least `wanted` of its cheapest columns (all of them if that is many of a small row).
    ///
    /// The bound is the minimum of a chunk such that `wanted` others are not above it. Everything below the bound is
    /// listed, and of those equal to it as many as are wanted: so the list has `wanted` entries at least, however many
    /// ties there are. Ties are taken from a place that differs from row to row, lest all rows want the same columns.
    pub(super) fn read(&mut self, i: usize, wanted: usize) {
        let Scratch { buffer, lows, sorted } = &mut self.scratch;
        let row = self.costs.row(i, self.size, buffer);
        lows.clear();
        lows.extend(row.chunks(CHUNK).zip(self.v.chunks(CHUNK)).map(|(row, v)| lowest(row, v)));
        let mut bound = f64::INFINITY;
        if wanted < lows.len() {
            sorted.clone_from(lows);
            bound = *sorted.select_nth_unstable_by(wanted, f64::total_cmp).1;
        }
        let list = &mut self.lists[i];
        list.entries.clear();
        list.bound = bound;
        let v = &self.v;
        let columns = |chunk: usize| (chunk * CHUNK..row.len().min((chunk + 1) * CHUNK)).map(|j| (j, row[j] - v[j]));
        for chunk in (0..lows.len()).filter(|&chunk| lows[chunk] < bound) {
            let below = columns(chunk).filter(|&(_, reduced)| reduced < bound);
            list.entries.extend(below.map(|(j, _)| Entry { cost: row[j], column: j as u32 }));
        }
        let missing = wanted.saturating_sub(list.entries.len());
        if missing > 0 && bound < f64::INFINITY {
            let start = i % lows.len();
            let tied = (start..lows.len()).chain(0..start).filter(|&chunk| lows[chunk] <= bound);
            let tied = tied.flat_map(columns).filter(|&(_, reduced)| reduced == bound).take(missing);
            list.entries.extend(tied.map(|(j, _)| Entry { cost: row[j], column: j as u32 }));
        }
    }
}

/// min_j (c_j − v_j), in eight lanes that the compiler keeps in wide registers.
fn lowest(costs: &[f64], v: &[f64]) -> f64 {
    let mut lanes = [f64::INFINITY; 8];
    for (costs, v) in costs.chunks(8).zip(v.chunks(8)) {
        for ((lane, cost), v) in lanes.iter_mut().zip(costs).zip(v) {
            let reduced = cost - v;
            *lane = if reduced < *lane { reduced } else { *lane };
        }
    }
    lanes.into_iter().fold(f64::INFINITY, |low, lane| if lane < low { lane } else { low })
}
