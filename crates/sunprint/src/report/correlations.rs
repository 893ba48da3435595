//! Correlation matrices in the order of their clusters.

use super::page::{CorrelationPanel, Origin, Triangle};
use super::round::five;
use crate::evaluate::{CorrelationErrors, Moments, PairError, coordinate_names};
use crate::math::cluster::leaf_order;
use crate::schema::Schema;

/// More coordinates are not drawn.
const MOST: usize = 1_000;

/// Real against synthetic correlations, in the order of the real ones' clusters.
pub(super) fn compared(
    schema: &Schema,
    errors: &CorrelationErrors,
    real: &Moments,
    synthetic: &Moments,
) -> Option<CorrelationPanel> {
    let names = coordinate_names(schema);
    let weight = |i: usize, j: usize| synthetic.correlation(i, j) - real.correlation(i, j);
    let kept = kept(names.len(), weight);
    let of_real = real.correlations(&kept);
    let order = order(&of_real, kept.len());
    let places: Vec<usize> = order.iter().map(|&i| kept[i]).collect();
    let rounded = |pair: &PairError| PairError {
        columns: pair.columns.clone(),
        real: five(pair.real),
        synthetic: five(pair.synthetic),
        error: five(pair.error),
    };
    (names.len() > 1).then(|| CorrelationPanel {
        origin: Origin::Curator,
        names: places.iter().map(|&i| names[i].clone()).collect(),
        real: Some(triangle(&real.correlations(&places), places.len())),
        synthetic: triangle(&synthetic.correlations(&places), places.len()),
        root_mean_square: five(errors.root_mean_square),
        largest: five(errors.largest),
        worst: errors.worst.iter().map(rounded).collect(),
        left_out: names.len() - places.len(),
    })
}

/// The correlations of drawn rows, in the order of their own clusters. Nothing is known of their errors here: see the
/// predicted ones.
pub(super) fn released(schema: &Schema, drawn: &Moments) -> Option<CorrelationPanel> {
    let names = coordinate_names(schema);
    let kept = kept(names.len(), |i, j| drawn.correlation(i, j));
    let order = order(&drawn.correlations(&kept), kept.len());
    let places: Vec<usize> = order.iter().map(|&i| kept[i]).collect();
    (names.len() > 1).then(|| CorrelationPanel {
        origin: Origin::Released,
        names: places.iter().map(|&i| names[i].clone()).collect(),
        real: None,
        synthetic: triangle(&drawn.correlations(&places), places.len()),
        root_mean_square: 0.0,
        largest: 0.0,
        worst: Vec::new(),
        left_out: names.len() - places.len(),
    })
}

/// All coordinates, or those with the largest sums of squares over their pairs, in the order of the schema.
fn kept(count: usize, weight: impl Fn(usize, usize) -> f64) -> Vec<usize> {
    if count <= MOST {
        return (0..count).collect();
    }
    let mut sums = vec![0.0; count];
    for i in 0..count {
        for j in 0..i {
            let square = weight(i, j).powi(2);
            sums[i] += square;
            sums[j] += square;
        }
    }
    let mut by_sum: Vec<usize> = (0..count).collect();
    by_sum.sort_by(|&i, &j| sums[j].total_cmp(&sums[i]));
    by_sum.truncate(MOST);
    by_sum.sort_unstable();
    by_sum
}

/// The clusters' order: two coordinates are 1 − |r| apart.
fn order(correlations: &[f64], count: usize) -> Vec<usize> {
    leaf_order(
        count,
        |i, j| if i == j { 0.0 } else { 1.0 - correlations[i.max(j) * (i.max(j) - 1) / 2 + i.min(j)].abs() },
    )
}

/// Correlations, row by row below the diagonal, as text.
fn triangle(correlations: &[f64], count: usize) -> Triangle {
    Triangle::of(count, |i, j| correlations[i * (i - 1) / 2 + j])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::stream::Stream;
    use crate::source::{Silent, Table};
    use crate::tally::codes::Codes;

    /// What 1 is in a triangle.
    const ONE: f64 = 32_767.0;

    /// Base64 back to bytes, the plain way.
    fn bytes(text: &str) -> Vec<u8> {
        const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let bits: String = text.chars().filter_map(|c| LETTERS.find(c)).map(|value| format!("{value:06b}")).collect();
        bits.as_bytes()
            .chunks_exact(8)
            .map(|byte| u8::from_str_radix(std::str::from_utf8(byte).unwrap(), 2).unwrap())
            .collect()
    }

    #[test]
    fn a_triangle_holds_the_correlations() {
        let toml: String =
            (0..7).map(|i| format!("[[column]]\nname = \"x{i}\"\nkind = \"continuous\"\nmin = 0\nmax = 1\n")).collect();
        let schema = Schema::parse(&toml, "s").unwrap();
        let mut random = Stream::new(4, 0, 0);
        let mut codes = Codes::with_capacity(7, 300);
        for _ in 0..300 {
            let common = random.below(30_000);
            let row: Vec<u16> = (0..7).map(|j| (common * (j % 3) / 2 + random.below(30_000)) as u16).collect();
            codes.push(&row, 0);
        }
        let table = Table::of_codes(vec![codes], &schema).unwrap();
        let moments = Moments::of(&table, &schema, &Silent).unwrap();
        let panel = released(&schema, &moments).unwrap();
        let found: Vec<i16> =
            bytes(&panel.synthetic.0).chunks_exact(2).map(|two| i16::from_le_bytes([two[0], two[1]])).collect();
        assert_eq!((found.len(), panel.left_out), (21, 0));
        let number = |name: &str| name[1..].parse::<usize>().unwrap();
        let places: Vec<usize> = panel.names.iter().map(|name| number(name)).collect();
        let mut sorted = places.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 1, 2, 3, 4, 5, 6]);
        let mut at = found.iter();
        for i in 0..7 {
            for j in 0..i {
                let r = moments.correlation(places[i], places[j]);
                assert!((f64::from(*at.next().unwrap()) / ONE - r).abs() <= 0.5 / ONE + 1e-12);
            }
        }
        // Columns 2 and 5 have twice the common part: they are nearest, and stand side by side.
        let place = |column: usize| places.iter().position(|&x| x == column).unwrap();
        assert_eq!(place(2).abs_diff(place(5)), 1);
    }

    #[test]
    fn those_with_the_largest_errors_are_kept() {
        let wrong = |i: usize, j: usize| if (500..1_500).contains(&i.max(j)) { 1.0 } else { 0.0 };
        let found = kept(1_600, wrong);
        assert_eq!(found.len(), MOST);
        assert!(found.windows(2).all(|w| w[0] < w[1]) && (500..1_500).all(|i| found.contains(&i)));
        assert_eq!(kept(3, |_, _| 0.0), [0, 1, 2]);
        assert!(order(&[], 1) == [0] && order(&[], 0).is_empty());
    }
}
