use super::*;
use crate::math::stream::Stream;
use proptest::prelude::*;
use std::cell::RefCell;

const METRICS: [Metric; 3] = [Metric::Largest, Metric::Euclidean, Metric::Manhattan];

fn metric() -> impl Strategy<Value = Metric> {
    prop::sample::select(METRICS.to_vec())
}

/// Solves, checks the proof, and returns the answer.
fn solve(lattice: &Lattice, supplies: &[i64], total: u64) -> Nearest {
    let found = lattice.nearest(supplies, total, &|_| {});
    assert!(found.verify(lattice, supplies, total), "the proof holds");
    found
}

/// Differences of two geometric variables with mean 2, on top of `rows` spread over the cells of one half.
fn noisy(cells: usize, rows: u64, seed: u64) -> Vec<i64> {
    let mut stream = Stream::new(seed, 0, 0);
    let geometric = |stream: &mut Stream| (0..).take_while(|_| stream.unit() < 2.0 / 3.0).count() as i64;
    let mut masses: Vec<i64> = (0..cells).map(|_| geometric(&mut stream) - geometric(&mut stream)).collect();
    for _ in 0..rows {
        masses[stream.below(cells.div_ceil(2) as u64) as usize] += 1;
    }
    masses
}

/// The same problem as an explicit network with a sink and a bank, solved by cheapest paths one after the other.
/// Returns the cost without the bank's share.
fn by_cheapest_paths(lattice: &Lattice, supplies: &[i64], total: u64) -> i128 {
    const DEAR: i128 = 1 << 20;
    struct Arc {
        to: usize,
        room: i128,
        cost: i128,
    }
    let cells = lattice.cells();
    let (sink, bank, start, end) = (cells, cells + 1, cells + 2, cells + 3);
    let mut arcs: Vec<Arc> = Vec::new();
    let mut out = vec![Vec::new(); cells + 4];
    let mut join = |from: usize, to: usize, room: i128, cost: i128| {
        for (at, arc) in [(from, Arc { to, room, cost }), (to, Arc { to: from, room: 0, cost: -cost })] {
            out[at].push(arcs.len());
            arcs.push(arc);
        }
    };
    let given = i128::from(total) - supplies.iter().map(|&s| i128::from(s)).sum::<i128>();
    let needs = supplies.iter().map(|&s| i128::from(s)).chain([-i128::from(total), given]);
    for (node, need) in needs.enumerate() {
        join(if need > 0 { start } else { node }, if need > 0 { node } else { end }, need.abs(), 0);
    }
    for v in 0..cells {
        lattice.steps.from(v).for_each(|(_, step, w)| join(v, w, DEAR, step.cost.into()));
        join(v, sink, DEAR, 0);
        if given > 0 { join(bank, v, DEAR, DEAR) } else { join(v, bank, DEAR, DEAR) }
    }
    let mut cost = -DEAR * given.abs();
    loop {
        let mut distance = vec![i128::MAX; cells + 4];
        let mut by = vec![usize::MAX; cells + 4];
        let mut queue = std::collections::VecDeque::from([start]);
        distance[start] = 0;
        while let Some(v) = queue.pop_front() {
            for &i in &out[v] {
                let arc = &arcs[i];
                if arc.room > 0 && distance[v] + arc.cost < distance[arc.to] {
                    (distance[arc.to], by[arc.to]) = (distance[v] + arc.cost, i);
                    queue.push_back(arc.to);
                }
            }
        }
        if distance[end] == i128::MAX {
            return cost;
        }
        let path = || std::iter::successors(Some(by[end]), |&i| Some(by[arcs[i ^ 1].to]).filter(|&i| i != usize::MAX));
        let room = path().map(|i| arcs[i].room).min().unwrap_or(0);
        for i in path().collect::<Vec<_>>() {
            arcs[i].room -= room;
            arcs[i ^ 1].room += room;
        }
        cost += room * distance[end];
    }
}

