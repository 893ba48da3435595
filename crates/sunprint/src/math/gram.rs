//! Sums of products: `Σ v vᵀ` over rows of numbers.

use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::{Accum, Mat, MatRef, Par};

/// The packed lower triangle of `Σ v vᵀ` over rows of `width` numbers, given one after the other: entry (i, j), j ≤ i,
/// stands at i(i + 1)/2 + j.
///
/// Exact, and so the same on every processor, where all numbers are whole and no sum of absolute products exceeds 2⁵³:
/// then no step of any order of summation rounds.
///
/// # Panics
/// If the last row is cut short.
pub fn gram(rows: &[f64], width: usize) -> Vec<f64> {
    let count = rows.len().checked_div(width).unwrap_or(0);
    assert_eq!(rows.len(), count * width, "gram: whole rows");
    let rows = MatRef::from_row_major_slice(rows, count, width);
    let mut sums = Mat::<f64>::zeros(width, width);
    let lower = BlockStructure::TriangularLower;
    let whole = BlockStructure::Rectangular;
    matmul(sums.as_mut(), lower, Accum::Replace, rows.transpose(), whole, rows, whole, 1.0, Par::Seq);
    (0..width).flat_map(|i| (0..=i).map(move |j| (i, j))).map(|entry| sums[entry]).collect()
}

#[cfg(test)]
mod tests {
    use super::gram;
    use crate::math::stream::Stream;

    #[test]
    fn whole_numbers_are_multiplied_exactly() {
        let mut stream = Stream::new(1, 0, 0);
        for (count, width) in [(0, 3), (1, 1), (1, 7), (5, 4), (300, 33), (40, 150)] {
            let rows: Vec<i64> = (0..count * width).map(|_| stream.below(65_536) as i64 - 32_768).collect();
            let floats: Vec<f64> = rows.iter().map(|&x| x as f64).collect();
            let found = gram(&floats, width);
            let mut place = 0;
            for i in 0..width {
                for j in 0..=i {
                    let plain: i64 = rows.chunks(width).map(|row| row[i] * row[j]).sum();
                    assert_eq!(found[place], plain as f64, "{count} rows, {i} and {j}");
                    place += 1;
                }
            }
        }
        assert!(gram(&[], 0).is_empty());
    }
}
