//! A pass before the moments, where rows are many: which columns of two values divide the table best.
//!
//! A Gaussian for each stratum has one shape for all of its rows. Where a table holds several kinds of rows, marked by
//! columns that exclude one another (a one-hot code, as it is common), each kind deserves a shape of its own. A small
//! share of the budget measures the clipped moments once before; from these the columns are chosen, and from then on
//! every stratum is divided by them. Privacy: the moments are released by the mechanism of the main pass, and the choice
//! is made of released numbers alone.

use super::{Fit, Rest, Stage};
use crate::error::Result;
use crate::plan::{as_float, most_facets};
use crate::privacy::{Charge, Sensitive};
use crate::subspace::{Centre, Covariance, MomentLayout, assemble};
use crate::tally::{Answer, ClippedMoments, Facets};

/// A column is asked if it explains at least this part of the variance that the table has.
const EXPLAINS: f64 = 0.02;
/// Columns exclude one another if both are set in at most this part of the rows of the rarer one, up to twice the noise.
const TOGETHER: f64 = 0.02;
/// A facet has at least this part of the rows, and leaves as many.
const LEAST: f64 = 0.04;
/// A column whose variance is mostly explained by those before it says nothing new.
const NEW: f64 = 0.3;

impl Fit {
    /// The noisy moments of the table, once; then the moments of its facets.
    pub(super) fn absorb_facets(
        &mut self,
        answer: Sensitive<Answer>,
        centre: Centre,
        spec: ClippedMoments,
        charge: Charge,
        rest: Rest,
    ) -> Result<Stage> {
        let layout = MomentLayout::new(self.schema.width(), self.schema.strata());
        let rows = self.rows;
        let gram = answer.map(|answer| match answer {
            Answer::Moments(tally) => assemble(&tally, rows, layout),
            _ => Vec::new(),
        });
        let noisy = self.kernel.moments("facets", gram, layout.order(), layout.row_norm_squared(), charge)?;
        let covariance = Covariance::read(noisy.get(), layout, rows, spec.radius, &centre);
        let two_valued: Vec<usize> = self.indicators();
        let means: Vec<f64> = centre.units().iter().zip(&covariance.offset).map(|(c, o)| c + o).collect();
        let most = most_facets(rows, self.schema.strata(), as_float(&self.receipt.epsilon)).max(2);
        self.facets = divide(&covariance, &means, &two_valued, most - 1);
        let name = |at: &u32| {
            let block = self.schema.blocks().into_iter().find(|block| block.start == *at as usize);
            block.map(|block| self.schema.columns[block.column].name.clone())
        };
        self.receipt.facets = self.facets.asked.iter().filter_map(name).collect();
        Ok(Stage::Moments { centre, spec, rest })
    }

    /// The coordinates of columns with two values.
    pub(super) fn indicators(&self) -> Vec<usize> {
        let blocks = self.schema.blocks().into_iter();
        blocks.filter(|block| self.schema.indicates(block)).map(|block| block.start).collect()
    }
}

