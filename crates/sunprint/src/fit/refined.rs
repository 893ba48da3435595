//! The default method's first two passes: centre and spread, then clipped moments, basis and d′.

use super::blob::{plain_blob, stratum_sizes};
use super::cells::{MeasureStage, Space};
use super::contrasts::contrast_reach;
use super::values::ValueStage;
use super::{Fit, MomentCharges, Rest, Stage, fixed_point, scalar_noise};
use crate::error::{Error, Kind, Result};
use crate::math::vector::dot;
use crate::measure::{Side, box_sides};
use crate::model::{Frame, Noisy, Spot};
use crate::plan::{Method, as_float, difficulty};
use crate::privacy::{Charge, Privacy, Sensitive};
use crate::schema::{Block, Form, HOT};
use crate::subspace::{Before, Blob, Centre, Covariance, MomentLayout, Texture, assemble, choose, clip_radius};
use crate::tally::codes::Q;
use crate::tally::{Answer, ClampedSums, ClippedMoments, Score, Sums};

/// Said where only the place of the cloud was found. It covers whatever else could be said of few rows.
pub(super) const NO_DIRECTION: &str = "no direction of the data stands out of the privacy noise at this ε and number of \
    rows: the output is little more than a cloud in about the right place";

impl Fit {
    /// What is known of every coordinate beforehand.
    pub(super) fn before(&self) -> Vec<Before> {
        let hot = f64::from(HOT) / f64::from(Q);
        let of = |block: Block| {
            let one = match block.form {
                Form::OneHot => Before::Category { hot, among: block.len },
                Form::Line | Form::Circle => Before::Open,
            };
            vec![one; block.width()]
        };
        self.schema.blocks().into_iter().flat_map(of).collect()
    }

    /// The coordinates whose mean and square the first pass measures.
    pub(super) fn open_coordinates(&self) -> Sums {
        Sums { counted: self.before().iter().map(|before| *before == Before::Open).collect() }
    }

    /// Without numbers there is no centre to measure, and the first pass is the next one.
    pub(super) fn skip_centre(&mut self) -> Result<()> {
        if !matches!(self.stage, Stage::Centre { .. }) || self.open_coordinates().counted.contains(&true) {
            return Ok(());
        }
        if let Stage::Centre { rest, .. } = std::mem::replace(&mut self.stage, Stage::Broken) {
            let centre = Centre::read(self.rows, &self.before(), &[], 0, 0.0, 0.0);
            self.stage = self.after_centre(centre, rest)?;
        }
        Ok(())
    }

    /// Pass 1: column sums by the cube mechanism, the total square by discrete Laplace noise.
    ///
    /// Replacing a row moves the sums of the d′ open coordinates inside `[−Q, Q]^d′` and their square by at most `d′ Q²`.
    pub(super) fn absorb_centre(
        &mut self,
        answer: Sensitive<Answer>,
        centre: Charge,
        spread: Charge,
        rest: Rest,
    ) -> Result<Stage> {
        let counted = self.open_coordinates().counted;
        let (d, q) = (counted.iter().filter(|&&counted| counted).count(), f64::from(Q));
        let (sums, square) = answer.split(|answer| match answer {
            Answer::Sums(sums) => {
                let open = sums.sums.iter().zip(&counted).filter(|(_, counted)| **counted);
                (open.map(|(&sum, _)| sum).collect(), sums.square)
            }
            _ => (Vec::new(), 0),
        });
        let sum_noise = centre_noise(d, as_float(&centre.amount()), centre.privacy());
        let sums = self.kernel.cube_sums("centre", sums, u64::from(Q), centre)?;
        self.evidence.sums = Some(self.sum_evidence(&counted, sums.get(), sum_noise));
        // Where values are counted, these say how wide every column is.
        let (square, square_noise) = if spread.amount().is_zero() {
            (0, f64::INFINITY)
        } else {
            let noise = scalar_noise(d as f64 * q * q, as_float(&spread.amount()), spread.privacy());
            let sensitivity = d as u128 * u128::from(Q) * u128::from(Q);
            (self.kernel.scalar("spread", square, sensitivity, spread)?.into_inner(), noise)
        };
        let centre = Centre::read(self.rows, &self.before(), sums.get(), square, sum_noise, square_noise);
        self.after_centre(centre, rest)
    }

