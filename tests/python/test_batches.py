"""Batches whose types depend on their values, and arrays of Arrow whose bytes are no text, or no arrays."""

from __future__ import annotations

import subprocess
import sys
import unittest
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import sunprint
from support import ROWS, InFolder, counted, pandas_frame, polars_frame, quiet, schema, tallies


class Batches(unittest.TestCase):
    def test_one_missing_value_changes_the_type_of_a_chunk(self) -> None:
        known = sunprint.Schema.build(
            "chunks",
            sunprint.integer("n", 0, 9, missing="allow"),
            sunprint.categorical("c", ["1", "2"], missing="allow"),
        )
        whole = pl.DataFrame({"n": [1, 2, None, 4], "c": ["1", "2", None, "1"]})
        expected = tallies(whole, known)
        first = pd.DataFrame({"n": [1, 2], "c": [1, 2]})
        later = pd.DataFrame({"n": [np.nan, 4], "c": [np.nan, 1]})
        self.assertEqual([str(kind) for kind in (first.dtypes["n"], later.dtypes["n"])], ["int64", "float64"])
        nullable = later.astype("Int64")
        texts = pd.DataFrame({"n": [None, "4"], "c": [None, "1"]})
        chunks: dict[str, Any] = {
            "float": later,
            "nullable": nullable,
            "objects": later.astype(object),
            "texts": texts,
            "text objects": texts.astype(object),
            "categories": later.astype("category"),
            "text categories": texts.astype("category"),
            "arrow": later.astype("Int64").convert_dtypes(dtype_backend="pyarrow"),
            "polars": pl.from_pandas(nullable),
            "polars floats": pl.DataFrame({"n": [float("nan"), 4.0], "c": [None, 1.0]}),
            "polars texts": pl.from_pandas(texts),
            "polars categories": pl.from_pandas(texts).with_columns(pl.col("c").cast(pl.Categorical)),
            "polars objects": pl.DataFrame({"n": [None, 4], "c": pl.Series([None, 1], dtype=pl.Object)}),
            "matrix": later.to_numpy(),
            "masked": np.ma.MaskedArray([[0, 0], [4, 1]], mask=[[True, True], [False, False]]),
            **{
                f"pyarrow {kind}": pa.table({"n": pa.array([None, 4], pa.int8()), "c": pa.array([None, "1"], kind)})
                for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string()))
            },
            "pyarrow others": pa.table({"n": pa.array([None, 4], pa.decimal128(5, 2)), "c": pa.array([None, 1.0])}),
        }
        for name, chunk in chunks.items():
            for begun in (first, pl.from_pandas(first), pa.Table.from_pandas(first)):
                with self.subTest(chunk=name, begun=type(begun)):
                    self.assertEqual(tallies_of(lambda: iter([begun, chunk]), known), expected)
        # Types that cannot be read: their values cannot.
        unread = tallies(pl.DataFrame({"n": [1, 2, None, None], "c": ["1", "2", "?", "?"]}), known)
        strange = pa.array([[1], [2]])
        for name, chunk in {
            "lists": pa.table({"n": strange, "c": strange}),
            "structs": pl.DataFrame({"n": [{"a": 1}, {"a": 2}], "c": [{"a": 1}, {"a": 2}]}),
            "bytes": np.array([[b"1", b"1"], [b"2", b"2"]]),
            "intervals": pd.DataFrame({"n": pd.interval_range(0, 2), "c": pd.interval_range(0, 2)}),
            "timedeltas": pd.DataFrame({"n": pd.to_timedelta([1, 2]), "c": pd.to_timedelta([1, 2])}),
            "interval categories": pd.DataFrame({"n": pd.interval_range(0, 2), "c": pd.interval_range(0, 2)}).astype("category"),
            "complex": np.full((2, 2), 1j),
        }.items():
            with self.subTest(chunk=name):
                self.assertEqual(tallies_of(lambda: iter([first, chunk]), known), unread)

    def test_chunks_of_a_fit(self) -> None:
        frame = pandas_frame()
        later = frame[1000:].astype({"age": float, "town": "category", "smokes": object})
        later.iloc[3, 0] = np.nan
        model = quiet().fit(iter([frame[:1000], later])).model_
        self.assertEqual(model.rows, ROWS)
        self.assertEqual([str(kind) for kind in model.sample(9).dtypes], [str(kind) for kind in frame.dtypes])

    def test_numbers_that_a_type_does_not_reach(self) -> None:
        known = sunprint.Schema.build("one", sunprint.continuous("x", 0, 1))
        wide = np.array([[np.longdouble("1e4000")], [np.longdouble("0.5")]])
        self.assertEqual(tallies(wide, known), tallies(np.array([[1.0], [0.5]]), known))


