//! Sites: where a model proposes to count rows, and what the counts say of the model.
//!
//! Rows drawn from the model are free. Some of them are sites, and every real row belongs to the nearest. The model says
//! where to look, the count says what is there.

use crate::math::hear::{self, Cell};
use crate::model::Pool;
use crate::schema::Schema;
use crate::tally::{Axis, Group, SITE_FRACTION, Sites, grid_bits};

/// A column counts by this power of how wide it is: between its own width, which is what W1 sees, and the same for all,
/// which is what learners see.
const WIDTH: f64 = 0.5;
/// Steps of Lloyd's method by which groups are made.
const STEPS: usize = 2;

/// Proposes `count` sites among the candidates of a pool: as many everywhere as they weigh there. No weights are equal ones.
pub(crate) fn propose(pool: &Pool, weights: &[u32], schema: &Schema, count: usize) -> Sites {
    let mut sites = Sites { axes: axes(pool, schema), groups: Vec::new() };
    let mut points: Vec<Vec<Vec<i16>>> = vec![Vec::new(); schema.strata()];
    let weight = |i: usize| weights.get(i).map_or(1, |&weight| u64::from(weight));
    let whole: u64 = (0..pool.rows()).map(weight).sum::<u64>().max(1);
    let (mut before, count) = (0, count.clamp(1, pool.rows().max(1)) as u64);
    // Candidate i has the sites numbered from ⌈before · count / whole⌉ on, at most one.
    for i in 0..pool.rows() {
        let first = (before * count).div_ceil(whole);
        before += weight(i);
        if (before * count).div_ceil(whole) == first {
            continue;
        }
        let mut point = vec![0; pool.width];
        sites.on_grid(pool.row(i).iter().copied(), &mut point);
        points[pool.strata[i] as usize].push(point);
    }
    for (stratum, points) in points.iter().enumerate().filter(|(_, points)| !points.is_empty()) {
        sites.groups.extend(grouped(points, stratum as u32));
    }
    sites
}

/// How coordinates are put on the grid: from the lowest code of the pool on, stretched as [`WIDTH`] says, all by the same
/// factor beside that, the largest for which no code of the pool leaves the grid.
fn axes(pool: &Pool, schema: &Schema) -> Vec<Axis> {
    let rows = pool.rows().max(1) as f64;
    let column = |j: usize| pool.codes.iter().skip(j).step_by(pool.width.max(1));
    let variance = |j: usize| {
        let mean = column(j).map(|&x| f64::from(x)).sum::<f64>() / rows;
        column(j).map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / rows
    };
    let variances: Vec<f64> = (0..pool.width).map(variance).collect();
    let mut weights = vec![1.0; pool.width];
    for block in schema.blocks() {
        // Categories are one column; half of what they vary together is the squared distance of two of them.
        let whole: f64 = variances[block.start..block.end()].iter().sum();
        let deviation = (whole / if block.len > 1 { 2.0 } else { 1.0 }).sqrt().max(1.0);
        weights[block.start..block.end()].fill(deviation.powf(WIDTH - 1.0));
    }
    let ends: Vec<(u16, u16)> = (0..pool.width)
        .map(|j| (column(j).min().copied().unwrap_or(0), column(j).max().copied().unwrap_or(0)))
        .collect();
    let reach = |((low, high), weight): (&(u16, u16), &f64)| f64::from(high - low) * weight;
    let most = ends.iter().zip(&weights).map(reach).fold(f64::MIN_POSITIVE, f64::max);
    let places = f64::from((1_u32 << grid_bits(pool.width)) - 1);
    let one = f64::from(1_u32 << SITE_FRACTION);
    let axis = |(&(low, _), weight): (&(u16, u16), &f64)| Axis {
        low,
        times: (one * weight * places / most).clamp(1.0, f64::from(u16::MAX)) as u16,
    };
    ends.iter().zip(&weights).map(axis).collect()
}

