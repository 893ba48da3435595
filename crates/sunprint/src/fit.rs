//! The protocol: a fit is a conversation of a few passes.
//!
//! ```text
//! begin ─▶ next_pass ─▶ (tally each part, merge) ─▶ absorb ─▶ next_pass ─▶ … ─▶ finish
//! ```
//!
//! [`Fit::next_pass`] is public and may be sent anywhere; the tally that answers it is secret; [`Fit::absorb`] adds the
//! noise, once. The file reads like the paper's Algorithm 1: centre, covariance, projection, low-dimensional measure;
//! adding the mean back and the metric projection happen when rows are drawn.

mod attune;
mod blob;
mod cells;
mod contrasts;
mod counts;
mod marginals;
mod mechanism;
mod noted;
mod one_of;
mod paper;
mod refined;
mod weighed;

use crate::error::{Error, Kind, Result};
use crate::ledger::Entry;
use crate::model::{Evidence, Model, Release};
use crate::plan::{Facts, Method, Plan, Shares, as_float};
use crate::privacy::{Budget, Charge, Kernel, Privacy, Sensitive};
use crate::receipt::Receipt;
use crate::schema::Schema;
use crate::subspace::Centre;
use crate::tally::{ClampedSums, ClippedMoments, Digest, FitName, MOST_ROWS, Marginals, Pass, Tally, Work};
pub use cells::Ahead;
use cells::MeasureStage;
pub(crate) use contrasts::contrast_reach;
use counts::CountStage;
pub(crate) use refined::centre_noise;

/// A fit in progress.
pub struct Fit {
    schema: Schema,
    plan: Plan,
    rows: u64,
    kernel: Kernel,
    stage: Stage,
    /// Its name and the digest of its schema, which every pass carries, and the number of the next pass.
    name: FitName,
    schema_digest: Digest,
    number: u32,
    receipt: Receipt,
    /// What was released of single columns and pairs of them.
    evidence: Evidence,
}

/// Where the conversation stands, with the charges that are still to be spent.
enum Stage {
    /// Default method, pass 1.
    Centre { centre: Charge, spread: Charge, rest: Rest },
    /// Default method, pass 2.
    Moments { centre: Centre, spec: ClippedMoments, rest: Rest },
    /// Default method with few rows, pass 2.
    Contrasts { centre: Centre, spec: ClampedSums, rest: Rest },
    /// Default method, pass 3, where the values of columns are counted one by one.
    Marginals { spec: Marginals, charge: Charge, measure: Box<MeasureStage> },
    /// The paper's method, pass 1.
    Products { covariance: Charge, mean: Charge, measure: Charge },
    /// Every method, the last pass but those of labels and sites.
    Measure(Box<MeasureStage>),
    /// Default method, the last passes: strata in the leaves of a tree, and sites where rows are many.
    Counts(Box<CountStage>),
    /// Nothing left to do.
    Done(Box<Release>),
    /// A pass failed; the charge is gone and the fit cannot go on.
    Broken,
}

/// What the first pass leaves of the budget. A charge of nothing belongs to a stage that does not run.
struct Rest {
    contrasts: Charge,
    moments: Charge,
    marginals: Charge,
    measure: Charge,
    labels: Charge,
    sites: Charge,
}

