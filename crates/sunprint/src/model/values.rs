//! What noisy counts of values say of columns, beside what the model expects of them.
//!
//! All columns are heard together, from their halves down to their cells: how far the model is wrong on average is known from
//! all of them, and what stands out in one by itself is heard by itself ([`crate::math::hear`]). First all rows, then the rows
//! of each stratum, of which the model expects what it does if values come as often as in all rows. What only noise tells
//! apart nobody should be able to tell apart: a cell that the counts cannot say anything about is as full as the model says.

use super::calibrate::{Piece, Target, Trial, ValueCounts, Wanted};
use super::settle::Absent;
use super::tree::{self, Counted, factors_of_all};
use super::weigh::{self, weigh};
use crate::schema::Block;
use crate::tally::Forks;

/// The part of the rows that may be anywhere, whatever the model says.
const ANYWHERE: f64 = 0.02;
/// Where more of the values are missing, the moments say too little of the others.
const MOST_ABSENT: f64 = 0.5;

/// One column of counts, and what the model expects of them.
struct Column<'a> {
    block: &'a Block,
    counted: &'a ValueCounts,
    forks: Forks,
    counts: Vec<f64>,
    expected: Vec<f64>,
    seen: Vec<f64>,
    noise: f64,
}

impl Column<'_> {
    fn tree(&self) -> Counted<'_> {
        let Column { forks, counts, expected, seen, noise, .. } = self;
        Counted { forks, counts, expected, tried: seen, noise: *noise, levelled: true }
    }

    fn heard(&self, factors: &[f64]) -> Vec<f64> {
        factors.iter().zip(&self.expected).map(|(factor, rows)| factor * rows).collect()
    }
}

impl Trial {
    /// What is wanted of the values of every block that was counted.
    pub(super) fn heard(&self, blocks: &[Block], targets: &[Target]) -> Vec<Option<Target>> {
        let counted = || blocks.iter().zip(targets).enumerate().filter_map(|(i, (b, t))| Some((i, b, t.counted.as_ref()?)));
        let columns: Vec<Column> = counted().map(|(_, block, counted)| self.of_all(block, counted)).collect();
        let factors = factors_of_all(&columns.iter().map(Column::tree).collect::<Vec<_>>());
        let all: Vec<Wanted> =
            columns.iter().zip(&factors).map(|(column, factors)| wanted(column, &column.heard(factors))).collect();
        let mut strata = vec![Vec::new(); all.len()];
        if self.members.len() > 1 && std::env::var("LAB_NOSTRATA").is_err() {
            let columns: Vec<Column> = (columns.iter().zip(&all))
                .map(|(column, all)| self.of_strata(column.block, column.counted, all))
                .collect();
            let factors = factors_of_all(&columns.iter().map(Column::tree).collect::<Vec<_>>());
            let columns = columns.iter().zip(&factors).zip(&all);
            strata = columns.map(|((column, factors), all)| own(column, &column.heard(factors), all)).collect();
        }
        let mut found = vec![None; blocks.len()];
        for (((number, ..), all), strata) in counted().zip(all).zip(strata) {
            found[number] = Some(Target { all: Some(all), strata, counted: None });
        }
        found
    }

    /// All rows together, those that have a value.
    fn of_all<'a>(&self, block: &'a Block, counted: &'a ValueCounts) -> Column<'a> {
        let ValueCounts { pieces, noise, rows, .. } = counted;
        let (mut counts, gone) = counted.of_all(block);
        let absent = absent(block);
        let (_, present) = self.present(absent.as_ref(), gone, &self.everyone);
        let edges: Vec<f64> = pieces.windows(2).map(|pair| 0.5 * (pair[0].high + pair[1].low)).collect();
        let mut seen = vec![0.0; pieces.len()];
        for &row in &present {
            let x = self.at(row, block.start);
            seen[edges.partition_point(|&edge| edge < x)] += 1.0;
        }
        let here = rows.max(1.0) * (1.0 - gone);
        level(&mut counts, here);
        let anywhere = ANYWHERE / pieces.len() as f64;
        let part = |seen: &f64| (1.0 - ANYWHERE) * seen / present.len().max(1) as f64 + anywhere;
        let expected = seen.iter().map(|seen| here * part(seen)).collect();
        let noise = noise * (self.members.len() as f64).sqrt();
        Column { block, counted, forks: tree::of_line(pieces.len()), counts, expected, seen, noise }
    }

