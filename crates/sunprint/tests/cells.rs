//! The last pass of the default method: sites and questions proposed by the model, and rows drawn by their counts.

mod common;

use common::{promise, schema, table};
use sunprint::fit::Fit;
use sunprint::math::stream::Stream;
use sunprint::model::{Model, Sieve};
use sunprint::plan::{Plan, Shares};
use sunprint::privacy::Kernel;
use sunprint::tally::codes::{Codes, Q};
use sunprint::tally::{Histogram, Pass, Work};

const WIDTH: usize = 4;
const ROWS: usize = 20_000;

/// Two strata with means that differ along one column, and a mixture in it that no Gaussian has: within a band of the
/// first column nearly all rows are of the second stratum.
fn rows() -> Codes {
    let mut stream = Stream::new(5, 90, 0);
    let rows: Vec<(Vec<u16>, u32)> = (0..ROWS)
        .map(|_| {
            let x: Vec<f64> = (0..WIDTH).map(|_| (0.5 + 0.12 * stream.normal()).clamp(0.0, 1.0)).collect();
            let odds = if (0.55..0.65).contains(&x[0]) { 0.95 } else { 0.2 + 0.2 * x[0] };
            let stratum = u32::from(stream.unit() < odds);
            (x.iter().map(|x| (x * f64::from(Q)).round() as u16).collect(), stratum)
        })
        .collect();
    table(WIDTH, &rows)
}

fn shares(cells: u64) -> Shares {
    Shares { centre: 1000, spread: 500, moments: 5000 - cells, measure: 3500, cells, ..Shares::default() }
}

/// A fit, its passes, and its model.
fn fit(codes: &Codes, cells: u64, kernel: Kernel, epsilon: &str) -> (Vec<Pass>, Model) {
    let plan = Plan { shares: Some(shares(cells)), ..Plan::default() };
    let budget = promise(epsilon, None);
    let mut fit = Fit::begin_with_danger_kernel(&schema(WIDTH, 2), plan, budget, codes.rows() as u64, kernel).unwrap();
    let mut passes = Vec::new();
    while let Some(pass) = fit.next_pass() {
        fit.absorb(pass.tally(codes)).unwrap();
        passes.push(pass);
    }
    (passes, fit.finish().unwrap())
}

/// The part of the second stratum among the drawn rows whose first column lies in the band.
fn in_the_band(model: &Model) -> f64 {
    let draw = model.draw(ROWS as u64, 7);
    let (mut second, mut all) = (0.0, 0.0);
    for block in 0..draw.blocks() {
        let drawn = draw.block(block);
        for (row, &stratum) in drawn.units.chunks_exact(WIDTH).zip(&drawn.strata) {
            if (0.56..0.64).contains(&row[0]) {
                all += 1.0;
                second += f64::from(stratum);
            }
        }
    }
    second / all
}

/// The cells of a row, in every sieve: its site, or its stratum and leaf.
fn cells_of(model: &Model, row: &[u16], stratum: u32) -> Vec<usize> {
    let of = |sieve: &Sieve| match sieve {
        Sieve::Tree { forks, .. } => stratum as usize * forks.leaves() + forks.leaf(|at| row[at]),
        Sieve::Sites { sites, .. } => {
            let (mut scratch, mut point) = (vec![0; WIDTH], vec![0; WIDTH]);
            sites.on_grid(row, &mut scratch, &mut point);
            sites.nearest(&sites.index(2), &point, stratum as usize)
        }
    };
    model.release().sieves.iter().map(of).collect()
}

/// How many cells each sieve has.
fn sizes(model: &Model) -> Vec<usize> {
    let size = |sieve: &Sieve| match sieve {
        Sieve::Tree { forks, .. } => 2 * forks.leaves(),
        Sieve::Sites { sites, .. } => sites.len(),
    };
    model.release().sieves.iter().map(size).collect()
}

