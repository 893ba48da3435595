//! From released sums to a place, a size and directions. Everything in this room is post-processing: it sees released
//! numbers only, so it costs nothing and may use floating point.
//!
//! Lengths are in *units*: 1 is the width of a column's bounds, the cube is `[0, 1]^d`.

mod blob;
mod centre;
mod covariance;
mod dimension;
mod texture;

pub use blob::{Blob, Pull};
pub use centre::{Before, Centre, TYPICAL_SPREAD, clip_radius, contrast_reach};
pub use covariance::{Covariance, StratumMean};
pub use dimension::{Choice, choose};
pub use texture::Texture;
