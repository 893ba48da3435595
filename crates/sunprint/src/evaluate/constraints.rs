//! How often the rows of a table break the schema's constraints.

use super::columns::own;
use crate::error::Result;
use crate::schema::{Form, HOT, Line, Schema, TickRule};
use crate::source::Table;
use crate::tally::codes::Q;

/// A column of a constraint, and the ticks that each of its codes may stand for.
struct Ticks {
    coordinate: usize,
    absence: Option<usize>,
    /// The least and the most ticks of each code.
    spans: Vec<(i64, i64)>,
}

/// For each constraint of the schema the rows that break it, and the rows that it is about: those with a value in all
/// of its columns.
///
/// A table in memory holds codes, and where a column has more ticks than codes, a code stands for several of them. A row
/// is counted only if it breaks the rule whatever its ticks were, so that no row is accused for the rounding of codes.
pub(crate) fn broken(table: &Table, schema: &Schema) -> Result<Vec<[u64; 2]>> {
    if schema.constraints.is_empty() {
        return Ok(Vec::new());
    }
    let system = schema.system()?;
    let lines: Vec<Ticks> = system.lines.iter().filter_map(|line| Ticks::of(line, schema)).collect();
    let mut counts = vec![[0_u64; 2]; system.rules.len()];
    for codes in table.chunks() {
        for row in 0..codes.rows() {
            let row = codes.row(row);
            let there = |line: &Ticks| line.absence.is_none_or(|at| row[at] <= HOT / 2);
            for (rule, count) in system.rules.iter().zip(&mut counts) {
                if rule.terms.iter().all(|&(line, _)| there(&lines[line])) {
                    count[1] += 1;
                    count[0] += u64::from(surely_broken(rule, &lines, row));
                }
            }
        }
    }
    Ok(counts)
}

impl Ticks {
    fn of(line: &Line, schema: &Schema) -> Option<Ticks> {
        let block = schema.blocks().into_iter().find(|block| block.column == line.column)?;
        if block.form != Form::Line {
            return None;
        }
        let (own, per_one) = (own(&schema.columns[line.column]), 10f64.powi(line.decimals as i32));
        let at = |code: f64| own((code / f64::from(Q)).clamp(0.0, 1.0)) * per_one;
        let span = |code: u16| {
            let code = f64::from(code);
            // What rounds to this code lies within half a step of it; where that is no tick, the nearest tick does.
            let (low, high) = (at(code - 0.5).ceil(), at(code + 0.5).floor());
            let (low, high) = if low <= high { (low, high) } else { (at(code).round(), at(code).round()) };
            ((low as i64).clamp(line.least, line.most), (high as i64).clamp(line.least, line.most))
        };
        let spans = (0..=Q).map(span).collect();
        Some(Ticks { coordinate: block.start, absence: block.absence.then_some(block.start + block.len), spans })
    }
}

/// Whether no ticks of these codes obey the rule: the least that the sum can be is above the bound, or, for an equation,
/// the most is below.
fn surely_broken(rule: &TickRule, lines: &[Ticks], row: &[u16]) -> bool {
    let (mut least, mut most) = (0_i128, 0_i128);
    for &(line, factor) in &rule.terms {
        let (low, high) = lines[line].spans[usize::from(row[lines[line].coordinate])];
        let ends = [factor * i128::from(low), factor * i128::from(high)];
        least += ends[0].min(ends[1]);
        most += ends[0].max(ends[1]);
    }
    least > rule.bound || rule.equal && most < rule.bound
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::door::Door;
    use crate::math::stream::Stream;
    use crate::tally::codes::Codes;

    fn schema(most: i64) -> Schema {
        Schema::parse(
            &format!(
                "[[column]]\nname = \"low\"\nkind = \"integer\"\nmin = 0\nmax = {most}\n\
                 [[column]]\nname = \"high\"\nkind = \"integer\"\nmin = 0\nmax = {}\nmissing = \"allow\"\n\
                 [[constraint]]\nrule = \"low <= high\"\n",
                2 * most
            ),
            "s",
        )
        .unwrap()
    }

    fn table(schema: &Schema, rows: &[(i64, Option<i64>)]) -> Table {
        let door = Door::new(schema);
        let mut codes = Codes::with_capacity(3, rows.len());
        for &(low, high) in rows {
            let mut row = [door.encode_i64(0, low), 0, 0];
            let raw = high.map_or(crate::door::Raw::Empty, crate::door::Raw::Integer);
            door.gate(1).encode_block(raw, &mut row[1..]);
            codes.push(&row, 0);
        }
        Table::of_codes(vec![codes], schema).unwrap()
    }

    #[test]
    fn few_ticks_are_judged_exactly() {
        let schema = schema(100);
        let mut random = Stream::new(8, 0, 0);
        let rows: Vec<(i64, Option<i64>)> =
            (0..500).map(|i| (random.below(101) as i64, (i % 9 != 0).then(|| random.below(201) as i64))).collect();
        let wrong = rows.iter().filter(|(low, high)| high.is_some_and(|high| *low > high)).count() as u64;
        let about = rows.iter().filter(|(_, high)| high.is_some()).count() as u64;
        assert!(wrong > 50);
        assert_eq!(broken(&table(&schema, &rows), &schema).unwrap(), [[wrong, about]]);
    }

    #[test]
    fn nobody_is_accused_for_rounding() {
        let schema = schema(100_000_000);
        let mut random = Stream::new(9, 0, 0);
        let equal: Vec<(i64, Option<i64>)> = (0..500)
            .map(|_| {
                let x = random.below(100_000_001) as i64;
                (x, Some(x))
            })
            .collect();
        assert_eq!(broken(&table(&schema, &equal), &schema).unwrap(), [[0, 500]]);
        let far: Vec<(i64, Option<i64>)> = equal.iter().map(|&(x, _)| (x, Some(x / 2))).collect();
        let wrong = far.iter().filter(|(low, high)| low - high.unwrap() > 10_000).count() as u64;
        let found = broken(&table(&schema, &far), &schema).unwrap()[0][0];
        assert!(found >= wrong && wrong > 450, "{found} of {wrong}");
    }
}
