//! One clear sentence for everything that has no distance.

use super::*;
use crate::error::Error;

fn said(result: std::result::Result<impl Sized, Error>) -> String {
    let error = result.err().expect("an error");
    assert_eq!(error.kind(), Kind::Data);
    assert!(error.advice().is_some());
    error.to_string()
}

fn between(a: &Points, b: &Points) -> String {
    said(wasserstein1(a, b, Metric::Euclidean))
}

#[test]
fn shapes() {
    assert_eq!(said(Points::new(&[1.0], 0)), "`width` must be at least 1");
    assert_eq!(said(Points::new(&[1.0; 5], 2)), "5 `coordinates` do not make up whole points of `width` 2");
    assert_eq!(said(points(&[1.0; 4], 2).weighted(&[1.0])), "there are 1 `weights` for 2 points");
    let one = points(&[1.0, 2.0], 2);
    assert_eq!(between(&one, &points(&[1.0], 1)), "the points of `a` have 2 coordinates and those of `b` have 1");
    assert_eq!(between(&points(&[], 2), &one), "`a` has no points");
    assert_eq!(between(&one, &points(&[], 2)), "`b` has no points");
}

#[test]
fn numbers() {
    let one = points(&[1.0, 2.0], 2);
    for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let odd = [0.0, 1.0, 2.0, wrong, 4.0, wrong];
        assert_eq!(between(&points(&odd, 2), &one), "coordinate 1 of point 1 of `a` is not a finite number");
        assert_eq!(between(&one, &points(&odd, 2)), "coordinate 1 of point 1 of `b` is not a finite number");
    }
    let (low, high) = ([f64::MIN, f64::MIN], [f64::MAX, f64::MAX]);
    let said = between(&points(&low, 2), &points(&high, 2));
    assert_eq!(said, "the distance of `a` and `b` is beyond the largest floating-point number");
}

#[test]
fn weights_that_are_none() {
    let coordinates = [0.0, 1.0, 2.0];
    let one = points(&coordinates, 1);
    let weighted = |weights: &[f64]| between(&one, &one.weighted(weights).unwrap());
    assert_eq!(weighted(&[0.5, f64::NAN, 0.5]), "weight 1 of `b` is not a finite number");
    assert_eq!(weighted(&[0.5, 0.5, f64::INFINITY]), "weight 2 of `b` is not a finite number");
    assert_eq!(weighted(&[-0.5, 1.0, 0.5]), "weight 0 of `b` is negative");
    assert_eq!(weighted(&[0.0; 3]), "all `weights` of `b` are 0");
    assert_eq!(weighted(&[0.5, 0.25, 0.125]), "the `weights` of `b` sum to 0.875, not to 1");
    assert_eq!(weighted(&[0.5; 3]), "the `weights` of `b` sum to 1.5, not to 1");
    let slightly_off = [0.5, 0.25, 0.25 + 1e-10];
    assert!(wasserstein1(&one, &one.weighted(&slightly_off).unwrap(), Metric::Largest).is_ok());
}

#[test]
fn nothing_on_a_line() {
    assert_eq!(w1_line(&[], &[]), 0.0);
    assert_eq!(w1_line(&[], &[1.0]), f64::INFINITY);
    assert_eq!(w1_line(&[0.0, 1.0], &[0.0]), 0.5);
    assert_eq!(w1_line_weighted(&[], &[], &[], &[]), 0.0);
    assert_eq!(w1_line_weighted(&[1.0], &[0.0], &[1.0], &[1.0]), f64::INFINITY);
    assert_eq!(w1_line_weighted(&[0.0, 1.0], &[3.0, 1.0], &[0.0], &[7.0]), 0.25);
}
