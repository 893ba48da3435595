//! Student's t distribution, as far as confidence intervals need it.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

/// The number t with P(|T| ≤ t) = `confidence` for Student's T with so many degrees of freedom; infinite for none.
///
/// The probability has a closed form in θ = arctan(t/√ν) and grows with θ, so halving (0, π/2) finds it.
pub fn two_sided(confidence: f64, freedom: u32) -> f64 {
    if freedom == 0 {
        return f64::INFINITY;
    }
    let (mut low, mut high) = (0.0, FRAC_PI_2);
    // Each step halves the interval; 60 of them end below the resolution of an f64.
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if within(middle, freedom) < confidence { low = middle } else { high = middle }
    }
    f64::from(freedom).sqrt() * libm::tan(0.5 * (low + high))
}

/// P(|T| ≤ √ν tan θ).
///
/// The density of θ is proportional to cos^(ν−1) θ. Integrating by parts lowers the power by two at a time, down to
/// ∫ cos θ = sin θ for even ν and to ∫ 1 = θ for odd ν:
///
/// * even: sin θ (1 + 1/2 cos² θ + (1·3)/(2·4) cos⁴ θ + … up to cos^(ν−2) θ),
/// * odd: 2/π (θ + sin θ (cos θ + 2/3 cos³ θ + (2·4)/(3·5) cos⁵ θ + … up to cos^(ν−2) θ)).
fn within(theta: f64, freedom: u32) -> f64 {
    let (sine, cosine) = (libm::sin(theta), libm::cos(theta));
    let odd = freedom % 2 == 1;
    let mut power = if odd { 1 } else { 0 };
    let (mut term, mut sum) = (if odd { cosine } else { 1.0 }, 0.0);
    while power + 2 <= freedom {
        sum += term;
        term *= f64::from(power + 1) / f64::from(power + 2) * cosine * cosine;
        power += 2;
    }
    if odd { FRAC_2_PI * (theta + sine * sum) } else { sine * sum }
}

#[cfg(test)]
mod tests {
    use super::two_sided;

    #[test]
    fn quantiles_are_those_of_the_printed_tables() {
        let printed = [
            (1, 12.706_205),
            (2, 4.302_653),
            (3, 3.182_446),
            (4, 2.776_445),
            (5, 2.570_582),
            (9, 2.262_157),
            (10, 2.228_139),
            (29, 2.045_230),
            (100, 1.983_972),
        ];
        for (freedom, t) in printed {
            assert!((two_sided(0.95, freedom) - t).abs() < 1e-6, "{freedom}: {}", two_sided(0.95, freedom));
        }
        assert!((two_sided(0.95, 100_000) - 1.959_964).abs() < 1e-4, "nearly normal");
        assert!((two_sided(0.5, 1) - 1.0).abs() < 1e-12, "half of a Cauchy variable is inside ±1");
        assert_eq!(two_sided(0.95, 0), f64::INFINITY);
    }
}
