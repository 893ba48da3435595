//! Sensitivities by brute force: both tallies of many neighbouring tables, through the public passes, compared.

mod common;

use common::{plan, promise, random_rows, schema, table};
use sunprint::fit::Fit;
use sunprint::math::stream::Stream;
use sunprint::plan::{Method, Plan};
use sunprint::privacy::Kernel;
use sunprint::tally::codes::Q;
use sunprint::tally::{
    Axis, ClampedSums, ClippedMoments, Fork, Forks, Group, Histogram, Marginals, Opened, Pass, SITE_FRACTION, Sites,
    Sums, Tally, Work, grid_bits, packed_index,
};
use sunprint::tally::{MomentLayout, assemble};

type Row = (Vec<u16>, u32);

/// Two tables that differ in one row.
struct Neighbours {
    width: usize,
    strata: usize,
    here: Vec<Row>,
    there: Vec<Row>,
}

/// Corners, extremes, one row, equal rows, and a few hundred tables by fixed seeds.
fn neighbours() -> Vec<Neighbours> {
    let mut found = Vec::new();
    let corner = |width: usize, bits: usize| -> Vec<u16> {
        (0..width).map(|j| if bits >> j & 1 == 1 { Q } else { 0 }).collect()
    };
    for (width, strata) in [(1, 1), (2, 3), (3, 2)] {
        for from in 0..1 << width {
            for to in 0..1 << width {
                for others in 0..1 << width {
                    // One row alone; four equal rows beside it.
                    for count in [0, 4] {
                        let mut here: Vec<Row> = vec![(corner(width, others), 0); count];
                        let mut there = here.clone();
                        here.push((corner(width, from), 0));
                        there.push((corner(width, to), strata as u32 - 1));
                        found.push(Neighbours { width, strata, here, there });
                    }
                }
            }
        }
    }
    let mut stream = Stream::new(3, 79, 0);
    for seed in 0..300 {
        let width = 1 + stream.below(6) as usize;
        let strata = 1 + stream.below(4) as usize;
        let count = 1 + stream.below(7) as usize;
        let here = random_rows(width, strata as u32, count, seed);
        let mut there = here.clone();
        there[stream.below(count as u64) as usize] = random_rows(width, strata as u32, 1, seed + 10_000).remove(0);
        found.push(Neighbours { width, strata, here, there });
    }
    found
}

/// The sums of every coordinate.
fn all_sums(width: usize) -> Work {
    Work::Sums(Sums { counted: vec![true; width] })
}

impl Neighbours {
    fn tallies(&self, work: Work) -> [Tally; 2] {
        let pass = Pass::new(1, self.width, self.strata, work);
        [&self.here, &self.there].map(|rows| pass.tally(&table(self.width, rows)))
    }
}

#[test]
fn sums_move_inside_the_cube_and_the_square_by_its_bound() {
    let (q, mut furthest) = (i128::from(Q), 0);
    for pair in neighbours() {
        let [a, b] = pair.tallies(all_sums(pair.width));
        let (Opened::Sums(a), Opened::Sums(b)) = (a.open_danger(), b.open_danger()) else { panic!("sums") };
        for (x, y) in a.sums.iter().zip(&b.sums) {
            assert!((x - y).abs() <= i64::from(Q));
            furthest = furthest.max((x - y).abs());
        }
        assert!((a.square - b.square).abs() <= pair.width as i128 * q * q);
    }
    assert_eq!(furthest, i64::from(Q), "the bound is attained");
}

/// The square moves most between a corner and the middle of the cube; codes are odd around it, so it misses by d.
#[test]
fn the_square_attains_its_bound_up_to_parity() {
    let pair = Neighbours { width: 5, strata: 1, here: vec![(vec![Q; 5], 0)], there: vec![(vec![Q / 2; 5], 0)] };
    let [a, b] = pair.tallies(all_sums(pair.width));
    let (Opened::Sums(a), Opened::Sums(b)) = (a.open_danger(), b.open_danger()) else { panic!("sums") };
    assert_eq!(a.square - b.square, 5 * (i128::from(Q).pow(2) - 1));
}

