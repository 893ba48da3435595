//! Released numbers are noted as they came, with their noise, and the finished model is held to them.

use super::course::{Course, Next};
use crate::model::{MOST_COVARIANCES, MomentEvidence, Release, StratumEvidence, SumEvidence, Target, verify};
use crate::plan::Method;
use crate::subspace::Covariance;
use crate::tally::codes::Q;

/// A number without the digits that noise has made meaningless: to a sixty-fourth of its deviation.
pub(super) fn short(x: f64, noise: f64) -> f64 {
    let step = (noise / 64.0).log10().floor();
    if !step.is_finite() || step < -15.0 {
        return x;
    }
    let scale = 10_f64.powi(-step as i32);
    (x * scale).round() / scale
}

impl Course {
    /// The means of the coordinates that were summed.
    pub(super) fn sum_evidence(&self, counted: &[bool], sums: &[i64], noise: f64) -> SumEvidence {
        let over = self.rows as f64 * f64::from(Q);
        let mut open = sums.iter();
        let noise = noise / over;
        let mean =
            |counted: &bool| if *counted { open.next().map(|&sum| short(sum as f64 / over, noise)) } else { None };
        SumEvidence { means: counted.iter().map(mean).collect(), noise }
    }

    /// What the moments say of every coordinate, of pairs of them, and of the strata.
    pub(super) fn note_moments(&mut self, covariance: &Covariance, units: &[f64], radius: u32) {
        let mean_noise = covariance.mean_noise;
        let covariance_noise = covariance.diagonal_noise / std::f64::consts::SQRT_2;
        let kept = if covariance.width <= MOST_COVARIANCES { covariance.lower.as_slice() } else { &[] };
        self.evidence.moments = Some(MomentEvidence {
            centre: units.to_vec(),
            radius: f64::from(radius) / f64::from(Q),
            means: units.iter().zip(&covariance.measured).map(|(c, x)| short(c + x, mean_noise)).collect(),
            mean_noise,
            covariances: kept.iter().map(|&x| short(x, covariance_noise)).collect(),
            covariance_noise,
            variances: covariance.diagonal.iter().map(|&x| short(x, covariance_noise)).collect(),
            mean_bias: covariance.clipping,
            variance_bias: 0.0,
        });
        if covariance.strata.len() == self.schema.strata() {
            let n = self.rows as f64;
            let noise = covariance.strata.first().map_or(0.0, |stratum| stratum.rows_noise) / n;
            let parts = covariance.strata.iter().map(|stratum| short(stratum.counted / n, noise)).collect();
            self.evidence.strata = Some(StratumEvidence { parts, noise });
        }
    }

    /// The end of a fit: whatever was done after the releases, rows must agree with them.
    pub(super) fn complete(&mut self, mut release: Release, targets: &[Target]) -> Next {
        if self.plan.texture && matches!(self.plan.method, Method::Default | Method::Gaussian) {
            verify(&mut release, &self.schema, &self.evidence, targets);
            self.evidence.residuals = self.certificate(&release);
        }
        Next::Done(Box::new(release))
    }
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn digits_below_the_noise_are_left_out() {
        assert_eq!(short(0.123_456_789, 0.01), 0.1235);
        assert_eq!(short(-1234.567, 100.0), -1235.0);
        assert_eq!(short(0.1, 0.0), 0.1);
        for noise in [1e-9, 1e-3, 0.3, 40.0, 1e9] {
            assert!((short(0.777, noise) - 0.777).abs() <= noise / 100.0 * 0.79, "{noise}");
        }
    }
}
