//! The default method's moments: how rows are read, and the Gaussian of each stratum that follows from what was released.

use super::refined::{NO_DIRECTION, origin};
use super::values::categories;
use super::{Fit, MomentCharges, Stage, one_of};
use crate::error::Result;
use crate::infer::clouds::{self, Cloud};
use crate::infer::through::Response;
use crate::math::rounding::nearest_shares;
use crate::measure::Measure;
use crate::model::{
    Frame, Known, OneOf, Piece, Release, Settle, Spot, Target, Wanted, balance, calibrate, recalibrate,
};
use crate::plan::{Apart, as_float, difficulty, equivalent_epsilon};
use crate::privacy::Sensitive;
use crate::schema::{Block, Form, HOT};
use crate::subspace::{
    Blob, Centre, Covariance, MomentLayout, Texture, Within, assemble, assemble_apart, clip_radius,
    row_norm_squared_apart,
};
use crate::tally::codes::Q;
use crate::tally::{Answer, ClippedMoments, Score};

/// Numbers further from their mean count as so many deviations: a few far rows say nothing of how others go together.
const FAR: f64 = 3.0;
/// A coordinate is stretched by this power of how much narrower it is than the widest: halfway between its own width and
/// the same for all.
const STRETCH: f64 = 0.5;
/// No coordinate is taken to be narrower, in units.
const NARROWEST: f64 = 16.0 / 65_535.0;
/// The mean of a stratum is never further from that of all, in deviations of a coordinate.
const FARTHEST_SHIFT: f64 = 3.0;
/// An angle's two coordinates deviate about so much.
const ANGLE: f64 = 0.35;

/// What this pass needs.
pub(super) struct MomentStage {
    pub spec: ClippedMoments,
    centre: Centre,
    /// What counted values ask of every block; nothing where none were counted.
    targets: Option<Vec<Target>>,
    charges: MomentCharges,
}

/// How far a coordinate reaches: its mean and deviation in units.
#[derive(Clone, Copy)]
struct Reach {
    mean: f64,
    deviation: f64,
    /// The deviation of the whole block, by which it is stretched.
    block: f64,
}

impl Fit {
    /// The pass of moments.
    pub(super) fn ask_moments(
        &mut self,
        centre: Centre,
        targets: Option<Vec<Target>>,
        charges: MomentCharges,
    ) -> Result<Stage> {
        let clip =
            self.plan.tuning.clip_at(difficulty(self.rows, self.schema.width(), as_float(&self.receipt.epsilon)));
        let (scores, radius, centre) = match &targets {
            Some(targets) => {
                let (scores, square) = self.scores(&centre, targets);
                let stretched = |score: &Score| (score.stretch(), f64::from(score.high - score.low) / f64::from(Q));
                // What is released of means is small beside what rows deviate: the moments are believed.
                let doubts = scores.iter().map(stretched).map(|(stretch, reach)| stretch * reach).collect();
                let codes = scores.iter().map(|score| score.centre).collect();
                let radius = ((clip * square).sqrt() * f64::from(Q)).ceil().clamp(1.0, 4e9) as u32;
                let open = vec![false; scores.len()];
                (scores, radius, Centre { codes, doubts, open, ..centre })
            }
            None => {
                let scores = centre.codes.iter().map(|&code| Score::plain(code)).collect();
                (scores, clip_radius(&centre, &self.before(), clip), centre)
            }
        };
        let apart = Apart { rows: self.rows, width: self.schema.width(), strata: self.schema.strata() };
        let apart = apart.pays(equivalent_epsilon(&charges.moments));
        let spec = ClippedMoments { scores, radius, plane: None, apart };
        Ok(Stage::Moments(Box::new(MomentStage { spec, centre, targets, charges })))
    }

    /// How every coordinate is read, given the values of columns, and the mean square of what is read, in units.
    fn scores(&self, centre: &Centre, targets: &[Target]) -> (Vec<Score>, f64) {
        let units = centre.units();
        let reaches: Vec<Reach> = (self.schema.blocks().iter().zip(targets))
            .flat_map(|(block, target)| reaches(block, target.all.as_ref(), &units))
            .collect();
        let widest = reaches.iter().map(|reach| reach.block).fold(NARROWEST, f64::max);
        let q = f64::from(Q);
        let code = |unit: f64| (unit.clamp(0.0, 1.0) * q).round() as u16;
        let score = |reach: &Reach| {
            let stretch = (widest / reach.block.max(NARROWEST)).powf(STRETCH);
            let far = FAR * reach.deviation.max(NARROWEST);
            Score {
                centre: code(reach.mean),
                low: code(reach.mean - far),
                high: code(reach.mean + far),
                times: (256.0 * stretch).round().clamp(1.0, f64::from(Score::MOST)) as u16,
            }
        };
        let scores: Vec<Score> = reaches.iter().map(score).collect();
        let square =
            reaches.iter().zip(&scores).map(|(reach, score)| (reach.deviation * score.stretch()).powi(2)).sum();
        (scores, square)
    }

