//! Correlations that come out of the rows as they were measured.
//!
//! The moments say how coordinates go together, and a Gaussian is drawn that has just these correlations. Then its
//! numbers are bent into the shapes of their columns and cut into categories, which weakens what goes together, here
//! more and there less. So the Gaussian is made to have other correlations: those after which the settled rows have the
//! measured ones. Post-processing: only released numbers enter.

use super::course::Course;
use crate::math::eigen;
use crate::model::{Frame, Noisy, Release, Target, balance, calibrate, correlations};
use crate::subspace::{Blob, Texture};

/// So often are rows drawn and the correlations moved.
const ROUNDS: u32 = 3;
/// Correlations that are so near, by their root mean square, are near enough: chance in the drawn rows is as large.
const GOOD: f64 = 0.01;
/// Before the last time the values are calibrated by a trial of so many times fewer rows.
const FEWER: u64 = 4;
/// Wider tables are left as they are: it would take too long, and too many rows to tell an error from chance.
const WIDEST: usize = 256;
/// How far the correlations are moved towards what is wanted, in each round.
const STEP: f64 = 0.8;
/// No correlation of the Gaussian is wished larger than this.
const LARGEST: f64 = 0.98;
/// A direction with less of the whole variance is rounding. Small ones matter: columns that nearly follow from one another
/// differ along them alone, and what depends on the difference would be lost.
const LEAST: f64 = 1e-9;

/// What the moments said.
pub(super) struct Ground {
    pub blob: Blob,
    /// The mean minus the centre.
    pub offset: Vec<f64>,
    /// The mean.
    pub means: Vec<f64>,
    /// Deviations of the noise in a coordinate's mean and variance.
    pub noise: (f64, f64),
    /// The strata's parts of the rows.
    pub shares: Vec<f64>,
    /// Their rows, with the noise of each.
    pub stratum_rows: Vec<Noisy>,
}

impl Course {
    /// The release whose rows are calibrated, and what was wanted of their values in the end. With a ground, the texture
    /// is the one of several that brings the correlations nearest to it. `frame` is the one before it was balanced.
    pub(super) fn attuned(
        &self,
        mut release: Release,
        frame: &Frame,
        targets: &[Target],
        ground: Option<&Ground>,
    ) -> (Release, Vec<Target>) {
        let width = self.schema.width();
        // Numbers that are only clamped are not bent.
        let bent = targets.iter().any(Target::measured);
        if let Some(ground) = ground.filter(|_| bent && width <= WIDEST) {
            release = self.nearest_to(ground, release, frame, targets);
        }
        let targets = calibrate(&mut release, &self.schema, &self.evidence, targets, 1);
        (release, targets)
    }

    fn nearest_to(&self, ground: &Ground, mut release: Release, frame: &Frame, targets: &[Target]) -> Release {
        let (width, blocks) = (self.schema.width(), self.schema.blocks());
        let (wanted, deviations) = ground.blob.correlations();
        let mut latent = wanted.clone();
        let mut best = (f64::INFINITY, release.clone());
        for round in 0..=ROUNDS {
            calibrate(&mut release, &self.schema, &self.evidence, targets, FEWER);
            let seen = correlations(&release, width);
            let together: Vec<Vec<usize>> = blocks
                .iter()
                .map(|block| (block.start..block.start + block.width()).collect())
                .chain(release.settle.one_of.iter().map(|one_of| one_of.at.clone()))
                .collect();
            let off = errors(&wanted, &seen, &together, width);
            let error = (off.iter().map(|x| x * x).sum::<f64>() / off.len().max(1) as f64).sqrt();
            if error < best.0 {
                best = (error, release.clone());
            }
            if round == ROUNDS || error < GOOD {
                break;
            }
            for (x, off) in latent.iter_mut().zip(&off) {
                let most = LARGEST.max(x.abs());
                *x = (*x + STEP * off).clamp(-most, most);
            }
            release.frame = frame.clone();
            release.texture = self.texture(ground, &latent, &deviations, frame);
            balance(&mut release, width, None);
        }
        best.1
    }

    /// The texture of a Gaussian with other correlations and the same deviations.
    fn texture(&self, ground: &Ground, latent: &[f64], deviations: &[f64], frame: &Frame) -> Texture {
        let d = deviations.len();
        let left = &ground.blob.left;
        let own = |i: usize, j: usize| if i == j { left[i] } else { 0.0 };
        let common = |at: usize| {
            let (i, j) = (at / d, at % d);
            latent[at] * deviations[i] * deviations[j] - own(i, j)
        };
        let pairs = eigen::symmetric(&(0..d * d).map(common).collect::<Vec<f64>>(), d);
        let least = LEAST * deviations.iter().map(|x| x * x).sum::<f64>();
        let heard = pairs.values.iter().zip(&pairs.vectors).filter(|(value, _)| **value > least);
        let directions: Vec<Vec<f64>> = heard.map(|(value, v)| v.iter().map(|x| x * value.sqrt()).collect()).collect();
        let blob = Blob::new(directions, left.clone(), ground.blob.shifts.clone(), &ground.shares);
        let vectors: &[Vec<f64>] = match frame {
            Frame::Basis { vectors, .. } => vectors,
            Frame::Columns { .. } => &[],
        };
        Texture::of(&blob, vectors, &ground.offset, self.schema.strata())
    }
}

/// What is missing of the wanted correlations. Coordinates of one column go `together` as its values say, and so do columns
/// that exclude one another.
fn errors(wanted: &[f64], seen: &[f64], together: &[Vec<usize>], width: usize) -> Vec<f64> {
    let mut off: Vec<f64> = wanted.iter().zip(seen).map(|(wanted, seen)| wanted - seen).collect();
    for some in together {
        some.iter().for_each(|i| some.iter().for_each(|j| off[i * width + j] = 0.0));
    }
    off
}