/// About √K groups of K sites: the first ones, moved to the middles of what is nearest to them.
fn grouped(points: &[Vec<i16>], stratum: u32) -> Vec<Group> {
    let count = (points.len() as f64).sqrt().round().max(1.0) as usize;
    let apart =
        |a: &[i16], b: &[i16]| -> i32 { a.iter().zip(b).map(|(&a, &b)| (i32::from(a) - i32::from(b)).pow(2)).sum() };
    let nearest = |point: &[i16], middles: &[Vec<i16>]| {
        (0..middles.len()).min_by_key(|&g| (apart(point, &middles[g]), g)).unwrap_or(0)
    };
    let mut middles: Vec<Vec<i16>> = points[..count].to_vec();
    let mut members: Vec<Vec<&[i16]>> = Vec::new();
    for _ in 0..STEPS {
        members = vec![Vec::new(); count];
        points.iter().for_each(|point| members[nearest(point, &middles)].push(point));
        for (middle, members) in middles.iter_mut().zip(&members).filter(|(_, members)| !members.is_empty()) {
            let mean = |j: usize| members.iter().map(|m| i64::from(m[j])).sum::<i64>() / members.len() as i64;
            *middle = (0..middle.len()).map(|j| mean(j) as i16).collect();
        }
    }
    let groups = middles.into_iter().zip(members).filter(|(_, members)| !members.is_empty());
    groups.map(|(middle, members)| Group { stratum, middle, sites: members.concat() }).collect()
}

/// By what the rows of each site should be more: first all of a group together, then each site around that.
pub(crate) fn factors(sites: &Sites, counts: &[f64], expected: &[f64], seen: &[f64], noise: f64) -> Vec<f64> {
    let width = sites.axes.len().max(1);
    let sizes: Vec<usize> = sites.groups.iter().map(|group| group.sites.len() / width).collect();
    let mut first = 0;
    let group = |&size: &usize| {
        let range = first..first + size;
        first += size;
        let sum = |of: &[f64]| of[range.clone()].iter().sum::<f64>();
        let noise = size as f64 * noise * noise;
        Cell { counted: sum(counts), expected: sum(expected), noise, known: 1.0, seen: sum(seen), sums: size as f64 }
    };
    let groups: Vec<Cell> = sizes.iter().map(group).collect();
    let known = hear::factors(&groups);
    let of_group = sizes.iter().zip(&known).flat_map(|(&size, &known)| std::iter::repeat_n(known, size));
    let cell = |(i, known): (usize, f64)| Cell {
        counted: counts[i],
        expected: expected[i],
        noise: noise * noise,
        known,
        seen: seen[i],
        sums: 1.0,
    };
    hear::factors(&of_group.enumerate().map(cell).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn schema() -> Schema {
        let text = "[[column]]\nname = \"a\"\nkind = \"continuous\"\nmin = 0\nmax = 1\n\
            [[column]]\nname = \"b\"\nkind = \"continuous\"\nmin = 0\nmax = 1\n\
            [[column]]\nname = \"y\"\nkind = \"categorical\"\nvalues = [\"u\", \"v\"]\nrole = \"label\"\n";
        Schema::parse(text, "s").unwrap()
    }

    proptest! {
        /// Whatever was drawn, what is proposed can be counted: also one row, rows that are all equal, more sites than rows,
        /// and a stratum without rows.
        #[test]
        fn what_is_proposed_can_be_counted(
            rows in prop::collection::vec((any::<u16>(), any::<u16>(), 0_u32..2), 1..60), equal: bool, count in 0_usize..100,
        ) {
            let rows = if equal { vec![rows[0]; rows.len()] } else { rows };
            let codes = rows.iter().flat_map(|row| [row.0, row.1]).collect();
            let pool = Pool { width: 2, codes, strata: rows.iter().map(|row| row.2).collect() };
            let sites = propose(&pool, &[], &schema(), count);
            prop_assert!(sites.fit(2, 2), "{sites:?}");
            prop_assert_eq!(sites.len(), count.clamp(1, rows.len()));
        }

        /// Counts without noise are followed as far as a fluctuation of rows allows, and factors are never negative.
        #[test]
        fn exact_counts_are_followed(wanted in prop::collection::vec(0.2_f64..3.0, 40)) {
            let groups = (0..4).map(|_| Group { stratum: 0, middle: vec![0], sites: vec![0; 10] }).collect();
            let sites = Sites { axes: vec![Axis { low: 0, times: 1 }], groups };
            let expected = vec![1e9; 40];
            let counts: Vec<f64> = wanted.iter().map(|w| w * 1e9).collect();
            let found = factors(&sites, &counts, &expected, &[0.0; 40], 0.0);
            prop_assert!(found.iter().zip(&wanted).all(|(f, w)| *f >= 0.0 && (f - w).abs() < 1e-2), "{found:?}");
        }
    }
}
