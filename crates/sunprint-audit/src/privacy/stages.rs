//! Every stage on its own, with the whole budget: the tally of the real pass, then the kernel's mechanism.
//!
//! The auditor knows both tables, so the statistic of each stage is its log likelihood ratio, or what grows with it: the
//! most telling number there is (Neyman and Pearson). For the moments it is the inner product with the difference of
//! the two Gram matrices, which shows about two thirds of the loss: the density attains its bound in the far tails only.

use super::tables::{Neighbours, Purse};
use super::values::{contrasts, cubes as strata_cubes, labels, marginals, sites};
use super::{Claim, Epsilons, Noise, Run, Side, Trial, open};
use sunprint::privacy::{Delta, Epsilon, LatticeShares, PathTree, Ratio, Sensitive, StratumCounts};
use sunprint::tally::codes::Q;
use sunprint::tally::{Cells, ClippedMoments, Coordinates, Grid, GridSide, Place, Sums, Work, packed_index};
use sunprint::tally::{MomentLayout, assemble};

/// What a stage claims, and what it is really given: more than it claims where it is broken on purpose.
#[derive(Clone, Copy)]
pub struct Terms {
    epsilon: Epsilon,
    delta: Option<Delta>,
    given: Epsilon,
}

impl Terms {
    /// Given what it claims.
    pub fn honest(epsilon: Epsilon, delta: Option<Delta>) -> Terms {
        Terms { epsilon, delta, given: epsilon }
    }

    /// Given an ε that is larger by a factor: pure noise of 0.7 of its width is an ε of 10/7.
    ///
    /// # Panics
    /// If that is no ε any more.
    pub fn overspent(self, by: (u128, u128)) -> Terms {
        let more = Ratio::new(by.0, by.1).and_then(|by| self.epsilon.ratio().checked_mul(by));
        Terms { given: Epsilon::new(more.expect("a short factor")).expect("an ε within its range"), ..self }
    }

    /// Given the ε, in hundredths, whose ρ is at least so many times as large: half the width of Gaussian noise is a ρ
    /// of 4.
    ///
    /// # Panics
    /// If that is no ε any more.
    pub fn with_rho(self, times: f64) -> Terms {
        let rho = |given: Epsilon| Claim::of(given, self.delta).ok().and_then(|claim| claim.rho).unwrap_or(0.0);
        let whole = rho(self.epsilon);
        let mut terms = (101..1000).map(|percent| self.overspent((percent, 100)));
        terms.find(|terms| rho(terms.given) >= times * whole).expect("an ε of ten times has so much")
    }

    pub(super) fn purse(&self) -> Purse {
        Purse { epsilon: self.given, delta: self.delta }
    }

    pub(super) fn pure(&self) -> bool {
        self.delta.is_none()
    }

    /// What is claimed.
    ///
    /// # Panics
    /// If δ leaves no budget.
    pub fn claim(&self) -> Claim {
        Claim::of(self.epsilon, self.delta).expect("the audit's own numbers leave a budget")
    }

    pub(super) fn name(&self, stage: &str, pair: &Neighbours) -> String {
        self.named(stage, pair.name)
    }

    pub(super) fn named(&self, stage: &str, pair: &str) -> String {
        let noise = if self.pure() { "pure" } else { "with δ" };
        format!("{stage}, {noise}, {pair}")
    }
}

/// Runs of the quick mechanisms.
pub const QUICK: u64 = 20_000;
/// Runs of the moments, whose likelier events are the less telling ones, and of what is tight.
pub const MANY: u64 = 100_000;
/// Runs of the same with δ, whose noise takes longer.
const MANY_WITH_DELTA: u64 = 50_000;

/// A δ that can be seen in tens of thousands of runs.
pub(super) fn visible_delta() -> Delta {
    Delta::new(Ratio::new(1, 1000).expect("a fraction")).expect("a δ within its range")
}