def tallies_of(table: Callable[[], Any], known: sunprint.Schema) -> list[bytes]:
    """`tallies` of something that is used up."""
    found = []
    for method in ("default", "paper"):
        what = sunprint.Fit(known, epsilon=1, rows=1, method=method, ledger="none").next_pass()
        assert what is not None
        found.append(counted(sunprint.tally(what, table())))
    return found


class Arrow(InFolder):
    def test_text_that_is_no_text_in_files(self) -> None:
        """The same codes in Arrow's files as in frames, in CSV and in Parquet."""
        known = sunprint.Schema.build("t", sunprint.categorical("c", ["a", "b"], other="b"), sunprint.integer("n", 0, 9))
        numbers, odd = pa.array([1, 2, 3], pa.int64()), pa.py_buffer(b"a\xff\xfe\x80b")
        expected = tallies(pa.table({"c": ["a", "?", "b"], "n": numbers}), known)
        for kind, width in ((pa.string(), "<i4"), (pa.large_string(), "<i8")):
            texts = pa.Array.from_buffers(kind, 3, [None, pa.py_buffer(np.array([0, 1, 4, 5], width).tobytes()), odd])
            coded = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int8()), texts)
            for form in (texts, coded, texts.view(pa.binary() if kind == pa.string() else pa.large_binary()).cast(kind, safe=False)):
                table = pa.table({"c": form, "n": numbers})
                for name, opened in (("t.arrow", pa.ipc.new_file), ("t.arrows", pa.ipc.new_stream)):
                    path = self.folder / name
                    with opened(str(path), table.schema) as writer:
                        writer.write_table(table)
                    self.assertEqual(tallies(path, known), expected)
                self.assertEqual(tallies(table, known), expected)

    def test_broken_arrays_do_not_end_the_process(self) -> None:
        """In a process of its own, so that a crash is seen as one."""
        code = (
            "import numpy as np, pandas as pd, pyarrow as pa, sunprint\n"
            "from support import quiet\n"
            "from test_refusals import beside, torn_keys, torn_texts\n"
            "texts = [torn_texts(ends, kind) for kind in (pa.string(), pa.large_string()) for ends in\n"
            "         ([0, 1 << 30, 4, 5], [0, 4, 1, 5], [0, -9, 4, 5], [0, 1, -(1 << 31), 5])]\n"
            "def shifting(kind, width, ends):\n"
            "    held = np.array([0, 1, 4, 5], width)\n"
            "    array = pa.Array.from_buffers(kind, 3, [None, pa.py_buffer(held), pa.py_buffer(b'abcde')])\n"
            "    table = beside(array)\n"
            "    held[:] = ends\n"
            "    return table\n"
            "texts += [shifting(pa.string(), '<i4', [0, 1, 4, 1 << 30]), shifting(pa.string(), '<i4', [0, 1, 4, -5]),\n"
            "          shifting(pa.large_string(), '<i8', [0, 1, 4, 1 << 50])]\n"
            "def view(word):\n"
            "    views = np.zeros((3, 4), '<i4'); views[1] = word\n"
            "    return beside(pa.Array.from_buffers(pa.string_view(), 3, [None, pa.py_buffer(views), pa.py_buffer(b'x' * 20)]))\n"
            "texts += [view([40, 0, 0, 0]), view([15, 0, 7, 0]), view([15, 0, 0, 1 << 30]), view([-1, 0, 0, 0]), torn_keys()]\n"
            "torn = pa.DictionaryArray.from_arrays(pa.array([0, 0, 0], pa.int8()), texts[0]['town'].chunk(0), safe=False)\n"
            "texts.append(beside(torn))\n"
            "forms = [lambda t: t, lambda t: t.to_batches()[0], lambda t: t.to_reader(), lambda t: [t[:0], t],\n"
            "         lambda t: Bare(t), lambda t: Single(t.to_batches()[0])]\n"
            "class Bare:\n"
            "    def __init__(self, t): self.t = t\n"
            "    def __arrow_c_stream__(self, schema=None): return self.t.__arrow_c_stream__(schema)\n"
            "class Single:\n"
            "    def __init__(self, t): self.t = t\n"
            "    def __arrow_c_array__(self, schema=None): return self.t.__arrow_c_array__(schema)\n"
            "for number, table in enumerate(texts):\n"
            "    long = number in (8, 10)\n"
            "    for form in forms[:4] if long else forms:\n"
            "        try:\n"
            "            quiet().fit(form(table))\n"
            "        except sunprint.DataError as error:\n"
            "            assert 'is not valid Arrow' in error.sentence, error.sentence\n"
            "        else:\n"
            "            raise AssertionError(number)\n"
            "print('all refused', len(texts))\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout.strip()), (0, "all refused 17"), done.stderr)

    def test_what_stands_where_a_value_is_missing_does_not_matter(self) -> None:
        """Arrow allows anything there: keys and views into nowhere."""
        known = sunprint.Schema.build("t", sunprint.categorical("c", ["a", "b"], missing="allow"), sunprint.integer("n", 0, 9))
        numbers, there = pa.array([1, 2, 3], pa.int64()), pa.py_buffer(bytes([0b101]))
        expected = tallies(pa.table({"c": ["a", None, "b"], "n": numbers}), known)
        views = np.zeros((3, 4), "<i4")
        views[:, 0], views[0, 1], views[2, 1], views[1] = 1, ord("a"), ord("b"), -1
        keys = pa.Array.from_buffers(pa.int8(), 3, [there, pa.py_buffer(np.array([0, 99, 1], "i1").tobytes())])
        for column_of in (
            pa.Array.from_buffers(pa.string_view(), 3, [there, pa.py_buffer(views.tobytes())]),
            pa.DictionaryArray.from_arrays(keys, pa.array(["a", "b"]), safe=False),
        ):
            self.assertEqual(tallies(pa.table({"c": column_of, "n": numbers}), known), expected)

    def test_chunks_of_dictionaries_that_do_not_fit_together(self) -> None:
        known = sunprint.Schema.build("t", sunprint.categorical("c", ["a1", "b1"], other="b1"), sunprint.integer("n", 0, 9))
        parts = [pa.array([f"{letter}{i}" for i in range(100)]).dictionary_encode() for letter in "abc"]
        small = [pa.DictionaryArray.from_arrays(part.indices.cast(pa.int8()), part.dictionary) for part in parts]
        coded = pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array(small)))
        frame = pd.DataFrame({"c": coded, "n": np.arange(300) % 10})
        words = [word for part in parts for word in part.to_pylist()]
        self.assertEqual(tallies(frame, known), tallies(pl.DataFrame({"c": words, "n": np.arange(300) % 10}), known))

    def test_fields_that_say_that_nothing_is_missing(self) -> None:
        frame = polars_frame()
        table = pa.table(frame)
        fields = [field.with_nullable(False) for field in table.schema]
        strict = pa.Table.from_arrays([column.combine_chunks() for column in table.columns], schema=pa.schema(fields))
        self.assertEqual(tallies(strict), tallies(frame))
        self.assertEqual(tallies(strict.slice(7, 100)), tallies(frame[7:107]))
        nested = strict.append_column("more", pa.array([[{"a": "x"}]] * ROWS))
        self.assertEqual(quiet(ignore_extra=True).fit(nested).model_.schema, schema())


if __name__ == "__main__":
    unittest.main()
