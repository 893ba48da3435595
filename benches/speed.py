"""Sunprint beside numpy and polars: the same tables, by turns, in wall seconds on all cores.

Whole fits are processes of their own, from the start of the program to the model on the disk. The reference times
itself after its imports, so that Python's own start does not count. Files are read from the page cache. OpenBLAS spins
where other programs want the processors too: run it on a machine that has nothing else to do.
"""

import argparse
import os
import sys
import time

# As many threads as ours.
CORES = len(os.sched_getaffinity(0))
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["POLARS_MAX_THREADS"] = str(CORES)

import numpy as np

import tables
from tables import median

READ = """
import sys, time
import numpy, polars
start = time.perf_counter()
{work}
print(time.perf_counter() - start)
"""

PARQUET = READ.format(work="x = polars.read_parquet(sys.argv[1]).to_numpy(); numpy.cov(x, rowvar=False)")
CSV = READ.format(work="polars.read_csv(sys.argv[1])")


def row(what, ours, reference, ratio, quickest, peak, remark=""):
    print(f"| {what} | {ours} | {reference} | {ratio} | {quickest} | {peak} | {remark} |", flush=True)


def seconds(value):
    return f"{value:.3f} s" if value < 10 else f"{value:.1f} s"


def megabytes(*runs):
    return f"{max(run.peak for run in runs):.0f} MB"


def by_turns(options, *sides):
    """Each side once to warm up, then by turns."""
    for side in sides:
        side()
    turns = [[side() for side in sides] for _ in range(options.runs)]
    return [list(results) for results in zip(*turns)]


def middle(runs):
    return median(run.wall for run in runs)


def ratios(ours, reference):
    """Of the medians, and of the quickest runs, which a busy machine disturbs less."""
    return tuple(f"{of(r.wall for r in ours) / of(r.wall for r in reference):.2f}" for of in (median, min))


def gram(options):
    for rows, width in [(1_000_000, 100), (100_000, 784)]:
        rows //= options.scale
        x = np.concatenate(list(tables.blocks(rows, width)))
        words = ["gram", "--rows", rows, "--width", width, "--threads", CORES, "--runs", 1]

        def ours():
            return tables.Run([tables.MEASURE, *words]).json()["seconds"][0]

        def numpy_seconds(x):
            start = time.perf_counter()
            x.T @ x
            return time.perf_counter() - start

        narrow = x.astype(np.float32)
        mine, wide, small = by_turns(options, ours, lambda: numpy_seconds(x), lambda: numpy_seconds(narrow))
        for kind, reference in [("f64", wide), ("f32", small)]:
            ratio, quickest = (f"{of(reference) / of(mine):.2f} x the rows/s" for of in (median, min))
            remark = f"{rows / median(mine) / 1e6:.2f} against {rows / median(reference) / 1e6:.2f} million rows/s"
            what = f"Gram {rows:,} x {width}, numpy {kind} `X.T @ X`"
            row(what, seconds(median(mine)), seconds(median(reference)), ratio, quickest, "", remark)


def beside(options, what, table, width, program, reference):
    def polars_run():
        run = tables.Run([sys.executable, "-c", program, table])
        run.wall = float(run.text)
        return run

    ours, theirs = by_turns(options, lambda: tables.fit(table, width), polars_run)
    mine, other = middle(ours), middle(theirs)
    remark = f"{median(run.cpu for run in ours):.2f} s of processors; reference takes {megabytes(*theirs)}"
    row(f"{what}, {reference}", seconds(mine), seconds(other), *ratios(ours, theirs), megabytes(*ours), remark)


def from_parquet(options):
    rows = 2_000_000 // options.scale
    table = tables.parquet(rows, 50)
    beside(options, f"fit, Parquet {rows:,} x 50", table, 50, PARQUET, "polars + numpy f64 covariance")


def from_csv(options):
    rows = 1_000_000 // options.scale
    beside(options, f"fit, CSV {rows:,} x 50", tables.csv(rows, 50), 50, CSV, "polars `read_csv` alone")


def out_of_core(options, what, rows, width, runs):
    table, few = tables.parquet(rows, width), argparse.Namespace(runs=runs)
    inside, outside = by_turns(
        few, lambda: tables.fit(table, width), lambda: tables.fit(table, width, "--memory", "256MB")
    )
    mine, other = middle(outside), middle(inside)
    what = f"{what} {rows:,} x {width}, `--memory 256MB`, in memory"
    remark = f"in memory {megabytes(*inside)}"
    row(what, seconds(mine), seconds(other), *ratios(outside, inside), megabytes(*outside), remark)


def larger(options):
    out_of_core(options, "fit, Parquet", 10_000_000 // options.scale, 50, min(options.runs, 3))


def wide(options):
    out_of_core(options, "fit, Parquet", 200_000 // options.scale, 2_000, 1)


def doubling(options):
    half, whole = 1_000_000 // options.scale, 2_000_000 // options.scale
    tables_of = [tables.parquet(rows, 50) for rows in (half, whole)]
    one, two = by_turns(options, *[lambda table=table: tables.fit(table, 50) for table in tables_of])
    what = f"fit, Parquet {whole:,} x 50, {half:,}"
    row(what, seconds(middle(two)), seconds(middle(one)), *ratios(two, one), megabytes(*two))


def drawing(options):
    few, many = 1_000_000 // options.scale, 10_000_000 // options.scale
    for extension in ("parquet", "csv"):
        once = argparse.Namespace(runs=1)
        small, large = by_turns(
            once, *[lambda rows=rows: tables.sample(50, rows, extension) for rows in (few, many)]
        )
        speeds = [rows / middle(runs) for rows, runs in ((many, large), (few, small))]
        remark = f"{speeds[0]:,.0f} against {speeds[1]:,.0f} rows/s; {few:,} rows take {megabytes(*small)}"
        what = f"draw {many:,} x 50 as {extension}, {few:,}"
        ratio = f"{speeds[0] / speeds[1]:.2f} x the rows/s"
        row(what, seconds(middle(large)), seconds(middle(small)), ratio, "", megabytes(*large), remark)


BARS = {
    "gram": gram,
    "parquet": from_parquet,
    "csv": from_csv,
    "doubling": doubling,
    "drawing": drawing,
    "memory": larger,
    "wide": wide,
}


def begin(options):
    print(f"Medians of {options.runs} runs by turns, wall seconds, {CORES} cores. Ratio = ours / reference.\n")
    row("what, reference", "ours", "reference", "ratio", "of the quickest", "peak")
    row(*["---"] * 7)


if __name__ == "__main__":
    tables.run("./bench speed", __doc__, BARS, 5, begin)
