//! Drawing rows: free, seeded, and the same bits on every machine.
//!
//! Row i of N gets the quantile `(π(i) + u) / N` of the measure, with π a keyed permutation and one common u: systematic
//! draws, so that every leaf gets its share up to one row, in random order, and N = n gives every leaf exactly its
//! count. Rows come in blocks with a random stream each, so blocks can be drawn in any order. Only additions,
//! multiplications, square roots and the software logarithm are used: they round alike everywhere.

use super::candidates::{self, Candidates, FRESH};
use super::sieve::{Prepared, Scratch};
use super::{Constraints, Frame, Model, Release, Spot};
use crate::math::permutation::Permutation;
use crate::math::stream::Stream;
use crate::math::vector::dot;
use crate::measure::Side;
use crate::source::Drawn;

/// Rows in a block.
pub const BLOCK: u64 = 1024;

/// Streams of the seed: one for the order, one for each block.
const ORDER: u64 = 0;
const ROWS: u64 = 1;

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
    /// What looking up cells of the sieves needs.
    prepared: Vec<Prepared>,
    /// The rows of which is drawn, where there are sieves.
    candidates: Option<Candidates>,
    /// The mean of each stratum along the frame's vectors, where rows follow the measured coordinates.
    means: Vec<Vec<f64>>,
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
        let prepared = release.sieves.iter().map(|sieve| sieve.prepare(release.measure.strata())).collect();
        let candidates = None;
        let mut draw = Draw {
            release,
            width,
            rows,
            seed,
            order,
            start,
            leaves,
            noisy,
            prepared,
            candidates,
            means,
            constraints: None,
        };
        if !release.sieves.is_empty() {
            let mut candidates = Candidates::of(&draw, release.pool);
            candidates.weigh(&draw);
            draw.candidates = Some(candidates);
        }
        draw
    }

    /// What is drawn from.
    pub(super) fn release(&self) -> &Release {
        self.release
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
        self.rows_of(block, drawn, Self::row);
    }

    /// One block of rows before they are settled, whatever the sieves say.
    pub(super) fn free_block(&self, block: u64) -> Drawn {
        let mut drawn = Drawn::default();
        self.rows_of(block, &mut drawn, |draw, stratum, cell, random, out| draw.free_row(stratum, cell, random, out));
        drawn
    }

    fn rows_of(
        &self,
        block: u64,
        drawn: &mut Drawn,
        mut row_of: impl FnMut(&Self, usize, &[Side], &mut Stream, &mut Vec<f64>),
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
            let which = self.leaf(row);
            let stratum = self.leaves[which].stratum;
            let sides = cells.entry(which).or_insert_with(|| self.cell(&self.leaves[which]));
            row_of(self, stratum as usize, sides, &mut random, &mut drawn.units);
            drawn.strata.push(stratum);
        }
    }

    /// The leaf that holds the row's quantile.
    fn leaf(&self, row: u64) -> usize {
        let total = self.leaves[self.leaves.len() - 1].before;
        let place = self.order.at(row);
        // ⌊(place + u) · total / N⌋ in integers, u in 2⁻³² steps: exact, so N = n gives every leaf its own count. What
        // u · total has behind the point cannot carry the sum over a multiple of N. At most 2⁶⁴ · 2⁶² + 2⁶²: no overflow.
        let u = (self.start * 4294967296.0) as u128;
        let moved = u128::from(place) * u128::from(total) + ((u * u128::from(total)) >> 32);
        let rows = self.rows.max(1);
        // The smaller type divides faster.
        let quantile = u64::try_from(moved).map_or_else(|_| (moved / u128::from(rows)) as u64, |moved| moved / rows);
        let quantile = quantile.min(total.saturating_sub(1));
        self.leaves.partition_point(|leaf| leaf.before <= quantile) - 1
    }

    fn cell(&self, leaf: &Leaf) -> Vec<Side> {
        let (measure, stratum) = (&self.release.measure, leaf.stratum as usize);
        match &self.release.frame {
            Frame::Basis { sides, .. } => measure.cell(stratum, leaf.index, sides),
            Frame::Columns { width } => measure.cell(stratum, leaf.index, &vec![Side { low: 0.0, width: 1.0 }; *width]),
        }
    }

    /// A row of the cube: the point nearest to the free row (the paper's metric projection), and its blocks settled.
    fn row(&self, stratum: usize, cell: &[Side], random: &mut Stream, out: &mut Vec<f64>) {
        let at = out.len();
        match &self.candidates {
            Some(candidates) => {
                let number = candidates.at(stratum, random.unit());
                self.candidate(number, stratum, Some(random), out);
            }
            None => self.free_row(stratum, cell, random, out),
        }
        self.settle(stratum, &mut out[at..], random);
        self.constraints.iter().for_each(|constraints| constraints.enforce(&mut out[at..]));
    }

    /// The candidate of a stratum at a part of all weights, where there are any.
    pub(super) fn candidate_at(&self, stratum: usize, part: f64) -> Option<u64> {
        self.candidates.as_ref().map(|candidates| candidates.at(stratum, part))
    }

    /// Makes a free row one that the table could hold.
    pub(super) fn settle(&self, stratum: usize, row: &mut [f64], random: &mut Stream) {
        self.release.settle.apply(stratum, row, random);
    }

    /// A candidate before it is settled; with fresh noise in what is its own, or just as it is.
    pub(super) fn candidate(&self, number: u64, stratum: usize, fresh: Option<&mut Stream>, out: &mut Vec<f64>) {
        let at = out.len();
        out.resize(at + self.width, 0.0);
        let row = &mut out[at..];
        self.add_texture(stratum, &mut candidates::normals(number), fresh, row);
        if let Some(shift) = self.release.texture.shifts.get(stratum) {
            add(row, 1.0, shift);
        }
        if let Frame::Basis { origin, .. } = &self.release.frame {
            add(row, 1.0, origin);
        }
    }

    /// Draws the texture and moves it to a point of the cell; the result may lie outside the cube.
    fn free_row(&self, stratum: usize, cell: &[Side], random: &mut Stream, out: &mut Vec<f64>) {
        let release = self.release;
        let at = out.len();
        match &release.frame {
            Frame::Columns { .. } => {
                out.extend(cell.iter().map(|side| release.spot(side, random)));
                self.add_texture(stratum, random, None, &mut out[at..]);
            }
            // The order of the random numbers stays as it is: models draw what they always drew.
            Frame::Basis { origin, vectors, .. } if release.texture.is_plain() => {
                out.extend_from_slice(origin);
                let row = &mut out[at..];
                for (side, v) in cell.iter().zip(vectors) {
                    add(row, release.spot(side, random), v);
                }
                if let Some(shift) = release.texture.shifts.get(stratum) {
                    add(row, 1.0, shift);
                }
                self.add_texture(stratum, random, None, row);
            }
            Frame::Basis { origin, vectors, .. } => {
                out.resize(at + self.width, 0.0);
                let row = &mut out[at..];
                self.add_texture(stratum, random, None, row);
                if let Some(shift) = release.texture.shifts.get(stratum) {
                    add(row, 1.0, shift);
                }
                match self.means.get(stratum) {
                    Some(mean) => self.follow(mean, vectors, cell, random, row),
                    None => {
                        for (side, v) in cell.iter().zip(vectors) {
                            add(row, release.spot(side, random), v);
                        }
                    }
                }
                add(row, 1.0, origin);
            }
        }
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

    fn add_texture(&self, stratum: usize, random: &mut Stream, mut fresh: Option<&mut Stream>, row: &mut [f64]) {
        let texture = &self.release.texture;
        let mut normals = [0.0; TOGETHER];
        let own = texture.within.get(stratum);
        for directions in own.map_or(&texture.directions, |own| &own.directions).chunks(TOGETHER) {
            random.normals(&mut normals[..directions.len()]);
            directions.iter().zip(normals).for_each(|(direction, weight)| add(row, weight, direction));
        }
        let mut draw = |normals: &mut [f64]| {
            random.normals(normals);
            if let Some(fresh) = &mut fresh {
                let mut others = [0.0; TOGETHER];
                fresh.normals(&mut others[..normals.len()]);
                let kept = (1.0 - FRESH * FRESH).sqrt();
                normals.iter_mut().zip(others).for_each(|(z, other)| *z = kept * *z + FRESH * other);
            }
        };
        match own {
            Some(own) => {
                for (row, deviations) in row.chunks_mut(TOGETHER).zip(own.diagonal.chunks(TOGETHER)) {
                    draw(&mut normals[..deviations.len()]);
                    row.iter_mut().zip(deviations).zip(normals).for_each(|((x, deviation), z)| *x += deviation * z);
                }
            }
            None => {
                for columns in self.noisy.chunks(TOGETHER) {
                    draw(&mut normals[..columns.len()]);
                    columns.iter().zip(normals).for_each(|(&column, normal)| {
                        row[column] += texture.diagonal[column] * normal;
                    });
                }
                texture.pulls.iter().for_each(|pull| pull.apply(row));
            }
        }
    }

    /// How much a settled row weighs.
    pub(super) fn weight(&self, stratum: usize, row: &[f64], scratch: &mut Scratch) -> f64 {
        let sieves = self.release.sieves.iter().zip(&self.prepared);
        sieves.map(|(sieve, prepared)| sieve.weight(prepared, stratum, row, scratch)).product()
    }
}

impl Release {
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
