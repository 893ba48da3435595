//! Fits that end without a measured direction: a Gaussian for each stratum, and how many rows each has.

use super::contrasts::ContrastStage;
use super::course::{Course, Next};
use super::default::Rest;
use super::moments::NO_DIRECTION;
use super::values::CategoryStage;
use crate::error::Result;
use crate::measure::{Consistency, Measure, StratumTree, TreeMeasure, consistent};
use crate::model::{Frame, Release, Settle, Spot, StratumEvidence};
use crate::privacy::{Charge, PathTree, Sensitive};
use crate::subspace::{Blob, Centre, Covariance, Texture};
use crate::tally::MomentTally;

/// The rows of each stratum. Still secret.
pub(super) fn stratum_sizes(tally: &MomentTally) -> Vec<u64> {
    tally.stratum_rows.iter().map(|&rows| rows.max(0) as u64).collect()
}

/// The noisy covariance as it is, without its negative part: what the Gaussian baseline draws from.
pub(super) fn plain_blob(covariance: &Covariance) -> Blob {
    let eigen = &covariance.eigen;
    let positive = eigen.values.iter().zip(&eigen.vectors).filter(|(value, _)| **value > 0.0);
    let directions = positive.map(|(value, v)| v.iter().map(|x| x * value.sqrt()).collect()).collect();
    Blob::new(directions, vec![0.0; covariance.width], Vec::new(), &[])
}

impl Course {
    /// Ends the fit with a blob; `sizes` are the rows of strata, on which the first charge is spent if there is more than
    /// one. The second one is for categories, as below.
    pub(super) fn finish_blob(
        &mut self,
        blob: &Blob,
        origin: Vec<f64>,
        sizes: Sensitive<Vec<u64>>,
        charges: (Charge, Charge),
        spectrum: (Vec<f64>, f64),
    ) -> Result<Next> {
        let (charge, categories) = charges;
        let measure = self.stratum_counts(sizes, charge)?;
        self.blob_done(blob, origin, measure, spectrum, categories)
    }

    /// The same once the rows of strata are known. Categories are counted if there is a charge for that: means alone say
    /// nothing of how often each comes.
    pub(super) fn blob_done(
        &mut self,
        blob: &Blob,
        origin: Vec<f64>,
        measure: Measure,
        spectrum: (Vec<f64>, f64),
        categories: Charge,
    ) -> Result<Next> {
        let texture = Texture::of(blob, &[], &vec![0.0; origin.len()], self.schema.strata());
        self.receipt.dimension = Some(0);
        self.receipt.cells = Some("none: a Gaussian for each stratum".to_string());
        let frame = Frame::Basis { origin, vectors: Vec::new(), sides: Vec::new() };
        let (spectrum, edge) = spectrum;
        let (spot, settle) = (Spot::Uniform, Settle::default());
        let release = Release {
            frame,
            measure,
            texture,
            spot,
            spectrum,
            edge,
            settle,
            sieves: Vec::new(),
            ancestors: Vec::new(),
            weights: Vec::new(),
        };
        if categories.amount().is_zero() {
            return self.done(release, &[], None, None);
        }
        Ok(Next::ask(CategoryStage { spec: self.every_category(), charge: categories, release }))
    }

    /// How many rows each stratum has: a tree of strata alone, whose counts get the whole charge.
    ///
    /// A replaced row leaves one stratum and enters another. With one stratum the count is n, which is public.
    pub(super) fn stratum_counts(&mut self, sizes: Sensitive<Vec<u64>>, charge: Charge) -> Result<Measure> {
        let strata = self.schema.strata();
        if strata == 1 {
            let all = StratumTree { depth: 0, leaves: vec![(0, self.rows)] };
            return Ok(Measure::Tree(TreeMeasure { cuts: Vec::new(), strata: vec![all] }));
        }
        let tree = PathTree { total: 1, root: 1, strata: vec![Vec::new(); strata] };
        let (counts, laws) = self.kernel.path_counts("measure", &tree, sizes, charge)?.into_parts();
        let noise = laws.root.map_or(0.0, |law| law.deviation());
        self.remark_on_few_rows(noise, strata);
        let measure = consistent(&counts, &laws, Vec::new(), self.rows, &Consistency::LeastSquares);
        let n = self.rows as f64;
        let parts = (0..strata).map(|s| measure.rows(s) as f64 / n).collect();
        self.evidence.strata.get_or_insert(StratumEvidence { parts, noise: noise / n });
        Ok(measure)
    }

    /// With so few rows that not even the strata can be told apart, only their counts are left to measure.
    pub(super) fn only_counts(&mut self, centre: Centre, rest: Rest) -> Result<Next> {
        if self.schema.strata() > 1 {
            let spec = crate::tally::ClampedSums { centre: centre.codes.clone(), reach: 0 };
            return Ok(Next::ask(ContrastStage { centre, spec, rest }));
        }
        self.receipt.remarks.push(NO_DIRECTION.to_string());
        let blob = self.round_blob(&centre, Vec::new());
        let spectrum = (Vec::new(), 0.0);
        self.finish_blob(&blob, centre.units(), Sensitive::new(Vec::new()), (rest.measure, rest.marginals), spectrum)
    }
}