/// Cells are the last thing that is asked for, the model keeps what was counted, and the questions are those that tell the
/// strata apart: by the column in which they differ.
#[test]
fn the_last_pass_counts_cells() {
    let (passes, model) = fit(&rows(), 2000, Kernel::quiet(), "10");
    let Some(Work::Marginals(marginals)) = passes.last().map(|pass| &pass.work) else { panic!("counts of cells") };
    let [Histogram::Sites(sites), Histogram::Tree(forks)] = &marginals.histograms[..] else { panic!("both") };
    assert!(sites.fit(WIDTH, 2) && sites.len() > 8, "{}", sites.len());
    assert!(forks.fit(WIDTH) && forks.leaves() > 8, "{}", forks.leaves());
    assert_eq!(forks.forks[0].at, 0, "the strata differ in the first column");
    let [Sieve::Sites { sites: kept, weights }, Sieve::Tree { forks: asked, weights: leaves }] =
        &model.release().sieves[..]
    else {
        panic!("both are kept")
    };
    assert_eq!((kept, asked), (sites, forks));
    assert_eq!((weights.len(), leaves.len()), (sites.len(), 2));
    assert!(leaves.iter().all(|leaves| leaves.len() == forks.leaves()));
}

/// What was counted is found again among the drawn rows, cell by cell, and every stratum keeps its rows.
#[test]
fn drawn_rows_are_mixed_as_they_were_counted() {
    let codes = rows();
    let (_, with) = fit(&codes, 2000, Kernel::quiet(), "10");
    let (_, without) = fit(&codes, 0, Kernel::quiet(), "10");
    assert!(without.release().sieves.is_empty());
    let sizes = sizes(&with);
    let empty = || sizes.iter().map(|&size| vec![0.0; size]).collect::<Vec<Vec<f64>>>();
    let add = |counts: &mut Vec<Vec<f64>>, row: &[u16], stratum: u32| {
        counts.iter_mut().zip(cells_of(&with, row, stratum)).for_each(|(counts, cell)| counts[cell] += 1.0);
    };
    let mut wanted = empty();
    (0..codes.rows()).for_each(|i| add(&mut wanted, codes.row(i), codes.stratum(i)));
    let error = |model: &Model| {
        let draw = model.draw(ROWS as u64, 3);
        let (mut counts, mut second) = (empty(), 0);
        for block in 0..draw.blocks() {
            let drawn = draw.block(block);
            for (row, &stratum) in drawn.units.chunks_exact(WIDTH).zip(&drawn.strata) {
                let row: Vec<u16> = row.iter().map(|x| (x * f64::from(Q)).round() as u16).collect();
                add(&mut counts, &row, stratum);
                second += stratum;
            }
        }
        let off = |(a, b): (&Vec<f64>, &Vec<f64>)| {
            a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum::<f64>() / (2 * ROWS) as f64
        };
        (counts.iter().zip(&wanted).map(off).collect::<Vec<f64>>(), second)
    };
    let ((near, rows_with), (far, rows_without)) = (error(&with), error(&without));
    for (near, far) in near.iter().zip(&far) {
        assert!(near < far, "{near} of the rows are in another cell, {far} without counts");
    }
    assert!(near[1] < 0.5 * far[1], "leaves: {near:?} {far:?}");
    assert_eq!(rows_with, rows_without, "strata keep their rows");
    assert!(in_the_band(&with) > in_the_band(&without) + 0.05);
}

/// A model draws the same rows after it was written and read, and drawing does not depend on the order of blocks.
#[test]
fn cells_are_in_the_file() {
    let (_, model) = fit(&rows(), 2000, Kernel::seeded(4), "10");
    let read = Model::from_json(model.to_json().as_bytes(), "a model").unwrap();
    assert_eq!(read.release(), model.release());
    let (a, b) = (model.draw(3000, 1), read.draw(3000, 1));
    for block in (0..a.blocks()).rev() {
        assert_eq!(a.block(block).units, b.block(block).units);
    }
}

/// Counts that are nothing but noise leave the model as it is: no candidate is made much of or thrown away.
#[test]
fn noise_is_not_followed() {
    let mut stream = Stream::new(8, 91, 0);
    let rows: Vec<(Vec<u16>, u32)> =
        (0..2000).map(|_| ((0..WIDTH).map(|_| stream.bits() as u16).collect(), stream.below(2) as u32)).collect();
    let (_, model) = fit(&table(WIDTH, &rows), 1, Kernel::seeded(1), "0.01");
    for sieve in &model.release().sieves {
        let weights: Vec<f64> = match sieve {
            Sieve::Tree { weights, .. } => weights.concat(),
            Sieve::Sites { weights, .. } => weights.clone(),
        };
        assert!(weights.iter().all(|weight| (0.5..2.0).contains(weight)), "{weights:?}");
    }
}
