//! Drawing rows: free, seeded, and the same bits on every machine.
//!
//! Row i of N gets the quantile `(π(i) + u) / N` of the measure, with π a keyed permutation and one common u: systematic
//! draws, so that every leaf gets its share up to one row, in random order, and N = n gives every leaf exactly its
//! count. Rows come in blocks with a random stream each, so blocks can be drawn in any order. Only additions,
//! multiplications, square roots and the software logarithm are used: they round alike everywhere.

use super::candidates::{Candidates, FRESH, mix, stream};
use super::{Constraints, Frame, Model, Release, Spot};
use crate::math::permutation::Permutation;
use crate::math::stream::Stream;
use crate::math::vector::{add_all, dot};
use crate::measure::Side;
use crate::source::{Drawn, in_order};

/// Rows in a block.
pub const BLOCK: u64 = 1024;

/// Streams of the seed: one for the order, one for each block.
const ORDER: u64 = 0;
const ROWS: u64 = 1;

/// A row that was not kept so often is kept.
const ATTEMPTS: u32 = 64;

/// Normal numbers that are drawn together.
const TOGETHER: usize = 64;

/// A seeded draw of N rows from a model.
pub struct Draw<'a> {
    release: &'a Release,
    width: usize,
    rows: u64,
    seed: u64,
    order: Permutation,
    start: f64,
    leaves: Vec<Leaf>,
    /// The columns with a deviation of their own.
    noisy: Vec<usize>,
    /// The mean of each stratum along the frame's vectors, where rows follow the measured coordinates.
    means: Vec<Vec<f64>>,
    /// Where rows are drawn among candidates.
    candidates: Option<Candidates>,
    /// Those that they descend from, and how much of a child is its own.
    ancestors: Vec<(Candidates, f64)>,
    /// What every row obeys.
    constraints: Option<Constraints>,
}

/// One leaf with rows: its stratum, its index, and how many rows come before it.
struct Leaf {
    stratum: u32,
    index: u64,
    before: u64,
}

impl Model {
    /// Prepares a draw of `rows` rows by `seed`.
    pub fn draw(&self, rows: u64, seed: u64) -> Draw<'_> {
        // A schema with constraints that no row can obey was refused when it was read.
        let constraints =
            Constraints::for_layout(&self.schema, &self.layout()).ok().filter(|constraints| !constraints.is_empty());
        Draw { constraints, ..Draw::new(&self.release, self.schema.width(), rows, seed) }
    }
}

