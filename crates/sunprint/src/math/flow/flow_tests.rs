use super::*;
use crate::math::stream::Stream;
use proptest::prelude::*;

fn network(supplies: &[i64], arcs: &[(usize, usize, i64, Option<u64>)]) -> Network {
    let mut network = Network::new(supplies);
    for (k, &(from, to, cost, capacity)) in arcs.iter().enumerate() {
        assert_eq!(network.arc(from, to, cost, capacity).unwrap(), k);
    }
    network
}

fn rule(error: Error) -> String {
    assert_eq!(error.kind(), Kind::Data);
    error.to_string()
}

/// The cost of the cheapest flow that carries at most `most` on an arc without a capacity, by trying all of them.
fn cheapest_by_trying(network: &Network, most: i64, at: usize, left: &mut [i64]) -> Option<i128> {
    let Some(&Edge { arc, capacity }) = network.edges.get(at) else {
        return left.iter().all(|&left| left == 0).then_some(0);
    };
    let mut best = None;
    for amount in 0..=capacity.min(most) {
        left[arc.from as usize] -= amount;
        left[arc.to as usize] += amount;
        if let Some(rest) = cheapest_by_trying(network, most, at + 1, left) {
            let cost = rest + i128::from(arc.cost * amount);
            best = Some(best.map_or(cost, |best: i128| best.min(cost)));
        }
        left[arc.from as usize] += amount;
        left[arc.to as usize] -= amount;
    }
    best
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn tiny_networks_agree_with_trying_everything(nodes in 1usize..=4, arcs in 0usize..=6, seed: u64) {
        let mut stream = Stream::new(seed, 0, 0);
        let mut supplies = vec![0i64; nodes];
        for _ in 0..stream.below(4) {
            supplies[stream.below(nodes as u64) as usize] += 1;
            supplies[stream.below(nodes as u64) as usize] -= 1;
        }
        // Parallel arcs, loops and arcs that carry nothing come by themselves; what may cost less than nothing is bounded.
        let arcs: Vec<_> = (0..arcs).map(|_| {
            let (from, to) = (stream.below(nodes as u64) as usize, stream.below(nodes as u64) as usize);
            match stream.below(4) {
                0 => (from, to, stream.below(5) as i64, None),
                _ => (from, to, stream.below(9) as i64 - 4, Some(stream.below(3))),
            }
        }).collect();
        let network = network(&supplies, &arcs);
        // In a basic flow every cycle has a full arc, so no arc carries more than this.
        let most = network.capacities + supplies.iter().map(|supply| supply.max(&0)).sum::<i64>();
        let tried = cheapest_by_trying(&network, most, 0, &mut supplies.clone());
        match network.solve() {
            Ok(flow) => {
                prop_assert!(flow.verify(&network));
                prop_assert_eq!(tried, Some(flow.cost));
            }
            Err(error) => {
                prop_assert_eq!(rule(error), "the arcs cannot carry the supplies to where they are wanted");
                prop_assert_eq!(tried, None);
            }
        }
    }

    #[test]
    fn larger_networks_carry_their_proof(nodes in 2usize..60, arcs in 0usize..500, seed: u64, high in prop::sample::select(vec![1u64, 2, 1_000, 1 << 50])) {
        let mut stream = Stream::new(seed, 0, 0);
        // Supplies that some flow within the capacities carries.
        let mut supplies = vec![0i64; nodes];
        let arcs: Vec<_> = (0..arcs).map(|_| {
            let (from, to) = (stream.below(nodes as u64) as usize, stream.below(nodes as u64) as usize);
            let wide = 1 << stream.below(20);
            let capacity = (stream.below(3) > 0).then(|| stream.below(wide));
            let amount = stream.below(capacity.unwrap_or(1_000) + 1) as i64;
            supplies[from] += amount;
            supplies[to] -= amount;
            let cost = stream.below(high) as i64;
            (from, to, if capacity.is_some() && stream.below(2) == 0 { -cost } else { cost }, capacity)
        }).collect();
        let network = network(&supplies, &arcs);
        prop_assert!(network.solve().unwrap().verify(&network));
    }
}

#[test]
fn nothing_to_carry_costs_nothing() {
    for (supplies, arcs) in [(vec![], vec![]), (vec![0], vec![]), (vec![0; 3], vec![(0, 1, 5, None), (1, 1, 0, None)])]
    {
        let network = network(&supplies, &arcs);
        let flow = network.solve().unwrap();
        assert!(flow.verify(&network) && flow.cost == 0 && flow.amounts.iter().all(|&amount| amount == 0));
    }
}

#[test]
fn what_pays_is_carried_round_until_it_is_full() {
    // A loop, a cycle, and two parallel arcs of which the better one fills up first.
    let network = network(
        &[0, 0, 0],
        &[(2, 2, -7, Some(4)), (0, 1, -3, Some(5)), (0, 1, -9, Some(2)), (1, 0, 4, None), (1, 2, -9, Some(0))],
    );
    let flow = network.solve().unwrap();
    assert_eq!((flow.amounts.as_slice(), flow.cost), (&[4, 0, 2, 2, 0][..], -28 - 18 + 8));
    assert!(flow.verify(&network));
}

