//! Sites: public points of the space of rows. Every row belongs to the site that is nearest to it.
//!
//! Proof: docs/proofs.md, Lemma 28; accuracy: docs/proofs.md, Lemma 31.
//!
//! *Distance.* `Σ_j (y_j − s_j)²` over scores y of the row's codes ([`Score`]), put on a grid so coarse that no sum leaves
//! an `i32`; exact integers, the lower number among equals. *Two levels.* Sites stand in groups: a row goes to the nearest
//! group of its stratum, then to the nearest site of that group: `2√K` distances a row instead of K. Either way the site of
//! a row is a function of that row and of public numbers alone, so a replaced row moves one count down and one up.

use super::scores::{self, Score};
use serde::{Deserialize, Serialize};

/// Points, and how rows are compared with them. Public.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sites {
    /// How every coordinate is read.
    pub scores: Vec<Score>,
    /// Scores are divided by `2^shift`, so that they fit the grid.
    pub shift: u32,
    /// The groups, stratum after stratum.
    pub groups: Vec<Group>,
}

/// Sites that stand together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// The stratum of its rows; they ascend.
    pub stratum: u32,
    /// Their middle, on the grid.
    pub middle: Vec<i16>,
    /// The sites, on the grid, one after the other.
    pub sites: Vec<i16>,
}

/// Rows have at most this many coordinates.
const WIDEST: usize = 4096;
/// More sites are never counted.
pub(super) const MOST: usize = 1 << 18;

/// Bits of the grid for rows of some width: the sum of d squares of differences, each below 2^bits, is below 2³¹.
pub fn grid_bits(width: usize) -> u32 {
    let above = usize::BITS - width.max(1).saturating_sub(1).leading_zeros();
    ((30 - above) / 2).min(13)
}