    /// Noisy moments, and everything that follows from them for free.
    pub(super) fn absorb_prior(&mut self, answer: Sensitive<Answer>, stage: MomentStage) -> Result<Stage> {
        let MomentStage { spec, centre, targets, charges } = stage;
        let (width, strata, rows) = (self.schema.width(), self.schema.strata(), self.rows);
        let layout = MomentLayout::new(width, strata);
        let (gram, sizes) = answer.split(|answer| match answer {
            Answer::Moments(tally) if spec.apart => (assemble_apart(&tally, width), super::blob::stratum_sizes(&tally)),
            Answer::Moments(tally) => (assemble(&tally, rows, layout), super::blob::stratum_sizes(&tally)),
            _ => (Vec::new(), Vec::new()),
        });
        let MomentCharges { moments, sizes: charge, cells } = charges;
        let (covariance, seconds, measure) = if spec.apart {
            let bound = row_norm_squared_apart();
            let blocks =
                self.kernel.moments_of_blocks("moments", gram, width + 1, strata, bound, moments)?.into_inner();
            let measure = self.stratum_counts(sizes, charge)?;
            let sizes: Vec<f64> = (0..strata).map(|s| measure.rows(s) as f64).collect();
            let (covariance, seconds) = Covariance::read_apart(&blocks, width, rows, &sizes, spec.radius);
            (covariance, seconds, measure)
        } else {
            let noisy = self.kernel.moments("moments", gram, layout.order(), layout.row_norm_squared(), moments)?;
            let measure = self.stratum_counts(sizes, charge)?;
            (Covariance::read(noisy.get(), layout, rows, spec.radius, &centre), Vec::new(), measure)
        };
        self.note_moments(&covariance, &spec);
        let blob = Blob::of(&covariance, &self.plan.tuning);
        if targets.is_none() && !cells.amount().is_zero() && self.is_plane(&covariance) {
            return self.ask_plane(&covariance, &centre, cells);
        }
        if blob.directions.is_empty() {
            self.receipt.remarks.push(NO_DIRECTION.to_string());
        }
        self.receipt.dimension = Some(blob.directions.len());
        self.receipt.cells = Some("none yet".to_string());
        let (release, targets) = match targets {
            Some(targets) => self.bent(&covariance, &seconds, &spec, blob, measure, targets),
            None => self.plain(&covariance, &seconds, &centre, blob, measure),
        };
        let spectrum = (covariance.eigen.values, covariance.edge);
        let release = Release { spectrum: spectrum.0, edge: spectrum.1, ..release };
        self.ask_sites(release, targets, &spec, cells)
    }

    /// Rows that are drawn as they were measured, and clamped.
    fn plain(
        &self,
        covariance: &Covariance,
        seconds: &[Vec<f64>],
        centre: &Centre,
        blob: Blob,
        measure: Measure,
    ) -> (Release, Vec<Target>) {
        let own = clouds::of_strata(covariance, seconds, &blob, self.plan.tuning.edge_margin);
        let units = centre.units();
        let means: Vec<f64> = units.iter().zip(&covariance.offset).map(|(c, o)| c + o).collect();
        let ones = vec![1.0; self.schema.width()];
        let one_of = self.exclusive(covariance, &means, &ones);
        let origin = origin(&units, &covariance.offset, &[]);
        let within = own.iter().map(Cloud::within).collect();
        let mut release = self.drawn(origin, &blob, within, measure, one_of);
        balance(&mut release, self.schema.width(), Some(Known { means: &means, noise: covariance.mean_noise }));
        let wanted = vec![Target::default(); self.schema.blocks().len()];
        let targets = calibrate(&mut release, &self.schema, &wanted);
        (release, targets)
    }

