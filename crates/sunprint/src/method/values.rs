//! The values of each column one by one: which cells are counted, and what their noisy counts ask of the rows.

use super::attune::Ground;
use super::cells::CellStage;
use super::certificate::Asked;
use super::course::{Course, Measurement, Next, counts_of};
use super::default::Later;
use super::noted::short;
use crate::error::Result;
use crate::math::rounding::nearest_shares;
use crate::model::{ColumnMoments, Evidence, Noisy, Piece, Release, Target, ValueCounts, ValueEvidence, Wanted};
use crate::plan::{CELLS, counted};
use crate::privacy::{Charge, Sensitive};
use crate::schema::{Block, Form};
use crate::tally::codes::{Q, below_value};
use crate::tally::{Answer, Histogram, Marginals, Work};

/// Columns with at most so many values have a cell for each.
const MOST_VALUES: u64 = 40;
/// Other columns have [`CELLS`] between so many standard deviations on both sides of the mean, and one more for each bound
/// and for what lies beyond the deviations.
const REACH: f64 = 4.0;
/// Twice as far so often is beyond every bound: the least reach is 16 codes, and 16 · 2¹² = 65,536.
const DOUBLINGS: u32 = 13;
/// Where more of the values are missing, the moments say too little of the others.
const MOST_ABSENT: f64 = 0.5;

/// The values of columns, one histogram for each.
pub(super) struct ValueStage {
    pub spec: Marginals,
    pub charge: Charge,
    /// What comes next.
    pub then: Then,
}

/// What comes once values were counted, or are not counted at all.
pub(super) enum Then {
    /// Cells in a few directions.
    Cells(CellStage),
    /// The model as it is, which asks for its own counts.
    Model { release: Release, ground: Ground, later: Later },
}

impl Then {
    pub fn go_on(self, course: &mut Course, targets: Vec<Target>) -> Result<Next> {
        match self {
            Then::Cells(mut cells) => {
                cells.targets = targets;
                Ok(Next::ask(cells))
            }
            Then::Model { release, ground, later } => course.done(release, &targets, Some(&ground), Some(later)),
        }
    }

    pub fn ground(&self) -> Option<&Ground> {
        match self {
            Then::Cells(cells) => cells.ground.as_ref(),
            Then::Model { ground, .. } => Some(ground),
        }
    }
}

impl Course {
    /// Which cells are counted.
    pub(super) fn histograms(&self, means: &[f64], variances: &[f64]) -> Marginals {
        let of = |block: &Block| match block.form {
            _ if !counted(&self.schema, block) => None,
            Form::Line => {
                let (at, absence) = (block.start, block.absence);
                let edges = match self.values_of(block) {
                    Some(values) => (1..values).map(|value| below_value(value, values)).collect(),
                    None => range_edges(means[at], variances[at].max(0.0).sqrt()),
                };
                Some(Histogram::Line { at, edges, absence })
            }
            Form::OneHot => Some(Histogram::Hot { at: block.start, len: block.len }),
            Form::Circle => None,
        };
        Marginals { histograms: self.schema.blocks().iter().filter_map(of).collect() }
    }

    /// How many values a column has, where they are few and lie at equal distances.
    fn values_of(&self, block: &Block) -> Option<u64> {
        self.schema.columns[block.column].kind.values().filter(|values| (2..=MOST_VALUES).contains(values))
    }
}

impl Measurement for ValueStage {
    fn work(&self) -> Work {
        Work::Marginals(self.spec.clone())
    }

