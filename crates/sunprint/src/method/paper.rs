//! The baseline: the paper's own steps with repaired constants.
//!
//! Proof: docs/proofs.md, Lemma 24.

use super::cells::{CellStage, Space};
use super::course::{Course, Measurement, Next};
use super::mechanism::{check_paper_lattice, whole_allocation};
use super::moments::origin;
use crate::error::Result;
use crate::math::eigen;
use crate::math::vector::dot;
use crate::measure::Side;
use crate::model::{Frame, Spot, SumEvidence};
use crate::plan::as_float;
use crate::privacy::{Budget, Charge, Sensitive};
use crate::subspace::Texture;
use crate::tally::codes::Q;
use crate::tally::{Answer, Work, packed_index};

/// The paper's noise is this many times what privacy needs: it bounds an entry's change by 6/n, the truth is 1/n.
const PAPER_SLACK: u64 = 6;
/// Bits of what one row can change in an entry of the covariance, after the division: a sixteen-millionth of it is lost.
const ENTRY_BITS: u32 = 24;
/// What the tally takes from every code.
const SHIFT: i128 = 1 << 15;

pub(super) fn begin(course: &mut Course, budget: Budget) -> Result<Next> {
    let [covariance, mean, measure] = budget.split([1, 1, 1])?;
    let allocation = whole_allocation(&measure, course.rows, course.schema.strata(), &course.plan);
    check_paper_lattice(&course.plan, &allocation)?;
    course.receipt.stage("covariance", 1, 3, "noise on every entry (Algorithm 2)");
    course.receipt.stage("mean", 1, 3, "noise on every coordinate (Algorithm 3)");
    course.receipt.stage("measure", 1, 3, "noise on cell counts (Algorithm 4 or 5, repaired)");
    Ok(Next::ask(ProductStage { covariance, mean, measure }))
}

/// Products of all pairs of columns.
struct ProductStage {
    covariance: Charge,
    mean: Charge,
    measure: Charge,
}

impl Measurement for ProductStage {
    fn work(&self) -> Work {
        Work::Products
    }

    fn release(self: Box<Self>, course: &mut Course, answer: Sensitive<Answer>, _: &dyn Fn(u64, u64)) -> Result<Next> {
        let ProductStage { covariance, mean, measure } = *self;
        course.absorb_products(answer, covariance, mean, measure)
    }
}

