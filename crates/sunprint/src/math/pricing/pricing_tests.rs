use super::*;
use crate::math::assignment::{Table, assign};
use crate::math::flow::Network;
use crate::math::stream::Stream;
use proptest::prelude::*;

struct Formula<F> {
    rows: usize,
    columns: usize,
    cost: F,
}

impl<F: Fn(usize, usize) -> i64> Costs for Formula<F> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        self.columns
    }

    fn row(&self, i: usize, out: &mut [i64]) {
        out.iter_mut().enumerate().for_each(|(j, cost)| *cost = (self.cost)(i, j));
    }
}

fn formula<F: Fn(usize, usize) -> i64 + Sync>(rows: usize, columns: usize, cost: F) -> Formula<F> {
    Formula { rows, columns, cost }
}

/// Solves, checks the proof and returns the cost.
fn proved<F: Fn(usize, usize) -> i64 + Sync>(supplies: &[i64], demands: &[i64], cost: &Formula<F>) -> i128 {
    let plan = by_pricing(&Sparse { supplies, demands, cost });
    let (mut given, mut got) = (vec![0; supplies.len()], vec![0; demands.len()]);
    let mut total = 0;
    for &(i, j, mass) in &plan.moved {
        let (i, j) = (i as usize, j as usize);
        assert!(mass > 0 && plan.rows[i] + plan.columns[j] == (cost.cost)(i, j), "what moves is tight");
        given[i] += mass;
        got[j] += mass;
        total += i128::from(mass) * i128::from((cost.cost)(i, j));
    }
    assert!(given == supplies && got == demands, "all is carried to where it is wanted");
    for (i, u) in plan.rows.iter().enumerate() {
        assert!(plan.columns.iter().enumerate().all(|(j, v)| u + v <= (cost.cost)(i, j)), "no pair pays");
    }
    let dual = |masses: &[i64], prices: &[i64]| -> i128 {
        masses.iter().zip(prices).map(|(&mass, &price)| i128::from(mass) * i128::from(price)).sum()
    };
    assert_eq!(total, dual(supplies, &plan.rows) + dual(demands, &plan.columns), "dual equals primal");
    total
}

fn cloud(points: usize, width: usize, seed: u64) -> Vec<f64> {
    let mut stream = Stream::new(seed, 0, 0);
    (0..points * width).map(|_| stream.normal()).collect()
}

/// Euclidean distances of two clouds, in units of 2⁻²⁴.
fn distances(rows: usize, columns: usize, width: usize, seed: u64) -> Formula<impl Fn(usize, usize) -> i64 + Sync> {
    let (a, b) = (cloud(rows, width, seed), cloud(columns, width, !seed));
    formula(rows, columns, move |i, j| {
        let pairs = a[i * width..][..width].iter().zip(&b[j * width..][..width]);
        (pairs.map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt() * f64::from(1 << 24)) as i64
    })
}

/// Positive masses that add up to `total`.
fn masses(count: usize, total: i64, seed: u64) -> Vec<i64> {
    let mut stream = Stream::new(seed, 0, 0);
    let mut masses: Vec<i64> = (0..count).map(|_| 1 + stream.below(total as u64 / count as u64) as i64).collect();
    let over: i64 = masses.iter().sum::<i64>() - total;
    let mut rest = over;
    for mass in &mut masses {
        let take = rest.clamp(i64::MIN, *mass - 1);
        *mass -= take;
        rest -= take;
    }
    masses
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn equal_sizes_agree_with_the_assignment(size in 1usize..150, width in 1usize..8, seed: u64) {
        let cost = distances(size, size, width, seed);
        let table = (0..size * size).map(|k| (cost.cost)(k / size, k % size) as f64).collect();
        let assigned = assign(&Table::new(table, size)).cost();
        prop_assert_eq!(proved(&vec![1; size], &vec![1; size], &cost), i128::from(assigned));
    }

    #[test]
    fn unequal_sizes_agree_with_the_whole_network(n in 1usize..100, m in 1usize..100, seed: u64, high in prop::sample::select(vec![1u64, 2, 50, 1 << 44])) {
        let mut stream = Stream::new(seed, 0, 0);
        let table: Vec<i64> = (0..n * m).map(|_| stream.below(high) as i64).collect();
        let (supplies, demands) = (masses(n, 1 << 40, seed), masses(m, 1 << 40, !seed));
        let mut network = Network::new(&supplies.iter().copied().chain(demands.iter().map(|mass| -mass)).collect::<Vec<_>>());
        for (k, &cost) in table.iter().enumerate() {
            network.arc(k / m, n + k % m, cost, None).unwrap();
        }
        let flow = network.solve().unwrap();
        prop_assert!(flow.verify(&network));
        prop_assert_eq!(proved(&supplies, &demands, &formula(n, m, |i, j| table[i * m + j])), flow.cost);
    }
}

