//! How far apart the distribution functions of two tables are, column by column.

use super::line::{self, AT_A_TIME};
use crate::schema::Schema;
use crate::source::Table;

/// For every column its name and the largest gap between the distribution functions of two tables that were read by the
/// schema, where missing values come last. The columns that split the table stand together behind the others, by their
/// strata.
pub(crate) fn gaps(one: &Table, other: &Table, schema: &Schema) -> Vec<(String, f64)> {
    let blocks = schema.blocks();
    let mut found = Vec::with_capacity(blocks.len() + 1);
    for some in blocks.chunks(AT_A_TIME) {
        let [a, b] = [one, other].map(|table| line::count(table, some, schema));
        for (block, (mut a, mut b)) in some.iter().zip(a.into_iter().zip(b)) {
            a.counts.push(a.rows - a.present);
            b.counts.push(b.rows - b.present);
            found.push((schema.columns[block.column].name.clone(), gap(&a.counts, &b.counts)));
        }
    }
    let splitting = schema.stratum_columns();
    if !splitting.is_empty() {
        let [a, b] = [one, other].map(|table| {
            let mut counts = vec![0; schema.strata()];
            for codes in table.chunks() {
                (0..codes.rows()).for_each(|row| counts[codes.stratum(row) as usize] += 1);
            }
            counts
        });
        let names: Vec<&str> = splitting.iter().map(|&column| schema.columns[column].name.as_str()).collect();
        found.push((names.join(" with "), gap(&a, &b)));
    }
    found
}

/// The largest gap between two distribution functions.
fn gap(one: &[u64], other: &[u64]) -> f64 {
    let (m, n) = (one.iter().sum::<u64>().max(1) as f64, other.iter().sum::<u64>().max(1) as f64);
    let (mut a, mut b, mut most) = (0, 0, 0.0_f64);
    for (one, other) in one.iter().zip(other) {
        (a, b) = (a + one, b + other);
        most = most.max((a as f64 / m - b as f64 / n).abs());
    }
    most
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_largest_gap_is_found() {
        assert_eq!(super::gap(&[1, 1, 2], &[1, 1, 2]), 0.0);
        assert_eq!(super::gap(&[2, 0, 2], &[0, 2, 2]), 0.5);
        assert_eq!(super::gap(&[4, 0], &[0, 4]), 1.0);
    }
}
