//! Privacy-blind mathematics: nothing here knows what is sensitive, reads a file or draws privacy noise.
//!
//! Floats are welcome in this room. Everything that decides how synthetic rows are drawn from a model uses only
//! additions, multiplications, divisions, square roots and `libm`, so that it gives the same bits on every machine.
//! [`eigen`] is the exception (its kernels differ between processors); its results are stored, never recomputed.

pub mod assignment;
pub mod auc;
pub mod boost;
pub mod cholesky;
pub mod cluster;
pub mod doubt;
pub mod eigen;
pub mod feasible;
pub mod flow;
pub mod gram;
pub mod haar;
pub(crate) mod hear;
pub mod lattice;
pub mod logistic;
pub mod normal;
pub mod offsets;
pub mod permutation;
pub(crate) mod pricing;
pub mod principal;
pub mod projection;
pub mod rounding;
pub mod shares;
pub mod stream;
pub mod student;
pub mod transport;
pub mod tree;
pub mod vector;
pub mod zcdp;