/// Entries of `n² M = n Σ y yᵀ − (Σ y)(Σ y)ᵀ`, computed here from the rows, as the fit computes them from the tally.
#[test]
fn the_paper_covariance_moves_by_at_most_n_squares() {
    let scaled = |tally: &Tally, n: i128, d: usize| -> Vec<i128> {
        let Opened::Products(t) = tally.open_danger() else { panic!("products") };
        let entry = |i: usize, j: usize| {
            n * i128::from(t.products[packed_index(i, j)]) - i128::from(t.sums[i]) * i128::from(t.sums[j])
        };
        (0..d).flat_map(|i| (0..=i).map(move |j| (i, j))).map(|(i, j)| entry(i, j)).collect()
    };
    let mut closest = 0.0_f64;
    for pair in neighbours() {
        let (n, d) = (pair.here.len() as i128, pair.width);
        let [a, b] = pair.tallies(Work::Products);
        let (a, b) = (scaled(&a, n, d), scaled(&b, n, d));
        // Independent of the tally: n Σ x xᵀ − S Sᵀ over raw codes; a shift leaves it alone.
        let direct = |rows: &[Row], i: usize, j: usize| {
            let x = |row: &Row, i: usize| i128::from(row.0[i]);
            let sum = |i: usize| rows.iter().map(|row| x(row, i)).sum::<i128>();
            n * rows.iter().map(|row| x(row, i) * x(row, j)).sum::<i128>() - sum(i) * sum(j)
        };
        for i in 0..d {
            for j in 0..=i {
                let at = packed_index(i, j);
                assert_eq!(a[at], direct(&pair.here, i, j));
                assert_eq!(b[at], direct(&pair.there, i, j));
                let bound = n * i128::from(Q).pow(2);
                assert!((a[at] - b[at]).abs() <= (n - 1) * i128::from(Q).pow(2), "the proof's bound");
                closest = closest.max((a[at] - b[at]).abs() as f64 / bound as f64);
            }
        }
    }
    assert!((0.79..=1.0).contains(&closest), "n = 5: the truth is (n−1)/n of what is charged for, {closest}");
}

#[test]
fn the_paper_mean_moves_by_one_code_range_per_column() {
    for pair in neighbours() {
        let [a, b] = pair.tallies(Work::Products);
        let (Opened::Products(a), Opened::Products(b)) = (a.open_danger(), b.open_danger()) else { panic!("products") };
        assert!(a.sums.iter().zip(&b.sums).all(|(x, y)| (x - y).abs() <= i64::from(Q)));
    }
}

/// Every row alone gives a Gram matrix of rank one, `ṽ ṽᵀ`, whose trace `‖ṽ‖²` is at most what the noise is made for;
/// and the tally of a table is the sum over its rows. So neighbours differ by `ṽṽᵀ − ṽ′ṽ′ᵀ`, of nuclear norm at most
/// twice the bound, whatever the rows, the centre and the radius.
#[test]
fn extended_rows_stay_inside_their_norm() {
    let mut stream = Stream::new(4, 80, 0);
    let mut fullest = 0.0_f64;
    for pair in neighbours() {
        let (d, strata) = (pair.width, pair.strata);
        let centre: Vec<u16> = random_rows(d, 1, 1, stream.bits() >> 1).remove(0).0;
        let radius = [1, 2, 1 << 10, 40_000, u32::MAX][stream.below(5) as usize];
        // Every third time in a plane, whose vectors need not even be short.
        let k = 1 + stream.below(d as u64) as usize;
        let vectors = (0..k).map(|_| (0..d).map(|_| stream.bits() as i32).collect()).collect();
        let spec = ClippedMoments { centre, radius, plane: (stream.below(3) == 0).then_some(vectors) };
        let layout = MomentLayout::new(spec.width(d), strata);
        let work = Work::Moments(spec);
        let gram = |rows: &[Row]| {
            let one = Neighbours { width: d, strata, here: rows.to_vec(), there: Vec::new() };
            let [tally, _] = one.tallies(work.clone());
            let Opened::Moments(tally) = tally.open_danger() else { panic!("moments") };
            assemble(tally, rows.len() as u64, layout)
        };
        for rows in [&pair.here, &pair.there] {
            let mut sum = vec![0_i64; layout.order() * (layout.order() + 1) / 2];
            for row in rows {
                let alone = gram(std::slice::from_ref(row));
                let at = |i: usize, j: usize| i128::from(alone[packed_index(i, j)]);
                let trace: i128 = (0..layout.order()).map(|i| at(i, i)).sum();
                assert!(trace <= i128::from(layout.row_norm_squared()), "a row of norm {trace}");
                fullest = fullest.max(trace as f64 / layout.row_norm_squared() as f64);
                for i in 0..layout.order() {
                    for j in 0..i {
                        assert_eq!(at(i, j) * at(i, j), at(i, i) * at(j, j), "rank one");
                    }
                }
                sum.iter_mut().zip(&alone).for_each(|(a, b)| *a += b);
            }
            assert_eq!(sum, gram(rows), "the table's moments are the sum of its rows'");
        }
    }
    assert!(fullest > 0.99, "corners use nearly the whole norm: {fullest}");
}

