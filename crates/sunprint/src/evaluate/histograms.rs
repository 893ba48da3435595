//! The distribution of one column in a few bars, from what was counted.

use super::columns::own;
use super::line::Seen;
use crate::schema::{Column, ColumnKind, Form, Scale};
use crate::tally::codes::Q;

/// At most so many bars.
pub const MOST_BARS: u64 = 40;

/// Bars of equal width on the schema's scale.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// One more than bars, in the column's own unit (days and seconds since 1970 for dates).
    pub edges: Vec<f64>,
    /// How edges are spelt: `number`, `date`, `datetime` or `log`.
    pub scale: &'static str,
    /// For each table, the bars' shares of the rows that have a value: they add up to 1, or are all 0 if none has.
    pub shares: Vec<Vec<f64>>,
}

/// Which bar a place of [`Seen::counts`] belongs to.
struct Cut {
    edges: Vec<f64>,
    bar: Box<dyn Fn(usize) -> usize>,
}

/// The histograms of some tables with the same edges; none for categories, which have shares.
pub(super) fn histogram(column: &Column, form: Form, tables: &[&Seen]) -> Option<Histogram> {
    let places = tables.first()?.counts.len();
    let cut = match (&column.kind, form) {
        (ColumnKind::Categorical { .. }, _) | (_, Form::OneHot) => return None,
        (ColumnKind::Integer { min, max, scale: Scale::Linear | Scale::Cyclic }, _) => whole(*min, *max, form, places),
        (ColumnKind::Date { min, max, .. } | ColumnKind::Datetime { min, max, .. }, _) => {
            whole(*min, *max, form, places)
        }
        (ColumnKind::Boolean { .. }, _) => {
            Cut { edges: vec![-0.5, 0.5, 1.5], bar: Box::new(|code| usize::from(code > usize::from(Q) / 2)) }
        }
        _ => real(column, places),
    };
    let scale = match column.kind {
        ColumnKind::Date { .. } => "date",
        ColumnKind::Datetime { .. } => "datetime",
        _ if column.kind.scale() == Scale::Log => "log",
        _ => "number",
    };
    let shares = |seen: &&Seen| {
        let mut bars = vec![0_u64; cut.edges.len() - 1];
        for (place, &count) in seen.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            bars[(cut.bar)(place)] += count;
        }
        bars.iter().map(|&count| count as f64 / seen.present.max(1) as f64).collect()
    };
    Some(Histogram { shares: tables.iter().map(shares).collect(), scale, edges: cut.edges })
}

/// Every bar holds equally many whole values, so that none looks higher than its neighbours by that alone. The last may
/// reach beyond the upper bound.
fn whole(min: i64, max: i64, form: Form, places: usize) -> Cut {
    let values = i128::from(max) - i128::from(min) + 1;
    let each = (values + i128::from(MOST_BARS) - 1) / i128::from(MOST_BARS);
    let bars = ((values + each - 1) / each) as usize;
    let edges = (0..=bars).map(|i| min as f64 - 0.5 + i as f64 * each as f64).collect();
    let value = move |place: usize| match form {
        // The end meets the beginning: `places` directions make a turn of `values` steps.
        Form::Circle => (place as f64 / places as f64 * values as f64).round() as i128 % values,
        _ => (place as f64 / f64::from(Q) * (values - 1) as f64).round() as i128,
    };
    Cut { edges, bar: Box::new(move |place| ((value(place) / each) as usize).min(bars - 1)) }
}

