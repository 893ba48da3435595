//! Exact rounding against an independent long computation of the same normals; moments of the noise.

use super::*;

/// g·⌊(G + s·w)/g + ½⌋ for all entries, from `bits` digits of every normal, written without reference to the code under
/// test: plain triple loop, one rational per entry, floor by division with remainder.
fn long_way(normals: &mut Normals, entropy: &mut Entropy, gram: &[i64], grid: Grid, bits: u32) -> Vec<i64> {
    let (p, columns) = (normals.order, normals.columns);
    let z: Vec<Vec<BigInt>> =
        (0..p).map(|i| (0..columns).map(|k| normals.digits(entropy, i * columns + k, bits)).collect()).collect();
    let mut out = Vec::new();
    for i in 0..p {
        for j in 0..=i {
            let mut w = BigInt::ZERO;
            for (k, (left, right)) in z[i].iter().zip(&z[j]).enumerate() {
                let term = left * right;
                w = if k <= p { w + term } else { w - term };
            }
            let unit = BigInt::from(1) << (2 * bits);
            let g = BigInt::from(1u128 << grid.exponent);
            // ⌊(2(G + s w) + g)/(2g)⌋ over the common denominator `unit`.
            let numerator = (BigInt::from(gram[i * (i + 1) / 2 + j]) * &unit + w * grid.scale()) * 2 + &g * &unit;
            let denominator = &g * &unit * 2;
            let mut quotient = &numerator / &denominator;
            if &quotient * &denominator > numerator {
                quotient -= 1;
            }
            out.push(i64::try_from(quotient * g).unwrap());
        }
    }
    out
}

fn some_gram(p: usize) -> Vec<i64> {
    (0..p * (p + 1) / 2).map(|k| (k as i64 * 7_919 - 40_000) * 1_000_003).collect()
}

/// 320 binary places leave a rounding open with probability below 2⁻²⁵⁰.
#[test]
fn rounding_agrees_with_a_long_computation() {
    let mut refined = 0;
    for (seed, p, s) in
        [(1, 1, 1), (2, 2, 5), (3, 7, 1000), (4, 12, 1 << 24), (5, 9, (1 << 40) + 12_345), (6, 33, 77_777)]
    {
        for precision in [
            Precision::USUAL,
            Precision { first: 52, second: 53, step: 1 },
            Precision { first: 20, second: 40, step: 30 },
            Precision { first: 4, second: 6, step: 3 },
            Precision { first: 1, second: 2, step: 1 },
        ] {
            let mut entropy = Entropy::seeded(500 + seed);
            let mut normals = Normals::draw(&mut entropy, p);
            let gram = some_gram(p);
            let mut noisy = gram.clone();
            let grid = Grid::at_least(s);
            refined += normals.add_to(&mut entropy, &mut noisy, grid, precision, 2);
            assert_eq!(noisy, long_way(&mut normals, &mut entropy, &gram, grid, 320), "{p} {s}");
        }
    }
    assert!(refined > 1000, "few digits must leave entries open: {refined}");
}

/// Digits beyond the 64th: forced by a tiny remainder, they must be drawn once and then stay.
#[test]
fn digits_once_drawn_stay() {
    let mut entropy = Entropy::seeded(510);
    let mut normals = Normals::draw(&mut entropy, 3);
    for index in 0..normals.quick.len() {
        let deep = normals.digits(&mut entropy, index, 300);
        for bits in [0, 1, 52, 63, 64, 65, 128, 129, 256, 299, 300] {
            let shallow = normals.digits(&mut entropy, index, bits);
            assert_eq!(shallow.magnitude(), &(deep.magnitude() >> (300 - bits)));
        }
        assert_eq!(BigInt::from(normals.quick[index]), normals.digits(&mut entropy, index, 52));
    }
    // A normal smaller than 2^−52 keeps its sign.
    (normals.quick[0], normals.low[0]) = (0, SIGN | 1);
    assert_eq!(normals.digits(&mut entropy, 0, 64), BigInt::from(-1));
}

