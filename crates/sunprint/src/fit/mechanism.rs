//! Which cells the last pass counts: the leaves of a tree (PMM) or the cells of a lattice (PSMM).

use super::Fit;
use super::cells::{MeasureStage, Partition, Space};
use crate::error::{Error, Kind, Result};
use crate::measure::{
    Allocation, Consistency, Geometry, MOST_CELLS, Side, finest, plan_lattice, plan_measure, plan_paper, solvable,
    with_shares,
};
use crate::model::{Frame, Spot};
use crate::plan::{Mechanism, Plan, as_float};
use crate::privacy::Charge;
use crate::subspace::Texture;

/// From this dimension on the paper takes PSMM.
const PAPER_LATTICE: usize = 3;

impl Fit {
    /// The default method's cells. Only public and released numbers enter.
    pub(super) fn partition(&mut self, space: &Space<'_>, allocation: &Allocation, stratum_rows: &[f64]) -> Partition {
        let plan = &self.plan;
        let strata = stratum_rows.len();
        let partition = match plan.mechanism.chosen(space.sides.len(), allocation.scaled_rows()) {
            Mechanism::Psmm => {
                let lattice = match plan.cell {
                    None => {
                        let rows_per_cell = plan.tuning.rows_per_cell_in(space.sides.len());
                        plan_lattice(space.sides, allocation, stratum_rows, rows_per_cell, plan.metric)
                    }
                    Some(cell) => {
                        let mut geometry = Geometry::new(space.sides, cell);
                        if !solvable(&geometry, plan.metric, strata) {
                            geometry = finest(space.sides, MOST_CELLS, plan.metric, strata);
                            self.receipt.remarks.push(format!(
                                "cells of side {cell} would make a lattice too large to be solved; {:.4} was taken, \
                                 the finest that fits",
                                geometry.cell
                            ));
                        }
                        with_shares(vec![geometry; strata], plan.metric)
                    }
                };
                Partition::lattice(space, lattice)
            }
            Mechanism::Auto | Mechanism::Pmm => {
                Partition::tree(space, plan_measure(space.sides, allocation, stratum_rows), Consistency::LeastSquares)
            }
        };
        self.receipt.cells = Some(partition.describe());
        partition
    }

    /// The paper's cells: Algorithm 4 below dimension 3, Algorithm 5 from there on, where its lattice can be solved.
    ///
    /// Algorithm 5 cuts the ball of radius R into cells of side `δ = √(d/d′) (εn)^{−1/d′}` and keeps those whose lower
    /// corner lies in the ball; rows of the others would be lost, so here the lattice covers the whole R-cube.
    pub(super) fn paper_partition(&mut self, space: &Space<'_>, allocation: &Allocation) -> Partition {
        let (k, width) = (space.sides.len(), self.schema.width());
        let wanted = match self.plan.mechanism {
            Mechanism::Auto => k >= PAPER_LATTICE,
            Mechanism::Psmm => true,
            Mechanism::Pmm => false,
        };
        let cell = |k: usize| self.plan.cell.unwrap_or_else(|| paper_cell(width, k, allocation));
        let lattice = |k: usize| Geometry::new(&space.sides[..k], cell(k));
        let fits = |geometry: &Geometry| solvable(geometry, self.plan.metric, allocation.strata);
        let partition = if wanted && fits(&lattice(k)) {
            Partition::lattice(space, with_shares(vec![lattice(k); allocation.strata], self.plan.metric))
        } else {
            if wanted {
                let fitting = (1..k).rev().find(|&k| fits(&lattice(k)));
                self.receipt
                    .remarks
                    .push(too_large(k, cell(k), lattice(k).size(), fitting) + ": PMM was taken instead");
            }
            Partition::tree(space, plan_paper(space.sides, allocation), Consistency::Proportional)
        };
        self.receipt.cells = Some(partition.describe());
        partition
    }
}

/// δ of Algorithm 5; with zCDP, ε is that of Laplace noise of the same deviation.
fn paper_cell(width: usize, k: usize, allocation: &Allocation) -> f64 {
    let scaled = allocation.scaled_rows().max(1.0);
    (width as f64 / k as f64).sqrt() * scaled.powf(-1.0 / k as f64)
}

/// The sentence about a lattice that cannot be solved.
fn too_large(k: usize, cell: f64, size: f64, fitting: Option<usize>) -> String {
    let cells = if size < 1e15 { format!("{size:.0}") } else { format!("10^{:.0}", size.log10()) };
    let advice = match fitting {
        Some(fitting) => format!("d′ of at most {fitting} would fit"),
        None => "no d′ would fit".to_string(),
    };
    format!("the lattice of dimension {k} with cells of side {cell:.4} would have {cells} cells, too many; {advice}")
}

