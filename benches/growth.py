"""Time and peak memory of a fit from Parquet, against rows, columns, the dimension and threads, and where the time goes.

Each fit is a process of its own, from the start of the program to the model on the disk; medians of wall seconds.
"""

import os

import tables
from tables import median

CORES = sorted(os.sched_getaffinity(0))


def heading(title, *columns):
    print(f"\n**{title}**\n\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}", flush=True)


def row(*cells):
    print(f"| {' | '.join(cells)} |", flush=True)


def fits(options, rows, width, *words, **run):
    table = tables.parquet(rows, width)
    runs = [tables.fit(table, width, *words, **run) for _ in range(options.runs + 1)][1:]
    wall, peak = median(run.wall for run in runs), max(run.peak for run in runs)
    return wall, peak


def short(value):
    """Three digits, without an exponent."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.{2 if value >= 1 else 3}f}"


def figures(wall, peak, rows):
    return f"{short(wall)} s", f"{short(1e6 * wall / rows)} µs", f"{peak:.0f} MB"


def against_rows(options):
    heading("Rows, d = 50", "rows", "time", "for a row", "peak memory")
    for rows in (100_000, 1_000_000, 10_000_000):
        rows //= options.scale
        row(f"{rows:,}", *figures(*fits(options, rows, 50), rows))


def against_columns(options):
    rows = 100_000 // options.scale
    heading(f"Columns, {rows:,} rows", "columns", "time", "for a row", "peak memory")
    for width in (10, 50, 200, 784, 2_000):
        row(f"{width:,}", *figures(*fits(options, rows, width), rows))


def against_dimension(options):
    rows = 1_000_000 // options.scale
    heading(f"Dimension d′, {rows:,} rows, d = 50", "d′", "time", "for a row", "peak memory")
    for dimension in (1, 2, 3, 5, 8):
        row(str(dimension), *figures(*fits(options, rows, 50, "--dimension", dimension), rows))


def against_threads(options):
    """A program that may use one core only takes one thread."""
    rows = 1_000_000 // options.scale
    heading(f"Threads, {rows:,} rows, d = 50", "threads", "time", "for a row", "peak memory")
    for count in range(1, len(CORES) + 1):
        row(str(count), *figures(*fits(options, rows, 50, cores=CORES[:count]), rows))


def phases(options):
    for rows, width in [(1_000_000, 50), (100_000, 784)]:
        rows //= options.scale
        table = tables.parquet(rows, width)
        runs = [tables.Run([tables.MEASURE, "fit-once", table, width, "1"]).json() for _ in range(options.runs + 1)][1:]
        runs.sort(key=lambda run: run["read"] + run["fit"])
        found = runs[len(runs) // 2]["phases"]
        whole = sum(seconds for _, seconds in found)
        heading(f"Where the time goes, {rows:,} x {width}", "phase", "time", "share")
        for what, seconds in found:
            row(what, f"{short(seconds)} s", f"{100 * seconds / whole:.0f} %")


PARTS = {
    "rows": against_rows,
    "columns": against_columns,
    "dimension": against_dimension,
    "threads": against_threads,
    "phases": phases,
}


def begin(options):
    print(f"Medians of {options.runs} fits at ε = 1 from Parquet, float64, {len(CORES)} cores.")


if __name__ == "__main__":
    tables.run("./bench growth", __doc__, PARTS, 3, begin)
