//! Labels and strata: the shares of their categories, and the features within each.

use super::Moments;
use super::relative::{self, Relative};
use crate::schema::Schema;
use serde::Serialize;

/// A column that splits the table, real against synthetic.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LabelFigures {
    /// The name.
    pub name: String,
    /// Half the sum of |real share − synthetic share|: the part of the rows that would need another category.
    pub variation: f64,
    /// The same over √((1 − Σp²)/2) of the real shares, which for two categories is a deviation.
    pub relative: f64,
    /// What `relative` is to be expected of two tables of so many rows that were drawn from one law.
    pub chance: f64,
    /// How much the features have to do with the label: the root mean square, over features and rows, of the distance of
    /// a category's mean from the mean of all, in deviations of the feature, beyond chance. For a label of two categories
    /// these are the correlations of the features with it.
    pub strength: f64,
    /// The root mean square of the errors of the means within the categories, in the same unit and beyond chance. Labels
    /// that have nothing to do with their rows have an error as large as `strength`.
    pub lost: f64,
    /// What chance gives of `lost`, which has been taken away from it.
    pub lost_chance: f64,
    /// Every category, the one whose share is most wrong first.
    pub categories: Vec<CategoryFigures>,
}

/// One category of a label.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CategoryFigures {
    /// As the schema spells it; empty for missing values.
    pub value: String,
    /// Its share of the real rows.
    pub real: f64,
    /// Its share of the synthetic rows.
    pub synthetic: f64,
    /// The root mean square, over the coordinates, of the difference between the means of this category's rows, in units
    /// of the widths; `None` if one table has no such rows.
    pub mean_error: Option<f64>,
    /// The same in deviations of the features, beyond what chance gives of so many rows.
    pub relative: Option<f64>,
    /// What chance gives, which has been taken away.
    pub chance: Option<f64>,
}

/// Half the sum of absolute differences.
pub(super) fn variation(real: &[f64], synthetic: &[f64]) -> f64 {
    real.iter().zip(synthetic).map(|(a, b)| (a - b).abs()).sum::<f64>() / 2.0
}

/// Every column that splits the table, in the order of the schema.
pub(super) fn compare(schema: &Schema, real: &Moments, synthetic: &Moments) -> Vec<LabelFigures> {
    let places = schema.stratum_columns().into_iter().enumerate();
    places.map(|(place, column)| label(schema, place, column, real, synthetic)).collect()
}

/// The means of one category's rows in both tables, in units of the widths.
struct Within {
    rows: [u64; 2],
    /// Of each coordinate: real less the mean of all, and synthetic less real; both in deviations. Coordinates that do not
    /// vary are left out.
    pairs: Vec<(f64, Option<f64>)>,
    mean_error: Option<f64>,
}

impl Within {
    /// The mean over the coordinates of the square of something.
    fn mean_square(&self, of: impl Fn(f64, Option<f64>) -> f64) -> f64 {
        self.pairs.iter().map(|&(off, error)| of(off, error).powi(2)).sum::<f64>() / self.pairs.len().max(1) as f64
    }
}

fn label(schema: &Schema, place: usize, column: usize, real: &Moments, synthetic: &Moments) -> LabelFigures {
    let listed = schema.columns[column].categories();
    let all = [real.rows(), synthetic.rows()];
    let numbers = 0..schema.columns[column].radix() as u32;
    let found: Vec<Within> = numbers.clone().map(|number| within(schema, place, number, real, synthetic)).collect();
    let (mut strength, mut lost, mut lost_chance, mut categories) = (0.0, 0.0, 0.0, Vec::new());
    for (number, one) in numbers.zip(&found) {
        let part = |table: usize| one.rows[table] as f64 / all[table].max(1) as f64;
        if one.rows[0] > 0 {
            // The mean of these rows less that of all has the variance (1 − p)/rows in this unit.
            strength += part(0) * one.mean_square(|off, _| off) - (1.0 - part(0)) / all[0] as f64;
        }
        let variance = |rows: u64| if rows > 0 { 1.0 / rows as f64 } else { 0.0 };
        let by_chance = variance(one.rows[0]) + variance(one.rows[1]);
        // Where no row is left, nothing is known of these means: the mean of all is as good as any.
        let error = one.mean_square(|off, error| error.unwrap_or(off));
        lost += part(0) * (error - by_chance);
        lost_chance += part(0) * by_chance;
        let both = one.mean_error.is_some();
        categories.push(CategoryFigures {
            // A missing value is the last, and has no text.
            value: listed.get(number as usize).copied().unwrap_or_default().to_owned(),
            real: part(0),
            synthetic: part(1),
            mean_error: one.mean_error,
            relative: both.then(|| (error - by_chance).max(0.0).sqrt()),
            chance: both.then(|| by_chance.sqrt()),
        });
    }
    let of = |share: fn(&CategoryFigures) -> f64| categories.iter().map(share).collect::<Vec<f64>>();
    let (shares, others) = (of(|category| category.real), of(|category| category.synthetic));
    let Relative { error: relative, chance } = relative::shares(&shares, &others, all);
    let wrong = |category: &CategoryFigures| (category.real - category.synthetic).abs();
    categories.sort_by(|a, b| wrong(b).total_cmp(&wrong(a)));
    LabelFigures {
        name: schema.columns[column].name.clone(),
        variation: variation(&shares, &others),
        relative,
        chance,
        strength: strength.max(0.0).sqrt(),
        lost: lost.max(0.0).sqrt(),
        lost_chance: lost_chance.max(0.0).sqrt(),
        categories,
    }
}

fn within(schema: &Schema, place: usize, number: u32, real: &Moments, synthetic: &Moments) -> Within {
    let strata: Vec<usize> =
        (0..schema.strata()).filter(|&s| schema.categories_of(s as u32)[place] == number).collect();
    let mean = |moments: &Moments, feature: usize| moments.mean_within(feature, strata.iter().copied());
    let (mut pairs, mut square) = (Vec::new(), Some(0.0));
    for feature in 0..schema.width() {
        let (of_real, of_synthetic) = (mean(real, feature), mean(synthetic, feature));
        let error = of_real.zip(of_synthetic).map(|(real, synthetic)| synthetic - real);
        square = square.zip(error).map(|(square, error)| square + error * error);
        if let (Some(of_real), false) = (of_real, real.is_constant(feature)) {
            let deviation = real.deviation(feature);
            pairs.push(((of_real - real.mean(feature)) / deviation, error.map(|error| error / deviation)));
        }
    }
    Within {
        rows: [real, synthetic].map(|moments| moments.rows_within(&strata)),
        pairs,
        mean_error: square.map(|square| (square / schema.width().max(1) as f64).sqrt()),
    }
}
