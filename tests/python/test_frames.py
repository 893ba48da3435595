"""Frames of every library come in with the same codes, and rows go out as the same kind of frame."""

from __future__ import annotations

import subprocess
import sys
import unittest
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

import sunprint
from support import ROWS, InFolder, cli, columns, counted, pandas_frame, polars_frame, quiet, schema, tallies


def pandas_frames() -> dict[str, pd.DataFrame]:
    plain = pandas_frame()
    texts = ["smokes", "town"]
    return {
        "numpy": plain,
        "objects": plain.astype(dict.fromkeys(texts, object)),
        "categories": plain.astype(dict.fromkeys(texts, "category")),
        "nullable": plain.astype({"age": "Int16", "insured": "boolean", "weight": "Float64", "town": "string"}),
        "arrow": plain.convert_dtypes(dtype_backend="pyarrow"),
        "zoned": plain.assign(seen=plain["seen"].dt.tz_localize("UTC")),
        "small": plain.astype({"age": "int8", "weight": "float32"}),
        "strided": plain.iloc[::1, ::-1].iloc[:, ::-1],
        "indexed": plain.set_index(pd.Index(np.arange(ROWS)[::-1])),
    }


def frames() -> dict[str, Any]:
    polars = polars_frame()
    table = pa.table(polars)
    lists = pa.table({name: pa.array(polars[name].to_list()) for name in polars.columns if name != "seen"})
    lists = lists.append_column("seen", table["seen"])
    relation = duckdb.from_arrow(lists)
    return {
        "polars": polars,
        "lazy": polars.lazy(),
        "polars in chunks": pl.concat([polars[:100], polars[100:]], rechunk=False),
        "polars categorical": polars.with_columns(pl.col("smokes", "town").cast(pl.Categorical)),
        "polars enum": polars.with_columns(pl.col("town").cast(pl.Enum(["north", "south", "west"]))),
        "pyarrow": lists,
        "batch": lists.combine_chunks().to_batches()[0],
        "reader": lists.to_reader(max_chunksize=700),
        "duckdb": relation,
        "list of frames": [polars[:1000], polars[1000:]],
        "generator": (polars[first : first + 700] for first in range(0, ROWS, 700)),
        "callable": lambda: (pandas_frame()[first : first + 700] for first in range(0, ROWS, 700)),
        **{f"pandas {name}": frame for name, frame in pandas_frames().items()},
    }


class In(InFolder):
    def test_every_frame_has_the_codes_of_a_file(self) -> None:
        path = self.folder / "people.parquet"
        polars_frame().write_parquet(path)
        expected = tallies(path)
        # Control: another row is another tally.
        self.assertNotEqual(tallies(polars_frame().with_columns(age=pl.lit(50))), expected)
        for name in frames():
            for number in range(len(expected)):
                # Anew for each pass: a generator is used up.
                with self.subTest(frame=name, number=number):
                    if name == "pandas small":
                        continue  # other numbers: 32 bits
                    method = ("default", "paper")[number]
                    what = sunprint.Fit(schema(), epsilon=1, rows=1, method=method, ledger="none").next_pass()
                    assert what is not None
                    self.assertEqual(counted(sunprint.tally(what, frames()[name])), expected[number])

    def test_matrices(self) -> None:
        known = sunprint.Schema.build("matrix", *(sunprint.continuous(f"x{i}", 0, 1) for i in range(5)))
        matrix = np.random.default_rng(3).random((70_000, 5))
        frame = pl.DataFrame(matrix, schema=known.columns)
        expected = tallies(frame, known)
        masked = np.ma.MaskedArray(matrix, mask=np.zeros(matrix.shape, dtype=bool))
        for array in (matrix, np.asfortranarray(matrix), np.repeat(matrix, 2, axis=1)[:, ::2], matrix.astype(">f8"), masked):
            self.assertEqual(tallies(array, known), expected)
        drawn = sunprint.Synthesizer(known, epsilon=1, ledger="none").fit(matrix.astype("f4")).sample(10)
        self.assertEqual((drawn.dtype, drawn.shape), (np.dtype("f4"), (10, 5)))

    def test_masks_and_missing_values(self) -> None:
        known = sunprint.Schema.build("one", sunprint.continuous("x", 0, 1, missing="allow"), sunprint.boolean("y"))
        holes = pl.DataFrame({"x": [0.5, None, 1.0], "y": [True, False, None]})
        expected = tallies(holes, known)
        numbers = np.ma.MaskedArray([0.5, 0.0, 1.0], mask=[False, True, False])
        self.assertEqual(tallies(pd.DataFrame({"x": [0.5, np.nan, 1.0], "y": [True, False, None]}, dtype=object)
                                 .astype({"x": float, "y": "boolean"}), known), expected)
        structured = np.ma.MaskedArray(
            np.array([(0.5, True), (0.0, False), (1.0, True)], dtype=[("x", "f8"), ("y", "?")]),
            mask=[(False, False), (True, False), (False, True)],
        )
        self.assertEqual(numbers.mask.tolist(), structured["x"].mask.tolist())
        self.assertEqual(tallies(structured, known), expected)

    def test_categories_that_are_numbers(self) -> None:
        known = sunprint.Schema.build("one", sunprint.categorical("x", ["1", "2"], role="label"), sunprint.integer("y", 0, 9))
        plain = pd.DataFrame({"x": [1, 2, 2], "y": [1, 2, 3]})
        self.assertEqual(tallies(plain.astype({"x": "category"}), known), tallies(plain, known))

    def test_texts_that_are_no_characters(self) -> None:
        """Arrow says text, the bytes say otherwise: a category that is not listed, as in files, and no harm."""
        what = sunprint.Schema.build("t", sunprint.categorical("c", ["a", "b"]), sunprint.integer("n", 0, 9))
        numbers = pa.array([1, 2, 3], pa.int64())
        odd = pa.py_buffer(b"a\xff\xfe\x80b")
        for kind, width in ((pa.string(), "<i4"), (pa.large_string(), "<i8")):
            ends = pa.py_buffer(np.array([0, 1, 4, 5], width).tobytes())
            texts = pa.Array.from_buffers(kind, 3, [None, ends, odd])
            whole = pa.array(["a", "z", "b"], kind)
            answers = [tallies(pa.table({"c": column, "n": numbers}), what) for column in (texts, whole)]
            self.assertEqual(*answers)

    def test_columns_in_another_order_and_extra_ones(self) -> None:
        frame = polars_frame()
        expected = tallies(frame)
        self.assertEqual(tallies(frame.select(reversed(frame.columns))), expected)
        drawn = quiet(ignore_extra=True).fit(frame.with_columns(extra=pl.lit("x"))).sample(5)
        self.assertEqual(drawn.columns, frame.columns)


