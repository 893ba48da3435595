//! An order in which things that are near to one another stand side by side.

/// The leaves of a tree of clusters from left to right: average linkage, joined along chains of nearest neighbours.
///
/// *Average linkage*: two clusters are as far apart as their members on average. Of all pairs the nearest are joined
/// again and again. That needs no search over all pairs: from any cluster one walks to its nearest neighbour, from there
/// to that one's nearest, until two are nearest to each other, and joins them. Joining two such clusters never makes
/// the result nearer to a third than the nearer of the two was (an average of two numbers is not below both), so the
/// rest of the walk stays valid, and the tree is the same. A walk takes at most 2n steps of n comparisons: O(n²) in
/// time, and n² numbers in memory.
///
/// A tree leaves open which branch stands left. Each join turns its two parts so that the nearest of their ends meet.
/// Equals are decided by the smaller number, so the order is always the same. Distances that are not numbers count as
/// infinitely large.
pub fn leaf_order(count: usize, distance: impl Fn(usize, usize) -> f64) -> Vec<usize> {
    let number = |i: usize, j: usize| {
        let far = distance(i, j);
        if far.is_nan() { f64::INFINITY } else { far }
    };
    let mut far = vec![0.0; count * count];
    for i in 0..count {
        for j in 0..i {
            let apart = number(i, j);
            (far[i * count + j], far[j * count + i]) = (apart, apart);
        }
    }
    // A cluster goes by the number of one of its members; the others are no longer alive.
    let mut orders: Vec<Vec<usize>> = (0..count).map(|i| vec![i]).collect();
    let mut alive: Vec<usize> = (0..count).collect();
    let mut walk: Vec<usize> = Vec::new();
    while alive.len() > 1 {
        let here = *walk.last().unwrap_or(&alive[0]);
        if walk.is_empty() {
            walk.push(here);
        }
        let before = walk.len().checked_sub(2).map(|at| walk[at]);
        let next = nearest(here, before, &alive, &far, count);
        if before != Some(next) {
            walk.push(next);
            continue;
        }
        walk.truncate(walk.len() - 2);
        let (keep, gone) = (here.min(next), here.max(next));
        let (one, other) = (std::mem::take(&mut orders[keep]), std::mem::take(&mut orders[gone]));
        let (a, b) = (one.len() as f64, other.len() as f64);
        for &third in alive.iter().filter(|&&third| third != keep && third != gone) {
            // Weighted by members: the average over all pairs. Infinite ones stay so.
            let joined = (a * far[keep * count + third] + b * far[gone * count + third]) / (a + b);
            (far[keep * count + third], far[third * count + keep]) = (joined, joined);
        }
        orders[keep] = joined(one, other, &number);
        alive.retain(|&cluster| cluster != gone);
    }
    alive.first().map(|&last| std::mem::take(&mut orders[last])).unwrap_or_default()
}

/// The nearest other cluster; of equals the one before on the walk, so that it ends, else the smallest.
fn nearest(here: usize, before: Option<usize>, alive: &[usize], far: &[f64], count: usize) -> usize {
    let mut best = before;
    for &other in alive.iter().filter(|&&other| other != here) {
        if best.is_none_or(|best| far[here * count + other] < far[here * count + best]) {
            best = Some(other);
        }
    }
    best.unwrap_or(here)
}

/// Two orders one behind the other, each turned so that the ends that meet are as near as can be.
fn joined(mut one: Vec<usize>, mut other: Vec<usize>, far: &impl Fn(usize, usize) -> f64) -> Vec<usize> {
    let ends = |order: &[usize]| (order[0], order[order.len() - 1]);
    let ((first, last), (start, end)) = (ends(&one), ends(&other));
    let ways = [
        (false, false, far(last, start)),
        (false, true, far(last, end)),
        (true, false, far(first, start)),
        (true, true, far(first, end)),
    ];
    let best = ways.into_iter().reduce(|best, way| if way.2 < best.2 { way } else { best });
    let (turn_one, turn_other, _) = best.unwrap_or((false, false, 0.0));
    if turn_one {
        one.reverse();
    }
    if turn_other {
        other.reverse();
    }
    one.append(&mut other);
    one
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::stream::Stream;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_order_is_a_permutation(count in 0usize..60, seed: u64, steps in 1u64..8) {
            // Few different distances, so that many are equal.
            let mut stream = Stream::new(seed, 0, 0);
            let far: Vec<f64> = (0..count * count).map(|_| stream.below(steps) as f64).collect();
            let at = |i: usize, j: usize| far[i.max(j) * count + i.min(j)];
            let mut order = leaf_order(count, at);
            prop_assert_eq!(&order, &leaf_order(count, at));
            order.sort_unstable();
            prop_assert_eq!(order, (0..count).collect::<Vec<_>>());
        }
    }

    /// The plain way: of all pairs of clusters the nearest on average.
    fn heights_by_search(count: usize, at: &impl Fn(usize, usize) -> f64) -> Vec<Vec<usize>> {
        let mut clusters: Vec<Vec<usize>> = (0..count).map(|i| vec![i]).collect();
        let mut joined = Vec::new();
        while clusters.len() > 1 {
            let mean = |a: &[usize], b: &[usize]| {
                a.iter().flat_map(|&i| b.iter().map(move |&j| (i, j))).map(|(i, j)| at(i, j)).sum::<f64>()
                    / (a.len() * b.len()) as f64
            };
            let pairs = (0..clusters.len()).flat_map(|i| (0..i).map(move |j| (j, i)));
            let (j, i) = pairs
                .min_by(|x, y| mean(&clusters[x.0], &clusters[x.1]).total_cmp(&mean(&clusters[y.0], &clusters[y.1])))
                .unwrap();
            let gone = clusters.remove(i);
            clusters[j].extend(gone);
            clusters[j].sort_unstable();
            joined.push(clusters[j].clone());
        }
        joined
    }

    #[test]
    fn every_cluster_of_the_plain_way_stands_together() {
        for seed in 0..40 {
            let count = 3 + seed as usize % 17;
            let mut stream = Stream::new(seed, 0, 0);
            let far: Vec<f64> = (0..count * count).map(|_| stream.unit()).collect();
            let at = |i: usize, j: usize| far[i.max(j) * count + i.min(j)];
            let order = leaf_order(count, at);
            for cluster in heights_by_search(count, &at) {
                let mut places: Vec<usize> =
                    cluster.iter().map(|member| order.iter().position(|x| x == member).unwrap()).collect();
                places.sort_unstable();
                assert!(places.windows(2).all(|w| w[1] == w[0] + 1), "{cluster:?} in {order:?}");
            }
        }
    }

    #[test]
    fn things_on_a_line_stand_in_their_order() {
        let places = [5.0_f64, 0.0, 3.0, 1.0, 4.2, 9.0];
        let order = leaf_order(6, |i, j| (places[i] - places[j]).abs());
        let found: Vec<f64> = order.iter().map(|&i| places[i]).collect();
        let rising = found.windows(2).all(|w| w[0] < w[1]);
        assert!(rising || found.windows(2).all(|w| w[0] > w[1]), "{found:?}");
        assert_eq!(leaf_order(2, |_, _| f64::NAN).len(), 2);
    }
}
