//! The stages that count: the values of columns, sites and trees of questions; and those of the strata's means.

use super::stages::{self, QUICK, Terms, cube, likelihood, trial};
use super::tables::{Neighbours, Purse};
use super::{Noise, Side, Trial, open};
use sunprint::privacy::{HistogramShare, Sensitive};
use sunprint::subspace;
use sunprint::tally::codes::{Codes, Q};
use sunprint::tally::{ClampedSums, Fork, Forks, Group, Histogram, Marginals, Pass, Score, Sites, Work};

/// A released centre in the middle and a small reach: rows in corners are clamped to the whole of it.
fn clamped(pair: &Neighbours) -> ClampedSums {
    ClampedSums { centre: vec![32_768; pair.width], reach: 1000 }
}

/// The strata's sums against one another; the span of a contrast is divided by `part`.
pub fn contrasts(pair: Neighbours, terms: Terms, part: u64) -> Trial {
    let spec = clamped(&pair);
    let codes = subspace::helmert(pair.strata);
    let exact =
        pair.tallies(&Work::Clamped(spec.clone())).map(|tally| subspace::contrasts(&open::moments(&tally), &codes));
    cube(terms.name("contrasts", &pair), exact, terms, subspace::contrast_span(&spec) / part)
}

/// The strata's sums one by one, a cube for each; what they move by together is divided by `part`.
pub fn cubes(pair: Neighbours, terms: Terms, part: u64) -> Trial {
    let spec = clamped(&pair);
    let span = 2 * u64::from(spec.reach) / part;
    let exact = pair.tallies(&Work::Clamped(spec)).map(|tally| open::moments(&tally).stratum_sums.clone());
    stages::cubes(terms.name("cubes", &pair), exact, pair.strata, terms, span)
}

/// The values of two columns in every stratum, said to be `histograms` histograms.
pub fn marginals(pair: Neighbours, terms: Terms, histograms: usize) -> Trial {
    let name = terms.name("marginals", &pair);
    let exact = values_of(&pair);
    let shares = vec![HistogramShare { cells: exact[0].len() / histograms, weight: 1 }; histograms];
    counted(name, exact, terms, shares, Charges::Shared)
}

/// The same with a histogram for each weight, of the one column and the other in turn. Weights divide one charge; where
/// they do not add up, each histogram takes it whole.
pub fn weighted(pair: Neighbours, terms: Terms, weights: &[u64], charges: Charges) -> Trial {
    let both = values_of(&pair);
    let cells = both[0].len() / 2;
    let exact = both.map(|counts| counts.iter().copied().cycle().take(cells * weights.len()).collect());
    let shares = weights.iter().map(|&weight| HistogramShare { cells, weight }).collect();
    counted(terms.name("marginals of unequal weights", &pair), exact, terms, shares, charges)
}

/// The strata in the leaves of a tree of questions.
pub fn questions(pair: Neighbours, terms: Terms) -> Trial {
    cells(terms.name("questions", &pair), &pair, vec![tree()], terms)
}

/// The rows at their nearest sites.
pub fn sites(pair: Neighbours, terms: Terms) -> Trial {
    let sites = Histogram::Sites(around(&pair));
    cells(terms.name("sites", &pair), &pair, vec![sites], terms)
}

/// Sites and questions in one pass, as a fit counts them.
pub fn sites_and_questions(pair: Neighbours, terms: Terms) -> Trial {
    let sites = Histogram::Sites(around(&pair));
    cells(terms.name("sites and questions", &pair), &pair, vec![sites, tree()], terms)
}

/// Two questions, three leaves.
fn tree() -> Histogram {
    let fork = |at: u32, edge: u16, below: i32, above: i32| Fork { at, edge, below, above };
    Histogram::Tree(Forks { forks: vec![fork(0, 20_000, -1, 1), fork(1, 45_000, -2, -3)] })
}

/// In every stratum two groups of two sites: the corners, and places between them and the middle.
fn around(pair: &Neighbours) -> Sites {
    let group = |stratum: usize, sign: i16| {
        let sites = [4096, 1024].iter().flat_map(|&far| vec![sign * far; pair.width]).collect();
        Group { stratum: stratum as u32, middle: vec![sign * 2048; pair.width], sites }
    };
    let groups = (0..pair.strata).flat_map(|stratum| [group(stratum, -1), group(stratum, 1)]).collect();
    Sites { scores: vec![Score::plain(32_768); pair.width], shift: 3, groups }
}

