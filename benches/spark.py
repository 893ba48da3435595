"""What a fit costs on executors, beside the same passes on one machine.

A cluster of Spark is started on 127.0.0.1, as in tests/spark. Both sides answer the same passes of one fit on the same
rows, one thread each. On executors it is the processor time, user and system, of Spark's Python workers in all tasks of
the fit: taking batches off Spark's socket, codes, sealing and handing them to Spark, opening, tallies, fingerprints,
merging. On one machine it is the processor time of codes and tally in every pass, from batches that lie in memory; for
comparison also of codes once and tallies of sealed codes that are kept, as executors do."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ["SUNPRINT_THREADS"] = "1"

import numpy as np  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402
from cluster import Cluster  # noqa: E402

import sunprint  # noqa: E402
import sunprint.spark  # noqa: E402
from sunprint import _native  # noqa: E402
from sunprint.spark import _fit  # noqa: E402

#: The most that an executor may spend on a row, in units of what one machine does.
BAR = 1.5
#: How often everything is done.
TIMES = 3


def main() -> int:
    parser = argparse.ArgumentParser(prog="./bench spark", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--partitions", type=int, default=4)
    parser.add_argument("--batch", type=int, default=10_000, help="rows in a batch of Spark; 10,000 is its default")
    parser.add_argument("--no-persist", action="store_true", help="executors keep no codes between passes")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    options = parser.parse_args()
    rows = options.rows // 10 if options.quick else options.rows
    with tempfile.TemporaryDirectory() as folder:
        cluster = Cluster()
        try:
            ratio = measured(cluster, Path(folder), rows, options)
        finally:
            cluster.stop()
    print(f"all passes: {ratio:.2f} times one machine; the bar is {BAR}")
    return 0 if ratio <= BAR else 1


def measured(cluster: Cluster, folder: Path, rows: int, options: argparse.Namespace) -> float:
    columns, partitions, batch = options.columns, options.partitions, options.batch
    random = np.random.default_rng(4)
    names = [f"x{number}" for number in range(columns)]
    known = sunprint.Schema.build("bench", *(sunprint.continuous(name, 0, 1) for name in names))
    factors = random.random((3, columns)) / 3
    whole = pa.table(dict(zip(names, (random.random((rows, 3)) @ factors).T, strict=True)))
    for number in range(partitions):
        part = whole.slice(rows * number // partitions, rows * (number + 1) // partitions - rows * number // partitions)
        pq.write_table(part, folder / f"{number}.parquet")
    spark = cluster.session(spark__executor__memory="600m")
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", str(batch))
    frame = spark.read.parquet(str(folder / "*.parquet"))
    transfer = min(drained(frame, folder) for _ in range(TIMES))
    listen(str(folder))
    passes: dict[int, Any] = {}
    # What each task of each pass took, in the best of several fits: in the first, Python starts on the executors.
    best: dict[tuple[int, str], float] = {}
    tallied = _fit.tallied

    def timed(*arguments: Any) -> Any:
        (folder / "spent").write_text("")
        answer = tallied(*arguments)
        number = arguments[1].number
        passes[number] = arguments[1]
        spent: dict[tuple[int, str], float] = {}
        for line in (folder / "spent").read_text().splitlines():
            task, seconds = line.split()
            spent[number, task] = spent.get((number, task), 0) + float(seconds)
        for key, seconds in spent.items():
            best[key] = min(seconds, best.get(key, seconds))
        return answer

    _fit.tallied = timed
    for _ in range(TIMES):
        sunprint.spark.fit(frame, known, epsilon=1, ledger="none", persist=not options.no_persist)
    print(f"{rows:,} rows, {columns} columns, {partitions} partitions; processor time in ns for a row")
    print(f"taking the rows off Spark's socket, and nothing else: {transfer / rows * 1e9:.0f}")
    print(f"{'':>14}{'executors':>12}{'one machine':>14}{'ratio':>8}{'codes kept':>14}{'tally':>12}")
    # Batches of the size in which Spark sends them.
    batches = whole.to_batches(max_chunksize=batch)

    def line(what: str, there: float, here: float | None, kept: float | None, size: str = "") -> None:
        ratio = "" if here is None else f"{there / here:.2f}"
        figures = ["" if seconds is None else f"{seconds / rows * 1e9:.0f}" for seconds in (here, kept)]
        print(f"{what:>14}{there / rows * 1e9:12.0f}{figures[0]:>14}{ratio:>8}{figures[1]:>14}{size:>12}")

    encoding, cells = min((coded(known, batches) for _ in range(TIMES)), key=lambda found: found[0])
    there, here, kept = 0.0, 0.0, encoding
    if (1, "encode") in best:
        there = best[1, "encode"]
        line("codes", there, None, encoding)
    for number, what in passes.items():
        mine = sum(best.get((number, task), 0) for task in ("tally", "tally_cells", "merge"))
        seconds, size = min((local(what, batches) for _ in range(TIMES)), key=lambda found: found[0])
        short = min(local_cells(what, cells) for _ in range(TIMES))
        there, here, kept = there + mine, here + seconds, kept + short
        line(f"pass {number}", mine, seconds, short, f"{size:,} B")
    line("all", there, here, kept)
    print(f"beside one machine that keeps codes, too: {there / kept:.2f}")
    return there / here


def coded(known: Any, batches: list[Any]) -> tuple[float, list[Any]]:
    """Processor seconds of making all codes on this machine, and the codes."""
    before = time.process_time()
    cells = [_native.sealed_cells(known._native, batch, bytes(32), 4000) for batch in batches]
    return time.process_time() - before, [piece for some in cells for piece in pa.table(some).to_batches()]


def local_cells(what: Any, cells: list[Any]) -> float:
    """Processor seconds of one tally of codes on this machine."""
    before = time.process_time()
    _native.tally_cells(what, pa.RecordBatchReader.from_batches(cells[0].schema, cells), bytes(32), bytes(32))
    return time.process_time() - before


def local(what: Any, batches: list[Any]) -> tuple[float, int]:
    """Processor seconds of one tally on this machine, and its bytes."""
    before = time.process_time()
    tally = sunprint.tally(what, pa.RecordBatchReader.from_batches(batches[0].schema, batches))
    return time.process_time() - before, len(tally.to_secret_bytes())


def drained(frame: Any, folder: Path) -> float:
    """Processor seconds of executors that take the rows and drop them."""
    path = str(folder / "drained")
    Path(path).write_text("")

    def drain(batches: Iterator[Any]) -> Iterator[Any]:
        import resource

        before = resource.getrusage(resource.RUSAGE_SELF)
        for _ in batches:
            pass
        after = resource.getrusage(resource.RUSAGE_SELF)
        with open(path, "a") as file:
            file.write(f"{after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}\n")
        yield from ()

    frame.mapInArrow(drain, "nothing int").collect()
    return sum(map(float, Path(path).read_text().split()))


def listen(folder: str) -> None:
    """Lets all tasks write down their processor time."""
    shipped = _fit.shipped

    def clocked(task: str, *arguments: Any) -> Any:
        work = shipped(task, *arguments)
        def timed(batches: Iterator[Any]) -> Iterator[Any]:
            import resource

            def spent() -> float:
                usage = resource.getrusage(resource.RUSAGE_SELF)
                return usage.ru_utime + usage.ru_stime

            before = spent()
            # What Spark does with an outcome between two of them is counted, too: it is written to its socket.
            yield from work(batches)
            with open(f"{folder}/spent", "a") as file:
                file.write(f"{task} {spent() - before}\n")

        return timed

    _fit.shipped = clocked


if __name__ == "__main__":
    sys.exit(main())
