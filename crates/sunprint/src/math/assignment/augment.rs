//! Shortest augmenting paths on lists.

use super::lists::SHORT;
use super::{CostRows, NONE, State};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What the search knows of each column, and what it will look at next.
struct Search {
    distance: Vec<f64>,
    /// The row that a column is reached from, and what the column costs it.
    came_from: Vec<(u32, f64)>,
    settled: Vec<bool>,
    touched: Vec<u32>,
    /// The distance at which a row was entered, minus its own tight reduced cost.
    entered: Vec<f64>,
    /// Columns by their distance; and, as number of columns + row, rows by the distance at which their list ends.
    /// Distances are not negative, and such floats are in the order of their bits.
    queue: BinaryHeap<Reverse<(u64, u32)>>,
}

impl<C: CostRows> State<'_, C> {
    /// For each free row, Dijkstra's shortest path over reduced costs to a free column; then the columns passed on the
    /// way get v_j += distance_j − distance of the end, which keeps the invariant, and the path is flipped.
    pub(super) fn augment(&mut self) {
        let size = self.size;
        let mut search = Search {
            distance: vec![f64::INFINITY; size],
            came_from: vec![(NONE, 0.0); size],
            settled: vec![false; size],
            touched: Vec::new(),
            entered: vec![0.0; size],
            queue: BinaryHeap::new(),
        };
        for start in 0..size {
            if self.column_of[start] == NONE {
                let (end, length) = self.nearest_free_column(start, &mut search);
                // The end itself is settled too, at the length of the path: its potential stays.
                for j in search.touched.drain(..).map(|j| j as usize) {
                    if std::mem::replace(&mut search.settled[j], false) {
                        self.v[j] += search.distance[j] - length;
                    }
                    search.distance[j] = f64::INFINITY;
                }
                search.queue.clear();
                self.flip(start, end, &search.came_from);
            }
        }
    }

    fn nearest_free_column(&mut self, start: usize, search: &mut Search) -> (u32, f64) {
        if self.lists[start].best_two(&self.v).first.0 > self.lists[start].bound {
            self.read(start, SHORT);
        }
        search.entered[start] = -self.lists[start].best_two(&self.v).first.0;
        self.look_from(start, search);
        loop {
            // The queue is never empty before a free column is found: a complete list reaches every column.
            let Some(Reverse((bits, at))) = search.queue.pop() else { unreachable!("every column can be reached") };
            if at as usize >= self.size {
                let row = at as usize - self.size;
                let longer = (2 * self.lists[row].entries.len()).max(SHORT);
                self.read(row, longer);
                self.look_from(row, search);
            } else if !std::mem::replace(&mut search.settled[at as usize], true) {
                let (distance, holder) = (f64::from_bits(bits), self.row_of[at as usize]);
                if holder == NONE {
                    return (at, distance);
                }
                search.entered[holder as usize] = distance - self.row_potential(holder as usize);
                self.look_from(holder as usize, search);
            }
        }
    }

    /// Offers the columns of a row's list; where the list ends the row wants to be asked again.
    fn look_from(&self, row: usize, search: &mut Search) {
        let (list, entered) = (&self.lists[row], search.entered[row]);
        for entry in &list.entries {
            let j = entry.column as usize;
            let through = entered + (entry.cost - self.v[j]);
            if through < search.distance[j] {
                if search.distance[j] == f64::INFINITY {
                    search.touched.push(entry.column);
                }
                search.distance[j] = through;
                search.came_from[j] = (row as u32, entry.cost);
                search.queue.push(Reverse((through.to_bits(), entry.column)));
            }
        }
        if list.bound < f64::INFINITY {
            // The bound of an old list may lie below the row's minimum by now, which is at a distance of 0 or more.
            let end = (entered + list.bound).max(0.0);
            search.queue.push(Reverse((end.to_bits(), (self.size + row) as u32)));
        }
    }

    fn flip(&mut self, start: usize, end: u32, came_from: &[(u32, f64)]) {
        let mut j = end;
        loop {
            let (i, cost) = came_from[j as usize];
            let before = self.column_of[i as usize];
            self.give(i as usize, j, cost);
            if i as usize == start {
                return;
            }
            j = before;
        }
    }
}
