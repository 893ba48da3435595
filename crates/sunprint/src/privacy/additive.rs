//! Additive noise for single numbers, vectors, and the paper's covariance.
//!
//! Proof: docs/proofs.md, Lemma 5; docs/proofs.md, Lemma 22.
//!
//! # Input
//! Integers, and a bound on how far a replaced row moves each of them.
//! # Output
//! Integers: input plus independent noise, clamped to 128 bits.
//! # Sensitivity
//! * scalar: |Δ| ≤ s.
//! * vector of m entries, each by at most s: ℓ₁ ≤ m·s, ℓ₂² ≤ m·s².
//! * m histograms with a row in one cell of each: ℓ₁ ≤ 2m, ℓ₂² ≤ 2m.
//! * symmetric d × d matrix, each entry by at most s: weighted as below.
//! # Privacy
//! Pure: discrete Laplace of scale b_j in coordinate j loses at most Σ_j |a_j|/b_j. Concentrated: discrete Gaussian of
//! variance σ_j² loses at most Σ_j a_j²/(2σ_j²) (see [`super::gaussian`]).
//!
//! The symmetric matrix has d(d−1)/2 entries below the diagonal (scale b) and d on it (scale 2b, as in the paper): the
//! loss is at most s·(d(d−1)/2)/b + s·d/(2b) = s·d²/(2b). With b = slack·s·d²/(2ε) this is ε/slack ≤ ε.
//! Concentrated, variance σ² below and 2σ² on the diagonal: s²·(d(d−1)/2)/(2σ²) + s²·d/(4σ²) = s²d²/(4σ²), so
//! σ² = slack²·s²·d²/(4ρ).
//! # Accuracy
//! See [`super::laplace`] and [`super::gaussian`].
//! # Paper
//! He, Strohmer, Vershynin, Zhu, Algorithm 2 (private covariance), where an entry is said to move by 6/n although it
//! moves by at most 1/n: `slack = 6` gives the printed σ = 3d²/(εn), `slack = 1` the true one.

use num_bigint::BigUint;

use super::budget::{Charge, Privacy};
use super::kernel::{Entry, Kernel};
use super::noise::{Law, counts as counts_of, numbers};
use super::scale::{Sampler, noisy};
use super::sensitive::{Released, Sensitive};
use crate::error::{Error, Kind, Result};
use crate::wipe::Wiped;

/// The mechanism's name in the log.
fn name(charge: &Charge) -> &'static str {
    match charge.privacy() {
        Privacy::Pure => "laplace",
        Privacy::Concentrated => "gaussian",
    }
}

impl Kernel {
    /// Releases one integer that a replaced row moves by at most `sensitivity`.
    ///
    /// # Errors
    /// [`Kind::Budget`] for a zero charge, a zero sensitivity, or a charge too small for 128-bit noise.
    pub fn scalar(
        &mut self,
        stage: &str,
        value: Sensitive<i128>,
        sensitivity: u128,
        charge: Charge,
    ) -> Result<Released<i128, Law>> {
        Kernel::admit(&charge, sensitivity)?;
        let sampler = numbers(1, sensitivity, charge.price())?;
        let (sensitivity, noise) = (format!("one number by at most {sensitivity}"), sampler.describe());
        let coins = self.spend(Entry { stage, mechanism: name(&charge), sensitivity, noise }, &charge)?;
        let value = value.open();
        Ok(Released::new(coins.map_or(value, |mut coins| sampler.draw(&mut coins).added_to(value)), sampler.law()))
    }

    /// Releases integers each of which a replaced row moves by at most `entry_sensitivity`.
    ///
    /// # Errors
    /// [`Kind::Budget`] for a zero charge, a zero sensitivity, or a charge too small for 128-bit noise.
    pub fn vector(
        &mut self,
        stage: &str,
        values: Sensitive<Vec<i128>>,
        entry_sensitivity: u128,
        charge: Charge,
    ) -> Result<Released<Vec<i128>, Law>> {
        Kernel::admit(&charge, entry_sensitivity)?;
        let mut values = values.open();
        let entries = values.len().max(1) as u64;
        let sampler = numbers(entries, entry_sensitivity, charge.price())?;
        let sensitivity = format!("each of {entries} numbers by at most {entry_sensitivity}");
        let noise = sampler.describe();
        if let Some(mut coins) = self.spend(Entry { stage, mechanism: name(&charge), sensitivity, noise }, &charge)? {
            for value in &mut values {
                *value = sampler.draw(&mut coins).added_to(*value);
            }
        }
        Ok(Released::new(values, sampler.law()))
    }

