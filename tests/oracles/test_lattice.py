"""The nearest measure on a lattice, against the explicit linear programme in HiGHS and against OR-tools."""

import math
import unittest

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array
from scipy.spatial.distance import cdist

import lattices
from solver import Solver

METRICS = ("linf", "l1", "l2")
# What a step of length 1 costs.
UNITS = {"linf": 1, "l1": 1, "l2": 1000}


def by_linear_programme(arcs, supplies):
    """min Σ cost · flow over flows ≥ 0 where each node gives away what it has, by HiGHS."""
    start, end, cost = arcs
    each = np.arange(len(cost))
    ones = np.ones(len(cost))
    entries = np.concatenate([ones, -ones]), (np.concatenate([start, end]), np.concatenate([each, each]))
    leaves = coo_array(entries, shape=(len(supplies), len(cost)))
    found = linprog(cost, A_eq=leaves.tocsr(), b_eq=supplies, bounds=(0, None), method="highs")
    assert found.status == 0, found.message
    return found.fun


def by_distances(shape, metric, supplies):
    """The same without moves, if nothing is missing: mass goes straight from cell to cell, as far as it is."""
    places = np.argwhere(np.ones(shape, dtype=bool))
    from_, to = np.flatnonzero(supplies > 0), np.flatnonzero(supplies < 0)
    if not len(to):
        return 0
    distances = cdist(places[from_], places[to], {"linf": "chebyshev", "l1": "cityblock"}[metric])
    rows, columns = np.indices(distances.shape)
    each = np.arange(distances.size)
    ones = np.ones(distances.size)
    gives = coo_array((ones, (rows.ravel(), each)), shape=(len(from_), distances.size)).tocsr()
    takes = coo_array((ones, (columns.ravel(), each)), shape=(len(to), distances.size)).tocsr()
    limits = dict(A_ub=gives, b_ub=supplies[from_], A_eq=takes, b_eq=-supplies[to])
    found = linprog(distances.ravel(), **limits, bounds=(0, None), method="highs")
    assert found.status == 0, found.message
    return found.fun


