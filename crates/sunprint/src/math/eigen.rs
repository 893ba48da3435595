//! Eigenvalues and eigenvectors of a symmetric matrix.

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Mat, Par};

/// An orthonormal basis of eigenvectors, with its eigenvalues.
#[derive(Clone, Debug, PartialEq)]
pub struct Eigen {
    /// Eigenvalues, algebraically largest first: a negative one is the last, however large its absolute value.
    pub values: Vec<f64>,
    /// `vectors[i]` is the unit eigenvector of `values[i]`. Its sign is fixed: the entry of largest absolute value is
    /// positive (the first of them where several tie).
    pub vectors: Vec<Vec<f64>>,
}

/// The spectral decomposition of a symmetric matrix, given row by row; only the lower triangle is read.
///
/// The result may differ in its last bits between processors. Entries that are not finite count as 0.
///
/// # Panics
/// If the length of `matrix` is not `order` squared.
pub fn symmetric(matrix: &[f64], order: usize) -> Eigen {
    assert_eq!(matrix.len(), order * order, "symmetric: a square matrix, row by row");
    let entry = |i: usize, j: usize| {
        let x = matrix[i.max(j) * order + i.min(j)];
        if x.is_finite() { x } else { 0.0 }
    };

    // The largest entry is brought near 1 by a power of two, which is exact, so that no square inside the solver
    // overflows or vanishes. Eigenvalues are scaled back at the end; the eigenvectors do not change.
    let largest =
        (0..order).flat_map(|i| (0..=i).map(move |j| (i, j))).fold(0.0_f64, |m, (i, j)| m.max(entry(i, j).abs()));
    if largest == 0.0 {
        let unit = |i: usize| (0..order).map(|j| if i == j { 1.0 } else { 0.0 }).collect();
        return Eigen { values: vec![0.0; order], vectors: (0..order).map(unit).collect() };
    }
    let exponent = libm::ilogb(largest);
    let scaled = Mat::from_fn(order, order, |i, j| libm::scalbn(entry(i, j), -exponent));

    let (values, columns) = dense_solver(&scaled).unwrap_or_else(|| rotations(&scaled));
    let mut by_value: Vec<usize> = (0..order).collect();
    by_value.sort_by(|&i, &j| values[j].total_cmp(&values[i]));
    let rescale = |x: f64| libm::scalbn(x, exponent).clamp(f64::MIN, f64::MAX);
    Eigen {
        values: by_value.iter().map(|&i| rescale(values[i])).collect(),
        vectors: by_value.iter().map(|&i| with_fixed_sign((0..order).map(|r| columns[(r, i)]).collect())).collect(),
    }
}

/// Divide and conquer, on one thread. `None` where it does not converge or loses a number.
fn dense_solver(matrix: &Mat<f64>) -> Option<(Vec<f64>, Mat<f64>)> {
    let order = matrix.nrows();
    let mut values = Diag::<f64>::zeros(order);
    let mut vectors = Mat::<f64>::zeros(order, order);
    let need = self_adjoint_evd_scratch::<f64>(order, ComputeEigenvectors::Yes, Par::Seq, Default::default());
    let mut buffer = MemBuffer::new(need);
    self_adjoint_evd(
        matrix.as_ref(),
        values.as_mut(),
        Some(vectors.as_mut()),
        Par::Seq,
        MemStack::new(&mut buffer),
        Default::default(),
    )
    .ok()?;
    let values: Vec<f64> = (0..order).map(|i| values[i]).collect();
    let finite = (0..order).all(|j| values[j].is_finite() && (0..order).all(|i| vectors[(i, j)].is_finite()));
    finite.then_some((values, vectors))
}

/// Jacobi's rotations: slow, and never at a loss. Each rotation removes one off-diagonal pair, and the sum of squares
/// off the diagonal falls by twice its square; sixty sweeps are many more than ever needed, and a stop.
fn rotations(matrix: &Mat<f64>) -> (Vec<f64>, Mat<f64>) {
    let order = matrix.nrows();
    let mut a = matrix.clone();
    let mut vectors = Mat::<f64>::identity(order, order);
    for _ in 0..60 {
        let mut turned = false;
        for q in 1..order {
            for p in 0..q {
                let off = a[(p, q)];
                if off.abs() <= f64::EPSILON * 1e-3 * (a[(p, p)].abs() + a[(q, q)].abs()) || off.abs() < 1e-290 {
                    continue;
                }
                turned = true;
                // tan of the angle that makes the new off-diagonal entry zero: the smaller root of t² + 2ωt − 1 = 0.
                let omega = (a[(q, q)] - a[(p, p)]) / (2.0 * off);
                let tan = omega.signum() / (omega.abs() + (1.0 + omega * omega).sqrt());
                let cos = 1.0 / (1.0 + tan * tan).sqrt();
                let sin = tan * cos;
                for r in 0..order {
                    (a[(r, p)], a[(r, q)]) = (cos * a[(r, p)] - sin * a[(r, q)], sin * a[(r, p)] + cos * a[(r, q)]);
                }
                for r in 0..order {
                    (a[(p, r)], a[(q, r)]) = (cos * a[(p, r)] - sin * a[(q, r)], sin * a[(p, r)] + cos * a[(q, r)]);
                    (vectors[(r, p)], vectors[(r, q)]) =
                        (cos * vectors[(r, p)] - sin * vectors[(r, q)], sin * vectors[(r, p)] + cos * vectors[(r, q)]);
                }
            }
        }
        if !turned {
            break;
        }
    }
    ((0..order).map(|i| a[(i, i)]).collect(), vectors)
}

