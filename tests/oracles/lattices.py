"""The nearest measure on a lattice, written out as a network: cells, a sink, a bank, and every arc between them."""

import itertools
import math

import numpy as np
from ortools.graph.python import min_cost_flow


def moves(shape, metric):
    """Steps between neighbouring cells. Sides of one cell do not count."""
    long = sum(side > 1 for side in shape)
    most = {"linf": long, "l1": 1, "l2": long if long <= 4 else 2}[metric]
    for move in itertools.product(*((-1, 0, 1) if side > 1 else (0,) for side in shape)):
        if 1 <= np.count_nonzero(move) <= most:
            yield move


def cost_of(move, metric, unit):
    return unit if metric != "l2" else round(math.sqrt(np.count_nonzero(move)) * unit)


def neighbours(shape, metric, unit):
    """All arcs between cells: three arrays of from, to, cost. The last coordinate runs fastest."""
    cells = np.arange(math.prod(shape)).reshape(shape)
    found = [np.zeros((3, 0), dtype=np.int64)]
    for move in moves(shape, metric):
        start = cells[tuple(slice(max(0, -d), side - max(0, d)) for d, side in zip(move, shape))].ravel()
        end = cells[tuple(slice(max(0, d), side - max(0, -d)) for d, side in zip(move, shape))].ravel()
        found.append(np.stack([start, end, np.full(len(start), cost_of(move, metric, unit))]))
    return np.concatenate(found, axis=1)


def across(shape, metric, unit):
    """What it costs, at most, to go from one cell to any other: from corner to corner."""
    steps = sorted((side - 1 for side in shape if side > 1), reverse=True) + [0]
    if metric == "linf":
        return unit * steps[0]
    if metric == "l1" or len(steps) > 5:
        return unit * sum(steps)
    # All coordinates change as long as the shortest side lasts, then all but that one, and so on.
    return sum(cost_of([1] * i, metric, unit) * (steps[i - 1] - steps[i]) for i in range(1, len(steps)))


def network(shape, metric, unit, supplies, total, both_ways=True):
    """All arcs (from, to, cost), all supplies, and what the bank adds to the cost whatever happens.

    Each cell has a free arc to the sink, which takes the total, and arcs from and to the bank, which has what is missing.
    The bank's arcs cost at least half the way from corner to corner, so that no detour through it can pay. Unless
    both_ways, those against its own direction are left out, which nothing can use.
    """
    count = len(supplies)
    cells, sink, bank = np.arange(count), np.full(count, count), np.full(count, count + 1)
    half_way = -(-across(shape, metric, unit) // 2)
    free, dear = np.zeros(count, dtype=np.int64), np.full(count, half_way)
    missing = int(total) - int(supplies.sum())
    arcs = [neighbours(shape, metric, unit), [cells, sink, free]]
    arcs += [[bank, cells, dear]] * (both_ways or missing > 0) + [[cells, bank, dear]] * (both_ways or missing <= 0)
    return np.concatenate(arcs, axis=1), np.concatenate([supplies, [-int(total), missing]]), half_way * abs(missing)


def in_or_tools(arcs, supplies):
    """The network in OR-tools, ready to be solved."""
    other = min_cost_flow.SimpleMinCostFlow()
    start, end, cost = arcs
    everything = np.full(len(start), int(np.abs(supplies).sum()))
    other.add_arcs_with_capacity_and_unit_cost(start.astype(np.int32), end.astype(np.int32), everything, cost)
    other.set_nodes_supplies(np.arange(len(supplies), dtype=np.int32), supplies)
    return other


def discrete_laplace(rng, scale, size):
    """Integers x with probability proportional to exp(-|x| / scale)."""
    stop = 1 - math.exp(-1 / scale)
    return rng.geometric(stop, size) - rng.geometric(stop, size)


def noisy_mixture(rng, shape, rows_per_cell, scale=2):
    """Counts of four normal clouds in the unit cube plus discrete Laplace noise, and the number of rows."""
    width, rows = len(shape), int(math.prod(shape) * rows_per_cell)
    centres = rng.uniform(0.2, 0.8, size=(4, width))
    points = centres[rng.integers(4, size=rows)] + 0.08 * rng.normal(size=(rows, width))
    places = (points.clip(0, 1 - 1e-9) * shape).astype(int)
    counts = np.zeros(shape, dtype=np.int64)
    np.add.at(counts, tuple(places.T), 1)
    return (counts + discrete_laplace(rng, scale, shape)).ravel(), rows
