//! Making every value come as often as was released.
//!
//! A trial draw shows how often the free rows of the model would give each value; curves, thresholds and offsets are
//! then set so that the settled rows give it as often as the released counts say. Post-processing: only released
//! numbers enter.

use super::curve::{Curve, Limit};
use super::settle::{Absent, HOT_UNIT, Settle, Settling};
use super::{Draw, Evidence, Release, ValueCounts};
use crate::math::rounding::nearest_shares;
use crate::schema::{Block, Form, Schema};

/// What is wanted of one block.
#[derive(Clone, Debug, Default)]
pub struct Target {
    /// Of all rows together; nothing where it was not measured.
    pub all: Option<Wanted>,
    /// Of the rows of each stratum, where that was measured well enough; empty where it was not at all.
    pub strata: Vec<Option<Wanted>>,
    /// Counts of all rows that are still to be heard.
    pub counted: Option<ValueCounts>,
}

impl Target {
    /// Whether anything was measured.
    pub fn measured(&self) -> bool {
        self.all.is_some() || self.counted.is_some()
    }
}

/// How often which values are wanted.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// Of a line: pieces in ascending order. Of categories: one piece each, in their order.
    pub pieces: Vec<Piece>,
    /// The part of the rows whose value is missing.
    pub absent: f64,
}

/// A part of the rows between two places.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// Lower end, in units.
    pub low: f64,
    /// Upper end; the lower one for a single value.
    pub high: f64,
    /// The part of the rows, of those that are not missing.
    pub share: f64,
}

/// Numbers of the trial draw, and its rows at least and at most.
const TRIAL: usize = 1 << 22;
const TRIAL_ROWS: (u64, u64) = (2048, 32_768);
/// Any fixed number: the trial is part of the fit and its result is stored.
const TRIAL_SEED: u64 = 0;
/// A stratum with fewer rows in the trial is settled as all are.
const LEAST_ROWS: usize = 256;
/// Rounds in which the strata's shares are moved towards those of all.
const RECONCILED: usize = 8;

/// Sets the way in which blocks are settled. `targets` has one entry for each block. Gives what was wanted in the end,
/// for [`recalibrate`]: of every block, then of every list of columns that exclude one another. The trial has so many times
/// `fewer` rows than a good one.
pub(crate) fn calibrate(
    release: &mut Release,
    schema: &Schema,
    evidence: &Evidence,
    targets: &[Target],
    fewer: u64,
) -> Vec<Target> {
    release.settle = Settle::plain(schema, std::mem::take(&mut release.settle.one_of));
    let blocks = schema.blocks();
    let two_valued = |c: usize| schema.columns[c].kind.values() == Some(2);
    let wanted = blocks.iter().zip(targets).any(|(block, target)| {
        target.measured() || block.absence || block.form == Form::OneHot || two_valued(block.column)
    });
    if !wanted {
        return targets.to_vec();
    }
    let mut trial = Trial::of(release, schema.width(), fewer);
    trial.released = (0..schema.width()).map(|at| evidence.both_means(at).map(|mean| mean.value)).collect();
    let one_of = &release.settle.one_of;
    let together = |block: &Block| one_of.iter().any(|one_of| one_of.at.contains(&block.start));
    let complete = |(block, target): (&Block, &Target)| {
        if together(block) {
            return Target::default();
        }
        let mut target = target.clone();
        let said = |rows: Option<&[usize]>| match block.form {
            Form::OneHot => Some(trial.mean_categories(block.start, block.len, rows)),
            Form::Line if two_valued(block.column) => Some(trial.mean_halves(block.start, rows)),
            _ => None,
        };
        let measured = target.measured();
        if let Some(counted) = target.counted.take() {
            target.all = Some(trial.heard(&counted, block));
        }
        if !measured {
            target.all = said(None);
        }
        if target.strata.is_empty() && trial.members.len() > 1 && !block.absence {
            target.strata = trial.members.iter().map(|rows| said(Some(rows))).collect();
        }
        trial.reconcile(&mut target);
        if !measured && block.absence {
            let absent = (trial.mean(block.start + block.len) / HOT_UNIT).clamp(0.0, 1.0);
            target.all.get_or_insert_with(Wanted::anything).absent = absent;
        }
        target
    };
    let alternatives = one_of.iter().map(|one_of| trial.alternatives(one_of));
    let targets: Vec<Target> = blocks.iter().zip(targets).map(complete).chain(alternatives).collect();
    trial.settle(release, schema, &targets);
    targets
}

