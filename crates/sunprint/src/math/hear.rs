//! How far a noisy count may correct what a model expects.
//!
//! The model expects m rows in a cell, and c were counted with a noise of variance σ². Were the model right, c would lie
//! around m with variance `m + σ²`. It is wrong by a factor of its own in every cell; these factors have a variance ρ²
//! around what is known already, the same in all cells of one measurement, so
//!
//! ```text
//! E (c − w m)² = ρ² m² + m + σ²,      w what is known, 1 where nothing is.
//! ```
//!
//! ρ² follows from all cells together, each weighed by what it can say, and the best guess of a cell's own factor is
//! `w + g (c/m − w)` with `g = ρ² m²/(ρ² m² + m + σ²)`. What noise explains is left alone: where nothing stands out, ρ² is
//! nothing and the model stays as it is (empirical Bayes).

/// What is known of one cell.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cell {
    /// c.
    pub counted: f64,
    /// m.
    pub expected: f64,
    /// σ².
    pub noise: f64,
    /// w.
    pub known: f64,
    /// Rows of the pool from which m is known; its own chance counts as noise.
    pub seen: f64,
}

impl Cell {
    /// The variance of the count around what is known, were that right.
    fn chance(&self) -> f64 {
        let pool = if self.seen > 0.0 { self.expected * self.expected / self.seen } else { 0.0 };
        self.known.max(0.0) * self.expected + self.noise + self.known * self.known * pool
    }
}

/// The factors of all cells, never below nothing.
pub(crate) fn factors(cells: &[Cell]) -> Vec<f64> {
    let wrong = variance(cells);
    let factor = |cell: &Cell| {
        if cell.expected <= 0.0 {
            return cell.known;
        }
        let model = wrong * cell.expected * cell.expected;
        let go = model / (model + cell.chance()).max(f64::MIN_POSITIVE);
        (cell.known + go * (cell.counted / cell.expected - cell.known)).max(0.0)
    };
    cells.iter().map(factor).collect()
}

/// ρ².
fn variance(cells: &[Cell]) -> f64 {
    let (mut apart, mut whole) = (0.0, 0.0);
    for cell in cells {
        let own = cell.chance();
        if own > 0.0 && cell.expected > 0.0 {
            apart += ((cell.counted - cell.known * cell.expected).powi(2) - own) / own;
            whole += cell.expected * cell.expected / own;
        }
    }
    if whole > 0.0 { (apart / whole).max(0.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::stream::Stream;

    fn cells(noise: f64, factor: impl Fn(usize) -> f64) -> Vec<Cell> {
        let mut random = Stream::new(3, 95, 0);
        let cell = |i: usize| {
            let counted = 100.0 * factor(i) + noise * random.normal();
            Cell { counted, expected: 100.0, noise: noise * noise, known: 1.0, seen: 0.0 }
        };
        (0..1000).map(cell).collect()
    }

    fn apart(found: &[f64], truth: impl Fn(usize) -> f64) -> f64 {
        (found.iter().enumerate().map(|(i, w)| (w - truth(i)).powi(2)).sum::<f64>() / found.len() as f64).sqrt()
    }

    /// A model that is right is left alone, and one that is wrong is corrected as far as noise lets it. Fixed seeds.
    #[test]
    fn what_noise_explains_is_left_alone() {
        assert!(apart(&factors(&cells(50.0, |_| 1.0)), |_| 1.0) < 0.1, "the noise alone is 0.5");
        let wrong = |i: usize| if i.is_multiple_of(2) { 0.2 } else { 1.8 };
        assert!(apart(&factors(&cells(1.0, wrong)), wrong) < 0.11, "nearly without noise");
        assert!(apart(&factors(&cells(50.0, wrong)), wrong) < 0.5, "better than the counts, and than 0.8 before them");
    }

    #[test]
    fn cells_without_rows_stay() {
        let empty = Cell { counted: 7.0, expected: 0.0, noise: 1.0, known: 0.7, seen: 0.0 };
        assert_eq!(factors(&[empty]), [0.7]);
        assert!(factors(&[]).is_empty());
    }
}