    /// What follows the centre: values or moments, contrasts, directions, or nothing.
    fn after_centre(&mut self, centre: Centre, rest: Rest) -> Result<Stage> {
        if !rest.contrasts.amount().is_zero() {
            let spec = ClampedSums { centre: centre.codes.clone(), reach: contrast_reach(&centre) };
            return Ok(Stage::Contrasts { centre, spec, rest });
        }
        if rest.moments.amount().is_zero() {
            return self.only_counts(centre, rest);
        }
        if self.plan.surveys() {
            let Rest { moments, marginals, measure, cells, .. } = rest;
            let charges = MomentCharges { moments, sizes: measure, cells };
            if marginals.amount().is_zero() {
                return self.ask_moments(centre, None, charges);
            }
            let spec = self.histograms(&centre, &marginals);
            return Ok(Stage::Values(Box::new(ValueStage { spec, charge: marginals, centre, rest: charges })));
        }
        let plane = self.public_plane()?;
        let difficulty = difficulty(self.rows, self.schema.width(), as_float(&self.receipt.epsilon));
        let spec = ClippedMoments {
            scores: centre.codes.iter().map(|&code| Score::plain(code)).collect(),
            radius: clip_radius(&centre, &self.before(), self.plan.tuning.clip_at(difficulty)),
            plane: plane.map(|vectors| fixed_point(&vectors)),
            apart: false,
        };
        Ok(Stage::Directions { centre, spec, rest })
    }

    /// Clipped moments by the Wishart difference, for directions that are asked for, known, or drawn without texture.
    pub(super) fn absorb_directions(
        &mut self,
        answer: Sensitive<Answer>,
        centre: &Centre,
        spec: &ClippedMoments,
        rest: Rest,
    ) -> Result<Stage> {
        let layout = MomentLayout::new(spec.width(self.schema.width()), self.schema.strata());
        let rows = self.rows;
        let (gram, sizes) = answer.split(|answer| match answer {
            Answer::Moments(tally) => (assemble(&tally, rows, layout), stratum_sizes(&tally)),
            _ => (Vec::new(), Vec::new()),
        });
        let Rest { moments, measure, .. } = rest;
        let noisy = self.kernel.moments("moments", gram, layout.order(), layout.row_norm_squared(), moments)?;
        let mut covariance = Covariance::read(noisy.get(), layout, rows, spec.radius, centre);
        drop(noisy);
        if spec.plane.is_none() {
            self.note_moments(&covariance, spec);
        }
        if self.plan.method == Method::Gaussian || measure.amount().is_zero() {
            let blob = if self.plan.method == Method::Gaussian {
                plain_blob(&covariance)
            } else {
                Blob::of(&covariance, &self.plan.tuning)
            };
            let origin = origin(&centre.units(), &covariance.offset, &[]);
            let spectrum = (covariance.eigen.values, covariance.edge);
            return self.finish_blob(&blob, origin, sizes, measure, spectrum);
        }
        let public = self.public_plane()?;
        if let Some(plane) = &public {
            covariance = covariance.lifted(plane);
        }
        let known = self.plan.dimension.or(public.as_ref().map(Vec::len));
        self.measure_directions(&covariance, centre, known, self.plan.texture && public.is_none(), measure)
    }

    /// Whether rows lie in a plane of few directions: whatever these leave of the variance, noise explains it.
    pub(super) fn is_plane(&self, covariance: &Covariance) -> bool {
        let tuning = self.plan.tuning;
        let above = covariance.above_edge(tuning.edge_margin);
        let found: f64 = (0..above).map(|i| covariance.shrunk(i)).sum();
        let noise = covariance.diagonal_noise * (covariance.width as f64).sqrt();
        let few = (1..=tuning.most_dimensions).contains(&above) && 2 * above < covariance.width;
        few && self.schema.strata() == 1 && covariance.trace - found < 2.0 * noise
    }

    /// Rows of a plane: they are counted there, and nothing is drawn beside it.
    pub(super) fn ask_plane(&mut self, covariance: &Covariance, centre: &Centre, charge: Charge) -> Result<Stage> {
        let above = covariance.above_edge(self.plan.tuning.edge_margin);
        self.measure_directions(covariance, centre, Some(above), false, charge)
    }