/// Turns the vector so that its largest entry is positive. Entries within a billionth of the largest count as tied,
/// and the first of them decides: otherwise the last bit would choose the sign of (1, −1)/√2.
fn with_fixed_sign(mut vector: Vec<f64>) -> Vec<f64> {
    let largest = vector.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let deciding = vector.iter().find(|x| x.abs() >= largest * (1.0 - 1e-9));
    if deciding.is_some_and(|&x| x < 0.0) {
        vector.iter_mut().for_each(|x| *x = -*x);
    }
    vector
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::stream::Stream;
    use crate::math::vector::dot;
    use proptest::prelude::*;

    /// A = Σ λ_i v_i v_iᵀ, VᵀV = 1, λ descending, signs fixed.
    fn check(matrix: &[f64], order: usize, eigen: &Eigen) {
        let size = matrix.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let tolerance = 1e-13 * (order as f64 + 10.0);
        assert_eq!((eigen.values.len(), eigen.vectors.len()), (order, order));
        assert!(eigen.values.windows(2).all(|w| w[0] >= w[1]), "descending");
        for i in 0..order {
            assert_eq!(eigen.vectors[i].len(), order);
            for j in 0..=i {
                let one = if i == j { 1.0 } else { 0.0 };
                assert!((dot(&eigen.vectors[i], &eigen.vectors[j]) - one).abs() < tolerance, "orthonormal");
                let rebuilt: f64 = (0..order)
                    .map(|l| eigen.values[l] / size.max(f64::MIN_POSITIVE) * eigen.vectors[l][i] * eigen.vectors[l][j])
                    .sum();
                assert!((rebuilt - matrix[i * order + j] / size.max(f64::MIN_POSITIVE)).abs() < tolerance, "rebuilt");
            }
            let (high, low) = eigen.vectors[i].iter().fold((0.0_f64, 0.0_f64), |(h, l), &x| (h.max(x), l.min(x)));
            assert!(high >= -low * (1.0 - 1e-9), "sign");
        }
    }

    fn random_symmetric(order: usize, seed: u64, scale: f64) -> Vec<f64> {
        let mut stream = Stream::new(seed, 0, 0);
        let mut matrix = vec![0.0; order * order];
        for i in 0..order {
            for j in 0..=i {
                let x = scale * stream.normal();
                (matrix[i * order + j], matrix[j * order + i]) = (x, x);
            }
        }
        matrix
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn a_random_matrix_is_rebuilt_from_its_parts(order in 1usize..40, seed: u64, exponent in -290i32..290) {
            let matrix = random_symmetric(order, seed, 10f64.powi(exponent));
            check(&matrix, order, &symmetric(&matrix, order));
        }

        #[test]
        fn repeated_and_zero_eigenvalues_are_no_trouble(order in 1usize..20, rank in 0usize..4, seed: u64) {
            let mut stream = Stream::new(seed, 0, 0);
            let mut matrix = vec![0.0; order * order];
            for _ in 0..rank {
                let v: Vec<f64> = (0..order).map(|_| (4.0 * stream.unit()).floor()).collect();
                for i in 0..order {
                    for j in 0..order {
                        matrix[i * order + j] += v[i] * v[j];
                    }
                }
            }
            check(&matrix, order, &symmetric(&matrix, order));
        }

        #[test]
        fn the_fallback_agrees_with_the_solver(order in 1usize..20, seed: u64) {
            let matrix = random_symmetric(order, seed, 1.0);
            let (mut values, _) = rotations(&Mat::from_fn(order, order, |i, j| matrix[i * order + j]));
            values.sort_by(|a, b| b.total_cmp(a));
            for (slow, fast) in values.iter().zip(symmetric(&matrix, order).values) {
                prop_assert!((slow - fast).abs() < 1e-12 * order as f64);
            }
        }
    }

    #[test]
    fn the_largest_eigenvalue_is_the_algebraically_largest() {
        let eigen = symmetric(&[1.0, 0.0, 0.0, 0.0, -9.0, 0.0, 0.0, 0.0, 2.0], 3);
        assert_eq!(eigen.values, [2.0, 1.0, -9.0]);
        assert_eq!(eigen.vectors[0], [0.0, 0.0, 1.0]);
    }

    #[test]
    fn extremes_do_not_panic() {
        assert_eq!(symmetric(&[], 0).values.len(), 0);
        assert_eq!(symmetric(&[-3.5], 1), Eigen { values: vec![-3.5], vectors: vec![vec![1.0]] });
        check(&[0.0; 16], 4, &symmetric(&[0.0; 16], 4));
        check(&[7.0; 25], 5, &symmetric(&[7.0; 25], 5));
        let eigen = symmetric(&[f64::MAX; 9], 3);
        assert!(eigen.values.iter().all(|x| x.is_finite()));
        check(&[f64::MAX / 4.0; 9], 3, &symmetric(&[f64::MAX / 4.0; 9], 3));
        assert_eq!(symmetric(&[5e-324, 0.0, 0.0, 1e-323], 2).values, [1e-323, 5e-324]);
        assert_eq!(symmetric(&[f64::NAN, 0.0, f64::INFINITY, 1.0], 2).values, [1.0, 0.0]);
        for order in [100, 257] {
            let matrix = random_symmetric(order, 5, 1.0);
            check(&matrix, order, &symmetric(&matrix, order));
        }
    }
}
