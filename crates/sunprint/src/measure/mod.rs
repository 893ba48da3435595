//! The shape in few dimensions: a box, its cells (a tree or a lattice), and noisy counts made a measure.
//!
//! Everything here works on public or released numbers; the counts themselves get their noise in the kernel.

mod allocation;
mod consistency;
mod lattice;
mod partition;
mod prior;
mod shape;

pub use allocation::{Allocation, MeasurePlan, plan_measure, plan_paper, predicted_error};
pub use consistency::{Consistency, consistent};
pub use lattice::{LatticePlan, finest, nearest_measure, plan_lattice, solvable, with_shares};
pub use partition::{Side, box_sides, cuts};
pub use prior::expected;
pub use shape::{Geometry, LatticeMeasure, Measure, StratumLattice, StratumTree, TreeMeasure};