/// What is counted once a model is there.
struct Later {
    labels: Charge,
    sites: Charge,
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
            Method::Default | Method::Gaussian => {
                let facts = Facts::of(schema, rows, epsilon);
                let shares = plan.shares.unwrap_or_else(|| match plan.method {
                    Method::Gaussian => Shares::for_gaussian(&facts),
                    _ if plan.public_basis.is_some() => Shares::with_public_basis(&facts),
                    // Directions that are asked for are measured, however few the rows. Marginals are of the texture.
                    _ if !plan.texture => Shares::without_marginals(&facts),
                    _ if plan.dimension.is_some() => Shares::with_directions(&facts),
                    _ => Shares::for_table(&facts),
                });
                shares.check(&facts)?;
                receipt.default_stages(&shares);
                let Shares { centre, spread, contrasts, moments, marginals, measure, labels, sites } = shares;
                let [centre, spread, contrasts, moments, marginals, measure, labels, sites] =
                    budget.split([centre, spread, contrasts, moments, marginals, measure, labels, sites])?;
                let rest = Rest { contrasts, moments, marginals, measure, labels, sites };
                Stage::Centre { centre, spread, rest }
            }
            Method::Paper => {
                let [covariance, mean, measure] = budget.split([1, 1, 1])?;
                let allocation = mechanism::whole_allocation(&measure, rows, schema.strata(), &plan);
                mechanism::check_paper_lattice(&plan, &allocation)?;
                paper::stages(&mut receipt);
                Stage::Products { covariance, mean, measure }
            }
            Method::Cube => {
                let [measure] = budget.split([1])?;
                receipt.stage("measure", 1, 1, "noise on cell counts of the cube");
                let allocation = mechanism::whole_allocation(&measure, rows, schema.strata(), &plan);
                let stage = mechanism::cube_stage(width, &allocation, measure, &plan)?;
                receipt.cells = Some(stage.partition.describe());
                Stage::Measure(Box::new(stage))
            }
        };
        let (name, schema_digest) = (FitName::fresh()?, digest_of(schema));
        let (evidence, schema) = (Evidence::default(), schema.clone());
        let mut fit = Fit { schema, plan, rows, kernel, stage, name, schema_digest, number: 1, receipt, evidence };
        fit.skip_centre()?;
        Ok(fit)
    }

    /// The receipt as it stands: the promise first, then what was spent so far.
    pub fn receipt(&self) -> &Receipt {
        &self.receipt
    }

    /// Says in the receipt where the spending is written down.
    #[must_use]
    pub fn recorded(mut self, entry: Entry) -> Fit {
        self.receipt.ledger = Some(entry);
        self
    }

    /// The next pass over the rows, or nothing when the fit is complete. Public.
    pub fn next_pass(&self) -> Option<Pass> {
        let work = match &self.stage {
            Stage::Centre { .. } => Work::Sums(self.open_coordinates()),
            Stage::Moments { spec, .. } => Work::Moments(spec.clone()),
            Stage::Contrasts { spec, .. } => Work::Clamped(spec.clone()),
            Stage::Marginals { spec, .. } => Work::Marginals(spec.clone()),
            Stage::Products { .. } => Work::Products,
            Stage::Measure(stage) => stage.work(),
            Stage::Counts(stage) => stage.work(),
            Stage::Done(_) | Stage::Broken => return None,
        };
        let pass = Pass::new(self.number, self.schema.width(), self.schema.strata(), work);
        Some(pass.of_fit(self.name, self.schema_digest))
    }

    /// Whether [`Fit::absorb`] would take this tally: spends nothing.
    ///
    /// # Errors
    /// [`Kind::Protocol`] for a tally of another fit, of another pass or of another number of rows, and where no pass is
    /// left. All of these are public.
    pub fn admits(&self, tally: &Tally) -> Result<()> {
        let pass = self.next_pass().ok_or_else(|| Error::new(Kind::Protocol, "this fit has no pass left to absorb"))?;
        if let Some(apart) = tally.origin.apart(&pass.origin()) {
            return Err(apart.refused(
                "the tally belongs to another fit than this one",
                "the tally answers another pass than the current one",
            ));
        }
        if tally.rows != self.rows {
            return Err(Error::new(
                Kind::Protocol,
                format!("the tally counts {} rows and the fit was begun with {}", tally.rows, self.rows),
            )
            .hint("tally every part of the table exactly once"));
        }
        Ok(())
    }

    /// Takes the merged tally of the current pass and spends that pass's charges on it.
    ///
    /// A tally of another fit, of another pass, or of another number of rows, is refused before anything is spent: see
    /// [`Fit::admits`]. Every release gets noise of its own, also in processes that forked from the one where the fit
    /// began; but each of them then releases, and each costs its ε.
    pub fn absorb(&mut self, tally: Tally) -> Result<()> {
        self.absorb_watched(tally, &|_, _| {})
    }

    /// The same, with someone who watches the search for the nearest measure, the one step of a fit that may take long
    /// after the rows were read: `watch(done, whole)`. Both are made of released numbers.
    pub fn absorb_watched(&mut self, tally: Tally, watch: &dyn Fn(u64, u64)) -> Result<()> {
        self.admits(&tally)?;
        let answer = Sensitive::new(tally.answer);
        self.number += 1;
        let next = match std::mem::replace(&mut self.stage, Stage::Broken) {
            Stage::Centre { centre, spread, rest } => self.absorb_centre(answer, centre, spread, rest),
            Stage::Moments { centre, spec, rest } => self.absorb_moments(answer, &centre, &spec, rest),
            Stage::Contrasts { centre, spec, rest } => self.absorb_contrasts(answer, &centre, &spec, rest),
            Stage::Marginals { spec, charge, measure } => self.absorb_marginals(answer, &spec, charge, *measure),
            Stage::Products { covariance, mean, measure } => self.absorb_products(answer, covariance, mean, measure),
            Stage::Measure(stage) => self.absorb_cells(answer, *stage, watch),
            Stage::Counts(stage) => self.absorb_counts(answer, *stage),
            stage @ (Stage::Done(_) | Stage::Broken) => Ok(stage),
        };
        // What a stage spent before it failed is spent all the same.
        self.receipt.spent = self.kernel.log().to_vec();
        self.stage = next?;
        Ok(())
    }

    /// The finished model: public.
    pub fn finish(self) -> Result<Model> {
        match self.stage {
            Stage::Done(release) => Ok(Model::new(self.schema, self.receipt, *release).with_evidence(self.evidence)),
            _ => Err(Error::new(Kind::Protocol, "the fit is not complete: passes are left")
                .hint("absorb a tally for every pass that `next_pass` gives")),
        }
    }
}

