//! From noisy numbers to a model: sees no rows, knows no privacy.

pub(crate) mod correct;
pub(crate) mod generations;
pub(crate) mod sites;