    /// The pass that counts rows along the leading directions: so many, or as many as the rule says.
    fn measure_directions(
        &mut self,
        covariance: &Covariance,
        centre: &Centre,
        known: Option<usize>,
        textured: bool,
        charge: Charge,
    ) -> Result<Stage> {
        let (units, tuning) = (centre.units(), self.plan.tuning);
        let sides = |k: usize| -> Vec<Side> {
            let vectors = &covariance.eigen.vectors[..k];
            let middles: Vec<f64> = vectors.iter().map(|v| dot(v, &covariance.offset)).collect();
            let reaches: Vec<f64> = (0..k).map(|i| tuning.reach * deviation(covariance, centre, i)).collect();
            box_sides(&units, vectors, &middles, &reaches)
        };
        let allocation = self.allocation(&charge);
        let choice = choose(covariance, &tuning, textured, &allocation, sides);
        if !choice.found && self.plan.public_basis.is_none() {
            self.receipt.remarks.push(NO_DIRECTION.to_string());
        }
        let k = known.unwrap_or(choice.dimension);
        self.receipt.dimension = Some(k);
        let vectors = covariance.eigen.vectors[..k].to_vec();
        let origin = origin(&units, &covariance.offset, &vectors);
        let strata = self.schema.strata();
        let texture = match textured {
            true => Texture::of(&Blob::of(covariance, &tuning), &vectors, &covariance.offset, strata),
            false => Texture::default(),
        };
        let sizes: Vec<Noisy> = (covariance.strata.iter())
            .map(|stratum| Noisy { value: stratum.counted, noise: stratum.rows_noise })
            .collect();
        let stratum_rows = match covariance.strata.as_slice() {
            [] => vec![self.rows as f64 / strata as f64; strata],
            strata => strata.iter().map(|stratum| stratum.rows).collect(),
        };
        let sides = sides(k);
        let space = Space { centre: &centre.codes, vectors: &vectors, sides: &sides };
        let partition = self.partition(&space, &allocation, &stratum_rows, &texture);
        let means = units.iter().zip(&covariance.offset).map(|(c, o)| c + o).collect();
        // Where rows turn out to lie in a plane, they are counted with what was promised for cells.
        let name = if self.plan.surveys() { "cells" } else { "measure" };
        Ok(Stage::Measure(Box::new(MeasureStage {
            name,
            partition,
            charge,
            frame: Frame::Basis { origin, vectors, sides },
            texture,
            spot: Spot::Uniform,
            spectrum: covariance.eigen.values.clone(),
            edge: covariance.edge,
            known: textured.then_some((means, covariance.mean_noise)),
            sizes,
        })))
    }

    /// The public directions, made orthonormal, if there are any.
    fn public_plane(&self) -> Result<Option<Vec<Vec<f64>>>> {
        self.plan.public_basis.as_deref().map(|given| orthonormal(given, self.schema.width())).transpose()
    }
}

/// The standard deviation of one noisy sum.
///
/// Cube mechanism with scale b: r is close to a sum of d+1 exponentials of mean b, each coordinate uniform in
/// `[−r, r]`, so its variance is `E r²/3 = (d+1)(d+2) b²/3`. Gaussian: `Q √d / √(2ρ)`.
pub(crate) fn centre_noise(width: usize, amount: f64, privacy: Privacy) -> f64 {
    let (d, q) = (width as f64, f64::from(Q));
    match privacy {
        Privacy::Pure => ((d + 1.0) * (d + 2.0) / 3.0).sqrt() * (q / amount).max(2.0 * d),
        Privacy::Concentrated => scalar_noise(q * d.sqrt(), amount, privacy),
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

/// Gram-Schmidt, refusing what is not a basis. Public input: errors may name it.
pub(super) fn orthonormal(given: &[Vec<f64>], width: usize) -> Result<Vec<Vec<f64>>> {
    let fail = |rule: String| {
        Error::new(Kind::Usage, rule)
            .hint(format!("`--public-basis` takes k rows of {width} numbers, one per numeric column"))
    };
    if given.is_empty() || given.len() > width {
        return Err(fail(format!("the public basis has {} directions for {width} columns", given.len())));
    }
    let mut basis: Vec<Vec<f64>> = Vec::with_capacity(given.len());
    for (i, vector) in given.iter().enumerate() {
        if vector.len() != width || vector.iter().any(|x| !x.is_finite()) {
            return Err(fail(format!("direction {} of the public basis is not {width} finite numbers", i + 1)));
        }
        let length = dot(vector, vector).sqrt();
        let mut unit: Vec<f64> = vector.iter().map(|x| x / length.max(f64::MIN_POSITIVE)).collect();
        // Twice is enough: the second round removes what rounding left in the first.
        for _ in 0..2 {
            for known in &basis {
                let along = dot(known, &unit);
                unit.iter_mut().zip(known).for_each(|(x, k)| *x -= along * k);
            }
        }
        let left = dot(&unit, &unit).sqrt();
        if left.is_nan() || left < 1e-6 {
            return Err(fail(format!(
                "direction {} of the public basis is zero or a mixture of those before it",
                i + 1
            )));
        }
        unit.iter_mut().for_each(|x| *x /= left);
        basis.push(unit);
    }
    Ok(basis)
}
