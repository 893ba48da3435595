//! The plain reference: every pass written down row by row, as its definition reads, and compared with the fast one on
//! every level of instructions that this processor has.

use super::codes::{Codes, Q};
use super::pass::Opened;
use super::{
    Axis, Cells, ClampedSums, ClippedMoments, Coordinates, Fork, Forks, GRID, Grid, GridSide, Group, Histogram,
    Marginals, Pass, Place, SITE_FRACTION, Sites, Sums, Work, grid_bits, grid_radius,
};
use crate::cpu::Level;
use proptest::prelude::*;

/// Rows with their strata.
type Rows = Vec<(Vec<u16>, u32)>;

/// All numbers of a tally, in one line.
fn plain(pass: &Pass, rows: &Rows) -> Vec<i128> {
    match &pass.work {
        Work::Sums(spec) => {
            let mut sums = vec![0_i128; pass.width + 1];
            for (row, _) in rows {
                for (j, &x) in row.iter().enumerate() {
                    sums[j] += i128::from(x);
                    if spec.counted[j] {
                        sums[pass.width] += (2 * i128::from(x) - i128::from(Q)).pow(2);
                    }
                }
            }
            sums
        }
        Work::Products => {
            let shifted = |x: u16| i128::from(x) - (1 << 15);
            let rows: Vec<Vec<i128>> = rows.iter().map(|(row, _)| row.iter().map(|&x| shifted(x)).collect()).collect();
            let sums = (0..pass.width).map(|j| rows.iter().map(|y| y[j]).sum());
            sums.chain(products(pass.width, &rows)).collect()
        }
        Work::Moments(spec) => {
            let width = spec.width(pass.width);
            let clipped: Vec<Vec<i128>> = rows.iter().map(|(row, _)| clip(spec, row)).collect();
            let mut sums = vec![0; pass.strata * width];
            let mut counts = vec![0; pass.strata];
            for (v, (_, stratum)) in clipped.iter().zip(rows) {
                let stratum = (*stratum as usize).min(pass.strata - 1);
                counts[stratum] += 1;
                v.iter().enumerate().for_each(|(j, v)| sums[stratum * width + j] += v);
            }
            products(width, &clipped).into_iter().chain(sums).chain(counts).collect()
        }
        Work::Clamped(spec) => {
            let mut sums = vec![0; pass.strata * pass.width];
            let mut counts = vec![0; pass.strata];
            let reach = i128::from(spec.reach);
            for (row, stratum) in rows {
                let stratum = (*stratum as usize).min(pass.strata - 1);
                counts[stratum] += 1;
                for (j, (&x, &c)) in row.iter().zip(&spec.centre).enumerate() {
                    sums[stratum * pass.width + j] += (i128::from(x) - i128::from(c)).max(-reach).min(reach);
                }
            }
            sums.into_iter().chain(counts).collect()
        }
        Work::Marginals(marginals) => {
            let histogram = |histogram: &Histogram| {
                let mut counts = vec![0; histogram.size(pass.strata)];
                let together = matches!(histogram, Histogram::Hot { .. } | Histogram::Line { .. });
                for (row, stratum) in rows {
                    if let Histogram::Sites(sites) = histogram {
                        counts[site(sites, row, (*stratum as usize).min(pass.strata - 1))] += 1;
                        continue;
                    }
                    let stratum = if together { 0 } else { (*stratum as usize).min(pass.strata - 1) };
                    counts[stratum * histogram.cells() + cell_of_value(histogram, row)] += 1;
                }
                counts
            };
            marginals.histograms.iter().flat_map(histogram).collect()
        }
        Work::Cells(cells) => {
            let mut leaves = vec![0; cells.leaves()];
            for (row, stratum) in rows {
                let stratum = (*stratum as usize).min(pass.strata - 1);
                let start: usize = cells.depths[..stratum].iter().map(|&depth| 1_usize << depth).sum();
                leaves[start + leaf(cells, row, usize::from(cells.depths[stratum]))] += 1;
            }
            leaves
        }
        Work::Grid(grid) => {
            let mut leaves = vec![0; grid.leaves()];
            for (row, stratum) in rows {
                let stratum = (*stratum as usize).min(pass.strata - 1);
                let start: usize = grid.sizes()[..stratum].iter().sum();
                let place = |(vector, side): (&Vec<i32>, &GridSide)| {
                    (side.cells as usize, cell(row, &grid.centre, vector, side.place, u64::from(side.cells)) as usize)
                };
                let sides = grid.vectors.iter().zip(&grid.strata[stratum]).map(place);
                leaves[start + sides.fold(0, |index, (cells, q)| index * cells + q)] += 1;
            }
            leaves
        }
    }
}

