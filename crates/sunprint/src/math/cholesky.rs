//! The triangular root of a symmetric, positive matrix.

/// `A = L Lᵀ`, with L below the diagonal.
#[derive(Clone, Debug)]
pub struct Cholesky {
    order: usize,
    lower: Vec<f64>,
}

/// A pivot below this fraction of the largest diagonal entry is lifted to it: what is not quite positive becomes so.
const LEAST_PIVOT: f64 = 1e-12;

impl Cholesky {
    /// Factors the row-major matrix. One that is not positive is lifted along the way; nothing fails.
    pub fn new(matrix: &[f64], order: usize) -> Cholesky {
        let largest = (0..order).map(|i| matrix[i * order + i]).fold(0.0, f64::max);
        let least = (LEAST_PIVOT * largest).max(f64::MIN_POSITIVE);
        let mut lower = vec![0.0; order * order];
        for i in 0..order {
            for j in 0..=i {
                let known: f64 = (0..j).map(|k| lower[i * order + k] * lower[j * order + k]).sum();
                let rest = matrix[i * order + j] - known;
                lower[i * order + j] = if i == j { rest.max(least).sqrt() } else { rest / lower[j * order + j] };
            }
        }
        Cholesky { order, lower }
    }

    /// Row i of L, up to the diagonal.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.lower[i * self.order..=i * self.order + i]
    }

    /// The solution of `A x = b`.
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        let (n, l) = (self.order, &self.lower);
        let mut x = b.to_vec();
        for i in 0..n {
            let known: f64 = (0..i).map(|k| l[i * n + k] * x[k]).sum();
            x[i] = (x[i] - known) / l[i * n + i];
        }
        for i in (0..n).rev() {
            let known: f64 = (i + 1..n).map(|k| l[k * n + i] * x[k]).sum();
            x[i] = (x[i] - known) / l[i * n + i];
        }
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_solves_what_it_factors(order in 1_usize..7, seed in prop::collection::vec(-1.0f64..1.0, 49), b in prop::collection::vec(-1.0f64..1.0, 7)) {
            // B Bᵀ + 0.1 I is positive.
            let entry = |i: usize, j: usize| (0..7).map(|k| seed[i * 7 + k] * seed[j * 7 + k]).sum::<f64>() + if i == j { 0.1 } else { 0.0 };
            let matrix: Vec<f64> = (0..order * order).map(|at| entry(at / order, at % order)).collect();
            let root = Cholesky::new(&matrix, order);
            let x = root.solve(&b[..order]);
            for i in 0..order {
                let back: f64 = (0..order).map(|j| matrix[i * order + j] * x[j]).sum();
                prop_assert!((back - b[i]).abs() < 1e-9);
                for j in 0..=i {
                    let product: f64 = root.row(i).iter().zip(root.row(j)).map(|(a, b)| a * b).sum();
                    prop_assert!((product - matrix[i * order + j]).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn a_matrix_that_is_not_positive_is_lifted() {
        let root = Cholesky::new(&[1.0, 2.0, 2.0, 1.0], 2);
        assert!(root.row(1).iter().chain(root.row(0)).all(|x| x.is_finite()));
    }
}
