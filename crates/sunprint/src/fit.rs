//! The protocol: a fit is a conversation of a few passes.
//!
//! ```text
//! begin ─▶ next_pass ─▶ (tally each part, merge) ─▶ absorb ─▶ next_pass ─▶ … ─▶ finish
//! ```
//!
//! [`Fit::next_pass`] is public and may be sent anywhere; the tally that answers it is secret; [`Fit::absorb`] adds the
//! noise, once. The file reads like the paper's Algorithm 1: centre, covariance, projection, low-dimensional measure;
//! adding the mean back and the metric projection happen when rows are drawn.

mod paper;
mod refined;

use crate::error::{Error, Kind, Result};
use crate::measure::{Allocation, Consistency, Side, consistent};
use crate::model::{Frame, Model, Release, Spot, balance};
use crate::plan::{Method, Plan, Shares, as_float};
use crate::privacy::{Budget, Charge, Kernel, PathTree, Privacy, Sensitive};
use crate::receipt::Receipt;
use crate::schema::Schema;
use crate::subspace::{Centre, Texture};
use crate::tally::codes::Q;
use crate::tally::{Answer, Cells, ClippedMoments, Coordinates, MOST_ROWS, Pass, Place, Tally, VERSION, Work};

/// A fit in progress.
pub struct Fit {
    schema: Schema,
    plan: Plan,
    rows: u64,
    kernel: Kernel,
    stage: Stage,
    number: u32,
    receipt: Receipt,
}

/// Where the conversation stands, with the charges that are still to be spent.
enum Stage {
    /// Default method, pass 1.
    Centre { centre: Charge, spread: Charge, moments: Charge, measure: Charge },
    /// Default method, pass 2.
    Moments { centre: Centre, spec: ClippedMoments, moments: Charge, measure: Charge },
    /// The paper's method, pass 1.
    Products { covariance: Charge, mean: Charge, measure: Charge },
    /// Every method, the last pass.
    Measure(Box<MeasureStage>),
    /// Nothing left to do.
    Done(Box<Release>),
    /// A pass failed; the charge is gone and the fit cannot go on.
    Broken,
}

/// What the last pass needs.
pub(crate) struct MeasureStage {
    charge: Charge,
    cells: Cells,
    tree: PathTree,
    frame: Frame,
    texture: Texture,
    consistency: Consistency,
    spot: Spot,
    spectrum: Vec<f64>,
    edge: f64,
}

/// Fractional bits of the integer basis.
const BASIS_BITS: i32 = 30;

impl Fit {
    /// Begins a fit of a table with `rows` rows. Spends nothing and reads nothing.
    pub fn begin(schema: &Schema, plan: Plan, budget: Budget, rows: u64) -> Result<Fit> {
        Fit::begin_with(schema, plan, budget, rows, Kernel::new()?)
    }

    /// Begins a fit with a kernel of the caller's choice: a spy, or one without noise. For tests only.
    #[cfg(any(test, feature = "seam"))]
    pub fn begin_with_danger_kernel(
        schema: &Schema,
        plan: Plan,
        budget: Budget,
        rows: u64,
        kernel: Kernel,
    ) -> Result<Fit> {
        Fit::begin_with(schema, plan, budget, rows, kernel)
    }

    fn begin_with(schema: &Schema, plan: Plan, budget: Budget, rows: u64, kernel: Kernel) -> Result<Fit> {
        let width = schema.width();
        if rows == 0 {
            return Err(Error::new(Kind::Data, "the table has no rows").hint("a fit needs at least one row"));
        }
        if rows > MOST_ROWS {
            return Err(Error::new(
                Kind::Data,
                format!("the table has {rows} rows, at most {MOST_ROWS} are supported"),
            )
            .hint("fit a random part of the table"));
        }
        plan.check(schema)?;
        let mut receipt = Receipt::promise(schema, &plan, &budget);
        receipt.rows = Some(rows);
        let epsilon = as_float(&budget.epsilon().ratio());
        let stage = match plan.method {
            Method::Default => {
                let public = plan.public_basis.is_some();
                let shares = plan.shares.unwrap_or_else(|| {
                    if public {
                        Shares::with_public_basis(rows, width, epsilon)
                    } else {
                        Shares::for_table(rows, width, epsilon)
                    }
                });
                shares.check()?;
                receipt.default_stages(&shares);
                let [centre, spread, moments, measure] =
                    budget.split([shares.centre, shares.spread, shares.moments, shares.measure])?;
                Stage::Centre { centre, spread, moments, measure }
            }
            Method::Paper => {
                let [covariance, mean, measure] = budget.split([1, 1, 1])?;
                paper::stages(&mut receipt);
                Stage::Products { covariance, mean, measure }
            }
            Method::Cube => {
                let [measure] = budget.split([1])?;
                receipt.stage("measure", 1, 1, "noise on cell counts of the cube");
                Stage::Measure(Box::new(paper::cube_stage(width, schema.strata(), rows, measure, &plan)))
            }
        };
        Ok(Fit { schema: schema.clone(), plan, rows, kernel, stage, number: 1, receipt })
    }

