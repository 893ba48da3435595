"""No value makes a fit fail: whatever stands in a cell goes through the door by the schema's rule."""

from __future__ import annotations

import datetime as dt
import decimal
import fractions
import random
import unittest
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

import sunprint
from support import pandas_frame, polars_frame, quiet, tallies

KNOWN = sunprint.Schema.build(
    "cells",
    sunprint.continuous("real", 0, 10, missing="allow"),
    sunprint.integer("whole", 0, 10, missing="allow"),
    sunprint.boolean("truth", missing="allow"),
    sunprint.categorical("word", ["7", "yes", "x"], missing="allow", other="x"),
    sunprint.moment("moment", "2020-01-01T00:00:00", "2020-12-31T23:59:59", missing="allow"),
)

#: What a cell says: a real number, a truth value, a text, a moment in seconds, or nothing.
NOTHING, UNREADABLE = object(), object()
NOON = dt.datetime(2020, 6, 1, 12, 0, 0)
DAY = dt.datetime(2020, 6, 1)


class Hostile:
    """Raises whatever it is asked."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError("a private value")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("a private value")

    def __float__(self) -> float:
        raise RuntimeError("a private value")

    def __bool__(self) -> bool:
        raise RuntimeError("a private value")

    __repr__ = __str__ = __hash__ = __int__ = __index__ = __float__  # type: ignore[assignment]


class Timeless(dt.tzinfo):
    """A time zone that fails."""

    def utcoffset(self, moment: object) -> Any:
        raise RuntimeError("a private value")


def objects() -> list[tuple[Any, Any]]:
    """Python objects, and the plain value that each must count as."""
    return [
        (7, 7),
        (7.0, 7),
        (True, True),
        (False, False),
        ("7", "7"),
        ("yes", "yes"),
        (2**63, float("inf")),
        (-(10**400), float("-inf")),
        (float("inf"), float("inf")),
        (None, NOTHING),
        (float("nan"), NOTHING),
        (np.float32("nan"), NOTHING),
        (np.float16("nan"), NOTHING),
        (np.longdouble("nan"), NOTHING),
        (decimal.Decimal("nan"), NOTHING),
        (decimal.Decimal("snan"), NOTHING),
        (np.datetime64("NaT"), NOTHING),
        (pd.NA, NOTHING),
        (pd.NaT, NOTHING),
        (np.ma.masked, NOTHING),
        (np.int8(7), 7),
        (np.uint64(7), 7),
        (np.uint64(2**64 - 1), float("inf")),
        (np.float32(7), 7),
        (np.float64(7), 7),
        (np.longdouble(7), 7),
        (np.bool_(True), True),
        (np.str_("yes"), "yes"),
        (decimal.Decimal("7.00"), 7),
        (decimal.Decimal("1e999999"), float("inf")),
        (decimal.Decimal("-1e999999"), float("-inf")),
        (fractions.Fraction(14, 2), 7),
        (fractions.Fraction(10**400), float("inf")),
        (NOON, NOON),
        (DAY.date(), DAY),
        (NOON.replace(tzinfo=dt.timezone.utc), NOON),
        (NOON.replace(hour=14, tzinfo=dt.timezone(dt.timedelta(hours=2))), NOON),
        (NOON.replace(tzinfo=Timeless()), UNREADABLE),
        (pd.Timestamp(NOON), NOON),
        (pd.Timestamp(NOON, tz="UTC").tz_convert("Europe/Berlin"), NOON),
        (np.datetime64(NOON, "ns"), NOON),
        (np.datetime64("2020-06-01", "D"), DAY),
        ("\ud800", UNREADABLE),
        ("ye\udcffs", UNREADABLE),
        (b"yes", UNREADABLE),
        (bytearray(b"7"), UNREADABLE),
        (np.bytes_(b"yes"), UNREADABLE),
        (7j, UNREADABLE),
        (np.complex64(7), UNREADABLE),
        (dt.time(7), UNREADABLE),
        (dt.timedelta(seconds=7), UNREADABLE),
        (np.timedelta64(7, "ns"), UNREADABLE),
        (pd.Timedelta(7), UNREADABLE),
        (pd.Interval(0, 7), UNREADABLE),
        (pd.Period("2020-06"), UNREADABLE),
        ([7], UNREADABLE),
        ([[7], ["yes", None]], UNREADABLE),
        ((7,), UNREADABLE),
        ({"yes": 7}, UNREADABLE),
        ({7}, UNREADABLE),
        (np.array(7), UNREADABLE),
        (np.array([7, 8]), UNREADABLE),
        (pd.Series([7]), UNREADABLE),
        (pd.DataFrame({"a": [7]}), UNREADABLE),
        (pl.Series([7]), UNREADABLE),
        (object(), UNREADABLE),
        (int, UNREADABLE),
        (..., UNREADABLE),
        (NotImplemented, UNREADABLE),
        (Hostile(), UNREADABLE),
        (lambda: 7, UNREADABLE),
    ]


def plain(said: Any) -> pl.DataFrame:
    """A row with the same value in every column, each of which has a type that holds it."""
    unread = said is UNREADABLE
    real = None if unread or isinstance(said, str | dt.datetime) or said is NOTHING else float(said)
    if said == "7":
        real = 7.0
    word = "?" if unread else None if said is NOTHING else said if isinstance(said, str) else None
    if isinstance(said, bool):
        word, truth = "yes" if said else "?", said
    else:
        truth = True if said == "yes" else None
        if not isinstance(said, str) and not unread and said is not NOTHING:
            word = "7" if said == 7 else "?"
    return pl.DataFrame(
        {
            "real": [real],
            "whole": [None if real is None else max(min(real, 11), -1)],
            "truth": [truth],
            "word": [word],
            "moment": [said if isinstance(said, dt.datetime) else None],
        },
        schema={"real": pl.Float64, "whole": pl.Float64, "truth": pl.Boolean, "word": pl.String, "moment": pl.Datetime("us")},
    )


def column(values: list[Any]) -> np.ndarray[Any, Any]:
    """Objects as they are: numpy would look into lists."""
    array = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        array[i] = value
    return array


def of_objects(values: list[Any]) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(column(values), dtype=object) for name in KNOWN.columns})


class Cells(unittest.TestCase):
    def test_every_object_is_taken_for_what_it_is(self) -> None:
        for value, said in objects():
            with self.subTest(type=type(value).__name__):
                self.assertEqual(tallies(of_objects([value]), KNOWN), tallies(plain(said), KNOWN))
        # The control: these are not all the same.
        told = {tuple(tallies(plain(said), KNOWN)) for said in (7, True, "yes", NOTHING, UNREADABLE, NOON, float("inf"))}
        self.assertEqual(len(told), 7)

    def test_all_of_them_in_one_column_of_every_kind_of_frame(self) -> None:
        values = [value for value, _ in objects()]
        expected = tallies(pl.concat([plain(said) for _, said in objects()]), KNOWN)
        frame = of_objects(values)
        matrix = np.stack([column(values)] * len(KNOWN.columns), axis=1)
        named = np.zeros(len(values), dtype=[(name, object) for name in KNOWN.columns])
        for name in KNOWN.columns:
            named[name] = column(values)
        polars = pl.DataFrame([pl.Series(name, values, dtype=pl.Object) for name in KNOWN.columns])
        half = len(values) // 2
        tables: dict[str, Any] = {
            "pandas": frame,
            "matrix": matrix,
            "structured": named,
            "masked": np.ma.MaskedArray(matrix),
            "polars": polars,
            "lazy": polars.lazy(),
            "chunks": lambda: [frame[:half], matrix[half : half + 9], polars[half + 9 :]],
        }
        for name, table in tables.items():
            with self.subTest(table=name):
                self.assertEqual(tallies(table() if callable(table) else table, KNOWN), expected)

    def test_polars_objects_beside_other_columns(self) -> None:
        frame = polars_frame()
        with_objects = frame.with_columns(pl.Series("town", frame["town"].to_list(), dtype=pl.Object))
        self.assertEqual(tallies(with_objects), tallies(frame))
        drawn = quiet().fit(with_objects).sample(5)
        self.assertEqual(drawn.schema["town"], pl.String)

    def test_what_is_drawn_does_not_depend_on_an_object(self) -> None:
        plain_frame, odd = pandas_frame().astype({"town": object, "age": object, "seen": object}), None
        odd = plain_frame.copy()
        odd.at[5, "town"], odd.at[6, "town"], odd.at[7, "age"], odd.at[8, "seen"] = 5, [1], "x", b"y"
        layouts = []
        for frame in (plain_frame, odd):
            model = quiet().fit(frame).model_
            drawn = model.sample(20, to="pyarrow")
            layouts.append([str(kind) for kind in drawn.schema.types])
            pandas = model.sample(20)
            self.assertEqual([str(kind) for kind in pandas.dtypes], [str(kind) for kind in frame.dtypes])
            self.assertIsInstance(pandas["age"][0], int)
        self.assertEqual(*layouts)


class Categories(unittest.TestCase):
    def test_categories_of_mixed_types(self) -> None:
        values = ["yes", 7, 7.5, True, b"yes", (7,), dt.date(2020, 6, 1), "\ud800", "ye\udcffs", None, "7"]
        frame = of_objects(values)
        expected = tallies(frame, KNOWN)
        mixed = frame.assign(word=pd.Categorical(values, categories=[value for value in values if value is not None]))
        self.assertEqual(tallies(mixed, KNOWN), expected)
        drawn = [
            sunprint.Synthesizer(KNOWN, epsilon=1, ledger="none").fit(table).sample(9, to="pyarrow").schema.types
            for table in (mixed, frame.assign(word=pd.Categorical(["yes"] * len(values))))
        ]
        self.assertEqual(*drawn)

    def test_categories_of_numbers_dates_and_missing_ones(self) -> None:
        for values, kind, listed in [
            ([7, 8, None], "Int64", ["7", "8"]),
            ([7.0, 8.5, None], "float64", ["8.5", "7"]),
            ([True, False, None], "boolean", ["true", "false"]),
        ]:
            with self.subTest(kind=kind):
                known = sunprint.Schema.build("c", sunprint.categorical("c", listed, missing="allow"))
                frame = pd.DataFrame({"c": pd.Series(values, dtype=kind)})
                categories = pd.DataFrame({"c": pd.Categorical(pd.Series(values, dtype=object))})
                objects_of = frame.astype(object)
                self.assertEqual(tallies(categories, known), tallies(frame, known))
                self.assertEqual(tallies(objects_of, known), tallies(frame, known))
                # The control: what is missing is no category.
                self.assertNotEqual(tallies(frame.fillna(values[0]), known), tallies(frame, known))
        moments = pd.Series([NOON, None, DAY])
        for zone in (None, "UTC"):
            stamps = moments if zone is None else moments.dt.tz_localize(zone)
            frame = of_objects([7, 8, None]).assign(moment=stamps)
            self.assertEqual(tallies(frame.assign(moment=stamps.astype("category")), KNOWN), tallies(frame, KNOWN))
        empty = of_objects([7, 8]).assign(word=pd.Categorical([None, None]))
        self.assertEqual(tallies(empty, KNOWN), tallies(of_objects([7, 8]).assign(word=None), KNOWN))


def anything(chance: random.Random, depth: int = 0) -> Any:
    """A random Python object."""
    choice = chance.randrange(16 if depth < 3 else 12)
    number = chance.choice([0, 1, -1, chance.randint(-(10**9), 10**9), chance.randint(-(10**30), 10**30), 10**400])
    text = "".join(chr(chance.choice([chance.randrange(32, 127), chance.randrange(0x110000)])) for _ in range(chance.randrange(6)))
    simple: list[Callable[[], Any]] = [
        lambda: None,
        lambda: number,
        lambda: chance.random() * 10.0 ** chance.randint(-320, 300),
        lambda: chance.choice([float("nan"), float("inf"), -0.0, True, False]),
        lambda: text,
        lambda: text.encode("utf-8", "surrogatepass"),
        lambda: decimal.Decimal(chance.choice(["NaN", "sNaN", "-Infinity", "1e500", "0.1", str(number)])),
        lambda: dt.datetime.min + dt.timedelta(seconds=chance.randrange(3 * 10**11)),
        lambda: chance.choice([pd.NA, pd.NaT, np.datetime64("NaT"), np.timedelta64(5, "D"), np.ma.masked]),
        lambda: np.array([number % 100]).astype(chance.choice(list("bBhHiIlLefdg?"))).flat[0],
        lambda: np.datetime64(chance.randint(-(2**62), 2**62), chance.choice(["Y", "D", "s", "ms", "ns", "as"])),
        lambda: chance.choice([Hostile(), object(), int, ..., len, pd.Timestamp.max, dt.date.max, dt.time.max]),
        lambda: [anything(chance, depth + 1) for _ in range(chance.randrange(3))],
        lambda: tuple(anything(chance, depth + 1) for _ in range(chance.randrange(3))),
        lambda: {"a": anything(chance, depth + 1)},
        lambda: column([anything(chance, depth + 1) for _ in range(chance.randrange(3))]),
    ]
    return simple[choice]()


class Anything(unittest.TestCase):
    def test_no_object_makes_a_tally_fail(self) -> None:
        """Random objects in columns of every kind, whole and in chunks; the number of rows is what it was."""
        chance = random.Random(19)
        what = sunprint.Fit(KNOWN, epsilon=1, rows=1, ledger="none").next_pass()
        assert what is not None
        for _ in range(300):
            rows = chance.randrange(1, 40)
            values = {name: [anything(chance) for _ in range(rows)] for name in KNOWN.columns}
            frame = pd.DataFrame({name: pd.Series(column(some), dtype=object) for name, some in values.items()})
            # polars itself asks the first object what it is, and some do not bear it.
            polars = pl.DataFrame([pl.Series(name, ["", *some], dtype=pl.Object)[1:] for name, some in values.items()])
            whole = sunprint.tally(what, frame)
            self.assertEqual(whole.rows, rows)
            cut = chance.randrange(rows + 1)
            parts = [frame[:cut], polars[cut:]]
            for table in (polars, parts, frame.to_numpy()):
                self.assertEqual(sunprint.tally(what, table).to_secret_bytes(), whole.to_secret_bytes())


if __name__ == "__main__":
    unittest.main()