fn products(width: usize, rows: &[Vec<i128>]) -> Vec<i128> {
    let pairs = (0..width).flat_map(|i| (0..=i).map(move |j| (i, j)));
    pairs.map(|(i, j)| rows.iter().map(|v| v[i] * v[j]).sum()).collect()
}

/// `⟨x − c, v⟩`.
fn inner(row: &[u16], centre: &[u16], vector: &[i32]) -> i128 {
    let less = row.iter().zip(centre).map(|(&x, &c)| i128::from(x) - i128::from(c));
    less.zip(vector).map(|(u, &v)| u * i128::from(v)).sum()
}

/// `round(u · K′ / max(C, ‖u‖))` with the multiplier's 32 fractional bits; zero if it is longer than K.
fn clip(spec: &ClippedMoments, row: &[u16]) -> Vec<i128> {
    let u: Vec<i128> = match &spec.plane {
        None => row.iter().zip(&spec.centre).map(|(&x, &c)| i128::from(x) - i128::from(c)).collect(),
        Some(plane) => plane.iter().map(|v| (inner(row, &spec.centre, v) >> 30).clamp(-(1 << 22), 1 << 22)).collect(),
    };
    let square: u128 = u.iter().map(|u| (u * u) as u128).sum();
    let norm = square.isqrt() + u128::from(square.isqrt().pow(2) < square);
    let shrink = i128::from(grid_radius(u.len()));
    let multiplier = (shrink << 32) / (norm.max(u128::from(spec.radius)).max(1) as i128);
    let round = |u: &i128| u.signum() * ((u.abs() * multiplier + (1 << 31)) >> 32);
    let v: Vec<i128> = u.iter().map(round).collect();
    let long = v.iter().map(|v| v * v).sum::<i128>() > i128::from(GRID * GRID);
    if long { vec![0; v.len()] } else { v }
}

/// The cell along one coordinate: clamped division.
fn cell(row: &[u16], centre: &[u16], vector: &[i32], place: Place, cells: u64) -> u64 {
    let offset = (inner(row, centre, vector) - i128::from(place.low)).clamp(0, i128::from(i64::MAX));
    ((offset / i128::from(place.step)) as u64).min(cells - 1)
}

/// The cell of a row's value: how many edges lie at or below it, or the last if it is missing; the first category that
/// is set, or the first of all.
fn cell_of_value(histogram: &Histogram, row: &[u16]) -> usize {
    let set = |code: u16| code > 16_384;
    match histogram {
        Histogram::Line { at, edges, absence: true } if set(row[at + 1]) => edges.len() + 1,
        Histogram::Line { at, edges, .. } => edges.iter().filter(|&&edge| edge <= row[*at]).count(),
        Histogram::Hot { at, len } => (0..*len).find(|c| set(row[at + c])).unwrap_or(0),
        Histogram::Tree(forks) => {
            let mut at = 0_i32;
            while at >= 0 && !forks.forks.is_empty() {
                let fork = forks.forks[at as usize];
                at = if row[fork.at as usize] >= fork.edge { fork.above } else { fork.below };
            }
            if forks.forks.is_empty() { 0 } else { (-1 - at) as usize }
        }
        Histogram::Sites(_) => 0,
    }
}