    /// Rows that are drawn from a Gaussian and bent into the values of their columns.
    fn bent(
        &self,
        covariance: &Covariance,
        seconds: &[Vec<f64>],
        spec: &ClippedMoments,
        mut blob: Blob,
        measure: Measure,
        targets: Vec<Target>,
    ) -> (Release, Vec<Target>) {
        let (blocks, strata) = (self.schema.blocks(), self.schema.strata());
        let stretches: Vec<f64> = spec.scores.iter().map(Score::stretch).collect();
        let means: Vec<f64> = (spec.scores.iter().zip(&covariance.offset))
            .map(|(score, offset)| f64::from(score.centre) / f64::from(Q) + offset / score.stretch())
            .collect();
        let shares = covariance.stratum_shares();
        let common = Cloud { directions: blob.directions.clone(), left: blob.left.clone() };
        let slopes: Vec<f64> = (blocks.iter().zip(&targets))
            .flat_map(|(block, target)| {
                let two = self.two_values(block, target, means[block.start]);
                responses(block, two.as_ref().or(target.all.as_ref()), &spec.scores, &common)
            })
            .map(|response| response.slope().max(1e-9))
            .collect();
        if std::env::var("LAB_SHIFT").is_ok() {
            blob.shifts = clouds::shifts(covariance, &slopes);
        }
        let own = clouds::of_strata(covariance, seconds, &blob, self.plan.tuning.edge_margin);
        let targets = self.complete_targets(targets, &blob, &means, &stretches);
        let of = |stratum: Option<usize>, cloud: &Cloud| -> Vec<Response> {
            let wanted = |target: &'_ Target| {
                let own = stratum.and_then(|s| target.strata.get(s)).and_then(Option::as_ref);
                own.or(target.all.as_ref()).cloned()
            };
            let each = blocks.iter().zip(&targets);
            each.flat_map(|(block, target)| responses(block, wanted(target).as_ref(), &spec.scores, cloud)).collect()
        };
        let responses = of(None, &common);
        let unit = vec![1.0; responses.len()];
        // Angles are not bent: they stay in units.
        let angle = |j: usize| {
            blocks.iter().any(|block| block.form == Form::Circle && (block.start..block.start + 2).contains(&j))
        };
        let scale: Vec<f64> =
            (0..responses.len()).map(|j| if angle(j) { responses[j].slope() / stretches[j] } else { 1.0 }).collect();
        let scaled = |cloud: Cloud| Cloud {
            directions: cloud.directions.iter().map(|f| f.iter().zip(&scale).map(|(x, s)| x * s).collect()).collect(),
            left: cloud.left.iter().zip(&scale).map(|(x, s)| x * s * s).collect(),
        };
        let shift = |shift: &Vec<f64>| -> Vec<f64> {
            let one = |(j, x): (usize, &f64)| scale[j] * (x / slopes[j]).clamp(-FARTHEST_SHIFT, FARTHEST_SHIFT);
            shift.iter().enumerate().map(one).collect()
        };
        let known: Vec<f64> = responses.iter().map(Response::variance).collect();
        let latent = scaled(common.unbent(&responses, &unit, &known));
        let shifts = blob.shifts.iter().map(shift).collect();
        let whole = Blob::new(latent.directions, latent.left, shifts, &shares);
        // In a stratum of its own a number varies less than in all together, unless its values were counted there.
        let within = |(s, cloud): (usize, &Cloud)| {
            let responses = of(Some(s), cloud);
            let variance = |block: &Block, target: &Target, j: usize| {
                let together = block.form == Form::Line && j == block.start && target.strata.is_empty();
                let part = cloud.variance(j) / responses[j].variance().max(f64::MIN_POSITIVE);
                if together && strata > 1 { part.clamp(0.01, 1.5) } else { 1.0 }
            };
            let variances: Vec<f64> = (blocks.iter().zip(&targets))
                .flat_map(|(block, target)| (block.start..block.end()).map(move |j| (block, target, j)))
                .map(|(block, target, j)| variance(block, target, j))
                .collect();
            let known: Vec<f64> = responses.iter().zip(&variances).map(|(of, v)| v * of.variance()).collect();
            scaled(cloud.unbent(&responses, &variances, &known)).within()
        };
        let within = if strata > 1 { own.iter().enumerate().map(within).collect() } else { Vec::new() };
        let origin = (0..means.len()).map(|j| if angle(j) { means[j] } else { 0.0 }).collect();
        let one_of = self.exclusive(covariance, &means, &stretches);
        let alternatives: Vec<Target> = one_of.iter().map(|one_of| of_columns(one_of, &blocks, &targets)).collect();
        let mut release = self.drawn(origin, &whole, within, measure, one_of);
        let targets: Vec<Target> = targets.into_iter().chain(alternatives).collect();
        recalibrate(&mut release, &self.schema, &targets);
        (release, targets)
    }

    /// What is wanted of blocks of two values, and of the categories of each stratum: by the means that the moments give.
    fn complete_targets(&self, mut targets: Vec<Target>, blob: &Blob, means: &[f64], stretches: &[f64]) -> Vec<Target> {
        let hot = f64::from(HOT) / f64::from(Q);
        let of_stratum = |s: usize, j: usize| blob.shifts.get(s).map_or(0.0, |shift| shift[j] / stretches[j]);
        let strata = if blob.shifts.len() > 1 { blob.shifts.len() } else { 0 };
        for (block, target) in self.schema.blocks().iter().zip(&mut targets) {
            let at = block.start;
            if let Some(two) = self.two_values(block, target, means[at]) {
                let own = |s: usize| Some(two_parts(means[at] + of_stratum(s, at)));
                *target = Target { all: Some(two), strata: (0..strata).map(own).collect() };
                continue;
            }
            if let (Some(all), Form::OneHot) = (&target.all, block.form) {
                let own = |s: usize| {
                    let part = |(c, piece): (usize, &Piece)| piece.share + of_stratum(s, at + c) / hot;
                    let parts: Vec<f64> = all.pieces.iter().enumerate().map(part).collect();
                    Some(categories(&nearest_shares(&parts)))
                };
                target.strata = (0..strata).map(own).collect();
            }
        }
        targets
    }

    /// What is wanted of a block of two values, whose mean says all of them; nothing for other blocks.
    fn two_values(&self, block: &Block, target: &Target, mean: f64) -> Option<Wanted> {
        let two = self.schema.columns[block.column].kind.values() == Some(2) && !block.absence;
        (two && block.form == Form::Line && target.all.is_none()).then(|| two_parts(mean))
    }

    /// Columns of two values that exclude one another.
    fn exclusive(&self, covariance: &Covariance, means: &[f64], stretches: &[f64]) -> Vec<OneOf> {
        one_of::exclusive(covariance, means, stretches, &one_of::indicators(&self.schema))
    }

    /// A release that draws every stratum as a Gaussian.
    fn drawn(
        &self,
        origin: Vec<f64>,
        blob: &Blob,
        within: Vec<Within>,
        measure: Measure,
        one_of: Vec<OneOf>,
    ) -> Release {
        let texture = Texture::of(blob, &[], &vec![0.0; origin.len()], self.schema.strata());
        Release {
            frame: Frame::Basis { origin, vectors: Vec::new(), sides: Vec::new() },
            measure,
            texture: Texture { within, ..texture },
            spot: Spot::Uniform,
            settle: Settle::plain(&self.schema, one_of),
            sieves: Vec::new(),
            pool: 0,
            spectrum: Vec::new(),
            edge: 0.0,
        }
    }
}