/// Every stage on its worst neighbours.
pub fn all(epsilons: &Epsilons) -> Vec<Trial> {
    let mut trials = Vec::new();
    let span = u64::from(Q);
    let pure = Terms::honest(epsilons.stage, None);
    let of_moments = |terms: Terms| Terms::honest(epsilons.moments, terms.delta);
    for terms in [pure, Terms::honest(epsilons.stage, Some(visible_delta()))] {
        let many = if terms.pure() { MANY } else { MANY_WITH_DELTA };
        let tight = |trial: Trial| Trial { tight: terms.pure(), short: true, runs: many, ..trial };
        let short = |trial: Trial| Trial { short: true, ..trial };
        trials.push(tight(centre(Neighbours::all_equal(), terms, span)));
        trials.push(centre(Neighbours::opposite_corners(), terms, span));
        trials.push(centre(Neighbours::two_identical_rows(), terms, span));
        trials.push(spread(Neighbours::middle_to_corner(), terms, 1));
        trials.push(spread(Neighbours::extreme_row(), terms, 1));
        trials.push(tight(moments_of_order_one(of_moments(terms), true)));
        trials.push(moments_of_order_one(of_moments(terms), false));
        trials.push(moments(Neighbours::next_corners(), of_moments(terms), 1));
        trials.push(moments(Neighbours::extreme_row(), of_moments(terms), 1));
        trials.push(tight(measure(Neighbours::opposite_corners(), terms, &[1000])));
        trials.push(measure(Neighbours::opposite_corners(), terms, &LEVELS));
        trials.push(measure(Neighbours::all_equal(), terms, &LEVELS));
        trials.push(measure(Neighbours::one_row_strata(), terms, &LEVELS));
        trials.push(short(lattice(Neighbours::opposite_corners(), terms)));
        trials.push(lattice(Neighbours::one_row_strata(), terms));
        trials.push(covariance(Neighbours::all_equal(), terms));
        trials.push(mean(Neighbours::all_equal(), terms));
        trials.push(short(contrasts(Neighbours::within_a_stratum(), terms, 1)));
        trials.push(contrasts(Neighbours::one_row_strata(), terms, 1));
        trials.push(tight(strata_cubes(Neighbours::between_strata(), terms, 1)));
        trials.push(strata_cubes(Neighbours::within_a_stratum(), terms, 1));
        trials.push(short(marginals(Neighbours::opposite_corners(), terms, 2)));
        trials.push(marginals(Neighbours::corners_of_strata(), terms, 2));
        trials.push(short(labels(Neighbours::opposite_corners(), terms)));
        trials.push(labels(Neighbours::one_row_strata(), terms));
        trials.push(short(sites(Neighbours::opposite_corners(), terms)));
    }
    trials.push(strata_cubes(Neighbours::one_row_strata(), pure, 1));
    trials.push(contrasts(Neighbours::between_strata(), pure, 1));
    trials.push(contrasts(Neighbours::corners_of_strata(), pure, 1));
    trials.push(contrasts(Neighbours::all_equal_in_strata(), pure, 1));
    trials.push(marginals(Neighbours::all_equal(), pure, 2));
    trials.push(marginals(Neighbours::one_row_strata(), pure, 2));
    trials.push(moments(Neighbours::one_row_strata(), of_moments(pure), 1));
    trials.push(moments(Neighbours::opposite_corners(), of_moments(pure), 1));
    trials
}

pub(super) fn trial(name: String, terms: Terms, runs: u64, run: Run) -> Trial {
    Trial { name, claim: terms.claim(), runs, tight: false, short: false, run }
}

pub(super) fn pick<T: Clone>(pair: &[T; 2], side: Side) -> T {
    pair[side as usize].clone()
}

/// `Σ w (|z − b| − |z − a|)` for Laplace noise, `Σ w z (a − b)` for Gaussian noise: the log likelihood ratio of a against
/// b but for a factor.
pub(super) fn likelihood(pure: bool, z: f64, a: f64, b: f64) -> f64 {
    if pure { (z - b).abs() - (z - a).abs() } else { (z - a) * (a - b) }
}

/// The pass of sums that counts every column.
fn all_sums(pair: &Neighbours) -> Work {
    Work::Sums(Sums { counted: vec![true; pair.width] })
}

/// Column sums; `span` is what a sum is said to move by.
pub fn centre(pair: Neighbours, terms: Terms, span: u64) -> Trial {
    let exact = pair.tallies(&all_sums(&pair)).map(|tally| open::sums(&tally).sums.clone());
    cube(terms.name("centre", &pair), exact, terms, span)
}

