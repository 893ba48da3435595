//! The kernel: the only room that turns [`Sensitive`] into [`Released`].
//!
//! Neighbouring tables differ by one replaced row; their number of rows is public. A mechanism takes a sensitive exact
//! integer statistic, a public bound on how far one row can move it, and a [`Charge`] by value; it adds exactly
//! distributed integer noise and writes a line into the [`Kernel`]'s log.
//!
//! * No floating point: every law is drawn from uniform bits by integer comparisons, every noise scale is a rational
//!   that is exact or rounded up. So there is no hidden δ from rounding.
//! * Nothing fails because of a private value; errors speak of charges, weights and shapes, which are public.
//! * The adversary sees the output, not the clock: the time a draw takes depends on the noise.
//! * The proofs speak of ideal coins; `entropy.rs` stretches a 256-bit key from the operating system by ChaCha20.
//!
//! | mechanism | pure | concentrated | file |
//! |---|---|---|---|
//! | [`Kernel::cube_sums`] | cube | discrete Gaussian | `cube.rs` |
//! | [`Kernel::scalar`], [`Kernel::vector`], [`Kernel::symmetric`] | discrete Laplace | discrete Gaussian | `additive.rs` |
//! | [`Kernel::moments`] | Wishart difference | discrete Gaussian | `moments.rs` |
//! | [`Kernel::path_counts`] | discrete Laplace | discrete Gaussian | `paths.rs` |
//! | [`Kernel::lattice_counts`] | discrete Laplace | discrete Gaussian | `lattice.rs` |

mod additive;
mod budget;
mod coin;
mod cube;
mod entropy;
mod epsilon;
mod float_door;
mod gaussian;
mod kernel;
mod laplace;
mod lattice;
#[cfg(test)]
mod law;
mod moments;
mod noise;
mod normal;
mod paths;
mod ratio;
mod scale;
mod sensitive;
mod widths;
mod wishart;

pub use budget::{Budget, Charge, Price, Privacy};
pub use epsilon::{Delta, Epsilon};
pub use kernel::{Kernel, Spent};
pub use lattice::{LatticeLaws, LatticeShares, StratumCells};
pub use moments::{NoiseScale, NoisyMoments};
pub use noise::Law;
pub use paths::{PathLaws, PathTree, StratumCounts};
pub use ratio::Ratio;
pub use sensitive::{Released, Sensitive};