impl Sites {
    /// How many sites there are.
    pub fn len(&self) -> usize {
        self.groups.iter().map(|group| group.sites.len() / self.scores.len().max(1)).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Lengths agree, numbers are on the grid, and there is something to count.
    pub fn fit(&self, width: usize, strata: usize) -> bool {
        let most = 1_i32 << (grid_bits(width) - 1);
        let on_grid = |point: &[i16]| point.iter().all(|&x| i32::from(x).abs() <= most);
        let group = |group: &Group| {
            group.middle.len() == width
                && !group.sites.is_empty()
                && group.sites.len().is_multiple_of(width)
                && (group.stratum as usize) < strata
                && on_grid(&group.middle)
                && on_grid(&group.sites)
        };
        (1..=WIDEST).contains(&width)
            && self.scores.len() == width
            && self.scores.iter().all(Score::fits)
            && self.shift <= 22
            && !self.groups.is_empty()
            && self.groups.iter().all(group)
            && self.groups.is_sorted_by_key(|group| group.stratum)
            && self.len() <= MOST
    }

    /// Where the groups of each stratum begin, and the first site of each group. A stratum without groups has all of them.
    pub fn index(&self, strata: usize) -> SiteIndex {
        let width = self.scores.len().max(1);
        let mut first = Vec::with_capacity(self.groups.len());
        let mut before = 0;
        for group in &self.groups {
            first.push(before);
            before += group.sites.len() / width;
        }
        let of = |s: usize| {
            let low = self.groups.partition_point(|group| (group.stratum as usize) < s);
            let high = self.groups.partition_point(|group| group.stratum as usize <= s);
            if low == high { (0, self.groups.len()) } else { (low, high) }
        };
        SiteIndex { first, strata: (0..strata.max(1)).map(of).collect() }
    }

    /// Puts a row of codes on the grid.
    #[inline(always)]
    pub fn on_grid(&self, row: &[u16], scratch: &mut [i32], out: &mut [i16]) {
        scores::write(row, &self.scores, scratch);
        let most = 1_i32 << (grid_bits(self.scores.len()) - 1);
        for (y, &u) in out.iter_mut().zip(&*scratch) {
            *y = (u >> self.shift).min(most).max(-most) as i16;
        }
    }

    /// The site of a row that is on the grid.
    #[inline(always)]
    pub fn nearest(&self, index: &SiteIndex, point: &[i16], stratum: usize) -> usize {
        let (low, high) = index.strata[stratum.min(index.strata.len() - 1)];
        let mut best = (i32::MAX, low);
        for (number, group) in self.groups[low..high].iter().enumerate() {
            let far = square(point, &group.middle);
            if far < best.0 {
                best = (far, low + number);
            }
        }
        let mut site = (i32::MAX, 0);
        for (number, other) in self.groups[best.1].sites.chunks_exact(point.len()).enumerate() {
            let far = square(point, other);
            if far < site.0 {
                site = (far, number);
            }
        }
        index.first[best.1] + site.1
    }
}

/// Where groups and sites begin.
#[derive(Clone, Debug)]
pub struct SiteIndex {
    first: Vec<usize>,
    strata: Vec<(usize, usize)>,
}

/// The squared distance of two points of the grid. Sizes: see [`grid_bits`]; a point of a damaged file may be anywhere, so
/// sums wrap and never panic.
#[inline(always)]
fn square(a: &[i16], b: &[i16]) -> i32 {
    let mut sum = 0_i32;
    for (&a, &b) in a.iter().zip(b) {
        let apart = i32::from(a).wrapping_sub(i32::from(b));
        sum = sum.wrapping_add(apart.wrapping_mul(apart));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sites(points: &[(u32, Vec<i16>)], width: usize, together: usize) -> Sites {
        let mut groups: Vec<Group> = Vec::new();
        for stratum in 0..3 {
            let mine: Vec<&Vec<i16>> = points.iter().filter(|(s, _)| *s == stratum).map(|(_, p)| p).collect();
            for some in mine.chunks(together) {
                let sites = some.iter().flat_map(|p| p.iter().copied()).collect();
                groups.push(Group { stratum, middle: some[0].clone(), sites });
            }
        }
        Sites { scores: vec![Score::plain(1 << 15); width], shift: 8, groups }
    }

    proptest! {
        /// With one group for each stratum the site is the nearest of the stratum, the first of equals; and the largest
        /// distance of the grid is never negative.
        #[test]
        fn a_row_goes_to_its_nearest_site(
            points in prop::collection::vec((0_u32..2, prop::collection::vec(-128_i16..128, 3)), 1..20),
            row in prop::collection::vec(any::<u16>(), 3), stratum in 0_usize..3,
        ) {
            let sites = sites(&points, 3, 100);
            prop_assert!(sites.fit(3, 3));
            let (mut scratch, mut point) = ([0; 3], [0; 3]);
            sites.on_grid(&row, &mut scratch, &mut point);
            let found = sites.nearest(&sites.index(3), &point, stratum);
            prop_assert!(found < sites.len());
            let all: Vec<(u32, &[i16])> =
                sites.groups.iter().flat_map(|g| g.sites.chunks(3).map(|s| (g.stratum, s))).collect();
            if all.iter().any(|(s, _)| *s as usize == stratum) {
                let apart = |p: &[i16]| p.iter().zip(&point).map(|(a, b)| (i64::from(*a) - i64::from(*b)).pow(2)).sum::<i64>();
                let best = all.iter().filter(|(s, _)| *s as usize == stratum).map(|(_, p)| apart(p)).min().unwrap();
                prop_assert!(all[found].0 as usize == stratum && apart(all[found].1) == best);
                prop_assert!(all[..found].iter().all(|(s, p)| *s as usize != stratum || apart(p) > best));
            }
        }
    }

    #[test]
    fn no_distance_leaves_its_integers() {
        for width in [1, 2, 3, 16, 17, 54, 512, 4096] {
            let most = 1_i16 << (grid_bits(width) - 1);
            let (a, b) = (vec![most; width], vec![-most; width]);
            assert!(square(&a, &b) > 0, "{width}");
            assert_eq!(i64::from(square(&a, &b)), width as i64 * (2 * i64::from(most)).pow(2));
        }
    }
}
