//! What a measure is: rows in the cells of a tree or of a lattice.

use super::partition::{Side, cell};
use crate::math::rounding::{largest_remainders, nearest_shares};
use serde::{Deserialize, Serialize};

/// A measure on the box: how many rows each cell holds, stratum by stratum.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Measure {
    /// On the leaves of a binary partition (PMM).
    Tree(TreeMeasure),
    /// On the cells of a lattice (PSMM).
    Lattice(LatticeMeasure),
}

/// Rows in each leaf of each stratum.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TreeMeasure {
    /// Which coordinate each cut halves.
    pub cuts: Vec<u16>,
    /// The strata.
    pub strata: Vec<StratumTree>,
}

/// The leaves of one stratum that hold rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StratumTree {
    /// How many of the cuts are made.
    pub depth: u8,
    /// Leaf indices with rows, ascending, each with its number of rows.
    pub leaves: Vec<(u64, u64)>,
}

/// Rows in each cell of each stratum's lattice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatticeMeasure {
    /// The strata.
    pub lattices: Vec<StratumLattice>,
}

/// The cells of one stratum that hold rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StratumLattice {
    /// Where the cells are.
    pub geometry: Geometry,
    /// Cells with rows, ascending (the last coordinate runs fastest), each with its number of rows.
    pub leaves: Vec<(u64, u64)>,
}

/// A lattice of cubes around the box; cells at its rim may stick out of the box on both ends alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Geometry {
    /// δ: the side of a cell, in units.
    pub cell: f64,
    /// Where the first cell begins along each coordinate.
    pub lows: Vec<f64>,
    /// How many cells there are along each coordinate.
    pub shape: Vec<u32>,
}

impl Geometry {
    /// Cubes of side `cell` that cover the box.
    pub fn new(sides: &[Side], cell: f64) -> Geometry {
        let shape: Vec<u32> = sides.iter().map(|side| cells_along(side.width, cell)).collect();
        let low = |(side, &cells): (&Side, &u32)| side.low - 0.5 * (f64::from(cells) * cell - side.width).max(0.0);
        let lows = sides.iter().zip(&shape).map(low).collect();
        Geometry { cell, lows, shape }
    }

    /// How many cells there are; infinite where they cannot be counted.
    pub fn size(&self) -> f64 {
        self.shape.iter().map(|&cells| f64::from(cells)).product()
    }

    /// What of a cell lies in the box.
    pub(super) fn cell(&self, index: u64, sides: &[Side]) -> Vec<Side> {
        let mut rest = index;
        let mut cell: Vec<Side> = sides
            .iter()
            .zip(&self.lows)
            .zip(&self.shape)
            .rev()
            .map(|((side, low), &cells)| {
                let q = rest % u64::from(cells.max(1));
                rest /= u64::from(cells.max(1));
                let (left, right) = (side.low, side.low + side.width);
                let end = |q: u64| (low + q as f64 * self.cell).clamp(left, right);
                // The last cell reaches the end of the box, whatever rounding says.
                let (low, high) = (end(q), if q + 1 >= u64::from(cells) { right } else { end(q + 1) });
                Side { low, width: (high - low).max(0.0) }
            })
            .collect();
        cell.reverse();
        cell
    }
}

/// No released length comes near it. Products of two such numbers, and sums of thousands of those, are finite.
const LONGEST: f64 = 1e30;

/// Cells of side δ that cover a width, at least one. What is over by less than a millionth of a cell does not count.
fn cells_along(width: f64, cell: f64) -> u32 {
    ((width / cell - 1e-6).ceil()).clamp(1.0, f64::from(u32::MAX)) as u32
}

fn over(sizes: &[f64], rows: u64) -> Vec<f64> {
    sizes.iter().map(|size| size / rows.max(1) as f64).collect()
}

impl Measure {
    /// Nothing but the rows of each stratum: n of them, as near to these sizes as can be. One stratum has all.
    pub fn of_strata(rows: u64, sizes: &[f64]) -> Measure {
        let parts = if sizes.len() < 2 { vec![1.0] } else { nearest_shares(&over(sizes, rows)) };
        let stratum =
            |count: u64| StratumTree { depth: 0, leaves: (count > 0).then_some((0, count)).into_iter().collect() };
        let strata = largest_remainders(rows, &parts).into_iter().map(stratum).collect();
        Measure::Tree(TreeMeasure { cuts: Vec::new(), strata })
    }

    /// How many strata there are.
    pub fn strata(&self) -> usize {
        match self {
            Measure::Tree(tree) => tree.strata.len(),
            Measure::Lattice(lattice) => lattice.lattices.len(),
        }
    }

