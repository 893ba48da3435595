//! The default method's second pass: clipped moments, then basis and d′.

use super::attune::Ground;
use super::blob::{plain_blob, stratum_sizes};
use super::cells::{CellStage, Space};
use super::course::{Course, Measurement, Next};
use super::default::{Later, Rest};
use super::one_of;
use super::rules::orthonormal;
use super::values::{Then, ValueStage};
use crate::error::Result;
use crate::math::vector::dot;
use crate::measure::{Measure, Side, box_sides};
use crate::model::{Frame, Noisy, Release, Settle, Spot};
use crate::plan::Method;
use crate::privacy::{Charge, Sensitive};
use crate::subspace::{Blob, Centre, Covariance, StratumMean, Texture, choose};
use crate::tally::{Answer, ClippedMoments, MomentLayout, Work, assemble};

/// Said where only the place of the cloud was found. It covers whatever else could be said of few rows.
pub(super) const NO_DIRECTION: &str = "no direction of the data stands out of the privacy noise at this ε and number of \
    rows: the output is little more than a cloud in about the right place";

/// Second moments of rows that are clipped to a ball around the centre.
pub(super) struct MomentStage {
    pub centre: Centre,
    pub spec: ClippedMoments,
    pub rest: Rest,
}

impl Measurement for MomentStage {
    fn work(&self) -> Work {
        Work::Moments(self.spec.clone())
    }

    fn release(self: Box<Self>, course: &mut Course, answer: Sensitive<Answer>, _: &dyn Fn(u64, u64)) -> Result<Next> {
        let MomentStage { centre, spec, rest } = *self;
        course.absorb_moments(answer, &centre, &spec, rest)
    }
}

impl Course {
    /// Clipped moments by the Wishart difference, then everything that follows from them for free.
    fn absorb_moments(
        &mut self,
        answer: Sensitive<Answer>,
        centre: &Centre,
        spec: &ClippedMoments,
        rest: Rest,
    ) -> Result<Next> {
        let layout = MomentLayout::new(spec.width(self.schema.width()), self.schema.strata());
        let rows = self.rows;
        let (gram, sizes) = answer.split(|answer| match answer {
            Answer::Moments(tally) => (assemble(&tally, rows, layout), stratum_sizes(&tally)),
            _ => (Vec::new(), Vec::new()),
        });
        let noisy = self.kernel.moments("moments", gram, layout.order(), layout.row_norm_squared(), rest.moments)?;
        let covariance = Covariance::read(noisy.get(), layout, rows, spec.radius, centre);
        drop(noisy);
        let Rest { marginals, measure, later, .. } = rest;
        let units = centre.units();
        if spec.plane.is_none() {
            self.note_moments(&covariance, &units, spec.radius);
        }
        let proposes = spec.plane.is_none() && measure.amount().is_zero() && !later.sites.amount().is_zero();
        if self.plan.method == Method::Default && proposes {
            return self.propose(&covariance, &units, marginals, later);
        }
        if self.plan.method == Method::Gaussian || measure.amount().is_zero() {
            let blob = if self.plan.method == Method::Gaussian {
                plain_blob(&covariance)
            } else {
                Blob::of(&covariance, &self.plan.tuning)
            };
            let origin = origin(&units, &covariance.offset, &[]);
            let spectrum = (covariance.eigen.values, covariance.edge);
            return self.finish_blob(&blob, origin, sizes, (measure, marginals), spectrum);
        }
        let stage = self.measured(covariance, centre, measure, later)?;
        self.ask_values(marginals, Then::Cells(stage))
    }

    /// Where rows do not suffice for sites: the shape in a few directions is measured by itself.
    fn measured(
        &mut self,
        mut covariance: Covariance,
        centre: &Centre,
        charge: Charge,
        later: Later,
    ) -> Result<CellStage> {
        let (units, tuning, strata) = (centre.units(), self.plan.tuning, self.schema.strata());
        let public = self.public_plane()?;
        if let Some(plane) = &public {
            covariance = covariance.lifted(plane);
        }
        let sides = |k: usize| -> Vec<Side> {
            let vectors = &covariance.eigen.vectors[..k];
            let middles: Vec<f64> = vectors.iter().map(|v| dot(v, &covariance.offset)).collect();
            let reaches: Vec<f64> = (0..k).map(|i| tuning.reach * deviation(&covariance, centre, i)).collect();
            box_sides(&units, vectors, &middles, &reaches)
        };
        let allocation = self.allocation(&charge);
        let choice = choose(&covariance, &tuning, self.plan.texture, &allocation, sides);
        if !choice.found && public.is_none() {
            self.receipt.remarks.push(NO_DIRECTION.to_string());
        }
        let k = match (self.plan.dimension, &public) {
            (Some(k), _) => k,
            (None, Some(plane)) => plane.len(),
            (None, None) => choice.dimension,
        };
        self.receipt.dimension = Some(k);

        let (vectors, sides) = (covariance.eigen.vectors[..k].to_vec(), sides(k));
        let ground = (self.plan.texture && public.is_none())
            .then(|| ground(Blob::of(&covariance, &tuning), &covariance, &units));
        let (texture, one_of) = match &ground {
            Some(ground) => (
                Texture::of(&ground.blob, &vectors, &covariance.offset, strata),
                one_of::exclusive(&covariance, &ground.means, &one_of::indicators(&self.schema)),
            ),
            None => (Texture::default(), Vec::new()),
        };
        let space = Space { centre: &centre.codes, vectors: &vectors, sides: &sides };
        let partition = self.partition(&space, &allocation, &covariance.rows_of_strata(self.rows, strata), &texture);
        Ok(CellStage {
            partition,
            charge,
            frame: Frame::Basis { origin: origin(&units, &covariance.offset, &vectors), vectors, sides },
            texture,
            spot: Spot::Uniform,
            spectrum: covariance.eigen.values.clone(),
            edge: covariance.edge,
            targets: Vec::new(),
            one_of,
            ground,
            later: Some(later),
        })
    }

