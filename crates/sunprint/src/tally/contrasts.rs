//! The sums of strata against one another.
//!
//! Proof: docs/proofs.md, Lemma 22.
//!
//! Each coordinate of a row, less the centre, is clamped to `[−r, r]` and added to its stratum's sum. Of k sums, k − 1
//! contrasts are released: `T_c = Σ_s S_cs Σ_{i in s} u_i`, with S the rows of an integer Helmert matrix, `|S_cs| ≤ A`.
//! The sum of all strata is missing, which the centre knows already.
//!
//! **Sensitivity.** A row adds `S_cs u_j` with `|S_cs u_j| ≤ A r` to each of the (k − 1) d numbers, so replacing it moves
//! them inside the cube `[−2 A r, 2 A r]`.

use super::moments::{ClampedSums, MomentTally};

/// `A`: the largest entry of a contrast.
const LARGEST: i64 = 1024;

/// Helmert's contrasts of k strata as integers: row c compares the first c strata with the next, `⌊A/c⌋` of each against
/// c times as much. Rows are orthogonal to one another and to the row of ones. For k ≤ A no row is zero.
pub fn helmert(strata: usize) -> Vec<Vec<i64>> {
    let row = |c: i64| -> Vec<i64> {
        let each = LARGEST / c;
        (0..strata as i64).map(|s| if s < c { each } else { -c * each * i64::from(s == c) }).collect()
    };
    (1..strata as i64).map(row).collect()
}

/// The contrasts of a tally of clamped rows, d for each row of `codes`: exact integer arithmetic, still secret.
///
/// Sizes: `Σ_s |Σ u| ≤ n r < 2³² · 2¹⁶`, hence `|T| < 2⁵⁸`.
pub fn contrasts(tally: &MomentTally, codes: &[Vec<i64>]) -> Vec<i64> {
    let strata = tally.stratum_rows.len();
    let d = tally.stratum_sums.len() / strata.max(1);
    let one = |code: &Vec<i64>, j: usize| -> i64 { (0..strata).map(|s| code[s] * tally.stratum_sums[s * d + j]).sum() };
    codes.iter().flat_map(|code| (0..d).map(move |j| one(code, j))).collect()
}

/// How far a replaced row moves each contrast at most; at least 1.
pub fn contrast_span(spec: &ClampedSums) -> u64 {
    2 * LARGEST as u64 * u64::from(spec.reach.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contrasts_are_orthogonal_and_bounded() {
        for strata in [1, 2, 3, 4, 7, 16, 64, 1024] {
            let codes = helmert(strata);
            assert_eq!(codes.len(), strata - 1);
            for (c, row) in codes.iter().enumerate() {
                assert!(row.len() == strata && row.iter().sum::<i64>() == 0, "{strata}: {row:?}");
                assert!(row.iter().all(|x| x.abs() <= LARGEST) && row.iter().any(|&x| x != 0), "{strata}: {row:?}");
                for other in codes[..c].iter().take(20) {
                    assert_eq!(row.iter().zip(other).map(|(a, b)| a * b).sum::<i64>(), 0);
                }
            }
        }
    }

    /// As many rows as a fit may have, all at the far end of one stratum or of opposite ends of two: nothing overflows.
    #[test]
    fn the_largest_sums_stay_inside_their_integers() {
        let rows = 1_i64 << 32;
        for strata in [2, 16, 1024] {
            for (first, last) in [(rows, 0), (rows / 2, -rows / 2)] {
                let mut tally =
                    MomentTally { products: Vec::new(), stratum_sums: vec![0; strata], stratum_rows: vec![0; strata] };
                tally.stratum_sums[0] = first * i64::from(u16::MAX);
                tally.stratum_sums[strata - 1] = last * i64::from(u16::MAX);
                assert!(contrasts(&tally, &helmert(strata)).iter().all(|t| t.unsigned_abs() < 1 << 58));
            }
        }
    }
}
