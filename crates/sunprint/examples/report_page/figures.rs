//! Made-up numbers.

use sunprint::evaluate::{CategoryShare, ColumnFigures, Figure};
use sunprint::report::page::{Bars, ColumnPicture};

/// Columns of the demonstration.
pub const DEMO: [&str; 11] = [
    "age",
    "income",
    "weight",
    "height",
    "born",
    "last seen",
    "smoker",
    "region",
    "education",
    "hours per week",
    "blood pressure",
];

/// Numbers that look random and are always the same.
pub struct Chance(pub u64);

impl Chance {
    /// Between 0 and 1.
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Around 0, with deviation 1.
    pub fn bell(&mut self) -> f64 {
        (0..12).map(|_| self.next()).sum::<f64>() - 6.0
    }
}

/// Shares of a bell around a centre, disturbed a little.
fn bell(bars: usize, centre: f64, spread: f64, doubt: f64, chance: &mut Chance) -> Vec<f64> {
    let heights: Vec<f64> = (0..bars)
        .map(|i| {
            let z = ((i as f64 + 0.5) / bars as f64 - centre) / spread;
            ((-z * z / 2.0).exp() * (1.0 + doubt * chance.bell()) + 0.004).max(0.0)
        })
        .collect();
    let sum: f64 = heights.iter().sum();
    heights.iter().map(|height| height / sum).collect()
}

/// The column at a place: numbers, dates, logarithms, categories and booleans take turns.
pub fn column(i: usize, name: &str, error: f64, chance: &mut Chance) -> ColumnPicture {
    let (kind, scale, low, high) = match (i % 11, name.starts_with("gene")) {
        (_, true) => ("continuous", "number", -4.0, 4.0),
        (1, _) => ("continuous", "log", 100.0, 1_000_000.0),
        (4, _) => ("date", "date", -10_000.0, 12_000.0),
        (5, _) => ("datetime", "datetime", 1.6e9, 1.7e9),
        (6, _) => ("boolean", "", 0.0, 1.0),
        (7 | 8, _) => ("categorical", "", 0.0, 1.0),
        (0 | 9, _) => ("integer", "number", 0.0, 120.0),
        _ => ("continuous", "number", 0.0, 250.0),
    };
    let (centre, spread) = (0.3 + 0.4 * chance.next(), 0.08 + 0.12 * chance.next());
    let figure = |real: f64, error: f64| {
        Some(Figure { real: low + real * (high - low), synthetic: low + (real + error) * (high - low), error })
    };
    let missing = i.is_multiple_of(3).then(|| Figure { real: 0.05, synthetic: 0.05 + error / 3.0, error: error / 3.0 });
    let mut figures = ColumnFigures {
        name: name.to_string(),
        kind,
        w1: error,
        w1_own: error * (high - low),
        relative: 5.0 * error,
        chance: 0.01,
        variation: None,
        mean: figure(centre, error / 2.0),
        deviation: Some(Figure {
            real: spread * (high - low),
            synthetic: (spread - error / 5.0) * (high - low),
            error: -error / 5.0,
        }),
        missing,
        categories: Vec::new(),
        constant_real: false,
        constant_synthetic: i % 17 == 16,
    };
    if !scale.is_empty() {
        let edge = |at: f64| match scale {
            "log" => low * (high / low).powf(at),
            _ => low + at * (high - low),
        };
        let bars = 32;
        let real = bell(bars, centre, spread, 0.05, chance);
        let synthetic = bell(bars, centre + error / 2.0, spread * 1.05, 0.15, chance);
        let edges = (0..=bars).map(|at| edge(at as f64 / bars as f64)).collect();
        return ColumnPicture { figures, bars: Some(Bars { edges, scale, real, synthetic }) };
    }
    let values: Vec<String> = match i % 11 {
        6 => vec!["no".to_string(), "yes".to_string()],
        7 => ["north", "east", "south", "west", "<b>abroad</b>"].map(str::to_string).to_vec(),
        _ => (1..=30).map(|level| format!("level {level}")).collect(),
    };
    let real = bell(values.len(), 0.3, 0.3, 0.3, chance);
    let synthetic = bell(values.len(), 0.3 + error, 0.3, 0.4, chance);
    figures.variation = Some(real.iter().zip(&synthetic).map(|(a, b)| (a - b).abs()).sum::<f64>() / 2.0);
    (figures.mean, figures.deviation, figures.w1_own) = (None, None, 0.0);
    figures.categories = (values.into_iter().zip(real).zip(synthetic))
        .map(|((value, real), synthetic)| CategoryShare { value, real, synthetic })
        .collect();
    ColumnPicture { figures, bars: None }
}
