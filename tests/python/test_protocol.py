"""Passes go out, tallies come back: the same bits for any parts, in any order, through any pickle."""

from __future__ import annotations

import json
import os
import pickle
import random
import sqlite3
import unittest
import warnings
from collections.abc import Callable
from pathlib import Path

import polars as pl

import sunprint
from support import ROWS, InFolder, counted, polars_frame, schema


def begun(**parameters: object) -> sunprint.Fit:
    return sunprint.Fit(schema(), **{"epsilon": 1, "rows": ROWS, "ledger": "none", **parameters})  # type: ignore[arg-type]


def parts(frame: pl.DataFrame) -> list[pl.DataFrame]:
    cuts = [0, 1, 700, 700, 2999, ROWS]
    return [frame[first:last] for first, last in zip(cuts, cuts[1:], strict=False)]


class Protocol(InFolder):
    def test_parts_give_the_bits_of_the_whole(self) -> None:
        frame = polars_frame()
        for method in ("default", "paper", "cube", "gaussian"):
            path = self.folder / "people.parquet"
            frame.write_parquet(path)
            fit = begun(method=method, like=frame)
            passes = 0
            while (what := fit.next_pass()) is not None:
                passes += 1
                whole = sunprint.tally(what, path)
                answers = [sunprint.tally(what, part) for part in parts(frame)]
                random.Random(passes).shuffle(answers)
                merged = sunprint.merge(answers)
                self.assertEqual(merged.to_secret_bytes(), whole.to_secret_bytes())
                self.assertEqual(merged, whole)
                self.assertEqual(sum(answers), whole)
                self.assertEqual(answers[0] + sunprint.merge(answers[1:]), whole)
                self.assertNotEqual(answers[0], whole)
                self.assertEqual((merged.rows, merged.number), (ROWS, passes))
                fit.absorb(merged)
            model = fit.finish()
            self.assertEqual((model.rows, model.receipt.method), (ROWS, method))
            self.assertGreaterEqual(passes, 1)
            self.assertEqual(dict(pl.DataFrame(model.sample(10)).schema), dict(frame.schema))

    def test_everything_pickles_but_the_fit(self) -> None:
        frame, fit = polars_frame(), begun()
        while (what := fit.next_pass()) is not None:
            sent = pickle.loads(pickle.dumps(what))
            answer = pickle.loads(pickle.dumps(sunprint.tally(sent, frame)))
            self.assertEqual(answer, sunprint.tally(what, frame))
            fit.absorb(answer)
        with self.assertRaises(TypeError):
            pickle.dumps(fit)
        model = fit.finish()
        again = pickle.loads(pickle.dumps(model))
        self.assertTrue(pl.DataFrame(again.sample(50, seed=1)).equals(pl.DataFrame(model.sample(50, seed=1))))

    def test_what_does_not_belong_is_refused(self) -> None:
        frame, fit = polars_frame(), begun()
        first = fit.next_pass()
        assert first is not None
        whole = sunprint.tally(first, frame)
        for wrong in (sunprint.tally(first, frame[1:]), whole + whole):
            with self.assertRaises(sunprint.ProtocolError):
                fit.absorb(wrong)
        with self.assertRaises(sunprint.ProtocolError):
            fit.finish()
        with self.assertRaises(sunprint.ProtocolError):
            sunprint.merge([])
        fit.absorb(whole)
        with self.assertRaises(sunprint.ProtocolError):
            fit.absorb(whole)
        second = fit.next_pass()
        assert second is not None
        with self.assertRaises(sunprint.ProtocolError):
            _ = whole + sunprint.tally(second, frame)
        with self.assertRaises(TypeError):
            _ = 1 + whole
        damaged = bytearray(whole.to_secret_bytes())
        damaged[0] ^= 1
        with self.assertRaises(sunprint.ProtocolError):
            sunprint.Tally.from_secret_bytes(bytes(damaged), first)
        other = sunprint.Schema.build("other", sunprint.integer("age", 0, 120))
        with self.assertRaises(sunprint.ProtocolError):
            sunprint.Pass.from_text(first.texts()[0], other.to_toml())

    def test_the_charge_is_recorded_once(self) -> None:
        ledger = self.folder / "ledger.sqlite"
        frame, fit = polars_frame(), begun(ledger=ledger)
        spent = lambda: sunprint._native.spent("people", str(ledger))  # noqa: E731
        self.assertIsNone(spent(), "beginning costs nothing")
        while (what := fit.next_pass()) is not None:
            fit.next_pass()
            self.assertEqual(spent(), ("1", "0"))
            fit.absorb(sunprint.tally(what, frame))
            self.assertEqual(spent(), ("1", "0"))
        self.assertEqual(fit.finish().receipt.ledger_entry, 1)
        with self.assertRaises(sunprint.ProtocolError):
            fit.finish()

    def test_a_table_that_changes_its_length_between_passes(self) -> None:
        frame, fit = polars_frame(), begun()
        first = fit.next_pass()
        assert first is not None
        fit.absorb(sunprint.tally(first, frame))
        second = fit.next_pass()
        assert second is not None
        with self.assertRaises(sunprint.ProtocolError) as caught:
            fit.absorb(sunprint.tally(second, frame[5:]))
        self.assertIn(f"counts {ROWS - 5} rows and the fit was begun with {ROWS}", caught.exception.sentence)


def in_a_child(work: Callable[[], bytes], answer: Path) -> bytes:
    """What some work gives in a process that forks from this one."""
    with warnings.catch_warnings():
        # Newer Pythons warn of threads. Those of polars stay behind, and the child uses no polars.
        warnings.simplefilter("ignore")
        child = os.fork()
    if child == 0:
        try:
            answer.write_bytes(work())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    said = answer.read_bytes()
    answer.unlink()
    return said


