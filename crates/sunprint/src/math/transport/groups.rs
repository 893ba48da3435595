//! Equal points put together, in an order that spreads.

use super::gcd;
use std::cmp::Ordering;

/// The different points of one side.
pub(super) struct Groups {
    /// Their coordinates, one point after the other; those with mass first.
    pub points: Vec<f64>,
    /// Their masses, without those that have none.
    pub masses: Vec<i64>,
    /// For each point of the side, the group it is in.
    pub group_of: Vec<u32>,
}

impl Groups {
    /// Puts equal points together if `merge` says so for their number and that of the different ones.
    pub fn new(points: &[f64], width: usize, masses: &[i64], merge: impl Fn(usize, usize) -> bool) -> Groups {
        let count = masses.len();
        let (mut group_of, mut groups) = equal_points(points, width);
        if groups == count || !merge(count, groups) {
            (group_of, groups) = ((0..count as u32).collect(), count);
        }
        let mut sums = vec![0; groups];
        let mut member = vec![0; groups];
        for (i, (&group, mass)) in group_of.iter().zip(masses).enumerate() {
            sums[group as usize] += mass;
            member[group as usize] = i;
        }
        let spread = spread(groups);
        let order: Vec<usize> = spread
            .iter()
            .copied()
            .filter(|&g| sums[g] > 0)
            .chain(spread.iter().copied().filter(|&g| sums[g] == 0))
            .collect();
        let mut place = vec![0; groups];
        order.iter().enumerate().for_each(|(at, &group)| place[group] = at as u32);
        Groups {
            points: order.iter().flat_map(|&group| &points[member[group] * width..][..width]).copied().collect(),
            masses: order.iter().map(|&group| sums[group]).filter(|&mass| mass > 0).collect(),
            group_of: group_of.into_iter().map(|group| place[group as usize]).collect(),
        }
    }
}

/// A number for each point, the same for equal points, and how many numbers there are.
fn equal_points(points: &[f64], width: usize) -> (Vec<u32>, usize) {
    let point = |i: u32| &points[i as usize * width..][..width];
    let compare = |i: &u32, j: &u32| point(*i).partial_cmp(point(*j)).unwrap_or(Ordering::Equal);
    let count = points.len() / width;
    let mut order: Vec<u32> = (0..count as u32).collect();
    order.sort_by(compare);
    let mut group_of = vec![0; count];
    let mut groups = 0;
    for run in order.chunk_by(|i, j| point(*i) == point(*j)) {
        run.iter().for_each(|&i| group_of[i as usize] = groups);
        groups += 1;
    }
    (group_of, groups as usize)
}

/// 0, …, count − 1 in steps of the golden section: every beginning of the list is spread evenly over the whole, so that
/// the first few of sorted points stand for all of them.
fn spread(count: usize) -> Vec<usize> {
    let golden = (count as f64 * 0.618_033_988_75) as usize;
    let step = (golden.max(1)..).find(|&step| gcd(step, count) == 1).unwrap_or(1);
    (0..count).map(|i| (i as u64 * step as u64 % count as u64) as usize).collect()
}
