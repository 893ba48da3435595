//! Sunprint makes differentially private synthetic data from high-dimensional tables.

pub mod error;
pub mod math;
pub mod tally;