    /// The receipt as it stands: the promise first, then what was spent so far.
    pub fn receipt(&self) -> &Receipt {
        &self.receipt
    }

    /// The next pass over the rows, or nothing when the fit is complete. Public.
    pub fn next_pass(&self) -> Option<Pass> {
        let work = match &self.stage {
            Stage::Centre { .. } => Work::Sums,
            Stage::Moments { spec, .. } => Work::Moments(spec.clone()),
            Stage::Products { .. } => Work::Products,
            Stage::Measure(stage) => Work::Cells(stage.cells.clone()),
            Stage::Done(_) | Stage::Broken => return None,
        };
        let (width, strata) = (self.schema.width(), self.schema.strata());
        Some(Pass { version: VERSION, number: self.number, width, strata, work })
    }

    /// Takes the merged tally of the current pass and spends that pass's charges on it.
    ///
    /// A tally of another pass, or of another number of rows, is refused before anything is spent; n and the shape of a
    /// tally are public.
    pub fn absorb(&mut self, tally: Tally) -> Result<()> {
        let pass = self.next_pass().ok_or_else(|| Error::new(Kind::Protocol, "this fit has no pass left to absorb"))?;
        if (tally.number, tally.shape()) != (pass.number, pass.empty().shape()) {
            return Err(Error::new(Kind::Protocol, "the tally answers another pass than the current one"));
        }
        if tally.rows != self.rows {
            return Err(Error::new(
                Kind::Protocol,
                format!("the tally counts {} rows and the fit was begun with {}", tally.rows, self.rows),
            )
            .hint("tally every part of the table exactly once"));
        }
        let answer = Sensitive::new(tally.answer);
        self.number += 1;
        let next = match std::mem::replace(&mut self.stage, Stage::Broken) {
            Stage::Centre { centre, spread, moments, measure } => {
                self.absorb_centre(answer, centre, spread, moments, measure)
            }
            Stage::Moments { centre, spec, moments, measure } => {
                self.absorb_moments(answer, &centre, &spec, moments, measure)
            }
            Stage::Products { covariance, mean, measure } => self.absorb_products(answer, covariance, mean, measure),
            Stage::Measure(stage) => self.absorb_cells(answer, *stage),
            stage @ (Stage::Done(_) | Stage::Broken) => Ok(stage),
        };
        // What a stage spent before it failed is spent all the same.
        self.receipt.spent = self.kernel.log().to_vec();
        self.stage = next?;
        Ok(())
    }

    /// The last pass: noisy counts, consistency, done.
    fn absorb_cells(&mut self, answer: Sensitive<Answer>, stage: MeasureStage) -> Result<Stage> {
        let MeasureStage { charge, cells, tree, frame, texture, consistency, spot, spectrum, edge } = stage;
        let leaves = answer.map(|answer| match answer {
            Answer::Cells(counts) => counts.leaves,
            _ => Vec::new(),
        });
        let (amount, privacy) = (as_float(&charge.amount()), charge.privacy());
        self.remark_on_few_rows(&tree, amount, privacy);
        let counts = self.kernel.path_counts("measure", &tree, leaves, charge)?.into_inner();
        let measure = consistent(&counts, &tree, cells.cuts, self.rows, amount, privacy, consistency);
        let mut release = Release { frame, measure, texture, spot, spectrum, edge };
        if self.plan.texture && self.plan.method == Method::Default {
            balance(&mut release, self.schema.width());
        }
        Ok(Stage::Done(Box::new(release)))
    }

