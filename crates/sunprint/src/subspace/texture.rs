//! What is drawn beside the measured coordinates: stratum means, further directions, and a variance for each column.

use super::blob::{Blob, Pull};
use crate::math::vector::dot;
use serde::{Deserialize, Serialize};

/// Gaussian texture, in units.
///
/// A row is drawn as `origin + shift + w`, with `w = Σ_i g_i f_i + diag(σ) h` for normal numbers g, h, pulled by every
/// pull. Where there are gains, the row is then moved so that its coordinates along the frame's vectors are what the
/// measure says: `+ Σ_i (a_i − ⟨v_i, shift + w⟩) gain_i`. That is the law of w given its coordinates.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Texture {
    /// Directions, each multiplied by its standard deviation.
    pub directions: Vec<Vec<f64>>,
    /// Standard deviation that each column gets on its own; empty for none.
    pub diagonal: Vec<f64>,
    /// For each stratum, how its rows are shifted; empty for none.
    pub shifts: Vec<Vec<f64>>,
    /// What is taken out of a draw.
    #[serde(default)]
    pub pulls: Vec<Pull>,
    /// How a row follows each of the measured coordinates; empty where it is lifted along the vectors alone.
    #[serde(default)]
    pub gains: Vec<Vec<f64>>,
    /// The rows of the triangular root of the covariance of the measured coordinates within a stratum.
    #[serde(default)]
    pub root: Vec<Vec<f64>>,
}

impl Texture {
    /// The texture of a blob whose coordinates along `vectors` are measured. `offset` is the mean minus the centre from
    /// which these coordinates are counted; across the vectors it is in the origin already.
    pub fn of(blob: &Blob, vectors: &[Vec<f64>], offset: &[f64], strata: usize) -> Texture {
        let (root, gains) = blob.along(vectors);
        let mut along = vec![0.0; offset.len()];
        for v in vectors {
            let by = dot(v, offset);
            along.iter_mut().zip(v).for_each(|(x, v)| *x += by * v);
        }
        let shift = |s: usize| match blob.shifts.get(s) {
            Some(shift) => shift.iter().zip(&along).map(|(x, a)| x + a).collect(),
            None => along.clone(),
        };
        Texture {
            directions: blob.directions.clone(),
            diagonal: blob.left.iter().map(|x| x.max(0.0).sqrt()).collect(),
            shifts: (0..strata).map(shift).collect(),
            pulls: blob.pulls.clone(),
            gains,
            root: (0..vectors.len()).map(|i| root.row(i).to_vec()).collect(),
        }
    }

    /// Whether rows are lifted along the vectors alone and nothing is taken out of a draw.
    pub fn is_plain(&self) -> bool {
        self.gains.is_empty() && self.pulls.is_empty()
    }

    /// The mean of each stratum along vectors.
    pub fn means(&self, vectors: &[Vec<f64>]) -> Vec<Vec<f64>> {
        self.shifts.iter().map(|shift| vectors.iter().map(|v| dot(v, shift)).collect()).collect()
    }
}
