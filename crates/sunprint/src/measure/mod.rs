//! The shape in few dimensions: a box, its binary partition, noisy counts made consistent, and draws from them.
//!
//! Everything here works on public or released numbers; the counts themselves get their noise in the kernel.

mod allocation;
mod consistency;
mod partition;

pub use allocation::{Allocation, MeasurePlan, plan_measure, plan_paper, predicted_error};
pub use consistency::{Consistency, Measure, StratumMeasure, consistent};
pub use partition::{Side, box_sides, cell, cuts};