impl Course {
    /// Algorithms 2 and 3: covariance, mean, projection; then the region of Algorithm 4.
    ///
    /// *Exact covariance.* `n² M = n Σ y yᵀ − (Σ y)(Σ y)ᵀ`, an integer matrix for integer codes; a shift of all codes
    /// leaves it alone. *Sensitivity.* With μ the mean of the other n−1 rows, `n M = const + (1 − 1/n)(x−μ)(x−μ)ᵀ`.
    /// For x, μ in `[0, Q]²`, `(x_i−μ_i)(x_j−μ_j)` ranges over an interval of length at most Q² (its largest and its
    /// smallest value add up to one of `μ_i Q, μ_j Q, (Q−μ_i) Q, (Q−μ_j) Q` in absolute value), so an entry of `n² M`
    /// moves by at most `(n−1) Q²`.
    ///
    /// *Resolution.* The integers are divided by a public power of two `2^h` and rounded down, so that the noise fits in
    /// 128 bits for any table. `|⌊a/g⌋ − ⌊b/g⌋| ≤ ⌈|a − b|/g⌉`: an entry moves by at most `⌊n Q²/2^h⌋ + 1`, of about 2²⁴.
    ///
    /// *Noise.* The paper's `σ = 3d²/(εn)`, diagonal `2σ`, is `3 d² n Q²/ε` in these integers.
    fn absorb_products(
        &mut self,
        answer: Sensitive<Answer>,
        covariance: Charge,
        mean: Charge,
        measure: Charge,
    ) -> Result<Next> {
        let (d, rows, q) = (self.schema.width(), self.rows, f64::from(Q));
        let n = i128::from(rows);
        let most = u128::from(rows) * u128::from(Q) * u128::from(Q);
        let shift = (u128::BITS - most.leading_zeros()).saturating_sub(ENTRY_BITS);
        let entry = (most >> shift) + 1;
        let (scaled, sums) = answer.split(|answer| {
            let Answer::Products(tally) = answer else { return (Vec::new(), Vec::new()) };
            let mut scaled = vec![0_i128; tally.products.len()];
            for i in 0..d {
                for j in 0..=i {
                    let at = packed_index(i, j);
                    let entry =
                        n * i128::from(tally.products[at]) - i128::from(tally.sums[i]) * i128::from(tally.sums[j]);
                    scaled[at] = entry >> shift;
                }
            }
            (scaled, tally.sums.iter().map(|&sum| i128::from(sum) + n * SHIFT).collect::<Vec<_>>())
        });
        let noisy = self.kernel.symmetric("covariance", scaled, d, entry, PAPER_SLACK, covariance)?;
        let sums = self.kernel.vector("mean", sums, u128::from(Q), mean)?;

        let square = (rows as f64 * q).powi(2) / f64::from(shift).exp2();
        let mut matrix = vec![0.0; d * d];
        for i in 0..d {
            for j in 0..=i {
                let entry = noisy.get()[packed_index(i, j)] as f64 / square;
                matrix[i * d + j] = entry;
                matrix[j * d + i] = entry;
            }
        }
        let eigen = eigen::symmetric(&matrix, d);
        self.evidence.sums = Some(SumEvidence {
            means: sums.get().iter().map(|&sum| Some(sum as f64 / (rows as f64 * q))).collect(),
            noise: sums.law().deviation() / (rows as f64 * q),
        });
        let mean: Vec<f64> = sums.get().iter().map(|&sum| sum as f64 / (rows as f64 * q)).collect();
        let epsilon = as_float(&self.receipt.epsilon);
        let k = self.plan.dimension.unwrap_or_else(|| paper_dimension(&eigen.values, epsilon * rows as f64));
        self.receipt.dimension = Some(k);

        // The pass subtracts whole codes inside the bounds; what that leaves of the noisy mean moves the box.
        let codes: Vec<u16> = mean.iter().map(|m| (m.clamp(0.0, 1.0) * q).round() as u16).collect();
        let centre: Vec<f64> = codes.iter().map(|&code| f64::from(code) / q).collect();
        let offset: Vec<f64> = mean.iter().zip(&centre).map(|(m, c)| m - c).collect();
        let vectors = eigen.vectors[..k].to_vec();
        // R = √d + ‖X̄ + λ‖ of the paper. Beyond 2¹⁴ the noise has won; the bound keeps the integers of the pass small.
        let radius = ((d as f64).sqrt() + dot(&mean, &mean).sqrt()).min(16_384.0);
        let sides: Vec<Side> = vectors
            .iter()
            .map(|v| Side { low: dot(v, &offset).clamp(-16_384.0, 16_384.0) - radius, width: 2.0 * radius })
            .collect();
        let space = Space { centre: &codes, vectors: &vectors, sides: &sides };
        let allocation = self.allocation(&measure);
        let partition = self.paper_partition(&space, &allocation);
        Ok(Next::ask(CellStage {
            partition,
            charge: measure,
            frame: Frame::Basis { origin: origin(&centre, &offset, &vectors), vectors, sides },
            texture: Texture::default(),
            spot: Spot::Centre,
            spectrum: eigen.values,
            edge: 0.0,
            targets: Vec::new(),
            one_of: Vec::new(),
            ground: None,
            later: None,
        }))
    }
}

/// The paper's §6: the k ≥ 2 that minimises `√(Σ_{i>k} σ_i(M̂)) + √(d/k) (εn)^{−1/k}`, negative eigenvalues as 0.
fn paper_dimension(values: &[f64], scaled_rows: f64) -> usize {
    let d = values.len();
    let mut tail: f64 = values.iter().map(|value| value.max(0.0)).sum();
    let mut best = (f64::INFINITY, 1);
    for k in 1..=d {
        tail = (tail - values[k - 1].max(0.0)).max(0.0);
        let error = tail.sqrt() + (d as f64 / k as f64).sqrt() * scaled_rows.max(1.0).powf(-1.0 / k as f64);
        if (k >= 2 || d == 1) && error < best.0 {
            best = (error, k);
        }
    }
    best.1
}
