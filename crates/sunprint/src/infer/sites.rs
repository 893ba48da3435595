//! Sites: where a model proposes to count rows, and what the counts say of the model.
//!
//! Rows drawn from the model are free. Some of them are sites; every real row belongs to the nearest. The model says where
//! to look, the count says what is there.

use super::hear::{self, Cell};
use crate::math::stream::Stream;
use crate::model::Pool;
use crate::tally::{Group, Score, Sites, grid_bits};

/// Any fixed number: what is proposed is stored.
const SEED: u64 = 7;
const PURPOSE: u64 = 11;

/// Proposes about `count` sites among the rows of a pool, read by scores: each stratum as many as it has rows.
///
/// A first level of about √K groups is made of the first sites of each stratum and moved once to the mean of what is
/// nearest to them, as one step of Lloyd's method does.
pub(crate) fn propose(pool: &Pool, scores: &[Score], count: usize, strata: usize) -> Sites {
    let (width, bits) = (pool.width, grid_bits(pool.width));
    // The farthest score must lie on the grid.
    let far = |score: &Score| i64::from(score.of(u16::MAX).abs().max(score.of(0).abs()));
    let most = scores.iter().map(far).max().unwrap_or(0);
    let shift = (0..22).find(|shift| most >> shift < 1 << (bits - 1)).unwrap_or(22);
    let mut sites = Sites { scores: scores.to_vec(), shift, groups: Vec::new() };
    let chosen = Stream::new(SEED, PURPOSE, 0).choose(pool.rows(), count.clamp(1, pool.rows().max(1)));
    let (mut scratch, mut point) = (vec![0; width], vec![0; width]);
    let mut points: Vec<Vec<Vec<i16>>> = vec![Vec::new(); strata];
    for i in chosen {
        sites.on_grid(pool.row(i), &mut scratch, &mut point);
        points[pool.strata[i] as usize].push(point.clone());
    }
    for (stratum, points) in points.iter().enumerate().filter(|(_, points)| !points.is_empty()) {
        let groups = (points.len() as f64).sqrt().round().max(1.0) as usize;
        sites.groups.extend(grouped(points, groups, stratum as u32));
    }
    sites
}

fn grouped(points: &[Vec<i16>], count: usize, stratum: u32) -> Vec<Group> {
    let apart =
        |a: &[i16], b: &[i16]| -> i64 { a.iter().zip(b).map(|(&a, &b)| (i64::from(a) - i64::from(b)).pow(2)).sum() };
    let nearest = |point: &Vec<i16>, middles: &[Vec<i16>]| {
        (0..middles.len()).min_by_key(|&g| (apart(point, &middles[g]), g)).unwrap_or(0)
    };
    let mut middles: Vec<Vec<i16>> = points[..count.min(points.len())].to_vec();
    let mut members: Vec<Vec<&Vec<i16>>> = Vec::new();
    for _ in 0..2 {
        members = vec![Vec::new(); middles.len()];
        points.iter().for_each(|point| members[nearest(point, &middles)].push(point));
        for (middle, members) in middles.iter_mut().zip(&members).filter(|(_, members)| !members.is_empty()) {
            let mean = |j: usize| members.iter().map(|m| i64::from(m[j])).sum::<i64>() / members.len() as i64;
            *middle = (0..middle.len()).map(|j| mean(j) as i16).collect();
        }
    }
    let group = |(middle, members): (Vec<i16>, Vec<&Vec<i16>>)| {
        (!members.is_empty()).then(|| Group { stratum, middle, sites: members.concat_points() })
    };
    middles.into_iter().zip(members).filter_map(group).collect()
}

trait ConcatPoints {
    fn concat_points(&self) -> Vec<i16>;
}

impl ConcatPoints for Vec<&Vec<i16>> {
    fn concat_points(&self) -> Vec<i16> {
        self.iter().flat_map(|point| point.iter().copied()).collect()
    }
}

/// By what the rows of each site should be more: first all of a group together, then each site around that.
pub(crate) fn factors(sites: &Sites, counts: &[f64], expected: &[f64], seen: &[f64], noise: f64) -> Vec<f64> {
    let width = sites.scores.len().max(1);
    let sizes: Vec<usize> = sites.groups.iter().map(|group| group.sites.len() / width).collect();
    let mut first = 0;
    let groups: Vec<Cell> = sizes
        .iter()
        .map(|&size| {
            let range = first..first + size;
            first += size;
            let sum = |of: &[f64]| of[range.clone()].iter().sum::<f64>();
            Cell {
                counted: sum(counts),
                expected: sum(expected),
                noise: size as f64 * noise * noise,
                known: 1.0,
                seen: sum(seen),
            }
        })
        .collect();
    let known = hear::factors(&groups);
    let of_group = sizes.iter().zip(&known).flat_map(|(&size, &known)| std::iter::repeat_n(known, size));
    let cell = |(i, known): (usize, f64)| Cell {
        counted: counts[i],
        expected: expected[i],
        noise: noise * noise,
        known,
        seen: seen[i],
    };
    hear::factors(&of_group.enumerate().map(cell).collect::<Vec<_>>())
}
