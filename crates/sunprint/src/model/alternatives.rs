//! Calibrating what a row has one of: a category, or one of several columns that exclude one another.

use super::OneOf;
use super::calibrate::{Piece, Target, Trial, Wanted};
use crate::math::offsets::offsets;
use crate::math::rounding::nearest_shares;

/// What is added to an alternative that never comes.
const NEVER: f64 = -1e6;

impl Trial {
    /// Offsets for which the alternatives come as often as wanted: one list for all strata, or one for each if some
    /// stratum has its own. `weight` gives the weight of an alternative in a row.
    pub(super) fn offsets(
        &self,
        target: &Target,
        all: &Wanted,
        weight: impl Fn(&[f64], usize) -> f64,
    ) -> Vec<Vec<f64>> {
        let common = self.offsets_of(all, &self.everyone, &weight);
        let one = |(wanted, rows): (Option<&Wanted>, &[usize])| match wanted {
            Some(wanted) => self.offsets_of(wanted, rows, &weight),
            None => common.clone(),
        };
        self.groups(target).into_iter().map(one).collect()
    }

    fn offsets_of(&self, wanted: &Wanted, rows: &[usize], weight: impl Fn(&[f64], usize) -> f64) -> Vec<f64> {
        let come: Vec<usize> = (0..wanted.pieces.len()).filter(|&c| wanted.pieces[c].share > 0.0).collect();
        let shares: Vec<f64> = come.iter().map(|&c| wanted.pieces[c].share).collect();
        // Row by row: each is read from memory once.
        let mut weights = vec![Vec::with_capacity(rows.len()); come.len()];
        for &row in rows {
            let units = &self.units[row * self.width..][..self.width];
            weights.iter_mut().zip(&come).for_each(|(weights, &c)| weights.push(weight(units, c) as f32));
        }
        let mut found = vec![NEVER; wanted.pieces.len()];
        if !come.is_empty() {
            come.iter().zip(offsets(&weights, &shares)).for_each(|(&c, offset)| found[c] = offset);
        }
        found
    }

    /// How often each of several columns that exclude one another is set, by the means of the free rows: of all, and of
    /// every stratum.
    pub(super) fn alternatives(&self, one_of: &OneOf) -> Target {
        let said = |rows: Option<&[usize]>| {
            let mut shares: Vec<f64> = one_of.at.iter().map(|&at| self.mean_of(at, rows)).collect();
            if one_of.none {
                shares.push(1.0 - shares.iter().sum::<f64>());
            }
            wanted(&nearest_shares(&shares))
        };
        let mut target = Target { all: Some(said(None)), ..Target::default() };
        if self.members.len() > 1 {
            target.strata = self.members.iter().map(|rows| Some(said(Some(rows)))).collect();
            self.reconcile(&mut target);
        }
        target
    }
}

fn wanted(shares: &[f64]) -> Wanted {
    let piece = |(i, &share): (usize, &f64)| Piece { low: i as f64, high: i as f64, share };
    Wanted { pieces: shares.iter().enumerate().map(piece).collect(), absent: 0.0 }
}
