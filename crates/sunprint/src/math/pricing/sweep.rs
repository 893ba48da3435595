//! A look at all pairs of some rows, on several threads.

use super::Costs;
use crate::math::flow::simplex::Arc;

/// A pair of a row and a column, and its cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pair {
    pub row: u32,
    pub column: u32,
    pub cost: i64,
}

impl Pair {
    pub fn place(&self) -> (u32, u32) {
        (self.row, self.column)
    }

    /// As an arc of the network in which the columns follow n rows.
    pub fn arc(&self, n: usize) -> Arc {
        Arc { from: self.row, to: n as u32 + self.column, cost: self.cost }
    }
}

/// The potentials by which pairs are judged.
#[derive(Clone, Copy)]
pub(super) struct Prices<'a> {
    /// u, or none: then u_i is the least c_ij − v_j of the row.
    pub rows: Option<&'a [i64]>,
    /// v
    pub columns: &'a [i64],
}

/// What was found.
pub(super) struct Found {
    /// Sorted, each once.
    pub pairs: Vec<Pair>,
    /// For each row looked at, the least c_ij − v_j.
    pub least: Vec<i64>,
    /// For each row looked at, a number that c_ij − v_j reaches in all pairs that are not among `pairs`.
    pub floors: Vec<i64>,
    /// The highest cost (of rows judged without u).
    pub highest: i64,
    /// Whether c_ij < u_i + v_j for some pair.
    pub pays: bool,
}

/// Rows whose costs are asked for at once.
const AT_ONCE: usize = 8;

/// So many pairs are a matter of moments: no second thread for fewer.
const WORTH_A_THREAD: usize = 1 << 15;

/// Cuts the rows into a stretch for each thread; what comes back is in the order of the rows.
pub(super) fn in_stretches<T: Send>(
    cost: &(dyn Costs + Sync),
    rows: &[u32],
    threads: usize,
    work: impl Fn(&[u32]) -> T + Sync,
) -> Vec<T> {
    let threads = threads.clamp(1, 1 + rows.len() * cost.columns() / WORTH_A_THREAD);
    let length = rows.len().div_ceil(threads).next_multiple_of(AT_ONCE);
    if rows.len() <= length {
        return vec![work(rows)];
    }
    std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = rows.chunks(length).map(|stretch| scope.spawn(move || work(stretch))).collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined.map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}

/// Calls `look` with each of the rows and its costs.
pub(super) fn each_row(cost: &(dyn Costs + Sync), rows: &[u32], mut look: impl FnMut(usize, &[i64])) {
    let m = cost.columns();
    let mut out = vec![0; AT_ONCE.min(rows.len()) * m];
    for block in rows.chunks(AT_ONCE) {
        let out = &mut out[..block.len() * m];
        cost.block(block, out);
        block.iter().zip(out.chunks_exact(m)).for_each(|(&i, row)| look(i as usize, row));
    }
}

/// The few smallest of the values offered, in order: value, place among equal values, index.
#[derive(Clone)]
struct Least {
    few: usize,
    items: Vec<(i64, u32, u32)>,
}

impl Least {
    fn new(few: usize) -> Self {
        Least { few, items: Vec::with_capacity(few + 1) }
    }

    /// Nothing above this has a chance.
    fn limit(&self) -> i64 {
        if self.items.len() < self.few { i64::MAX } else { self.items[self.few - 1].0 }
    }

    fn offer(&mut self, item: (i64, u32, u32)) {
        let at = self.items.partition_point(|other| *other < item);
        if at < self.few {
            self.items.insert(at, item);
            self.items.truncate(self.few);
        }
    }
}

/// The order among equal values: as if drawn by lot, for each pair another. In a crowd of equal points all rows would
/// otherwise ask for the same few columns.
pub(super) fn lot(i: usize, j: usize) -> u32 {
    let mut lot = (i as u32).wrapping_mul(0x9E37_79B1) ^ (j as u32).wrapping_mul(0x85EB_CA77);
    for _ in 0..2 {
        lot = (lot ^ (lot >> 15)).wrapping_mul(0x2C1B_3C6D);
    }
    lot ^ (lot >> 13)
}

/// Looks at all pairs of these rows. Each row brings its few (`few.0`) smallest reduced costs c_ij − u_i − v_j, each
/// column its few (`few.1`), if u is given only those that pay.
pub(super) fn sweep(
    cost: &(dyn Costs + Sync),
    rows: &[u32],
    prices: Prices,
    few: (usize, usize),
    threads: usize,
) -> Found {
    let m = cost.columns();
    let mut all = Found { pairs: Vec::new(), least: Vec::new(), floors: Vec::new(), highest: 0, pays: false };
    let mut of_columns = vec![Least::new(few.1); m];
    for (part, columns) in in_stretches(cost, rows, threads, |rows| stretch(cost, rows, prices, few)) {
        all.pairs.extend(part.pairs);
        all.least.extend(part.least);
        all.floors.extend(part.floors);
        all.highest = all.highest.max(part.highest);
        all.pays |= part.pays;
        for (all, part) in of_columns.iter_mut().zip(columns) {
            part.items.into_iter().for_each(|item| all.offer(item));
        }
    }
    for (j, column) in of_columns.iter().enumerate() {
        for &(reduced, _, row) in &column.items {
            let i = row as usize;
            let u = prices.rows.map_or_else(|| all.least[i], |u| u[i]);
            all.pairs.push(Pair { row, column: j as u32, cost: reduced + u + prices.columns[j] });
        }
    }
    all.pairs.sort_unstable();
    all.pairs.dedup();
    all
}

/// The sweep of one thread, and what its rows mean to each column.
fn stretch(cost: &(dyn Costs + Sync), rows: &[u32], prices: Prices, few: (usize, usize)) -> (Found, Vec<Least>) {
    let m = cost.columns();
    let mut found = Found { pairs: Vec::new(), least: Vec::new(), floors: Vec::new(), highest: 0, pays: false };
    let mut of_columns = vec![Least::new(few.1); m];
    // What a reduced cost must not exceed to be of interest to the column.
    let mut limits = vec![if prices.rows.is_some() { -1 } else { i64::MAX }; m];
    let mut of_row = Least::new(few.0);
    each_row(cost, rows, |i, row| {
        of_row.items.clear();
        let mut limit = i64::MAX;
        for (j, (&c, &v)) in row.iter().zip(prices.columns).enumerate() {
            if c - v <= limit {
                of_row.offer((c - v, lot(i, j), j as u32));
                limit = of_row.limit();
            }
        }
        for &(_, _, column) in &of_row.items {
            found.pairs.push(Pair { row: i as u32, column, cost: row[column as usize] });
        }
        let least = of_row.items[0].0;
        found.least.push(least);
        found.floors.push(if few.0 < m { limit } else { i64::MAX });
        let u = prices.rows.map_or(least, |u| u[i]);
        if prices.rows.is_none() {
            found.highest = row.iter().fold(found.highest, |highest, &c| highest.max(c));
        } else if least >= u {
            return;
        }
        found.pays |= least < u;
        for (j, ((&c, &v), limit)) in row.iter().zip(prices.columns).zip(&mut limits).enumerate() {
            if c - v - u <= *limit {
                of_columns[j].offer((c - v - u, lot(i, j), i as u32));
                *limit = of_columns[j].limit().min(*limit);
            }
        }
    });
    (found, of_columns)
}
