//! From noisy numbers to a model: sees no rows and knows no privacy. Whatever is computed here is post-processing.

pub(crate) mod clouds;
pub(crate) mod hear;
pub(crate) mod sites;
pub(crate) mod support;
pub(crate) mod through;
