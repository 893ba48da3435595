//! What to do with the budget: method, shares, dimension rule. Everything here is public.

mod shares;

use crate::error::{Error, Kind, Result};
use crate::math::transport::Metric;
use crate::math::zcdp;
use crate::privacy::{Budget, Delta, Epsilon, Ratio};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

pub(crate) use shares::{CELLS, candidates, counted, most_leaves, site_count, site_rounds, sums_of_strata};
pub use shares::{Facts, Shares, difficulty};

/// Which algorithm runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Centre, clipped moments by the Wishart difference, noise-aware dimension, least-squares PMM, texture.
    #[default]
    Default,
    /// The paper's Algorithms 1 to 4 step by step, with only the constants repaired that break privacy.
    Paper,
    /// PMM directly on the cube `[0, 1]^d`, without a projection: the baseline that shows the curse of dimension.
    Cube,
    /// One Gaussian with the noisy mean and covariance: the baseline that shows what the shape is worth.
    Gaussian,
}

impl Method {
    /// The word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Method::Default => "default",
            Method::Paper => "paper",
            Method::Cube => "cube",
            Method::Gaussian => "gaussian",
        }
    }
}

/// How the shape is measured in the chosen directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mechanism {
    /// Whichever of the two was measured to be more accurate; with [`Method::Paper`], whichever the paper takes.
    #[default]
    Auto,
    /// The private measure mechanism: noisy counts on every level of a binary tree, made consistent.
    Pmm,
    /// The private signed measure mechanism: noisy counts in the cells of a lattice, and the measure nearest to them.
    Psmm,
}

/// Auto takes PSMM from this dimension on, and for εn in this range, for the rows of one stratum: with fewer rows noise
/// has to be carried too far, with more of them the tree is as good and quicker.
const LATTICE_FROM: usize = 3;
const LATTICE_ROWS: RangeInclusive<f64> = 300.0..=3_000_000.0;

impl Mechanism {
    /// All of them.
    pub const ALL: [Mechanism; 3] = [Mechanism::Auto, Mechanism::Pmm, Mechanism::Psmm];

    /// The word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Mechanism::Auto => "auto",
            Mechanism::Pmm => "pmm",
            Mechanism::Psmm => "psmm",
        }
    }

    /// Auto decided, by the dimension and εn, the rows of a stratum times the ε of the measure. See `docs/mechanisms.md` for the
    /// figures behind the rule.
    pub(crate) fn chosen(self, dimension: usize, scaled_rows: f64) -> Mechanism {
        match self {
            Mechanism::Auto if dimension >= LATTICE_FROM && LATTICE_ROWS.contains(&scaled_rows) => Mechanism::Psmm,
            Mechanism::Auto => Mechanism::Pmm,
            chosen => chosen,
        }
    }
}

/// What a fit should do. Epsilon has no default and is not here: it comes as a [`Budget`].
#[derive(Clone, Debug)]
pub struct Plan {
    /// The algorithm.
    pub method: Method,
    /// A dimension d′ chosen in advance, instead of by the rule.
    pub dimension: Option<usize>,
    /// Whether the complement is drawn back as Gaussian texture.
    pub texture: bool,
    /// How the shape is measured.
    pub mechanism: Mechanism,
    /// The distance that PSMM moves mass by.
    pub metric: Metric,
    /// The side of PSMM's cells in units of a column's range, instead of by the number of rows.
    pub cell: Option<f64>,
    /// Directions known from public data or physics: k vectors of d numbers. Their budget goes to the measure.
    pub public_basis: Option<Vec<Vec<f64>>>,
    /// Shares chosen by hand, instead of by [`Shares::for_table`].
    pub shares: Option<Shares>,
    /// Constants of the method that cost no privacy.
    pub tuning: Tuning,
}

impl Default for Plan {
    fn default() -> Self {
        Plan {
            method: Method::Default,
            dimension: None,
            texture: true,
            mechanism: Mechanism::Auto,
            metric: Metric::Euclidean,
            cell: None,
            public_basis: None,
            shares: None,
            tuning: Tuning::default(),
        }
    }
}

/// Constants of the method that touch accuracy only: each works on released numbers, so none can cost privacy.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Tuning {
    /// κ: the squared clip radius over the estimated spread, in the easy limit and in the hard one. A smaller ball
    /// means less noise and more rows that are clipped; the harder the table, the more the noise matters.
    pub clip: (f64, f64),
    /// τ: half-width of the box in standard deviations.
    pub reach: f64,
    /// Weight of the measure's predicted error in the choice of d′.
    pub measure_weight: f64,
    /// What a direction's deviation counts when it is drawn back as Gaussian texture instead of being measured: its
    /// size is right and only its shape is lost.
    pub texture_weight: f64,
    /// The largest d′ that the rule chooses.
    pub most_dimensions: usize,
    /// Weight of the noise term against the cell size in the choice of depth.
    pub depth_noise: f64,
    /// PSMM: rows in a cell on average, times the measure's ε, instead of [`Tuning::rows_per_cell_in`].
    pub rows_per_cell: Option<f64>,
    /// An eigenvalue must exceed this multiple of the noise edge to count.
    pub edge_margin: f64,
    /// β: how far the rows of a node may be from what the Gaussian expects of it, in deviations of one row.
    pub surprise: f64,
}

impl Default for Tuning {
    fn default() -> Self {
        Tuning {
            clip: (2.2, 1.2),
            reach: 3.5,
            measure_weight: 0.1,
            texture_weight: 0.5,
            most_dimensions: 5,
            depth_noise: 0.5,
            rows_per_cell: None,
            edge_margin: 1.05,
            surprise: 0.5,
        }
    }
}

impl Tuning {
    /// PSMM: rows in a cell on average, times the measure's ε, in a dimension.
    ///
    /// Coarse cells misplace rows by their own width, fine ones hold more noise than rows. Noise cancels over short ways
    /// in many dimensions and over long ways in few, so the more dimensions, the finer the best cells are.
    pub fn rows_per_cell_in(&self, dimension: usize) -> f64 {
        let halvings = i32::try_from(dimension.saturating_sub(1)).unwrap_or(i32::MAX).min(3);
        self.rows_per_cell.unwrap_or(24.0 * 0.5_f64.powi(halvings))
    }

    /// κ at a difficulty.
    pub fn clip_at(&self, difficulty: f64) -> f64 {
        let (easy, hard) = self.clip;
        hard + (easy - hard) / (1.0 + (300.0 * difficulty).powi(2))
    }
}

/// The budget of a promise: pure ε alone, or (ε, δ) by way of the largest ρ of zCDP that implies it.
pub fn budget(epsilon: Epsilon, delta: Option<Delta>) -> Result<Budget> {
    let Some(delta) = delta else {
        return Ok(Budget::pure(epsilon));
    };
    let (num, den) = zcdp::rho_fraction(as_float(&epsilon.ratio()), as_float(&delta.ratio()));
    Ratio::new(num, den).filter(|rho| !rho.is_zero()).map_or_else(
        || {
            Err(Error::new(Kind::Usage, "`--delta` leaves no budget at this `--epsilon`")
                .hint("take a larger `--epsilon` or `--delta`"))
        },
        |rho| Budget::concentrated(rho, epsilon, delta),
    )
}

/// A public ratio as a float, for predictions and post-processing; never for noise.
pub(crate) fn as_float(ratio: &Ratio) -> f64 {
    ratio.num() as f64 / ratio.den() as f64
}
