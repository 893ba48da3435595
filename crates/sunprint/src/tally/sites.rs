//! Sites: public points of the space of rows. Every row belongs to the site that is nearest to it.
//!
//! Proof: docs/proofs.md, Lemma 28; docs/proofs.md, Lemma 29.
//!
//! *Grid.* A code x of coordinate j becomes `y = min(⌊(x − low_j)⁺ · times_j / 2¹²⌋, 2^b − 1)`: places outside of where
//! rows are likely count as the nearest one inside, and narrow columns are stretched. *Distance.* `Σ_j (y_j − s_j)²`; b is
//! so small that no sum leaves an `i32` ([`grid_bits`]). The lower number wins among equals. *Two levels.* Sites stand in
//! groups: a row goes to the nearest group of its stratum, then to the nearest site of that group, which takes `2√K`
//! distances instead of K. Either way the site of a row is a function of that row and of public numbers alone, in exact
//! integers: a replaced row moves one count down and one up.

use crate::cpu::{Level, Vectorised};
use serde::{Deserialize, Serialize};

/// Points, and how rows are compared with them. Public.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sites {
    /// How the codes of every coordinate are put on the grid.
    pub axes: Vec<Axis>,
    /// The groups, stratum after stratum.
    pub groups: Vec<Group>,
}

/// How the codes of a coordinate are put on the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u16, u16)", into = "(u16, u16)")]
pub struct Axis {
    /// The lowest place of the grid.
    pub low: u16,
    /// Places of the grid for each code, in 2⁻¹².
    pub times: u16,
}

impl From<(u16, u16)> for Axis {
    fn from((low, times): (u16, u16)) -> Axis {
        Axis { low, times }
    }
}

