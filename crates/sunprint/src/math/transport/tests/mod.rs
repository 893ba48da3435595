//! Every transport here is verified from its points.

mod bad_input;
mod extremes;
mod properties;
mod small;

use super::*;
use crate::math::stream::Stream;
use proptest::prelude::*;

fn cloud(points: usize, width: usize, seed: u64) -> Vec<f64> {
    let mut stream = Stream::new(seed, 0, 0);
    (0..points * width).map(|_| stream.normal()).collect()
}

/// Points with few different coordinates: many are equal, many distances tie.
fn lattice(points: usize, width: usize, side: u64, seed: u64) -> Vec<f64> {
    let mut stream = Stream::new(seed, 1, 0);
    (0..points * width).map(|_| stream.below(side) as f64).collect()
}

/// Weights i/k with sum 1, some of them 0.
fn weights(count: usize, seed: u64) -> Vec<f64> {
    let mut stream = Stream::new(seed, 2, 0);
    let parts: Vec<f64> = (0..count).map(|i| stream.below(4) as f64 + f64::from(u8::from(i == 0))).collect();
    let sum: f64 = parts.iter().sum();
    parts.into_iter().map(|part| part / sum).collect()
}

fn points(coordinates: &[f64], width: usize) -> Points<'_> {
    Points::new(coordinates, width).unwrap()
}

/// The distance, after its proof was checked.
fn proven(a: &Points, b: &Points, metric: Metric) -> f64 {
    let found = wasserstein1(a, b, metric).unwrap();
    assert!(found.verify(a, b));
    let Certificate { lower, .. } = found.certificate;
    assert!(lower <= found.cost && found.cost - lower <= 1e-10 * found.cost, "{lower} {}", found.cost);
    found.cost
}

fn w1(a: &[f64], b: &[f64], width: usize, metric: Metric) -> f64 {
    proven(&points(a, width), &points(b, width), metric)
}

fn metric() -> impl Strategy<Value = Metric> {
    prop::sample::select(Metric::ALL.to_vec())
}

fn near(x: f64, y: f64) -> bool {
    (x - y).abs() <= 1e-11 * x.abs().max(y.abs())
}