impl<'a> Draw<'a> {
    pub(super) fn new(release: &'a Release, width: usize, rows: u64, seed: u64) -> Draw<'a> {
        let mut leaves = Vec::new();
        let mut before = 0;
        for stratum in 0..release.measure.strata() {
            for &(index, count) in release.measure.leaves(stratum) {
                leaves.push(Leaf { stratum: stratum as u32, index, before });
                before += count;
            }
        }
        leaves.push(Leaf { stratum: u32::MAX, index: 0, before });
        let mut random = Stream::new(seed, ORDER, 0);
        let start = random.unit();
        let diagonal = release.texture.diagonal.iter().take(width).enumerate();
        let noisy = diagonal.filter(|(_, deviation)| **deviation > 0.0).map(|(column, _)| column).collect();
        let order = Permutation::new(rows.max(1), &mut random);
        let means = match &release.frame {
            Frame::Basis { vectors, .. } if !release.texture.gains.is_empty() => release.texture.means(vectors),
            _ => Vec::new(),
        };
        let mut draw = Draw {
            release,
            width,
            rows,
            seed,
            order,
            start,
            leaves,
            noisy,
            means,
            candidates: None,
            ancestors: Vec::new(),
            constraints: None,
        };
        draw.ancestors = release.ancestors.iter().map(|g| (draw.weighed(&g.weights), g.fresh)).collect();
        if !release.weights.is_empty() {
            draw.candidates = Some(draw.weighed(&release.weights));
        }
        draw
    }

    /// For candidates alone, so many, whatever they weigh.
    pub(super) fn of_candidates(release: &'a Release, width: usize, count: u64) -> Draw<'a> {
        let draw = Draw { candidates: None, ..Draw::new(release, width, 1, 0) };
        Draw { candidates: Some(draw.count_candidates(count)), ..draw }
    }

    fn count_candidates(&self, count: u64) -> Candidates {
        let measure = &self.release.measure;
        Candidates::new(count, &(0..measure.strata()).map(|s| measure.rows(s)).collect::<Vec<u64>>())
    }

    fn weighed(&self, weights: &[u32]) -> Candidates {
        self.count_candidates(weights.len() as u64).weighed(weights)
    }

    /// How many blocks there are.
    pub fn blocks(&self) -> u64 {
        self.rows.div_ceil(BLOCK)
    }

    /// One block of rows; an empty one beyond the last.
    pub fn block(&self, block: u64) -> Drawn {
        let mut drawn = Drawn::default();
        self.fill(block, &mut drawn);
        drawn
    }

    /// The same in the place of other rows, whose memory is used again.
    pub fn fill(&self, block: u64, drawn: &mut Drawn) {
        if let Some(candidates) = &self.candidates {
            return self.fill_chosen(candidates, block, true, drawn);
        }
        self.rows_of(block, drawn, Self::row);
    }

    /// Looks at all blocks, one after the other; they are drawn on all cores.
    pub(super) fn each(&self, look: impl FnMut(Drawn)) {
        self.each_of(|block| self.block(block), look);
    }

    /// The same before rows are settled.
    pub(super) fn each_free(&self, look: impl FnMut(Drawn)) {
        self.each_of(|block| self.free_block(block), look);
    }

    fn each_of(&self, draw: impl Fn(u64) -> Drawn + Sync, mut look: impl FnMut(Drawn)) {
        let mut blocks = 0..self.blocks();
        let take = |drawn| {
            look(drawn);
            Ok(())
        };
        // Nothing of this can fail.
        let _ = in_order(|| Ok(blocks.next()), |block| Ok(draw(block)), take);
    }

    /// One block of rows before they are settled: those that are kept once they are.
    pub(super) fn free_block(&self, block: u64) -> Drawn {
        let mut drawn = Drawn::default();
        if let Some(candidates) = &self.candidates {
            self.fill_chosen(candidates, block, false, &mut drawn);
            return drawn;
        }
        let mut settled = Vec::with_capacity(self.width);
        self.rows_of(block, &mut drawn, |draw, last, stratum, cell, random, out| {
            let at = out.len();
            draw.free_row(stratum, cell, random, out);
            if draw.release.sieves.is_empty() {
                return true;
            }
            settled.clear();
            settled.extend_from_slice(&out[at..]);
            draw.release.settle_row(stratum, &mut settled, random);
            let keep = draw.keep(stratum, &settled);
            last || keep >= 1.0 || random.unit() < keep
        });
        drawn
    }

    fn rows_of(
        &self,
        block: u64,
        drawn: &mut Drawn,
        mut row_of: impl FnMut(&Self, bool, usize, &[Side], &mut Stream, &mut Vec<f64>) -> bool,
    ) {
        let first = block.saturating_mul(BLOCK).min(self.rows);
        let last = first.saturating_add(BLOCK).min(self.rows);
        let width = self.width;
        let mut random = Stream::new(self.seed, ROWS, block);
        drawn.width = width;
        drawn.units.clear();
        drawn.units.reserve((last - first) as usize * width);
        drawn.strata.clear();
        let mut cells = std::collections::HashMap::new();
        for row in first..last {
            let mut which = self.leaf(row);
            let stratum = self.leaves[which].stratum;
            let at = drawn.units.len();
            for attempt in 0..=ATTEMPTS {
                let sides = cells.entry(which).or_insert_with(|| self.cell(&self.leaves[which]));
                drawn.units.truncate(at);
                let last = attempt == ATTEMPTS;
                if row_of(self, last, stratum as usize, sides, &mut random, &mut drawn.units) {
                    break;
                }
                which = self.another_leaf(which, &mut random);
            }
            drawn.strata.push(stratum);
        }
    }

    /// A block of rows that are chosen among candidates.
    fn fill_chosen(&self, candidates: &Candidates, block: u64, settled: bool, drawn: &mut Drawn) {
        let rows =
            block.saturating_mul(BLOCK).min(self.rows)..block.saturating_add(1).saturating_mul(BLOCK).min(self.rows);
        let (mut random, mut normals) = (Stream::new(self.seed, ROWS, block), Vec::new());
        drawn.width = self.width;
        drawn.units.clear();
        drawn.strata.clear();
        for row in rows {
            let quantile = self.quantile(row);
            let stratum = self.leaves[self.leaf_at(quantile)].stratum;
            let (low, high) = self.quantiles(stratum);
            let part = ((quantile - low) as f64 + random.unit()) / (high - low).max(1) as f64;
            let number = candidates.at(stratum as usize, part);
            let at = drawn.units.len();
            let (leaf, mut own) = self.normals(self.ancestors.len(), number, &mut normals);
            mix(&mut normals[self.release.texture.directions.len()..], FRESH, &mut random);
            self.row_of(leaf, &normals, &mut own, settled, &mut drawn.units);
            if settled {
                self.constraints.iter().for_each(|constraints| constraints.enforce(&mut drawn.units[at..]));
            }
            drawn.strata.push(stratum);
        }
    }

    /// Draws a candidate of the last generation, and says of which stratum it is.
    pub(super) fn candidate(&self, number: u64, normals: &mut Vec<f64>, out: &mut Vec<f64>) -> usize {
        let (leaf, mut random) = self.normals(self.ancestors.len(), number, normals);
        self.row_of(leaf, normals, &mut random, true, out);
        self.leaves[leaf].stratum as usize
    }

    /// The normal numbers of a candidate of a generation, its leaf, and the stream that goes on from there.
    fn normals(&self, generation: usize, number: u64, out: &mut Vec<f64>) -> (usize, Stream) {
        let of = |generation: usize| match self.ancestors.get(generation) {
            Some((candidates, _)) => Some(candidates),
            None => self.candidates.as_ref(),
        };
        let (stratum, part) = of(generation).map_or((0, 0.5), |candidates| candidates.place(number));
        let mut random = stream(generation, number);
        match generation.checked_sub(1) {
            None => {
                let (low, high) = self.quantiles(stratum as u32);
                let quantile = low + ((part * (high - low) as f64) as u64).min((high - low).saturating_sub(1));
                out.clear();
                out.resize(self.release.texture.directions.len() + self.noisy.len(), 0.0);
                random.normals(out);
                (self.leaf_at(quantile), random)
            }
            Some(before) => {
                let parent = of(before).map_or(0, |candidates| candidates.at(stratum, part));
                let (leaf, _) = self.normals(before, parent, out);
                mix(out, self.ancestors[before].1, &mut random);
                (leaf, random)
            }
        }
    }

    /// The row that has these normal numbers, those of directions first.
    fn row_of(&self, leaf: usize, normals: &[f64], random: &mut Stream, settled: bool, out: &mut Vec<f64>) {
        let (leaf, at, texture) = (&self.leaves[leaf], out.len(), &self.release.texture);
        out.resize(at + self.width, 0.0);
        let row = &mut out[at..];
        let (common, own) = normals.split_at(texture.directions.len());
        add_all(row, &texture.directions, common);
        for (&column, normal) in self.noisy.iter().zip(own) {
            row[column] += texture.diagonal[column] * normal;
        }
        texture.pulls.iter().for_each(|pull| pull.apply(row));
        self.place(leaf.stratum as usize, &self.cell(leaf), random, row);
        if settled {
            self.release.settle_row(leaf.stratum as usize, row, random);
        }
    }

    /// The quantiles of a stratum.
    fn quantiles(&self, stratum: u32) -> (u64, u64) {
        let first = self.leaves.partition_point(|leaf| leaf.stratum < stratum);
        let end = self.leaves.partition_point(|leaf| leaf.stratum <= stratum).min(self.leaves.len() - 1);
        (self.leaves[first.min(end)].before, self.leaves[end].before)
    }

    /// The leaf that holds the row's quantile.
    fn leaf(&self, row: u64) -> usize {
        self.leaf_at(self.quantile(row))
    }

    fn leaf_at(&self, quantile: u64) -> usize {
        self.leaves.partition_point(|leaf| leaf.before <= quantile).max(1) - 1
    }

    /// The quantile of a row: a number below that of all rows of the measure.
    fn quantile(&self, row: u64) -> u64 {
        let total = self.leaves[self.leaves.len() - 1].before;
        let place = self.order.at(row);
        // ⌊(place + u) · total / N⌋ in integers, u in 2⁻³² steps: exact, so N = n gives every leaf its own count. What
        // u · total has behind the point cannot carry the sum over a multiple of N. At most 2⁶⁴ · 2⁶² + 2⁶²: no overflow.
        let u = (self.start * 4294967296.0) as u128;
        let moved = u128::from(place) * u128::from(total) + ((u * u128::from(total)) >> 32);
        let rows = self.rows.max(1);
        // The smaller type divides faster.
        let quantile = u64::try_from(moved).map_or_else(|_| (moved / u128::from(rows)) as u64, |moved| moved / rows);
        quantile.min(total.saturating_sub(1))
    }

    fn cell(&self, leaf: &Leaf) -> Vec<Side> {
        let (measure, stratum) = (&self.release.measure, leaf.stratum as usize);
        match &self.release.frame {
            Frame::Basis { sides, .. } => measure.cell(stratum, leaf.index, sides),
            Frame::Columns { width } => measure.cell(stratum, leaf.index, &vec![Side { low: 0.0, width: 1.0 }; *width]),
        }
    }

    /// A leaf of the same stratum, each as often as it has rows.
    fn another_leaf(&self, which: usize, random: &mut Stream) -> usize {
        let stratum = self.leaves[which].stratum;
        let first = self.leaves[..which].partition_point(|leaf| leaf.stratum < stratum);
        let end = which + self.leaves[which..].partition_point(|leaf| leaf.stratum == stratum);
        let (low, high) = (self.leaves[first].before, self.leaves[end].before);
        let quantile = low + random.below((high - low).max(1));
        self.leaves.partition_point(|leaf| leaf.before <= quantile) - 1
    }

    /// A row of the cube: the point nearest to the free row (the paper's metric projection), and its blocks settled.
    /// Says whether it is kept, and only then makes it obey; the last is always kept.
    fn row(&self, last: bool, stratum: usize, cell: &[Side], random: &mut Stream, out: &mut Vec<f64>) -> bool {
        let at = out.len();
        self.free_row(stratum, cell, random, out);
        self.release.settle_row(stratum, &mut out[at..], random);
        let keep = self.keep(stratum, &out[at..]);
        let kept = last || keep >= 1.0 || random.unit() < keep;
        if kept {
            self.constraints.iter().for_each(|constraints| constraints.enforce(&mut out[at..]));
        }
        kept
    }

    /// The probability with which a settled row is kept.
    fn keep(&self, stratum: usize, row: &[f64]) -> f64 {
        self.release.sieves.iter().map(|sieve| sieve.keep(stratum, row)).product::<f64>().min(1.0)
    }

    /// Draws the texture and moves it to a point of the cell; the result may lie outside the cube.
    fn free_row(&self, stratum: usize, cell: &[Side], random: &mut Stream, out: &mut Vec<f64>) {
        let (release, at) = (self.release, out.len());
        match &release.frame {
            Frame::Columns { .. } => {
                out.extend(cell.iter().map(|side| release.spot(side, random)));
                self.add_texture(random, &mut out[at..]);
            }
            // The order of the random numbers is that of the first format: its models draw what they always drew.
            Frame::Basis { origin, vectors, .. } if release.texture.is_plain() => {
                out.extend_from_slice(origin);
                let row = &mut out[at..];
                for (side, v) in cell.iter().zip(vectors) {
                    add(row, release.spot(side, random), v);
                }
                if let Some(shift) = release.texture.shifts.get(stratum) {
                    add(row, 1.0, shift);
                }
                self.add_texture(random, row);
            }
            Frame::Basis { .. } => {
                out.resize(at + self.width, 0.0);
                let row = &mut out[at..];
                self.add_texture(random, row);
                self.place(stratum, cell, random, row);
            }
        }
    }

    /// Moves a texture to a point of the cell.
    fn place(&self, stratum: usize, cell: &[Side], random: &mut Stream, row: &mut [f64]) {
        let Frame::Basis { origin, vectors, .. } = &self.release.frame else { return };
        if let Some(shift) = self.release.texture.shifts.get(stratum) {
            add(row, 1.0, shift);
        }
        match self.means.get(stratum) {
            Some(mean) => self.follow(mean, vectors, cell, random, row),
            None => {
                for (side, v) in cell.iter().zip(vectors) {
                    add(row, self.release.spot(side, random), v);
                }
            }
        }
        add(row, 1.0, origin);
    }

    /// Moves a row so that its coordinates lie in the cell, each drawn from the stratum's Gaussian given those before
    /// it: exactly so where the cell is wide, and nearly uniformly where it is narrow.
    fn follow(&self, mean: &[f64], vectors: &[Vec<f64>], cell: &[Side], random: &mut Stream, row: &mut [f64]) {
        let texture = &self.release.texture;
        let mut z = Vec::with_capacity(vectors.len());
        let mut moves = Vec::with_capacity(vectors.len());
        for (i, (v, side)) in vectors.iter().zip(cell).enumerate() {
            let root = &texture.root[i];
            let expected = mean[i] + root.iter().zip(&z).map(|(l, z)| l * z).sum::<f64>();
            let deviation = root[i].max(f64::MIN_POSITIVE);
            let (low, high) = ((side.low - expected) / deviation, (side.low + side.width - expected) / deviation);
            let normal = random.normal_between(low, high);
            z.push(normal);
            moves.push(expected + deviation * normal - dot(v, row));
        }
        moves.iter().zip(&texture.gains).for_each(|(&by, gain)| add(row, by, gain));
    }

    fn add_texture(&self, random: &mut Stream, row: &mut [f64]) {
        let texture = &self.release.texture;
        let mut normals = [0.0; TOGETHER];
        for directions in texture.directions.chunks(TOGETHER) {
            random.normals(&mut normals[..directions.len()]);
            add_all(row, directions, &normals[..directions.len()]);
        }
        for columns in self.noisy.chunks(TOGETHER) {
            random.normals(&mut normals[..columns.len()]);
            columns.iter().zip(normals).for_each(|(&column, normal)| {
                row[column] += texture.diagonal[column] * normal;
            });
        }
        texture.pulls.iter().for_each(|pull| pull.apply(row));
    }
}

impl Release {
    /// Makes a free row one that the table could hold.
    pub(super) fn settle_row(&self, stratum: usize, row: &mut [f64], random: &mut Stream) {
        self.settle.apply(stratum, row, random);
    }

    /// A place along one side of a cell.
    fn spot(&self, side: &Side, random: &mut Stream) -> f64 {
        let along = match self.spot {
            Spot::Uniform => random.unit(),
            Spot::Centre => 0.5,
        };
        side.low + side.width * along
    }
}

fn add(row: &mut [f64], weight: f64, vector: &[f64]) {
    row.iter_mut().zip(vector).for_each(|(x, v)| *x += weight * v);
}