/// Sums by the cube mechanism; `span` is what a sum is said to move by.
pub(super) fn cube(name: String, exact: [Vec<i64>; 2], terms: Terms, span: u64) -> Trial {
    cubes(name, exact, 1, terms, span)
}

/// Sums of blocks, each by a cube of its own; `span` is what they are said to move by together.
pub(super) fn cubes(name: String, exact: [Vec<i64>; 2], blocks: usize, terms: Terms, span: u64) -> Trial {
    let purse = terms.purse();
    let width = exact[0].len() / blocks;
    let run = move |noise: Noise, side: Side| {
        let mut kernel = noise.kernel();
        let input = Sensitive::new(pick(&exact, side));
        let noisy = kernel.cube_sums_of_blocks("sums", input, blocks, span, purse.charge()).expect("a charge");
        let noisy = noisy.into_inner();
        let away = |from: &[i64]| -> f64 {
            let blocks = noisy.chunks_exact(width).zip(from.chunks_exact(width));
            let far = |(z, s): (&[i64], &[i64])| z.iter().zip(s).map(|(z, s)| (z - s).abs()).max().unwrap_or(0) as f64;
            blocks.map(far).sum()
        };
        let linear = || {
            noisy
                .iter()
                .zip(&exact[0])
                .zip(&exact[1])
                .map(|((&z, &a), &b)| likelihood(false, z as f64, a as f64, b as f64))
                .sum()
        };
        vec![if terms.pure() { away(&exact[1]) - away(&exact[0]) } else { linear() }]
    };
    trial(name, terms, QUICK, Box::new(run))
}

/// The total square; its sensitivity is divided by `part`.
pub fn spread(pair: Neighbours, terms: Terms, part: u128) -> Trial {
    let name = terms.name("spread", &pair);
    let sensitivity = pair.width as u128 * u128::from(Q) * u128::from(Q) / part;
    let exact = pair.tallies(&all_sums(&pair)).map(|tally| open::sums(&tally).square);
    let purse = terms.purse();
    let run = move |noise: Noise, side: Side| {
        let input = Sensitive::new(pick(&exact, side));
        let noisy = noise.kernel().scalar("spread", input, sensitivity, purse.charge()).expect("a charge");
        vec![(noisy.into_inner() - exact[0]) as f64]
    };
    trial(name, terms, QUICK, Box::new(run))
}

/// Clipped moments; the squared norm of a row is divided by `part`.
pub fn moments(pair: Neighbours, terms: Terms, part: u64) -> Trial {
    let name = terms.name("moments", &pair);
    // A released centre in the middle and a small radius: every other row is clipped to the whole norm.
    let spec = ClippedMoments { centre: vec![32_768; pair.width], radius: 1000, plane: None };
    let layout = MomentLayout::new(pair.width, pair.strata);
    let exact = pair.tallies(&Work::Moments(spec)).map(|tally| assemble(&open::moments(&tally), tally.rows(), layout));
    let order = layout.order();
    let mut direction = vec![0.0; exact[0].len()];
    for i in 0..order {
        for j in 0..=i {
            let at = packed_index(i, j);
            let weight = if i == j { 1.0 } else { 2.0 };
            direction[at] = weight * (exact[0][at] - exact[1][at]) as f64 / layout.row_norm_squared() as f64;
        }
    }
    let purse = terms.purse();
    let run = move |noise: Noise, side: Side| {
        let (input, bound) = (Sensitive::new(pick(&exact, side)), layout.row_norm_squared() / part);
        let noisy = noise.kernel().moments("moments", input, order, bound, purse.charge()).expect("a charge");
        let lower = noisy.into_inner().lower;
        vec![lower.iter().zip(&direction).map(|(&z, d)| z as f64 * d).sum()]
    };
    trial(name, terms, if terms.pure() { MANY } else { MANY_WITH_DELTA }, Box::new(run))
}

/// The shares of four levels, in thousandths.
pub const LEVELS: [u64; 4] = [100, 200, 300, 400];

