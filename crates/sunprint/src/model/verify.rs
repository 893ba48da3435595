//! Holding a model to what was released.
//!
//! Between the releases and the rows stand many steps. Whatever they do, the mean and the deviation of every column of the
//! rows must agree with what was released about them, up to its noise. So rows are drawn at the end of every fit and looked
//! at; a column that disagrees is settled anew, by the released numbers alone; and if that does not help because the weights
//! of candidates undo it, all weigh the same. Post-processing: only released numbers enter.

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

/// How a column that disagrees is settled.
#[derive(Clone, Copy, PartialEq)]
enum Attempt {
    /// By its counts, where these agree with the rest of what was released.
    Counts,
    /// By a Gaussian with the released mean and variance.
    Gaussian,
    /// The same, and no row is left out.
    NoWeights,
}

/// Makes the rows of a release agree with what was released of its columns; `targets` are what was wanted of each block.
/// Says how many blocks had to be settled anew.
pub(crate) fn verify(release: &mut Release, schema: &Schema, evidence: &Evidence, targets: &[Target]) -> usize {
    if evidence.is_empty() {
        return 0;
    }
    let blocks = schema.blocks();
    // Columns that exclude one another are settled together.
    let elsewhere = |at: usize| release.settle.one_of.iter().any(|one_of| one_of.at.contains(&at));
    let told_of = |(number, block): (usize, &Block)| {
        if elsewhere(block.start) { Vec::new() } else { told(evidence, schema, number, block) }
    };
    let told: Vec<Vec<Told>> = blocks.iter().enumerate().map(told_of).collect();
    let found = disagreeing(release, schema, &blocks, &told);
    let mut wrong = found.clone();
    for attempt in [Attempt::Counts, Attempt::Gaussian, Attempt::NoWeights] {
        if wrong.is_empty() {
            break;
        }
        if attempt == Attempt::NoWeights {
            // A column of numbers in the wrong place is worse than labels that are less well told apart; a deviation that is
            // off is not.
            let places: Vec<Vec<Told>> = (blocks.iter().zip(&told))
                .map(|(block, told)| if block.form == Form::Line && !block.absence { told.as_slice() } else { &[] })
                .map(|told| told.iter().map(|told| Told { variance: None, ..*told }).collect())
                .collect();
            if release.weights.is_empty() || disagreeing(release, schema, &blocks, &places).is_empty() {
                break;
            }
            // What was weighed is no longer what everything was settled for.
            release.weights.clear();
            release.ancestors.clear();
            wrong = (0..blocks.len()).collect();
        }
        let trial = Trial::of(release, schema.width(), 1);
        for &number in &wrong {
            let target = targets.get(number).filter(|target| target.all.is_some());
            let target = match target {
                Some(target) if !found.contains(&number) => Some(target.clone()),
                _ => alone(target.filter(|_| attempt == Attempt::Counts), &blocks[number], &told[number]),
            };
            target.iter().for_each(|target| trial.set(&mut release.settle.blocks[number], target));
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
    let whole = Noisy::either(evidence.sum_mean(at), counted);
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
    draw.each(|drawn| {
        for row in drawn.units.chunks_exact(width) {
            sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
            squares.iter_mut().zip(row).for_each(|(sum, x)| *sum += x * x);
        }
    });
    let rows = ROWS as f64;
    let wrong = |at: usize, told: &Told| {
        let mean = sums[at] / rows;
        let variance = (squares[at] / rows - mean * mean).max(0.0);
        disagrees(mean, variance, variance / rows, told)
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
            Some(Target { all: Some(wanted), ..Target::default() })
        }
        Form::Line => {
            let told = told.first()?;
            let absent = counted.map_or(0.0, |wanted| wanted.absent);
            let agrees = |wanted: &&Wanted| absent > 0.0 || !pieces_disagree(&wanted.pieces, told);
            let wanted = counted.filter(agrees).cloned();
            let wanted = wanted.unwrap_or_else(|| Wanted { pieces: gaussian(told), absent });
            Some(Target { all: Some(wanted), ..Target::default() })
        }
        Form::Circle => None,
    }
}

/// Whether a mean and a variance disagree with what was released of them; `chance` is the variance of the mean.
fn disagrees(mean: f64, variance: f64, chance: f64, told: &Told) -> bool {
    let off = (mean - told.mean.value.clamp(0.0, 1.0)).abs();
    let far = off > DEVIATIONS * (told.mean.noise.powi(2) + chance).sqrt() + MEAN_SLACK;
    far || told.variance.is_some_and(|told| {
        let wanted = told.value.max(0.0);
        let slack = VARIANCE_SLACK.0 * wanted.max(variance) + VARIANCE_SLACK.1;
        (variance - wanted).abs() > DEVIATIONS * told.noise + slack
    })
}

/// Whether pieces disagree with what was released.
fn pieces_disagree(pieces: &[Piece], told: &Told) -> bool {
    let total = pieces.iter().map(|piece| piece.share).sum::<f64>().max(1e-12);
    let of = |f: &dyn Fn(&Piece) -> f64| pieces.iter().map(|piece| piece.share * f(piece)).sum::<f64>() / total;
    let middle = |piece: &Piece| 0.5 * (piece.low + piece.high);
    let mean = of(&middle);
    let variance = of(&|piece| (middle(piece) - mean).powi(2) + (piece.high - piece.low).powi(2) / 12.0);
    disagrees(mean, variance, 0.0, told)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{Measure, Side, StratumTree, TreeMeasure};
    use crate::model::{Curve, Frame, MomentEvidence, Settle, Settling, Spot, SumEvidence};
    use crate::subspace::Texture;

    const SCHEMA: &str = "[[column]]\nname = \"a\"\nkind = \"continuous\"\nmin = 0\nmax = 1\n\
        [[column]]\nname = \"b\"\nkind = \"continuous\"\nmin = 0\nmax = 1\n";

    /// Two columns around 0.3 and 0.6, of deviation 0.1.
    fn release(curves: [Vec<Curve>; 2]) -> Release {
        let all = StratumTree { depth: 0, leaves: vec![(0, 1_000)] };
        let blocks = curves.into_iter().enumerate().map(|(at, curves)| Settling::Line { at, curves, absent: None });
        Release {
            frame: Frame::Basis { origin: vec![0.3, 0.6], vectors: Vec::new(), sides: Vec::<Side>::new() },
            measure: Measure::Tree(TreeMeasure { cuts: Vec::new(), strata: vec![all] }),
            texture: Texture { diagonal: vec![0.1, 0.1], ..Texture::default() },
            spot: Spot::Uniform,
            settle: Settle { blocks: blocks.collect(), one_of: Vec::new() },
            sieves: Vec::new(),
            ancestors: Vec::new(),
            weights: Vec::new(),
            spectrum: Vec::new(),
            edge: 0.0,
        }
    }

    fn evidence() -> Evidence {
        let sums = SumEvidence { means: vec![Some(0.31), Some(0.59)], noise: 0.01 };
        let moments = MomentEvidence {
            centre: vec![0.5, 0.5],
            radius: 1.0,
            means: vec![0.3, 0.6],
            mean_noise: 0.002,
            variances: vec![0.01, 0.01],
            covariances: vec![0.01, 0.0, 0.01],
            covariance_noise: 0.0005,
            mean_bias: 0.0,
            variance_bias: 0.0,
        };
        Evidence { sums: Some(sums), moments: Some(moments), ..Evidence::default() }
    }

    /// Means and deviations of drawn rows.
    fn figures(release: &Release) -> Vec<(f64, f64)> {
        let draw = Draw::new(release, 2, 8_192, 1);
        let units: Vec<f64> = (0..draw.blocks()).flat_map(|block| draw.block(block).units).collect();
        let of = |at: usize| {
            let column: Vec<f64> = units.iter().copied().skip(at).step_by(2).collect();
            let mean = column.iter().sum::<f64>() / column.len() as f64;
            (mean, (column.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / column.len() as f64).sqrt())
        };
        vec![of(0), of(1)]
    }

    #[test]
    fn what_agrees_is_left_alone() {
        let schema = Schema::parse(SCHEMA, "s").unwrap();
        let mut good = release([Vec::new(), Vec::new()]);
        let before = good.clone();
        assert_eq!(verify(&mut good, &schema, &evidence(), &[]), 0);
        assert_eq!(good, before);
        assert_eq!(verify(&mut good, &schema, &Evidence::default(), &[]), 0, "nothing was released");
    }

    /// A stage that puts a column in the wrong place, or makes it too wide or too narrow, is caught and mended, and the
    /// other column stays as it is.
    #[test]
    fn a_column_in_the_wrong_place_is_put_back() {
        let schema = Schema::parse(SCHEMA, "s").unwrap();
        let curve = |to: [f64; 2]| Curve { from: vec![-0.2, 0.8], to: to.to_vec(), parts: Vec::new() };
        for wrong in [curve([0.9, 1.0]), curve([0.0, 0.0]), curve([0.29, 0.31]), curve([0.0, 0.7])] {
            let mut broken = release([vec![wrong.clone()], Vec::new()]);
            let (mean, deviation) = figures(&broken)[0];
            let off = (mean - 0.3).abs() > 0.02 || !(0.07..0.13).contains(&deviation);
            assert_eq!(verify(&mut broken, &schema, &evidence(), &[]), usize::from(off), "{wrong:?}");
            let found = figures(&broken);
            assert!((found[0].0 - 0.3).abs() < 0.01 && (found[0].1 - 0.1).abs() < 0.02, "{wrong:?} {found:?}");
            assert!((found[1].0 - 0.6).abs() < 0.01 && (found[1].1 - 0.1).abs() < 0.01);
        }
    }
}