/// Long rows, where the rounding to the grid adds up: every corner pattern at the tightest radii.
#[test]
fn wide_rows_stay_inside_their_norm() {
    for d in [64, 300, 784] {
        let layout = MomentLayout::new(d, 1);
        for seed in 0..6 {
            for radius in [1, 9000, 1 << 20] {
                let row = random_rows(d, 1, 1, seed).remove(0);
                let centre = random_rows(d, 1, 1, seed + 50).remove(0).0;
                let work = Work::Moments(ClippedMoments { centre, radius, plane: None });
                let pass = Pass::new(1, d, 1, work);
                let tally = pass.tally(&table(d, &[row]));
                let Opened::Moments(tally) = tally.open_danger() else { panic!("moments") };
                let gram = assemble(tally, 1, layout);
                let trace: i64 = (0..layout.order()).map(|i| gram[packed_index(i, i)]).sum();
                assert!(trace as u64 <= layout.row_norm_squared(), "{trace}");
            }
        }
    }
}

/// A clamped row moves each number of the old and of the new stratum by at most the reach, and the counts by one; so it
/// moves every contrast `Σ_s a_s S_s` with `|a_s| ≤ A` by at most `2 A r`, which is what is charged for.
#[test]
fn clamped_sums_move_by_the_reach() {
    let mut stream = Stream::new(5, 81, 0);
    let (mut furthest, most) = (0.0_f64, 1024);
    for pair in neighbours() {
        let (d, strata) = (pair.width, pair.strata);
        let centre: Vec<u16> = random_rows(d, 1, 1, stream.bits() >> 1).remove(0).0;
        let reach = [0, 1, 900, Q / 2, Q][stream.below(5) as usize];
        let [a, b] = pair.tallies(Work::Clamped(ClampedSums { centre, reach }));
        let (Opened::Moments(a), Opened::Moments(b)) = (a.open_danger(), b.open_danger()) else { panic!("sums") };
        assert!(a.products.is_empty(), "nothing but sums");
        let r = i64::from(reach);
        let moved: Vec<i64> = a.stratum_sums.iter().zip(&b.stratum_sums).map(|(x, y)| x - y).collect();
        let strata_moved = moved.chunks(d).filter(|sums| sums.iter().any(|&x| x != 0)).count();
        assert!(strata_moved <= 2);
        let counts: Vec<i64> = a.stratum_rows.iter().zip(&b.stratum_rows).map(|(x, y)| x - y).collect();
        let total = |counts: &[i64]| counts.iter().map(|c| c.abs()).sum::<i64>();
        assert!(total(&counts) <= 2 && counts.iter().sum::<i64>() == 0);
        let stays = total(&counts) == 0;
        for &x in &moved {
            assert!(x.abs() <= if stays { 2 * r } else { r });
        }
        for _ in 0..4 {
            let code: Vec<i64> =
                (0..strata).map(|_| [-most, most, stream.below(1025) as i64][stream.below(3) as usize]).collect();
            for j in 0..d {
                let contrast: i64 = (0..strata).map(|s| code[s] * moved[s * d + j]).sum();
                assert!(contrast.abs() <= 2 * most * r);
                if r > 0 {
                    furthest = furthest.max(contrast.abs() as f64 / (2 * most * r) as f64);
                }
            }
        }
    }
    assert!(furthest > 0.99, "the bound is attained: {furthest}");
}

/// A tree in which every fork but the last has a leaf on one side.
fn chain(width: usize, stream: &mut Stream) -> Forks {
    let count = stream.below(20) as i32;
    let fork = |i: i32| {
        let next = if i + 1 < count { i + 1 } else { -1 - count };
        let (below, above) = if stream.below(2) == 0 { (-1 - i, next) } else { (next, -1 - i) };
        Fork { at: stream.below(width as u64) as u32, edge: stream.bits() as u16, below, above }
    };
    let forks = Forks { forks: (0..count).map(fork).collect() };
    assert!(forks.fit(width));
    forks
}

