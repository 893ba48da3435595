//! The directions in which a table varies most, a few of them.

use super::eigen;
use super::stream::Stream;
use super::vector::dot;

/// More vectors than are asked for are carried along: the error falls by λ_{k+extra+1}/λ_k in each round.
const EXTRA: usize = 6;
/// Rounds of multiplication; what has not settled by then has no direction to speak of.
const ROUNDS: usize = 60;

/// The `count` leading eigenvectors of a symmetric matrix without negative eigenvalues, given by its packed lower
/// triangle: entry (i, j), j ≤ i, at i(i + 1)/2 + j. Unit vectors at right angles, the largest eigenvalue first, the
/// largest entry of each positive. Fewer if the matrix has fewer rows.
///
/// Orthogonal iteration: some random directions are multiplied by the matrix and straightened again and again, which
/// turns them towards the leading eigenvectors; at last the matrix is diagonalised among them. Meant for pictures: two
/// eigenvalues that are nearly equal are not told apart.
///
/// # Panics
/// If the length of `packed` is not `order (order + 1)/2`.
pub fn leading(packed: &[f64], order: usize, count: usize) -> Vec<Vec<f64>> {
    assert_eq!(packed.len(), order * (order + 1) / 2, "leading: a packed lower triangle");
    let carried = (count + EXTRA).min(order);
    let mut random = Stream::new(0, u64::from_be_bytes(*b"leading!"), 0);
    let mut vectors: Vec<Vec<f64>> = (0..carried).map(|_| (0..order).map(|_| random.normal()).collect()).collect();
    straighten(&mut vectors);
    for _ in 0..ROUNDS {
        vectors = vectors.iter().map(|v| times(packed, v)).collect();
        straighten(&mut vectors);
    }
    let images: Vec<Vec<f64>> = vectors.iter().map(|v| times(packed, v)).collect();
    let among: Vec<f64> = vectors.iter().flat_map(|v| images.iter().map(|image| dot(v, image))).collect();
    let eigen = eigen::symmetric(&among, carried);
    let mixed = |weights: &Vec<f64>| {
        let mut sum = vec![0.0; order];
        for (weight, v) in weights.iter().zip(&vectors) {
            sum.iter_mut().zip(v).for_each(|(x, v)| *x += weight * v);
        }
        let largest = sum.iter().fold(0.0_f64, |most, x| if x.abs() > most.abs() { *x } else { most });
        if largest < 0.0 { sum.iter().map(|x| -x).collect() } else { sum }
    };
    eigen.vectors.iter().take(count).map(mixed).collect()
}

fn times(packed: &[f64], vector: &[f64]) -> Vec<f64> {
    let mut product = vec![0.0; vector.len()];
    let mut start = 0;
    for i in 0..vector.len() {
        let row = &packed[start..start + i];
        product[i] += dot(row, &vector[..i]) + packed[start + i] * vector[i];
        product[..i].iter_mut().zip(row).for_each(|(sum, x)| *sum += x * vector[i]);
        start += i + 1;
    }
    product
}

/// Gram-Schmidt, twice, so that rounding leaves nothing; a vector of which nothing is left becomes a unit vector.
fn straighten(vectors: &mut [Vec<f64>]) {
    for i in 0..vectors.len() {
        let (before, rest) = vectors.split_at_mut(i);
        let vector = &mut rest[0];
        let mut next_axis = 0;
        loop {
            let length = dot(vector, vector).sqrt();
            vector.iter_mut().for_each(|x| *x /= length.max(f64::MIN_POSITIVE));
            for _ in 0..2 {
                for known in before.iter() {
                    let along = dot(known, vector);
                    vector.iter_mut().zip(known).for_each(|(x, k)| *x -= along * k);
                }
            }
            let left = dot(vector, vector).sqrt();
            if left > 1e-6 {
                vector.iter_mut().for_each(|x| *x /= left);
                break;
            }
            // Of all axes at least one is not a mixture of those before.
            vector.iter_mut().enumerate().for_each(|(j, x)| *x = if j == next_axis { 1.0 } else { 0.0 });
            next_axis += 1;
            if next_axis > vector.len() {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::gram::gram;

    #[test]
    fn what_stands_out_is_found() {
        let mut random = Stream::new(5, 0, 0);
        for order in [1_usize, 2, 3, 9, 60] {
            let rows: Vec<f64> = (0..400)
                .flat_map(|_| {
                    let (a, b) = (8.0 * random.normal(), 4.0 * random.normal());
                    let row: Vec<f64> = (0..order)
                        .map(|j| a * ((j + 1) as f64).sin() + b * (2.0 * j as f64).cos() + 0.3 * random.normal())
                        .collect();
                    row
                })
                .collect();
            let packed = gram(&rows, order);
            let whole: Vec<f64> = (0..order * order)
                .map(|at| (at / order, at % order))
                .map(|(i, j)| packed[i.max(j) * (i.max(j) + 1) / 2 + i.min(j)])
                .collect();
            let exact = eigen::symmetric(&whole, order);
            let found = leading(&packed, order, 2);
            assert_eq!(found.len(), order.min(2));
            for (i, v) in found.iter().enumerate() {
                assert!((dot(v, v) - 1.0).abs() < 1e-9);
                assert!(dot(v, &exact.vectors[i]).abs() > 1.0 - 1e-9, "{order}: {i}");
                // The certificate: it is an eigenvector.
                let image = times(&packed, v);
                let wrong: f64 = image.iter().zip(v).map(|(x, v)| (x - exact.values[i] * v).powi(2)).sum();
                assert!(wrong.sqrt() < 1e-6 * exact.values[0]);
            }
        }
    }

    #[test]
    fn nothing_and_zeros_are_no_trouble() {
        assert!(leading(&[], 0, 2).is_empty());
        let found = leading(&[0.0; 6], 3, 2);
        assert_eq!(found.len(), 2);
        assert!(dot(&found[0], &found[1]).abs() < 1e-9 && (dot(&found[0], &found[0]) - 1.0).abs() < 1e-9);
    }
}
