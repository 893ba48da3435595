//! PMM on the whole cube, without a projection.

use super::cells::{CellStage, Partition, Space};
use super::course::{Course, Next};
use super::mechanism::{largest_dimension, number, whole_allocation};
use crate::error::{Error, Kind, Result};
use crate::measure::{Allocation, Consistency, Geometry, Side, finest, plan_measure, solvable, with_shares};
use crate::model::{Frame, Spot};
use crate::plan::{Mechanism, Plan};
use crate::privacy::{Budget, Charge};
use crate::subspace::Texture;

pub(super) fn begin(course: &mut Course, budget: Budget) -> Result<Next> {
    let [measure] = budget.split([1])?;
    course.receipt.stage("measure", 1, 1, "noise on cell counts of the cube");
    let allocation = whole_allocation(&measure, course.rows, course.schema.strata(), &course.plan);
    let stage = cube_stage(course.schema.width(), &allocation, measure, &course.plan)?;
    course.receipt.cells = Some(stage.partition.describe());
    Ok(Next::ask(stage))
}

/// PMM or PSMM on `[0, 1]^d` itself: nothing is projected.
///
/// # Errors
/// [`Kind::Usage`] for a lattice that is too large; rows, columns and cells are public.
fn cube_stage(width: usize, allocation: &Allocation, charge: Charge, plan: &Plan) -> Result<CellStage> {
    let sides = vec![Side { low: 0.0, width: 1.0 }; width];
    let strata = allocation.strata;
    let lattice = match (plan.mechanism, plan.mechanism.chosen(width, allocation.scaled_rows_of_a_stratum())) {
        // What was not asked for is not refused.
        (Mechanism::Auto, Mechanism::Psmm) => cube_lattice(&sides, allocation, plan).ok(),
        (_, Mechanism::Psmm) => Some(cube_lattice(&sides, allocation, plan)?),
        _ => None,
    };
    let partition = match lattice {
        Some(geometry) => {
            let unit = |j: usize| (0..width).map(|i| if i == j { 1.0 } else { 0.0 }).collect();
            let vectors: Vec<Vec<f64>> = (0..width).map(unit).collect();
            let space = Space { centre: &vec![0; width], vectors: &vectors, sides: &sides };
            Partition::lattice(&space, with_shares(vec![geometry; strata], plan.metric))
        }
        None => {
            let rows = vec![allocation.rows / strata as f64; strata];
            Partition::columns(plan_measure(&sides, allocation, &rows), Consistency::LeastSquares)
        }
    };
    Ok(CellStage {
        partition,
        charge,
        frame: Frame::Columns { width },
        texture: Texture::default(),
        spot: Spot::Uniform,
        spectrum: Vec::new(),
        edge: 0.0,
        targets: Vec::new(),
        one_of: Vec::new(),
        ground: None,
        later: None,
    })
}

/// The lattice on the cube: as fine as the rows allow, but at least two cells along every column.
pub(super) fn cube_lattice(sides: &[Side], allocation: &Allocation, plan: &Plan) -> Result<Geometry> {
    let rows = allocation.rows / allocation.strata.max(1) as f64;
    let most = allocation.most_cells(rows);
    let geometry = match plan.cell {
        Some(cell) => Geometry::new(sides, cell),
        None => {
            let suitable = allocation.cells_for(rows, plan.tuning.rows_per_cell_in(sides.len())).min(most);
            let geometry = finest(sides, suitable, plan.metric);
            if geometry.size() > 1.0 { geometry } else { Geometry::new(sides, 0.5) }
        }
    };
    if solvable(&geometry, plan.metric, most) {
        return Ok(geometry);
    }
    let columns = largest_dimension(allocation, plan).unwrap_or(0);
    let advice = if sides.len() <= columns {
        format!("`--cell` of at least {:.4} fits these rows", finest(sides, most, plan.metric).cell)
    } else {
        format!("at most {columns} columns fit; leave `--mechanism` out, or `--method`")
    };
    let (columns, cells) = (sides.len(), number(geometry.size()));
    Err(Error::new(
        Kind::Usage,
        format!("`--mechanism psmm` on the cube of {columns} columns needs a lattice of {cells} cells, too many to be solved"),
    )
    .hint(advice))
}