    /// Releases the counts of some histograms of the same rows, each of which has every row in exactly one of its cells.
    ///
    /// A replaced row leaves one cell of each of m histograms and enters another: ℓ₁ ≤ 2m, ℓ₂² ≤ 2m. Cells are drawn
    /// whether or not they are empty.
    ///
    /// # Errors
    /// [`Kind::Budget`] for a zero charge, no histogram, or a charge too small for 128-bit noise.
    pub fn histograms(
        &mut self,
        stage: &str,
        counts: Sensitive<Vec<u64>>,
        histograms: u64,
        charge: Charge,
    ) -> Result<Released<Vec<i64>, Law>> {
        Kernel::admit(&charge, histograms.into())?;
        let sampler = counts_of(histograms, charge.price())?;
        let sensitivity = format!("in each of {histograms} histograms one count down and one up, by 1");
        let noise = sampler.describe();
        let mut coins = self.spend(Entry { stage, mechanism: name(&charge), sensitivity, noise }, &charge)?;
        let counts = Wiped(counts.open());
        Ok(Released::new(noisy(coins.as_deref_mut(), &sampler, &counts), sampler.law()))
    }

    /// Releases the packed lower triangle of a symmetric `order` × `order` matrix (entry (i, j), j ≤ i, at
    /// i(i+1)/2 + j) each of whose entries a replaced row moves by at most `entry_sensitivity`; the noise is `slack`
    /// times as wide as privacy needs. The law is that of entries off the diagonal.
    ///
    /// # Errors
    /// [`Kind::Budget`] for a zero charge, sensitivity or slack, or a charge too small for 128-bit noise;
    /// [`Kind::Protocol`] where the triangle has another length.
    pub fn symmetric(
        &mut self,
        stage: &str,
        lower: Sensitive<Vec<i128>>,
        order: usize,
        entry_sensitivity: u128,
        slack: u64,
        charge: Charge,
    ) -> Result<Released<Vec<i128>, Law>> {
        Kernel::admit(&charge, entry_sensitivity.min(slack.into()))?;
        let mut lower = lower.open();
        if order == 0 || lower.len() != order * (order + 1) / 2 {
            return Err(Error::new(Kind::Protocol, "a packed lower triangle has order (order + 1) / 2 entries"));
        }
        let (each, d) = (BigUint::from(entry_sensitivity), BigUint::from(order));
        // Twice the diagonal's scale is s·d²·slack/ε; the off-diagonal's is half of that. To stay in whole numbers the
        // off-diagonal gets ⌈s·d²/2⌉, which only adds noise. Variances: s²d²/(4ρ) = ⌈s²d²/2⌉/(2ρ), and twice that.
        let half = |x: BigUint| (x + 1u32) / 2u32;
        let (l1, l2) = (&each * &d * &d, each.pow(2) * d.pow(2));
        let off_diagonal = Sampler::new(charge.price(), &half(l1.clone()), &half(l2.clone()), slack)?;
        let diagonal = Sampler::new(charge.price(), &l1, &l2, slack)?;
        let sensitivity = format!("each entry of a symmetric matrix of order {order} by at most {entry_sensitivity}");
        let noise = format!("{}; diagonal: {}", off_diagonal.describe(), diagonal.describe());
        if let Some(mut coins) = self.spend(Entry { stage, mechanism: name(&charge), sensitivity, noise }, &charge)? {
            let mut entries = lower.iter_mut();
            for i in 0..order {
                for (j, value) in entries.by_ref().take(i + 1).enumerate() {
                    let sampler = if i == j { &diagonal } else { &off_diagonal };
                    *value = sampler.draw(&mut coins).added_to(*value);
                }
            }
        }
        Ok(Released::new(lower, off_diagonal.law()))
    }
}
