"""The Python package beside the command line: fits of frames in memory, what they need, and how soon one is there.

Each fit of a frame is in a process of its own, which times the fit alone: the frame is there already, as it is where people
have one. The command line is timed from its start to the model on the disk, on the same rows as a Parquet file.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import tables
from tables import median

# Loads a frame, forgets the peak of loading, fits it, and tells what the fit took.
FIT = """
import ctypes, json, os, sys, time
import polars, sunprint

def kilobytes(what):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(what))

kind, path, schema, epsilon, delta = json.loads(sys.argv[1])
frame = polars.read_parquet(path)
if kind == "pandas":
    import pandas
    frame = pandas.DataFrame({name: frame[name].to_numpy() for name in frame.columns})
synthesizer = sunprint.Synthesizer(schema, epsilon=epsilon, delta=delta, ledger="none")
# What loading left behind goes back to the system first, or the fit would seem to need less. It is the first fit of the
# process: the library's own code comes into memory with it, and counts.
ctypes.CDLL(None).malloc_trim(0)
open("/proc/self/clear_refs", "w").write("5")
before, usage, start = kilobytes("VmRSS:"), os.times(), time.perf_counter()
synthesizer.fit(frame)
wall, used, peak = time.perf_counter() - start, os.times(), kilobytes("VmHWM:")
drawn = time.perf_counter()
synthesizer.sample(seed=7)
print(json.dumps({
    "wall": wall,
    "cpu": used.user + used.system - usage.user - usage.system,
    "extra": (peak - before) * 1024,
    "values": frame.shape[0] * frame.shape[1],
    "drawing": time.perf_counter() - drawn,
}))
"""

# docs/python.md's five lines, on a file.
README = """
import sunprint

synthesizer = sunprint.Synthesizer("people.toml", epsilon=1, ledger="none").fit("people.csv")
synthesizer.model_.write("synthetic.csv", 100_000, seed=7)
synthesizer.save("people.sunprint")
print(synthesizer.receipt_)
"""

# CPU seconds of the methods by marginals on 10,000 rows of 50 columns at epsilon 1, as measured elsewhere, on another
# machine with two cores: one run each.
ELSEWHERE = {"SmartNoise MST": 398, "dpsynth MST": 241}


def row(what, ours, reference, ratio, bar):
    print(f"| {what} | {ours} | {reference} | {ratio} | {bar} |", flush=True)


def fit(kind, table, width, delta=None):
    asked = json.dumps([kind, str(table), str(tables.schema(width)), 1, delta])
    return json.loads(tables.Run([sys.executable, "-c", FIT, asked]).text)


def frames(options):
    rows = 1_000_000 // options.scale
    table = tables.parquet(rows, 50)
    tables.fit(table, 50)
    turns = [(fit("polars", table, 50), tables.fit(table, 50), fit("pandas", table, 50)) for _ in range(options.runs)]
    theirs = median(run.wall for _, run, _ in turns)
    for kind, ours in (("polars", [turn[0] for turn in turns]), ("pandas", [turn[2] for turn in turns])):
        mine = median(run["wall"] for run in ours)
        cpu = median(run["cpu"] for run in ours) / median(run.cpu for _, run, _ in turns)
        what = f"fit of a {kind} frame {rows:,} x 50, the command line's fit of the same Parquet file"
        row(what, f"{mine:.2f} s", f"{theirs:.2f} s", f"{mine / theirs:.2f} ({cpu:.2f} of processors)", "at most 1.1")
        extra = max(run["extra"] / run["values"] for run in ours)
        row(f"memory of that fit beside the {kind} frame", f"{extra:.2f} bytes a value", "", "", "at most 2.5")


def installation(options):
    folder = (tables.FOLDER / "fresh").resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    lines = ["age,weight", *(f"{20 + i * 7 % 60},{50 + i * 13 % 70}" for i in range(1000))]
    (folder / "people.csv").write_text("\n".join(lines) + "\n")
    column = '[[column]]\nname = "{}"\nkind = "integer"\nmin = 0\nmax = {}\n'
    (folder / "people.toml").write_text(column.format("age", 120) + column.format("weight", 250))
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    python = folder / "venv" / "bin" / "python"
    (wheel,) = (tables.TARGET / "wheels").glob("sunprint-*.whl")
    start = time.perf_counter()
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-index", wheel.resolve()], check=True)
    installed = time.perf_counter() - start
    subprocess.run([python, "-c", README], check=True, cwd=folder, stdout=subprocess.DEVNULL)
    took = time.perf_counter() - start
    size = wheel.stat().st_size / 1e6
    row("`pip install` into an empty environment", f"{installed:.1f} s", f"{size:.1f} MB", "", "below 15 MB")
    row("the same and the example of the documentation", f"{took:.1f} s", "", "", "below 10 s")
    shutil.rmtree(folder)


def marginals(options):
    table = tables.parquet(10_000, 50)
    runs = [fit("polars", table, 50) for _ in range(options.runs)]
    cpu = median(run["cpu"] for run in runs)
    for name, seconds in ELSEWHERE.items():
        what = f"fit of 10,000 x 50, {name} as measured elsewhere"
        row(what, f"{cpu:.2f} s of processors", f"{seconds} s of processors", f"{seconds / cpu:,.0f} times faster", "")


PARTS = {"frames": frames, "installation": installation, "marginals": marginals}


def begin(options):
    os.environ["SUNPRINT_LEDGER"] = "none"
    # The allocator of polars gives freed memory back at once, so that what it held does not count as the frame's.
    os.environ["_RJEM_MALLOC_CONF"] = "dirty_decay_ms:0,muzzy_decay_ms:0"
    print(f"{len(os.sched_getaffinity(0))} cores, medians of {options.runs} runs, by turns\n")
    print("| what, and beside it | Sunprint for Python | reference | ratio | bar |\n|---|---|---|---|---|")


if __name__ == "__main__":
    assert pathlib.Path("/proc/self/clear_refs").exists(), "peaks of memory are read as Linux tells them"
    tables.run("bench python", __doc__, PARTS, 5, begin)
