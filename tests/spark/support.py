"""What the tests have in common: one cluster, a table with columns of every type, and its schema."""

from __future__ import annotations

import datetime
import decimal
import tempfile
import traceback
import unittest
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from cluster import Cluster

import sunprint
from sunprint import _native
from sunprint.spark import _fit

ROWS = 3000
#: A value that must never be seen in a message.
CANARY = "kestrel-7f3a"
KEY = bytes(range(32))
KEYS = _fit.Keys(KEY, bytes(range(100, 132)))

_cluster: Cluster | None = None


def cluster() -> Cluster:
    """The one cluster of all tests. It is stopped when Python ends."""
    global _cluster
    if _cluster is None:
        _cluster = Cluster()
    return _cluster


def schema(name: str = "people") -> sunprint.Schema:
    """Every kind of column; every type of Spark is in the table."""
    return sunprint.Schema.build(
        name,
        sunprint.integer("age", 0, 120),
        sunprint.integer("floor", -5, 100, missing="allow"),
        sunprint.integer("visits", 0, 1000),
        sunprint.integer("number", 0, 10**12),
        sunprint.continuous("weight", 0, 250, missing="allow"),
        sunprint.continuous("height", 0, 2.5),
        sunprint.continuous("price", 0, 10_000, decimals=2),
        sunprint.categorical("smokes", ["no", "yes"], role="label"),
        sunprint.categorical("town", ["north", "south", "west"], missing="allow"),
        sunprint.boolean("insured"),
        sunprint.date("born", "1920-01-01", "2020-12-31"),
        sunprint.moment("seen", "2020-01-01T00:00:00", "2020-12-31T23:59:59", missing="allow"),
        sunprint.moment("local", "2020-01-01T00:00:00", "2020-12-31T23:59:59"),
    )


def table(rows: int = ROWS) -> pa.Table:
    """The same rows for every test."""
    random = np.random.default_rng(21)
    absent = random.random(rows) < 0.1
    start = np.datetime64("2020-01-01T00:00:00", "us")
    moments = start + random.integers(0, 365 * 86_400, rows).astype("m8[s]")
    prices = [decimal.Decimal(int(cents)).scaleb(-2) for cents in random.integers(0, 1_000_000, rows)]
    days = [datetime.date(1920, 1, 1) + datetime.timedelta(int(day)) for day in random.integers(0, 36_000, rows)]
    return pa.table(
        {
            "age": pa.array(random.integers(18, 90, rows), pa.int8()),
            "floor": pa.array(random.integers(-2, 30, rows), pa.int16(), mask=absent),
            "visits": pa.array(random.integers(0, 900, rows), pa.int32()),
            "number": pa.array(random.integers(0, 10**12, rows), pa.int64()),
            "weight": pa.array(random.normal(70, 12, rows), pa.float64(), mask=np.roll(absent, 1)),
            "height": pa.array(random.normal(1.7, 0.1, rows), pa.float32()),
            "price": pa.array(prices, pa.decimal128(10, 2)),
            "smokes": pa.array(random.choice(["no", "yes"], rows, p=[0.7, 0.3])),
            "town": pa.array(random.choice(["north", "south", "west"], rows), mask=np.roll(absent, 2)),
            "insured": pa.array(random.random(rows) < 0.8),
            "born": pa.array(days, pa.date32()),
            "seen": pa.array(moments, pa.timestamp("us", "UTC"), mask=np.roll(absent, 3)),
            "local": pa.array(np.roll(moments, 5), pa.timestamp("us")),
        }
    )


def passes(known: sunprint.Schema, rows: pa.Table, method: str = "default") -> list[tuple[Any, bytes, bytes]]:
    """Every pass of a fit on one machine, with its tally and its fingerprint in the clear."""
    fit = sunprint.Fit(known, rows=rows.num_rows, epsilon=1, method=method, ledger="none")
    found = []
    while (what := fit.next_pass()) is not None:
        tally, mark = _native.tally_marked(what, rows, KEY)
        found.append((what, tally.to_secret_bytes(), mark))
        fit.absorb(tally)
    return found


def words_of(error: BaseException) -> str:
    """Everything that an exception could show to somebody, and all that hangs on it."""
    found = ["".join(traceback.format_exception(error)), repr(error), str(error), repr(error.args)]
    for other in (error.__cause__, error.__context__):
        if other is not None:
            found.append(words_of(other))
    return "\n".join(found)


class OnCluster(unittest.TestCase):
    """A test with a folder of its own, which executors see too, and a session that the tests of its class share."""

    conf: dict[str, str] = {}
    spark: Any

    @classmethod
    def setUpClass(cls) -> None:
        cls.spark = cluster().session(**cls.conf)

    @classmethod
    def tearDownClass(cls) -> None:
        cluster().stop_session()

    def setUp(self) -> None:
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = Path(held.name)

    def frame(self, rows: pa.Table | None = None, files: int = 3) -> Any:
        """A DataFrame of these rows, from some Parquet files: a source that can be read again."""
        rows = table() if rows is None else rows
        place = Path(tempfile.mkdtemp(dir=self.folder))
        edges = [rows.num_rows * number // files for number in range(files + 1)]
        for number, (first, last) in enumerate(zip(edges, edges[1:], strict=False)):
            pq.write_table(rows.slice(first, last - first), place / f"{number}.parquet")
        return self.spark.read.parquet(str(place))