    /// The cells of a stratum that hold rows, ascending, each with its number of rows.
    pub fn leaves(&self, stratum: usize) -> &[(u64, u64)] {
        match self {
            Measure::Tree(tree) => &tree.strata[stratum].leaves,
            Measure::Lattice(lattice) => &lattice.lattices[stratum].leaves,
        }
    }

    /// How many rows a stratum holds.
    pub fn rows(&self, stratum: usize) -> u64 {
        self.leaves(stratum).iter().map(|leaf| leaf.1).sum()
    }

    /// Gives every stratum another number of rows, divided between its cells as before. A stratum without any cell stays
    /// empty.
    pub fn resize(&mut self, rows: &[u64]) {
        for (stratum, &rows) in rows.iter().enumerate() {
            let leaves = match self {
                Measure::Tree(tree) => &mut tree.strata[stratum].leaves,
                Measure::Lattice(lattice) => &mut lattice.lattices[stratum].leaves,
            };
            let parts: Vec<f64> = leaves.iter().map(|leaf| leaf.1 as f64).collect();
            let counts = largest_remainders(rows, &parts);
            leaves.iter_mut().zip(counts).for_each(|(leaf, count)| leaf.1 = count);
            leaves.retain(|leaf| leaf.1 > 0);
        }
    }

    /// The interval of a cell along every side of the box.
    pub fn cell(&self, stratum: usize, index: u64, sides: &[Side]) -> Vec<Side> {
        match self {
            Measure::Tree(tree) => cell(sides, &tree.cuts, usize::from(tree.strata[stratum].depth), index),
            Measure::Lattice(lattice) => lattice.lattices[stratum].geometry.cell(index, sides),
        }
    }

    /// What drawing relies on: as many strata and sides as there should be, and every cell in range. Returns the rows.
    pub fn check(&self, strata: usize, sides: usize) -> Result<u64, &'static str> {
        let misfit = "its measure does not fit its schema";
        if self.strata() != strata {
            return Err(misfit);
        }
        let mut rows = 0_u64;
        for stratum in 0..strata {
            let cells = match self {
                Measure::Tree(tree) => {
                    let depth = usize::from(tree.strata[stratum].depth);
                    if tree.cuts.iter().any(|&cut| usize::from(cut) >= sides) {
                        return Err(misfit);
                    }
                    if depth > tree.cuts.len() || depth > 40 {
                        return Err("a stratum is deeper than its cuts");
                    }
                    1_u64 << depth
                }
                Measure::Lattice(lattice) => {
                    let Geometry { cell, lows, shape } = &lattice.lattices[stratum].geometry;
                    let finite = |x: &f64| x.abs() <= LONGEST;
                    if lows.len() != sides || shape.len() != sides || !lows.iter().chain([cell]).all(finite) {
                        return Err(misfit);
                    }
                    let size = shape.iter().try_fold(1_u64, |size, &cells| size.checked_mul(cells.into()));
                    size.filter(|&size| size > 0 && *cell > 0.0).ok_or(misfit)?
                }
            };
            for &(leaf, count) in self.leaves(stratum) {
                if leaf >= cells {
                    return Err("a cell lies outside its measure");
                }
                rows = rows.checked_add(count).filter(|&rows| rows < 1 << 62).ok_or("its counts are too large")?;
            }
        }
        if rows == 0 { Err("its measure is empty") } else { Ok(rows) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cells_of_a_lattice_tile_the_box() {
        let sides = [Side { low: -1.0, width: 3.0 }, Side { low: 0.25, width: 0.1 }, Side { low: 0.0, width: 1.0 }];
        for cell in [0.3, 0.5, 1.0, 1.7, 10.0] {
            let geometry = Geometry::new(&sides, cell);
            let shape = sides.map(|side| (side.width / cell).ceil() as u32);
            assert_eq!(geometry.shape, shape);
            let boxes: Vec<Vec<Side>> = (0..geometry.size() as u64).map(|i| geometry.cell(i, &sides)).collect();
            let volume: f64 = boxes.iter().map(|b| b.iter().map(|s| s.width).product::<f64>()).sum();
            assert!((volume - 0.3).abs() < 1e-12, "{cell}: {volume}");
            assert!(boxes.iter().flatten().all(|side| side.width <= cell + 1e-12 && side.width > 0.0));
            // The last coordinate runs fastest.
            let next = boxes.windows(2).filter(|pair| pair[0][2].low < pair[1][2].low).count();
            assert_eq!(next, boxes.len() - boxes.len() / shape[2] as usize);
        }
    }
}
