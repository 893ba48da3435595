//! The certificate of a model: how far its rows are from everything that was released.
//!
//! At the end of a fit rows are drawn from the model and asked what the real rows were asked. What they answer differs from
//! what was released by the noise of the release, by the chance of the draw, and by what the model has not heard or cannot
//! have. So each difference is told in deviations of the first two together: about one where the model agrees with all that
//! can be known, and more where it is wrong by more than noise explains. Post-processing: only released numbers enter.

use super::course::Course;
use crate::model::{Release, Residual, Rows, rows_of};
use crate::tally::{Answer, Marginals, Pass, Work, packed_index};

/// Rows that are drawn.
const ROWS: u64 = 8192;

/// Counts as they were released, and of what.
pub(crate) struct Asked {
    pub stage: &'static str,
    pub marginals: Marginals,
    pub counts: Vec<f64>,
    /// The deviation of the noise in each.
    pub noise: f64,
}

impl Course {
    /// How far the rows of a release are from what was released, measurement by measurement.
    pub(super) fn certificate(&self, release: &Release) -> Vec<Residual> {
        let pairs = self.evidence.moments.as_ref().is_some_and(|moments| !moments.covariances.is_empty());
        let rows = rows_of(release, &self.schema, ROWS, pairs);
        let counted = self.asked.iter().map(|asked| self.of_counts(asked, &rows));
        self.of_sums(&rows).into_iter().chain(self.of_moments(&rows)).chain(counted).collect()
    }

    fn of_sums(&self, rows: &Rows) -> Option<Residual> {
        let sums = self.evidence.sums.as_ref()?;
        let off = |(at, mean): (usize, &Option<f64>)| {
            let chance = rows.covariance(at, at) / ROWS as f64;
            mean.map(|mean| (rows.means[at] - mean) / (sums.noise * sums.noise + chance).sqrt())
        };
        Residual::of("centre", sums.means.iter().enumerate().filter_map(off))
    }

    /// Covariances of rows that were not clipped: where clipping bit, that shows.
    fn of_moments(&self, rows: &Rows) -> Option<Residual> {
        let moments = self.evidence.moments.as_ref()?;
        let (noise, width) = (moments.covariance_noise, self.schema.width());
        let width = if moments.covariances.is_empty() { 0 } else { width };
        let off = |(i, j): (usize, usize)| {
            let released = *moments.covariances.get(packed_index(i, j))?;
            let seen = rows.covariance(i, j);
            let chance = (rows.covariance(i, i) * rows.covariance(j, j) + seen * seen) / ROWS as f64;
            let noise = noise * if i == j { std::f64::consts::SQRT_2 } else { 1.0 };
            Some((seen - released) / (noise * noise + chance).sqrt())
        };
        Residual::of("moments", (0..width).flat_map(|i| (0..=i).map(move |j| (i, j))).filter_map(off))
    }

    fn of_counts(&self, asked: &Asked, rows: &Rows) -> Residual {
        let work = Work::Marginals(asked.marginals.clone());
        let answer = Pass::new(0, self.schema.width(), self.schema.strata(), work).tally(&rows.codes).answer;
        let seen = if let Answer::Cells(cells) = &answer { cells.leaves.as_slice() } else { &[] };
        let n = self.rows as f64;
        let off = |(count, &seen): (&f64, &u64)| {
            let part = seen as f64 / ROWS as f64;
            // Of what never came in so many rows, one may come in the next.
            let chance = n * n * part.max(1.0 / ROWS as f64) / ROWS as f64;
            (n * part - count) / (asked.noise * asked.noise + chance).sqrt()
        };
        let none = Residual { stage: asked.stage.to_string(), numbers: 0, typical: 0.0, worst: 0.0 };
        Residual::of(asked.stage, asked.counts.iter().zip(seen).map(off)).unwrap_or(none)
    }
}
