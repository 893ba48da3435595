"""What cannot be used is refused with one sentence and a hint, and nothing private is in it."""

from __future__ import annotations

import contextlib
import os
import tempfile
import traceback
import unittest
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import sunprint
from support import CANARY, CANARY_NUMBER, ROWS, InFolder, columns, pandas_frame, polars_frame, quiet, schema


def planted() -> pd.DataFrame:
    """A table with values that must not be seen."""
    frame = pandas_frame()
    frame["town"] = CANARY
    frame["weight"] = CANARY_NUMBER
    return frame


def broken_generator() -> Iterator[pl.DataFrame]:
    yield pl.from_pandas(planted())
    raise ValueError(f"cannot parse {CANARY} and {CANARY_NUMBER}")


def broken_reader() -> pa.RecordBatchReader:
    table = pa.Table.from_pandas(planted(), preserve_index=False)

    def batches() -> Iterator[pa.RecordBatch]:
        yield table.to_batches()[0]
        raise ValueError(f"cannot parse {CANARY} and {CANARY_NUMBER}")

    return pa.RecordBatchReader.from_batches(table.schema, batches())


class Liar:
    """Says that it speaks Arrow and then raises."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        raise ValueError(f"cannot convert {CANARY} and {CANARY_NUMBER}")


def beside(town: pa.Array) -> pa.Table:
    """A table with this column."""
    frame = planted()[: len(town)]
    table = pa.Table.from_pandas(frame, preserve_index=False)
    return table.set_column(table.schema.get_field_index("town"), "town", town)


def torn_texts(ends: list[int], kind: pa.DataType = pa.string()) -> pa.Table:
    """Texts whose ends are not where texts can end. pyarrow itself looks at the first and the last only."""
    width = "<i8" if kind == pa.large_string() else "<i4"
    buffers = [None, pa.py_buffer(np.array(ends, width).tobytes()), pa.py_buffer(b"abcde")]
    return beside(pa.Array.from_buffers(kind, len(ends) - 1, buffers))


def torn_keys() -> pa.Table:
    """Keys that stand for nothing."""
    keys = pa.array([0, 113, 0], pa.int8())
    return beside(pa.DictionaryArray.from_arrays(keys, pa.array(["north"]), safe=False))


def refused() -> dict[str, tuple[Any, str]]:
    """Tables, and what is said of them."""
    frame = planted()
    changed = [pl.from_pandas(frame), pl.from_pandas(frame).rename({"age": "years"})]
    shuffled = [pl.from_pandas(frame), pl.from_pandas(frame).select(reversed(frame.columns))]
    narrower = [frame, frame.drop(columns="age")]
    return {
        "a number": (7, "a table cannot be a `int`"),
        "a dict": ({"age": [CANARY]}, "a table cannot be a `dict`"),
        "bytes": (CANARY.encode(), "a table cannot be a `bytes`"),
        "an iterator of other things": ([CANARY_NUMBER], "a table cannot be a `float`"),
        "nothing": ([], "the iterator gives no batch"),
        "a missing column": (frame.drop(columns="age"), "column `age` of the schema is missing"),
        "an extra column": (frame.assign(**{CANARY: 1}), "column number 7 of the table is not in the schema"),
        "no known column": (pl.DataFrame({CANARY: [CANARY_NUMBER]}), "no column has a name of the schema"),
        "a column twice": (pd.concat([frame, frame[["age"]]], axis=1), "column `age` appears twice in the table"),
        "nested values": (
            pl.from_pandas(frame).with_columns(town=pl.lit([CANARY])),
            "column `town` of the table has type",
        ),
        "a struct": (
            pl.from_pandas(frame).with_columns(town=pl.struct(pl.lit(CANARY).alias("x"))),
            "column `town` of the table has type Struct",
        ),
        "intervals": (
            frame.assign(town=pd.Series(pd.timedelta_range("1D", periods=len(frame)))),
            "column `town` of the table has type timedelta64[",
        ),
        "no rows": (pl.from_pandas(frame).clear(), "the table: "),
        "no rows of pandas": (frame[:0], "the table: "),
        "a flat array": (np.full(5, CANARY_NUMBER), "an array must have two dimensions; this one has 1"),
        "a narrow array": (np.full((5, 2), CANARY_NUMBER), "the array has 2 columns and the schema has 6"),
        "text for a date": (frame.assign(seen=1.5), "column `seen` holds numbers and the schema says `datetime`"),
        "batches that change their names": (changed, "other columns than the first"),
        "batches that change their order": (shuffled, "other columns than the first"),
        "batches that lose a column": (narrower, "other columns than the first"),
        "categories that are intervals": (
            frame.assign(town=pd.cut(frame["age"], 3)),
            "column `town` of the table has type category of interval",
        ),
        "offsets outside of a text": (torn_texts([0, 1 << 30, 4, 5]), "an array of the table is not valid Arrow"),
        "offsets that fall": (torn_texts([0, 4, 1, 5]), "an array of the table is not valid Arrow"),
        "offsets below 0": (torn_texts([0, -9, 4, 5]), "an array of the table is not valid Arrow"),
        "keys outside of their dictionary": (torn_keys(), "an array of the table is not valid Arrow"),
        "a generator that raises": (broken_generator, "the iterator of batches raised `ValueError`"),
        "a reader that raises": (broken_reader(), "the table's own reader failed while it was being read"),
        "an export that raises": (Liar(), "the table's own export to Arrow raised `ValueError`"),
        "a file that is not there": ("nowhere.csv", "nowhere.csv: "),
        "a file without a format": ("nowhere", "nowhere: the format is not known from the name"),
    }


def told(error: BaseException) -> str:
    """Everything that anybody may print of an exception: its words, notes, causes and the frames that it went through."""
    lines = traceback.TracebackException.from_exception(error, capture_locals=False).format(chain=True)
    # The lines of these tests themselves name the canaries.
    said = [line for line in lines if not line.lstrip().startswith("File ")]
    return "".join(said) + repr(error) + repr(error.args) + str(getattr(error, "__notes__", ""))


@contextlib.contextmanager
def standard_error() -> Iterator[Callable[[], str]]:
    """What the process writes there meanwhile, whoever does."""
    with tempfile.TemporaryFile() as file:
        kept = os.dup(2)
        os.dup2(file.fileno(), 2)

        def said() -> str:
            file.seek(0)
            return file.read().decode()

        try:
            yield said
        finally:
            os.dup2(kept, 2)
            os.close(kept)


class Refusals(InFolder):
    def test_one_clear_exception_without_a_value(self) -> None:
        self.assertIn(CANARY, told(ValueError(CANARY)), "the control is seen")
        for name, (table, sentence) in refused().items():
            with self.subTest(table=name):
                ledger = self.folder / f"{name}.sqlite"
                with self.assertRaises(sunprint.SunprintError) as caught:
                    quiet(ledger=ledger).fit(table)
                error = caught.exception
                self.assertIn(sentence, error.sentence)
                self.assertTrue(error.hint, "there is a hint")
                self.assertIs(error.__cause__, None)
                text = told(error)
                for secret in (CANARY, str(CANARY_NUMBER), "31.41"):
                    self.assertNotIn(secret, text)
                # The charge is there at most once, and where a row was read, exactly once and noted.
                spent = sunprint._native.spent("people", str(ledger))
                opened = getattr(error, "charged", False)
                self.assertIn(spent, [("1", "0")] if opened else [None, ("0", "0")])
                self.assertEqual(bool(getattr(error, "__notes__", [])), opened)

    def test_a_dictionary_without_entries_and_keys_into_it(self) -> None:
        # No table that Arrow allows. Its reader panicked over it, and told the key.
        keys = pa.array([113] * ROWS, pa.int8())
        torn = pa.DictionaryArray.from_arrays(keys, pa.array([], pa.string()), safe=False)
        table = pa.table({**columns(), "town": torn})
        what = sunprint.Fit(schema(), epsilon=1, rows=ROWS, ledger="none").next_pass()
        assert what is not None
        ledger = self.folder / "ledger"
        for work in (lambda: quiet(ledger=ledger).fit(table), lambda: sunprint.tally(what, table)):
            with standard_error() as said:
                with self.assertRaises(sunprint.DataError) as caught:
                    work()
                self.assertEqual(said(), "", "nothing is printed")
            self.assertIn("an array of the table is not valid Arrow", caught.exception.sentence)
            self.assertNotIn("113", str(caught.exception))
        self.assertIsNone(sunprint._native.spent("people", str(ledger)), "the first batch is judged with the columns")
        # The library goes on.
        self.assertEqual(quiet().fit(polars_frame()).model_.rows, ROWS)

    def test_a_panic_becomes_an_exception_without_its_words(self) -> None:
        # No table does that, so that the native half must be asked for it.
        with standard_error() as said:
            with self.assertRaises(sunprint.InternalError) as caught:
                sunprint._native.stumble(f"cannot read {CANARY}")
            self.assertEqual(said(), "", "nothing is printed")
        self.assertRegex(caught.exception.sentence, r"^sunprint stopped because of a bug at \S+:\d+$")
        self.assertIn("without any data", str(caught.exception.hint))
        self.assertNotIn(CANARY, told(caught.exception))

    def test_shape_costs_nothing_and_rows_do(self) -> None:
        tables = refused()
        for name, charged in [
            ("a missing column", False),
            ("nested values", False),
            ("intervals", False),
            ("a file that is not there", False),
            ("categories that are intervals", False),
            ("no rows", False),
            ("offsets that fall", False),
            ("a generator that raises", True),
            ("a reader that raises", True),
        ]:
            with self.subTest(table=name), self.assertRaises(sunprint.SunprintError) as caught:
                quiet().fit(tables[name][0])
            self.assertEqual(getattr(caught.exception, "charged", False), charged, name)

    def test_parameters(self) -> None:
        frame = polars_frame()
        cases: list[tuple[dict[str, Any], str]] = [
            ({"epsilon": None}, "`epsilon` has no default"),
            ({"epsilon": 0}, "epsilon"),
            ({"epsilon": "one"}, "epsilon"),
            ({"epsilon": float("nan")}, "`epsilon` must be a number"),
            ({"delta": 2}, "delta"),
            ({"method": "magic"}, "`method` is one of `default`, `paper`, `cube`, `gaussian`; `magic` was given"),
            ({"mechanism": "magic"}, "`mechanism` is one of"),
            ({"dimension": 99}, "`dimension` must lie between 1 and"),
            ({"dimension": 1.5}, "`dimension` must be a whole number"),
            ({"metric": "l1"}, '`metric` works with `mechanism="psmm"` only'),
            ({"method": "cube", "dimension": 2}, '`dimension` has no meaning with `method="cube"`'),
            ({"ledger": ""}, "`ledger` is empty"),
            ({"spill_dir": "/nowhere/at/all"}, "the folder does not exist"),
        ]
        for parameters, sentence in cases:
            with self.subTest(**parameters), self.assertRaises(sunprint.SunprintError) as caught:
                quiet(**parameters).fit(frame)
            self.assertIn(sentence, caught.exception.sentence)
            self.assertNotIn("--", str(caught.exception))
        model = quiet().fit(frame).model_
        for wrong in ({"n": -1}, {"n": 1.5}, {"seed": -1}, {"to": "excel"}, {"part": (2, 2)}):
            with self.subTest(**wrong), self.assertRaises(sunprint.UsageError):
                model.sample(**wrong)
        with self.assertRaises(sunprint.NotFittedError):
            quiet().sample()

    def test_schemas(self) -> None:
        for wrong, sentence in [
            ({"columns": [{"name": "x", "kind": "integer", "min": 9, "max": 1}]}, "`min`"),
            ({"columns": [{"name": "x", "kind": "integer", "low": 1}]}, "unknown key `low`"),
            ({"colums": []}, "unknown key `colums`"),
            ({"columns": ["x"]}, "`columns` must be a list of mappings"),
            ("[[column]]\nname = 7\n", "`name` must be a text"),
            ("nowhere.toml", "the schema file does not exist"),
            (7, "a schema cannot be made of `int`"),
        ]:
            with self.subTest(schema=wrong), self.assertRaises(sunprint.SchemaError) as caught:
                sunprint.Schema(wrong)  # type: ignore[arg-type]
            self.assertIn(sentence, str(caught.exception))
        odd = sunprint.Schema.build('quo"te\\\n\x7f\t', sunprint.categorical("ünï", ['"', "\\", "\n", "a\x01b", "\U0001f600"]))
        self.assertEqual(sunprint.Schema(odd.to_toml()), odd)
        self.assertEqual(odd.name, 'quo"te\\\n\x7f\t')

    def test_reprs_show_no_value(self) -> None:
        frame = planted()
        fitted = quiet().fit(frame)
        fit = sunprint.Fit(schema(), epsilon=1, rows=len(frame), ledger="none")
        what = fit.next_pass()
        assert what is not None
        tally = sunprint.tally(what, frame)
        evaluation = sunprint.evaluate(frame, fitted.sample(200, seed=1), schema(), rows=50, draws=2)
        shown = [fitted, fitted.model_, fitted.receipt_, fitted.sample(3, to="rows"), what, tally, fit, evaluation]
        pages = [page._repr_html_() for page in (fitted, fitted.model_, fitted.receipt_)]
        text = "".join(map(repr, shown)) + "".join(map(str, pages)) + str(fitted.receipt_)
        for secret in (CANARY, str(CANARY_NUMBER), "31.4"):
            self.assertNotIn(secret, text)
        self.assertNotIn(f"{evaluation.w1:.3f}", repr(evaluation))
        self.assertIn("<svg", str(pages[0]))

    def test_pages_are_escaped(self) -> None:
        name = "<script>alert(1)</script>&"
        hostile = sunprint.Schema.build(name, sunprint.integer("age", 0, 120))
        fitted = sunprint.Synthesizer(hostile, epsilon=1, ledger="none").fit(pl.DataFrame({"age": columns()["age"]}))
        for page in (fitted.model_._repr_html_(), fitted.receipt_._repr_html_()):
            self.assertNotIn("<script", page)
            self.assertIn("&lt;script&gt;", page)


if __name__ == "__main__":
    unittest.main()