class Out(unittest.TestCase):
    def test_rows_come_as_the_frame_that_was_fitted(self) -> None:
        kinds = {"lazy": pl.DataFrame, "list of frames": pl.DataFrame, "generator": pl.DataFrame, "callable": pd.DataFrame}
        for name, frame in frames().items():
            with self.subTest(frame=name):
                drawn = quiet().fit(frame).sample(300, seed=1)
                self.assertIsInstance(drawn, kinds.get(name, type(frame)))
                if isinstance(frame, pl.DataFrame):
                    self.assertEqual(dict(drawn.schema), dict(frame.schema))
                    self.assertEqual(drawn["weight"].null_count() > 0, True)
                if isinstance(frame, pd.DataFrame):
                    # Categories are those of the schema, in its order.
                    self.assertEqual([str(t) for t in drawn.dtypes], [str(t) for t in frame.dtypes])
                    self.assertTrue(drawn["weight"].isna().any())
                if isinstance(frame, pa.Table):
                    self.assertEqual(drawn.schema.types, frame.schema.types)

    def test_categories_come_from_the_schema_and_not_from_rows(self) -> None:
        strange = pandas_frame().assign(town=lambda frame: frame["town"].replace("west", "elsewhere").astype("category"))
        drawn = quiet().fit(strange).sample(300, seed=1)
        self.assertEqual(list(drawn["town"].cat.categories), ["north", "south", "west"])
        self.assertNotIn("elsewhere", repr(vars(quiet().fit(strange).model_._origin)))

    def test_one_draw_in_every_form(self) -> None:
        model = quiet().fit(polars_frame()).model_
        rows = model.sample(2500, seed=5, to="rows")
        self.assertEqual((len(rows), rows.names), (2500, schema().columns))
        whole = model.sample(2500, seed=5)
        self.assertTrue(pl.DataFrame(rows).equals(whole))
        self.assertTrue(pl.DataFrame(model.sample(2500, seed=5, to="pyarrow")).equals(whole))
        pandas = model.sample(2500, seed=5, to="pandas")
        self.assertEqual(pandas["age"].tolist(), whole["age"].to_list())
        self.assertEqual(pandas["weight"].isna().tolist(), whole["weight"].is_null().to_list())
        self.assertEqual(pandas["seen"].tolist(), whole["seen"].to_list())
        parts = [model.sample(2500, seed=5, part=(i, 3)) for i in range(3)]
        self.assertTrue(pl.concat(parts).equals(whole))
        self.assertFalse(model.sample(2500, seed=6).equals(whole))
        self.assertEqual(model.sample(0).height, 0)
        self.assertEqual(model.sample().height, ROWS)

    def test_without_any_other_library(self) -> None:
        """Nothing but the wheel is imported, and no library of frames is needed for pandas' or numpy's buffers."""
        code = "import sys, sunprint; print([m for m in ('numpy', 'pandas', 'polars', 'pyarrow', 'tqdm') if m in sys.modules])"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.strip(), "[]")
        code = (
            "import sys; sys.modules['pyarrow'] = None\n"
            "import sunprint, support\n"
            "frame = support.pandas_frame().astype({'smokes': object, 'town': 'category'})\n"
            "drawn = support.quiet().fit(frame).sample(50)\n"
            "assert list(drawn.columns) == list(frame.columns) and len(drawn) == 50\n"
        )
        code = code.replace("import sunprint, support", "import sunprint\nimport support")
        subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


class WithTheCommandLine(InFolder):
    def test_models_mean_the_same(self) -> None:
        data, toml = self.folder / "people.parquet", self.folder / "people.toml"
        polars_frame().write_parquet(data)
        toml.write_text(schema().to_toml())
        ours, theirs = self.folder / "ours.sunprint", self.folder / "theirs.sunprint"
        quiet().fit(data).save(ours)
        cli("fit", data, "--schema", toml, "--epsilon", "1", "--output", theirs)
        for model in (ours, theirs):
            drawn = self.folder / "drawn.parquet"
            cli("sample", model, "--rows", "4000", "--seed", "9", "--output", drawn, "--force")
            loaded = sunprint.Model.load(model)
            self.assertTrue(pl.DataFrame(loaded.sample(4000, seed=9)).equals(pl.read_parquet(drawn)))
            again = self.folder / "again.parquet"
            loaded.write(again, 4000, seed=9, force=True)
            self.assertEqual(again.read_bytes(), drawn.read_bytes())
        self.assertIn("epsilon", cli("show", ours, "--json"))
        self.assertEqual(pq.read_schema(drawn).names, schema().columns)


if __name__ == "__main__":
    unittest.main()
