//! From signed masses to the nearest measure: what to serve, and what the bank does.

use super::Lattice;
use super::forest::Forest;

/// Mass that moves from one cell to a neighbouring one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// Where from.
    pub from: u32,
    /// Where to.
    pub to: u32,
    /// How many units.
    pub amount: u64,
}

/// A nearest measure, how it comes about, and the potentials that prove it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nearest {
    /// The mass of each cell.
    pub measure: Vec<u64>,
    /// The moves between neighbouring cells, by the cell they start from.
    pub moved: Vec<Move>,
    /// What the bank gives to cells (positive) or takes from them (negative), by cell.
    pub bank: Vec<(u32, i64)>,
    /// y: what a unit is worth at each cell.
    pub potentials: Vec<i64>,
    /// What a unit is worth where the bank gives or takes; 0 if it does neither.
    pub bank_potential: i64,
    /// The sum of amount × cost over the moves. The bank's price is the same for every unit and is not counted.
    pub cost: i128,
}

impl Lattice {
    /// About how many seconds [`Lattice::nearest`] will take on one core if so many cells are below 0: right
    /// within a factor of three if there are many rows for each cell, of six if the noise outweighs them. It is no
    /// bound: heavy masses without any rows that balance to the last unit, on a plane, took hundreds of times longer.
    pub fn estimate(&self, deficits: usize) -> f64 {
        let cells = self.cells() as f64;
        // Beyond twenty moves a neighbour is mostly found before all have been looked at; and everything is read once.
        3e-9 * self.moves().min(20) as f64 * deficits as f64 * libm::sqrt(cells) + 1e-8 * cells * self.moves() as f64
    }

    /// The measure with the given `total` that is nearest to the `supplies`: τ ≥ 0, Σ τ = `total`, at the least cost of
    /// carrying the supplies onto it.
    ///
    /// The bank gives r = `total` − Σ `supplies` units, or takes −r. Each of them costs the same, at least half the
    /// diameter; since their number is fixed, so is their price, and only *where* matters. `progress` hears from time to
    /// time how many units of deficit have been served. The same input gives the same answer everywhere.
    ///
    /// - r > 0: all but r units of the deficits are served from other cells, and the bank serves the rest. In the forest
    ///   all deficits that are left have the highest price of all, so that it stops in an optimum. What exceeds the
    ///   deficits is spread evenly.
    /// - r < 0: all deficits are served, and the bank takes from what is left over, in proportion.
    ///
    /// # Panics
    /// If there is not one supply for each cell, or if their absolute values and the total add up to more than 2⁶².
    pub fn nearest(&self, supplies: &[i64], total: u64, progress: &dyn Fn(u64)) -> Nearest {
        assert_eq!(supplies.len(), self.cells(), "nearest: one supply for each cell");
        let size = supplies.iter().map(|s| u128::from(s.unsigned_abs())).sum::<u128>() + u128::from(total);
        assert!(size <= 1 << 62, "nearest: supplies and total add up to at most 2⁶²");
        // Below 2⁶² in absolute value, all of them.
        let deficit: u64 = supplies.iter().filter(|s| **s < 0).map(|s| s.unsigned_abs()).sum();
        let given = total as i64 - supplies.iter().sum::<i64>();

        // Σ s⁺ − (deficit − r) = total ≥ 0: what is asked for can be served.
        let mut forest = Forest::new(&self.steps, supplies, deficit.saturating_sub(given.max(0) as u64));
        forest.serve(progress);

        let mut moved = Vec::new();
        let mut cost = 0;
        for cell in 0..self.cells() {
            for (step, amount) in forest.flows.from(cell) {
                moved.push(Move { from: cell as u32, to: self.steps.to(cell, step) as u32, amount });
                cost += i128::from(amount) * i128::from(self.steps.all()[usize::from(step)].cost);
            }
        }
        let by_bank = if given < 0 {
            taken_in_proportion(&forest.mass, given.unsigned_abs())
        } else {
            given_to_deficits(&forest.mass, given as u64)
        };
        let measure = forest.mass.iter().zip(&by_bank).map(|(mass, bank)| (mass + bank) as u64).collect();
        let bank = (by_bank.into_iter().enumerate()).filter(|b| b.1 != 0).map(|(v, b)| (v as u32, b)).collect();
        let (potentials, highest) = forest.prices();
        let bank_potential = if given > 0 { highest } else { 0 };
        Nearest { measure, moved, bank, potentials, bank_potential, cost }
    }
}

/// Fills the deficits, which add up to at most `amount`, and spreads the rest evenly: of e units over m cells the first
/// i get ⌊i e/m⌋.
fn given_to_deficits(masses: &[i64], amount: u64) -> Vec<i64> {
    let missing: u64 = masses.iter().filter(|x| **x < 0).map(|x| x.unsigned_abs()).sum();
    let (rest, cells) = (u128::from(amount - missing), masses.len() as u128);
    let before = |i: usize| (i as u128 * rest / cells) as i64;
    masses.iter().enumerate().map(|(i, &mass)| (-mass).max(0) + before(i + 1) - before(i)).collect()
}

/// Takes `amount` from masses ≥ 0 with at least that sum: from each its share rounded down, then one more from those
/// with the largest remainders (the first of equals).
fn taken_in_proportion(masses: &[i64], amount: u64) -> Vec<i64> {
    let sum: u128 = masses.iter().map(|x| u128::from(x.unsigned_abs())).sum();
    let exact = |mass: i64| u128::from(mass.unsigned_abs()) * u128::from(amount);
    let mut shares: Vec<i64> = masses.iter().map(|&mass| (exact(mass) / sum) as i64).collect();
    let short = amount as i64 - shares.iter().sum::<i64>();
    // A share with a remainder is below its mass, and there are more remainders than units short.
    let mut order: Vec<usize> = (0..masses.len()).filter(|&i| exact(masses[i]) % sum > 0).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(exact(masses[i]) % sum));
    for &i in &order[..short as usize] {
        shares[i] += 1;
    }
    shares.into_iter().map(|share| -share).collect()
}
