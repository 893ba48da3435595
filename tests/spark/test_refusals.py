"""What cannot be fitted is refused in one sentence, before a job runs where that can be, and without a private value."""

from __future__ import annotations

import sys
import sysconfig
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from support import CANARY, OnCluster, cluster, schema, words_of

import sunprint
import sunprint.spark
from sunprint import _native
from sunprint.spark import _executor


class Refusals(OnCluster):
    def jobs(self) -> int:
        return len(self.spark.sparkContext.statusTracker().getJobIdsForGroup(None))

    def refused(self, frame: Any, kind: type[BaseException], sentence: str, **parameters: Any) -> None:
        before = self.jobs()
        ledger = self.folder / "ledger"
        with self.assertRaises(kind) as caught:
            sunprint.spark.fit(frame, schema(), **{"epsilon": 1, "ledger": ledger, **parameters})
        self.assertIn(sentence, str(caught.exception))
        self.assertNotIn(CANARY, words_of(caught.exception))
        self.assertEqual(self.jobs(), before, "no job ran")
        self.assertFalse(ledger.exists(), "nothing was charged")

    def test_columns(self) -> None:
        frame = self.frame()
        names = [f"`{name}`" for name in frame.columns if name != "age"]
        for column, sentence in [
            ("array(age) as age", "column `age` is nested: it holds `array`"),
            ("map('a', age) as age", "column `age` is nested: it holds `map`"),
            ("struct(age) as age", "column `age` is nested: it holds `struct`"),
            ("cast('a' as binary) as age", "column `age` holds `binary`, which cannot be read"),
            ("interval 3 day as age", "column `age` holds `daytimeinterval"),
            ("born as age", "column `age`"),
        ]:
            with self.subTest(column=column):
                sentence = sentence.replace("daytimeinterval", "")
                self.refused(frame.selectExpr(*names, column), sunprint.DataError, sentence)
        # Control: a job is counted.
        before = self.jobs()
        self.assertEqual(frame.count(), self.frame().count())
        self.assertGreater(self.jobs(), before)
        self.refused(frame.drop("age"), sunprint.DataError, "column `age` of the schema is missing")
        self.refused(frame.selectExpr("*", "age as age"), sunprint.DataError, "column `age` appears twice")
        extra = frame.selectExpr("*", f"array(age) as `{CANARY}`")
        self.refused(extra, sunprint.DataError, "column number 14 of the table is not in the schema")
        model = sunprint.spark.fit(extra, schema(), epsilon=1, ledger="none", ignore_extra=True)
        self.assertEqual(model.rows, frame.count())

    def test_parameters(self) -> None:
        frame = self.frame()
        self.refused(frame, sunprint.UsageError, "`epsilon` has no default", epsilon=None)
        self.refused(frame, sunprint.SunprintError, "psilon", epsilon=-1)
        self.refused(frame, sunprint.UsageError, "`method` is one of", method="magic")
        self.refused([1, 2], sunprint.DataError, "must be a DataFrame of Spark")

    def test_no_rows(self) -> None:
        with self.assertRaises(sunprint.DataError) as caught:
            sunprint.spark.fit(self.frame().where("age < 0"), schema(), epsilon=1, ledger=self.folder / "ledger")
        self.assertIn("the table has no rows", str(caught.exception))
        self.assertFalse((self.folder / "ledger").exists(), "nothing was charged")

    def test_what_fails_upstream_is_not_quoted(self) -> None:
        folder = str(self.folder)

        def fails(batches: Iterator[Any]) -> Iterator[Any]:
            from pathlib import Path

            for batch in batches:
                # Once is well: it is when rows are counted.
                if Path(f"{folder}/counted").exists():
                    raise ValueError(CANARY)
                yield batch
            Path(f"{folder}/counted").touch()

        frame = self.frame(files=1).coalesce(1)
        with self.assertRaises(sunprint.DataError) as caught:
            sunprint.spark.fit(frame.mapInArrow(fails, frame.schema), schema(), epsilon=1, ledger=self.folder / "ledger")
        error = caught.exception
        self.assertIn("pass 1 failed on the cluster: Spark raised `", error.sentence)
        self.assertNotIn(CANARY, words_of(error))
        self.assertIsNone(error.__cause__)
        self.assertIsNone(error.__context__)
        self.assertEqual(_native.spent("people", str(self.folder / "ledger")), ("1", "0"))
        # And where they cannot be counted at all.
        with self.assertRaises(sunprint.DataError) as caught:
            sunprint.spark.fit(frame.mapInArrow(fails, frame.schema), schema(), epsilon=1, ledger="none")
        self.assertIn("the rows cannot be counted: Spark raised `", caught.exception.sentence)
        self.assertNotIn(CANARY, words_of(caught.exception))

    def test_what_fails_on_an_executor_comes_back_as_data(self) -> None:
        def foreign() -> Any:
            raise ValueError(CANARY)

        def ours() -> Any:
            raise sunprint.DataError("a rule", "a hint")

        row = _executor._guarded(foreign, _executor._Stream(iter([]))).to_pylist()[0]
        self.assertEqual((row["payload"], row["failure"], row["sentence"]), (None, "foreign", "ValueError"))
        self.assertNotIn(CANARY, repr(row))
        row = _executor._guarded(ours, _executor._Stream(iter([]))).to_pylist()[0]
        self.assertEqual((row["failure"], row["sentence"], row["hint"]), ("DataError", "a rule", "a hint"))

        def broken() -> Iterator[Any]:
            yield 1
            raise ValueError(CANARY)

        stream = _executor._Stream(broken())
        with self.assertRaises(RuntimeError) as caught:
            _executor._guarded(lambda: list(stream), stream)
        self.assertNotIn(CANARY, words_of(caught.exception))


class Bare(OnCluster):
    """Executors whose Python has everything but the package."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.python = _python_without_the_package(cluster().folder / "bare")
        cls.spark = cluster().session(spark__pyspark__python=str(cls.python))

    def test_the_package_is_missing(self) -> None:
        for work in (
            lambda: sunprint.spark.fit(self.frame(), schema(), epsilon=1, ledger=self.folder / "ledger"),
            lambda: sunprint.spark.sample(self.spark, self.model(), 10, seed=1),
        ):
            with self.assertRaises(sunprint.UsageError) as caught:
                work()
            self.assertEqual(caught.exception.sentence, "the package sunprint is missing on an executor")
            self.assertIn("install the same wheel on every node", caught.exception.hint)
        self.assertFalse((self.folder / "ledger").exists(), "nothing was charged")

    def model(self) -> sunprint.Model:
        from support import table

        return sunprint.Synthesizer(schema(), epsilon=1, ledger="none").fit(table()).model_


def _python_without_the_package(folder: Path) -> Path:
    venv.create(folder, with_pip=False, symlinks=True)
    base = {"base": str(folder), "platbase": str(folder)}
    packages = Path(sysconfig.get_path("purelib", vars=base))
    for package in Path(sysconfig.get_path("purelib")).iterdir():
        if not package.name.startswith("sunprint"):
            (packages / package.name).symlink_to(package)
    return folder / "bin" / Path(sys.executable).name