/// Partitions that are counted in one pass, each with as much of the charge.
fn cells(name: String, pair: &Neighbours, histograms: Vec<Histogram>, terms: Terms) -> Trial {
    let share = |histogram: &Histogram| HistogramShare { cells: histogram.size(pair.strata), weight: 1 };
    let shares = histograms.iter().map(share).collect();
    let exact =
        pair.tallies(&Work::Marginals(Marginals { histograms })).map(|tally| open::cells(&tally).leaves.clone());
    counted(name, exact, terms, shares, Charges::Shared)
}

/// The values of two columns below and above their mean. The mean is that of the table and not a released one, and so
/// the rows that stay where they are change their cells, too.
pub fn edges_from_the_data(terms: Terms) -> Trial {
    let pair = Neighbours::opposite_corners();
    let exact = pair.tables.each_ref().map(|table| {
        let mean = |j: usize| (0..table.rows()).map(|i| usize::from(table.row(i)[j])).sum::<usize>() / table.rows();
        counts(table, pair.strata, &[[mean(0) as u16], [mean(1) as u16]])
    });
    let shares = vec![HistogramShare { cells: exact[0].len() / 2, weight: 1 }; 2];
    counted(terms.name("marginals", &pair), exact, terms, shares, Charges::Shared)
}

/// The values of two columns of both tables, counted apart for every stratum.
fn values_of(pair: &Neighbours) -> [Vec<u64>; 2] {
    pair.tables.each_ref().map(|table| counts(table, pair.strata, &[[1, 20_000, 45_000, Q]; 2]))
}

/// The tally of the real pass for the first two columns cut at these edges.
fn counts<const N: usize>(table: &Codes, strata: usize, edges: &[[u16; N]; 2]) -> Vec<u64> {
    let line = |at: usize| Histogram::Line { at, edges: edges[at].to_vec(), absence: false, apart: true };
    let work = Work::Marginals(Marginals { histograms: vec![line(0), line(1)] });
    let tally = Pass::new(1, table.width(), strata, work).tally(table);
    open::cells(&tally).leaves.clone()
}

/// Who pays for several histograms.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Charges {
    /// One charge, by their weights.
    Shared,
    /// Each the whole of it again: the loss is as many times what is claimed as there are histograms.
    Whole,
}

fn counted(name: String, exact: [Vec<u64>; 2], terms: Terms, shares: Vec<HistogramShare>, charges: Charges) -> Trial {
    let purse = terms.purse();
    // A histogram's noise is narrower by its weight, or by nothing where each has the whole charge.
    let weight = |share: &HistogramShare| if charges == Charges::Shared { share.weight as f64 } else { 1.0 };
    let weights: Vec<f64> = shares.iter().flat_map(|share| vec![weight(share); share.cells]).collect();
    let run = move |noise: Noise, side: Side| {
        let noisy = match charges {
            Charges::Shared => release(noise, &exact[side as usize], &shares, purse),
            Charges::Whole => each_by_itself(noise, &exact[side as usize], &shares, purse),
        };
        let cells = noisy.iter().zip(&exact[0]).zip(&exact[1]).zip(&weights);
        let ratio = cells.map(|(((&z, &a), &b), w)| w * likelihood(terms.pure(), z as f64, a as f64, b as f64));
        vec![ratio.sum()]
    };
    trial(name, terms, QUICK, Box::new(run))
}

fn release(noise: Noise, exact: &[u64], shares: &[HistogramShare], purse: Purse) -> Vec<i64> {
    let input = Sensitive::new(exact.to_vec());
    let noisy = noise.kernel().histograms("marginals", input, shares, purse.charge());
    noisy.expect("a charge").into_inner().counts
}

fn each_by_itself(noise: Noise, exact: &[u64], shares: &[HistogramShare], purse: Purse) -> Vec<i64> {
    let mut kernel = noise.kernel();
    let mut rest = exact;
    let mut counts = Vec::with_capacity(exact.len());
    for share in shares {
        let (mine, others) = rest.split_at(share.cells);
        rest = others;
        let noisy = kernel.histograms("marginals", Sensitive::new(mine.to_vec()), &[*share], purse.charge());
        counts.extend(noisy.expect("a charge").into_inner().counts);
    }
    counts
}
