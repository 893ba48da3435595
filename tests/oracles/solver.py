"""Sunprint's solvers, asked through `sunprint-measure solve`: a problem in a line, an answer in a line."""

import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "release" / "sunprint-measure"

# Lists longer than this are handed over in files.
LONG = 10_000


class Solver:
    """A running solver. With one_thread it is kept on one processor, so that it starts no further threads."""

    def __init__(self, one_thread=False):
        self.folder = tempfile.TemporaryDirectory(prefix="sunprint-solve-")
        self.process = subprocess.Popen([PROGRAM, "solve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if one_thread and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(self.process.pid, {max(os.sched_getaffinity(0))})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.folder.cleanup()

    def say(self, line):
        """The answer to a line, whatever it is."""
        print(line, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        assert answer, "the solver gave up instead of answering"
        return json.loads(answer)

    def ask(self, problem, **fields):
        fields = {name: self._written(name, value) for name, value in fields.items()}
        return self.say(json.dumps({"problem": problem, **fields}))

    def transport(self, a, b, metric, weights_a=None, weights_b=None, **more):
        more = {"weights_a": weights_a, "weights_b": weights_b, "metric": metric, **more}
        return self.ask("transport", a=a, b=b, **more)

    def flow(self, supplies, arcs, **more):
        """Arcs are (from, to, cost, capacity or None)."""
        return self.ask("flow", supplies=supplies, arcs=arcs, **more)

    def lattice(self, shape, metric, supplies, total, **more):
        return self.ask("lattice", shape=shape, metric=metric, supplies=supplies, total=int(total), **more)

    def _written(self, name, value):
        if isinstance(value, tuple):
            return list(value)
        if not isinstance(value, np.ndarray):
            return value
        # JSON knows neither infinities nor the width of no points; files do.
        if 0 < value.size <= LONG and np.isfinite(value).all():
            return value.tolist()
        path = str(pathlib.Path(self.folder.name) / name)
        value.astype("<f8" if value.dtype.kind == "f" else "<i8").tofile(path)
        return {"file": path, "width": value.shape[1]} if value.ndim == 2 else path