class Forks(InFolder):
    def setUp(self) -> None:
        super().setUp()
        self.path = self.folder / "people.csv"
        polars_frame().write_csv(self.path)

    def absorbed(self, fit: sunprint.Fit, passes: int = 99) -> sunprint.Fit:
        while passes > 0 and (what := fit.next_pass()) is not None:
            fit.absorb(sunprint.tally(what, self.path))
            passes -= 1
        return fit

    def finished(self, fit: sunprint.Fit) -> bytes:
        return in_a_child(lambda: self.absorbed(fit).finish()._native.to_json().encode(), self.folder / "answer")

    def test_children_of_one_fit_draw_different_noise(self) -> None:
        """The rows are the same, so that models differ by their noise alone. At an epsilon of 1 a count has noise of scale 2 or
        more, equal in two models with a probability below 0.14, and a pass of counts has sixteen of them or more: a false
        alarm has a probability below 1e-12. The other passes release sums, with noise of 10,000 values or more each."""
        for method in ("default", "paper", "cube", "gaussian"):
            for passes in (0, 1):
                with self.subTest(method=method, passes=passes):
                    fit = self.absorbed(begun(method=method), passes)
                    if (what := fit.next_pass()) is None:
                        continue
                    if any(cells in json.loads(what.texts()[0])["work"] for cells in ("Cells", "Grid")):
                        self.assertGreaterEqual(len(counted(sunprint.tally(what, self.path))), 16 * 8)
                    models = [self.finished(fit) for _ in range(3)]
                    self.assertTrue(all(json.loads(model)["release"] for model in models))
                    self.assertEqual(len(set(models)), 3, "noise was repeated")
                    # The parent goes on too, with noise of its own.
                    self.assertNotIn(self.absorbed(fit).finish()._native.to_json().encode(), models)

    def test_one_entry_of_the_ledger_pays_for_one_release(self) -> None:
        ledger = self.folder / "ledger.sqlite"

        def tried(fit: sunprint.Fit) -> bytes:
            def work() -> bytes:
                try:
                    return b"finished" if self.absorbed(fit).finish() else b""
                except sunprint.ProtocolError as error:
                    return error.sentence.encode()

            return in_a_child(work, self.folder / "answer")

        fit = begun(ledger=ledger)
        fit.next_pass()
        self.assertEqual(tried(fit), b"finished")
        self.assertIn(b"entry 1 is spent", tried(fit))
        with self.assertRaises(sunprint.ProtocolError):
            self.absorbed(fit)
        # In the middle of a fit: the process that spent the charge goes on, and no other.
        fit = self.absorbed(begun(ledger=ledger), 1)
        self.assertEqual(tried(fit), b"the charge of this fit was spent in another process")
        self.absorbed(fit).finish()
        # A fit that nothing was asked of yet has no charge either: each child pays for its own.
        fit = begun(ledger=ledger)
        self.assertEqual([tried(fit), tried(fit)], [b"finished", b"finished"])
        self.assertEqual(sunprint._native.spent("people", str(ledger)), ("4", "0"))


class Belonging(InFolder):
    def test_a_tally_belongs_to_one_pass_of_one_fit(self) -> None:
        ledger, frame, native = self.folder / "ledger.sqlite", polars_frame(), sunprint._native
        fit, other = begun(ledger=ledger), begun()

        def steps() -> list[str]:
            book = sqlite3.connect(ledger)
            try:
                return [step for (step,) in book.execute("SELECT step FROM event ORDER BY number")]
            finally:
                book.close()

        while (mine := fit.next_pass()) is not None:
            theirs = other.next_pass()
            assert theirs is not None
            right, wrong = sunprint.tally(mine, frame), sunprint.tally(theirs, frame)
            self.assertEqual((right.number, right.rows), (wrong.number, wrong.rows))
            same_shape = len(right.to_secret_bytes()) == len(wrong.to_secret_bytes())
            if mine.number == 2:
                # Clamps come from noisy numbers: those of the other fit are others.
                self.assertTrue(same_shape)
                self.assertNotEqual(*(json.loads(what.texts()[0])["work"] for what in (mine, theirs)))
            before = steps()
            refusals: list[Callable[[], object]] = [
                lambda: fit.absorb(wrong),
                lambda: right + wrong,
                lambda: sum([right, wrong]),
                lambda: sunprint.merge([right, wrong]),
                lambda: sunprint.Tally.from_secret_bytes(wrong.to_secret_bytes(), mine),
                # As Spark's executors and its driver do it, even under one key.
                lambda: native.open_tally(mine, native.seal_tally(wrong, bytes(16), bytes(32)), bytes(32)),
            ]
            for refused in refusals:
                with self.assertRaises(sunprint.ProtocolError) as caught:
                    refused()
                self.assertRegex(caught.exception.sentence, "another fit|different fits")
            self.assertEqual(steps(), before, "nothing was spent")
            self.assertEqual("spend" in before, mine.number > 1)
            self.assertEqual(fit.next_pass().texts(), mine.texts())  # type: ignore[union-attr]
            fit.absorb(pickle.loads(pickle.dumps(right)))
            other.absorb(wrong)
            if not same_shape:
                break

    def test_bounds_belong_to_the_pass(self) -> None:
        what = begun().next_pass()
        assert what is not None
        text, known = what.texts()
        self.assertEqual(sunprint.Pass.from_text(text, known).texts(), (text, known))
        with self.assertRaises(sunprint.ProtocolError):
            sunprint.Pass.from_text(text, known.replace("120", "119"))
        self.assertNotEqual(known, known.replace("120", "119"))


if __name__ == "__main__":
    unittest.main()
