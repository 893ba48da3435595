"""The habits of scikit-learn, charges, signals, progress, and threads."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import unittest
import warnings
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

import numpy as np
import polars as pl
from sklearn.base import clone

import sunprint
from support import ROWS, InFolder, cli, polars_frame, quiet, schema


class Habits(InFolder):
    def test_parameters_and_clones(self) -> None:
        original = quiet(epsilon=0.5, dimension=2, progress=None)
        twin = clone(original)
        self.assertEqual(twin.get_params(), original.get_params())
        self.assertIsNot(twin, original)
        self.assertIs(twin.set_params(epsilon=2), twin)
        self.assertEqual((twin.epsilon, original.epsilon), (2, 0.5))
        with self.assertRaises(sunprint.UsageError):
            twin.set_params(epsilom=1)
        fitted = original.fit(polars_frame())
        self.assertIs(fitted, original)
        self.assertEqual((fitted.dimension_, fitted.receipt_.epsilon, fitted.schema_), (2, "0.5", schema()))
        self.assertFalse(hasattr(clone(fitted), "model_"), "a clone is not fitted")
        again = pickle.loads(pickle.dumps(fitted))
        self.assertTrue(again.sample(20, seed=2).equals(fitted.sample(20, seed=2)))

    def test_exact_promises(self) -> None:
        for epsilon, text in [(0.1, "0.1"), ("0.3", "0.3"), (Decimal("1.50"), "1.5"), (Fraction(1, 3), "1/3"), (np.float64(2), "2")]:
            self.assertEqual(quiet(epsilon=epsilon).fit(polars_frame()).receipt_.epsilon, text)
        receipt = quiet(epsilon=1, delta=1e-6).fit(polars_frame()).receipt_
        self.assertEqual((receipt.delta, receipt.to_dict()["accounting"]), ("0.000001", "concentrated"))

    def test_a_second_fit_is_a_new_charge_and_says_so(self) -> None:
        for ledger, where in [(self.folder / "ledger.sqlite", "by the ledger"), ("none", "by this object")]:
            synthesizer = quiet(epsilon=0.1, ledger=ledger)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                synthesizer.fit(polars_frame())
            with self.assertWarns(sunprint.ChargeWarning) as caught:
                synthesizer.fit(polars_frame())
            text = str(caught.warning)
            self.assertIn(f"a new charge of epsilon 0.1, on top of epsilon 0.1 {where}, 0.2 together", text)
            self.assertEqual(caught.filename, __file__, "the warning names the caller's line")
            with warnings.catch_warnings(), self.assertRaises(sunprint.ChargeWarning):
                warnings.simplefilter("error")
                synthesizer.fit(polars_frame())
        self.assertEqual(sunprint._native.spent("people", str(self.folder / "ledger.sqlite")), ("0.2", "0"))

    def test_ceilings(self) -> None:
        ledger = self.folder / "ledger.sqlite"
        cli("ledger", "limit", "people", "--new", "--epsilon", "1.5", "--ledger", ledger)
        fitted = quiet(ledger=ledger).fit(polars_frame())
        self.assertIsNotNone(fitted.receipt_.ledger_entry)
        with self.assertRaises(sunprint.BudgetError) as caught:
            quiet(ledger=ledger).fit(polars_frame())
        self.assertIn("of its ceiling 1.5", caught.exception.sentence)
        self.assertFalse(getattr(caught.exception, "charged", False))
        (self.folder / "broken.sqlite").write_text("this is not a ledger")
        with self.assertRaises(sunprint.LedgerError):
            quiet(ledger=self.folder / "broken.sqlite").fit(polars_frame())

    def test_save_and_load(self) -> None:
        path = self.folder / "people.sunprint"
        fitted = quiet().fit(polars_frame())
        fitted.save(path)
        loaded = sunprint.Synthesizer.load(path)
        self.assertTrue(pl.DataFrame(loaded.sample(30, seed=4)).equals(fitted.sample(30, seed=4)))
        self.assertEqual(loaded.get_params()["epsilon"], "1")
        # A model that was paid for is not replaced unless somebody asks for it.
        kept = path.read_bytes()
        for again in (lambda: quiet().fit(polars_frame()).save(path), lambda: fitted.model_.write(path, 9, format="csv")):
            with self.assertRaises(sunprint.FileError) as caught:
                again()
            self.assertIn("there is a file already", caught.exception.sentence)
            self.assertIn("`force`", str(caught.exception.hint))
            self.assertEqual(path.read_bytes(), kept)
        fitted.model_.write(path, 9, format="csv", force=True)
        self.assertEqual(len(path.read_text().splitlines()), 10)
        fitted.save(path, force=True)
        self.assertEqual(path.read_bytes(), kept)
        path.write_text(path.read_text()[:1000])
        with self.assertRaises(sunprint.ModelError):
            sunprint.Model.load(path)
        with self.assertRaises(sunprint.FileError):
            sunprint.Model.load(self.folder / "nowhere")

    def test_spilled_codes_give_the_same(self) -> None:
        fitted = quiet(memory=1000, spill_dir=self.folder).fit(polars_frame())
        self.assertEqual(fitted.model_.rows, ROWS)
        self.assertEqual(list(self.folder.iterdir()), [], "nothing is left")


    def test_a_fit_needs_a_name(self) -> None:
        """A copy of a schema file would have another name, and a budget of its own."""
        known, ledger = schema(), self.folder / "ledger.sqlite"
        nameless = sunprint.Schema(known.to_toml().replace('name = "people"\n', "", 1))
        path = self.folder / "copy.toml"
        path.write_text(nameless.to_toml())
        self.assertEqual([nameless.name, sunprint.Schema(path).name], ["", ""])
        for source in (nameless, path):
            for begin in (
                lambda: sunprint.Synthesizer(source, epsilon=1, ledger=ledger).fit(polars_frame()),
                lambda: sunprint.Synthesizer(source, epsilon=1, ledger="none").fit(polars_frame()),
                lambda: sunprint.Fit(source, epsilon=1, rows=ROWS, ledger=ledger),
            ):
                with self.assertRaises(sunprint.SchemaError) as caught:
                    begin()
                self.assertIn("no name", caught.exception.sentence)
                self.assertIn("[dataset]", str(caught.exception.hint))
        self.assertFalse(ledger.exists(), "nothing was touched")

    def test_what_the_columns_say_costs_nothing(self) -> None:
        """Columns, types and whether there are rows are judged before the ledger is touched, in files and in frames."""
        frame, ledger = polars_frame(), self.folder / "ledger.sqlite"
        files = {"renamed": frame.rename({"age": "years"}), "empty": frame.clear()}
        for name, wrong in files.items():
            wrong.write_csv(self.folder / f"{name}.csv")
            wrong.write_parquet(self.folder / f"{name}.parquet")
            wrong.write_ipc(self.folder / f"{name}.arrow", compression="uncompressed")
        ragged = (self.folder / "renamed.csv").read_text().replace("years", "age").replace("\n", ",1\n").replace(",1\n", "\n", 1)
        (self.folder / "ragged.csv").write_text(ragged)
        tables: list[Any] = [*files.values(), *self.folder.glob("*.*"), iter([files["renamed"]]), iter([files["empty"]])]
        self.assertEqual(len(tables), 11)
        for table in tables:
            with self.subTest(table=str(table)), self.assertRaises(sunprint.DataError) as caught:
                quiet(ledger=ledger).fit(table)
            self.assertFalse(getattr(caught.exception, "charged", False))
        self.assertFalse(ledger.exists(), "nothing was touched")
        quiet(ledger=ledger).fit(frame)
        self.assertEqual(sunprint._native.spent("people", str(ledger)), ("1", "0"))


class Work(unittest.TestCase):
    def test_control_c_ends_a_fit(self) -> None:
        """A generator that sends the signal itself, and complains if it is asked for much more."""

        def long() -> Iterator[pl.DataFrame]:
            for number in range(20_000):
                if number == 3:
                    os.kill(os.getpid(), signal.SIGINT)
                yield polars_frame(100)
            raise AssertionError("the fit goes on")

        # Whoever runs the tests in the background may have the signal ignored.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        with self.assertRaises(KeyboardInterrupt) as caught:
            quiet().fit(long())
        self.assertTrue(caught.exception.charged)  # type: ignore[attr-defined]
        self.assertEqual(quiet().fit(polars_frame()).model_.rows, ROWS, "the next fit is as good as any")

    def test_an_exception_of_the_callback_ends_a_fit(self) -> None:
        def endless() -> Iterator[pl.DataFrame]:
            while True:
                yield polars_frame(100)

        def callback(what: str, done: int, total: int | None) -> None:
            raise LookupError(what)

        with self.assertRaises(LookupError):
            quiet(progress=callback).fit(endless())

    def test_progress(self) -> None:
        heard: list[tuple[str, int, int | None]] = []
        enough = threading.Event()

        def callback(what: str, done: int, total: int | None) -> None:
            heard.append((what, done, total))
            enough.set()

        def slow() -> Iterator[pl.DataFrame]:
            yield polars_frame(1000)
            enough.wait()  # until somebody heard of it
            yield polars_frame(1000)

        quiet(progress=callback).fit(slow())
        self.assertEqual(heard[0][0], "reading the table")
        self.assertTrue(all(total is None or done <= total for _, done, total in heard))
        self.assertEqual(quiet(progress=True).fit(polars_frame()).sample(10).height, 10)

    def test_the_lock_is_free_while_a_fit_waits(self) -> None:
        """The batches come from a thread that could not run if the lock were held."""
        ready = threading.Event()

        def waiting() -> Iterator[pl.DataFrame]:
            yield polars_frame(1000)
            helper.start()
            ready.wait()
            yield polars_frame(1000)

        helper = threading.Thread(target=ready.set)
        self.assertEqual(quiet().fit(waiting()).model_.rows, 2000)
        helper.join()

    def test_fits_side_by_side(self) -> None:
        found: list[int] = []
        work = lambda: found.append(quiet().fit(polars_frame()).model_.rows)  # noqa: E731
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [ROWS] * 4)


class Comparisons(unittest.TestCase):
    def test_distances(self) -> None:
        random = np.random.default_rng(1)
        a, b = random.random((40, 3)), random.random((60, 3))
        from scipy.optimize import linprog
        from scipy.spatial.distance import cdist

        rows = np.kron(np.eye(40), np.ones((1, 60)))
        cols = np.kron(np.ones((1, 40)), np.eye(60))
        for metric, name in [("l2", "euclidean"), ("l1", "cityblock"), ("linf", "chebyshev")]:
            least = linprog(
                cdist(a, b, name).ravel(), A_eq=np.vstack([rows, cols]), b_eq=[1 / 40] * 40 + [1 / 60] * 60
            ).fun
            self.assertAlmostEqual(sunprint.wasserstein1(a, b, metric=metric), least, places=9)  # type: ignore[arg-type]
        self.assertEqual(sunprint.wasserstein1(pl.DataFrame({"x": [0.0, 2.0]}), [[1.0], [1.0]]), 1.0)
        for wrong in ([[1.0, 2.0]], [], [[float("nan")]], np.zeros((1, 1, 1))):
            with self.assertRaises(sunprint.DataError):
                sunprint.wasserstein1([[0.0]], wrong)

    def test_evaluations_and_plans(self) -> None:
        frame = polars_frame()
        same = sunprint.evaluate(frame, frame, schema(), rows=None)
        self.assertEqual(same.w1, 0)
        far = sunprint.evaluate(frame, frame.with_columns(age=pl.lit(0)), schema(), rows=100, draws=2)
        self.assertGreater(far.w1, 0)
        self.assertEqual(far.columns[0]["name"], "age")
        self.assertEqual(far.verdict["columns"], "poor")
        self.assertEqual(set(far.verdict), {"columns", "pairs", "rows", "groups", "learning"})
        self.assertLess(same.auc or 1, 0.6)
        self.assertEqual(same.beyond, 0)
        forecasts = sunprint.plan(schema(), 10_000, epsilon=[0.01, "10"], delta="1e-6", w1=0.5)
        self.assertEqual([forecast.enough for forecast in forecasts], [False, True])
        self.assertIsNotNone(forecasts.wish)
        with self.assertRaises(sunprint.UsageError):
            sunprint.plan(schema(), 10, epsilon=-1)


    def test_what_the_schema_changed_is_said_first(self) -> None:
        frame = polars_frame()
        wrong = frame.with_columns(age=pl.Series([1_000] * len(frame)))
        found = sunprint.evaluate(wrong, frame, schema(), rows=50, draws=2)
        self.assertEqual(found.changed["age"], 1.0)
        self.assertTrue(found.notices[0].startswith("The schema changed 100.0 % of the real cells of age"))
        self.assertEqual(found.verdict["columns"], "poor")

    def test_a_model_knows_its_rows(self) -> None:
        frame = polars_frame().fill_nan(None)
        model = sunprint.Synthesizer(schema(), epsilon=1, ledger="none").fit(frame).model_
        made = model.sample(2_000, seed=1)
        self.assertEqual(sunprint.evaluate(frame, made, schema(), rows=50, draws=2, model=model).notices, [])
        other = made.with_columns(age=pl.lit(3))
        self.assertIn("age", sunprint.evaluate(frame, other, schema(), rows=50, draws=2, model=model).notices[0])


if __name__ == "__main__":
    unittest.main()