fn small_shape() -> impl Strategy<Value = Vec<u32>> {
    prop::sample::select(vec![
        vec![1],
        vec![2],
        vec![17],
        vec![4, 5],
        vec![1, 6, 1, 3],
        vec![2, 9],
        vec![3, 3, 3],
        vec![2, 3, 4],
        vec![2, 2, 2, 3],
        vec![2, 2, 2, 2, 2],
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn small_lattices_agree_with_cheapest_paths(
        shape in small_shape(), metric in metric(), seed: u64, low in -6i64..=0, high in 0i64..=6, total in 0u64..60
    ) {
        let lattice = Lattice::new(&shape, metric).unwrap();
        let mut stream = Stream::new(seed, 0, 0);
        let masses: Vec<i64> = (0..lattice.cells()).map(|_| low + stream.below((high - low + 1) as u64) as i64).collect();
        prop_assert_eq!(solve(&lattice, &masses, total).cost, by_cheapest_paths(&lattice, &masses, total));
        // Totals next to the sum of the masses, where the bank does little or nothing.
        let near = masses.iter().sum::<i64>() + stream.below(5) as i64 - 2;
        if let Ok(total) = u64::try_from(near) {
            prop_assert_eq!(solve(&lattice, &masses, total).cost, by_cheapest_paths(&lattice, &masses, total));
        }
    }

    #[test]
    fn large_amounts_move_whole_branches(shape in small_shape(), metric in metric(), seed: u64) {
        let lattice = Lattice::new(&shape, metric).unwrap();
        let mut stream = Stream::new(seed, 0, 0);
        let masses: Vec<i64> = (0..lattice.cells()).map(|_| stream.below(2_001) as i64 - 1_000).collect();
        let total = masses.iter().sum::<i64>().max(0) as u64;
        prop_assert_eq!(solve(&lattice, &masses, total).cost, by_cheapest_paths(&lattice, &masses, total));
    }

    #[test]
    fn a_few_heavy_cells_serve_many(shape in small_shape(), metric in metric(), seed: u64, spread in 1u64..8) {
        let lattice = Lattice::new(&shape, metric).unwrap();
        let mut stream = Stream::new(seed, 0, 0);
        let mut masses: Vec<i64> = (0..lattice.cells()).map(|_| -(stream.below(spread) as i64)).collect();
        for _ in 0..2 {
            masses[stream.below(lattice.cells() as u64) as usize] = stream.below(100) as i64;
        }
        let total = stream.below(20);
        prop_assert_eq!(solve(&lattice, &masses, total).cost, by_cheapest_paths(&lattice, &masses, total));
    }
}

#[test]
fn larger_lattices_carry_their_proof() {
    let shapes: [&[u32]; 9] =
        [&[5_000], &[70, 70], &[3, 1_000], &[17, 17, 17], &[40, 3, 40], &[8, 8, 8, 8], &[5; 5], &[4; 6], &[3; 7]];
    for (seed, shape) in shapes.iter().enumerate() {
        for metric in METRICS {
            let lattice = Lattice::new(shape, metric).unwrap();
            for per_cell in [0, 1, 20] {
                let rows = per_cell * lattice.cells() as u64;
                let masses = noisy(lattice.cells(), rows, seed as u64);
                let found = solve(&lattice, &masses, rows);
                assert_eq!(found.measure.iter().sum::<u64>(), rows);
                let tenfold: Vec<i64> = masses.iter().map(|m| 10 * m + m % 3).collect();
                solve(&lattice, &tenfold, 10 * rows);
            }
        }
    }
}

#[test]
fn all_mass_in_a_corner() {
    for shape in [&[400][..], &[30, 30], &[12, 12, 12], &[5, 5, 5, 5, 5]] {
        for metric in METRICS {
            let lattice = Lattice::new(shape, metric).unwrap();
            let mut masses = vec![-1; lattice.cells()];
            masses[0] = lattice.cells() as i64 + 3;
            let found = solve(&lattice, &masses, 4);
            assert_eq!((found.measure[0], found.bank.len()), (4, 0));
            // Every cell is served the shortest way: with the largest coordinate, Σ over cells of that coordinate.
            if metric == Metric::Largest && shape == [12, 12, 12] {
                assert_eq!(found.cost, (1..12i128).map(|r| r * ((r + 1).pow(3) - r.pow(3))).sum::<i128>());
            }
        }
    }
}

#[test]
fn degenerate_masses_have_answers() {
    for metric in METRICS {
        let one = Lattice::new(&[1, 1], metric).unwrap();
        assert_eq!((one.cells(), one.moves(), one.factor()), (1, 0, 1.0));
        for mass in [-7, 0, 7] {
            for total in [0, 3, 9] {
                assert_eq!(solve(&one, &[mass], total).measure, [total]);
            }
        }
        let lattice = Lattice::new(&[3, 4], metric).unwrap();
        for (masses, total) in [([0; 12], 0), ([0; 12], 7), ([-2; 12], 0), ([-2; 12], 5), ([4; 12], 0), ([4; 12], 49)] {
            let found = solve(&lattice, &masses, total);
            assert_eq!((found.cost, found.measure.iter().sum::<u64>()), (0, total));
        }
        // A sum below zero with mass left over: it all goes to the deficits if nothing may stay.
        let mut masses = [-2; 12];
        masses[0] = 6;
        assert_eq!(
            solve(&lattice, &masses, 0).cost,
            i128::from(lattice.unit()) * 4
                + if lattice.unit() > 1 {
                    2 * 1_414
                } else if metric == Metric::Largest {
                    2
                } else {
                    4
                }
        );
        assert_eq!(solve(&lattice, &masses, 6).cost, 0, "the bank serves all of it");
        // As large as it may be.
        let mut masses = [0; 12];
        (masses[0], masses[11]) = (1 << 61, -(1 << 60));
        let found = solve(&lattice, &masses, 1 << 60);
        assert_eq!((found.measure[0], found.measure[11]), (1 << 60, 0));
    }
}

#[test]
fn the_bank_gives_evenly_and_takes_in_proportion() {
    let lattice = Lattice::new(&[4], Metric::Largest).unwrap();
    assert_eq!(solve(&lattice, &[-1, 0, 0, 0], 6).measure, [1, 2, 1, 2], "six are left after the deficit");
    assert_eq!(solve(&lattice, &[10, 0, 20, 30], 6).measure, [1, 0, 2, 3]);
    assert_eq!(solve(&lattice, &[1, 1, 1, 1], 3).bank, [(0, -1)]);
    // One unit for two deficits: the one farther from mass is left to the bank, at the potential of both.
    let found = solve(&lattice, &[1, -1, 0, -1], 0);
    assert_eq!((found.cost, found.bank, found.bank_potential), (1, vec![(3, 1)], 1));
}

#[test]
fn an_estimate_grows_with_the_work() {
    let seconds = |side: u32| {
        let lattice = Lattice::new(&[side; 3], Metric::Euclidean).unwrap();
        lattice.estimate(lattice.cells() / 2)
    };
    assert!(seconds(2) < 1e-3 && seconds(10) < seconds(20) && (0.1..10.0).contains(&seconds(46)));
}

#[test]
fn progress_rises_to_what_was_served() {
    let lattice = Lattice::new(&[25, 25, 25], Metric::Euclidean).unwrap();
    let masses = noisy(lattice.cells(), 0, 5);
    let deficit: u64 = masses.iter().filter(|m| **m < 0).map(|m| m.unsigned_abs()).sum();
    let told = RefCell::new(Vec::new());
    lattice.nearest(&masses, 0, &|served| told.borrow_mut().push(served));
    let told = told.into_inner();
    assert!(told.len() > 2 && told.is_sorted());
    let given = (-masses.iter().sum::<i64>()).max(0) as u64;
    assert_eq!(*told.last().unwrap(), deficit - given);
}

#[test]
fn the_way_is_never_longer_than_the_factor_says() {
    let mut shapes = vec![vec![9], vec![9, 9], vec![5, 5, 5], vec![3, 3, 3, 3], vec![3, 1, 3]];
    shapes.extend([vec![2; 5], vec![3; 5], vec![3; 6]]);
    for shape in shapes {
        for metric in METRICS {
            let lattice = Lattice::new(&shape, metric).unwrap();
            let mut worst: f64 = 1.0;
            // One unit from the first cell to another: the cost is the length of the way.
            for target in (1..lattice.cells()).step_by(if lattice.cells() > 300 { 7 } else { 1 }) {
                let mut masses = vec![0; lattice.cells()];
                (masses[0], masses[target]) = (1, -1);
                let way = solve(&lattice, &masses, 0).cost as f64 / lattice.unit() as f64;
                let mut rest = target;
                let mut at = vec![0.0; shape.len()];
                for (x, &side) in at.iter_mut().zip(&shape).rev() {
                    *x = (rest % side as usize) as f64;
                    rest /= side as usize;
                }
                let ratio = way / metric.distance(&at, &vec![0.0; shape.len()]);
                assert!(ratio > 1.0 - 2e-4 && ratio <= lattice.factor() + 1e-12, "{shape:?} {metric:?} {ratio}");
                worst = worst.max(ratio);
            }
            if metric != Metric::Euclidean {
                assert_eq!(lattice.factor(), 1.0);
            } else if shape.len() != 6 {
                assert!(worst > lattice.factor() * 0.975, "the worst case is near: {shape:?} {worst}");
            }
        }
    }
}

#[test]
fn factors_and_moves_are_those_of_the_derivation() {
    let euclidean = |sides: usize| Lattice::new(&vec![2; sides], Metric::Euclidean).unwrap();
    let expected = [(1, 1.0, 2), (2, 1.0824, 8), (3, 1.1281, 26), (4, 1.1595, 80), (5, 1.7121, 50), (6, 1.7613, 72)];
    for (sides, factor, moves) in expected {
        let lattice = euclidean(sides);
        assert!((lattice.factor() - factor).abs() < 1e-4, "{sides} sides: {}", lattice.factor());
        assert_eq!(lattice.moves(), moves);
    }
    for sides in 5..=MOST_SIDES {
        // Beyond the range that is searched the ratio is below what was found.
        let tail = (sides as f64 / 2.0).sqrt() + (1.0 - 0.5f64.sqrt()) / (8.0 * (sides as f64).sqrt());
        assert!(euclidean(sides).factor() > tail);
    }
    assert_eq!(Lattice::new(&[4, 4, 4], Metric::Largest).unwrap().moves(), 26);
    assert_eq!(Lattice::new(&[4, 4, 4], Metric::Manhattan).unwrap().moves(), 6);
}

#[test]
fn impossible_shapes_are_refused() {
    let refused = |shape: &[u32], metric| Lattice::new(shape, metric).unwrap_err();
    for metric in METRICS {
        assert!(refused(&[], metric).to_string().contains("at least one side"));
        assert!(refused(&[3, 0], metric).to_string().contains("at least one cell"));
        assert!(refused(&[1 << 13, 1 << 13], metric).to_string().contains("at most 16777216 cells"));
        assert!(refused(&[u32::MAX; 9], metric).to_string().contains("cells"));
        assert!(refused(&[2; 11], metric).to_string().contains("at most 10 sides"));
        assert_eq!(refused(&[0], metric).kind(), Kind::Usage);
    }
    assert!(refused(&[3_000_000], Metric::Euclidean).to_string().contains("too long"));
    assert!(Lattice::new(&[3_000_000], Metric::Largest).is_ok());
    assert_eq!(Lattice::new(&[1; 40], Metric::Largest).unwrap().cells(), 1);
}

#[test]
fn a_false_proof_is_refused() {
    let lattice = Lattice::new(&[3, 3], Metric::Euclidean).unwrap();
    let masses = [-2, 0, 0, 0, -1, 0, 0, 3, 0];
    let good = solve(&lattice, &masses, 1);
    assert_eq!(good.bank.len(), 1);
    let refused = |change: &dyn Fn(&mut Nearest)| {
        let mut bad = good.clone();
        change(&mut bad);
        !bad.verify(&lattice, &masses, 1)
    };
    assert!(!refused(&|_| {}));
    assert!(refused(&|bad| bad.measure[7] += 1));
    assert!(refused(&|bad| bad.measure.truncate(8)));
    assert!(refused(&|bad| bad.measure.swap(7, 8)));
    assert!(refused(&|bad| bad.moved[0].amount += 1));
    assert!(refused(&|bad| bad.moved[0].to = 8 - bad.moved[0].to));
    assert!(refused(&|bad| bad.moved[0].from = 99));
    assert!(refused(&|bad| bad.moved.push(Move { from: 0, to: 8, amount: 0 })), "not a move of the lattice");
    assert!(refused(&|bad| bad.moved.extend([Move { from: 1, to: 2, amount: 1 }, Move { from: 2, to: 1, amount: 1 }])));
    assert!(refused(&|bad| bad.bank[0].1 += 1));
    assert!(refused(&|bad| bad.bank[0].0 = 99));
    assert!(refused(&|bad| bad.bank.extend([(3, 1), (3, -1)])));
    assert!(refused(&|bad| bad.bank.clear()));
    assert!(refused(&|bad| bad.bank_potential += 1));
    assert!(refused(&|bad| bad.potentials[4] -= 1));
    assert!(refused(&|bad| bad.potentials[7] += 1));
    assert!(refused(&|bad| bad.potentials[3] = i64::MIN));
    assert!(refused(&|bad| bad.potentials[3] = i64::MAX));
    assert!(refused(&|bad| bad.potentials.iter_mut().for_each(|y| *y = 0)));
    assert!(refused(&|bad| bad.cost += 1));
    assert!(!good.verify(&lattice, &masses, 2) && !good.verify(&lattice, &[0; 9], 1), "another problem");
    // Feasible but dearer: the proof does not fit.
    let detour = [0, 0, 0, 1, 0, -1, 0, 0, 0];
    let mut bad = solve(&lattice, &detour, 0);
    bad.moved =
        vec![(3, 0), (0, 1), (1, 2), (2, 5)].into_iter().map(|(from, to)| Move { from, to, amount: 1 }).collect();
    bad.cost = 4_000;
    assert!(!bad.verify(&lattice, &detour, 0));
}

#[test]
#[should_panic(expected = "one supply for each cell")]
fn supplies_must_fit_the_lattice() {
    Lattice::new(&[3], Metric::Largest).unwrap().nearest(&[1, 2], 3, &|_| {});
}

#[test]
#[should_panic(expected = "at most 2⁶²")]
fn supplies_must_not_be_too_large() {
    Lattice::new(&[2], Metric::Largest).unwrap().nearest(&[i64::MAX, i64::MIN], 3, &|_| {});
}
