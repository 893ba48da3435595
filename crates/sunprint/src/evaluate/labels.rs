//! Labels and strata: the shares of their categories, and the features within each.

use super::Moments;
use crate::schema::Schema;
use serde::Serialize;

/// A column that splits the table, real against synthetic.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LabelFigures {
    /// The name.
    pub name: String,
    /// Half the sum of |real share − synthetic share|: the part of the rows that would need another category.
    pub variation: f64,
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
}

/// Half the sum of absolute differences.
pub(super) fn variation(real: &[f64], synthetic: &[f64]) -> f64 {
    real.iter().zip(synthetic).map(|(a, b)| (a - b).abs()).sum::<f64>() / 2.0
}

/// Every column that splits the table, in the order of the schema.
pub(super) fn compare(schema: &Schema, real: &Moments, synthetic: &Moments) -> Vec<LabelFigures> {
    let (shares, synthetic_shares) = (real.stratum_shares(), synthetic.stratum_shares());
    let one = |(place, column): (usize, usize)| {
        let mut categories = Vec::new();
        let listed = schema.columns[column].categories();
        for number in 0..schema.columns[column].radix() as u32 {
            // A missing value is the last, and has no text.
            let value = listed.get(number as usize).copied().unwrap_or_default();
            let strata: Vec<usize> =
                (0..schema.strata()).filter(|&s| schema.categories_of(s as u32)[place] == number).collect();
            let share = |shares: &[f64]| strata.iter().map(|&s| shares[s]).sum::<f64>();
            let square = |feature: usize| {
                let mean = |moments: &Moments| moments.mean_within(feature, strata.iter().copied());
                Some((mean(synthetic)? - mean(real)?).powi(2))
            };
            let squares: Option<f64> = (0..schema.width()).map(square).sum();
            categories.push(CategoryFigures {
                value: value.to_owned(),
                real: share(&shares),
                synthetic: share(&synthetic_shares),
                mean_error: squares.map(|squares| (squares / schema.width() as f64).sqrt()),
            });
        }
        let of = |share: fn(&CategoryFigures) -> f64| categories.iter().map(share).collect::<Vec<f64>>();
        let variation = variation(&of(|category| category.real), &of(|category| category.synthetic));
        let wrong = |category: &CategoryFigures| (category.real - category.synthetic).abs();
        categories.sort_by(|a, b| wrong(b).total_cmp(&wrong(a)));
        LabelFigures { name: schema.columns[column].name.clone(), variation, categories }
    };
    schema.stratum_columns().into_iter().enumerate().map(one).collect()
}