    /// Noisy counts of every cell; what they ask of the rows is kept for the end.
    fn release(self: Box<Self>, course: &mut Course, answer: Sensitive<Answer>, _: &dyn Fn(u64, u64)) -> Result<Next> {
        let ValueStage { spec, charge, then } = *self;
        let mut targets = Vec::new();
        let counts = counts_of(answer);
        let columns = spec.histograms.len() as u64;
        let (counts, law) = course.kernel.histograms("marginals", counts, columns, charge)?.into_parts();
        let noise = law.deviation();
        let schema = course.schema.clone();
        course.note_values(&spec, &counts, noise, |block| counted(&schema, block));
        let (schema, strata, rows) = (&course.schema, course.schema.strata(), course.rows as f64);
        let mut histograms = spec.histograms.iter();
        let mut rest = counts.as_slice();
        for (number, block) in schema.blocks().into_iter().enumerate() {
            if !counted(schema, &block) {
                targets.push(Target::default());
                continue;
            }
            let Some(histogram) = histograms.next() else { continue };
            let (mine, others) = rest.split_at(histogram.size(strata));
            rest = others;
            let target = match (course.evidence.categories(number, schema), histogram) {
                (Some(shares), Histogram::Hot { .. }) => categories(&shares),
                (_, Histogram::Line { edges, .. }) => {
                    let known = known(&course.evidence, block.start);
                    of_line(pieces(edges, course.values_of(&block)), mine, noise, rows, known)
                }
                _ => Target::default(),
            };
            targets.push(target);
        }
        then.go_on(course, targets)
    }
}

/// Where rows are few: the categories of every column of them, and nothing more.
pub(super) struct CategoryStage {
    pub spec: Marginals,
    pub charge: Charge,
    /// The model so far.
    pub release: Release,
}

impl Measurement for CategoryStage {
    fn work(&self) -> Work {
        Work::Marginals(self.spec.clone())
    }

    fn is_last(&self) -> bool {
        true
    }

    fn release(self: Box<Self>, course: &mut Course, answer: Sensitive<Answer>, _: &dyn Fn(u64, u64)) -> Result<Next> {
        let CategoryStage { spec, charge, release } = *self;
        let counts = counts_of(answer);
        let columns = spec.histograms.len() as u64;
        let (counts, law) = course.kernel.histograms("marginals", counts, columns, charge)?.into_parts();
        let hot = |block: &Block| block.form == Form::OneHot;
        course.note_values(&spec, &counts, law.deviation(), hot);
        let target = |(number, block): (usize, Block)| {
            let shares = course.evidence.categories(number, &course.schema).filter(|_| hot(&block));
            shares.map_or_else(Target::default, |shares| categories(&shares))
        };
        let targets: Vec<Target> = course.schema.blocks().into_iter().enumerate().map(target).collect();
        course.done(release, &targets, None, None)
    }
}

impl Course {
    /// Every column of categories.
    pub(super) fn every_category(&self) -> Marginals {
        let hot =
            |block: &Block| (block.form == Form::OneHot).then_some(Histogram::Hot { at: block.start, len: block.len });
        Marginals { histograms: self.schema.blocks().iter().filter_map(hot).collect() }
    }

    /// Counts of some blocks as they were released, and what they say of the moments.
    fn note_values(&mut self, spec: &Marginals, counts: &[i64], noise: f64, counted: impl Fn(&Block) -> bool) {
        let (marginals, released) = (spec.clone(), counts.iter().map(|&count| count as f64).collect());
        self.asked.push(Asked { stage: "marginals", marginals, counts: released, noise });
        let (rows, strata) = (self.rows as f64, self.schema.strata());
        let mut rest = counts;
        let counted = (self.schema.blocks().into_iter().enumerate()).filter(|(_, block)| counted(block));
        for ((number, _), histogram) in counted.zip(&spec.histograms) {
            let (mine, others) = rest.split_at(histogram.size(strata));
            rest = others;
            self.evidence.values.push(value_evidence(number, histogram, mine, noise / rows, rows));
        }
        self.evidence.notice_clipping(&self.schema);
    }
}

/// Counts of a block as they were released.
fn value_evidence(block: usize, histogram: &Histogram, counts: &[i64], noise: f64, rows: f64) -> ValueEvidence {
    let edges = match histogram {
        Histogram::Line { edges, .. } => edges.clone(),
        Histogram::Hot { .. } | Histogram::Tree(_) | Histogram::Sites(_) => Vec::new(),
    };
    ValueEvidence {
        block,
        edges,
        parts: counts.iter().map(|&count| short(count as f64 / rows, noise)).collect(),
        noise,
    }
}