/// Equal widths between the bounds, on the schema's scale.
fn real(column: &Column, places: usize) -> Cut {
    let (own, bars) = (own(column), MOST_BARS as usize);
    let edges = (0..=bars).map(|i| own(i as f64 / bars as f64)).collect();
    Cut { edges, bar: Box::new(move |place| place * bars / places) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::stream::Stream;
    use crate::schema::{Role, dates};

    fn seen(places: usize, seed: u64) -> Seen {
        let mut random = Stream::new(seed, 0, 0);
        let counts: Vec<u64> = (0..places).map(|_| random.below(4)).collect();
        let present = counts.iter().sum();
        Seen { counts, present, rows: present + 7 }
    }

    fn kinds() -> Vec<ColumnKind> {
        let integer = |min, max, scale| ColumnKind::Integer { min, max, scale };
        vec![
            ColumnKind::continuous(-3.0, 7.0),
            ColumnKind::Continuous { min: 1e-3, max: 1e6, scale: Scale::Log, decimals: None },
            ColumnKind::Continuous { min: 0.0, max: 360.0, scale: Scale::Cyclic, decimals: None },
            ColumnKind::integer(0, 1),
            ColumnKind::integer(0, 120),
            ColumnKind::integer(i64::MIN, i64::MAX),
            integer(1, 1_000, Scale::Log),
            integer(0, 23, Scale::Cyclic),
            ColumnKind::Boolean { values: None },
            ColumnKind::Date { min: -40, max: dates::day_number(2026, 1, 1).unwrap(), format: None },
            ColumnKind::Datetime { min: 0, max: 1_700_000_000, format: None },
        ]
    }

    #[test]
    fn bars_hold_every_value_once() {
        for (seed, kind) in kinds().into_iter().enumerate() {
            let column = Column::new("x", kind, Role::Feature);
            let (form, _) = column.form();
            let places = if form == Form::Circle { 4096 } else { usize::from(Q) + 1 };
            let [real, other] = [seen(places, seed as u64), seen(places, 100 + seed as u64)];
            let found = histogram(&column, form, &[&real, &other]).unwrap();
            assert!(found.edges.len() >= 3 && found.edges.len() <= 41, "{:?}", column.kind);
            assert!(found.edges.windows(2).all(|w| w[0] < w[1]), "{:?}", column.kind);
            for shares in &found.shares {
                assert_eq!(shares.len() + 1, found.edges.len());
                assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn a_value_stands_between_its_edges() {
        for kind in kinds() {
            let column = Column::new("x", kind, Role::Feature);
            let (form, _) = column.form();
            if form == Form::Circle {
                continue;
            }
            let own = own(&column);
            for code in [0, 1, 777, 32_768, 50_000, usize::from(Q) - 1, usize::from(Q)] {
                let mut counts = vec![0; usize::from(Q) + 1];
                counts[code] = 3;
                let one = Seen { counts, present: 3, rows: 3 };
                let found = histogram(&column, form, &[&one]).unwrap();
                let bar = found.shares[0].iter().position(|&share| share == 1.0).unwrap();
                let value = own(code as f64 / f64::from(Q));
                let slack = (found.edges[bar + 1] - found.edges[bar]) * 0.51;
                let inside = found.edges[bar] - slack..=found.edges[bar + 1] + slack;
                assert!(inside.contains(&value), "{:?}: {value} is not in {inside:?}", column.kind);
            }
        }
    }

    #[test]
    fn hours_go_round_and_nothing_is_no_trouble() {
        let hours = Column::new("h", ColumnKind::Integer { min: 0, max: 23, scale: Scale::Cyclic }, Role::Feature);
        let mut counts = vec![0; 4096];
        counts[4095] = 1;
        let midnight = Seen { counts, present: 1, rows: 1 };
        let found = histogram(&hours, Form::Circle, &[&midnight]).unwrap();
        assert_eq!((found.shares[0].len(), found.shares[0][0]), (24, 1.0));
        let empty = Seen { counts: vec![0; 4096], present: 0, rows: 5 };
        assert!(histogram(&hours, Form::Circle, &[&empty]).unwrap().shares[0].iter().all(|&share| share == 0.0));
        let colours = Column::new("c", ColumnKind::categorical(["a", "b"]), Role::Feature);
        assert!(histogram(&colours, Form::OneHot, &[&midnight]).is_none());
    }
}