    /// Where sites will say where rows are: the Gaussian of every stratum is the model that proposes them.
    fn propose(&mut self, covariance: &Covariance, units: &[f64], marginals: Charge, later: Later) -> Result<Next> {
        let strata = self.schema.strata();
        let ground = ground(Blob::of(covariance, &self.plan.tuning), covariance, units);
        let one_of = one_of::exclusive(covariance, &ground.means, &one_of::indicators(&self.schema));
        self.receipt.dimension = Some(0);
        self.receipt.cells = Some("a Gaussian for each stratum".to_string());
        let release = Release {
            frame: Frame::Basis { origin: ground.means.clone(), vectors: Vec::new(), sides: Vec::new() },
            measure: Measure::of_strata(
                self.rows,
                &ground.stratum_rows.iter().map(|size| size.value).collect::<Vec<f64>>(),
            ),
            texture: Texture::of(&ground.blob, &[], &covariance.offset, strata),
            spot: Spot::Uniform,
            settle: Settle::plain(&self.schema, one_of),
            sieves: Vec::new(),
            ancestors: Vec::new(),
            weights: Vec::new(),
            spectrum: covariance.eigen.values.clone(),
            edge: covariance.edge,
        };
        self.ask_values(marginals, Then::Model { release, ground, later })
    }

    /// The values of columns, if there is a charge for them, and then the rest.
    fn ask_values(&mut self, charge: Charge, then: Then) -> Result<Next> {
        let spec = then.ground().filter(|_| !charge.amount().is_zero());
        let spec = spec.map(|ground| self.histograms(&ground.means, &ground.blob.variances()));
        match spec.filter(|spec| spec.countable(self.schema.strata())) {
            Some(spec) => Ok(Next::ask(ValueStage { spec, charge, then })),
            None => then.go_on(self, Vec::new()),
        }
    }

    /// The public directions, made orthonormal, if there are any.
    pub(super) fn public_plane(&self) -> Result<Option<Vec<Vec<f64>>>> {
        self.plan.public_basis.as_deref().map(|given| orthonormal(given, self.schema.width())).transpose()
    }
}

/// What the moments said.
fn ground(blob: Blob, covariance: &Covariance, units: &[f64]) -> Ground {
    let size = |stratum: &StratumMean| Noisy { value: stratum.counted, noise: stratum.rows_noise };
    Ground {
        blob,
        offset: covariance.offset.clone(),
        means: units.iter().zip(&covariance.offset).map(|(c, o)| c + o).collect(),
        noise: (covariance.mean_noise, covariance.diagonal_noise),
        shares: covariance.stratum_shares(),
        stratum_rows: covariance.strata.iter().map(size).collect(),
    }
}

/// The standard deviation along direction i, for the box. A direction that does not clear the edge may still have up to
/// about that much variance, but never more than the whole spread.
fn deviation(covariance: &Covariance, centre: &Centre, i: usize) -> f64 {
    let unknown = 0.5 * covariance.edge.min(centre.spread);
    covariance.shrunk(i).max(unknown.min(centre.spread)).sqrt()
}

/// Where points of the measured plane are lifted from: the released centre, moved by the refined mean, but only across
/// the plane; along it the measure itself knows where the rows are.
pub(super) fn origin(centre: &[f64], offset: &[f64], vectors: &[Vec<f64>]) -> Vec<f64> {
    let mut origin: Vec<f64> = centre.iter().zip(offset).map(|(c, o)| c + o).collect();
    for v in vectors {
        let along = dot(v, offset);
        origin.iter_mut().zip(v).for_each(|(x, v)| *x -= along * v);
    }
    origin
}
