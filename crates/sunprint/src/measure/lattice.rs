//! PSMM: a lattice over the box, and the measure on it that is nearest to noisy counts (the paper's Algorithm 5).
//!
//! Proof: docs/proofs.md, Lemma 21.
//!
//! Counts plus noise are a signed measure. The nearest probability measure, in the distance that moves mass along the
//! lattice, is a minimum-cost flow ([`crate::math::lattice`]): cells with negative counts are filled from their
//! neighbourhood. If ν is the noisy measure, μ the true one and τ the nearest, then the distance of τ to μ is at most
//! twice that of ν to μ, since τ is no farther from ν than μ is.

use super::allocation::Allocation;
use super::consistency::occupied;
use super::partition::Side;
use super::shape::{Geometry, LatticeMeasure, Measure, StratumLattice};
use crate::error::Result;
use crate::math::lattice::{Lattice, MOST_SIDES};
use crate::math::rounding::nearest_split;
use crate::math::transport::Metric;
use crate::privacy::{LatticeLaws, LatticeShares, Privacy, StratumCells};

/// The lattices of all strata, and how the charge is divided.
#[derive(Clone, Debug)]
pub struct LatticePlan {
    /// Where each stratum's cells are.
    pub strata: Vec<Geometry>,
    /// The weights of the two levels.
    pub shares: LatticeShares,
    /// How the distance between cells is counted.
    pub metric: Metric,
}

/// Parts of the charge: the whole, and what the strata's own counts get if there is more than one.
const WHOLE: u64 = 1_000;
const STRATA: u64 = 100;

/// Never more cells, over all strata.
const MOST_CELLS: f64 = 1_048_576.0;
/// Never more cells times the deviation of their noise, over the rows. Beyond that the counts are noise and little else,
/// mass has to be carried across the whole lattice, and the time grows with the square of the cells.
const MOST_NOISE: f64 = 22.0;
/// So many cells are quickly solved whatever the noise.
const FEW_CELLS: f64 = 1_024.0;
/// Never more cells times moves: the flow looks along every move of every cell.
const MOST_MOVES: f64 = 268_435_456.0;

/// Where nobody asks for a side: never more cells, over all strata. They are solved in about a second, and more of them
/// make the measure hardly better (docs/mechanisms.md).
const ENOUGH_CELLS: f64 = 131_072.0;

/// Noisy counts beyond this are cut off, so that their sums stay inside 64 bits: post-processing.
const LARGEST_COUNT: i64 = 1 << 38;

impl Allocation {
    /// The ε of Laplace noise of the same deviation: `Lap_Z(2/ε)` has `√8/ε`, the Gaussian `1/√ρ`.
    fn laplace_epsilon(&self) -> f64 {
        match self.privacy {
            Privacy::Pure => self.amount,
            Privacy::Concentrated => 8.0_f64.sqrt() * self.amount.sqrt(),
        }
    }

    /// εn for the rows of one stratum of many equal ones.
    pub fn scaled_rows_of_a_stratum(&self) -> f64 {
        self.scaled_rows() / self.strata.max(1) as f64
    }

    /// εn.
    pub fn scaled_rows(&self) -> f64 {
        self.laplace_epsilon() * self.rows
    }

    /// The part of the amount that the cells get.
    fn cell_fraction(&self) -> f64 {
        if self.strata > 1 { (WHOLE - STRATA) as f64 / WHOLE as f64 } else { 1.0 }
    }

    /// How many cells a lattice may have for so many rows, as one of the strata's.
    pub fn most_cells(&self, rows: f64) -> f64 {
        let strata = self.strata.max(1) as f64;
        let sensible = MOST_NOISE / 8.0_f64.sqrt() * self.cells_for(rows, 1.0);
        sensible.max(FEW_CELLS.min(64.0 * FEW_CELLS / strata)).min(MOST_CELLS / strata)
    }

    /// How many cells so many rows are shared among if each gets `rows_per_cell`/ε of them on average.
    pub fn cells_for(&self, rows: f64, rows_per_cell: f64) -> f64 {
        let epsilon = match self.privacy {
            Privacy::Pure => self.laplace_epsilon() * self.cell_fraction(),
            Privacy::Concentrated => self.laplace_epsilon() * self.cell_fraction().sqrt(),
        };
        (epsilon * rows / rows_per_cell).max(1.0)
    }
}

impl LatticePlan {
    /// A guess of how long the nearest measure takes to find, in seconds: noise puts up to half of the cells below 0.
    pub fn seconds(&self) -> f64 {
        let lattices = self.strata.iter().filter_map(|geometry| Lattice::new(&geometry.shape, self.metric).ok());
        lattices.map(|lattice| lattice.estimate(lattice.cells() / 2)).sum()
    }

