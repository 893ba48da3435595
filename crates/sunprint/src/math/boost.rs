//! Boosted trees: tells two kinds of points apart, also where no straight line does.
//!
//! A score is a sum of small trees. Each tree is grown to lower the logistic loss of what the trees before it have left:
//! with p the probability that the score stands for, a row's gradient is g = p − e (e is 1 for the second kind) and its
//! curvature h = p (1 − p). A leaf with sums G and H moves the score by −G/(H + λ), a fraction of the way, and a split is
//! worth G₁²/(H₁ + λ) + G₂²/(H₂ + λ). The best split is taken even where it is worth next to nothing: of two columns that
//! matter only together (one or the other, not both) neither is worth anything alone, and the next level sees it.
//!
//! Values are looked at in at most [`BINS`] parts of each column, which makes a tree as fast as a few looks at the rows.
//! Nothing here depends on the machine: additions in a fixed order, and `libm`.

use super::stream::Stream;

/// Parts of a column, at most.
pub const BINS: usize = 48;
/// Levels of a tree.
const DEPTH: usize = 4;
/// Leaves of a tree.
const LEAVES: usize = 1 << DEPTH;
/// Trees that are grown.
const TREES: usize = 80;
/// How far each tree goes.
const RATE: f64 = 0.2;
/// λ: keeps leaves of a few rows from jumping.
const PENALTY: f64 = 1.0;
/// A side of a split has at least so many rows.
const FEWEST: u32 = 10;
/// A tree looks at so many columns at most, chosen at random, so that wide tables take no longer.
const MOST_COLUMNS: usize = 48;
/// Keeps the choice of columns apart from other uses of the same seed.
const PURPOSE: u64 = u64::from_be_bytes(*b"boosting");

/// Trees that were grown.
pub struct Boosted {
    /// The upper ends of the parts of each column, but the last.
    edges: Vec<Vec<f64>>,
    trees: Vec<Tree>,
}

/// A tree of [`DEPTH`] levels: node i has the children 2i + 1 and 2i + 2.
struct Tree {
    /// Column and last part that goes left.
    splits: [(usize, u8); LEAVES - 1],
    leaves: [f64; LEAVES],
}

/// What is summed over the rows of a part of a column.
#[derive(Clone, Copy, Default)]
struct Sum {
    gradient: f64,
    curvature: f64,
    rows: u32,
}

impl Sum {
    fn add(&mut self, other: Sum) {
        self.gradient += other.gradient;
        self.curvature += other.curvature;
        self.rows += other.rows;
    }

    fn worth(&self) -> f64 {
        self.gradient * self.gradient / (self.curvature + PENALTY)
    }
}

/// Learns to tell rows of `width` numbers apart: those of the second kind, marked in `second`, get the larger scores.
///
/// # Panics
/// If the lengths do not fit together.
pub fn grow(points: &[f64], width: usize, second: &[bool], seed: u64) -> Boosted {
    assert_eq!(points.len(), second.len() * width, "grow: whole rows");
    let rows = second.len();
    let mut edges = Vec::with_capacity(width);
    let mut bins: Vec<Vec<u8>> = Vec::with_capacity(width);
    for column in 0..width {
        let values: Vec<f64> = points.iter().skip(column).step_by(width).copied().collect();
        let cut = cuts(&values);
        bins.push(values.iter().map(|&value| bin(&cut, value)).collect());
        edges.push(cut);
    }
    let varying: Vec<usize> = (0..width).filter(|&column| !edges[column].is_empty()).collect();
    let mut random = Stream::new(seed, PURPOSE, 0);
    let (mut scores, mut trees) = (vec![0.0; rows], Vec::new());
    if varying.is_empty() {
        return Boosted { edges, trees };
    }
    for _ in 0..TREES {
        let losses: Vec<(f64, f64)> = scores.iter().zip(second).map(|(&score, &second)| loss(score, second)).collect();
        let chosen: Vec<usize> = match varying.len() > MOST_COLUMNS {
            true => random.choose(varying.len(), MOST_COLUMNS).into_iter().map(|i| varying[i]).collect(),
            false => varying.clone(),
        };
        let (tree, places) = one_tree(&bins, &chosen, &losses);
        scores.iter_mut().zip(&places).for_each(|(score, &place)| *score += tree.leaves[place as usize]);
        trees.push(tree);
    }
    Boosted { edges, trees }
}

/// Gradient and curvature of one row.
fn loss(score: f64, second: bool) -> (f64, f64) {
    let p = 1.0 / (1.0 + libm::exp(-score));
    (p - if second { 1.0 } else { 0.0 }, p * (1.0 - p))
}