/// The site of a row: first the nearest group among those of its stratum, or of all if it has none, then the nearest site.
fn site(sites: &Sites, row: &[u16], stratum: usize) -> usize {
    let width = row.len();
    let top = (1_i128 << grid_bits(width)) - 1;
    let place = |(&x, axis): (&u16, &Axis)| {
        let above = (i128::from(x) - i128::from(axis.low)).max(0);
        (above * i128::from(axis.times) / (1 << SITE_FRACTION)).min(top)
    };
    let point: Vec<i128> = row.iter().zip(&sites.axes).map(place).collect();
    let apart = |other: &[i16]| point.iter().zip(other).map(|(y, &s)| (y - i128::from(s)).pow(2)).sum::<i128>();
    let own = sites.groups.iter().any(|group| group.stratum as usize == stratum);
    let groups = sites.groups.iter().enumerate().filter(|(_, group)| !own || group.stratum as usize == stratum);
    let (number, group) = groups.min_by_key(|(number, group)| (apart(&group.middle), *number)).unwrap();
    let before: usize = sites.groups[..number].iter().map(|group| group.sites.len() / width).sum();
    let mine = group.sites.chunks_exact(width).enumerate();
    before + mine.min_by_key(|(number, other)| (apart(other), *number)).unwrap().0
}

/// Any sites of rows of some width, in any groups of two of three strata.
fn some_sites(width: usize) -> impl Strategy<Value = Histogram> {
    let places = 0..1_i16 << grid_bits(width);
    let axis = (code(), any::<u16>()).prop_map(|(low, times)| Axis { low, times });
    let group = (0..2_u32, prop::collection::vec(places, width..=5 * width)).prop_map(move |(stratum, mut sites)| {
        sites.truncate(sites.len() / width * width);
        Group { stratum, middle: sites[..width].to_vec(), sites }
    });
    (prop::collection::vec(axis, width), prop::collection::vec(group, 1..5)).prop_map(|(axes, mut groups)| {
        groups.sort_by_key(|group| group.stratum);
        Histogram::Sites(Sites { axes, groups })
    })
}

/// The leaf of a row: cut by cut.
fn leaf(cells: &Cells, row: &[u16], depth: usize) -> usize {
    let bits = cells.bits();
    let point: Vec<u64> = match &cells.coordinates {
        Coordinates::Basis { centre, vectors, places } => {
            (0..bits.len()).map(|k| cell(row, centre, &vectors[k], places[k], 1 << bits[k])).collect()
        }
        Coordinates::Columns => (0..bits.len()).map(|k| (u64::from(row[k]) << bits[k]) >> 16).collect(),
    };
    let mut made = vec![0; bits.len()];
    let mut index = 0;
    for &cut in &cells.cuts[..depth] {
        let cut = usize::from(cut);
        made[cut] += 1;
        index = index << 1 | (point[cut] >> (bits[cut] - made[cut]) & 1) as usize;
    }
    index
}

/// The fast tally, in batches of the given sizes, as one line of numbers.
fn fast(pass: &Pass, rows: &Rows, batch: usize, level: Level) -> Vec<i128> {
    let mut tallying = pass.begin_at(level);
    for rows in rows.chunks(batch) {
        let mut codes = Codes::with_capacity(pass.width, rows.len());
        rows.iter().for_each(|(row, stratum)| codes.push(row, *stratum));
        tallying.add(&codes);
    }
    let tally = tallying.finish();
    assert_eq!(tally.rows(), rows.len() as u64);
    let wide = |numbers: &[i64]| numbers.iter().map(|&x| i128::from(x)).collect::<Vec<_>>();
    match tally.open_danger() {
        Opened::Sums(t) => [wide(&t.sums), vec![t.square]].concat(),
        Opened::Products(t) => [wide(&t.sums), wide(&t.products)].concat(),
        Opened::Moments(t) => [wide(&t.products), wide(&t.stratum_sums), wide(&t.stratum_rows)].concat(),
        Opened::Cells(t) => t.leaves.iter().map(|&count| i128::from(count)).collect(),
    }
}

/// Fast and plain agree, on every level.
fn agree(pass: &Pass, rows: &Rows, batch: usize) -> Result<(), TestCaseError> {
    let expected = plain(pass, rows);
    for level in Level::all() {
        prop_assert!(fast(pass, rows, batch, level) == expected, "{level:?}, {} columns", pass.width);
    }
    Ok(())
}

/// The sums and the square of every coordinate.
fn all_sums(width: usize) -> Work {
    Work::Sums(Sums { counted: vec![true; width] })
}

fn pass(width: usize, work: Work) -> Pass {
    Pass::new(1, width, 3, work)
}

/// Codes with many extremes: they are what overflows.
fn code() -> impl Strategy<Value = u16> {
    prop_oneof![any::<u16>(), any::<u16>(), Just(0), Just(Q), 32_000_u16..33_000]
}

