//! What noisy numbers in an order say beyond what was expected of them.
//!
//! What is off, `x_i = counted − expected`, is taken apart into halves against halves (Haar's basis): with a numbers on one
//! side and b on the other, `√(ab/(a+b))` times the difference of their means. The basis is orthonormal, so noise of deviation
//! s in every number is noise of deviation s in every coefficient; but where a shape is wrong over many cells together, that
//! shows in few of them. Noise alone leaves N of them below `λ = s √(2 ln N)` nearly always (Donoho and Johnstone, *Ideal
//! spatial adaptation by wavelet shrinkage*, 1994). So on the level of l halvings, whose 2^(l−1) coefficients and their signs
//! are N = 2^l chances, a coefficient c keeps `max(0, 1 − λ²/c²)` of itself (Gao's garrotte) with `λ² = 2 s² l ln 2`: what
//! noise can do is left alone, and what stands out is followed. The sum of all is known and is not touched by noise.

/// The expected numbers, corrected by those that were counted with noise of this deviation. Both have the same sum.
pub fn denoised(counted: &[f64], expected: &[f64], noise: f64) -> Vec<f64> {
    let off: Vec<f64> = counted.iter().zip(expected).map(|(counted, expected)| counted - expected).collect();
    let mut kept = vec![0.0; off.len()];
    let mut parts = vec![(0..off.len(), 1.0)];
    while let Some((part, depth)) = parts.pop().filter(|(part, _)| part.len() > 1) {
        let least = noise * (2.0 * std::f64::consts::LN_2 * depth).sqrt();
        let middle = part.start + part.len() / 2;
        let (low, high) = (part.start..middle, middle..part.end);
        let mean = |of: &std::ops::Range<usize>| off[of.clone()].iter().sum::<f64>() / of.len() as f64;
        let (a, b) = (low.len() as f64, high.len() as f64);
        let apart = mean(&low) - mean(&high);
        let square = apart * apart * a * b / (a + b);
        let keep = if square > least * least { 1.0 - least * least / square } else { 0.0 };
        kept[low.clone()].iter_mut().for_each(|x| *x += keep * apart * b / (a + b));
        kept[high.clone()].iter_mut().for_each(|x| *x -= keep * apart * a / (a + b));
        parts.extend([low, high].into_iter().filter(|part| part.len() > 1).map(|part| (part, depth + 1.0)));
    }
    kept.iter().zip(expected).map(|(kept, expected)| kept + expected).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::stream::Stream;
    use proptest::prelude::*;

    proptest! {
        /// Without noise everything is followed but a sum that is off, and the sum stays that of what was expected.
        #[test]
        fn exact_numbers_are_followed(counted in prop::collection::vec(0.0_f64..10.0, 1..70)) {
            let mean = counted.iter().sum::<f64>() / counted.len() as f64;
            let found = denoised(&counted, &vec![mean; counted.len()], 0.0);
            prop_assert!(found.iter().zip(&counted).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?}");
        }

        #[test]
        fn the_sum_stays(counted in prop::collection::vec(-5.0_f64..5.0, 1..70), noise in 0.0_f64..3.0) {
            let found = denoised(&counted, &vec![1.0; counted.len()], noise);
            prop_assert!((found.iter().sum::<f64>() - counted.len() as f64).abs() < 1e-9);
        }
    }

    /// Noise is left alone; a broad step that is off is found to a fifth of the noise, and a row more in one cell
    /// and less in another, which all six levels must tell, to less than the noise. Means of 100 fixed draws.
    #[test]
    fn what_noise_can_do_is_left_alone() {
        let mut random = Stream::new(7, 11, 0);
        let mut error = |truth: &dyn Fn(usize) -> f64| -> f64 {
            let mut square = 0.0;
            for _ in 0..100 {
                let counted: Vec<f64> = (0..64).map(|i| truth(i) + random.normal()).collect();
                let found = denoised(&counted, &[0.0; 64], 1.0);
                square += found.iter().enumerate().map(|(i, x)| (x - truth(i)).powi(2)).sum::<f64>() / 6400.0;
            }
            square.sqrt()
        };
        let errors = [
            error(&|_| 0.0),
            error(&|i| if i < 32 { 2.0 } else { -2.0 }),
            error(&|i| [60.0, -60.0, 0.0][usize::from(i != 20) + usize::from(i != 20 && i != 40)]),
        ];
        assert!(errors[0] < 0.2 && errors[1] < 0.25 && errors[2] < 0.6, "{errors:?}, and the noise is 1");
    }
}