/// Two values of which the upper one has a part.
fn two_parts(part: f64) -> Wanted {
    let part = part.clamp(0.0, 1.0);
    let piece = |at: f64, share: f64| Piece { low: at, high: at, share };
    Wanted { pieces: vec![piece(0.0, 1.0 - part), piece(1.0, part)], absent: 0.0 }
}

/// How far the coordinates of a block reach.
fn reaches(block: &Block, wanted: Option<&Wanted>, units: &[f64]) -> Vec<Reach> {
    let hot = f64::from(HOT) / f64::from(Q);
    let flag = |part: f64| {
        let deviation = hot * (part * (1.0 - part)).max(0.0).sqrt();
        Reach { mean: hot * part, deviation, block: deviation }
    };
    let mut found = match (block.form, wanted) {
        (Form::OneHot, wanted) => {
            let part =
                |c: usize| wanted.and_then(|wanted| wanted.pieces.get(c)).map_or(1.0 / block.len as f64, |p| p.share);
            let all: Vec<Reach> = (0..block.len).map(|c| flag(part(c))).collect();
            let whole = all.iter().map(|reach| reach.deviation.powi(2)).sum::<f64>().sqrt();
            // A row has one of them: whatever its own share, it is never clamped.
            all.into_iter()
                .map(|reach| Reach { deviation: reach.deviation.max(hot / FAR), block: whole, ..reach })
                .collect()
        }
        (Form::Circle, _) => {
            (0..block.len).map(|c| Reach { mean: units[block.start + c], deviation: ANGLE, block: ANGLE }).collect()
        }
        (Form::Line, Some(wanted)) => {
            let (mean, variance) = moments(wanted);
            let deviation = variance.max(0.0).sqrt();
            vec![Reach { mean, deviation, block: deviation }]
        }
        (Form::Line, None) => {
            // Two values: nothing of them is clamped.
            let mean = units[block.start].clamp(0.0, 1.0);
            let deviation = (mean * (1.0 - mean)).sqrt().max(NARROWEST);
            vec![Reach { mean, deviation: deviation.max(1.0 / FAR), block: deviation }]
        }
    };
    if block.absence {
        let absent = flag(wanted.map_or(0.5, |wanted| wanted.absent));
        found.push(Reach { deviation: absent.deviation.max(hot / FAR), ..absent });
    }
    found
}

