//! Every stage on its own, with the whole budget: the tally of the real pass, then the kernel's mechanism.
//!
//! The auditor knows both tables, so the statistic of each stage is its log likelihood ratio, or what grows with it: the
//! most telling number there is (Neyman and Pearson). For the moments it is the inner product with the difference of
//! the two Gram matrices, which shows about two thirds of the loss: the density attains its bound in the far tails only.

use super::tables::{Neighbours, Purse};
use super::values::{contrasts, labels, marginals};
use super::{Claim, Side, Trial};
use sunprint::privacy::{Kernel, LatticeShares, PathTree, Ratio, Sensitive, StratumCounts};
use sunprint::subspace::{MomentLayout, assemble};
use sunprint::tally::codes::Q;
use sunprint::tally::{
    Cells, ClippedMoments, Coordinates, Grid, GridSide, Opened, Place, Sums, Tally, Work, packed_index,
};

/// What a stage claims, and what it is really given: more than it claims where it is broken on purpose.
#[derive(Clone, Copy)]
pub struct Terms {
    epsilon: &'static str,
    delta: Option<&'static str>,
    overspend: (u128, u128),
}

impl Terms {
    /// Given what it claims.
    pub const fn honest(epsilon: &'static str, delta: Option<&'static str>) -> Terms {
        Terms { epsilon, delta, overspend: (1, 1) }
    }

    /// Given more: noise of 0.7 of its width is an ε of 10/7; half the width, a ρ of 4.
    pub const fn overspent(epsilon: &'static str, delta: Option<&'static str>, overspend: (u128, u128)) -> Terms {
        Terms { epsilon, delta, overspend }
    }

    pub(super) fn purse(&self) -> Purse {
        let mut purse = Purse::new(self.epsilon, self.delta);
        let more = Ratio::new(self.overspend.0, self.overspend.1).and_then(|by| purse.amount.checked_mul(by));
        purse.amount = more.expect("the audit's own numbers are short");
        purse
    }

    pub(super) fn pure(&self) -> bool {
        self.delta.is_none()
    }

    /// What is claimed.
    pub fn claim(&self) -> Claim {
        let number = |text: &str| text.parse().unwrap_or(f64::NAN);
        Claim { epsilon: number(self.epsilon), delta: self.delta.map_or(0.0, number) }
    }

    pub(super) fn name(&self, stage: &str, pair: &Neighbours) -> String {
        let noise = if self.pure() { "pure" } else { "with δ" };
        format!("{stage}, {noise}, {}", pair.name)
    }
}

/// Runs of the quick mechanisms.
pub const QUICK: u64 = 12_000;
/// Runs of the moments, whose likelier events are the less telling ones.
pub const MANY: u64 = 30_000;
/// Without δ.
pub const PURE: Terms = Terms::honest("1", None);
/// With a δ that can be seen in tens of thousands of runs.
pub const WITH_DELTA: Terms = Terms::honest("1", Some("0.001"));

/// Every stage on its worst neighbours.
pub fn all() -> Vec<Trial> {
    let mut trials = Vec::new();
    let span = u64::from(Q);
    for terms in [PURE, WITH_DELTA] {
        trials.push(centre(Neighbours::all_equal(), terms, span));
        trials.push(centre(Neighbours::opposite_corners(), terms, span));
        trials.push(spread(terms, 1));
        trials.push(moments(Neighbours::next_corners(), moment_terms(terms), 1));
        trials.push(measure(Neighbours::opposite_corners(), terms));
        trials.push(measure(Neighbours::all_equal(), terms));
        trials.push(measure(Neighbours::one_row_strata(), terms));
        trials.push(lattice(Neighbours::opposite_corners(), terms));
        trials.push(lattice(Neighbours::one_row_strata(), terms));
        trials.push(covariance(Neighbours::all_equal(), terms));
        trials.push(mean(Neighbours::all_equal(), terms));
        trials.push(contrasts(Neighbours::within_a_stratum(), terms, 1));
        trials.push(contrasts(Neighbours::one_row_strata(), terms, 1));
        trials.push(marginals(Neighbours::opposite_corners(), terms, 2));
        trials.push(marginals(Neighbours::corners_of_strata(), terms, 2));
        trials.push(labels(Neighbours::opposite_corners(), terms));
        trials.push(labels(Neighbours::one_row_strata(), terms));
    }
    trials.push(contrasts(Neighbours::between_strata(), PURE, 1));
    trials.push(contrasts(Neighbours::corners_of_strata(), PURE, 1));
    trials.push(contrasts(Neighbours::all_equal_in_strata(), PURE, 1));
    trials.push(marginals(Neighbours::all_equal(), PURE, 2));
    trials.push(marginals(Neighbours::one_row_strata(), PURE, 2));
    trials.push(moments(Neighbours::one_row_strata(), moment_terms(PURE), 1));
    trials.push(moments(Neighbours::opposite_corners(), moment_terms(PURE), 1));
    trials
}