/// A table of some width: columns on both sides of every panel and tile, strata beyond the last.
fn table() -> impl Strategy<Value = (usize, Rows)> {
    (1_usize..90).prop_flat_map(|width| {
        let row = (prop::collection::vec(code(), width), 0_u32..4);
        (Just(width), prop::collection::vec(row, 0..120))
    })
}

fn vectors(width: usize, count: usize) -> impl Strategy<Value = Vec<Vec<i32>>> {
    prop::collection::vec(prop::collection::vec(-(1_i32 << 30)..=1 << 30, width), count)
}

/// Any histogram of rows of some width.
fn histogram(width: usize) -> impl Strategy<Value = Histogram> {
    let edges = prop::collection::btree_set(code(), 0..50);
    (0..width, edges, any::<bool>(), 1..=width, 0..3).prop_map(move |(at, edges, absence, len, kind)| {
        if kind == 2 {
            // A list of forks, each with a leaf below and the rest above.
            let count = edges.len() as i32;
            let way = |i: i32| if i + 1 < count { i + 1 } else { -1 - count };
            let fork = |(i, edge): (i32, u16)| Fork {
                at: ((at + i as usize) % width) as u32,
                edge,
                below: -1 - i,
                above: way(i),
            };
            Histogram::Tree(Forks { forks: (0..count).zip(edges).map(fork).collect() })
        } else if kind == 1 {
            Histogram::Hot { at, len: len.min(width - at) }
        } else {
            Histogram::Line { at, edges: edges.into_iter().collect(), absence: absence && at + 1 < width }
        }
    })
}

fn place() -> impl Strategy<Value = Place> {
    (-(1_i64 << 50)..1 << 50, 1_i64..1 << 46).prop_map(|(low, step)| Place { low, step })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn sums_and_products((width, rows) in table(), batch in 1_usize..130, counted in prop::collection::vec(any::<bool>(), 90)) {
        agree(&pass(width, all_sums(width)), &rows, batch)?;
        agree(&pass(width, Work::Sums(Sums { counted: counted[..width].to_vec() })), &rows, batch)?;
        agree(&pass(width, Work::Products), &rows, batch)?;
    }

    #[test]
    fn moments((width, rows) in table(), batch in 1_usize..130, centre in code(), radius in prop_oneof![any::<u32>(), 1_u32..40_000]) {
        let spec = ClippedMoments { centre: vec![centre; width], radius, plane: None };
        agree(&pass(width, Work::Moments(spec)), &rows, batch)?;
    }

    #[test]
    fn clamped_sums(((width, rows), centre) in table().prop_flat_map(|(width, rows)| {
        (Just((width, rows)), prop::collection::vec(code(), width))
    }), batch in 1_usize..130, reach in prop_oneof![code(), 1_u16..9000]) {
        agree(&pass(width, Work::Clamped(ClampedSums { centre, reach })), &rows, batch)?;
    }

    #[test]
    fn marginals(((width, rows), histograms) in table().prop_flat_map(|(width, rows)| {
        (Just((width, rows)), prop::collection::vec(prop_oneof![3 => histogram(width), 1 => some_sites(width)], 0..6))
    }), batch in 1_usize..130) {
        let marginals = Marginals { histograms };
        prop_assert!(marginals.fit(width, 3));
        agree(&pass(width, Work::Marginals(marginals)), &rows, batch)?;
    }

    #[test]
    fn moments_in_a_plane(((width, rows), plane) in table().prop_flat_map(|(width, rows)| {
        let count = 1..=width.min(5);
        (Just((width, rows)), count.prop_flat_map(move |count| vectors(width, count)))
    }), centre in code(), radius in 1_u32..400_000) {
        let spec = ClippedMoments { centre: vec![centre; width], radius, plane: Some(plane) };
        agree(&pass(width, Work::Moments(spec)), &rows, 50)?;
    }

    #[test]
    fn cells(((width, rows), vectors) in table().prop_flat_map(|(width, rows)| (Just((width, rows)), vectors(width, 3))),
             centre in code(), places in prop::collection::vec(place(), 3),
             cuts in prop::collection::vec(0_u16..3, 0..22), depths in prop::collection::vec(0_u8..12, 3)) {
        let depths: Vec<u8> = depths.iter().map(|&depth| depth.min(cuts.len() as u8)).collect();
        let coordinates = Coordinates::Basis { centre: vec![centre; width], vectors, places };
        agree(&pass(width, Work::Cells(Cells { coordinates, cuts, depths })), &rows, 70)?;
    }

    #[test]
    fn cells_of_columns((width, rows) in table(), cuts in prop::collection::vec(any::<u16>(), 0..22),
                        depths in prop::collection::vec(0_u8..12, 3)) {
        let depths: Vec<u8> = depths.iter().map(|&depth| depth.min(cuts.len() as u8)).collect();
        let cuts = cuts.iter().map(|&cut| cut % width as u16).collect();
        agree(&pass(width, Work::Cells(Cells { coordinates: Coordinates::Columns, cuts, depths })), &rows, 70)?;
    }

    #[test]
    fn grids(((width, rows), vectors) in table().prop_flat_map(|(width, rows)| (Just((width, rows)), vectors(width, 2))),
             centre in code(), sides in prop::collection::vec((place(), 1_u32..9), 6)) {
        let side = |&(place, cells): &(Place, u32)| GridSide { place, cells };
        let strata = sides.chunks(2).map(|sides| sides.iter().map(side).collect()).collect();
        agree(&pass(width, Work::Grid(Grid { centre: vec![centre; width], vectors, strata })), &rows, 33)?;
    }
}