    /// In words, for the receipt: how many cells, of which side, and how far distances along moves may be off.
    pub fn describe(&self) -> String {
        let sizes = || self.shares.sizes.iter().copied();
        let (least, most) = (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0));
        let largest = self.strata.iter().max_by(|a, b| a.size().total_cmp(&b.size()));
        let shape: Vec<u32> = largest.map_or(Vec::new(), |geometry| geometry.shape.clone());
        let sides = shape.iter().map(u32::to_string).collect::<Vec<_>>().join(" × ");
        let cells = if least == most {
            format!("a lattice of {sides} cells")
        } else {
            format!("lattices of {least} to {most} cells")
        };
        let widths = || self.strata.iter().map(|geometry| geometry.cell);
        let (fine, coarse) = (widths().fold(f64::INFINITY, f64::min), widths().fold(0.0, f64::max));
        let side = if fine == coarse { format!("{coarse:.4}") } else { format!("{fine:.4} to {coarse:.4}") };
        let long: Vec<u32> = shape.into_iter().filter(|&cells| cells > 1).collect();
        let factor = Lattice::new(&long, self.metric).map_or(1.0, |lattice| lattice.factor());
        let exact = if factor > 1.0 {
            format!("distance {} counted along moves, at most {factor:.3} times too long", self.metric.name())
        } else {
            format!("distance {}, exact between cells", self.metric.name())
        };
        format!("PSMM: {cells} of side {side}, {exact}")
    }
}

/// The moves from a cell inside the lattice; sides of one cell allow none.
fn moves(geometry: &Geometry, metric: Metric) -> f64 {
    let long = geometry.shape.iter().filter(|&&cells| cells > 1).count() as i32;
    let along = f64::from(long);
    match metric {
        Metric::Manhattan => 2.0 * along,
        Metric::Euclidean if long > 4 => 2.0 * along * along,
        Metric::Largest | Metric::Euclidean => 3.0_f64.powi(long) - 1.0,
    }
}

/// Whether a lattice is small enough to be solved: at most `most` cells, and not too many moves.
pub fn solvable(geometry: &Geometry, metric: Metric, most: f64) -> bool {
    let long = geometry.shape.iter().filter(|&&cells| cells > 1).count();
    let size = geometry.size();
    long <= MOST_SIDES && size <= most && size * moves(geometry, metric) <= MOST_MOVES
}

