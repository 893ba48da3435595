//! How two coordinates go together after each was bent into the values of its column.
//!
//! Rows are drawn from a Gaussian and every coordinate u is bent by a monotone g_i into a value, whose score was measured.
//! Expanded in Hermite's polynomials, orthonormal under the normal law, `g_i(u) = Σ_k h_ik He_k(u)/√k!`, and for two normal
//! numbers with correlation r, `E He_k(u) He_l(v) = k! r^k` if k = l and nothing else: so
//!
//! ```text
//! cov(g_i(u), g_j(v)) = Σ_{k≥1} h_ik h_jk r^k.
//! ```
//!
//! For monotone g this grows with r, so the r that gives a measured covariance is found by halving. Nothing is drawn.

use crate::model::Piece;
use libm::{erfc, exp};

/// Polynomials; what is left of any bounded g beyond them is small.
pub(crate) const ORDER: usize = 8;
/// Places at which a curve is looked at.
const PLACES: usize = 512;
/// No two coordinates go together more closely than this.
const CLOSEST: f64 = 0.999;
/// Halvings.
const STEPS: usize = 24;

/// `h_1, …, h_ORDER` of a coordinate, and the variance of its score, to which higher orders belong too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Response {
    terms: [f64; ORDER],
    variance: f64,
}

impl Response {
    /// A coordinate that is not bent, of some deviation.
    pub fn linear(deviation: f64) -> Response {
        let mut h = [0.0; ORDER];
        h[0] = deviation;
        Response { terms: h, variance: deviation * deviation }
    }

    /// `step` where u is among the largest part p of all, nothing elsewhere: `h_k = φ(t) He_{k−1}(t)/√k!` with
    /// `Φ(t) = 1 − p`.
    pub fn threshold(part: f64, step: f64) -> Response {
        let part = part.clamp(1e-6, 1.0 - 1e-6);
        let t = quantile(1.0 - part);
        let density = exp(-0.5 * t * t) / (2.0 * std::f64::consts::PI).sqrt();
        let (mut before, mut now, mut factorial) = (0.0, 1.0, 1.0);
        let mut h = [0.0; ORDER];
        for (k, h) in h.iter_mut().enumerate() {
            let order = (k + 1) as f64;
            factorial *= order;
            *h = step * density * now / f64::sqrt(factorial);
            (before, now) = (now, t * now - k as f64 * before);
        }
        Response { terms: h, variance: step * step * part * (1.0 - part) }
    }