#[test]
fn threads_do_not_change_the_result() {
    let run = |threads| {
        let mut entropy = Entropy::seeded(520);
        let mut normals = Normals::draw(&mut entropy, 40);
        let mut noisy = some_gram(40);
        normals.add_to(&mut entropy, &mut noisy, Grid::at_least(1 << 30), Precision::USUAL, threads);
        (noisy, entropy.next_u64())
    };
    assert_eq!(run(1), run(2));
    assert_eq!(run(1), run(7));
}

#[test]
fn the_grid_never_lowers_the_scale() {
    for s in [1, 2, 3, (1 << 24) - 1, 1 << 24, (1 << 24) + 1, (1 << 25) - 1, (1 << 60) + 1, 1 << 90, (1 << 90) - 1] {
        let grid = Grid::at_least(s);
        assert!(grid.scale() >= s && grid.scale() - s <= s >> 22, "{s}");
        let again = Grid::at_least(grid.scale());
        assert_eq!((again.multiple, again.exponent), (grid.multiple, grid.exponent));
        assert!(grid.multiple <= 1 << 24 && grid.exponent <= 66);
        assert!(s <= 1 << 24 || grid.multiple >= 1 << 23);
    }
}

/// An entry that does not fit in 64 bits is clamped, in the first try and in a refinement alike.
#[test]
fn entries_clamp() {
    for precision in [Precision::USUAL, Precision { first: 1, second: 2, step: 1 }] {
        let mut entropy = Entropy::seeded(530);
        let mut normals = Normals::draw(&mut entropy, 2);
        let mut noisy = vec![0; 3];
        normals.add_to(&mut entropy, &mut noisy, Grid::at_least(1 << 90), precision, 1);
        assert!(noisy.iter().all(|&x| x == i64::MIN || x == i64::MAX));
    }
}

/// Var (W₁ − W₂)_ij = 2(p+1)s² below the diagonal and twice that on it; mean 0; the trace is s times a difference of two
/// chi-squares with p(p+1) degrees of freedom. 20,000 matrices of order 3: standard errors are below 1.7 % of the
/// variances; seven of them (false-alarm rate below 1e-10 each, six comparisons and the trace).
#[test]
fn the_noise_has_its_moments() {
    let (p, s, n) = (3usize, 1u128 << 20, 20_000);
    let mut entropy = Entropy::seeded(540);
    let mut squares = [0.0; 6];
    let (mut sums, mut trace) = ([0.0; 6], 0.0);
    for _ in 0..n {
        let mut normals = Normals::draw(&mut entropy, p);
        let mut noisy = vec![0i64; 6];
        normals.add_to(&mut entropy, &mut noisy, Grid::at_least(s), Precision::USUAL, 1);
        let noise: Vec<f64> = noisy.iter().map(|&x| x as f64 / s as f64).collect();
        for (k, x) in noise.iter().enumerate() {
            squares[k] += x * x / f64::from(n);
            sums[k] += x / f64::from(n);
        }
        trace += (noise[0] + noise[2] + noise[5]).powi(2) / f64::from(n);
    }
    for (k, (&square, &sum)) in squares.iter().zip(&sums).enumerate() {
        let expected = if [0, 2, 5].contains(&k) { 16.0 } else { 8.0 };
        assert!((square / expected - 1.0).abs() < 0.12, "{k}: {square}");
        assert!(sum.abs() < 7.0 * (expected / f64::from(n)).sqrt());
        // The controls: scales of 0.7 and 1.3 would be noticed.
        assert!((square / (0.49 * expected) - 1.0).abs() > 0.12 && (square / (1.69 * expected) - 1.0).abs() > 0.12);
    }
    assert!((trace / 48.0 - 1.0).abs() < 0.12, "{trace}");
}
