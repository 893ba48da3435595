//! The last pass of tables with strata: a tree grown on the model's own rows, and rows that are kept by its counts.

mod common;

use common::{promise, schema, table};
use sunprint::fit::Fit;
use sunprint::math::stream::Stream;
use sunprint::model::Model;
use sunprint::plan::{Plan, Shares};
use sunprint::privacy::Kernel;
use sunprint::tally::codes::{Codes, Q};
use sunprint::tally::{Forks, Histogram, Pass, Work};

const WIDTH: usize = 4;
const ROWS: usize = 40_000;

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

fn shares(labels: u64) -> Shares {
    Shares { centre: 1000, spread: 500, moments: 5000 - labels, measure: 3500, labels, ..Shares::default() }
}

/// A fit, its passes, and its model.
fn fit(codes: &Codes, labels: u64, kernel: Kernel, epsilon: &str) -> (Vec<Pass>, Model) {
    let plan = Plan { shares: Some(shares(labels)), ..Plan::default() };
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

/// The tree is the last thing that is asked for, it is a tree, and it is grown to tell the strata apart: by the column
/// in which they differ.
#[test]
fn the_last_pass_counts_strata_in_leaves() {
    let (passes, model) = fit(&rows(), 1000, Kernel::quiet(), "1");
    let Some(Work::Marginals(marginals)) = passes.last().map(|pass| &pass.work) else { panic!("counts of leaves") };
    let [Histogram::Tree(forks)] = &marginals.histograms[..] else { panic!("one tree") };
    assert!(forks.fit(WIDTH) && forks.leaves() > 8, "{}", forks.leaves());
    assert_eq!(forks.forks[0].at, 0, "the strata differ in the first column");
    assert!(model.release().weights.len() > 10_000, "its counts weigh candidates");
}

/// What was counted is found again among the drawn rows, leaf by leaf, and every stratum keeps its rows.
#[test]
fn drawn_rows_are_mixed_as_they_were_counted() {
    let codes = rows();
    let real = |forks: &Forks| -> Vec<f64> {
        let mut counts = vec![0.0; 2 * forks.leaves()];
        for i in 0..codes.rows() {
            counts[codes.stratum(i) as usize * forks.leaves() + forks.leaf(|at| codes.row(i)[at])] += 1.0;
        }
        counts
    };
    let (passes, with) = fit(&codes, 1000, Kernel::quiet(), "1");
    let (_, without) = fit(&codes, 0, Kernel::quiet(), "1");
    assert!(without.release().weights.is_empty());
    let Some(Work::Marginals(marginals)) = passes.last().map(|pass| &pass.work) else { panic!("counts of leaves") };
    let [Histogram::Tree(forks)] = &marginals.histograms[..] else { panic!("one tree") };
    let wanted = real(forks);
    let error = |model: &Model| {
        let draw = model.draw(ROWS as u64, 3);
        let mut counts = vec![0.0; 2 * forks.leaves()];
        for block in 0..draw.blocks() {
            let drawn = draw.block(block);
            for (row, &stratum) in drawn.units.chunks_exact(WIDTH).zip(&drawn.strata) {
                let code = |at: usize| (row[at] * f64::from(Q)).round() as u16;
                counts[stratum as usize * forks.leaves() + forks.leaf(code)] += 1.0;
            }
        }
        let second: f64 = counts[forks.leaves()..].iter().sum();
        let off: f64 = counts.iter().zip(&wanted).map(|(a, b)| (a - b).abs()).sum();
        (off / (2 * ROWS) as f64, second)
    };
    let ((near, rows_with), (far, rows_without)) = (error(&with), error(&without));
    assert!(near < 0.5 * far, "{near} of the rows are in another leaf, {far} without them");
    assert_eq!(rows_with, rows_without, "strata keep their rows");
    assert!(in_the_band(&with) > in_the_band(&without) + 0.05);
}

/// A model draws the same rows after it was written and read, and drawing does not depend on the order of blocks.
#[test]
fn weights_are_in_the_file() {
    let (_, model) = fit(&rows(), 1000, Kernel::seeded(4), "1");
    let read = Model::from_json(model.to_json().as_bytes(), "a model").unwrap();
    let (a, b) = (model.draw(3000, 1), read.draw(3000, 1));
    for block in (0..a.blocks()).rev() {
        assert_eq!(a.block(block).units, b.block(block).units);
    }
    let broken = model.to_json().replacen("\"weights\":[", "\"weights\":[7.5,", 1);
    assert_ne!(broken, model.to_json());
    assert!(Model::from_json(broken.as_bytes(), "a model").is_err(), "weights are whole numbers");
}

/// Counts that are nothing but noise leave the model as it is: the strata's own rows are not thrown about.
#[test]
fn noise_is_not_followed() {
    let mut stream = Stream::new(8, 91, 0);
    let rows: Vec<(Vec<u16>, u32)> =
        (0..2000).map(|_| ((0..WIDTH).map(|_| stream.bits() as u16).collect(), stream.below(2) as u32)).collect();
    let (_, model) = fit(&table(WIDTH, &rows), 1, Kernel::seeded(1), "0.01");
    // How many equal candidates these are as good as.
    let weights = &model.release().weights;
    let (sum, square) =
        weights.iter().fold((0.0, 0.0), |(sum, square), &w| (sum + f64::from(w), square + f64::from(w).powi(2)));
    let part = sum * sum / (square * weights.len() as f64);
    assert!(part > 0.5, "most candidates are drawn: {part}");
}