    /// Says so where even the first cut is noise: where the deviation of its counts is half of a stratum or more.
    ///
    /// Pure: `Lap_Z(b)` with `b = 2 total/(ε w)` has deviation about `√2 b`. zCDP: `σ² = total/(ρ w)`.
    fn remark_on_few_rows(&mut self, tree: &PathTree, amount: f64, privacy: Privacy) {
        let first = tree.strata.iter().filter_map(|levels| levels.first()).max().copied().unwrap_or(0);
        let part = tree.total as f64 / (amount * first.max(1) as f64);
        let deviation = match privacy {
            Privacy::Pure => 8.0_f64.sqrt() * part,
            Privacy::Concentrated => part.sqrt(),
        };
        if self.receipt.remarks.is_empty() && deviation >= self.rows as f64 / (2 * tree.strata.len().max(1)) as f64 {
            self.receipt.remarks.push(
                "the table has so few rows that at this ε the cell counts are little more than noise: the output says \
                 next to nothing about the table"
                    .to_string(),
            );
        }
    }

    /// The finished model: public.
    pub fn finish(self) -> Result<Model> {
        match self.stage {
            Stage::Done(release) => Ok(Model::new(self.schema, self.receipt, *release)),
            _ => Err(Error::new(Kind::Protocol, "the fit is not complete: passes are left")
                .hint("absorb a tally for every pass that `next_pass` gives")),
        }
    }

    fn allocation(&self, charge: &Charge) -> Allocation {
        Allocation {
            rows: self.rows as f64,
            amount: as_float(&charge.amount()),
            privacy: charge.privacy(),
            strata: self.schema.strata(),
            depth_noise: self.plan.tuning.depth_noise,
        }
    }
}

/// The rules behind [`Plan::check`].
pub(crate) fn check_plan(plan: &Plan, width: usize) -> Result<()> {
    if let Some(k) = plan.dimension {
        if k == 0 || k > width {
            return Err(Error::new(
                Kind::Usage,
                format!("`--dimension` must lie between 1 and the number of columns, {width}; {k} was given"),
            )
            .hint("leave it out to let Sunprint choose"));
        }
        if plan.method == Method::Cube {
            return Err(Error::new(
                Kind::Usage,
                "`--dimension` has no meaning with `--method cube`, which does not project",
            )
            .hint("leave `--dimension` out"));
        }
    }
    if plan.public_basis.is_some() {
        if plan.method != Method::Default {
            return Err(Error::new(Kind::Usage, "`--public-basis` works with the default method only")
                .hint("leave `--method` out"));
        }
        let directions = refined::orthonormal(plan.public_basis.as_deref().unwrap_or_default(), width)?.len();
        if let Some(k) = plan.dimension.filter(|&k| k > directions) {
            return Err(Error::new(
                Kind::Usage,
                format!("`--dimension` is {k} and the public basis has only {directions} directions"),
            )
            .hint("leave `--dimension` out, or give more directions"));
        }
    }
    Ok(())
}

/// The pass's integer description of float directions and sides: `V_int = round(2³⁰ V)`, steps in 2⁻³⁰ codes.
///
/// Only coordinates that are cut are sent. The step is rounded up, so the last cell still reaches the upper end.
fn cells(centre: &[u16], vectors: &[Vec<f64>], sides: &[Side], cuts: &[u16], depths: &[u8]) -> Cells {
    let scale = f64::from(BASIS_BITS).exp2();
    let mut cells = Cells { coordinates: Coordinates::Columns, cuts: cuts.to_vec(), depths: depths.to_vec() };
    let bits = cells.bits();
    let places = sides
        .iter()
        .zip(&bits)
        .map(|(side, &bits)| {
            let unit = f64::from(Q) * scale;
            let step = (side.width * unit / f64::from(bits).exp2()).ceil().max(1.0);
            Place { low: (side.low * unit).floor() as i64, step: step as i64 }
        })
        .collect();
    let vectors = fixed_point(&vectors[..bits.len()]);
    cells.coordinates = Coordinates::Basis { centre: centre.to_vec(), vectors, places };
    cells
}

/// Unit vectors as integers: 2³⁰ is one.
fn fixed_point(vectors: &[Vec<f64>]) -> Vec<Vec<i32>> {
    let integer = |x: &f64| (x.clamp(-1.0, 1.0) * f64::from(BASIS_BITS).exp2()).round() as i32;
    vectors.iter().map(|v| v.iter().map(integer).collect()).collect()
}

/// The standard deviation of discrete Laplace noise of sensitivity Δ, or of the Gaussian: √2 Δ/ε, Δ/√(2ρ).
fn scalar_noise(sensitivity: f64, amount: f64, privacy: Privacy) -> f64 {
    match privacy {
        Privacy::Pure => std::f64::consts::SQRT_2 * sensitivity / amount,
        Privacy::Concentrated => sensitivity / (2.0 * amount).sqrt(),
    }
}
