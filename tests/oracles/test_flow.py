"""Minimum-cost flow, against OR-tools' cost scaling."""

import unittest

import numpy as np
from ortools.graph.python import min_cost_flow

from solver import Solver


def by_or_tools(supplies, arcs):
    """The least cost, or None if there is no flow."""
    # Where an arc has no capacity, no more than everything can pass.
    everything = int(np.abs(supplies).sum()) + sum(capacity or 0 for *_, capacity in arcs)
    other = min_cost_flow.SimpleMinCostFlow()
    for start, end, cost, capacity in arcs:
        other.add_arc_with_capacity_and_unit_cost(start, end, everything if capacity is None else capacity, cost)
    for node, supply in enumerate(supplies):
        other.set_node_supply(node, int(supply))
    status = other.solve()
    assert status in (other.OPTIMAL, other.INFEASIBLE), status
    return other.optimal_cost() if status == other.OPTIMAL else None


def random_network(rng, nodes, arcs, wide, negative):
    """Supplies that add up, and arcs, some without a capacity. Wide: capacities seldom matter."""
    supplies = np.zeros(nodes, dtype=np.int64)
    for _ in range(nodes):
        amount = rng.integers(0, 20)
        supplies[rng.integers(nodes)] += amount
        supplies[rng.integers(nodes)] -= amount
    largest = int(rng.choice([1, 10, 1_000_000]))
    network = []
    for _ in range(arcs):
        start, end = (int(node) for node in rng.integers(nodes, size=2))
        cost = int(rng.integers(0, largest + 1))
        capacity = int(rng.integers(0, 200 if wide else 12))
        if negative and rng.uniform() < 0.2:
            cost = -cost
        elif rng.uniform() < 0.3:
            # Without a capacity only where it costs, so that no cycle pays for ever.
            capacity = None
        network.append((start, end, cost, capacity))
    return supplies, network


class Flow(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.solver = Solver()
        cls.addClassCleanup(cls.solver.close)

    def check(self, supplies, arcs, answer):
        """Feasible, and optimal by the potentials."""
        self.assertTrue(answer["verified"])
        left = np.array(supplies)
        total = 0
        worth = answer["potentials"]
        for (start, end, cost, capacity), amount in zip(arcs, answer["amounts"], strict=True):
            left[start] -= amount
            left[end] += amount
            total += cost * amount
            reduced = cost + worth[start] - worth[end]
            self.assertTrue(amount >= 0 and (capacity is None or amount <= capacity))
            self.assertTrue(amount == 0 or reduced <= 0)
            self.assertTrue(amount == capacity or reduced >= 0)
        self.assertFalse(left.any())
        self.assertEqual(total, answer["cost"])

    def test_random_networks(self):
        solved = refused = 0
        for seed in range(400):
            rng = np.random.default_rng([7, seed])
            nodes = int(rng.integers(1, 40))
            density = rng.choice([1, 3, 10])
            supplies, arcs = random_network(rng, nodes, int(nodes * density), seed % 2 == 0, seed % 5 == 0)
            with self.subTest(seed=seed):
                expected = by_or_tools(supplies, arcs)
                answer = self.solver.flow(supplies, arcs, whole=True)
                if expected is None:
                    refused += 1
                    self.assertIn("cannot carry", answer.get("error", ""))
                else:
                    solved += 1
                    self.check(supplies, arcs, answer)
                    self.assertEqual(answer["cost"], expected)
        self.assertGreater(min(solved, refused), 50, "both kinds must be among them")

    def test_a_larger_network(self):
        rng = np.random.default_rng(8)
        supplies, arcs = random_network(rng, 3_000, 30_000, True, False)
        arcs += [(node, (node + 1) % 3_000, 10**6, None) for node in range(3_000)]
        answer = self.solver.flow(supplies, arcs, whole=True)
        self.check(supplies, arcs, answer)
        self.assertEqual(answer["cost"], by_or_tools(supplies, arcs))

    def test_what_has_no_answer_is_refused(self):
        bad = {
            "add up": ([1, -2], [[0, 1, 1, None]]),
            "cannot carry": ([1, -1], [[1, 0, 1, None]]),
            "negative cost": ([0, 0], [[0, 1, -2, None], [1, 0, 1, None]]),
            "names node 2": ([0, 0], [[0, 2, 1, None]]),
            "2^60": ([0, 0], [[0, 1, 2**62, None]]),
        }
        for words, (supplies, arcs) in bad.items():
            with self.subTest(words):
                self.assertIn(words, self.solver.flow(supplies, arcs).get("error", ""))


if __name__ == "__main__":
    unittest.main()
