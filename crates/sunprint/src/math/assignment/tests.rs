use super::*;
use crate::math::stream::Stream;
use proptest::prelude::*;

fn cheapest_by_trying(costs: &Table, row: usize, taken: &mut [bool]) -> f64 {
    if row == costs.size {
        return 0.0;
    }
    let mut best = f64::INFINITY;
    for j in 0..costs.size {
        if !std::mem::replace(&mut taken[j], true) {
            best = best.min(costs.costs[row * costs.size + j] + cheapest_by_trying(costs, row + 1, taken));
            taken[j] = false;
        }
    }
    best
}

fn random(size: usize, seed: u64, high: u64) -> Table {
    let mut stream = Stream::new(seed, 0, 0);
    Table::new((0..size * size).map(|_| stream.below(high) as f64).collect(), size)
}

/// Computes its rows when asked, so that nothing rests on rows that lie in memory.
struct OnDemand<'a>(&'a Table);

impl CostRows for OnDemand<'_> {
    fn size(&self) -> usize {
        self.0.size
    }

    fn row<'a>(&'a self, i: usize, columns: usize, buffer: &'a mut Vec<f64>) -> &'a [f64] {
        buffer.clear();
        buffer.extend_from_slice(&self.0.costs[i * self.0.size..][..columns]);
        buffer
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn small_tables_agree_with_trying_everything(size in 0usize..=7, seed: u64, high in prop::sample::select(vec![1u64, 3, 100, 1 << 44])) {
        let costs = random(size, seed, high);
        let found = assign(&costs);
        prop_assert!(found.verify(&costs));
        prop_assert_eq!(found.cost() as f64, cheapest_by_trying(&costs, 0, &mut vec![false; size]));
    }

    #[test]
    fn larger_tables_carry_their_proof(size in 1usize..120, seed: u64, high in prop::sample::select(vec![1u64, 2, 30, 5_000, 1 << 44])) {
        let costs = random(size, seed, high);
        let found = assign(&costs);
        prop_assert!(found.verify(&costs));
        prop_assert_eq!(&found, &assign(&OnDemand(&costs)));
    }
}

/// Sizes at which lists are shorter than rows. Few different costs make ties by the thousand.
#[test]
fn short_lists_carry_their_proof() {
    for (size, high) in [(300, 1 << 44), (300, 1), (400, 2), (500, 40), (700, 1 << 20), (1_100, 3)] {
        let costs = random(size, 5, high);
        assert!(assign(&costs).verify(&costs), "{size} below {high}");
    }
}

/// |x_i − y_j| on a line: many optimal plans, long paths. Sorting gives the value.
#[test]
fn points_on_a_line_are_matched_in_order() {
    let mut stream = Stream::new(8, 0, 0);
    for (size, spread) in [(300, 50), (600, 1_000_000)] {
        let mut points = || (0..size).map(|_| stream.below(spread) as f64).collect::<Vec<_>>();
        let (mut x, mut y) = (points(), points());
        let costs = Table::new(x.iter().flat_map(|x| y.iter().map(move |y| (x - y).abs())).collect(), size);
        let found = assign(&costs);
        x.sort_by(f64::total_cmp);
        y.sort_by(f64::total_cmp);
        assert!(found.verify(&costs));
        assert_eq!(found.cost() as f64, x.iter().zip(&y).map(|(x, y)| (x - y).abs()).sum::<f64>());
    }
}

/// One column is nobody's wish, one row is dear everywhere: the largest costs there are.
#[test]
fn the_largest_costs_are_exact() {
    let size = 320;
    let mut costs = random(size, 6, 1 << 44);
    for k in 0..size {
        costs.costs[k * size + 17] = LARGEST_COST;
        costs.costs[33 * size + k] = LARGEST_COST - (k % 2) as f64;
    }
    assert!(assign(&costs).verify(&costs));
}

#[test]
fn a_false_proof_is_refused() {
    let costs = Table::new(vec![1.0, 5.0, 5.0, 1.0], 2);
    let good = assign(&costs);
    assert!(good.verify(&costs) && good.cost() == 2);
    assert!(!Assignment { column_of: vec![1, 0], ..good.clone() }.verify(&costs), "not the cheapest");
    assert!(!Assignment { column_of: vec![0, 0], ..good.clone() }.verify(&costs), "a column twice");
    assert!(!Assignment { column_of: vec![0, 2], ..good.clone() }.verify(&costs), "a column that is not there");
    assert!(!Assignment { rows: vec![9, -9], ..good.clone() }.verify(&costs), "a potential too high");
    assert!(!Assignment { rows: vec![0, 0], columns: vec![0, 0], ..good.clone() }.verify(&costs), "not tight");
    assert!(!Assignment { rows: vec![1], ..good.clone() }.verify(&costs), "a row without a potential");
}