#[test]
fn clouds_of_many_sizes_are_proved() {
    for (n, m, width) in [(1_000, 1_000, 1), (1_200, 900, 2), (300, 1_500, 5), (900, 900, 30)] {
        let cost = distances(n, m, width, 7);
        proved(&vec![m as i64; n], &vec![n as i64; m], &cost);
        proved(&masses(n, 1 << 50, 1), &masses(m, 1 << 50, 2), &cost);
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    for (n, m) in [(700, 700), (500, 801)] {
        let cost = distances(n, m, 3, 5);
        // Coarse costs, so that there are ties everywhere.
        let coarse = formula(n, m, |i, j| (cost.cost)(i, j) >> 22);
        let (supplies, demands) = (vec![m as i64; n], vec![n as i64; m]);
        for cost in [&cost as &(dyn Costs + Sync), &coarse] {
            let problem = Sparse { supplies: &supplies, demands: &demands, cost };
            let alone = by_pricing_on(&problem, 1);
            assert!([2, 3, 16].into_iter().all(|threads| by_pricing_on(&problem, threads) == alone));
        }
    }
}

#[test]
fn equal_points_by_the_thousand() {
    let size = 1_000;
    let ones = vec![1; size];
    assert_eq!(proved(&ones, &ones, &formula(size, size, |_, _| 0)), 0);
    assert_eq!(proved(&ones, &ones, &formula(size, size, |_, _| 1 << 44)), 1_000 << 44);
    // Ten places on a line; in any order of the points, the same cost.
    let mut stream = Stream::new(3, 0, 0);
    let mut places = || (0..size).map(|_| stream.below(10) as i64).collect::<Vec<_>>();
    let (a, b) = (places(), places());
    let (mut up, mut down) = (a.clone(), b.clone());
    up.sort_unstable();
    down.sort_unstable();
    let expected: i64 = up.iter().zip(&down).map(|(x, y)| (x - y).abs()).sum();
    down.reverse();
    for (a, b) in [(&a, &b), (&up, &b), (&up, &down)] {
        let cost = formula(size, size, |i, j| (a[i] - b[j]).abs());
        assert_eq!(proved(&ones, &ones, &cost), i128::from(expected));
    }
}

#[test]
fn lopsided_masses() {
    let size = 400;
    let cost = distances(size, size, 2, 11);
    let mut heavy = vec![1; size];
    heavy[17] = 1 << 50;
    let total: i64 = heavy.iter().sum();
    let light = masses(size, total, 4);
    proved(&heavy, &light, &cost);
    proved(&light, &heavy, &cost);
    // Who has nothing takes no part, but has a potential all the same.
    let idle: Vec<i64> = (0..size as i64).map(|k| if k % 3 == 0 { 0 } else { 2 }).collect();
    let sum: i64 = idle.iter().sum();
    proved(&idle, &masses(size, sum, 5), &cost);
    proved(&masses(size, sum, 5), &idle, &cost);
    assert_eq!(proved(&[0; 3], &[0; 5], &formula(3, 5, |i, j| (i + j) as i64)), 0);
}

#[test]
fn one_row_or_one_column() {
    let ones = vec![1; 500];
    assert_eq!(proved(&[500], &ones, &formula(1, 500, |_, j| j as i64)), 124_750);
    assert_eq!(proved(&ones, &[500], &formula(500, 1, |i, _| i as i64)), 124_750);
    assert_eq!(proved(&[7], &[7], &formula(1, 1, |_, _| 3)), 21);
    assert_eq!(proved(&[499, 1], &ones, &formula(2, 500, |i, j| if i == 0 { j as i64 } else { 0 })), 124_750 - 499);
}
