//! How far a noisy count may correct what a model expects.
//!
//! The model expects m rows in a cell, and c were counted with a noise of variance σ². Were the model right, c would lie
//! around m with variance `m + σ²`. It is wrong by a factor of its own in every cell. Around what is known already these
//! factors are Gaussian with some variance ρ², which is not the same in all cells: in most of them the model may be right,
//! and in some far off. So
//!
//! ```text
//! c − w m ~ Σ_k π_k N(0, ρ_k² m² + m + σ²),      w what is known, 1 where nothing is,
//! ```
//!
//! with ρ_0 = 0 and others on a grid that reaches from what no cell could show to what no cell shows. The parts π are the
//! likeliest for all cells of one measurement together (a concave problem, solved by expectation and maximisation), with
//! some cells more in which the model is right, so that few cells cannot say much. The best guess of a cell's own factor is
//! `w + g (c/m − w)` with `g = Σ_k p_k ρ_k² m²/(ρ_k² m² + m + σ²)`, p_k how likely each ρ_k is for that cell. What noise
//! explains is left alone, and what stands out is followed: empirical Bayes, after Stephens, *False discovery rates: a new
//! deal*, Biostatistics 2017.

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
    /// How many released counts c is the sum of.
    pub sums: f64,
}

impl Cell {
    /// The variance of the count around what is known, were that right.
    fn chance(&self) -> f64 {
        let pool = if self.seen > 0.0 { self.expected * self.expected / self.seen } else { 0.0 };
        self.known.max(0.0) * self.expected + self.noise + self.known * self.known * pool
    }
}

/// Cells in which the model is right that are thought to have been seen beside the others, as in the paper.
const RIGHT: f64 = 10.0;
/// From one ρ² of the grid to the next.
const STEP: f64 = 4.0;
/// The grid has at most so many, and so often are the parts set anew.
const MOST: usize = 24;
const ROUNDS: usize = 60;

/// The factors of all cells, never below nothing.
pub(crate) fn factors(cells: &[Cell]) -> Vec<f64> {
    let grid = grid(cells);
    let likely: Vec<f64> = cells.iter().flat_map(|cell| cell.likely(&grid)).collect();
    let parts = parts(&likely, grid.len());
    let factor = |(cell, likely): (&Cell, &[f64])| {
        if cell.expected <= 0.0 {
            return cell.known;
        }
        let whole: f64 = likely.iter().zip(&parts).map(|(likely, part)| likely * part).sum();
        let go = |((likely, part), wrong): ((&f64, &f64), &f64)| likely * part / whole * cell.trust(*wrong);
        let go: f64 = likely.iter().zip(&parts).zip(&grid).map(go).sum();
        (cell.known + go * (cell.counted / cell.expected - cell.known)).max(0.0)
    };
    cells.iter().zip(likely.chunks_exact(grid.len())).map(factor).collect()
}

impl Cell {
    fn off(&self) -> f64 {
        self.counted - self.known * self.expected
    }

    /// How far a count is followed if factors have a variance.
    fn trust(&self, wrong: f64) -> f64 {
        let model = wrong * self.expected * self.expected;
        model / (model + self.chance()).max(f64::MIN_POSITIVE)
    }

    /// How far off the count is, as the square of a deviation of the Gaussian law that is as rare.
    ///
    /// Noise has the tails of Laplace's law: five deviations of one count come once in a thousand times. A sum of l of them,
    /// z deviations off, is as rare as `exp(−I)` with `I = sup_u (u t + l ln(1 − u²))`, `t = z √(2l)`, which is taken by
    /// `u = (√(l² + t²) − l)/t` (Cramér); small ones have `I = z²/2`.
    fn rarity(&self) -> f64 {
        let own = self.chance().max(f64::MIN_POSITIVE);
        // Chance beside the noise has the tails of Gauss: the whole is like a sum of more counts, by its kurtosis.
        let (square, l) = (self.off().powi(2) / own, self.sums.max(1.0) * (own / self.noise.max(1e-9 * own)).powi(2));
        let t = (2.0 * l * square).sqrt();
        if t < 1e-6 * l {
            return square;
        }
        let u = ((l * l + t * t).sqrt() - l) / t;
        (2.0 * (u * t + l * (-u * u).ln_1p())).clamp(0.0, square)
    }

    /// How likely the count is for each ρ² of the grid, the most likely one as 1.
    fn likely(&self, grid: &[f64]) -> Vec<f64> {
        let own = self.chance().max(f64::MIN_POSITIVE);
        let off = own * self.rarity();
        let log = |wrong: &f64| {
            let variance = own + wrong * self.expected * self.expected;
            -0.5 * (variance.ln() + off / variance)
        };
        let logs: Vec<f64> = grid.iter().map(log).collect();
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        logs.iter().map(|log| (log - most).exp()).collect()
    }
}

/// Nothing, and ρ² from a tenth of what chance does in the fullest cell to what is seen in the one that is furthest off.
fn grid(cells: &[Cell]) -> Vec<f64> {
    let told = || cells.iter().filter(|cell| cell.expected > 0.0 && cell.chance() > 0.0);
    let least = told().map(|cell| cell.chance() / cell.expected.powi(2)).fold(f64::INFINITY, f64::min) / 10.0;
    let most = told().map(|cell| cell.off().powi(2) / cell.expected.powi(2)).fold(0.0, f64::max);
    let mut grid = vec![0.0];
    if least.is_finite() && least > 0.0 && most.is_finite() && most > least {
        // Where the grid would be too long, its steps are longer.
        let step = STEP.max((most / least).powf(1.0 / (MOST - 2) as f64));
        let mut next = least;
        while grid.len() < MOST && next < most * step {
            grid.push(next);
            next *= step;
        }
    }
    grid
}

/// The likeliest parts of the grid.
fn parts(likely: &[f64], grid: usize) -> Vec<f64> {
    let cells = likely.len() / grid;
    let mut parts = vec![1.0 / grid as f64; grid];
    for _ in 0..ROUNDS {
        let mut next = vec![0.0; grid];
        next[0] = RIGHT;
        for likely in likely.chunks_exact(grid) {
            let whole: f64 = likely.iter().zip(&parts).map(|(likely, part)| likely * part).sum();
            for ((next, likely), part) in next.iter_mut().zip(likely).zip(&parts) {
                *next += likely * part / whole;
            }
        }
        parts = next.iter().map(|part| part / (cells as f64 + RIGHT)).collect();
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::stream::Stream;

    fn cells(noise: f64, factor: impl Fn(usize) -> f64) -> Vec<Cell> {
        let mut random = Stream::new(3, 95, 0);
        let cell = |i: usize| {
            let counted = 100.0 * factor(i) + noise * random.normal();
            Cell { counted, expected: 100.0, noise: noise * noise, known: 1.0, seen: 0.0, sums: 1.0 }
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
        let empty = Cell { counted: 7.0, expected: 0.0, noise: 1.0, known: 0.7, seen: 0.0, sums: 1.0 };
        assert_eq!(factors(&[empty]), [0.7]);
        assert!(factors(&[]).is_empty());
    }
}