/// Columns that exclude one another and explain most of the variance, at most `most` of them.
///
/// A column j takes `Σ_k R_jk²/R_jj` out of the variance R that is left, by regression of all others on it; noise of
/// deviation σ in each of d entries alone would seem to take `d σ²/R_jj`, which is subtracted.
fn divide(covariance: &Covariance, means: &[f64], two_valued: &[usize], most: usize) -> Facets {
    // An entry off the diagonal has half the noise variance of one on it.
    let noise = covariance.diagonal_noise * covariance.diagonal_noise / 2.0;
    let mut left: Vec<(usize, Vec<f64>)> = two_valued.iter().map(|&j| (j, covariance.row(j))).collect();
    left.retain(|(j, _)| (LEAST..=1.0 - LEAST).contains(&means[*j]));
    let together: Vec<Vec<f64>> =
        left.iter().map(|(j, row)| row.iter().zip(means).map(|(c, m)| c + means[*j] * m).collect()).collect();
    let own: Vec<f64> = left.iter().map(|(j, row)| row[*j]).collect();
    let mut chosen: Vec<usize> = Vec::new();
    while chosen.len() < most {
        let exclusive = |i: usize| {
            chosen.iter().all(|&c| {
                let rarer = means[left[i].0].min(means[left[c].0]);
                together[c][left[i].0] <= TOGETHER * rarer + 2.0 * noise.sqrt()
            })
        };
        let explains = |i: usize| {
            let (j, row) = &left[i];
            let variance = row[*j];
            if chosen.contains(&i) || !exclusive(i) || variance < NEW * own[i] || variance * variance < 4.0 * noise {
                return 0.0;
            }
            row.iter().map(|x| x * x - noise).sum::<f64>() / variance
        };
        let best = (0..left.len()).max_by(|&a, &b| explains(a).total_cmp(&explains(b)).then(b.cmp(&a)));
        let Some(best) = best.filter(|&i| explains(i) >= EXPLAINS * covariance.trace.max(0.0)) else { break };
        let (j, taken) = left[best].clone();
        for (_, row) in &mut left {
            let by = row[j] / taken[j];
            row.iter_mut().zip(&taken).for_each(|(x, t)| *x -= by * t);
        }
        chosen.push(best);
    }
    Facets { asked: chosen.into_iter().map(|i| left[i].0 as u32).collect() }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::math::eigen;
    use crate::math::stream::Stream;

    /// The covariance and the means of rows.
    pub fn of(rows: &[Vec<f64>]) -> (Covariance, Vec<f64>) {
        let (n, d) = (rows.len() as f64, rows[0].len());
        let means: Vec<f64> = (0..d).map(|j| rows.iter().map(|row| row[j]).sum::<f64>() / n).collect();
        let entry = |i: usize, j: usize| rows.iter().map(|r| (r[i] - means[i]) * (r[j] - means[j])).sum::<f64>() / n;
        let matrix: Vec<f64> = (0..d * d).map(|at| entry(at / d, at % d)).collect();
        let diagonal: Vec<f64> = (0..d).map(|j| matrix[j * d + j]).collect();
        let covariance = Covariance {
            width: d,
            offset: vec![0.0; d],
            measured: vec![0.0; d],
            clipping: 0.0,
            lower: Vec::new(),
            trace: diagonal.iter().sum(),
            diagonal,
            diagonal_noise: 1e-6,
            mean_noise: 1e-6,
            eigen: eigen::symmetric(&matrix, d),
            edge: 1e-6,
            strata: Vec::new(),
        };
        (covariance, means)
    }

    /// Three kinds of rows with an indicator each, in columns 0 to 2, which tell columns 4 and 5; column 3 is a coin.
    fn kinds() -> Vec<Vec<f64>> {
        let mut stream = Stream::new(3, 7, 0);
        let row = |_| {
            let kind = [0, 0, 0, 0, 0, 1, 1, 1, 2, 2][stream.below(10) as usize];
            let mut row = vec![0.0; 6];
            row[kind] = 1.0;
            row[3] = stream.below(2) as f64;
            row[4] = [0.2, 0.8, 0.5][kind] + 0.05 * stream.normal();
            row[5] = [0.7, 0.1, 0.6][kind] + 0.05 * stream.normal();
            row
        };
        (0..5000).map(row).collect()
    }

    /// Of three indicators two are enough: the third follows. The coin is together with each of them.
    #[test]
    fn columns_that_exclude_one_another_divide_the_rows() {
        let (covariance, means) = of(&kinds());
        let asked = |most: usize| divide(&covariance, &means, &[0, 1, 2, 3], most).asked;
        assert_eq!(asked(1), [0]);
        assert_eq!(asked(5), [0, 1]);
        assert_eq!(divide(&covariance, &means, &[3], 5).asked, [3], "alone, a coin explains itself");
        assert!(divide(&covariance, &means, &[], 5).is_empty());
    }

    /// Noise of the size of the variances themselves is no reason to divide anything.
    #[test]
    fn noise_divides_nothing() {
        let (covariance, means) = of(&kinds());
        let noisy = Covariance { diagonal_noise: 1.0, ..covariance };
        assert!(divide(&noisy, &means, &[0, 1, 2, 3], 5).is_empty());
    }
}
