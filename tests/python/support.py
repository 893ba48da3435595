"""What the tests have in common: a table, its schema, and the command line."""

from __future__ import annotations

import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

import sunprint

ROOT = Path(__file__).resolve().parents[2]
CLI = ROOT / "target" / "release" / "sunprint"
ROWS = 3000

#: Values that must never be seen in a message.
CANARY = "kestrel-7f3a"
CANARY_NUMBER = 31.41592653


def schema() -> sunprint.Schema:
    """Numbers, categories, truths, moments, and values that may be missing."""
    return sunprint.Schema.build(
        "people",
        sunprint.integer("age", 0, 120),
        sunprint.continuous("weight", 0, 250, missing="allow"),
        sunprint.categorical("smokes", ["no", "yes"], role="label"),
        sunprint.categorical("town", ["north", "south", "west"]),
        sunprint.boolean("insured"),
        sunprint.moment("seen", "2020-01-01T00:00:00", "2020-12-31T23:59:59"),
    )


def columns(rows: int = ROWS) -> dict[str, Any]:
    """The same table for every test."""
    random = np.random.default_rng(20)
    weight = np.round(random.normal(70, 12, rows), 1)
    weight[::17] = np.nan
    seconds = random.integers(0, 365 * 86_400, rows)
    return {
        "age": random.integers(18, 90, rows),
        "weight": weight,
        "smokes": random.choice(["no", "yes"], rows, p=[0.7, 0.3]),
        "town": random.choice(["north", "south", "west"], rows),
        "insured": random.random(rows) < 0.8,
        "seen": np.datetime64("2020-01-01T00:00:00", "us") + seconds.astype("m8[s]"),
    }


def polars_frame(rows: int = ROWS) -> pl.DataFrame:
    return pl.DataFrame(columns(rows))


def pandas_frame(rows: int = ROWS) -> pd.DataFrame:
    return pd.DataFrame(columns(rows))


def quiet(**parameters: Any) -> sunprint.Synthesizer:
    """A synthesizer without a ledger."""
    return sunprint.Synthesizer(schema(), **{"epsilon": 1, "ledger": "none", **parameters})


def tallies(table: object, known: sunprint.Schema | None = None) -> list[bytes]:
    """The answer to the first pass of every method, in the clear: a fingerprint of all codes."""
    found = []
    for method in ("default", "paper"):
        fit = sunprint.Fit(known or schema(), epsilon=1, rows=1, method=method, ledger="none")
        what = fit.next_pass()
        assert what is not None
        found.append(counted(sunprint.tally(what, table)))
    return found


def counted(tally: sunprint.Tally) -> bytes:
    """What a tally counts: its bytes without the mark of its fit, which no other fit has, and without the checksum."""
    secret = tally.to_secret_bytes()
    return secret[:25] + secret[73:-8]


def cli(*words: str | Path, ledger: str | Path = "none") -> str:
    """What the command line says to these words."""
    command = [str(CLI), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={"SUNPRINT_LEDGER": str(ledger)})
    return done.stdout


class InFolder(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self) -> None:
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = Path(held.name)
