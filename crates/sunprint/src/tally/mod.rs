//! Exact integer statistics of the sensitive rows: what a pass asks for, and the answer.
//!
//! A [`Pass`] is public: it says what to tally. A [`Tally`] is secret: exact integer sums over rows, which merge in
//! any order to the same bits, so that one thread, all cores and a cluster answer alike; it belongs to one pass of one fit
//! and says to which. There is no floating point
//! in this room, and nothing in it can fail because of a row's value.

mod bytes;
mod cells;
pub mod codes;
mod contrasts;
mod fingerprint;
mod forks;
mod gram;
mod grid;
mod layout;
mod marginals;
mod moments;
mod origin;
mod pass;
#[cfg(test)]
mod plain_tests;
mod sites;
mod sums;
mod wire;

pub use cells::{CellTally, Cells, Coordinates, Place};
pub use contrasts::{contrast_span, contrasts, helmert};
pub use fingerprint::{Fingerprint, KEY_BYTES, Marker};
pub use forks::{Fork, Forks};
pub use gram::packed_index;
pub use grid::{Grid, GridSide};
pub use layout::{ANCHOR, MomentLayout, STRATUM_ANCHOR, assemble};
pub use marginals::{Histogram, Marginals};
pub use moments::{ClampedSums, ClippedMoments, GRID, MomentTally, grid_radius};
pub use origin::{Digest, FitName, Hex};
pub(crate) use pass::Answer;
#[cfg(any(test, feature = "seam"))]
pub use pass::Opened;
pub use pass::{MOST_ROWS, Pass, Tally, Tallying, VERSION, Work};
pub use sites::{Axis, FRACTION as SITE_FRACTION, Group, SiteIndex, Sites, WIDEST as WIDEST_SITES, grid_bits};
pub use sums::{ProductTally, SumTally, Sums};
