//! Laws of weighing: what is known well comes out, what is known badly moves little, and nothing is made up.

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

fn known(mean: f64, mean_noise: f64, variance: Option<(f64, f64)>) -> ColumnMoments {
    ColumnMoments { mean, mean_noise, summed: None, variance }
}

/// What is wanted of a column whose model draws what pieces say.
fn weighed(pieces: &[Piece], counts: &[f64], noise: f64, known: ColumnMoments) -> Vec<Piece> {
    let rows = counts.iter().sum();
    let counted =
        ValueCounts { pieces: pieces.to_vec(), counts: counts.to_vec(), noise, rows, absent: 0.0, known: Some(known) };
    let drawn: Vec<f64> = (pieces.iter())
        .flat_map(|piece| std::iter::repeat_n(0.5 * (piece.low + piece.high), (1e4 * piece.share).round() as usize))
        .collect();
    counted.wanted(&drawn).pieces
}

proptest! {
    /// A mean that is known exactly becomes the mean, wherever the noise of the counts has put it.
    #[test]
    fn a_known_mean_comes_out(shares in prop::collection::vec(0.2_f64..1.0, 8..40), by in -0.008_f64..0.008) {
        let before = pieces(&shares);
        let mean = moments(&before).0 + by;
        let counts: Vec<f64> = before.iter().map(|piece| 1e4 * piece.share).collect();
        // So much noise that the difference is explained, and so little that every cell is heard.
        let moved = weighed(&before, &counts, 30.0, known(mean, 1e-9, None));
        let explained = moments(&moved).0;
        prop_assert!((explained - mean).abs() < 1e-4, "{explained} {mean}");
        prop_assert!((moved.iter().map(|piece| piece.share).sum::<f64>() - 1.0).abs() < 1e-9);
    }

    /// Nothing is negative or infinite, whatever is asked for.
    #[test]
    fn nothing_is_made_up(
        shares in prop::collection::vec(prop_oneof![Just(0.0), 0.01_f64..1.0], 2..30),
        mean in -0.5_f64..1.5, variance in 0.0_f64..0.5, noise in 0.0_f64..100.0,
    ) {
        prop_assume!(shares.iter().sum::<f64>() > 0.0);
        let before = pieces(&shares);
        let counts: Vec<f64> = before.iter().map(|piece| 1e3 * piece.share).collect();
        let moved = weighed(&before, &counts, noise, known(mean, 0.01, Some((variance, 0.01))));
        prop_assert!(moved.iter().all(|piece| piece.share >= 0.0 && piece.share.is_finite()));
        prop_assert!((moved.iter().map(|piece| piece.share).sum::<f64>() - 1.0).abs() < 1e-9);
    }

    /// What is known already stays as it is.
    #[test]
    fn agreement_changes_nothing(shares in prop::collection::vec(0.05_f64..1.0, 5..30)) {
        let before = pieces(&shares);
        let (mean, variance) = moments(&before);
        let counts: Vec<f64> = before.iter().map(|piece| 1e4 * piece.share).collect();
        let moved = weighed(&before, &counts, 1.0, known(mean, 0.0, Some((variance, 0.0))));
        for (a, b) in before.iter().zip(&moved) {
            // Rows are drawn whole: one of ten thousand more or less.
            prop_assert!((a.share - b.share).abs() < 3e-4);
        }
    }
}

/// Counts that noise cannot explain are believed: moments of clipped rows are biased.
#[test]
fn clear_counts_are_believed() {
    let before = pieces(&[8.0, 4.0, 2.0, 1.0, 1.0, 1.0, 1.0, 2.0]);
    let counts: Vec<f64> = before.iter().map(|piece| 1e5 * piece.share).collect();
    let (mean, variance) = moments(&before);
    let biased = known(mean - 0.05, 1e-3, Some((0.5 * variance, 1e-3)));
    let moved = weighed(&before, &counts, 10.0, biased);
    assert!((moments(&moved).0 - mean).abs() < 1e-3, "{:?}", moments(&moved));
}

/// The fault of old: a variance that the cells which are heard cannot have put every row into the last of them. Nine tenths
/// of the rows are zero, and the released variance is three times too large by noise.
#[test]
fn a_variance_that_cannot_be_moves_no_mean() {
    let mut cells: Vec<Piece> =
        (0..16).map(|i| f64::from(i) * 0.0055).map(|low| Piece { low, high: low + 0.0055, share: 0.0 }).collect();
    cells.insert(0, Piece { low: 0.0, high: 0.0, share: 0.0 });
    let mut counts = vec![0.0; 17];
    (counts[0], counts[1], counts[2], counts[16]) = (27_000.0, 2_000.0, 1_000.0, 320.0);
    let told = known(0.0012, 0.0028, Some((0.0026, 0.0008)));
    let mean = moments(&weighed(&cells, &counts, 207.0, told)).0;
    assert!(mean < 0.008, "{mean}");
}

#[test]
fn missing_values_stand_in_the_middle() {
    let summed = Some(Noisy { value: 0.44, noise: 0.02 });
    let whole = ColumnMoments { mean: 0.44, mean_noise: 0.01, summed, variance: Some((0.0144 + 0.8 * 0.01, 0.02)) };
    // A fifth of the rows is missing, the others have mean 0.425: 0.8 · 0.425 + 0.2 · 0.5 = 0.44.
    let present = whole.of_present(0.2);
    assert!((present.mean - 0.425).abs() < 1e-12 && (present.mean_noise - 0.0125).abs() < 1e-12);
    let summed = present.summed.unwrap();
    assert!((summed.value - 0.425).abs() < 1e-12 && (summed.noise - 0.025).abs() < 1e-12);
    let (variance, noise) = present.variance.unwrap();
    let square = (0.0144 + 0.008 + 0.44 * 0.44 - 0.2 * 0.25) / 0.8 - 0.425 * 0.425;
    assert!((variance - square).abs() < 1e-12 && (noise - 0.025).abs() < 1e-12);
}