/// The digest of a schema, as passes carry it.
pub fn digest_of(schema: &Schema) -> Digest {
    Digest::of(schema.to_toml().as_bytes())
}

/// The rules behind [`Plan::check`].
pub(crate) fn check_plan(plan: &Plan, width: usize, strata: usize) -> Result<()> {
    mechanism::check_mechanism(plan)?;
    if let Some(k) = plan.dimension {
        if k == 0 || k > width {
            return Err(Error::new(
                Kind::Usage,
                format!("`--dimension` must lie between 1 and the number of columns, {width}; {k} was given"),
            )
            .hint("leave it out to let Sunprint choose"));
        }
        if matches!(plan.method, Method::Cube | Method::Gaussian) {
            return Err(Error::new(
                Kind::Usage,
                format!("`--dimension` has no meaning with `--method {}`, which does not project", plan.method.name()),
            )
            .hint("leave `--dimension` out"));
        }
    }
    if plan.public_basis.is_some() {
        if plan.method != Method::Default {
            return Err(Error::new(Kind::Usage, "`--public-basis` works with the default method only")
                .hint("leave `--method` out"));
        }
        if plan.shares.is_some_and(|shares| shares.moments > 0 && shares.measure == 0) {
            return Err(Error::new(Kind::Usage, "a public basis without a share for the measure says nothing")
                .hint("give the measure at least one ten-thousandth"));
        }
        let directions = refined::orthonormal(plan.public_basis.as_deref().unwrap_or_default(), width)?.len();
        if let Some(k) = plan.dimension.filter(|&k| k > directions) {
            return Err(Error::new(
                Kind::Usage,
                format!("`--dimension` is {k}, and the public basis has fewer directions: {directions}"),
            )
            .hint("leave `--dimension` out, or give more directions"));
        }
    }
    mechanism::check_lattice(plan, width, strata)
}

/// Unit vectors as integers: 2³⁰ is one.
fn fixed_point(vectors: &[Vec<f64>]) -> Vec<Vec<i32>> {
    let integer = |x: &f64| (x.clamp(-1.0, 1.0) * f64::from(BASIS_BITS).exp2()).round() as i32;
    vectors.iter().map(|v| v.iter().map(integer).collect()).collect()
}

/// The standard deviation of discrete Laplace noise of sensitivity Δ, or of the Gaussian: √2 Δ/ε, Δ/√(2ρ).
pub(crate) fn scalar_noise(sensitivity: f64, amount: f64, privacy: Privacy) -> f64 {
    match privacy {
        Privacy::Pure => std::f64::consts::SQRT_2 * sensitivity / amount,
        Privacy::Concentrated => sensitivity / (2.0 * amount).sqrt(),
    }
}
