//! How wide noise is, as a float. Public, and of use before the rows are read, for predictions, and after the noise was added.
//!
//! No mechanism asks: scales are exact where noise is drawn.

use super::budget::{Price, Privacy};
use super::moments::NoiseScale;
use super::noise::Law;
use super::ratio::Ratio;

fn as_float(ratio: Ratio) -> f64 {
    ratio.num() as f64 / ratio.den() as f64
}

impl Price {
    /// A price that is near a float, for predictions: nothing can be bought with it.
    pub fn near(amount: f64, privacy: Privacy) -> Price {
        const BITS: u32 = 60;
        let (unit, whole) = (1_u128 << BITS, amount.clamp(0.0, 1e15) * (1_u64 << BITS) as f64);
        Price { privacy, amount: Ratio::new((whole as u128).max(1), unit).unwrap_or(Ratio::ONE) }
    }
}

/// How wide noise is: public, and only ever used after it was added.
impl Law {
    /// The standard deviation, up to a part that matters only where it is below one.
    ///
    /// `Lap_Z(b)` has variance at most `2b²`. The cube's radius is close to a sum of d+1 exponentials of mean b, and each
    /// coordinate uniform in `[−r, r]`, so its variance is `E r²/3 = (d+1)(d+2) b²/3`.
    pub fn deviation(&self) -> f64 {
        match *self {
            Law::Laplace { scale } => std::f64::consts::SQRT_2 * as_float(scale),
            Law::Gaussian { variance } => as_float(variance).sqrt(),
            Law::Cube { width, scale } => {
                let d = width as f64;
                ((d + 1.0) * (d + 2.0) / 3.0).sqrt() * as_float(scale)
            }
        }
    }

    /// The variance, likewise.
    pub fn variance(&self) -> f64 {
        self.deviation().powi(2)
    }
}

/// The same for moments of order p.
///
/// An off-diagonal entry of `W₁ − W₂` has variance `2 (p+1) s²` (each of the two is a sum of p+1 products of independent
/// normals), a diagonal one `4 (p+1) s²`; the largest eigenvalue is near `3.33 p s`. Gaussian: variance `σ²` off the
/// diagonal, `2σ²` on it, largest eigenvalue near `2√p σ`.
impl NoiseScale {
    /// The standard deviation of an entry off the diagonal; on it, √2 times that.
    pub fn entry(&self, order: usize) -> f64 {
        match *self {
            NoiseScale::Wishart { s } => (2.0 * (order as f64 + 1.0)).sqrt() * s as f64,
            NoiseScale::Gaussian { sigma_squared } => as_float(sigma_squared).sqrt(),
        }
    }

    /// The largest eigenvalue of the noise.
    pub fn edge(&self, order: usize) -> f64 {
        match *self {
            NoiseScale::Wishart { s } => 3.33 * order as f64 * s as f64,
            NoiseScale::Gaussian { sigma_squared } => 2.0 * (order as f64).sqrt() * as_float(sigma_squared).sqrt(),
        }
    }
}
