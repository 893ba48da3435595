"""W1 between point sets, against POT's network simplex on the table of all distances."""

import unittest

import numpy as np
import ot
from scipy.spatial.distance import cdist

from solver import Solver

METRICS = {"l2": "euclidean", "linf": "chebyshev", "l1": "cityblock"}


class Transport(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.solver = Solver()
        cls.addClassCleanup(cls.solver.close)

    def compare(self, a, b, metric, weights_a=None, weights_b=None):
        """Equal cost, a plan that moves the right masses, potentials that prove it."""
        answer = self.solver.transport(a, b, metric, weights_a, weights_b, whole=True)
        self.assertNotIn("error", answer)
        self.assertTrue(answer["verified"])
        distances = cdist(a, b, METRICS[metric])
        of_a = np.full(len(a), 1 / len(a)) if weights_a is None else weights_a
        of_b = np.full(len(b), 1 / len(b)) if weights_b is None else weights_b
        cost, lower = answer["cost"], answer["lower"]

        # What rounding alone may do to distances of points that are equal.
        tiny = 1e-12 * distances.max()
        expected = ot.emd2(of_a, of_b / of_b.sum() * of_a.sum(), distances, numItermax=10**7)
        self.assertLessEqual(abs(cost - expected), 1e-9 * expected + tiny)
        self.assertLessEqual(lower, expected * (1 + 1e-12) + tiny)
        self.assertLessEqual(cost - lower, 1e-9 * cost + tiny)

        plan = np.zeros_like(distances)
        for i, j, mass in answer["plan"]:
            self.assertGreater(mass, 0)
            plan[i, j] += mass
        self.assertLess(abs(plan.sum(axis=1) - of_a).max(), 1e-12)
        self.assertLess(abs(plan.sum(axis=0) - of_b).max(), 1e-12)
        self.assertLessEqual(abs((plan * distances).sum() - cost), 1e-12 * cost + tiny)

        rows, columns = (np.array(answer[name]) * answer["unit"] for name in ("rows", "columns"))
        self.assertLessEqual((rows[:, None] + columns - distances).max(), answer["unit"] + tiny)
        self.assertLessEqual(abs(of_a @ rows + of_b @ columns - cost), 1e-9 * cost + tiny)
        return answer

    def test_random_sets_of_all_sizes_and_metrics(self):
        for seed in range(150):
            rng = np.random.default_rng([1, seed])
            n, m = rng.integers(1, 60, size=2)
            width = int(rng.choice([1, 2, 3, 10, 50]))
            a = rng.normal(size=(n, width))
            b = rng.normal(size=(m if seed % 3 else n, width)) * rng.uniform(0.1, 2) + rng.normal()
            for metric in METRICS:
                with self.subTest(seed=seed, metric=metric):
                    self.compare(a, b, metric)

    def test_weights(self):
        for seed in range(100):
            rng = np.random.default_rng([2, seed])
            n, m = rng.integers(1, 50, size=2)
            a, b = rng.uniform(size=(n, 3)), rng.uniform(size=(m, 3)) + 0.3
            weights = [rng.exponential(size=size) ** rng.choice([1, 4]) for size in (n, m)]
            for side in weights:
                # Some points have nothing, as long as one has something.
                side[1:][rng.uniform(size=len(side) - 1) < 0.2] = 0
                side /= side.sum()
            if seed % 4 == 0:
                weights[seed // 4 % 2] = None
            with self.subTest(seed=seed):
                self.compare(a, b, list(METRICS)[seed % 3], *weights)

    def test_duplicates_and_ties(self):
        for seed in range(60):
            rng = np.random.default_rng([3, seed])
            n, m = rng.integers(1, 80, size=2)
            few = int(rng.integers(1, 5))
            a = rng.integers(0, few, size=(n, 2)).astype(float)
            b = rng.integers(0, few, size=(n if seed % 2 else m, 2)) + 0.25 * (seed % 3)
            for metric in METRICS:
                with self.subTest(seed=seed, metric=metric):
                    self.compare(a, b, metric)

    def test_one_point(self):
        rng = np.random.default_rng(4)
        one, many = rng.normal(size=(1, 4)), rng.normal(size=(30, 4))
        for metric, name in METRICS.items():
            self.assertEqual(self.solver.transport(one, one, metric)["cost"], 0)
            for a, b in [(one, many), (many, one)]:
                answer = self.compare(a, b, metric)
                mean = cdist(one, many, name).mean()
                self.assertLessEqual(abs(answer["cost"] - mean), 1e-12 * mean)

    def test_sets_of_a_few_hundred(self):
        for seed, (n, m, weighted) in enumerate([(400, 400, False), (400, 300, False), (300, 300, True)]):
            rng = np.random.default_rng([5, seed])
            a, b = rng.normal(size=(n, 20)), rng.normal(size=(m, 20)) + 0.1
            weights = [rng.dirichlet(np.ones(size)) for size in (n, m)] if weighted else [None, None]
            for metric in METRICS:
                with self.subTest(n=n, m=m, metric=metric):
                    self.compare(a, b, metric, *weights)

    def test_far_points_on_both_sides(self):
        rng = np.random.default_rng(6)
        for far in [1e6, 1e9]:
            a, b = rng.uniform(size=(2, 40, 3))
            a[7] = b[9] = far
            # POT's tolerances are relative to the largest distance, so the far point, which stays, is left out for it.
            answer = self.solver.transport(a, b, "l2")
            distances = cdist(np.delete(a, 7, 0), np.delete(b, 9, 0))
            expected = ot.emd2([], [], distances) * 39 / 40
            self.assertTrue(answer["verified"])
            self.assertLessEqual(abs(answer["cost"] - expected), 1e-9 * expected)

    def test_bad_input_is_refused_in_a_sentence(self):
        good = np.zeros((2, 3))
        bad = {
            "no points": dict(a=np.zeros((0, 3)), b=good),
            "coordinates": dict(a=good, b=np.zeros((2, 4))),
            "coordinate 1 of point 1 of `b` is not a finite": dict(a=good, b=np.array([[0, 0, 0], [0, np.nan, 0]])),
            "coordinate 0 of point 0 of `a` is not a finite": dict(a=np.array([[np.inf, 0, 0]]), b=good),
            "negative": dict(a=good, b=good, weights_a=[1.5, -0.5]),
            "sum to": dict(a=good, b=good, weights_b=[0.5, 0.4]),
            "for 2 points": dict(a=good, b=good, weights_b=[1.0]),
            "are 0": dict(a=good, b=good, weights_a=[0.0, 0.0]),
            "metric": dict(a=good, b=good, metric="l3"),
        }
        for words, fields in bad.items():
            with self.subTest(words):
                answer = self.solver.transport(**{"metric": "l2", **fields})
                self.assertIn(words, answer.get("error", f"an answer: {answer}"))
        for line in ["", "nonsense", "{}", '{"problem": "knapsack"}', '{"problem": "transport", "a": 3}']:
            self.assertIn("error", self.solver.say(line))


if __name__ == "__main__":
    unittest.main()