impl From<Axis> for (u16, u16) {
    fn from(axis: Axis) -> Self {
        (axis.low, axis.times)
    }
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

/// Fractional bits of [`Axis::times`].
pub const FRACTION: u32 = 12;
/// More coordinates than this have no sites.
pub const WIDEST: usize = 4096;
/// More sites than this are never counted.
const MOST: usize = 1 << 18;

/// Bits b of the grid for rows of d coordinates: d squares of differences below 2^b add up to less than 2³⁰.
pub fn grid_bits(width: usize) -> u32 {
    let above = usize::BITS - width.max(1).saturating_sub(1).leading_zeros();
    (30_u32.saturating_sub(above) / 2).clamp(1, 13)
}

impl Sites {
    /// How many sites there are.
    pub fn len(&self) -> usize {
        self.groups.iter().map(|group| group.sites.len() / self.axes.len().max(1)).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Lengths agree, numbers are on the grid, and there is something to count.
    pub fn fit(&self, width: usize, strata: usize) -> bool {
        let places = 0..1_i32 << grid_bits(width);
        let on_grid = |point: &[i16]| point.iter().all(|&y| places.contains(&i32::from(y)));
        let group = |group: &Group| {
            group.middle.len() == width
                && !group.sites.is_empty()
                && group.sites.len().is_multiple_of(width)
                && (group.stratum as usize) < strata
                && on_grid(&group.middle)
                && on_grid(&group.sites)
        };
        (1..=WIDEST).contains(&width)
            && self.axes.len() == width
            && !self.groups.is_empty()
            && self.groups.iter().all(group)
            && self.groups.is_sorted_by_key(|group| group.stratum)
            && self.len() <= MOST
    }

    /// Where the groups of each stratum begin, and the first site of each group. A stratum without groups has all of them.
    pub fn index(&self, strata: usize) -> SiteIndex {
        let width = self.axes.len().max(1);
        let mut before = 0;
        let first = |group: &Group| {
            let first = before;
            before += group.sites.len() / width;
            first
        };
        let first = self.groups.iter().map(first).collect();
        let of = |s: usize| {
            let low = self.groups.partition_point(|group| (group.stratum as usize) < s);
            let high = self.groups.partition_point(|group| group.stratum as usize <= s);
            if low == high { (0, self.groups.len()) } else { (low, high) }
        };
        SiteIndex { first, strata: (0..strata.max(1)).map(of).collect() }
    }

    /// Puts a row of codes on the grid.
    #[inline(always)]
    pub fn on_grid(&self, row: impl Iterator<Item = u16>, out: &mut [i16]) {
        let top = (1_u32 << grid_bits(self.axes.len())) - 1;
        for ((y, x), axis) in out.iter_mut().zip(row).zip(&self.axes) {
            // Both factors are below 2¹⁶.
            let place = u32::from(x.saturating_sub(axis.low)) * u32::from(axis.times);
            *y = (place >> FRACTION).min(top) as i16;
        }
    }

    /// The sites of several rows of codes, with all that this processor can do; the same on every one.
    pub(crate) fn of_rows(&self, index: &SiteIndex, rows: &[u16], strata: &[u32]) -> Vec<u32> {
        Finding { sites: self, index, rows, strata }.run_at(Level::best())
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

/// Rows, one after the other, on their way to their sites.
struct Finding<'a> {
    sites: &'a Sites,
    index: &'a SiteIndex,
    rows: &'a [u16],
    strata: &'a [u32],
}

impl Vectorised for Finding<'_> {
    type Output = Vec<u32>;

    #[inline(always)]
    fn run(self) -> Vec<u32> {
        let Finding { sites, index, rows, strata } = self;
        let mut point = vec![0; sites.axes.len()];
        let mut found = Vec::with_capacity(strata.len());
        for (row, &stratum) in rows.chunks_exact(point.len().max(1)).zip(strata) {
            sites.on_grid(row.iter().copied(), &mut point);
            found.push(sites.nearest(index, &point, stratum as usize) as u32);
        }
        found
    }
}

/// Where groups and sites begin.
#[derive(Clone, Debug)]
pub struct SiteIndex {
    first: Vec<usize>,
    strata: Vec<(usize, usize)>,
}

/// The squared distance of two points of the grid: see [`grid_bits`].
#[inline(always)]
fn square(a: &[i16], b: &[i16]) -> i32 {
    // Nothing wraps, by that bound; but what could stop at an overflow is not done several at a time.
    a.iter().zip(b).fold(0, |sum: i32, (&a, &b)| {
        let apart = i32::from(a.wrapping_sub(b));
        sum.wrapping_add(apart.wrapping_mul(apart))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PLAIN: Axis = Axis { low: 0, times: 1 << (FRACTION - 5) };

    fn sites(points: &[(u32, Vec<i16>)], width: usize, together: usize) -> Sites {
        let mut groups: Vec<Group> = Vec::new();
        for stratum in 0..3 {
            let mine: Vec<&Vec<i16>> = points.iter().filter(|(s, _)| *s == stratum).map(|(_, p)| p).collect();
            for some in mine.chunks(together) {
                let sites = some.iter().flat_map(|p| p.iter().copied()).collect();
                groups.push(Group { stratum, middle: some[0].clone(), sites });
            }
        }
        Sites { axes: vec![PLAIN; width], groups }
    }

    proptest! {
        /// With one group for each stratum the site is the nearest of the stratum, the first of equals; and where a stratum
        /// has none, the nearest of all.
        #[test]
        fn a_row_goes_to_its_nearest_site(
            points in prop::collection::vec((0_u32..2, prop::collection::vec(0_i16..2048, 3)), 1..20),
            row in prop::collection::vec(any::<u16>(), 3), stratum in 0_usize..3,
        ) {
            let sites = sites(&points, 3, 100);
            prop_assert!(sites.fit(3, 3));
            let mut point = [0; 3];
            sites.on_grid(row.iter().copied(), &mut point);
            let found = sites.nearest(&sites.index(3), &point, stratum);
            let all: Vec<(u32, &[i16])> =
                sites.groups.iter().flat_map(|g| g.sites.chunks(3).map(|s| (g.stratum, s))).collect();
            let apart = |p: &[i16]| p.iter().zip(&point).map(|(a, b)| (i64::from(*a) - i64::from(*b)).pow(2)).sum::<i64>();
            let own = |s: &u32| *s as usize == stratum;
            if all.iter().any(|(s, _)| own(s)) {
                let best = all.iter().filter(|(s, _)| own(s)).map(|(_, p)| apart(p)).min().unwrap();
                prop_assert!(own(&all[found].0) && apart(all[found].1) == best);
                prop_assert!(all[..found].iter().all(|(s, p)| !own(s) || apart(p) > best));
            } else {
                prop_assert!(found < sites.len());
            }
        }

        /// Places on the grid grow with the code and never leave it.
        #[test]
        fn the_grid_is_monotone(low: u16, times: u16, x: u16, y: u16, width in 1_usize..4096) {
            let sites = Sites { axes: vec![Axis { low, times }; width], groups: Vec::new() };
            let (mut a, mut b) = (vec![0; width], vec![0; width]);
            sites.on_grid(std::iter::repeat_n(x.min(y), width), &mut a);
            sites.on_grid(std::iter::repeat_n(x.max(y), width), &mut b);
            prop_assert!(0 <= a[0] && a[0] <= b[0] && i32::from(b[0]) < 1 << grid_bits(width));
        }
    }

    #[test]
    fn no_distance_leaves_its_integers() {
        for width in [1, 2, 3, 16, 17, 54, 512, 4096] {
            let top = (1_i16 << grid_bits(width)) - 1;
            assert_eq!(i64::from(square(&vec![top; width], &vec![0; width])), width as i64 * i64::from(top).pow(2));
        }
    }

    /// Damaged points are noticed before a row is compared with them.
    #[test]
    fn what_is_not_on_the_grid_does_not_fit() {
        let good = sites(&[(0, vec![5, 6, 7])], 3, 1);
        assert!(good.fit(3, 1) && !good.fit(2, 1) && !good.fit(3, 0));
        let damages: [fn(&mut Sites); 7] = [
            |s| s.groups[0].middle[0] = -1,
            |s| s.groups[0].sites[1] = i16::MAX,
            |s| s.groups[0].sites.truncate(2),
            |s| s.groups[0].sites.clear(),
            |s| s.groups[0].stratum = 1,
            |s| s.groups.clear(),
            |s| s.axes.truncate(2),
        ];
        for damage in damages {
            let mut broken = good.clone();
            damage(&mut broken);
            assert!(!broken.fit(3, 1), "{broken:?}");
        }
    }
}