#[test]
fn no_bottom_is_an_error() {
    let bottomless = "no flow is cheapest: a cycle of arcs without a capacity has a negative cost";
    for arcs in [vec![(0, 0, -1, None)], vec![(0, 1, 3, None), (1, 0, -4, None)]] {
        assert_eq!(rule(network(&[0, 0], &arcs).solve().unwrap_err()), bottomless);
        assert_eq!(
            rule(network(&[MOST, -MOST], &[arcs, vec![(0, 1, 9, None)]].concat()).solve().unwrap_err()),
            bottomless
        );
    }
    assert!(network(&[0, 0], &[(0, 1, 4, None), (1, 0, -4, None)]).solve().is_ok(), "a free cycle is none");
}

#[test]
fn networks_that_cannot_be_are_refused() {
    assert_eq!(rule(Network::new(&[3, -2]).solve().unwrap_err()), "the supplies add up to 1, not to 0");
    assert!(rule(Network::new(&[i64::MAX, i64::MAX]).solve().unwrap_err()).starts_with("the supplies add up to 1844"));
    let apart = "the arcs cannot carry the supplies to where they are wanted";
    assert_eq!(rule(Network::new(&[1, -1]).solve().unwrap_err()), apart);
    assert_eq!(rule(network(&[2, -2], &[(0, 1, 1, Some(1)), (1, 0, 1, None)]).solve().unwrap_err()), apart);
    let mut two = Network::new(&[0, 0]);
    assert_eq!(rule(two.arc(0, 2, 1, None).unwrap_err()), "an arc names node 2, but the network has 2 nodes");
    assert!(rule(Network::new(&[]).arc(0, 0, 1, None).unwrap_err()).ends_with("has 0 nodes"));
    for cost in [MOST / 2 + 1, -MOST / 2 - 1, i64::MIN] {
        assert!(rule(two.arc(0, 1, cost, None).unwrap_err()).starts_with("a cost times the number of nodes (2)"));
    }
    assert_eq!(rule(two.arc(0, 1, 1, Some(u64::MAX)).unwrap_err()), "the capacities add up to more than 2^60");
    assert_eq!(two.arc(0, 1, 1, Some(MOST as u64)).unwrap(), 0, "what was refused leaves no trace");
    assert!(two.arc(0, 1, 1, Some(1)).is_err());
    let heavy = network(&[MOST, -MOST], &[(0, 1, 1, Some(1))]);
    assert_eq!(rule(heavy.solve().unwrap_err()), "the supplies and the capacities add up to more than 2^60");
}

#[test]
fn the_largest_numbers_fit() {
    let dearest = MOST / 4;
    let path = [(0, 1, dearest, None), (1, 2, dearest, None), (2, 3, dearest, None), (3, 0, dearest, None)];
    let network = network(&[MOST, 0, 0, -MOST], &path);
    let flow = network.solve().unwrap();
    assert!(flow.verify(&network));
    assert_eq!(flow.cost, 3 * i128::from(dearest) * i128::from(MOST));
}

#[test]
fn a_false_proof_is_refused() {
    let network = network(&[2, 0, -2], &[(0, 1, 1, None), (1, 2, 1, Some(1)), (0, 2, 5, None), (1, 1, 3, None)]);
    let good = network.solve().unwrap();
    assert!(good.verify(&network) && good.amounts == [1, 1, 1, 0] && good.cost == 7);
    let with = |change: &dyn Fn(&mut Flow)| {
        let mut flow = good.clone();
        change(&mut flow);
        flow.verify(&network)
    };
    assert!(with(&|_| ()));
    assert!(with(&|flow| flow.potentials.iter_mut().for_each(|y| *y += 9)), "only differences matter");
    assert!(!with(&|flow| flow.cost -= 1), "another cost");
    assert!(!with(&|flow| flow.potentials[1] += 5), "potentials that prove nothing");
    assert!(!with(&|flow| flow.amounts = vec![0, 0, 2, 0]), "feasible but not cheapest");
    assert!(!with(&|flow| (flow.amounts, flow.cost) = (vec![0, 0, 2, 0], 10)), "the same with its true cost");
    assert!(!with(&|flow| (flow.amounts, flow.cost) = (vec![2, 2, 0, 0], 4)), "over the capacity");
    assert!(!with(&|flow| (flow.amounts, flow.cost) = (vec![1, 1, 0, 0], 2)), "not all is carried");
    assert!(!with(&|flow| (flow.amounts[3], flow.cost) = (1, 10)), "round and round");
    assert!(!with(&|flow| flow.amounts = vec![u64::MAX; 4]) && !with(&|flow| flow.potentials = vec![i64::MIN; 3]));
    assert!(!with(&|flow| flow.amounts.truncate(3)) && !with(&|flow| flow.potentials.push(0)), "another shape");
}
