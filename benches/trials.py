"""Fits and draws by the command line, on one split of a table, and everything that is measured of them."""

import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import time

import numpy as np

import datasets
import figures

METRICS = ("l2", "linf")

# W1 is between so many rows a side, or half of the rows where there are fewer, and so many draws of them.
ROWS, DRAWS = 1_500, 3


class Refused(Exception):
    """A sentence of the program, or about a table that it was to be compared with."""


def say(words):
    print(words, file=sys.stderr, flush=True)


class Trial:
    """One split of a table, in a folder of its own: what is fitted, and what the results are compared with."""

    def __init__(self, dataset, seed, options):
        self.dataset, self.seed, self.options = dataset, seed, options
        self.training, self.held_out = dataset.split(seed)
        self.folder = tempfile.TemporaryDirectory(prefix="sunprint-accuracy-")
        self.place = pathlib.Path(self.folder.name)
        self.table, self.schema = self.place / f"training.{dataset.form}", self.place / "schema.toml"
        datasets.write(self.training, self.table)
        self.schema.write_text(dataset.text)
        self.real = figures.Numbers(self.training, dataset.columns)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def baseline(self):
        """The real rows themselves: two halves of them against each other, and what can be learnt from them."""
        order = np.random.default_rng(self.seed).permutation(len(self.training))
        halves = [self.training[part] for part in np.array_split(order, 2)]
        found = figures.compared(*(figures.Numbers(half, self.dataset.columns) for half in halves))
        cache, cores = self.options.cache, self.options.cores
        sides = (self.dataset, self.training, self.held_out, self.options.learners, self.seed)
        return found | figures.learnt_from_real(*sides, cache, cores)

    def ask(self, *words):
        """What the program prints. Its refusals do not stop the others."""
        command = [str(word) for word in (self.options.program, *words, "--quiet")]
        settings = {"SUNPRINT_THREADS": str(self.options.cores), "SUNPRINT_LEDGER": "none"}
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | settings)
        if done.returncode != 0:
            told = done.stderr.strip().splitlines() or [f"ended with code {done.returncode}"]
            raise Refused(told[0].removeprefix("error: ").replace(f"{self.place}{os.sep}", ""))
        return done.stdout

    def synthesise(self, method, epsilon, table=None, schema=None):
        """The path of as many synthetic rows as there are training rows, and the seconds of the fit."""
        model, output = self.place / "model.sunprint", self.place / "synthetic.csv"
        start = time.perf_counter()
        places = (table or self.table, "--schema", schema or self.schema, "--output", model, "--force")
        self.ask("fit", *places, "--epsilon", f"{epsilon:g}", *shlex.split(method))
        seconds = time.perf_counter() - start
        self.ask("sample", model, "--seed", self.seed + 1, "--output", output, "--force")
        return output, seconds

    def distances(self, synthetic, table=None, schema=None, metrics=METRICS):
        """W1 with its floor and ceiling, in each metric."""
        found, rows = {}, max(1, min(ROWS, len(self.training) // 2))
        how = ("--rows", rows, "--draws", DRAWS, "--seed", self.seed + 1, "--json")
        for metric in metrics:
            sides = (table or self.table, synthetic, "--schema", schema or self.schema)
            told = json.loads(self.ask("evaluate", *sides, "--metric", metric, *how))["distances"]
            for name, key in (("w1", "synthetic"), ("floor", "floor"), ("ceiling", "ceiling")):
                # A table of one row has no floor.
                found[f"{name}_{metric}"] = told[key]["w1"] if told[key] else None
        return found

    def measure(self, path):
        """Everything about a synthetic table. Where the program cannot compare, the rest is measured all the same."""
        try:
            frame = datasets.read_synthetic(path, self.dataset.columns)
        except (OSError, ValueError) as error:
            raise Refused(str(error)) from error
        found, remark = figures.compared(self.real, figures.Numbers(frame, self.dataset.columns)), None
        sides = (frame, self.held_out, self.options.learners, self.seed, self.options.cores)
        found |= figures.learnt(self.dataset, *sides)
        try:
            found |= self.distances(path)
        except Refused as refusal:
            remark = str(refusal)
        return found, remark

    def run(self, epsilon, name, make):
        """One result: its figures, or the sentence of a refusal. `make` gives the synthetic table and seconds."""
        about = {"table": self.dataset.name, "epsilon": epsilon, "method": name, "seed": self.seed}
        start = time.perf_counter()
        try:
            path, seconds = make()
            found, remark = self.measure(path)
            result = about | {"figures": found | ({"fit_seconds": seconds} if seconds is not None else {})}
            if remark:
                result["remark"] = remark
            told = f"W1 {found['w1_l2']:.3f}" if "w1_l2" in found else f"no W1: {remark}"
        except Refused as refusal:
            result = about | {"refused": str(refusal)}
            told = f"refused: {refusal}"
        took = time.perf_counter() - start
        say(f"{self.dataset.name}, ε = {epsilon:g}, {name}, seed {self.seed}: {told}, {took:.1f} s")
        return result

    def every(self):
        """The real rows, then each method and each rival at each ε."""
        start, options = time.perf_counter(), self.options
        about = {"table": self.dataset.name, "epsilon": None, "method": "real", "seed": self.seed}
        found = [about | {"rows": len(self.training), "figures": self.baseline()}]
        say(f"{self.dataset.name}, real rows, seed {self.seed}: {time.perf_counter() - start:.1f} s")
        for epsilon in options.epsilons:
            for name, words in options.methods.items():
                found.append(self.run(epsilon, name, lambda: self.synthesise(words, epsilon)))
            for name, path in rivals(options.rivals, self.dataset.name, epsilon, self.seed):
                found.append(self.run(epsilon, name, lambda: (path, None)))
        return found


def rivals(folder, table, epsilon, seed):
    """Files FOLDER/METHOD/TABLE/epsilon=E/seed=S.csv of one table, ε and seed."""
    for path in sorted(folder.glob(f"*/{table}/epsilon=*/seed={seed}.csv")) if folder else []:
        if float(path.parent.name.removeprefix("epsilon=")) == epsilon:
            yield path.parents[2].name, path
