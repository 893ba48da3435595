"""Killed workers, failed attempts and speculative ones: every row counts once, and so does the charge."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from support import KEY, ROWS, OnCluster, cluster, passes, schema, table

import sunprint
import sunprint.spark
from sunprint import _native
from sunprint.spark import _fit


def recorded(test: OnCluster) -> list[tuple[Any, bytes]]:
    """The passes of the fits of a test, with what the cluster answered."""
    found: list[tuple[Any, bytes]] = []
    tallied = _fit.tallied
    test.addCleanup(lambda: setattr(_fit, "tallied", tallied))

    def heard(*arguments: Any) -> Any:
        answer = tallied(*arguments)
        found.append((arguments[1], answer[0].to_secret_bytes()))
        return answer

    _fit.tallied = heard
    return found


def one_machine(test: OnCluster, heard: list[tuple[Any, bytes]]) -> None:
    """Every tally is that of one machine."""
    test.assertGreaterEqual(len(heard), 3)
    for what, tally in heard:
        expected, _ = _native.tally_marked(what, table(), KEY)
        test.assertEqual(tally, expected.to_secret_bytes(), f"pass {what.number}")


def misbehaving(test: OnCluster, behaviour: Callable[[Iterator[Any], Any, int], Iterator[Any]]) -> None:
    """Lets tasks misbehave after they have produced their output: those that make codes (pass 0) and those that tally."""
    shipped = _fit.shipped
    test.addCleanup(lambda: setattr(_fit, "shipped", shipped))

    def tampered(task: str, *arguments: Any) -> Any:
        work = shipped(task, *arguments)
        if task not in ("encode", "tally", "tally_cells"):
            return work
        number = 0 if task == "encode" else int(json.loads(arguments[0])["number"])

        def again(batches: Iterator[Any]) -> Iterator[Any]:
            from pyspark import TaskContext

            yield from behaviour(work(batches), TaskContext.get(), number)

        return again

    _fit.shipped = tampered


class Faults(OnCluster):
    def check(self, heard: list[tuple[Any, bytes]], ledger: Path) -> None:
        """Every tally is that of one machine, and one charge stands in the ledger."""
        one_machine(self, heard)
        self.assertEqual(_native.spent("people", str(ledger)), ("1", "0"))

    def test_a_worker_is_killed_in_the_middle_of_pass_two(self) -> None:
        folder = str(self.folder)

        def slow(batches: Iterator[Any]) -> Iterator[Any]:
            import os
            import time

            from pyspark import TaskContext

            part = TaskContext.get().partitionId()
            yield next(batches)
            # How often this part was begun: once to count, once in pass 1; the third time is in pass 2.
            for turn in range(1, 100):
                try:
                    os.close(os.open(f"{folder}/{part}-{turn}", os.O_CREAT | os.O_EXCL))
                    break
                except FileExistsError:
                    continue
            if part == 1 and turn == 3:
                with open(f"{folder}/here", "w") as here:
                    here.write(os.getcwd())
                os.rename(f"{folder}/here", f"{folder}/there")
                for _ in range(600):
                    time.sleep(0.1)
            yield from batches

        killed = []

        def killer() -> None:
            there = self.folder / "there"
            until = time.monotonic() + 120
            while not there.exists() and time.monotonic() < until:
                time.sleep(0.05)
            number = 0 if "worker-0" in there.read_text() else 1
            cluster().kill_worker(number)
            killed.append(number)

        frame = self.frame().repartition(4)
        frame = frame.mapInArrow(slow, frame.schema)
        heard = recorded(self)
        thread = threading.Thread(target=killer)
        thread.start()
        try:
            model = sunprint.spark.fit(frame, schema(), epsilon=1, ledger=self.folder / "ledger", persist=False)
        finally:
            thread.join()
            for number in killed:
                cluster().restart_worker(number)
        self.assertEqual(len(killed), 1)
        self.assertTrue((self.folder / "1-4").exists(), "the part was begun again")
        self.assertEqual(model.rows, ROWS)
        self.assertEqual(model.receipt.ledger_entry, 1)
        self.check(heard, self.folder / "ledger")

    def test_attempts_that_fail_after_their_output(self) -> None:
        folder = str(self.folder)

        def fails(outcome: Iterator[Any], context: Any, number: int) -> Iterator[Any]:
            yield from outcome
            if context.attemptNumber() == 0:
                with open(f"{folder}/failed", "a") as failed:
                    failed.write(f"{number}\n")
                raise ValueError("on purpose")

        misbehaving(self, fails)
        for persist in (True, False):
            with self.subTest(persist=persist):
                (self.folder / "failed").unlink(missing_ok=True)
                heard = recorded(self)
                ledger = self.folder / f"ledger-{persist}"
                sunprint.spark.fit(self.frame(), schema(), epsilon=1, ledger=ledger, persist=persist)
                failed = {int(line) for line in (self.folder / "failed").read_text().split()}
                # Where codes are made, they are pass 0.
                expected = {what.number for what, _ in heard} | ({0} if persist else set())
                self.assertEqual(failed, expected, "every pass had its failures")
                self.check(heard, ledger)


class Speculation(Faults):
    conf = {
        "spark__speculation": "true",
        "spark__speculation__interval": "50ms",
        "spark__speculation__minTaskRuntime": "50ms",
        "spark__speculation__multiplier": "1.01",
        "spark__speculation__quantile": "0.1",
    }

    def test_two_attempts_at_once(self) -> None:
        folder = str(self.folder)

        def slow(outcome: Iterator[Any], context: Any, number: int) -> Iterator[Any]:
            import time

            yield from outcome
            with open(f"{folder}/{context.partitionId()}-{context.attemptNumber()}", "a") as seen:
                seen.write(f"{number}\n")
            # The first attempt of one part has its tally ready and does not end; Spark begins another beside it.
            if context.partitionId() == 0 and context.attemptNumber() == 0:
                for _ in range(600):
                    time.sleep(0.1)

        misbehaving(self, slow)
        for persist in (True, False):
            with self.subTest(persist=persist):
                for attempt in ("0-0", "0-1"):
                    (self.folder / attempt).unlink(missing_ok=True)
                heard = recorded(self)
                ledger = self.folder / f"ledger-{persist}"
                frame = self.frame().repartition(4)
                sunprint.spark.fit(frame, schema(), epsilon=1, ledger=ledger, persist=persist)
                expected = sorted([what.number for what, _ in heard] + ([0] if persist else []))
                for attempt in ("0-0", "0-1"):
                    found = sorted(map(int, (self.folder / attempt).read_text().split()))
                    self.assertEqual(found, expected, f"attempt {attempt} in every pass")
                self.check(heard, ledger)

    # Killed workers and failing attempts are tried once, without speculation.
    test_a_worker_is_killed_in_the_middle_of_pass_two = None  # type: ignore[assignment]
    test_attempts_that_fail_after_their_output = None  # type: ignore[assignment]


class Changes(OnCluster):
    """Rows that change between passes are noticed, and the charge stands once. What is kept does not change: `test_kept`."""

    def refused(self, frame: Any) -> None:
        ledger = self.folder / "ledger"
        with self.assertRaises(sunprint.DataError) as caught:
            sunprint.spark.fit(frame, schema(), epsilon=1, ledger=ledger, persist=False)
        self.assertIn("changed while it was being fitted", caught.exception.sentence)
        self.assertIn("charge stays in the ledger", "".join(caught.exception.__notes__))
        self.assertEqual(_native.spent("people", str(ledger)), ("1", "0"))

    def test_other_values(self) -> None:
        def random(batches: Iterator[Any]) -> Iterator[Any]:
            import os

            import pyarrow as pa

            for batch in batches:
                columns = batch.columns
                columns[0] = pa.array(os.urandom(batch.num_rows), pa.uint8()).cast(pa.int8(), safe=False)
                yield pa.RecordBatch.from_arrays(columns, schema=batch.schema)

        frame = self.frame()
        self.refused(frame.mapInArrow(random, frame.schema))

    def test_values_that_change_places(self) -> None:
        """The sums of all columns stay what they are, and the number of rows too."""

        def turned(batches: Iterator[Any]) -> Iterator[Any]:
            import random

            import pyarrow as pa

            for batch in batches:
                columns = batch.columns
                order = list(range(batch.num_rows))
                random.SystemRandom().shuffle(order)
                columns[4] = columns[4].take(pa.array(order))
                yield pa.RecordBatch.from_arrays(columns, schema=batch.schema)

        frame = self.frame()
        self.refused(frame.mapInArrow(turned, frame.schema))

    def test_another_number_of_rows(self) -> None:
        folder = str(self.folder)

        def fewer(batches: Iterator[Any]) -> Iterator[Any]:
            import os

            for batch in batches:
                try:
                    os.close(os.open(f"{folder}/counted", os.O_CREAT | os.O_EXCL))
                    yield batch
                except FileExistsError:
                    yield batch.slice(1)

        frame = self.frame(files=1).coalesce(1)
        self.refused(frame.mapInArrow(fewer, frame.schema))

    def test_rows_in_another_order_are_the_same_rows(self) -> None:
        from pyspark.sql import functions

        frame = self.frame().orderBy(functions.expr("uuid()"))
        heard = recorded(self)
        sunprint.spark.fit(frame, schema(), epsilon=1, ledger="none", persist=False)
        self.assertEqual([what.number for what, _ in heard], [what.number for what, *_ in passes(schema(), table())])
