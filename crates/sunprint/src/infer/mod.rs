//! From noisy numbers to a model: sees no rows, knows no privacy.

pub(crate) mod correct;
mod hear;
pub(crate) mod sites;
pub(crate) mod tree;