/// The rows that fill the 32-bit sums of a tile most: all their length in one entry, or in two, again and again.
#[test]
fn the_longest_rows_fit() {
    for width in [1, 2, 16, 17, 50] {
        let mut rows = Rows::new();
        for sign in [0, Q] {
            for columns in [vec![0], vec![width - 1], vec![0, width - 1]] {
                let row = (0..width).map(|j| if columns.contains(&j) { sign } else { 1 << 15 }).collect::<Vec<u16>>();
                rows.extend((0..300).map(|_| (row.clone(), 0)));
            }
        }
        let spec = ClippedMoments { centre: vec![1 << 15; width], radius: 1, plane: None };
        for pass in [pass(width, Work::Moments(spec)), pass(width, Work::Products), pass(width, all_sums(width))] {
            agree(&pass, &rows, 600).unwrap();
        }
    }
}

fn random() -> impl FnMut() -> u16 {
    let mut state = 7_u64;
    move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 48) as u16
    }
}

/// Several blocks and a part of one, of rows that are all different, for tables that are narrow and wide: a wide one
/// has fewer rows in a block.
#[test]
fn several_blocks() {
    let mut next = random();
    for (width, count, batch) in [(40, 700, 700), (40, 700, 33), (1100, 300, 300)] {
        let rows: Rows = (0..count).map(|i| ((0..width).map(|_| next()).collect(), i % 3)).collect();
        let spec = ClippedMoments { centre: (0..width).map(|_| next()).collect(), radius: 300_000, plane: None };
        agree(&pass(width, Work::Moments(spec)), &rows, batch).unwrap();
        if width < 100 {
            agree(&pass(width, Work::Products), &rows, batch).unwrap();
        }
    }
}

/// Coordinates in a plane that are cut off, and the radii at both ends.
#[test]
fn the_farthest_rows_of_a_plane() {
    let mut next = random();
    let width = 130;
    let mut rows: Rows = (0..40).map(|i| ((0..width).map(|_| next()).collect(), i % 3)).collect();
    rows.push((vec![Q; width], 0));
    rows.push((vec![0; width], 1));
    for centre in [0, Q] {
        for radius in [0, 1, u32::MAX] {
            let plane = vec![vec![1 << 30; width], vec![-(1 << 30); width]];
            for plane in [None, Some(plane)] {
                let spec = ClippedMoments { centre: vec![centre; width], radius, plane };
                agree(&pass(width, Work::Moments(spec)), &rows, 9).unwrap();
            }
        }
    }
}

/// More than 2¹⁶ rows in one batch: the column sums of 32 bits are emptied in time.
#[test]
fn a_long_batch() {
    let rows: Rows = (0..(1 << 16) + 3).map(|_| (vec![Q; 2], 0)).collect();
    agree(&pass(2, all_sums(2)), &rows, 1 << 17).unwrap();
}