/// Grows a tree level by level; gives it with the leaf of every row.
fn one_tree(bins: &[Vec<u8>], columns: &[usize], losses: &[(f64, f64)]) -> (Tree, Vec<u8>) {
    let mut tree = Tree { splits: [(columns[0], u8::MAX); LEAVES - 1], leaves: [0.0; LEAVES] };
    let mut places = vec![0_u8; losses.len()];
    for level in 0..DEPTH {
        let nodes = 1 << level;
        let mut best = vec![(f64::NEG_INFINITY, columns[0], u8::MAX); nodes];
        for &column in columns {
            let sums = sums(&bins[column], &places, losses, nodes);
            for (node, best) in best.iter_mut().enumerate() {
                match best_split(&sums[node * BINS..(node + 1) * BINS]) {
                    Some((worth, last)) if worth > best.0 => *best = (worth, column, last),
                    _ => {}
                }
            }
        }
        let first = nodes - 1;
        best.iter().enumerate().for_each(|(node, &(_, column, last))| tree.splits[first + node] = (column, last));
        for (row, place) in places.iter_mut().enumerate() {
            let (column, last) = tree.splits[first + usize::from(*place)];
            *place = 2 * *place + u8::from(bins[column][row] > last);
        }
    }
    let mut leaves = [Sum::default(); LEAVES];
    for (&place, &(gradient, curvature)) in places.iter().zip(losses) {
        leaves[usize::from(place)].add(Sum { gradient, curvature, rows: 1 });
    }
    for (leaf, sum) in tree.leaves.iter_mut().zip(&leaves) {
        *leaf = -RATE * sum.gradient / (sum.curvature + PENALTY);
    }
    (tree, places)
}

/// The sums of every part of a column within every node.
fn sums(bins: &[u8], places: &[u8], losses: &[(f64, f64)], nodes: usize) -> Vec<Sum> {
    let mut sums = vec![Sum::default(); nodes * BINS];
    for ((&bin, &place), &(gradient, curvature)) in bins.iter().zip(places).zip(losses) {
        sums[usize::from(place) * BINS + usize::from(bin)].add(Sum { gradient, curvature, rows: 1 });
    }
    sums
}

/// The best place to split, and what it is worth; none where a side would have too few rows.
fn best_split(sums: &[Sum]) -> Option<(f64, u8)> {
    let mut all = Sum::default();
    sums.iter().for_each(|sum| all.add(*sum));
    let (mut left, mut best) = (Sum::default(), None);
    for (last, sum) in sums.iter().enumerate().take(BINS - 1) {
        left.add(*sum);
        if sum.rows == 0 || left.rows < FEWEST || all.rows - left.rows < FEWEST {
            continue;
        }
        let right = Sum {
            gradient: all.gradient - left.gradient,
            curvature: (all.curvature - left.curvature).max(0.0),
            rows: all.rows - left.rows,
        };
        let worth = left.worth() + right.worth();
        if best.is_none_or(|(most, _)| worth > most) {
            best = Some((worth, last as u8));
        }
    }
    best
}

/// Where a column is cut into parts: a value that many rows share has a part of its own, and the others share the rest
/// evenly. What is no number comes first.
fn cuts(values: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.iter().map(|&x| if x.is_nan() { f64::NEG_INFINITY } else { x }).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let different: Vec<(f64, usize)> = sorted.chunk_by(|a, b| a == b).map(|same| (same[0], same.len())).collect();
    let middle = |i: usize| {
        let (low, high) = (different[i].0.max(f64::MIN), different[i + 1].0);
        low + (high - low) / 2.0
    };
    if different.len() <= BINS {
        return (0..different.len().saturating_sub(1)).map(middle).collect();
    }
    let heavy = |count: usize| count * BINS >= values.len();
    let alone = different.iter().filter(|(_, count)| heavy(*count)).count();
    let light: usize = different.iter().filter(|(_, count)| !heavy(*count)).map(|(_, count)| count).sum();
    // Each heavy value can cut a part of light ones in two.
    let parts = (BINS.saturating_sub(2 * alone)).max(1);
    let (mut cut, mut gathered) = (Vec::new(), 0);
    for i in 0..different.len() - 1 {
        gathered += different[i].1;
        let ends = heavy(different[i].1) || heavy(different[i + 1].1) || gathered * parts >= light;
        if ends && cut.len() < BINS - 1 {
            cut.push(middle(i));
            gathered = 0;
        }
    }
    cut
}

/// The part that a value is in.
fn bin(cuts: &[f64], value: f64) -> u8 {
    cuts.partition_point(|&cut| cut < value) as u8
}

impl Boosted {
    /// The larger, the more a row looks like one of the second kind: the logarithm of the odds.
    pub fn score(&self, point: &[f64]) -> f64 {
        let bins: Vec<u8> = self.edges.iter().zip(point).map(|(cuts, &value)| bin(cuts, value)).collect();
        let one = |tree: &Tree| {
            let mut node = 0;
            while node < LEAVES - 1 {
                let (column, last) = tree.splits[node];
                node = 2 * node + 1 + usize::from(bins[column] > last);
            }
            tree.leaves[node + 1 - LEAVES]
        };
        self.trees.iter().map(one).sum()
    }
}

#[cfg(test)]
#[path = "boost_tests.rs"]
mod tests;
