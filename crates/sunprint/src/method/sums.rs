//! The default method's first pass: column sums and the total square, for centre and spread.

use super::contrasts::{ContrastStage, HALF};
use super::course::{Course, Measurement, Next};
use super::default::Rest;
use super::fixed_point;
use super::moments::MomentStage;
use crate::error::Result;
use crate::plan::{as_float, difficulty};
use crate::privacy::{Charge, Sensitive};
use crate::schema::{Block, Form, HOT};
use crate::subspace::{Before, Centre, clip_radius, contrast_reach};
use crate::tally::codes::Q;
use crate::tally::{Answer, ClampedSums, ClippedMoments, Sums, Work};

/// Sums of the coordinates whose place is not known, and their square.
pub(super) struct SumStage {
    pub counted: Sums,
    pub centre: Charge,
    pub spread: Charge,
    pub rest: Rest,
}

impl Measurement for SumStage {
    fn work(&self) -> Work {
        Work::Sums(self.counted.clone())
    }

    /// Column sums by the cube mechanism, the total square by discrete Laplace noise.
    ///
    /// Replacing a row moves the sums of the d′ open coordinates inside `[−Q, Q]^d′` and their square by at most `d′ Q²`.
    fn release(self: Box<Self>, course: &mut Course, answer: Sensitive<Answer>, _: &dyn Fn(u64, u64)) -> Result<Next> {
        let SumStage { counted: Sums { counted }, centre, spread, rest } = *self;
        let d = counted.iter().filter(|&&counted| counted).count();
        let (sums, square) = answer.split(|answer| match answer {
            Answer::Sums(sums) => {
                let open = sums.sums.iter().zip(&counted).filter(|(_, counted)| **counted);
                (open.map(|(&sum, _)| sum).collect(), sums.square)
            }
            _ => (Vec::new(), 0),
        });
        let square_sensitivity = d as u128 * u128::from(Q) * u128::from(Q);
        let (rows, before) = (course.rows, course.before());
        let sums = match centre.amount().is_zero() {
            true => None,
            false => Some(course.kernel.cube_sums("centre", sums, u64::from(Q), centre)?),
        };
        let square = course.kernel.scalar("spread", square, square_sensitivity, spread)?;
        let (square, square_noise) = (*square.get(), square.law().deviation());
        let centre = match sums {
            None => Centre::unmeasured(rows, &before, square, square_noise),
            Some(sums) => {
                let noise = sums.law().deviation();
                course.evidence.sums = Some(course.sum_evidence(&counted, sums.get(), noise));
                Centre::read(rows, &before, sums.get(), square, noise, square_noise)
            }
        };
        course.after_centre(centre, rest)
    }
}

impl Course {
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

    /// What follows the centre: moments, contrasts, or nothing.
    pub(super) fn after_centre(&mut self, centre: Centre, rest: Rest) -> Result<Next> {
        if !rest.contrasts.amount().is_zero() {
            let reach = if self.has_stratum_sums() { HALF } else { contrast_reach(&centre) };
            let spec = ClampedSums { centre: centre.codes.clone(), reach };
            return Ok(Next::ask(ContrastStage { centre, spec, rest }));
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
        Ok(Next::ask(MomentStage { centre, spec, rest }))
    }
}
