//! Calibrating what a row has one of: a category, or one of several columns that exclude one another.

use super::OneOf;
use super::calibrate::{Piece, Target, Trial, Wanted};
use crate::math::rounding::nearest_shares;

/// Rounds in which the offsets are set, and the error of a share at which they end.
const ROUNDS: usize = 120;
const EXACT: f64 = 5e-4;
/// What is added to an alternative that never comes.
const NEVER: f64 = -1e6;

impl Trial {
    /// Offsets for which the alternatives come as often as wanted: one list for all strata, or one for each if some
    /// stratum has its own. `choose` gives the alternative of a row with some offsets.
    pub(super) fn offsets(
        &self,
        target: &Target,
        all: &Wanted,
        choose: impl Fn(&[f64], &[f64]) -> usize,
    ) -> Vec<Vec<f64>> {
        let common = self.offsets_of(all, &self.everyone, &choose);
        let one = |(wanted, rows): (Option<&Wanted>, &[usize])| match wanted {
            Some(wanted) => self.offsets_of(wanted, rows, &choose),
            None => common.clone(),
        };
        self.groups(target).into_iter().map(one).collect()
    }

    /// Each offset is raised while its alternative comes too rarely.
    fn offsets_of(&self, wanted: &Wanted, rows: &[usize], choose: impl Fn(&[f64], &[f64]) -> usize) -> Vec<f64> {
        let shares: Vec<f64> = wanted.pieces.iter().map(|piece| piece.share).collect();
        let never = |share: &f64| if *share > 0.0 { 0.0 } else { NEVER };
        let mut offsets: Vec<f64> = shares.iter().map(never).collect();
        let step: Vec<f64> = shares.iter().map(|p| 0.3 / (p * (1.0 - p) + 1e-3).sqrt()).collect();
        let whole = rows.len() as f64;
        for _ in 0..ROUNDS {
            let mut seen = vec![0.0; shares.len()];
            for &row in rows {
                seen[choose(&self.units[row * self.width..][..self.width], &offsets)] += 1.0;
            }
            let error = |c: usize| shares[c] - seen[c] / whole.max(1.0);
            if (0..shares.len()).all(|c| error(c).abs() < EXACT) {
                break;
            }
            for c in (0..shares.len()).filter(|&c| shares[c] > 0.0) {
                offsets[c] += step[c] * error(c);
            }
        }
        offsets
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
