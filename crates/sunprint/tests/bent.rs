//! Correlations survive the shapes of columns: skewed numbers, and numbers cut into two.

mod common;

use common::{promise, schema, table};
use sunprint::fit::Fit;
use sunprint::math::stream::Stream;
use sunprint::plan::{Plan, Shares};
use sunprint::privacy::Kernel;
use sunprint::tally::codes::{Codes, Q};

const WIDTH: usize = 8;
const ROWS: usize = 20_000;
const NOISE: f64 = 0.25;

/// Columns that follow two common numbers, half of them very skewed: most values are small and few large.
fn rows() -> Codes {
    let mut stream = Stream::new(6, 91, 0);
    let row = |stream: &mut Stream| {
        let common = [stream.normal(), stream.normal()];
        let column = |j: usize, own: f64| {
            let x = common[j % 2] + NOISE * own;
            let unit = if j < WIDTH / 2 { 0.5 + 0.12 * x } else { 0.02 * libm::exp(1.2 * x) };
            (unit.clamp(0.0, 1.0) * f64::from(Q)).round() as u16
        };
        (0..WIDTH).map(|j| column(j, stream.normal())).collect::<Vec<u16>>()
    };
    let rows: Vec<(Vec<u16>, u32)> = (0..ROWS).map(|_| (row(&mut stream), 0)).collect();
    table(WIDTH, &rows)
}

/// The correlations of the columns, row by row of their matrix.
fn correlations(rows: &[Vec<f64>]) -> Vec<f64> {
    let n = rows.len() as f64;
    let mean: Vec<f64> = (0..WIDTH).map(|j| rows.iter().map(|row| row[j]).sum::<f64>() / n).collect();
    let both = |i: usize, j: usize| rows.iter().map(|row| (row[i] - mean[i]) * (row[j] - mean[j])).sum::<f64>();
    (0..WIDTH * WIDTH)
        .map(|at| both(at / WIDTH, at % WIDTH) / (both(at / WIDTH, at / WIDTH) * both(at % WIDTH, at % WIDTH)).sqrt())
        .collect()
}

/// The correlations of the rows that a fit without noise draws.
fn drawn(codes: &Codes, marginals: u64) -> Vec<f64> {
    let shares = Shares { centre: 1000, moments: 9000 - marginals, marginals, ..Shares::default() };
    let plan = Plan { shares: Some(shares), ..Plan::default() };
    let rows = codes.rows() as u64;
    let mut fit =
        Fit::begin_with_danger_kernel(&schema(WIDTH, 1), plan, promise("4", None), rows, Kernel::quiet()).unwrap();
    while let Some(pass) = fit.next_pass() {
        fit.absorb(pass.tally(codes)).unwrap();
    }
    let model = fit.finish().unwrap();
    let draw = model.draw(rows, 7);
    let rows = (0..draw.blocks()).flat_map(|block| {
        let drawn = draw.block(block);
        drawn.units.chunks_exact(WIDTH).map(<[f64]>::to_vec).collect::<Vec<_>>()
    });
    correlations(&rows.collect::<Vec<_>>())
}

#[test]
fn bent_columns_go_together_as_much_as_they_did() {
    let codes = rows();
    let units = |i: usize| codes.row(i).iter().map(|&code| f64::from(code) / f64::from(Q)).collect::<Vec<f64>>();
    let real = correlations(&(0..ROWS).map(units).collect::<Vec<_>>());
    let worst = |drawn: Vec<f64>| drawn.iter().zip(&real).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let error = worst(drawn(&codes, 1000));
    assert!(error < ALLOWED, "{error}");
}

/// A Gaussian that is bent without being unbent before is off by more than this.
const ALLOWED: f64 = 0.06;
