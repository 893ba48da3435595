//! Vectors as slices.

/// `⟨a, b⟩`, summed from the first entry to the last.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
