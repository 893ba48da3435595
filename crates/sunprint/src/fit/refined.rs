//! The default method's first two passes: centre and spread, then clipped moments, basis and d′.

use super::attune::Ground;
use super::blob::{plain_blob, stratum_sizes};
use super::cells::{MeasureStage, Space};
use super::contrasts::{HALF, contrast_reach};
use super::{Fit, Later, Rest, Stage, fixed_point, one_of, scalar_noise};
use crate::error::{Error, Kind, Result};
use crate::math::vector::dot;
use crate::measure::{Side, box_sides};
use crate::model::{Frame, Noisy, Spot};
use crate::plan::{Method, as_float, difficulty};
use crate::privacy::{Charge, Privacy, Sensitive};
use crate::schema::{Block, Form, HOT};
use crate::subspace::{Before, Blob, Centre, Covariance, MomentLayout, Texture, assemble, choose, clip_radius};
use crate::tally::codes::Q;
use crate::tally::{Answer, ClampedSums, ClippedMoments, Sums};

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
        let square_noise = scalar_noise(d as f64 * q * q, as_float(&spread.amount()), spread.privacy());
        let square_sensitivity = d as u128 * u128::from(Q) * u128::from(Q);
        if centre.amount().is_zero() {
            let square = self.kernel.scalar("spread", square, square_sensitivity, spread)?;
            let centre = Centre::unmeasured(self.rows, &self.before(), *square.get(), square_noise);
            return self.after_centre(centre, rest);
        }
        let sum_noise = centre_noise(d, as_float(&centre.amount()), centre.privacy());
        let sums = self.kernel.cube_sums("centre", sums, u64::from(Q), centre)?;
        let square = self.kernel.scalar("spread", square, square_sensitivity, spread)?;
        self.evidence.sums = Some(self.sum_evidence(&counted, sums.get(), sum_noise));
        let centre = Centre::read(self.rows, &self.before(), sums.get(), *square.get(), sum_noise, square_noise);
        self.after_centre(centre, rest)
    }

    /// What follows the centre: moments, contrasts, or nothing.
    fn after_centre(&mut self, centre: Centre, rest: Rest) -> Result<Stage> {
        if !rest.contrasts.amount().is_zero() {
            let reach = if self.has_stratum_sums() { HALF } else { contrast_reach(&centre) };
            let spec = ClampedSums { centre: centre.codes.clone(), reach };
            return Ok(Stage::Contrasts { centre, spec, rest });
        }
        if rest.moments.amount().is_zero() {
            return self.only_counts(centre, rest);
        }
        let plane = self.public_plane()?;
        let difficulty = difficulty(self.rows, self.schema.width(), as_float(&self.receipt.epsilon));
        let spec = ClippedMoments {
            centre: centre.codes.clone(),
            radius: clip_radius(&centre, &self.before(), self.plan.tuning.clip_at(difficulty)),
            plane: plane.map(|vectors| fixed_point(&vectors)),
        };
        Ok(Stage::Moments { centre, spec, rest })
    }

    /// Pass 2: clipped moments by the Wishart difference, then everything that follows from them for free.
    pub(super) fn absorb_moments(
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
        let Rest { moments, marginals, measure, labels, sites, .. } = rest;
        let noisy = self.kernel.moments("moments", gram, layout.order(), layout.row_norm_squared(), moments)?;
        let mut covariance = Covariance::read(noisy.get(), layout, rows, spec.radius, centre);
        drop(noisy);
        let units = centre.units();
        if spec.plane.is_none() {
            self.note_moments(&covariance, &units, spec.radius);
        }
        if self.plan.method == Method::Gaussian || measure.amount().is_zero() {
            let blob = if self.plan.method == Method::Gaussian {
                plain_blob(&covariance)
            } else {
                Blob::of(&covariance, &self.plan.tuning)
            };
            let origin = origin(&units, &covariance.offset, &[]);
            let spectrum = (covariance.eigen.values, covariance.edge);
            return self.finish_blob(&blob, origin, sizes, measure, spectrum);
        }
        let public = self.public_plane()?;
        if let Some(plane) = &public {
            covariance = covariance.lifted(plane);
        }

        let tuning = self.plan.tuning;
        let sides = |k: usize| -> Vec<Side> {
            let vectors = &covariance.eigen.vectors[..k];
            let middles: Vec<f64> = vectors.iter().map(|v| dot(v, &covariance.offset)).collect();
            let reaches: Vec<f64> = (0..k).map(|i| tuning.reach * deviation(&covariance, centre, i)).collect();
            box_sides(&units, vectors, &middles, &reaches)
        };
        let allocation = self.allocation(&measure);
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

        let vectors = covariance.eigen.vectors[..k].to_vec();
        let origin = origin(&units, &covariance.offset, &vectors);
        let blob = (self.plan.texture && public.is_none()).then(|| Blob::of(&covariance, &tuning));
        let strata = self.schema.strata();
        let texture = match &blob {
            Some(blob) => Texture::of(blob, &vectors, &covariance.offset, strata),
            None => Texture::default(),
        };
        let stratum_rows = if covariance.strata.is_empty() {
            vec![rows as f64 / strata as f64; strata]
        } else {
            covariance.strata.iter().map(|stratum| stratum.rows).collect()
        };
        let sides = sides(k);
        let space = Space { centre: &centre.codes, vectors: &vectors, sides: &sides };
        let partition = self.partition(&space, &allocation, &stratum_rows, &texture);
        let means: Vec<f64> = units.iter().zip(&covariance.offset).map(|(c, o)| c + o).collect();
        let one_of = match &blob {
            Some(_) => one_of::exclusive(&covariance, &means, &one_of::indicators(&self.schema)),
            None => Vec::new(),
        };
        let ground = blob.clone().map(|blob| Ground {
            blob,
            offset: covariance.offset.clone(),
            means,
            noise: (covariance.mean_noise, covariance.diagonal_noise),
            shares: covariance.stratum_shares(),
            stratum_rows: (covariance.strata.iter())
                .map(|stratum| Noisy { value: stratum.counted, noise: stratum.rows_noise })
                .collect(),
        });
        let stage = MeasureStage {
            partition,
            charge: measure,
            frame: Frame::Basis { origin, vectors, sides },
            texture,
            spot: Spot::Uniform,
            spectrum: covariance.eigen.values.clone(),
            edge: covariance.edge,
            targets: Vec::new(),
            one_of,
            ground,
            later: Some(Later { labels, sites }),
        };
        match stage.ground.as_ref().filter(|_| !marginals.amount().is_zero()) {
            None => Ok(Stage::Measure(Box::new(stage))),
            Some(ground) => {
                let spec = self.histograms(&ground.means, &ground.blob.variances());
                if !spec.countable(strata) {
                    return Ok(Stage::Measure(Box::new(stage)));
                }
                Ok(Stage::Marginals { spec, charge: marginals, measure: Box::new(stage) })
            }
        }
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