/// Mean and variance of wanted values; what is missing stands in the middle.
fn moments(wanted: &Wanted) -> (f64, f64) {
    let total = wanted.pieces.iter().map(|piece| piece.share).sum::<f64>();
    if total <= 0.0 {
        return (0.5, 0.0);
    }
    let of = |f: &dyn Fn(&Piece) -> f64| wanted.pieces.iter().map(|piece| piece.share * f(piece)).sum::<f64>() / total;
    let here = 1.0 - wanted.absent;
    let middle = |piece: &Piece| 0.5 * (piece.low + piece.high);
    let mean = here * of(&middle) + 0.5 * wanted.absent;
    let square = |piece: &Piece| (middle(piece) - mean).powi(2) + (piece.high - piece.low).powi(2) / 12.0;
    (mean, here * of(&square) + wanted.absent * (0.5 - mean).powi(2))
}

/// How the coordinates of a block follow the Gaussian behind them, in the unit of scores.
fn responses(block: &Block, wanted: Option<&Wanted>, scores: &[Score], cloud: &Cloud) -> Vec<Response> {
    let (hot, q) = (f64::from(HOT) / f64::from(Q), f64::from(Q));
    let stretch = |j: usize| scores[j].stretch();
    let at = block.start;
    let mut found: Vec<Response> = match (block.form, wanted) {
        (Form::Circle, _) | (_, None) => {
            (at..at + block.len).map(|j| Response::linear(cloud.variance(j).max(1e-12).sqrt())).collect()
        }
        (Form::OneHot, Some(wanted)) => {
            let one = |(c, piece): (usize, &Piece)| Response::threshold(piece.share, hot * stretch(at + c));
            wanted.pieces.iter().enumerate().map(one).collect()
        }
        (Form::Line, Some(wanted)) => vec![Response::of_pieces(&wanted.pieces, |unit| scores[at].at(unit) / q)],
    };
    if block.absence {
        found.push(Response::threshold(wanted.map_or(0.5, |wanted| wanted.absent), hot * stretch(at + block.len)));
    }
    found
}

/// What is wanted of columns that exclude one another: each as often as it is set, and none of them else.
fn of_columns(one_of: &OneOf, blocks: &[Block], targets: &[Target]) -> Target {
    let target = |at: usize| blocks.iter().position(|block| block.start == at).map(|number| &targets[number]);
    let set = |wanted: Option<&Wanted>| wanted.and_then(|wanted| wanted.pieces.get(1)).map_or(0.0, |piece| piece.share);
    let wanted = |of: &dyn Fn(&Target) -> Option<Wanted>| {
        let mut shares: Vec<f64> = one_of.at.iter().map(|&at| set(target(at).and_then(of).as_ref())).collect();
        if one_of.none {
            shares.push((1.0 - shares.iter().sum::<f64>()).max(0.0));
        }
        categories(&nearest_shares(&shares))
    };
    let strata = one_of.at.first().and_then(|&at| target(at)).map_or(0, |target| target.strata.len());
    let own = |s: usize| Some(wanted(&|target: &Target| target.strata.get(s).cloned().flatten()));
    Target { all: Some(wanted(&|target: &Target| target.all.clone())), strata: (0..strata).map(own).collect() }
}