/// Edges around a mean, further and further apart beyond the deviations, and for the two bounds.
///
/// The deviation may have been measured too small, and tails may be long: with one cell between the deviations and a far
/// bound, nobody could say whether its rows stand near or far. So beyond them every cell reaches twice as far from the mean
/// as the one before it.
fn range_edges(mean: f64, deviation: f64) -> Vec<u16> {
    let q = f64::from(Q);
    let (low, high) = ((mean - REACH * deviation).max(0.0), (mean + REACH * deviation).min(1.0));
    let step = (high - low).max(0.0) / f64::from(CELLS);
    let reach = (REACH * deviation).max(f64::from(CELLS) / (2.0 * q));
    let inner = (0..=CELLS).map(|i| low + f64::from(i) * step);
    let outer = (1..DOUBLINGS).map(|i| reach * f64::from(i).exp2()).flat_map(|far| [mean - far, mean + far]);
    let inside = inner.chain(outer).map(|edge| (edge * q).round()).filter(|edge| (2.0..q).contains(edge));
    let mut edges: Vec<u16> = inside.map(|edge| edge as u16).chain([1, Q]).collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// What the shares of categories ask of the rows. How they go with strata is left to the model, which has it from the
/// moments.
fn categories(shares: &[Noisy]) -> Target {
    let nearest = nearest_shares(&shares.iter().map(|share| share.value).collect::<Vec<f64>>());
    let piece = |(c, &share): (usize, &f64)| Piece { low: c as f64, high: c as f64, share };
    let wanted = Wanted { pieces: nearest.iter().enumerate().map(piece).collect(), absent: 0.0 };
    Target { all: Some(wanted), ..Target::default() }
}

/// What sums and moments say of a coordinate.
fn known(evidence: &Evidence, at: usize) -> Option<ColumnMoments> {
    let (mean, variance) = (evidence.moment_mean(at)?, evidence.variance(at)?);
    let (summed, variance) = (evidence.sum_mean(at), Some((variance.value, variance.noise)));
    Some(ColumnMoments { mean: mean.value, mean_noise: mean.noise, summed, variance })
}

/// Counts of a column of numbers, which the model is to hear.
fn of_line(pieces: Vec<Piece>, counts: &[i64], noise: f64, rows: f64, known: Option<ColumnMoments>) -> Target {
    let counts: Vec<f64> = counts.iter().map(|&count| count as f64).collect();
    let (here, gone) = counts.split_at(pieces.len());
    let absent = (gone.iter().sum::<f64>() / rows.max(1.0)).clamp(0.0, 1.0);
    if absent >= 1.0 {
        // Where everything is missing there is nothing to say of the values.
        return Target { all: Some(Wanted { pieces: Vec::new(), absent }), ..Target::default() };
    }
    let known = known.filter(|_| absent <= MOST_ABSENT).map(|known| known.of_present(absent));
    let rows = rows.max(1.0) * (1.0 - absent);
    let counted = ValueCounts { pieces, counts: here.to_vec(), noise, rows, absent, known };
    Target { counted: Some(counted), ..Target::default() }
}

/// The cells of a column of numbers: each of its few values, or both bounds and what lies between the edges.
fn pieces(edges: &[u16], values: Option<u64>) -> Vec<Piece> {
    let unit = |code: u16| f64::from(code) / f64::from(Q);
    let piece = |i: usize| {
        let (low, high) = match values {
            Some(values) => (i as f64 / (values - 1) as f64, i as f64 / (values - 1) as f64),
            None if i == 0 => (0.0, 0.0),
            None if i == edges.len() => (1.0, 1.0),
            None => (unit(edges[i - 1]), unit(edges[i])),
        };
        Piece { low, high, share: 0.0 }
    };
    (0..=edges.len()).map(piece).collect()
}