/// The finest lattice of cubes over the box that can be solved with at most `most` cells.
///
/// The number of cells falls as their side grows, so bisection finds the side; there it fits a side of the box exactly.
pub fn finest(sides: &[Side], most: f64, metric: Metric) -> Geometry {
    let mut high = sides.iter().fold(0.0_f64, |widest, side| widest.max(side.width));
    let mut low = high * 1e-7;
    for _ in 0..60 {
        let middle = (low * high).sqrt();
        if solvable(&Geometry::new(sides, middle), metric, most.max(1.0)) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Geometry::new(sides, high)
}

/// Lattices by the number of rows that each stratum is estimated to have.
pub fn plan_lattice(
    sides: &[Side],
    allocation: &Allocation,
    stratum_rows: &[f64],
    rows_per_cell: f64,
    metric: Metric,
) -> LatticePlan {
    let enough = ENOUGH_CELLS / stratum_rows.len().max(1) as f64;
    let most = |rows: f64| allocation.cells_for(rows, rows_per_cell).min(allocation.most_cells(rows)).min(enough);
    let lattice = |&rows: &f64| finest(sides, most(rows), metric);
    with_shares(stratum_rows.iter().map(lattice).collect(), metric)
}

/// The same lattice in every stratum.
pub fn with_shares(strata: Vec<Geometry>, metric: Metric) -> LatticePlan {
    let root = if strata.len() > 1 { STRATA } else { 0 };
    let sizes = strata.iter().map(|geometry| geometry.size() as usize).collect();
    LatticePlan { strata, shares: LatticeShares { total: WHOLE, root, cells: WHOLE - root, sizes }, metric }
}

/// The measure nearest to released counts. `watch` hears how much of the missing mass has been found, and how much there is
/// to find.
pub fn nearest_measure(
    counts: &[StratumCells],
    laws: &LatticeLaws,
    plan: &LatticePlan,
    rows: u64,
    watch: &dyn Fn(u64, u64),
) -> Result<Measure> {
    let cell = laws.cells.variance();
    let root = laws.root.map_or(cell, |law| law.variance());
    let totals = stratum_totals(counts, root, cell, rows);
    let problems: Vec<Problem> = counts
        .iter()
        .zip(&plan.strata)
        .zip(&totals)
        .map(|((stratum, geometry), &total)| Problem::new(&stratum.cells, geometry, total, cell.sqrt()))
        .collect();
    let whole: u64 = problems.iter().map(Problem::missing).sum();
    let mut before = 0;
    let mut lattices = Vec::with_capacity(counts.len());
    for problem in problems {
        let measure = problem.solve(plan.metric, &|served| watch(before + served, whole))?;
        before += problem.missing();
        watch(before, whole);
        lattices.push(StratumLattice { geometry: problem.geometry, leaves: occupied(measure) });
    }
    Ok(Measure::Lattice(LatticeMeasure { lattices }))
}

/// What one stratum's flow is about.
struct Problem {
    geometry: Geometry,
    supplies: Vec<i64>,
    total: u64,
}

impl Problem {
    /// Counts with noise of a deviation, joined with their neighbours as long as they are too noisy to be told apart: a
    /// stratum may have turned out to hold far fewer rows than its lattice was made for.
    fn new(counts: &[i64], geometry: &Geometry, total: u64, deviation: f64) -> Problem {
        let cut = |&count: &i64| count.clamp(-LARGEST_COUNT, LARGEST_COUNT);
        let (mut counts, mut geometry, mut deviation) =
            (counts.iter().map(cut).collect::<Vec<_>>(), geometry.clone(), deviation);
        while counts.len() as f64 > FEW_CELLS && counts.len() as f64 * deviation > MOST_NOISE * (total + 1) as f64 {
            let many = counts.len() as f64;
            (counts, geometry) = joined(&counts, &geometry);
            deviation *= (many / counts.len() as f64).sqrt();
        }
        Problem { supplies: levelled(counts, total), geometry, total }
    }

    /// The mass that is to be found.
    fn missing(&self) -> u64 {
        self.supplies.iter().filter(|&&supply| supply < 0).map(|supply| supply.unsigned_abs()).sum()
    }

    fn solve(&self, metric: Metric, progress: &dyn Fn(u64)) -> Result<Vec<u64>> {
        // A side of one cell has no moves: without it the cells have the same numbers.
        let shape: Vec<u32> = self.geometry.shape.iter().copied().filter(|&cells| cells > 1).collect();
        if shape.is_empty() {
            return Ok(vec![self.total]);
        }
        // On a line all distances agree, and steps of cost 1 are the quickest.
        let metric = if shape.len() == 1 { Metric::Largest } else { metric };
        Ok(Lattice::new(&shape, metric)?.nearest(&self.supplies, self.total, progress).measure)
    }
}

/// Cells of twice the side: each holds two neighbours along every coordinate, or the last one alone.
fn joined(counts: &[i64], geometry: &Geometry) -> (Vec<i64>, Geometry) {
    let shape: Vec<u32> = geometry.shape.iter().map(|cells| cells.div_ceil(2)).collect();
    let mut sums = vec![0_i64; shape.iter().map(|&cells| cells as usize).product()];
    for (index, &count) in counts.iter().enumerate() {
        let (mut rest, mut stride, mut at) = (index, 1, 0);
        for (&fine, &coarse) in geometry.shape.iter().zip(&shape).rev() {
            at += rest % fine as usize / 2 * stride;
            (rest, stride) = (rest / fine as usize, stride * coarse as usize);
        }
        sums[at] += count;
    }
    (sums, Geometry { cell: 2.0 * geometry.cell, lows: geometry.lows.clone(), shape })
}

/// How many rows each stratum gets: its own noisy count and the sum of its noisy cells, weighed by their variances, then
/// the nearest integers that add up to n.
fn stratum_totals(counts: &[StratumCells], root: f64, cell: f64, rows: u64) -> Vec<u64> {
    let (values, variances): (Vec<f64>, Vec<f64>) = counts
        .iter()
        .map(|stratum| {
            let sum = stratum.cells.iter().map(|&count| count as f64).sum::<f64>();
            let loose = cell * stratum.cells.len() as f64;
            match stratum.root {
                None => (sum, loose),
                Some(own) => {
                    let (a, b) = (1.0 / root, 1.0 / loose);
                    ((own as f64 * a + sum * b) / (a + b), 1.0 / (a + b))
                }
            }
        })
        .unzip();
    nearest_split(rows, &values, &variances)
}

/// Shifts all counts alike so that their sum is as near to `total` as whole steps allow: the least-squares correction
/// for a known sum. What is left, less than half a unit for each cell, is the bank's.
fn levelled(counts: Vec<i64>, total: u64) -> Vec<i64> {
    let over = i128::from(total) - counts.iter().map(|&count| i128::from(count)).sum::<i128>();
    let many = counts.len().max(1) as i128;
    let step = (2 * over + many).div_euclid(2 * many);
    // No larger than the largest count and total: inside an i64, and so are all sums over a million cells.
    counts.into_iter().map(|count| count + step as i64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::{Law, Ratio};
    use proptest::prelude::*;

    fn sides(widths: &[f64]) -> Vec<Side> {
        widths.iter().map(|&width| Side { low: -0.5, width }).collect()
    }

    /// Those of ε = 1.
    fn laws() -> LatticeLaws {
        let part = |ten: u128| Law::Laplace { scale: Ratio::new(20, ten).unwrap() };
        LatticeLaws { root: Some(part(1)), cells: part(9) }
    }

    proptest! {
        #[test]
        fn the_finest_lattice_has_no_more_cells_than_allowed(widths in prop::collection::vec(1e-6_f64..40.0, 1..9), most in 1.0_f64..1e5,
                                                             metric in prop::sample::select(vec![Metric::Euclidean, Metric::Largest, Metric::Manhattan])) {
            let sides = sides(&widths);
            let geometry = finest(&sides, most, metric);
            prop_assert!(solvable(&geometry, metric, most));
            // A slightly finer one would be too fine, unless the sides are hairs.
            let finer = Geometry::new(&sides, geometry.cell * 0.999);
            prop_assert!(!solvable(&finer, metric, most) || geometry.cell < 1e-5 * widths.iter().fold(0.0, |m: f64, &w| m.max(w)));
        }

        #[test]
        fn levelled_counts_miss_the_total_by_less_than_half_a_row_a_cell(cells in prop::collection::vec(-50_i64..200, 1..40), total in 0_u64..5000) {
            let many = cells.len() as i64;
            let sum: i64 = levelled(cells, total).iter().sum();
            prop_assert!(2 * (total as i64 - sum).abs() <= many);
        }
    }

    #[test]
    fn strata_share_exactly_n_rows() {
        let stratum = |root: i64, cells: Vec<i64>| StratumCells { root: Some(root), cells };
        let counts = [stratum(60, vec![50, -3, 12]), stratum(-5, vec![1, 0]), stratum(44, vec![40])];
        let strata = [3.0, 2.0, 1.0].map(|width| Geometry::new(&sides(&[width]), 1.0)).to_vec();
        let plan = with_shares(strata, Metric::Euclidean);
        let measure = nearest_measure(&counts, &laws(), &plan, 100, &|_, _| {}).unwrap();
        let rows = |stratum: usize| measure.leaves(stratum).iter().map(|leaf| leaf.1).sum::<u64>();
        assert_eq!((0..3).map(rows).sum::<u64>(), 100);
        assert!(rows(1) < 10 && rows(0) > rows(2));
        assert_eq!(measure.check(3, 1), Ok(100));
    }

    #[test]
    fn a_measure_without_noise_is_itself() {
        let counts = [StratumCells { root: None, cells: vec![3, 0, 9, 1, 0, 7] }];
        let plan = with_shares(vec![Geometry::new(&sides(&[3.0, 2.0]), 1.0)], Metric::Largest);
        let measure = nearest_measure(&counts, &laws(), &plan, 20, &|_, _| {}).unwrap();
        assert_eq!(measure.leaves(0), [(0, 3), (2, 9), (3, 1), (5, 7)]);
    }

    /// Pure noise on a fine lattice, of any size: it is joined until it can be solved quickly, and n rows come out.
    #[test]
    fn counts_that_are_all_noise_are_joined() {
        let sides = sides(&[1.0, 1.0, 0.01]);
        let geometry = Geometry::new(&sides, 0.002);
        let mut dice = crate::math::stream::Stream::new(1, 0, 0);
        for scale in [10_i64, 1 << 37, i64::MAX / 4] {
            let mut noise = || (dice.below(2 * scale as u64) as i64) - scale;
            let cells: Vec<i64> = (0..geometry.size() as usize).map(|_| noise()).collect();
            let problem = Problem::new(&cells, &geometry, 7, scale as f64);
            assert!(problem.geometry.size() <= FEW_CELLS && problem.supplies.len() as f64 == problem.geometry.size());
            let measure = problem.solve(Metric::Euclidean, &|_| {}).unwrap();
            assert_eq!(measure.iter().sum::<u64>(), 7);
            let volume: f64 = (0..measure.len() as u64)
                .map(|i| problem.geometry.cell(i, &sides).iter().map(|side| side.width).product::<f64>())
                .sum();
            assert!((volume - 0.01).abs() < 1e-12, "the joined cells tile the box");
        }
    }

    #[test]
    fn joined_cells_hold_what_their_parts_held() {
        let geometry = Geometry::new(&sides(&[3.0, 2.0]), 1.0);
        let (sums, coarse) = joined(&[1, 2, 4, 8, 16, 32], &geometry);
        assert_eq!((sums, coarse.shape), (vec![15, 48], vec![2, 1]));
    }
}
