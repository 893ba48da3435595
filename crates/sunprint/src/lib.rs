//! Sunprint makes differentially private synthetic data from high-dimensional tables.

pub mod door;
pub mod error;
pub mod schema;
pub mod source;
pub mod tally;