/// Some sites at random places, in groups of up to three.
fn sites(width: usize, strata: usize, stream: &mut Stream) -> Sites {
    let mut places =
        |count: usize| -> Vec<i16> { (0..count * width).map(|_| stream.below(1 << grid_bits(width)) as i16).collect() };
    let mut groups: Vec<Group> =
        (0..6).map(|i| Group { stratum: (i % strata) as u32, middle: places(1), sites: places(1 + i % 3) }).collect();
    groups.sort_by_key(|group| group.stratum);
    Sites { axes: vec![Axis { low: 0, times: 1 << (SITE_FRACTION - 4) }; width], groups }
}

/// Marginals, labels and sites: in every histogram one unit leaves one cell and one enters another, or nothing moves.
#[test]
fn histograms_move_one_unit_each() {
    let mut moved = 0;
    for (number, pair) in neighbours().into_iter().enumerate() {
        let (d, n) = (pair.width, pair.here.len() as u64);
        let mut stream = Stream::new(number as u64, 82, 0);
        let mut edges: Vec<u16> = (0..stream.below(40)).map(|_| stream.bits() as u16).collect();
        edges.sort_unstable();
        edges.dedup();
        let at = stream.below(d as u64) as usize;
        let histograms = vec![
            Histogram::Line { at, edges, absence: at + 1 < d },
            Histogram::Line { at: 0, edges: vec![1, Q], absence: false },
            Histogram::Hot { at, len: d - at },
            Histogram::Tree(chain(d, &mut stream)),
            Histogram::Sites(sites(d, pair.strata, &mut stream)),
        ];
        let sizes: Vec<usize> = histograms.iter().map(|h| h.size(pair.strata)).collect();
        let [a, b] = pair.tallies(Work::Marginals(Marginals { histograms }));
        let (Opened::Cells(a), Opened::Cells(b)) = (a.open_danger(), b.open_danger()) else { panic!("counts") };
        let mut start = 0;
        for size in sizes {
            let (a, b) = (&a.leaves[start..start + size], &b.leaves[start..start + size]);
            start += size;
            assert_eq!((a.iter().sum::<u64>(), b.iter().sum::<u64>()), (n, n), "every row once in every histogram");
            let mut changes: Vec<i64> =
                a.iter().zip(b).map(|(x, y)| *x as i64 - *y as i64).filter(|&c| c != 0).collect();
            changes.sort_unstable();
            assert!(changes.is_empty() || changes == [-1, 1], "{changes:?}");
            moved += usize::from(!changes.is_empty());
        }
        assert_eq!(start, a.leaves.len());
    }
    assert!(moved > 300, "the test sees rows that move: {moved}");
}

/// Cells: the number of rows stays, one unit leaves one leaf and one enters another (or the row stays in its leaf).
#[test]
fn one_unit_leaves_one_cell_and_one_enters_another() {
    let mut moved = 0;
    for (number, pair) in neighbours().into_iter().enumerate() {
        let method = [Method::Default, Method::Paper, Method::Cube][number % 3];
        // The cells of a real fit of the first table: public, so the same cells count the second one.
        let schema = schema(pair.width, pair.strata);
        let (count, codes) = (pair.here.len() as u64, table(pair.width, &pair.here));
        let begun = Plan { texture: false, ..plan(method) };
        let kernel = Kernel::seeded(number as u64);
        let mut fit = Fit::begin_with_danger_kernel(&schema, begun, promise("20", None), count, kernel).unwrap();
        while let Some(pass) = fit.next_pass() {
            if let Work::Cells(cells) = &pass.work {
                let [a, b] = pair.tallies(Work::Cells(cells.clone()));
                let (Opened::Cells(a), Opened::Cells(b)) = (a.open_danger(), b.open_danger()) else { panic!("cells") };
                let total = |leaves: &[u64]| leaves.iter().sum::<u64>();
                assert_eq!((total(&a.leaves), total(&b.leaves)), (count, count), "every row is counted once");
                let mut changes: Vec<i64> =
                    a.leaves.iter().zip(&b.leaves).map(|(x, y)| *x as i64 - *y as i64).filter(|&c| c != 0).collect();
                changes.sort_unstable();
                assert!(changes.is_empty() || changes == [-1, 1], "{changes:?}");
                moved += usize::from(!changes.is_empty());
            }
            fit.absorb(pass.tally(&codes)).unwrap();
        }
    }
    assert!(moved > 100, "the test sees rows that move: {moved}");
}