class Lattice(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.solver = Solver()
        cls.addClassCleanup(cls.solver.close)

    def ask(self, shape, metric, supplies, total):
        """The answer, after its flow has been followed and its proof been read again."""
        answer = self.solver.lattice(shape, metric, supplies, total, whole=True)
        self.assertNotIn("error", answer)
        self.assertTrue(answer["verified"])
        self.assertEqual(answer["unit"], UNITS[metric])

        measure = answer["measure"]
        self.assertTrue(all(isinstance(mass, int) and mass >= 0 for mass in measure))
        self.assertEqual(sum(measure), total)

        arcs = lattices.neighbours(shape, metric, UNITS[metric])
        prices = {(start, end): cost for start, end, cost in arcs.T.tolist()}
        mass, cost = supplies.tolist(), 0
        for start, end, amount in answer["moved"]:
            self.assertGreater(amount, 0)
            mass[start] -= amount
            mass[end] += amount
            cost += prices[start, end] * amount
        for cell, amount in answer["bank"]:
            mass[cell] += amount
        self.assertEqual(mass, measure)
        self.assertEqual(sum(amount for _, amount in answer["bank"]), total - supplies.sum())
        self.assertEqual(cost, answer["cost"])

        worth = np.array(answer["potentials"])
        start, end, prices = arcs
        self.assertTrue((worth >= 0).all() and (worth[end] - worth[start] <= prices).all())
        return answer

    def compare(self, shape, metric, supplies, total):
        supplies = np.array(supplies, dtype=np.int64)
        answer = self.ask(shape, metric, supplies, total)
        arcs, given, by_bank = lattices.network(shape, metric, UNITS[metric], supplies, total)
        expected = by_linear_programme(arcs, given)
        # An integer, up to the rounding of floats.
        self.assertLessEqual(abs(answer["cost"] + by_bank - expected), 0.01 + 1e-13 * expected)
        return answer

    def test_random_lattices(self):
        shapes = [(1,), (2,), (17,), (60,), (1, 9), (4, 6), (9, 8), (2, 3, 4), (5, 5, 3), (1, 4, 1, 4), (3, 2, 4, 3)]
        for number, shape in enumerate(shapes):
            for metric in METRICS:
                for seed in range(4):
                    rng = np.random.default_rng([9, number, seed])
                    counts = rng.poisson([0.3, 2, 2, 6][seed], size=math.prod(shape))
                    supplies = counts + lattices.discrete_laplace(rng, [1, 2, 5, 2][seed], len(counts))
                    # The bank gives, takes, or has nothing to do.
                    totals = {max(0, int(supplies.sum()) + more) for more in (-7, 0, 7)} | {int(counts.sum())}
                    for total in sorted(totals):
                        with self.subTest(shape=shape, metric=metric, seed=seed, total=total):
                            self.compare(shape, metric, supplies, total)

    def test_five_and_six_dimensions(self):
        for shape in [(2, 2, 2, 2, 2), (3, 2, 2, 2, 3), (2, 2, 2, 2, 2, 2), (3, 1, 3, 1, 3, 1)]:
            for metric in METRICS:
                rng = np.random.default_rng([10, *shape])
                supplies = rng.poisson(2, size=math.prod(shape)) + lattices.discrete_laplace(rng, 3, math.prod(shape))
                with self.subTest(shape=shape, metric=metric):
                    self.compare(shape, metric, supplies, max(0, int(supplies.sum())))

    def test_degenerate_lattices(self):
        for shape in [(1,), (1, 1, 1), (6,), (3, 4), (2, 3, 2), (2, 2, 2, 2)]:
            cells = math.prod(shape)
            one_heap = np.full(cells, -1)
            one_heap[-1] = 3 * cells
            cases = {
                "all zero": np.zeros(cells),
                "all negative": -np.arange(1, cells + 1),
                "all positive": np.arange(1, cells + 1),
                "one heap in a corner": one_heap,
                "total mass negative": np.where(np.arange(cells) % 2, 1, -3),
                "large": np.where(np.arange(cells) % 3, 10**6, -(10**6)),
            }
            for name, supplies in cases.items():
                supplies = supplies.astype(np.int64)
                for total in {0, 1, cells + 3, max(0, int(supplies.sum()))}:
                    for metric in METRICS:
                        with self.subTest(name, shape=shape, total=total, metric=metric):
                            self.compare(shape, metric, supplies, total)

    def test_moves_reproduce_the_distance(self):
        for shape in [(12,), (6, 7), (4, 3, 4), (3, 2, 2, 3)]:
            for metric in ("linf", "l1"):
                for seed in range(5):
                    rng = np.random.default_rng([11, seed, *shape])
                    supplies = rng.poisson(1, size=math.prod(shape)) + lattices.discrete_laplace(
                        rng, 2, math.prod(shape)
                    )
                    # Enough in one cell that nothing is missing.
                    supplies[rng.integers(len(supplies))] += max(0, -int(supplies.sum()))
                    with self.subTest(shape=shape, metric=metric, seed=seed):
                        answer = self.ask(shape, metric, supplies, int(supplies.sum()))
                        expected = by_distances(shape, metric, supplies)
                        self.assertLessEqual(abs(answer["cost"] - expected), 0.01)

    def test_eight_thousand_cells(self):
        shape = (20, 20, 20)
        for metric in METRICS:
            for density in (0.5, 20):
                supplies, rows = lattices.noisy_mixture(np.random.default_rng(12), shape, density)
                with self.subTest(metric=metric, density=density):
                    answer = self.ask(shape, metric, supplies, rows)
                    arcs, given, by_bank = lattices.network(shape, metric, UNITS[metric], supplies, rows)
                    other = lattices.in_or_tools(arcs, given)
                    self.assertEqual(other.solve(), other.OPTIMAL)
                    self.assertEqual(answer["cost"] + by_bank, other.optimal_cost())

    def test_what_cannot_be_solved_is_refused(self):
        bad = {
            "`shape`": ([], [], 0),
            "at least one cell": ([2, 0], [], 0),
            "cells": ([2, 2], [0, 0, 0], 0),
            "2^62": ([2], [2**62, 1], 0),
            "may have at most": ([2**20, 2**20], [], 0),
        }
        for words, (shape, supplies, total) in bad.items():
            with self.subTest(words):
                self.assertIn(words, self.solver.lattice(shape, "linf", supplies, total).get("error", ""))


if __name__ == "__main__":
    unittest.main()
