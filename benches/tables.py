"""Tables for timing, made once, and programs that are timed as processes of their own."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

import numpy as np
import polars
import pyarrow
import pyarrow.parquet

TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", "target"))
FOLDER = TARGET / "bench"
SUNPRINT = TARGET / "release" / "sunprint"
MEASURE = TARGET / "release" / "sunprint-measure"

# Rows of a row group: what pyarrow and polars write is of this order.
GROUP = 1 << 17


def median(values):
    return statistics.median(values)


def blocks(rows, width):
    """Normal values around the middle with four common factors, in [0, 1]."""
    rng = np.random.default_rng(1)
    loadings = rng.normal(0, 0.05, (4, width))
    for first in range(0, rows, GROUP):
        count = min(GROUP, rows - first)
        values = rng.normal(0, 0.05, (count, width))
        values += rng.normal(size=(count, 4)) @ loadings
        values += 0.5
        yield np.clip(values, 0, 1, out=values)


def finished(path, make):
    """A file under its name only when it is complete."""
    if not path.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        print(f"making {path}", file=sys.stderr, flush=True)
        part = path.with_name(path.name + ".part")
        make(part)
        part.rename(path)
    return path


def parquet(rows, width):
    def make(part):
        names = [f"x{j}" for j in range(width)]
        schema = pyarrow.schema([(name, pyarrow.float64()) for name in names])
        with pyarrow.parquet.ParquetWriter(part, schema) as writer:
            for block in blocks(rows, width):
                columns = [pyarrow.array(column) for column in np.ascontiguousarray(block.T)]
                writer.write_table(pyarrow.table(columns, schema=schema), row_group_size=GROUP)

    return finished(FOLDER / f"{rows}x{width}.parquet", make)


def csv(rows, width):
    """Six decimals, as measurements have them."""

    def make(part):
        with open(part, "wb") as file:
            for number, block in enumerate(blocks(rows, width)):
                frame = polars.from_numpy(block.round(6), schema=[f"x{j}" for j in range(width)])
                frame.write_csv(file, include_header=number == 0)

    return finished(FOLDER / f"{rows}x{width}.csv", make)


def schema(width):
    def make(part):
        column = '[[column]]\nname = "x{}"\nkind = "continuous"\nmin = 0.0\nmax = 1.0\n\n'
        part.write_text('[dataset]\nname = "bench"\n\n' + "".join(column.format(j) for j in range(width)))

    return finished(FOLDER / f"named-{width}.toml", make)


def model(width):
    """A model to draw from."""

    def make(part):
        fit(parquet(100_000, width), width, output=part)

    return finished(FOLDER / f"{width}.sunprint", make)


# Starts a program and tells what it took. A process begins with the peak memory of the one that it was started from,
# so that must be a small one.
LAUNCH = """
import json, os, subprocess, sys, time
cores, *command = json.loads(sys.argv[1])
if cores:
    os.sched_setaffinity(0, cores)
start = time.perf_counter()
child = subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ | {"SUNPRINT_LEDGER": "none"})
text = child.stdout.read().decode()
_, status, usage = os.wait4(child.pid, 0)
wall = time.perf_counter() - start
# Kilobytes on Linux, bytes on macOS.
peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6
code = os.waitstatus_to_exitcode(status)
print(json.dumps({"wall": wall, "cpu": usage.ru_utime + usage.ru_stime, "peak": peak, "text": text, "code": code}))
"""


class Run:
    """A program that has ended: wall seconds, processor seconds, peak memory in MB, and what it printed."""

    def __init__(self, command, cores=None):
        words = [str(word) for word in command]
        asked = json.dumps([cores, *words])
        found = json.loads(subprocess.check_output([sys.executable, "-I", "-S", "-c", LAUNCH, asked]))
        if found["code"] != 0:
            raise SystemExit(f"error: this ended with code {found['code']}: {' '.join(words)}")
        self.wall, self.cpu, self.peak, self.text = (found[key] for key in ("wall", "cpu", "peak", "text"))

    def json(self):
        return json.loads(self.text)


def fit(table, width, *options, output=None, **run):
    output = output or FOLDER / "timed.sunprint"
    words = ["fit", table, "--schema", schema(width), "--epsilon", "1", "--output", output, "--force", "--quiet", *options]
    return Run([SUNPRINT, *words], **run)


def sample(width, rows, extension):
    output = FOLDER / f"drawn.{extension}"
    words = ["sample", model(width), "--rows", rows, "--seed", "7", "--output", output, "--force", "--quiet"]
    try:
        return Run([SUNPRINT, *words])
    finally:
        output.unlink(missing_ok=True)


def run(prog, description, parts, runs, begin):
    """The command line of a bench: `begin` prints its heading, and each part that is wanted prints its own figures."""
    parser = argparse.ArgumentParser(prog=prog, description=description)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--only", choices=list(parts), action="append", help="only this; may be given several times")
    parser.add_argument("--runs", type=int, default=runs, help="how many runs the medians are of")
    options = parser.parse_args()
    options.scale = 10 if options.quick else 1
    begin(options)
    for name, part in parts.items():
        if not options.only or name in options.only:
            part(options)