    /// A number that has its values as often as pieces say, read by a score.
    pub fn of_pieces(pieces: &[Piece], score: impl Fn(f64) -> f64) -> Response {
        let total: f64 = pieces.iter().map(|piece| piece.share).sum();
        let mut h = [0.0; ORDER];
        let (mut at, mut below) = (0, 0.0);
        let (mut sum, mut square) = (0.0, 0.0);
        for i in 0..PLACES {
            let part = (i as f64 + 0.5) / PLACES as f64;
            while at + 1 < pieces.len() && below + pieces[at].share / total < part {
                below += pieces[at].share / total;
                at += 1;
            }
            let Some(piece) = pieces.get(at) else { break };
            let along = ((part - below) * total / piece.share.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
            let value = score(piece.low + along * (piece.high - piece.low));
            sum += value / PLACES as f64;
            square += value * value / PLACES as f64;
            let u = quantile(part);
            let (mut before, mut now) = (1.0, u);
            let mut factorial = 1.0;
            for (k, h) in h.iter_mut().enumerate() {
                factorial *= (k + 1) as f64;
                *h += value * now / f64::sqrt(factorial) / PLACES as f64;
                (before, now) = (now, u * now - (k + 1) as f64 * before);
            }
        }
        Response { terms: h, variance: (square - sum * sum).max(0.0) }
    }

    /// The variance of the score.
    pub fn variance(&self) -> f64 {
        self.variance
    }

    /// By how much a score moves where u moves by one.
    pub fn slope(&self) -> f64 {
        self.terms[0]
    }
}

/// The correlation of the Gaussian for which the scores of two coordinates have a covariance.
pub(crate) fn correlation(covariance: f64, one: &Response, other: &Response) -> f64 {
    let products: [f64; ORDER] = std::array::from_fn(|k| one.terms[k] * other.terms[k]);
    let at = |r: f64| products.iter().rev().fold(0.0, |sum, h| (sum + h) * r);
    let (mut low, mut high) = (-CLOSEST, CLOSEST);
    if products[0] <= 0.0 {
        return 0.0;
    }
    for _ in 0..STEPS {
        let middle = 0.5 * (low + high);
        if at(middle) < covariance { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// The number below which a part of the standard normal law lies.
///
/// By Newton's method from a rough start; `erfc` is `libm`'s own code, so every machine finds the same.
pub(crate) fn quantile(part: f64) -> f64 {
    let p = part.clamp(1e-12, 1.0 - 1e-12);
    let tail = p.min(1.0 - p);
    let t = (-2.0 * libm::log(tail)).sqrt();
    // Abramowitz and Stegun 26.2.23: within 0.00045.
    let mut x = t
        - (2.515517 + 0.802853 * t + 0.010328 * t * t) / (1.0 + 1.432788 * t + 0.189269 * t * t + 0.001308 * t * t * t);
    for _ in 0..2 {
        let above = 0.5 * erfc(x / std::f64::consts::SQRT_2);
        let density = exp(-0.5 * x * x) / (2.0 * std::f64::consts::PI).sqrt();
        x += (above - tail) / density.max(f64::MIN_POSITIVE);
    }
    if p < 0.5 { -x } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::stream::Stream;

    #[test]
    fn quantiles_are_those_of_the_normal_law() {
        for (part, place) in [(0.5, 0.0), (0.975, 1.959_963_984_540_054), (0.001, -3.090_232_306_167_813)] {
            assert!((quantile(part) - place).abs() < 1e-9, "{part} {}", quantile(part));
        }
        let parts: Vec<f64> = (1..2000).map(|i| quantile(f64::from(i) / 2000.0)).collect();
        assert!(parts.is_sorted());
    }

    /// A skewed number: half of the rows in the lowest tenth, the rest thinning out.
    fn skewed() -> Vec<Piece> {
        let piece = |(i, share): (usize, f64)| Piece { low: 0.1 * i as f64, high: 0.1 * (i + 1) as f64, share };
        [0.5, 0.2, 0.1, 0.07, 0.05, 0.03, 0.02, 0.02, 0.005, 0.005].into_iter().enumerate().map(piece).collect()
    }

    fn value(pieces: &[Piece], part: f64) -> f64 {
        let mut below = 0.0;
        for piece in pieces {
            if below + piece.share >= part {
                return piece.low + (part - below) / piece.share * (piece.high - piece.low);
            }
            below += piece.share;
        }
        1.0
    }

    /// The covariance of bent normal numbers, drawn, leads back to the correlation that they were drawn with. 200,000 rows:
    /// a covariance of numbers of deviation up to 0.5 is known to 0.001. A fixed seed.
    #[test]
    fn correlations_are_found_again() {
        let pieces = skewed();
        let score = |x: f64| (x - 0.2).min(0.4);
        let (line, step) = (Response::of_pieces(&pieces, score), Response::threshold(0.15, 1.0));
        for r in [-0.8, -0.3, 0.0, 0.5, 0.95] {
            let mut random = Stream::new(9, 1, 0);
            let mut sums = [0.0; 6];
            let n = 200_000;
            for _ in 0..n {
                let u = random.normal();
                let v = r * u + (1.0_f64 - r * r).sqrt() * random.normal();
                let part = |x: f64| 0.5 * erfc(-x / 2.0_f64.sqrt());
                let (a, b) = (score(value(&pieces, part(u))), score(value(&pieces, part(v))));
                let c = f64::from(u8::from(part(v) > 0.85));
                for (sum, x) in sums.iter_mut().zip([a, b, c, a * b, a * c, a * a]) {
                    *sum += x / f64::from(n);
                }
            }
            let [a, b, c, ab, ac, aa] = sums;
            assert!((correlation(ab - a * b, &line, &line) - r).abs() < 0.02, "{r}");
            assert!((correlation(ac - a * c, &line, &step) - r).abs() < 0.03, "{r}");
            assert!((line.variance() / (aa - a * a) - 1.0).abs() < 0.03);
        }
    }

    #[test]
    fn what_is_not_bent_goes_together_as_it_is() {
        let line = Response::linear(0.2);
        assert!((correlation(0.02, &line, &line) - 0.5).abs() < 1e-6);
        assert_eq!(correlation(0.02, &line, &Response::linear(0.0)), 0.0);
        assert!(correlation(9.0, &line, &line) > 0.99);
    }
}
