//! Holding a model to what was released.
//!
//! Between the releases and the rows stand many steps. Whatever they do, the mean and the deviation of every column of the
//! rows must agree with what was released about them, up to its noise. So rows are drawn at the end of every fit and looked
//! at; a column that disagrees is settled anew, by the released numbers alone; and if that does not help because the sieves
//! undo it, there are no sieves. Post-processing: only released numbers enter.

use super::calibrate::{Piece, Target, Trial, Wanted};
use super::evidence::{Cell, Evidence, Noisy};
use super::{Draw, Release};
use crate::schema::{Block, Form, Schema};

/// Rows of the draw, and any fixed number: it is part of the fit and its result is stored.
const ROWS: u64 = 16_384;
const SEED: u64 = 5;
/// So many deviations of noise are agreement still: in one of ten thousand columns there are more by chance.
const DEVIATIONS: f64 = 4.0;
/// What a mean may be off beside that, in units, for the drawn rows' own chance and for rows that were clipped.
const MEAN_SLACK: f64 = 0.005;
/// What a variance may be off beside that: a part of itself, and the square of a hundredth of the bounds.
const VARIANCE_SLACK: (f64, f64) = (0.3, 1e-4);
/// Pieces of a column that was not counted.
const PIECES: usize = 64;

/// What was released of a coordinate.
#[derive(Clone, Copy, Debug)]
struct Told {
    mean: Noisy,
    variance: Option<Noisy>,
}

/// Makes the rows of a release agree with what was released of its columns; `targets` are what was wanted of each block.
/// Says how many blocks had to be settled anew.
pub(crate) fn verify(release: &mut Release, schema: &Schema, evidence: &Evidence, targets: &[Target]) -> usize {
    if evidence.is_empty() {
        return 0;
    }
    let blocks = schema.blocks();
    // Columns that exclude one another are settled together, and what a facet tells is so.
    let elsewhere = |at: usize| {
        let one_of = release.settle.one_of.iter().any(|one_of| one_of.at.contains(&at));
        one_of || release.facets.asked.iter().any(|&asked| asked as usize == at)
    };
    let told_of = |(number, block): (usize, &Block)| {
        if elsewhere(block.start) { Vec::new() } else { told(evidence, schema, number, block) }
    };
    let told: Vec<Vec<Told>> = blocks.iter().enumerate().map(told_of).collect();
    let found = disagreeing(release, schema, &blocks, &told);
    let mut wrong = found.clone();
    for without_sieves in [false, true] {
        if wrong.is_empty() {
            break;
        }
        if without_sieves {
            // What the sieves keep is no longer what it was settled for: everything is settled anew.
            release.sieves.clear();
            wrong = (0..blocks.len()).collect();
        }
        let trial = Trial::of(release, schema.width(), 1);
        for &number in &wrong {
            let target = targets.get(number).filter(|target| target.all.is_some() && !found.contains(&number)).cloned();
            if let Some(target) = target.or_else(|| alone(targets.get(number), &blocks[number], &told[number])) {
                trial.set(&mut release.settle.blocks[number], &target);
            }
        }
        wrong = disagreeing(release, schema, &blocks, &told);
    }
    found.len()
}

/// What was released of the coordinates of a block; nothing where that is not enough to judge it.
fn told(evidence: &Evidence, schema: &Schema, number: usize, block: &Block) -> Vec<Told> {
    match block.form {
        Form::OneHot => {
            let share = |share: Noisy| {
                let mean = Noisy { value: share.value.clamp(0.0, 1.0), noise: share.noise };
                Told { mean, variance: None }
            };
            evidence.categories(number, schema).unwrap_or_default().into_iter().map(share).collect()
        }
        Form::Line => of_line(evidence, schema, number, block).into_iter().collect(),
        Form::Circle => Vec::new(),
    }
}

/// Sums, moments and counts together, each weighed by its noise. The moments are of clipped rows: what contradicts the
/// others by more than noise explains counts as noise of theirs.
fn of_line(evidence: &Evidence, schema: &Schema, number: usize, block: &Block) -> Option<Told> {
    let at = block.start;
    let cells = evidence.cells(number, schema);
    // A missing value stands in the middle.
    let counted = cells.as_ref().map(|cells| {
        let (mean, absent) = (cells.mean(Cell::middle), cells.absent.value);
        Noisy { value: (1.0 - absent) * mean.value + 0.5 * absent, noise: (1.0 - absent) * mean.noise }
    });
    let whole = match (evidence.sum_mean(at), counted) {
        (Some(a), Some(b)) => Some(a.and(b)),
        (a, b) => a.or(b),
    };
    let mean = both(whole, evidence.moment_mean(at))?;
    let counted =
        cells.filter(|cells| cells.absent.value == 0.0).map(|cells| cells.mean(|cell| cell.square_around(mean.value)));
    Some(Told { mean, variance: both(counted, evidence.variance(at)) })
}

