//! Stratum by stratum.

use super::page::{Origin, StrataPanel, StratumPicture};
use super::round::{five, four};
use crate::evaluate::{MISSING, StratumSums};
use crate::schema::Schema;
use crate::source::Table;

/// More strata are not listed.
const MOST: usize = 500;

/// Shares, and errors of means and deviations, within the strata that have rows; none without columns that split.
pub(super) fn panel(schema: &Schema, real: &Table, synthetic: &Table, variation: f64) -> Option<StrataPanel> {
    let columns = schema.stratum_columns();
    if columns.is_empty() {
        return None;
    }
    let strata = schema.strata();
    let [of_real, of_synthetic] = [real, synthetic].map(|table| StratumSums::of(table, strata));
    let mut listed: Vec<usize> = (0..strata).filter(|&s| of_real.rows(s) + of_synthetic.rows(s) > 0).collect();
    listed.sort_by_key(|&s| of_real.rows(s));
    let left_out = listed.len().saturating_sub(MOST);
    listed.truncate(MOST);
    let names: Vec<Vec<&str>> = columns.iter().map(|&c| schema.columns[c].categories()).collect();
    let one = |s: usize| {
        let categories = schema.categories_of(s as u32);
        let spelt = |(names, &category): (&Vec<&str>, &u32)| {
            names.get(category as usize).copied().unwrap_or(MISSING).to_owned()
        };
        let errors = of_real.errors(&of_synthetic, s);
        StratumPicture {
            values: names.iter().zip(&categories).map(spelt).collect(),
            real_rows: of_real.rows(s),
            real: five(of_real.rows(s) as f64 / real.rows() as f64),
            synthetic: five(of_synthetic.rows(s) as f64 / synthetic.rows() as f64),
            mean_error: errors.map(|[mean, _]| four(mean)),
            deviation_error: errors.map(|[_, deviation]| four(deviation)),
        }
    };
    Some(StrataPanel {
        origin: Origin::Curator,
        labels: columns.iter().map(|&c| schema.columns[c].name.clone()).collect(),
        variation: five(variation),
        strata: listed.into_iter().map(one).collect(),
        left_out,
    })
}