/// Sets it again once candidates have weights: drawing some rather than others moves how often values come.
pub(crate) fn recalibrate(release: &mut Release, schema: &Schema, targets: &[Target]) {
    if targets.iter().all(|target| target.all.is_none()) {
        return;
    }
    Trial::of(release, schema.width(), 1).settle(release, schema, targets);
}

impl Wanted {
    /// Whatever was drawn.
    fn anything() -> Wanted {
        Wanted { pieces: Vec::new(), absent: 0.0 }
    }
}

/// Free rows of the model: those that are kept.
pub(super) struct Trial {
    pub width: usize,
    pub units: Vec<f64>,
    /// The rows of each stratum.
    pub members: Vec<Vec<usize>>,
    pub everyone: Vec<usize>,
    /// The means of coordinates, where they were released.
    pub released: Vec<Option<f64>>,
}

impl Trial {
    pub(super) fn of(release: &Release, width: usize, fewer: u64) -> Trial {
        let rows = ((TRIAL / width.max(1)) as u64 / fewer).clamp(TRIAL_ROWS.0, TRIAL_ROWS.1 / fewer);
        let draw = Draw::new(release, width, rows, TRIAL_SEED);
        let mut trial = Trial {
            width,
            units: Vec::new(),
            members: vec![Vec::new(); release.measure.strata()],
            everyone: Vec::new(),
            released: Vec::new(),
        };
        draw.each_free(|drawn| {
            for &stratum in &drawn.strata {
                trial.members[stratum as usize].push(trial.everyone.len());
                trial.everyone.push(trial.everyone.len());
            }
            trial.units.extend(drawn.units);
        });
        trial
    }

    /// What counts ask of a column of numbers, whatever the stratum.
    fn heard(&self, counted: &ValueCounts, block: &Block) -> Wanted {
        let absent = block.absence.then(|| Absent { at: block.start + block.len, above: Vec::new(), tied: Vec::new() });
        let (_, present) = self.present(absent.as_ref(), counted.absent, &self.everyone);
        counted.wanted(&self.sorted(block.start, &present))
    }

    /// Sets how blocks are settled.
    fn settle(&self, release: &mut Release, schema: &Schema, targets: &[Target]) {
        let mut settle = Settle::plain(schema, std::mem::take(&mut release.settle.one_of));
        for (settling, target) in settle.blocks.iter_mut().zip(targets) {
            self.set(settling, target);
        }
        for (one_of, target) in settle.one_of.iter_mut().zip(&targets[settle.blocks.len()..]) {
            let Some(all) = &target.all else { continue };
            one_of.offsets = self.offsets(target, all, |row, c| one_of.weight(row, c));
        }
        release.settle = settle;
    }

    /// Some rows in the order of a coordinate.
    fn sorted(&self, column: usize, rows: &[usize]) -> Vec<f64> {
        let mut drawn: Vec<f64> = rows.iter().map(|&row| self.at(row, column)).collect();
        drawn.sort_unstable_by(f64::total_cmp);
        drawn
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        self.units[row * self.width + column]
    }

    /// The mean that was released, or else that of what was drawn inside the bounds, which was balanced.
    fn mean(&self, column: usize) -> f64 {
        if let Some(&Some(mean)) = self.released.get(column) {
            return mean;
        }
        let inside = self.everyone.iter().map(|&row| self.at(row, column).clamp(0.0, 1.0));
        inside.sum::<f64>() / self.everyone.len().max(1) as f64
    }

    /// The mean of some rows, or of all. What balancing has moved is moved back: by as much as for all rows together.
    pub(super) fn mean_of(&self, column: usize, rows: Option<&[usize]>) -> f64 {
        let free =
            |rows: &[usize]| rows.iter().map(|&row| self.at(row, column)).sum::<f64>() / rows.len().max(1) as f64;
        self.mean(column) + rows.filter(|rows| !rows.is_empty()).map_or(0.0, |rows| free(rows) - free(&self.everyone))
    }

    /// The shares of categories that the mean of the free rows says.
    fn mean_categories(&self, start: usize, len: usize, rows: Option<&[usize]>) -> Wanted {
        let shares: Vec<f64> = (0..len).map(|c| self.mean_of(start + c, rows) / HOT_UNIT).collect();
        let piece = |(c, share): (usize, f64)| Piece { low: c as f64, high: c as f64, share };
        Wanted { pieces: nearest_shares(&shares).into_iter().enumerate().map(piece).collect(), absent: 0.0 }
    }