/// The moments are audited at ε = 3: their loss is reached in the tails, which a larger ε brings nearer.
pub fn moment_terms(terms: Terms) -> Terms {
    Terms { epsilon: "3", ..terms }
}

fn sums(tally: &Tally) -> (Vec<i64>, i128) {
    match tally.open_danger() {
        Opened::Sums(t) => (t.sums.clone(), t.square),
        _ => unreachable!("a pass of sums"),
    }
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
    let exact = pair.tallies(&all_sums(&pair)).map(|tally| sums(&tally).0);
    cube(terms.name("centre", &pair), exact, terms, span)
}

/// Sums by the cube mechanism; `span` is what a sum is said to move by.
pub(super) fn cube(name: String, exact: [Vec<i64>; 2], terms: Terms, span: u64) -> Trial {
    let purse = terms.purse();
    let run = move |seed: u64, side: Side| {
        let mut kernel = Kernel::seeded(seed);
        let input = Sensitive::new(pick(&exact, side));
        let noisy = kernel.cube_sums("sums", input, span, purse.charge()).expect("a charge").into_inner();
        let away = |from: &[i64]| noisy.iter().zip(from).map(|(z, s)| (z - s).abs()).max().unwrap_or(0) as f64;
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
    Trial { name, claim: terms.claim(), runs: QUICK, run: Box::new(run) }
}

/// The total square; its sensitivity is divided by `part`.
pub fn spread(terms: Terms, part: u128) -> Trial {
    let pair = Neighbours::middle_to_corner();
    let name = terms.name("spread", &pair);
    let sensitivity = pair.width as u128 * u128::from(Q) * u128::from(Q) / part;
    let exact = pair.tallies(&all_sums(&pair)).map(|tally| sums(&tally).1);
    let purse = terms.purse();
    let run = move |seed: u64, side: Side| {
        let input = Sensitive::new(pick(&exact, side));
        let noisy = Kernel::seeded(seed).scalar("spread", input, sensitivity, purse.charge()).expect("a charge");
        vec![(noisy.into_inner() - exact[0]) as f64]
    };
    Trial { name, claim: terms.claim(), runs: QUICK, run: Box::new(run) }
}

/// Clipped moments; the squared norm of a row is divided by `part`.
pub fn moments(pair: Neighbours, terms: Terms, part: u64) -> Trial {
    let name = terms.name("moments", &pair);
    // A released centre in the middle and a small radius: every other row is clipped to the whole norm.
    let spec = ClippedMoments { centre: vec![32_768; pair.width], radius: 1000, plane: None };
    let layout = MomentLayout::new(pair.width, pair.strata);
    let exact = pair.tallies(&Work::Moments(spec)).map(|tally| match tally.open_danger() {
        Opened::Moments(t) => assemble(t, tally.rows(), layout),
        _ => unreachable!("a pass of moments"),
    });
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
    let run = move |seed: u64, side: Side| {
        let (input, bound) = (Sensitive::new(pick(&exact, side)), layout.row_norm_squared() / part);
        let noisy = Kernel::seeded(seed).moments("moments", input, order, bound, purse.charge()).expect("a charge");
        let lower = noisy.into_inner().lower;
        vec![lower.iter().zip(&direction).map(|(&z, d)| z as f64 * d).sum()]
    };
    Trial { name, claim: terms.claim(), runs: MANY, run: Box::new(run) }
}

/// Cell counts over four cuts of the square, in every stratum.
pub fn measure(pair: Neighbours, terms: Terms) -> Trial {
    let name = terms.name("measure", &pair);
    let (root, levels) = if pair.strata > 1 { (200, vec![100, 150, 250, 300]) } else { (0, vec![100, 200, 300, 400]) };
    let tree = PathTree { total: 1000, root, strata: vec![levels; pair.strata] };
    let leaves = leaves(&pair, 4);
    let purse = terms.purse();
    let exact = [Side::Here, Side::There].map(|side| counts(&mut Kernel::quiet(), &tree, &leaves, side, purse));
    let run = move |seed: u64, side: Side| {
        let noisy = counts(&mut Kernel::seeded(seed), &tree, &leaves, side, purse);
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
    Trial { name, claim: terms.claim(), runs: QUICK, run: Box::new(run) }
}

/// Counts in the sixteen cells of a lattice on the square, in every stratum.
pub fn lattice(pair: Neighbours, terms: Terms) -> Trial {
    let name = terms.name("lattice", &pair);
    let root = if pair.strata > 1 { 100 } else { 0 };
    let shares = LatticeShares { total: 1000, root, cells: 1000 - root, sizes: vec![16; pair.strata] };
    let exact = lattice_cells(&pair);
    let purse = terms.purse();
    let run = move |seed: u64, side: Side| {
        let input = Sensitive::new(pick(&exact, side));
        let noisy = Kernel::seeded(seed).lattice_counts("measure", &shares, input, purse.charge());
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
    Trial { name, claim: terms.claim(), runs: QUICK, run: Box::new(run) }
}

/// The cells of a lattice over the first two columns, four along each, for both tables.
fn lattice_cells(pair: &Neighbours) -> [Vec<u64>; 2] {
    let unit = |j: usize| (0..pair.width).map(|i| if i == j { 1 << 30 } else { 0 }).collect();
    let side = GridSide { place: Place { low: 0, step: 1 << 44 }, cells: 4 };
    let strata = vec![vec![side; 2]; pair.strata];
    let grid = Grid { centre: vec![0; pair.width], vectors: vec![unit(0), unit(1)], strata };
    pair.tallies(&Work::Grid(grid)).map(|tally| match tally.open_danger() {
        Opened::Cells(t) => t.leaves.clone(),
        _ => unreachable!("a pass of cells"),
    })
}

/// The leaves of `depth` cuts of the columns in turn, for both tables.
pub fn leaves(pair: &Neighbours, depth: u8) -> [Vec<u64>; 2] {
    let cuts = (0..depth).map(|cut| u16::from(cut) % pair.width as u16).collect();
    let cells = Cells { coordinates: Coordinates::Columns, cuts, depths: vec![depth; pair.strata] };
    pair.tallies(&Work::Cells(cells)).map(|tally| match tally.open_danger() {
        Opened::Cells(t) => t.leaves.clone(),
        _ => unreachable!("a pass of cells"),
    })
}

fn counts(
    kernel: &mut Kernel,
    tree: &PathTree,
    leaves: &[Vec<u64>; 2],
    side: Side,
    purse: Purse,
) -> Vec<StratumCounts> {
    let input = Sensitive::new(pick(leaves, side));
    kernel.path_counts("measure", tree, input, purse.charge()).expect("a charge").into_inner()
}

/// The paper's covariance: entries of n² M, each said to move by n Q², with the paper's sixfold noise.
pub fn covariance(pair: Neighbours, terms: Terms) -> Trial {
    let name = terms.name("paper covariance", &pair);
    let (d, n) = (pair.width, 5_i128);
    let exact = pair.tallies(&Work::Products).map(|tally| match tally.open_danger() {
        Opened::Products(t) => {
            let entry = |i: usize, j: usize| {
                n * i128::from(t.products[packed_index(i, j)]) - i128::from(t.sums[i]) * i128::from(t.sums[j])
            };
            (0..d).flat_map(|i| (0..=i).map(move |j| (i, j))).map(|(i, j)| entry(i, j)).collect::<Vec<i128>>()
        }
        _ => unreachable!("a pass of products"),
    });
    let purse = terms.purse();
    let run = move |seed: u64, side: Side| {
        let (input, entry) = (Sensitive::new(pick(&exact, side)), n as u128 * u128::from(Q) * u128::from(Q));
        let noisy = Kernel::seeded(seed).symmetric("covariance", input, d, entry, 6, purse.charge()).expect("a charge");
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
    Trial { name, claim: terms.claim(), runs: QUICK, run: Box::new(run) }
}

/// The paper's mean: each sum said to move by Q.
pub fn mean(pair: Neighbours, terms: Terms) -> Trial {
    let name = terms.name("paper mean", &pair);
    let exact =
        pair.tallies(&all_sums(&pair)).map(|tally| sums(&tally).0.iter().map(|&s| i128::from(s)).collect::<Vec<_>>());
    let purse = terms.purse();
    let run = move |seed: u64, side: Side| {
        let input = Sensitive::new(pick(&exact, side));
        let noisy = Kernel::seeded(seed).vector("mean", input, u128::from(Q), purse.charge()).expect("a charge");
        let each = noisy
            .into_inner()
            .into_iter()
            .zip(&exact[0])
            .zip(&exact[1])
            .map(|((z, &a), &b)| likelihood(terms.pure(), z as f64, a as f64, b as f64));
        vec![each.sum()]
    };
    Trial { name, claim: terms.claim(), runs: QUICK, run: Box::new(run) }
}
