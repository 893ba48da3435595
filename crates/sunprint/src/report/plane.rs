//! Rows in the plane of two directions.

use super::page::{Axis, Origin, PlanePanel};
use super::round::four;
use crate::evaluate::{Moments, Picks, coordinate_names};
use crate::math::principal::leading;
use crate::math::stream::Stream;
use crate::math::vector::dot;
use crate::model::{Frame, Model};
use crate::schema::Schema;
use crate::source::Table;

/// Points a side.
const MOST_POINTS: usize = 1_000;
/// Weights that an axis lists.
const MOST_WEIGHTS: usize = 8;
/// Keeps the choice of rows apart from other uses of the same seed.
const PURPOSE: u64 = u64::from_be_bytes(*b"theplane");

/// The plane of a model's first two directions, or else of the synthetic table's; none of a single coordinate.
pub(super) fn panel(
    schema: &Schema,
    model: Option<&Model>,
    real: Option<&Table>,
    synthetic: (&Table, &Moments),
    seed: u64,
) -> Option<PlanePanel> {
    if schema.width() < 2 {
        return None;
    }
    let released = model.and_then(of_model);
    let of_model = released.is_some();
    let (origin, axes) = released.unwrap_or_else(|| {
        let mean = (0..schema.width()).map(|j| synthetic.1.mean(j)).collect();
        let mut found = leading(&synthetic.1.covariances(), schema.width(), 2).into_iter();
        (mean, [found.next().unwrap_or_default(), found.next().unwrap_or_default()])
    });
    let names = coordinate_names(schema);
    let points = |table: &Table, number: u64| {
        let picks = Picks::new(table);
        let chosen = picks.choose(MOST_POINTS.min(picks.rows()), &mut Stream::new(seed, PURPOSE, number));
        let points = picks.points(&chosen);
        points.chunks(schema.width()).map(|point| projected(point, &origin, &axes)).collect::<Vec<_>>()
    };
    Some(PlanePanel {
        origin: if real.is_some() { Origin::Curator } else { Origin::Released },
        of_model,
        real: real.map(|table| points(table, 0)).unwrap_or_default(),
        synthetic: points(synthetic.0, 1),
        axes: axes.each_ref().map(|axis| weights(axis, &names)),
    })
}

/// Origin and first two directions, where the model has so many.
fn of_model(model: &Model) -> Option<(Vec<f64>, [Vec<f64>; 2])> {
    match &model.release().frame {
        Frame::Basis { origin, vectors, .. } if vectors.len() >= 2 => {
            Some((origin.clone(), [vectors[0].clone(), vectors[1].clone()]))
        }
        _ => None,
    }
}

fn projected(point: &[f64], origin: &[f64], axes: &[Vec<f64>; 2]) -> [f64; 2] {
    let off: Vec<f64> = point.iter().zip(origin).map(|(x, o)| x - o).collect();
    axes.each_ref().map(|axis| four(dot(axis, &off)))
}

fn weights(axis: &[f64], names: &[String]) -> Axis {
    let mut by_size: Vec<usize> = (0..axis.len()).collect();
    by_size.sort_by(|&i, &j| axis[j].abs().total_cmp(&axis[i].abs()));
    let weights = by_size.into_iter().filter(|&i| axis[i] != 0.0).take(MOST_WEIGHTS);
    Axis { weights: weights.map(|i| (names[i].clone(), four(axis[i]))).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Silent;
    use crate::tally::codes::{Codes, Q};

    #[test]
    fn points_stand_where_the_rows_are() {
        let toml: String =
            (0..3).map(|i| format!("[[column]]\nname = \"x{i}\"\nkind = \"continuous\"\nmin = 0\nmax = 1\n")).collect();
        let schema = Schema::parse(&toml, "s").unwrap();
        let mut random = Stream::new(2, 0, 0);
        let mut codes = Codes::with_capacity(3, 50);
        for _ in 0..50 {
            codes.push(&[random.below(65_536) as u16, 30_000 + random.below(9_000) as u16, 7], 0);
        }
        let table = Table::of_codes(vec![codes], &schema).unwrap();
        let moments = Moments::of(&table, &schema, &Silent).unwrap();
        let found = panel(&schema, None, Some(&table), (&table, &moments), 1).unwrap();
        assert!(!found.of_model && found.origin == Origin::Curator);
        assert_eq!((found.real.len(), found.synthetic.len()), (50, 50));
        // The first axis is nearly the first column, the second nearly the second; the third does not vary.
        assert_eq!((found.axes[0].weights[0].0.as_str(), found.axes[1].weights[0].0.as_str()), ("x0", "x1"));
        let mean = (moments.mean(0), moments.mean(1));
        for (row, point) in (0..50).map(|i| table.chunks()[0].row(i)).zip(&found.real) {
            let unit = |code: u16| f64::from(code) / f64::from(Q);
            let (x, y) = (unit(row[0]) - mean.0, unit(row[1]) - mean.1);
            // A turn within the plane keeps the distance from the middle.
            assert!((x.hypot(y) - point[0].hypot(point[1])).abs() < 1e-3);
        }
        let alone = panel(&schema, None, None, (&table, &moments), 1).unwrap();
        assert!(alone.real.is_empty() && alone.origin == Origin::Released);
    }
}
