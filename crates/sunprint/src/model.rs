//! The model: everything that was released, and nothing else. Publish it, draw from it for ever.

mod agree;
mod alternatives;
mod balance;
mod calibrate;
mod candidates;
mod constraints;
mod curve;
mod draw;
mod evidence;
mod file;
mod grow;
mod pool;
mod residuals;
mod settle;
mod sieve;
pub(crate) mod tree;
mod verify;
mod weighed;

use crate::measure::{Measure, Side};
use crate::receipt::Receipt;
use crate::schema::Schema;
use crate::source::Layout;
use crate::subspace::Texture;
use serde::{Deserialize, Serialize};

pub(crate) use agree::correlations;
pub(crate) use balance::{Known, balance};
pub(crate) use calibrate::{Piece, Target, Wanted, calibrate, recalibrate};
pub use constraints::Constraints;
pub use curve::Curve;
pub use draw::{BLOCK, Draw};
pub(crate) use evidence::MOST_COVARIANCES;
pub use evidence::{Cell, Cells, Evidence, MomentEvidence, Noisy, StratumEvidence, SumEvidence, ValueEvidence};
pub use file::MOST_BYTES;
pub(crate) use grow::grow;
pub(crate) use pool::Pool;
pub use residuals::Residual;
pub(crate) use residuals::{Rows, rows_of};
pub use settle::{Absent, OneOf, Settle, Settling};
pub use sieve::Sieve;
pub(crate) use verify::verify;
pub(crate) use weighed::{ColumnMoments, ValueCounts};

/// A finished release.
#[derive(Clone, Debug)]
pub struct Model {
    schema: Schema,
    layout: Option<Layout>,
    receipt: Receipt,
    release: Release,
    evidence: Evidence,
}

/// The released numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Release {
    /// Where the box stands in `[0, 1]^d`.
    pub frame: Frame,
    /// The measure on it.
    pub measure: Measure,
    /// What is drawn beside it.
    pub texture: Texture,
    /// Where in its cell a point is drawn.
    pub spot: Spot,
    /// How a drawn row becomes one that the table could hold.
    #[serde(default)]
    pub settle: Settle,
    /// Which rows are kept: those that pass all of them. Only models of earlier formats have any.
    #[serde(rename = "sieve", default, skip_serializing_if = "Vec::is_empty", with = "sieve::one_or_several")]
    pub sieves: Vec<Sieve>,
    /// Candidates that have children, oldest first: those that are drawn descend from them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ancestors: Vec<Generation>,
    /// How often each candidate is drawn, if rows are drawn among candidates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<u32>,
    /// Released eigenvalues, largest first; empty where none were measured.
    pub spectrum: Vec<f64>,
    /// Eigenvalues at or below this are noise.
    pub edge: f64,
}

/// Candidates whose children are the next candidates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Generation {
    /// How often each has a child, in proportion.
    pub weights: Vec<u32>,
    /// How much of a child's normal numbers is its own: h of `√(1 − h²) z + h z′`.
    pub fresh: f64,
}

/// Where the box stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Frame {
    /// In a plane: a point is `origin + Σ a_i v_i`.
    Basis {
        /// What a point is lifted from.
        origin: Vec<f64>,
        /// Unit vectors.
        vectors: Vec<Vec<f64>>,
        /// The box.
        sides: Vec<Side>,
    },
    /// The cube itself.
    Columns {
        /// d.
        width: usize,
    },
}

/// Where in its cell a point is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Spot {
    /// Uniformly.
    Uniform,
    /// In the middle.
    Centre,
}

impl Model {
    pub(crate) fn new(schema: Schema, receipt: Receipt, release: Release) -> Model {
        Model { schema, layout: None, receipt, release, evidence: Evidence::default() }
    }

    /// Keeps what was released of single columns and pairs of them.
    #[must_use]
    pub(crate) fn with_evidence(mut self, evidence: Evidence) -> Model {
        self.evidence = evidence;
        self
    }

    /// Remembers the columns' order and types in the file, so that what is drawn looks like what was read.
    #[must_use]
    pub fn with_layout(mut self, layout: Layout) -> Model {
        self.layout = Some(layout);
        self
    }

    /// All public knowledge of the table.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Order and types of the columns in the file that was read, or the schema's own.
    pub fn layout(&self) -> Layout {
        self.layout.clone().unwrap_or_else(|| Layout::of_schema(&self.schema))
    }

    /// What was promised and spent.
    pub fn receipt(&self) -> &Receipt {
        &self.receipt
    }

    /// The released numbers.
    pub fn release(&self) -> &Release {
        &self.release
    }

    /// What was released of single columns and pairs of them, with its noise.
    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// n of the table that was measured.
    pub fn rows(&self) -> u64 {
        self.receipt.rows.unwrap_or(0)
    }
}
