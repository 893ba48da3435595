//! Errors of the correlation matrix.

use super::Moments;
use crate::schema::{Block, Column, Form, Schema};
use serde::Serialize;

/// As many of the worst pairs are kept.
pub const WORST_PAIRS: usize = 100;

/// Errors of the correlations of all pairs of coordinates of different columns: numbers, and for categories each of
/// them.
///
/// A column that does not vary in a table has correlation 0 with every other there: the synthetic table then misses
/// the whole of a real correlation, and nothing where the real one is 0 too.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CorrelationErrors {
    /// How many pairs there are; none for a single feature.
    pub pairs: usize,
    /// The root of the mean square difference; 0 without pairs.
    pub root_mean_square: f64,
    /// The largest absolute difference; 0 without pairs.
    pub largest: f64,
    /// The root of the mean square of the real correlations beyond chance: how much there is to lose. It is what
    /// `root_mean_square` is for synthetic rows without any correlation.
    pub strength: f64,
    /// What `root_mean_square` is to be expected of two tables of so many rows that were drawn from one law.
    pub chance: f64,
    /// Coordinates that do not vary in the real table.
    pub constant_real: usize,
    /// Coordinates that do not vary in the synthetic table.
    pub constant_synthetic: usize,
    /// The worst pairs, worst first, at most [`WORST_PAIRS`].
    pub worst: Vec<PairError>,
}

/// The correlation of a pair of features in both tables.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairError {
    /// The names of the columns, with the category of one that has categories.
    pub columns: [String; 2],
    /// In the real table.
    pub real: f64,
    /// In the synthetic table.
    pub synthetic: f64,
    /// Synthetic less real.
    pub error: f64,
}

impl CorrelationErrors {
    pub(super) fn between(schema: &Schema, real: &Moments, synthetic: &Moments) -> CorrelationErrors {
        let width = schema.width();
        let error = |i: usize, j: usize| synthetic.correlation(i, j) - real.correlation(i, j);
        let (mut strength, mut chance) = (0.0, 0.0);
        let (mut square, mut worst) = (0.0, Vec::with_capacity(2 * WORST_PAIRS));
        let blocks = schema.blocks();
        let columns: Vec<usize> = blocks.iter().flat_map(|block| vec![block.column; block.width()]).collect();
        let mut pairs = 0;
        for i in 0..width {
            for j in (0..i).filter(|&j| columns[j] != columns[i]) {
                pairs += 1;
                let error = error(i, j);
                square += error * error;
                let squared = real.correlation(i, j).powi(2);
                strength += squared;
                // The variance of a correlation of n rows is about (1 − r²)²/n.
                chance += (1.0 - squared).powi(2);
                worst.push((error, j, i));
                if worst.len() == 2 * WORST_PAIRS {
                    keep_worst(&mut worst);
                }
            }
        }
        keep_worst(&mut worst);
        let names = coordinate_names(schema);
        let constant = |moments: &Moments| (0..width).filter(|&j| moments.is_constant(j)).count();
        let pair = |(error, i, j): (f64, usize, usize)| PairError {
            columns: [names[i].clone(), names[j].clone()],
            real: real.correlation(i, j),
            synthetic: synthetic.correlation(i, j),
            error,
        };
        let mean = |sum: f64| sum / pairs.max(1) as f64;
        let [m, n] = [real, synthetic].map(|moments| 1.0 / moments.rows() as f64);
        CorrelationErrors {
            pairs,
            strength: (mean(strength) - mean(chance) * m).max(0.0).sqrt(),
            chance: (mean(chance) * (m + n)).sqrt(),
            root_mean_square: (square / pairs.max(1) as f64).sqrt(),
            largest: worst.first().map_or(0.0, |(error, ..)| error.abs()),
            constant_real: constant(real),
            constant_synthetic: constant(synthetic),
            worst: worst.into_iter().map(pair).collect(),
        }
    }
}

/// What each coordinate of a row is called: the column, with the category of one that has categories.
pub(crate) fn coordinate_names(schema: &Schema) -> Vec<String> {
    let of =
        |block: &Block| (0..block.width()).map(|place| name(&schema.columns[block.column], block, place)).collect();
    schema.blocks().iter().flat_map(|block| -> Vec<String> { of(block) }).collect()
}

/// What a coordinate of a column is called.
fn name(column: &Column, block: &Block, place: usize) -> String {
    match (block.form, column.categories().get(place)) {
        (Form::OneHot, Some(category)) => format!("{} = {category}", column.name),
        (Form::OneHot, None) => format!("{} (missing)", column.name),
        _ if place == block.len => format!("{} (missing)", column.name),
        (Form::Circle, _) => format!("{} ({})", column.name, if place == 0 { "cosine" } else { "sine" }),
        (Form::Line, _) => column.name.clone(),
    }
}

/// Largest error first; equals in the order of the features.
fn keep_worst(pairs: &mut Vec<(f64, usize, usize)>) {
    pairs.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()).then_with(|| (a.1, a.2).cmp(&(b.1, b.2))));
    pairs.truncate(WORST_PAIRS);
}