/// Refuses, before anything is spent, a lattice of the paper's that is sure to be too large: its cube has sides of
/// `2R ≥ 2√d`, whatever is measured.
pub(super) fn check_paper_lattice(plan: &Plan, allocation: &Allocation, width: usize) -> Result<()> {
    let (Mechanism::Psmm, Some(k)) = (plan.mechanism, plan.dimension) else { return Ok(()) };
    let side = Side { low: 0.0, width: 2.0 * (width as f64).sqrt() };
    let cell = |k: usize| plan.cell.unwrap_or_else(|| paper_cell(width, k, allocation));
    let lattice = |k: usize| Geometry::new(&vec![side; k], cell(k));
    let fits = |k: usize| solvable(&lattice(k), plan.metric, allocation.strata);
    if fits(k) {
        return Ok(());
    }
    let fitting = (1..k).rev().find(|&k| fits(k));
    Err(Error::new(Kind::Usage, too_large(k, cell(k), lattice(k).size(), fitting))
        .hint("give a smaller `--dimension`, a larger `--cell`, or `--mechanism pmm`"))
}

/// PMM or PSMM on `[0, 1]^d` itself: nothing is projected.
///
/// # Errors
/// [`Kind::Usage`] for a lattice that is too large; rows, columns and cells are public.
pub(super) fn cube_stage(width: usize, allocation: &Allocation, charge: Charge, plan: &Plan) -> Result<MeasureStage> {
    let sides = vec![Side { low: 0.0, width: 1.0 }; width];
    let strata = allocation.strata;
    let partition = match plan.mechanism.chosen(width, allocation.scaled_rows()) {
        Mechanism::Psmm => {
            let geometry = cube_lattice(&sides, allocation, plan)?;
            let unit = |j: usize| (0..width).map(|i| if i == j { 1.0 } else { 0.0 }).collect();
            let vectors: Vec<Vec<f64>> = (0..width).map(unit).collect();
            let space = Space { centre: &vec![0; width], vectors: &vectors, sides: &sides };
            Partition::lattice(&space, with_shares(vec![geometry; strata], plan.metric))
        }
        Mechanism::Auto | Mechanism::Pmm => {
            let rows = vec![allocation.rows / strata as f64; strata];
            Partition::columns(plan_measure(&sides, allocation, &rows), Consistency::LeastSquares)
        }
    };
    Ok(MeasureStage {
        partition,
        charge,
        frame: Frame::Columns { width },
        texture: Texture::default(),
        spot: Spot::Uniform,
        spectrum: Vec::new(),
        edge: 0.0,
    })
}

/// The lattice on the cube: as fine as the rows allow, but at least two cells along every column.
fn cube_lattice(sides: &[Side], allocation: &Allocation, plan: &Plan) -> Result<Geometry> {
    let strata = allocation.strata;
    let fits = |geometry: &Geometry| solvable(geometry, plan.metric, strata);
    let halves = Geometry::new(sides, 0.5);
    let geometry = match plan.cell {
        Some(cell) => Geometry::new(sides, cell),
        None => {
            let most = allocation.cells_for(allocation.rows / strata as f64, plan.tuning.rows_per_cell_in(sides.len()));
            let geometry = finest(sides, most, plan.metric, strata);
            if geometry.size() > 1.0 { geometry } else { halves.clone() }
        }
    };
    if fits(&geometry) {
        return Ok(geometry);
    }
    let columns = (1..=sides.len()).rev().find(|&d| fits(&Geometry::new(&sides[..d], 0.5))).unwrap_or(0);
    let advice = if fits(&halves) {
        format!("`--cell` of at least {:.4} fits", finest(sides, MOST_CELLS, plan.metric, strata).cell)
    } else {
        format!("at most {columns} columns fit a lattice; leave `--mechanism` or `--method` out")
    };
    let size = geometry.size();
    let cells = if size < 1e15 { format!("{size:.0}") } else { format!("10^{:.0}", size.log10()) };
    Err(Error::new(
        Kind::Usage,
        format!(
            "`--mechanism psmm` on the cube of {} columns would need a lattice of {cells} cells, too many to be solved",
            sides.len()
        ),
    )
    .hint(advice))
}

/// The rules of [`Plan::check`] about mechanisms.
pub(super) fn check_mechanism(plan: &Plan) -> Result<()> {
    if let Some(cell) = plan.cell {
        if !(1e-6..=1e6).contains(&cell) {
            return Err(Error::new(
                Kind::Usage,
                format!("`--cell` must lie between 0.000001 and 1000000; {cell} was given"),
            )
            .hint("it is the side of a cell, in units of a column's range"));
        }
        if plan.mechanism != Mechanism::Psmm {
            return Err(Error::new(Kind::Usage, "`--cell` works with `--mechanism psmm` only")
                .hint("give `--mechanism psmm` too, or leave `--cell` out"));
        }
    }
    Ok(())
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
