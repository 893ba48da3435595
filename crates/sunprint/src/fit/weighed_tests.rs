//! Laws of the tilt: what is wanted comes out, nothing else moves more than it must, nothing is made up.

use super::*;
use proptest::prelude::*;

fn pieces(shares: &[f64]) -> Vec<Piece> {
    let cells = shares.len() as f64;
    let sum: f64 = shares.iter().sum();
    let piece =
        |(i, share): (usize, &f64)| Piece { low: i as f64 / cells, high: (i as f64 + 1.0) / cells, share: share / sum };
    shares.iter().enumerate().map(piece).collect()
}

fn moments(pieces: &[Piece]) -> (f64, f64) {
    let middle = |piece: &Piece| 0.5 * (piece.low + piece.high);
    let mean: f64 = pieces.iter().map(|piece| piece.share * middle(piece)).sum();
    let square = |piece: &Piece| (middle(piece) - mean).powi(2) + (piece.high - piece.low).powi(2) / 12.0;
    (mean, pieces.iter().map(|piece| piece.share * square(piece)).sum())
}

/// Counts as exact as can be, of which nothing is believed but the shape: the noise is said to be large.
fn blurred<'a>(counts: &'a [f64], rows: f64) -> Counted<'a> {
    Counted { counts, noise: 1e3 * rows, rows }
}

proptest! {
    /// Mean and variance become those that are known, for any shape that can have them.
    #[test]
    fn known_moments_come_out(shares in prop::collection::vec(0.05_f64..1.0, 8..40), mean in 0.35_f64..0.65, part in 0.3_f64..0.9) {
        let mut moved = pieces(&shares);
        let counts: Vec<f64> = moved.iter().map(|piece| 1e4 * piece.share).collect();
        // No wider than a uniform spread around the mean can be.
        let variance = part * moments(&moved).1.min(mean.min(1.0 - mean).powi(2) / 3.0);
        let known = Known { mean, mean_noise: 1e-9, variance: Some((variance.max(0.003), 1e-9)) };
        tilt(&mut moved, &blurred(&counts, 1e4), &known);
        let (found, spread) = moments(&moved);
        prop_assert!((found - mean).abs() < 1e-6, "{found} {mean}");
        prop_assert!((spread - known.variance.unwrap().0).abs() < 1e-6, "{spread} {known:?}");
        prop_assert!((moved.iter().map(|piece| piece.share).sum::<f64>() - 1.0).abs() < 1e-9);
    }

    /// Cells that hold nothing stay empty, and nothing is negative, whatever is asked for.
    #[test]
    fn nothing_is_made_up(
        shares in prop::collection::vec(prop_oneof![Just(0.0), 0.01_f64..1.0], 2..30),
        mean in -0.5_f64..1.5, variance in 0.0_f64..0.5, noise in 0.0_f64..100.0,
    ) {
        prop_assume!(shares.iter().sum::<f64>() > 0.0);
        let before = pieces(&shares);
        let counts: Vec<f64> = before.iter().map(|piece| 1e3 * piece.share).collect();
        let mut moved = before.clone();
        let known = Known { mean, mean_noise: 0.01, variance: Some((variance, 0.01)) };
        tilt(&mut moved, &Counted { counts: &counts, noise, rows: 1e3 }, &known);
        for (a, b) in before.iter().zip(&moved) {
            prop_assert!(b.share >= 0.0 && b.share.is_finite() && (a.share > 0.0 || b.share == 0.0));
        }
        prop_assert!((moved.iter().map(|piece| piece.share).sum::<f64>() - 1.0).abs() < 1e-9);
    }

    /// What is known already stays as it is.
    #[test]
    fn agreement_changes_nothing(shares in prop::collection::vec(0.05_f64..1.0, 5..30)) {
        let before = pieces(&shares);
        let (mean, variance) = moments(&before);
        let counts: Vec<f64> = before.iter().map(|piece| 1e4 * piece.share).collect();
        let mut moved = before.clone();
        tilt(&mut moved, &blurred(&counts, 1e4), &Known { mean, mean_noise: 0.0, variance: Some((variance, 0.0)) });
        for (a, b) in before.iter().zip(&moved) {
            prop_assert!((a.share - b.share).abs() < 1e-6);
        }
    }
}

/// Counts that noise cannot explain are believed: moments of clipped rows are biased.
#[test]
fn clear_counts_are_believed() {
    let before = pieces(&[8.0, 4.0, 2.0, 1.0, 1.0, 1.0, 1.0, 2.0]);
    let counts: Vec<f64> = before.iter().map(|piece| 1e5 * piece.share).collect();
    let (mean, variance) = moments(&before);
    let known = Known { mean: mean - 0.05, mean_noise: 1e-3, variance: Some((0.5 * variance, 1e-3)) };
    let mut moved = before.clone();
    tilt(&mut moved, &Counted { counts: &counts, noise: 10.0, rows: 1e5 }, &known);
    assert!((moments(&moved).0 - mean).abs() < 1e-3, "{:?}", moments(&moved));
}

#[test]
fn missing_values_stand_in_the_middle() {
    let whole = Known { mean: 0.44, mean_noise: 0.01, variance: Some((0.0144 + 0.8 * 0.01, 0.02)) };
    // A fifth of the rows is missing, the others have mean 0.425: 0.8 · 0.425 + 0.2 · 0.5 = 0.44.
    let present = whole.of_present(0.2);
    assert!((present.mean - 0.425).abs() < 1e-12 && (present.mean_noise - 0.0125).abs() < 1e-12);
    let (variance, noise) = present.variance.unwrap();
    let square = (0.0144 + 0.008 + 0.44 * 0.44 - 0.2 * 0.25) / 0.8 - 0.425 * 0.425;
    assert!((variance - square).abs() < 1e-12 && (noise - 0.025).abs() < 1e-12);
}
