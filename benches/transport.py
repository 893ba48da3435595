"""Our solvers of transport and flow beside OR-tools and POT: the same problems, by turns, in processor seconds.

One thread on each side. Ours never includes reading a problem or checking the proof, but always the distances; the
reference is its solver alone, with everything that it solves already in its memory.
"""

import argparse
import multiprocessing
import resource
import statistics
import time

import numpy as np
import ot

import lattices
from solver import Solver

# What POT may take of the memory for the largest problem.
MEMORY = 20 * 10**9

ROW = "{:<58}{:>10}{:>11}{:>8}{:>10}  {}"


def show(problem, ours, reference, ratio, peak, remark):
    print(ROW.format(problem, ours, reference, ratio, peak, remark), flush=True)


def row(problem, ours, reference, peak, remark):
    known = reference is not None
    words = f"{reference:.3f}" if known else "-"
    ratio = f"{ours / reference:.3f}" if known else "-"
    show(problem, f"{ours:.3f}", words, ratio, f"{peak:.0f}", remark)


def timed(work):
    start = time.process_time()
    return work(), time.process_time() - start


def proven(answer):
    assert answer.get("verified"), answer
    return answer


def median(values):
    return statistics.median(values)


def lattice_beside_or_tools(options, side, metric):
    shape, unit = (side,) * 3, 1000 if metric == "l2" else 1
    supplies, rows = lattices.noisy_mixture(np.random.default_rng(options.seed), shape, 20)
    arcs, given, by_bank = lattices.network(shape, metric, unit, supplies, rows, both_ways=False)
    ours, reference = [], []
    with Solver(one_thread=True) as solver:
        for _ in range(options.runs):
            answer = proven(solver.lattice(shape, metric, supplies, rows))
            other = lattices.in_or_tools(arcs, given)
            status, taken = timed(other.solve)
            assert status == other.OPTIMAL and other.optimal_cost() == answer["cost"] + by_bank
            ours.append(answer["cpu"])
            reference.append(taken)
    problem = f"lattice {side}^3, {metric}, against OR-tools"
    row(problem, median(ours), median(reference), answer["peak"], f"equal cost, proven; {arcs.shape[1]:,} arcs")


def lattice_alone(options, side, metric):
    shape = (side,) * 3
    supplies, rows = lattices.noisy_mixture(np.random.default_rng(options.seed), shape, 20)
    with Solver(one_thread=True) as solver:
        answers = [proven(solver.lattice(shape, metric, supplies, rows)) for _ in range(options.runs)]
    cpu = median(answer["cpu"] for answer in answers)
    row(f"lattice {side}^3, {metric}", cpu, None, max(answer["peak"] for answer in answers), "proven")


def points(options, n, m, width):
    rng = np.random.default_rng(options.seed)
    return rng.normal(size=(n, width)), rng.normal(size=(m, width)) + 0.1, rng


def transport_beside_pot(options, n, m, weighted):
    a, b, rng = points(options, n, m, 20)
    weights = [rng.dirichlet(np.ones(size)) for size in (n, m)] if weighted else [None, None]
    ours, reference, table = [], [], []
    with Solver(one_thread=True) as solver:
        for _ in range(options.runs):
            answer = proven(solver.transport(a, b, "l2", *weights))
            distances, for_distances = timed(lambda: ot.dist(a, b, "euclidean"))
            of_a, of_b = ([] if side is None else side for side in weights)
            cost, taken = timed(lambda: ot.emd2(of_a, of_b, distances, numItermax=10**9))
            ours.append(answer["cpu"])
            reference.append(taken)
            table.append(taken + for_distances)
    problem = f"W1 {n:,} x {m:,}, R^20{', weights' if weighted else ''}, against POT"
    apart = f"proven; costs differ by {abs(answer['cost'] - cost) / cost:.0e}"
    row(problem, median(ours), median(reference), answer["peak"], apart)
    row("    the same, POT's distances included", median(ours), median(table), answer["peak"], "")


def by_pot(found, a, b):
    """For a process of its own: processor seconds and the cost, or nothing if the memory does not suffice."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    try:
        distances = ot.dist(a, b, "euclidean")
        cost, taken = timed(lambda: ot.emd2([], [], distances, numItermax=10**9))
        found.put((taken, cost))
    except MemoryError:
        found.put(None)


def transport_without_table(options, count):
    a, b, _ = points(options, count, count, 50)
    with Solver() as solver:
        answer = proven(solver.transport(a, b, "l2"))
    reference = None
    open_ = (answer["cost"] - answer["lower"]) / answer["cost"]
    remark = f"proven to {open_:.0e}; {answer['elapsed']:.0f} s on all cores"
    if options.with_pot:
        found = multiprocessing.Queue()
        child = multiprocessing.Process(target=by_pot, args=(found, a, b))
        child.start()
        child.join()
        result = found.get() if child.exitcode == 0 else None
        if child.exitcode != 0:
            remark += f"; POT ended with code {child.exitcode}"
        elif result is None:
            remark += f"; POT: out of memory ({MEMORY / 1e9:.0f} GB)"
        else:
            reference, cost = result
            remark += f"; costs differ by {abs(answer['cost'] - cost) / cost:.0e}"
    row(f"W1 {count:,} x {count:,}, R^50", answer["cpu"], reference, answer["peak"], remark)


def main():
    parser = argparse.ArgumentParser(prog="./bench transport", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small problems, three runs")
    parser.add_argument("--with-pot", action="store_true", help="let POT try the largest problem too")
    parser.add_argument("--only", choices=["lattice", "W1", "largest"], help="only problems of this kind")
    parser.add_argument("--seed", type=int, default=1, help="which problems")
    options = parser.parse_args()
    options.runs = 3 if options.quick else 5
    print(f"processor seconds, medians of {options.runs} runs; ratio = ours / reference; memory is ours, in MB")
    show("problem", "ours", "reference", "ratio", "memory", "")
    if options.only in (None, "lattice"):
        for metric in ("linf", "l2"):
            lattice_beside_or_tools(options, 20 if options.quick else 46, metric)
        for metric in ("linf", "l2"):
            lattice_alone(options, 46 if options.quick else 100, metric)
    if options.only in (None, "W1"):
        scale = 4 if options.quick else 1
        for n, m, weighted in [(2000, 2000, False), (2000, 1500, False), (2000, 2000, True)]:
            transport_beside_pot(options, n // scale, m // scale, weighted)
    if options.only in (None, "largest"):
        transport_without_table(options, 2_000 if options.quick else 20_000)


if __name__ == "__main__":
    main()
