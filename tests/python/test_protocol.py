"""Passes go out, tallies come back: the same bits for any parts, in any order, through any pickle."""

from __future__ import annotations

import pickle
import random
import unittest

import polars as pl

import sunprint
from support import ROWS, InFolder, polars_frame, schema


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


if __name__ == "__main__":
    unittest.main()
