//! Which cells the last pass counts: the leaves of a tree (PMM) or the cells of a lattice (PSMM).

use super::cells::{Partition, Space};
use super::course::Course;
use crate::error::{Error, Kind, Result};
use crate::measure::{
    Allocation, Consistency, Geometry, Side, expected, finest, plan_lattice, plan_measure, plan_paper, solvable,
    with_shares,
};
use crate::plan::{Mechanism, Plan, as_float};
use crate::privacy::Charge;
use crate::subspace::Texture;

/// From this dimension on the paper takes PSMM.
const PAPER_LATTICE: usize = 3;

impl Course {
    /// The default method's cells. Only public and released numbers enter.
    pub(super) fn partition(
        &mut self,
        space: &Space<'_>,
        allocation: &Allocation,
        stratum_rows: &[f64],
        texture: &Texture,
    ) -> Partition {
        let plan = self.plan.clone();
        let strata = stratum_rows.len();
        let partition = match plan.mechanism.chosen(space.sides.len(), allocation.scaled_rows_of_a_stratum()) {
            Mechanism::Psmm => {
                let lattice = match plan.cell {
                    None => {
                        let rows_per_cell = plan.tuning.rows_per_cell_in(space.sides.len());
                        plan_lattice(space.sides, allocation, stratum_rows, rows_per_cell, plan.metric)
                    }
                    Some(cell) => {
                        let geometry = self.fitting(space.sides, cell, allocation);
                        with_shares(vec![geometry; strata], plan.metric)
                    }
                };
                Partition::lattice(space, lattice)
            }
            Mechanism::Auto | Mechanism::Pmm => {
                let cells = plan_measure(space.sides, allocation, stratum_rows);
                let consistency = if texture.gains.is_empty() {
                    Consistency::LeastSquares
                } else {
                    let means = texture.means(space.vectors);
                    let expected = expected(&means, &texture.root, space.sides, &cells.cuts, &cells.depths);
                    Consistency::Expecting { expected, beta: plan.tuning.surprise }
                };
                Partition::tree(space, cells, consistency)
            }
        };
        self.receipt.cells = Some(partition.describe());
        partition
    }

    /// A lattice with cells of a given side, or the finest that fits if that would be too many; the receipt says so.
    fn fitting(&mut self, sides: &[Side], cell: f64, allocation: &Allocation) -> Geometry {
        let most = allocation.most_cells(allocation.rows / allocation.strata.max(1) as f64);
        let wanted = Geometry::new(sides, cell);
        if solvable(&wanted, self.plan.metric, most) {
            return wanted;
        }
        let geometry = finest(sides, most, self.plan.metric);
        self.receipt.remarks.push(format!(
            "a lattice with cells of side {cell:.4} would have {} cells, too many for these rows; cells of side {:.4} \
             were taken, the finest that fit",
            number(wanted.size()),
            geometry.cell
        ));
        geometry
    }

    /// The paper's cells: Algorithm 4 below dimension 3, Algorithm 5 from there on.
    ///
    /// Algorithm 5 cuts the ball of radius R into cells of side `δ = √(d/d′) (εn)^{−1/d′}` and keeps those whose lower
    /// corner lies in the ball; rows of the others would be lost, so here the lattice covers the whole R-cube. That is
    /// often far more cells than rows; then δ is the finest that fits. Where not even two cells along every direction
    /// fit, there is no lattice to speak of, and PMM is taken.
    pub(super) fn paper_partition(&mut self, space: &Space<'_>, allocation: &Allocation) -> Partition {
        let (k, width) = (space.sides.len(), self.schema.width());
        let wanted = match self.plan.mechanism {
            Mechanism::Auto => k >= PAPER_LATTICE,
            Mechanism::Psmm => true,
            Mechanism::Pmm => false,
        };
        let fits = largest_dimension(allocation, &self.plan).is_some_and(|most| k <= most);
        let partition = if wanted && fits {
            let cell = self.plan.cell.unwrap_or_else(|| paper_cell(width, k, allocation));
            let geometry = self.fitting(space.sides, cell, allocation);
            Partition::lattice(space, with_shares(vec![geometry; allocation.strata], self.plan.metric))
        } else {
            if wanted {
                let sentence = too_many_dimensions(k, largest_dimension(allocation, &self.plan));
                self.receipt.remarks.push(sentence + ": PMM was taken instead");
            }
            Partition::tree(space, plan_paper(space.sides, allocation), Consistency::Proportional)
        };
        self.receipt.cells = Some(partition.describe());
        partition
    }
}

/// δ of Algorithm 5; with zCDP, ε is that of Laplace noise of the same deviation.
fn paper_cell(width: usize, k: usize, allocation: &Allocation) -> f64 {
    (width as f64 / k as f64).sqrt() * allocation.scaled_rows().max(1.0).powf(-1.0 / k as f64)
}

/// The most dimensions in which two cells along every direction of a cube can be solved.
pub(super) fn largest_dimension(allocation: &Allocation, plan: &Plan) -> Option<usize> {
    let most = allocation.most_cells(allocation.rows / allocation.strata.max(1) as f64);
    let halves = |k: usize| Geometry::new(&vec![Side { low: 0.0, width: 1.0 }; k], 0.5);
    (1..64).take_while(|&k| solvable(&halves(k), plan.metric, most)).last()
}

/// The sentence about a lattice of too many dimensions.
fn too_many_dimensions(k: usize, fitting: Option<usize>) -> String {
    let advice = fitting.map_or("none fits".to_string(), |most| format!("a `--dimension` of at most {most} fits"));
    let cells = number((k as f64).exp2());
    format!("two cells along each of {k} directions make a lattice of {cells} cells, too many to be solved; {advice}")
}

/// A number of cells in words.
pub(super) fn number(cells: f64) -> String {
    if cells < 1e15 { format!("{cells:.0}") } else { format!("10^{:.0}", cells.log10()) }
}

/// Refuses, before anything is spent, a lattice of the paper's in too many dimensions.
pub(super) fn check_paper_lattice(plan: &Plan, allocation: &Allocation) -> Result<()> {
    let (Mechanism::Psmm, Some(k)) = (plan.mechanism, plan.dimension) else { return Ok(()) };
    let fitting = largest_dimension(allocation, plan);
    if fitting.is_some_and(|most| k <= most) {
        return Ok(());
    }
    Err(Error::new(Kind::Usage, too_many_dimensions(k, fitting))
        .hint("give a smaller `--dimension`, or `--mechanism pmm`"))
}

/// What a measure over the whole budget may know at the beginning.
pub(super) fn whole_allocation(charge: &Charge, rows: u64, strata: usize, plan: &Plan) -> Allocation {
    Allocation {
        rows: rows as f64,
        amount: as_float(&charge.amount()),
        privacy: charge.privacy(),
        strata,
        depth_noise: plan.tuning.depth_noise,
    }
}