/// An unbiased number and one of clipped rows.
fn both(unbiased: Option<Noisy>, clipped: Option<Noisy>) -> Option<Noisy> {
    match (unbiased, clipped) {
        (Some(unbiased), Some(clipped)) => Some(unbiased.and_clipped(clipped)),
        (unbiased, clipped) => unbiased.or(clipped),
    }
}

/// The blocks whose drawn rows disagree with what was released.
fn disagreeing(release: &Release, schema: &Schema, blocks: &[Block], told: &[Vec<Told>]) -> Vec<usize> {
    let width = schema.width();
    let (mut sums, mut squares) = (vec![0.0; width], vec![0.0; width]);
    let draw = Draw::new(release, width, ROWS, SEED);
    for block in 0..draw.blocks() {
        for row in draw.block(block).units.chunks_exact(width) {
            sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
            squares.iter_mut().zip(row).for_each(|(sum, x)| *sum += x * x);
        }
    }
    let rows = ROWS as f64;
    let wrong = |at: usize, told: &Told| {
        let mean = sums[at] / rows;
        let variance = (squares[at] / rows - mean * mean).max(0.0);
        let chance = variance / rows;
        let off = (mean - told.mean.value.clamp(0.0, 1.0)).abs();
        let far = off > DEVIATIONS * (told.mean.noise.powi(2) + chance).sqrt() + MEAN_SLACK;
        far || told.variance.is_some_and(|told| {
            let wanted = told.value.max(0.0);
            let slack = VARIANCE_SLACK.0 * wanted.max(variance) + VARIANCE_SLACK.1;
            (variance - wanted).abs() > DEVIATIONS * told.noise + slack
        })
    };
    let block_is_wrong = |number: &usize| {
        let block = &blocks[*number];
        told[*number].iter().enumerate().any(|(i, told)| wrong(block.start + i, told))
    };
    (0..blocks.len()).filter(block_is_wrong).collect()
}

/// What is wanted of a block by what was released of it alone, in all rows together: the counts where there are any that
/// agree with the rest, and else a Gaussian with the released mean and variance.
fn alone(target: Option<&Target>, block: &Block, told: &[Told]) -> Option<Target> {
    let counted = target.and_then(|target| target.all.as_ref());
    match block.form {
        Form::OneHot => {
            let piece = |(c, told): (usize, &Told)| Piece { low: c as f64, high: c as f64, share: told.mean.value };
            let pieces: Vec<Piece> = told.iter().enumerate().map(piece).collect();
            let wanted = counted.cloned().unwrap_or(Wanted { pieces, absent: 0.0 });
            Some(Target { all: Some(wanted), strata: Vec::new() })
        }
        Form::Line => {
            let told = told.first()?;
            let absent = counted.map_or(0.0, |wanted| wanted.absent);
            let agrees = |wanted: &&Wanted| absent > 0.0 || off(&wanted.pieces, told) <= 1.0;
            let wanted = counted.filter(agrees).cloned();
            let wanted = wanted.unwrap_or_else(|| Wanted { pieces: gaussian(told), absent });
            Some(Target { all: Some(wanted), strata: Vec::new() })
        }
        Form::Circle => None,
    }
}

/// How far the mean of pieces is from the released one, in what agreement allows.
fn off(pieces: &[Piece], told: &Told) -> f64 {
    let total: f64 = pieces.iter().map(|piece| piece.share).sum();
    let mean = pieces.iter().map(|piece| piece.share * 0.5 * (piece.low + piece.high)).sum::<f64>() / total.max(1e-12);
    (mean - told.mean.value).abs() / (DEVIATIONS * told.mean.noise + MEAN_SLACK)
}

/// A Gaussian that is clamped to the bounds and has the released mean there.
fn gaussian(told: &Told) -> Vec<Piece> {
    let deviation = told.variance.map_or(0.1, |variance| variance.value.max(VARIANCE_SLACK.1).sqrt());
    let wanted = told.mean.value.clamp(0.0, 1.0);
    // The clamped mean grows with the place of the free one.
    let (mut low, mut high) = (-1.0 - 8.0 * deviation, 2.0 + 8.0 * deviation);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        let pieces = clamped(middle, deviation);
        let mean: f64 = pieces.iter().map(|piece| piece.share * 0.5 * (piece.low + piece.high)).sum();
        if mean < wanted { low = middle } else { high = middle }
    }
    clamped(0.5 * (low + high), deviation)
}

fn clamped(mean: f64, deviation: f64) -> Vec<Piece> {
    let below = |x: f64| 0.5 * libm::erfc((mean - x) / (deviation * std::f64::consts::SQRT_2));
    let mut pieces = vec![Piece { low: 0.0, high: 0.0, share: below(0.0) }];
    for i in 0..PIECES {
        let (low, high) = (i as f64 / PIECES as f64, (i + 1) as f64 / PIECES as f64);
        pieces.push(Piece { low, high, share: (below(high) - below(low)).max(0.0) });
    }
    pieces.push(Piece { low: 1.0, high: 1.0, share: 1.0 - below(1.0) });
    pieces
}
