//! Mechanisms that are wrong by themselves, and not only too sparing with their noise.

use super::stages::{self, MANY, QUICK, Terms, likelihood, pick};
use super::tables::Neighbours;
use super::{Noise, Run, Side, Trial, open};
use sunprint::privacy::{Budget, Charge, Epsilon, Kernel, Ratio, Sensitive};
use sunprint::tally::MomentLayout;
use sunprint::tally::codes::Q;
use sunprint::tally::{GRID, Sums, Work, packed_index};

fn trial(name: &str, terms: Terms, runs: u64, run: impl Fn(Noise, Side) -> Vec<f64> + Sync + 'static) -> Trial {
    let run: Run = Box::new(run);
    stages::trial(name.to_string(), terms, runs, run)
}

/// A charge for noise of a scale: `times / scale`, as a ratio of short integers.
fn charge_for(times: usize, scale: f64) -> Charge {
    let amount = Ratio::new((times as f64 / scale * 1_048_576.0) as u128, 1_048_576).expect("a positive fraction");
    let epsilon = Epsilon::new(amount).expect("an ε within its range");
    let [charge] = Budget::pure(epsilon).split([1]).expect("a budget is not zero");
    charge
}

/// Integers with Laplace noise of a scale: some at a time, so that the charge for all of them is an ε within its range.
fn laplace(kernel: &mut Kernel, values: &[i128], scale: f64) -> Vec<i128> {
    let some = |values: &[i128]| {
        let charge = charge_for(values.len(), scale);
        kernel.vector("counts", Sensitive::new(values.to_vec()), 1, charge).expect("a charge").into_inner()
    };
    values.chunks(64).flat_map(some).collect()
}

/// Algorithm 4 with the printed `σ_j = ε⁻¹ 2^{½(1−1/d′)(r−j)}`, d′ = 2, on every level.
pub fn levels_as_printed(terms: Terms, depth: u8) -> Trial {
    let leaves = stages::leaves(&Neighbours::opposite_corners(), depth);
    // Levels from the leaves up to the children of the root.
    let exact = leaves.map(|leaves| {
        let mut levels = vec![leaves.iter().map(|&count| i128::from(count)).collect::<Vec<i128>>()];
        for _ in 1..depth {
            let below = &levels[levels.len() - 1];
            levels.push(below.chunks_exact(2).map(|pair| pair[0] + pair[1]).collect());
        }
        levels
    });
    let epsilon = terms.claim().epsilon;
    trial("measure", terms, QUICK / 4, move |noise, side| {
        let mut kernel = noise.kernel();
        let mut loss = 0.0;
        for (level, counts) in exact[side as usize].iter().enumerate() {
            let sigma = (0.25 * level as f64).exp2() / epsilon;
            let noisy = laplace(&mut kernel, counts, sigma);
            let cells = noisy.iter().zip(&exact[0][level]).zip(&exact[1][level]);
            loss += cells.map(|((&z, &a), &b)| likelihood(true, z as f64, a as f64, b as f64)).sum::<f64>() / sigma;
        }
        vec![loss]
    })
}

/// The textbook: a sum of floats plus `−b ln(1 − u)` with a random sign, b = 1/ε, u a multiple of 2⁻⁵³. In exact
/// arithmetic this is private; with floats, the sum is legible in the last bits.
///
/// The table of zeros has the sum 0, its neighbour the sum 1. A float near 1 or larger is a multiple of 2⁻⁵³, and so is
/// 1 plus noise below −½: whatever the second table gives is a multiple of 2⁻⁵³. The first table gives the noise itself,
/// which below ½ has finer digits more often than not: values that the second table cannot give.
pub fn float_noise(terms: Terms) -> Trial {
    let scale = 1.0 / terms.claim().epsilon;
    trial("sum", terms, QUICK, move |noise, side| {
        let values: [f64; 5] = if side == Side::Here { [0.0; 5] } else { [0.0, 0.0, 0.0, 0.0, 1.0] };
        let mut stream = noise.stream();
        let size = -scale * (1.0 - stream.unit()).ln();
        let noise = if stream.bits() & 1 == 0 { size } else { -size };
        let released = values.iter().sum::<f64>() + noise;
        let digits = released * (1_u64 << 53) as f64;
        vec![f64::from(digits.trunc() != digits)]
    })
}

/// Moments of rows that are twice as long as their noise is made for: a row that lies outside of the clip radius was left
/// as it is.
pub fn clip_not_enforced(terms: Terms) -> Trial {
    let layout = MomentLayout::new(2, 1);
    let (order, bound) = (3, layout.row_norm_squared());
    let anchor = (bound - GRID * GRID).isqrt() as i64;
    let length = 2 * GRID as i64;
    let gram = |row: [i64; 3]| -> Vec<i64> { (0..3).flat_map(|i| (0..=i).map(move |j| row[i] * row[j])).collect() };
    let exact = [gram([anchor, length, 0]), gram([anchor, 0, length])];
    let purse = terms.purse();
    trial("moments", terms, QUICK, move |noise, side| {
        let input = Sensitive::new(pick(&exact, side));
        let noisy = noise.kernel().moments("moments", input, order, bound, purse.charge()).expect("a charge");
        let lower = noisy.into_inner().lower;
        let [one, other] = [packed_index(1, 1), packed_index(2, 2)].map(|at| lower[at] as f64 / bound as f64);
        vec![one - other]
    })
}

