//! Sunprint makes differentially private synthetic data from high-dimensional tables.

pub mod door;
pub mod error;
pub mod fit;
pub mod math;
pub mod measure;
pub mod model;
pub mod plan;
pub mod privacy;
pub mod receipt;
pub mod run;
pub mod schema;
pub mod source;
pub mod subspace;
pub mod tally;