    /// The shares of two values that the mean of the free rows says.
    fn mean_halves(&self, column: usize, rows: Option<&[usize]>) -> Wanted {
        let mean = self.mean_of(column, rows).clamp(0.0, 1.0);
        let piece = |at: f64, share: f64| Piece { low: at, high: at, share };
        Wanted { pieces: vec![piece(0.0, 1.0 - mean), piece(1.0, mean)], absent: 0.0 }
    }

    /// Moves what is wanted of the strata so that together it is what is wanted of all, which is known better: shares
    /// that noise made negative were lifted to nothing in each stratum, and in the rarest categories that adds up. A stratum
    /// without wishes of its own is settled as all are.
    pub(super) fn reconcile(&self, target: &mut Target) {
        let Some(all) = &target.all else { return };
        let rows = self.everyone.len().max(1) as f64;
        for _ in 0..RECONCILED {
            let mut off: Vec<f64> = all.pieces.iter().map(|piece| piece.share).collect();
            for (wanted, members) in target.strata.iter().zip(&self.members) {
                let part = members.len() as f64 / rows;
                let shares = wanted.as_ref().unwrap_or(all).pieces.iter().map(|piece| part * piece.share);
                off.iter_mut().zip(shares).for_each(|(off, share)| *off -= share);
            }
            for wanted in target.strata.iter_mut().flatten() {
                let moved: Vec<f64> = wanted.pieces.iter().zip(&off).map(|(piece, off)| piece.share + off).collect();
                let moved = nearest_shares(&moved);
                wanted.pieces.iter_mut().zip(moved).for_each(|(piece, share)| piece.share = share);
            }
        }
    }

    /// All rows together, or each stratum if some stratum has its own wishes: what is its own, and its rows.
    pub(super) fn groups<'a>(&'a self, target: &'a Target) -> Vec<(Option<&'a Wanted>, &'a [usize])> {
        let own = |s: usize| {
            let enough = self.members[s].len() >= LEAST_ROWS;
            target.strata.get(s).and_then(Option::as_ref).filter(|_| enough)
        };
        if (0..self.members.len()).any(|s| own(s).is_some()) {
            (0..self.members.len()).map(|s| (own(s), self.members[s].as_slice())).collect()
        } else {
            vec![(None, self.everyone.as_slice())]
        }
    }

    /// Sets the lists of a block: one entry for all, or one for each stratum if some stratum has its own.
    pub(super) fn set(&self, settling: &mut Settling, target: &Target) {
        let Some(all) = &target.all else { return };
        let groups = self.groups(target);
        match settling {
            Settling::Line { at, curves, absent } => {
                let mut limits: Vec<Limit> = Vec::new();
                curves.clear();
                for (wanted, rows) in &groups {
                    // A stratum without its own counts is settled by the curve of all rows.
                    let rows = if wanted.is_some() { rows } else { self.everyone.as_slice() };
                    let wanted = wanted.unwrap_or(all);
                    let (limit, present) = self.present(absent.as_ref(), wanted.absent, rows);
                    limits.push(limit);
                    // Nothing wanted gives a curve without points: one for each group all the same.
                    curves.push(Curve::through(&self.sorted(*at, &present), &wanted.pieces));
                }
                absent.iter_mut().for_each(|absent| absent.set(&limits));
            }
            Settling::Circle { absent, .. } => {
                let limit = |(wanted, rows): &(Option<&Wanted>, &[usize])| {
                    let rows = if wanted.is_some() { rows } else { self.everyone.as_slice() };
                    self.present(absent.as_ref(), wanted.unwrap_or(all).absent, rows).0
                };
                let limits: Vec<Limit> = groups.iter().map(limit).collect();
                absent.iter_mut().for_each(|absent| absent.set(&limits));
            }
            Settling::Hot { at, offsets } => {
                *offsets = self.offsets(target, all, |row, c| row[*at + c] / HOT_UNIT);
            }
        }
    }

    /// When a value is missing so that a part of these rows is, and the rows in which it is not: of those that stand at the
    /// limit itself as many as it takes, one as well as another.
    fn present(&self, absent: Option<&Absent>, part: f64, rows: &[usize]) -> (Limit, Vec<usize>) {
        let Some(absent) = absent else { return (Limit::NEVER, rows.to_vec()) };
        let limit = Limit::of(&self.sorted(absent.at, rows), part);
        let mut tied = 0.0;
        let here = |&row: &usize| {
            let x = self.at(row, absent.at);
            if x == limit.above {
                // Every so many of them, evenly.
                let before = f64::floor(tied);
                tied += 1.0 - limit.tied;
                return f64::floor(tied) > before;
            }
            x < limit.above
        };
        (limit, rows.iter().copied().filter(here).collect())
    }
}