/// A mean with noise of the right size for bounds that were read off the table: four rows within [0, 1], the fifth either
/// among them or far away.
pub fn bounds_from_the_data(terms: Terms) -> Trial {
    let purse = terms.purse();
    trial("centre", terms, QUICK, move |noise, side| {
        let fifth = if side == Side::Here { 0.5 } else { 1000.0 };
        let values = [0.0, 0.25, 0.75, 1.0, fifth];
        let (low, high) = (0.0, f64::max(1.0, fifth));
        // Lap((high − low)/(εn)) on a grid of 2⁻²⁰ of the width.
        let grid = 1_u128 << 20;
        let noise = noise.kernel().scalar("mean", Sensitive::new(0), grid / 5, purse.charge()).expect("a charge");
        let mean = values.iter().sum::<f64>() / 5.0;
        vec![mean + noise.into_inner() as f64 / grid as f64 * (high - low)]
    })
}

/// A count that is released by two stages, each with all of the budget. Charges cannot be copied, so it takes two.
pub fn charge_used_twice(terms: Terms) -> Trial {
    let purse = terms.purse();
    trial("count", terms, QUICK, move |noise, side| {
        let mut kernel = noise.kernel();
        let mut release = || {
            let input = Sensitive::new(i128::from(side == Side::There));
            let noisy = kernel.scalar("count", input, 1, purse.charge()).expect("a charge").into_inner();
            likelihood(true, noisy as f64, 0.0, 1.0)
        };
        vec![release() + release()]
    })
}

/// The sums, with fresh noise for a second try that nobody paid for.
pub fn centre_released_twice(terms: Terms) -> Trial {
    let pair = Neighbours::all_equal();
    let work = Work::Sums(Sums { counted: vec![true; pair.width] });
    let exact = pair.tallies(&work).map(|tally| open::sums(&tally).sums.clone());
    let purse = terms.purse();
    trial("centre", terms, QUICK, move |noise, side| {
        let mut kernel = noise.kernel();
        let mut release = || {
            let input = Sensitive::new(pick(&exact, side));
            let noisy = kernel.cube_sums("centre", input, u64::from(Q), purse.charge()).expect("a charge").into_inner();
            let away = |from: &[i64]| noisy.iter().zip(from).map(|(z, s)| (z - s).abs()).max().unwrap_or(0) as f64;
            away(&exact[1]) - away(&exact[0])
        };
        vec![release() + release()]
    })
}

/// Two counts with noise of the right width that comes from the same seed: it falls out of their difference.
pub fn seed_reused(terms: Terms) -> Trial {
    let purse = terms.purse();
    trial("counts", terms, QUICK, move |noise, side| {
        let counts = if side == Side::Here { [3, 2] } else { [2, 3] };
        let noise =
            noise.kernel().scalar("counts", Sensitive::new(0), 2, purse.charge()).expect("a charge").into_inner();
        let released = counts.map(|count: i128| count + noise);
        vec![(released[0] - released[1]) as f64]
    })
}

/// Where two processes that forked from one another get their keys.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Keys {
    /// Each release its own, as the kernel does it.
    Own,
    /// One that was drawn before the fork.
    Repeated,
}

/// Two processes that forked from one another count the cells of two neighbouring tables. One table is known, so that what
/// is released of it costs nothing; the other is the known one or its neighbour. Under one key the noise of both is the
/// same, and the releases differ in exactly the cells that the row left and entered.
pub fn forked(terms: Terms, keys: Keys) -> Trial {
    let exact = stages::leaves(&Neighbours::opposite_corners(), 3);
    let purse = terms.purse();
    let scale = 2.0 / terms.claim().epsilon;
    trial("counts of two processes", terms, QUICK, move |noise, side| {
        let mut kernel = noise.kernel();
        let mut release = |counts: &[u64]| {
            let input = Sensitive::new(counts.to_vec());
            kernel.histograms("counts", input, 1, purse.charge()).expect("a charge").into_inner()
        };
        let tables = [&exact[0], &exact[side as usize]];
        let [known, secret] = match keys {
            Keys::Own => tables.map(|counts| release(counts)),
            Keys::Repeated => {
                let noise = release(&vec![0; exact[0].len()]);
                tables.map(|counts| counts.iter().zip(&noise).map(|(&count, noise)| count as i64 + noise).collect())
            }
        };
        let cells = secret.iter().zip(&exact[0]).zip(&exact[1]);
        let loss: f64 = cells.map(|((&z, &a), &b)| likelihood(true, z as f64, a as f64, b as f64)).sum();
        let moved = known.iter().zip(&secret).filter(|(a, b)| a != b).count();
        vec![moved as f64, loss / scale]
    })
}

/// One Wishart matrix instead of a difference (order 2): the noise is never negative, so its support tells the tables
/// apart. The rows are the two unit vectors; s = 1/ε as for the difference.
pub fn one_sided_wishart(terms: Terms) -> Trial {
    let scale = (1.0 / terms.claim().epsilon).sqrt();
    trial("moments", terms, MANY, move |noise, side| {
        let mut stream = noise.stream();
        let columns: [[f64; 2]; 3] = std::array::from_fn(|_| [scale * stream.normal(), scale * stream.normal()]);
        let entry = |i: usize, j: usize| columns.iter().map(|z| z[i] * z[j]).sum::<f64>();
        let row = if side == Side::Here { [1.0, 0.0] } else { [0.0, 1.0] };
        // Could the first table have given this? Only if what is left without its row is a positive matrix.
        let (a, b, c) = (entry(0, 0) + row[0] - 1.0, entry(0, 1), entry(1, 1) + row[1]);
        vec![0.5 * (a + c) - (0.25 * (a - c) * (a - c) + b * b).sqrt()]
    })
}