/// Cell counts over some cuts of the square, in every stratum. Where there are several, a fifth of everything goes to
/// their own counts.
pub fn measure(pair: Neighbours, terms: Terms, levels: &[u64]) -> Trial {
    let name = terms.name(if levels.len() == 1 { "level" } else { "measure" }, &pair);
    let root = if pair.strata > 1 { levels.iter().sum::<u64>() / 4 } else { 0 };
    let total = root + levels.iter().sum::<u64>();
    let tree = PathTree { total, root, strata: vec![levels.to_vec(); pair.strata] };
    let leaves = leaves(&pair, levels.len() as u8);
    let purse = terms.purse();
    let exact = leaves.each_ref().map(|leaves| exact_counts(&tree, leaves));
    let run = move |noise: Noise, side: Side| {
        let input = Sensitive::new(pick(&leaves, side));
        let noisy = noise.kernel().path_counts("measure", &tree, input, purse.charge()).expect("a charge").into_inner();
        let mut ratio = 0.0;
        for (stratum, weights) in tree.strata.iter().enumerate() {
            let mut add = |weight: u64, z: i64, a: i64, b: i64| {
                ratio += weight as f64 * likelihood(terms.pure(), z as f64, a as f64, b as f64);
            };
            let [z, a, b] = [&noisy, &exact[0], &exact[1]].map(|counts| &counts[stratum]);
            if let (Some(z), Some(a), Some(b)) = (z.root, a.root, b.root) {
                add(tree.root, z, a, b);
            }
            for (level, &weight) in weights.iter().enumerate() {
                let level = [z, a, b].map(|counts| &counts.levels[level]);
                (0..level[0].len()).for_each(|i| add(weight, level[0][i], level[1][i], level[2][i]));
            }
        }
        vec![ratio]
    };
    trial(name, terms, QUICK, Box::new(run))
}

/// Counts in the sixteen cells of a lattice on the square, in every stratum.
pub fn lattice(pair: Neighbours, terms: Terms) -> Trial {
    let name = terms.name("lattice", &pair);
    let root = if pair.strata > 1 { 100 } else { 0 };
    let shares = LatticeShares { total: 1000, root, cells: 1000 - root, sizes: vec![16; pair.strata] };
    let exact = lattice_cells(&pair);
    let purse = terms.purse();
    let run = move |noise: Noise, side: Side| {
        let input = Sensitive::new(pick(&exact, side));
        let noisy = noise.kernel().lattice_counts("measure", &shares, input, purse.charge());
        let noisy = noisy.expect("a charge").into_inner();
        let mut ratio = 0.0;
        for (stratum, cells) in noisy.iter().enumerate() {
            let [a, b] = [&exact[0], &exact[1]].map(|cells| &cells[16 * stratum..16 * (stratum + 1)]);
            let mut add = |weight: u64, z: i64, a: u64, b: u64| {
                ratio += weight as f64 * likelihood(terms.pure(), z as f64, a as f64, b as f64);
            };
            if let Some(z) = cells.root {
                add(shares.root, z, a.iter().sum(), b.iter().sum());
            }
            (0..16).for_each(|i| add(shares.cells, cells.cells[i], a[i], b[i]));
        }
        vec![ratio]
    };
    trial(name, terms, QUICK, Box::new(run))
}

/// The cells of a lattice over the first two columns, four along each, for both tables.
fn lattice_cells(pair: &Neighbours) -> [Vec<u64>; 2] {
    let unit = |j: usize| (0..pair.width).map(|i| if i == j { 1 << 30 } else { 0 }).collect();
    let side = GridSide { place: Place { low: 0, step: 1 << 44 }, cells: 4 };
    let strata = vec![vec![side; 2]; pair.strata];
    let grid = Grid { centre: vec![0; pair.width], vectors: vec![unit(0), unit(1)], strata };
    pair.tallies(&Work::Grid(grid)).map(|tally| open::cells(&tally).leaves.clone())
}

/// The leaves of `depth` cuts of the columns in turn, for both tables.
pub fn leaves(pair: &Neighbours, depth: u8) -> [Vec<u64>; 2] {
    let cuts = (0..depth).map(|cut| u16::from(cut) % pair.width as u16).collect();
    let cells = Cells { coordinates: Coordinates::Columns, cuts, depths: vec![depth; pair.strata] };
    pair.tallies(&Work::Cells(cells)).map(|tally| open::cells(&tally).leaves.clone())
}

