use super::*;
use crate::math::auc::auc;

/// Learns from one half of the rows and is asked about the other, by the law of each kind.
fn told(width: usize, rows: usize, law: impl Fn(bool, &mut Stream) -> Vec<f64>) -> f64 {
    let mut random = Stream::new(5, 1, 0);
    let mut half = || {
        let second: Vec<bool> = (0..2 * rows).map(|i| i % 2 == 1).collect();
        let points: Vec<f64> = second.iter().flat_map(|&second| law(second, &mut random)).collect();
        (points, second)
    };
    let ((points, second), (asked, truth)) = (half(), half());
    let trees = grow(&points, width, &second, 1);
    let scores = |wanted: bool| -> Vec<f64> {
        let of = asked.chunks(width).zip(&truth).filter(|(_, second)| **second == wanted);
        of.map(|(point, _)| trees.score(point)).collect()
    };
    auc(&scores(true), &scores(false)).unwrap()
}

fn normals(width: usize, random: &mut Stream) -> Vec<f64> {
    (0..width).map(|_| random.normal()).collect()
}

/// Given the trees, the rows that they are asked about are fresh: an AUC of m rows a side that are alike is further than
/// t from a half with probability 2 exp(−2 m t²) at most (Hoeffding, of m disjoint pairs). Here m = 2,000 and t = 0.06,
/// so that the test fails by chance once in a million times, were its seed not fixed.
#[test]
fn equal_laws_cannot_be_told_apart() {
    assert!(2.0 * (-2.0 * 2_000.0 * 0.06_f64.powi(2)).exp() < 1.2e-6);
    let found = told(6, 2_000, |_, random| normals(6, random));
    assert!((found - 0.5).abs() < 0.06, "{found}");
}

/// Two normals a deviation apart: AUC = Φ(1/√2) = 0.76, whatever the other columns.
#[test]
fn a_shift_is_found() {
    let found = told(5, 2_000, |second, random| {
        let mut row = normals(5, random);
        row[3] += f64::from(u8::from(second));
        row
    });
    assert!((0.70..0.82).contains(&found), "{found}");
}

/// One kind has two columns of one sign, the other of different signs; each column by itself is the same in both, and so
/// is every straight line through them. The best AUC is 1: no chance is left to allow for.
#[test]
fn what_only_two_columns_say_together_is_found() {
    let found = told(10, 2_000, |second, random| {
        let mut row = normals(10, random);
        let sign = if second { -1.0 } else { 1.0 };
        row[7] = row[2].signum() * row[7].abs() * sign;
        row
    });
    assert!(found > 0.9, "{found}");
}

/// The same means, deviations and correlations; a ring and a disc.
#[test]
fn a_shape_is_found() {
    let found = told(2, 2_000, |second, random| {
        let (angle, radius) = (std::f64::consts::TAU * random.unit(), random.unit());
        let radius = if second { 0.5_f64.sqrt() } else { radius.sqrt() };
        vec![radius * angle.cos(), radius * angle.sin()]
    });
    assert!(found > 0.75, "{found}");
}

#[test]
fn one_split_is_worked_out_by_hand() {
    // 20 rows at 0 of the first kind, 20 at 1 of the second: p = ½, so that g = ±½ and h = ¼. A leaf of the first tree
    // has G = ±10 and H = 5 and moves the score by 0.2 · 10/6.
    let points: Vec<f64> = (0..40).map(|i| f64::from(u8::from(i >= 20))).collect();
    let second: Vec<bool> = (0..40).map(|i| i >= 20).collect();
    let mut trees = grow(&points, 1, &second, 1);
    trees.trees.truncate(1);
    let step = 0.2 * 10.0 / 6.0;
    assert!((trees.score(&[1.0]) - step).abs() < 1e-12 && (trees.score(&[0.0]) + step).abs() < 1e-12);
}

#[test]
fn parts_are_even_and_heavy_values_stand_alone() {
    let few: Vec<f64> = [3.0, 1.0, 2.0, 1.0].to_vec();
    assert_eq!(cuts(&few), [1.5, 2.5]);
    // Half of the rows are 0; the others are all different.
    let values: Vec<f64> = (0..2_000).map(|i| if i < 1_000 { 0.0 } else { f64::from(i - 1_500) + 0.5 }).collect();
    let cut = cuts(&values);
    assert!(cut.len() < BINS && cut.len() > BINS / 2, "{}", cut.len());
    let mut counts = vec![0; cut.len() + 1];
    values.iter().for_each(|&value| counts[usize::from(bin(&cut, value))] += 1);
    assert_eq!(counts[usize::from(bin(&cut, 0.0))], 1_000);
    assert!(counts.iter().filter(|&&count| count != 1_000).all(|&count| count <= 60), "{counts:?}");
}

#[test]
fn odd_rows_are_no_trouble() {
    assert_eq!(grow(&[], 3, &[], 1).score(&[0.0, 1.0, 2.0]), 0.0);
    assert_eq!(grow(&[2.0; 40], 2, &[true; 20], 1).score(&[2.0, 2.0]), 0.0, "nothing varies");
    let odd: Vec<f64> = (0..100).map(|i| [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, 0.0][i % 5]).collect();
    let trees = grow(&odd, 1, &(0..100).map(|i| i % 5 == 3).collect::<Vec<bool>>(), 1);
    assert!(odd.iter().all(|&x| trees.score(&[x]).is_finite()));
    let again = grow(&odd, 1, &(0..100).map(|i| i % 5 == 3).collect::<Vec<bool>>(), 1);
    assert!(odd.iter().all(|&x| trees.score(&[x]).to_bits() == again.score(&[x]).to_bits()), "the same every time");
}
