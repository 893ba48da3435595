//! The stages that follow the means of strata and the values of columns: contrasts, marginals, labels and sites.

use super::stages::{self, QUICK, Terms, cube, likelihood, pick, trial};
use super::tables::Neighbours;
use super::{Noise, Side, Trial, open};
use sunprint::privacy::Sensitive;
use sunprint::tally;
use sunprint::tally::codes::{Codes, Q};
use sunprint::tally::{
    Axis, ClampedSums, Fork, Forks, Group, Histogram, Marginals, Pass, SITE_FRACTION, Sites, Work, grid_bits,
};

/// The strata's sums against one another; the span of a contrast is divided by `part`.
pub fn contrasts(pair: Neighbours, terms: Terms, part: u64) -> Trial {
    let spec = clamped(&pair);
    let codes = tally::helmert(pair.strata);
    let exact =
        pair.tallies(&Work::Clamped(spec.clone())).map(|tally| tally::contrasts(&open::moments(&tally), &codes));
    cube(terms.name("contrasts", &pair), exact, terms, tally::contrast_span(&spec) / part)
}

/// A released centre in the middle and a small reach: rows in corners are clamped to the whole of it.
fn clamped(pair: &Neighbours) -> ClampedSums {
    ClampedSums { centre: vec![32_768; pair.width], reach: 1000 }
}

/// The strata's sums one by one, a cube for each; what they move by together is divided by `part`.
pub fn cubes(pair: Neighbours, terms: Terms, part: u64) -> Trial {
    let spec = clamped(&pair);
    let span = 2 * u64::from(spec.reach) / part;
    let exact = pair.tallies(&Work::Clamped(spec)).map(|tally| open::moments(&tally).stratum_sums.clone());
    stages::cubes(terms.name("cubes", &pair), exact, pair.strata, terms, span)
}

/// The values of two columns in every stratum, said to be `histograms` histograms.
pub fn marginals(pair: Neighbours, terms: Terms, histograms: u64) -> Trial {
    let name = terms.name("marginals", &pair);
    let exact = pair.tables.each_ref().map(|table| counts(table, pair.strata, &[[1, 20_000, 45_000, Q]; 2]));
    counted(name, exact, terms, histograms)
}

/// The strata in the leaves of a tree.
pub fn labels(pair: Neighbours, terms: Terms) -> Trial {
    let fork = |at: u32, edge: u16, below: i32, above: i32| Fork { at, edge, below, above };
    let forks = Forks { forks: vec![fork(0, 20_000, -1, 1), fork(1, 45_000, -2, -3)] };
    let work = Work::Marginals(Marginals { histograms: vec![Histogram::Tree(forks)] });
    let exact = pair.tallies(&work).map(|tally| open::cells(&tally).leaves.clone());
    counted(terms.name("labels", &pair), exact, terms, 1)
}

/// The rows nearest to each of three sites: two at opposite corners, and one in the middle.
pub fn sites(pair: Neighbours, terms: Terms) -> Trial {
    let top = (1_i16 << grid_bits(pair.width)) - 1;
    let group = |place: i16| Group { stratum: 0, middle: vec![place; pair.width], sites: vec![place; pair.width] };
    // 2¹⁶ codes, 2^b places.
    let times = 1 << (SITE_FRACTION + grid_bits(pair.width) - 16);
    let axes = vec![Axis { low: 0, times }; pair.width];
    let sites = Sites { axes, groups: vec![group(0), group(top / 2), group(top)] };
    let work = Work::Marginals(Marginals { histograms: vec![Histogram::Sites(sites)] });
    let exact = pair.tallies(&work).map(|tally| open::cells(&tally).leaves.clone());
    counted(terms.name("sites", &pair), exact, terms, 1)
}

/// The values of two columns below and above their mean. The mean is that of the table and not a released one, and so
/// the rows that stay where they are change their cells, too.
pub fn edges_from_the_data(terms: Terms) -> Trial {
    let pair = Neighbours::opposite_corners();
    let exact = pair.tables.each_ref().map(|table| {
        let mean = |j: usize| (0..table.rows()).map(|i| usize::from(table.row(i)[j])).sum::<usize>() / table.rows();
        counts(table, pair.strata, &[[mean(0) as u16], [mean(1) as u16]])
    });
    counted(terms.name("marginals", &pair), exact, terms, 2)
}

/// The tally of the real pass for the first two columns cut at these edges.
fn counts<const N: usize>(table: &Codes, strata: usize, edges: &[[u16; N]; 2]) -> Vec<u64> {
    let line = |at: usize| Histogram::Line { at, edges: edges[at].to_vec(), absence: false };
    let work = Work::Marginals(Marginals { histograms: vec![line(0), line(1)] });
    let tally = Pass::new(1, table.width(), strata, work).tally(table);
    open::cells(&tally).leaves.clone()
}

fn counted(name: String, exact: [Vec<u64>; 2], terms: Terms, histograms: u64) -> Trial {
    let purse = terms.purse();
    let run = move |noise: Noise, side: Side| {
        let input = Sensitive::new(pick(&exact, side));
        let noisy = noise.kernel().histograms("marginals", input, histograms, purse.charge());
        let noisy = noisy.expect("a charge").into_inner();
        let cells = noisy.iter().zip(&exact[0]).zip(&exact[1]);
        vec![cells.map(|((&z, &a), &b)| likelihood(terms.pure(), z as f64, a as f64, b as f64)).sum()]
    };
    trial(name, terms, QUICK, Box::new(run))
}