/// The counts of a tree before there is noise.
fn exact_counts(tree: &PathTree, leaves: &[u64]) -> Vec<StratumCounts> {
    let strata = leaves.chunks_exact(leaves.len() / tree.strata.len());
    let counts = strata.map(|leaves| {
        let mut levels = vec![leaves.iter().map(|&count| count as i64).collect::<Vec<i64>>()];
        while levels[0].len() > 2 {
            levels.insert(0, levels[0].chunks_exact(2).map(|pair| pair[0] + pair[1]).collect());
        }
        StratumCounts { root: (tree.root > 0).then(|| levels[0].iter().sum()), levels }
    });
    counts.collect()
}

/// One entry, the sum of squared lengths. On real rows it moves by at most R, the largest squared length. The mechanism
/// is made for more: for a nuclear norm of 2R, or with δ for a Frobenius norm of √2 R, which two rows at right angles
/// have. `whole` audits that, and there the loss is exactly the claim.
pub fn moments_of_order_one(terms: Terms, whole: bool) -> Trial {
    let bound = MomentLayout::new(1, 1).row_norm_squared();
    let (change, pair) = match (whole, terms.pure()) {
        (false, _) => (bound, "longest row to none"),
        (true, true) => (2 * bound, "the whole nuclear norm"),
        (true, false) => ((2 * bound * bound).isqrt(), "the whole Frobenius norm"),
    };
    let exact = [0, change as i64];
    let purse = terms.purse();
    let run = move |noise: Noise, side: Side| {
        let input = Sensitive::new(vec![pick(&exact, side)]);
        let noisy = noise.kernel().moments("moments", input, 1, bound, purse.charge()).expect("a charge");
        let z = noisy.into_inner().lower[0] as f64;
        vec![likelihood(terms.pure(), z, exact[0] as f64, exact[1] as f64)]
    };
    trial(terms.named("moments of order 1", pair), terms, QUICK, Box::new(run))
}

/// The paper's covariance: entries of n² M, each said to move by n Q², with the paper's sixfold noise.
pub fn covariance(pair: Neighbours, terms: Terms) -> Trial {
    let name = terms.name("paper covariance", &pair);
    let (d, n) = (pair.width, 5_i128);
    let exact = pair.tallies(&Work::Products).map(|tally| {
        let t = open::products(&tally);
        let entry = |i: usize, j: usize| {
            n * i128::from(t.products[packed_index(i, j)]) - i128::from(t.sums[i]) * i128::from(t.sums[j])
        };
        (0..d).flat_map(|i| (0..=i).map(move |j| (i, j))).map(|(i, j)| entry(i, j)).collect::<Vec<i128>>()
    });
    let purse = terms.purse();
    let run = move |noise: Noise, side: Side| {
        let (input, entry) = (Sensitive::new(pick(&exact, side)), n as u128 * u128::from(Q) * u128::from(Q));
        let noisy = noise.kernel().symmetric("covariance", input, d, entry, 6, purse.charge()).expect("a charge");
        let noisy = noisy.into_inner();
        let mut ratio = 0.0;
        for i in 0..d {
            for j in 0..=i {
                let at = packed_index(i, j);
                let weight = if i == j { 0.5 } else { 1.0 };
                ratio += weight * likelihood(terms.pure(), noisy[at] as f64, exact[0][at] as f64, exact[1][at] as f64);
            }
        }
        vec![ratio]
    };
    trial(name, terms, QUICK, Box::new(run))
}

/// The paper's mean: each sum said to move by Q.
pub fn mean(pair: Neighbours, terms: Terms) -> Trial {
    let name = terms.name("paper mean", &pair);
    let exact = pair
        .tallies(&all_sums(&pair))
        .map(|tally| open::sums(&tally).sums.iter().map(|&s| i128::from(s)).collect::<Vec<_>>());
    let purse = terms.purse();
    let run = move |noise: Noise, side: Side| {
        let input = Sensitive::new(pick(&exact, side));
        let noisy = noise.kernel().vector("mean", input, u128::from(Q), purse.charge()).expect("a charge");
        let each = noisy
            .into_inner()
            .into_iter()
            .zip(&exact[0])
            .zip(&exact[1])
            .map(|((z, &a), &b)| likelihood(terms.pure(), z as f64, a as f64, b as f64));
        vec![each.sum()]
    };
    trial(name, terms, QUICK, Box::new(run))
}
