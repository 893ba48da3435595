//! The box and its binary partition.
//!
//! Proof: docs/proofs.md, Lemma 19.

use serde::{Deserialize, Serialize};

/// One side of the box, in units, measured from the released centre along a direction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// Lower end.
    pub low: f64,
    /// Width, positive.
    pub width: f64,
}

/// A side is never narrower than this: a box needs a volume.
const THINNEST: f64 = 1e-6;

/// The box around `[0, 1]^d` seen from `centre` along unit vectors, cut down to `middle ± reach`.
///
/// Along v, rows of the cube satisfy `⟨x − c, v⟩ ∈ [Σ min(0, v_j) − ⟨c, v⟩, Σ max(0, v_j) − ⟨c, v⟩]`, an interval of
/// width `‖v‖₁ ≤ √d`. Rows outside the cut are clamped into it: a rule for single rows, free of cost.
pub fn box_sides(centre: &[f64], vectors: &[Vec<f64>], middles: &[f64], reaches: &[f64]) -> Vec<Side> {
    vectors
        .iter()
        .zip(middles)
        .zip(reaches)
        .map(|((v, &middle), &reach)| {
            let (mut low, mut high) = (0.0, 0.0);
            for (&v, &c) in v.iter().zip(centre) {
                low += v.min(0.0) - c * v;
                high += v.max(0.0) - c * v;
            }
            let (left, right) = ((middle - reach).clamp(low, high), (middle + reach).clamp(low, high));
            Side { low: left, width: (right - left).max(THINNEST) }
        })
        .collect()
}

/// Which coordinate each of `depth` cuts halves: always the longest side, the first of equals.
pub fn cuts(sides: &[Side], depth: usize) -> Vec<u16> {
    let mut widths: Vec<f64> = sides.iter().map(|side| side.width).collect();
    (0..depth)
        .map(|_| {
            let longest = longest(&widths);
            widths[longest] /= 2.0;
            longest as u16
        })
        .collect()
}

fn longest(widths: &[f64]) -> usize {
    (1..widths.len()).fold(0, |best, i| if widths[i] > widths[best] { i } else { best })
}

/// The diameter of a cell after 0, 1, …, `depth` cuts.
pub(super) fn diameters(sides: &[Side], depth: usize) -> Vec<f64> {
    let mut widths: Vec<f64> = sides.iter().map(|side| side.width).collect();
    let mut square: f64 = widths.iter().map(|w| w * w).sum();
    let mut diameters = vec![square.sqrt()];
    for _ in 0..depth {
        let longest = longest(&widths);
        square -= 0.75 * widths[longest] * widths[longest];
        widths[longest] /= 2.0;
        diameters.push(square.max(0.0).sqrt());
    }
    diameters
}

/// The cell that a leaf index names: its interval along every side.
pub fn cell(sides: &[Side], cuts: &[u16], depth: usize, index: u64) -> Vec<Side> {
    let mut cell = sides.to_vec();
    for (level, &cut) in cuts[..depth].iter().enumerate() {
        let side = &mut cell[usize::from(cut)];
        side.width /= 2.0;
        if index >> (depth - 1 - level) & 1 == 1 {
            side.low += side.width;
        }
    }
    cell
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_box_holds_the_cube() {
        let v = vec![0.6, -0.8, 0.0];
        let centre = [0.5, 0.25, 0.9];
        let side = box_sides(&centre, std::slice::from_ref(&v), &[0.0], &[10.0])[0];
        for corner in 0..8 {
            let inner: f64 = (0..3).map(|j| (f64::from(corner >> j & 1) - centre[j]) * v[j]).sum();
            assert!(inner >= side.low - 1e-12 && inner <= side.low + side.width + 1e-12);
        }
        assert!((side.width - 1.4).abs() < 1e-12, "the width is the l1 norm");
    }

    #[test]
    fn cells_tile_the_box() {
        let sides = [Side { low: -1.0, width: 3.0 }, Side { low: 0.0, width: 1.0 }];
        let cuts = cuts(&sides, 5);
        assert_eq!(cuts, [0, 0, 1, 0, 1], "the longest side first, the first of equals");
        let volume: f64 =
            (0..32).map(|leaf| cell(&sides, &cuts, 5, leaf).iter().map(|s| s.width).product::<f64>()).sum();
        assert!((volume - 3.0).abs() < 1e-12);
        let last = cell(&sides, &cuts, 5, 31);
        assert!((last[0].low + last[0].width - 2.0).abs() < 1e-12 && (last[1].low + last[1].width - 1.0).abs() < 1e-12);
        let diameters = diameters(&sides, 5);
        assert!((diameters[5] - (last[0].width.powi(2) + last[1].width.powi(2)).sqrt()).abs() < 1e-12);
    }
}