    /// Stratum by stratum, missing values as one more cell.
    fn of_strata<'a>(&self, block: &'a Block, counted: &'a ValueCounts, all: &Wanted) -> Column<'a> {
        let (pieces, strata) = (counted.pieces.len(), self.members.len());
        let cells = pieces + usize::from(block.absence);
        let absent = absent(block);
        let (limit, present) = self.present(absent.as_ref(), all.absent, &self.everyone);
        let sorted = self.sorted(block.start, &present);
        let ends: Vec<f64> = (all.pieces.iter())
            .scan(0.0, |sum, piece| {
                *sum += piece.share;
                Some(*sum)
            })
            .collect();
        // The middle of the rows that have the same number.
        let part = |x: f64| {
            let below = sorted.partition_point(|&y| y < x) + sorted.partition_point(|&y| y <= x);
            0.5 * below as f64 / sorted.len().max(1) as f64
        };
        let cell = |row: usize| {
            if absent.as_ref().is_some_and(|absent| self.at(row, absent.at) > limit.above) {
                return pieces;
            }
            let part = part(self.at(row, block.start)) * ends.last().copied().unwrap_or(0.0);
            ends.partition_point(|&end| end < part).min(pieces - 1)
        };
        let mut seen = vec![0.0; cells * strata];
        for (s, members) in self.members.iter().enumerate() {
            members.iter().for_each(|&row| seen[s * cells + cell(row)] += 1.0);
        }
        // How many rows a stratum has is known far better than from its cells.
        let one = counted.rows / self.everyone.len().max(1) as f64;
        let expected: Vec<f64> = seen.iter().map(|seen| seen * one).collect();
        let (mut counts, noise) = (counted.counts.clone(), counted.noise);
        for (counts, members) in counts.chunks_exact_mut(cells).zip(&self.members) {
            level(counts, one * members.len() as f64);
        }
        Column { block, counted, forks: tree::of_line(cells), counts, expected, seen, noise }
    }
}

impl ValueCounts {
    /// The counts of all strata together without those of missing values, and the part that is missing.
    fn of_all(&self, block: &Block) -> (Vec<f64>, f64) {
        let mut all = vec![0.0; self.pieces.len() + usize::from(block.absence)];
        for stratum in self.counts.chunks_exact(all.len()) {
            all.iter_mut().zip(stratum).for_each(|(sum, count)| *sum += count);
        }
        let gone = if block.absence { all.pop().unwrap_or(0.0) / self.rows.max(1.0) } else { 0.0 };
        (all, gone.clamp(0.0, 1.0))
    }
}

/// Moves counts so that they add up to what is known of their sum: the likeliest that do.
fn level(counts: &mut [f64], sum: f64) {
    let each = (sum - counts.iter().sum::<f64>()) / counts.len().max(1) as f64;
    counts.iter_mut().for_each(|count| *count += each);
}

/// Where a value is missing.
fn absent(block: &Block) -> Option<Absent> {
    block.absence.then(|| Absent { at: block.start + block.len, above: Vec::new(), tied: Vec::new() })
}

/// What is wanted of all rows, if so many were heard in each cell.
fn wanted(column: &Column, heard: &[f64]) -> Wanted {
    let ValueCounts { pieces, rows, known, .. } = column.counted;
    let (_, gone) = column.counted.of_all(column.block);
    if gone >= 1.0 {
        // Where everything is missing there is nothing to say of the values.
        return Wanted { pieces: Vec::new(), absent: gone };
    }
    let known = known.filter(|_| gone <= MOST_ABSENT).map(|known| known.of_present(gone));
    let counted = weigh::Counted { counts: &column.counts, noise: column.noise, rows: rows.max(1.0) * (1.0 - gone) };
    let mut pieces = pieces.clone();
    weigh(&mut pieces, &counted, heard, known.as_ref());
    Wanted { pieces, absent: gone }
}

/// What is wanted of each stratum, if so many of its rows were heard in each cell.
fn own(column: &Column, heard: &[f64], all: &Wanted) -> Vec<Option<Wanted>> {
    let pieces = all.pieces.len();
    if pieces == 0 {
        return Vec::new();
    }
    let own = |rows: &[f64]| {
        let (here, gone) = rows.split_at(pieces);
        let (present, gone) = (here.iter().sum::<f64>(), gone.iter().sum::<f64>());
        let piece = |(piece, rows): (&Piece, &f64)| Piece { share: rows / present, ..*piece };
        let pieces = all.pieces.iter().zip(here).map(piece).collect();
        (present > 0.0).then(|| Wanted { pieces, absent: gone / (present + gone) })
    };
    heard.chunks_exact(pieces + usize::from(column.block.absence)).map(own).collect()
}
