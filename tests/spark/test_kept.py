"""Codes that Spark keeps between passes: the same bits, made again where they are lost, and released at the end."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from support import CANARY, KEYS, ROWS, OnCluster, cluster, passes, schema, table
from test_faults import misbehaving, one_machine, recorded

import sunprint
import sunprint.spark
from sunprint import _native
from sunprint.spark import _executor, _fit
from sunprint.spark._shipping import shipped


def counted(frame: Any, folder: Path) -> Any:
    """A frame that writes down how often each of its parts was made, and where."""
    place = str(folder)

    def noted(batches: Iterator[Any]) -> Iterator[Any]:
        import os

        from pyspark import TaskContext

        part = TaskContext.get().partitionId()
        for turn in range(1, 100):
            try:
                file = os.open(f"{place}/{part}-{turn}", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
            except FileExistsError:
                continue
            os.write(file, os.getcwd().encode())
            os.close(file)
            break
        yield from batches

    return frame.mapInArrow(noted, frame.schema)


def random_ages(frame: Any) -> Any:
    """A frame with other ages each time."""

    def random(batches: Iterator[Any]) -> Iterator[Any]:
        import os

        import pyarrow as pa

        for batch in batches:
            columns = batch.columns
            columns[0] = pa.array(os.urandom(batch.num_rows), pa.uint8()).cast(pa.int8(), safe=False)
            yield pa.RecordBatch.from_arrays(columns, schema=batch.schema)

    return frame.mapInArrow(random, frame.schema)


class Kept(OnCluster):
    def kept(self) -> list[int]:
        """The numbers of what Spark keeps."""
        return [int(number) for number in self.spark.sparkContext._jsc.getPersistentRDDs()]

    def blocks(self) -> int:
        """How many blocks of it there are on executors."""
        return sum(int(info.numCachedPartitions()) for info in self.spark.sparkContext._jsc.sc().getRDDStorageInfo())

    def evict(self) -> None:
        """Takes all blocks from the executors. Spark does the same one by one when memory and disks are full."""
        master = self.spark.sparkContext._jvm.org.apache.spark.SparkEnv.get().blockManager().master()
        for number in self.kept():
            master.removeRdd(number, True)

    def between_passes(self, work: Any) -> None:
        """Does something after each pass."""
        tallied = _fit.tallied
        self.addCleanup(lambda: setattr(_fit, "tallied", tallied))

        def after(*arguments: Any) -> Any:
            answer = tallied(*arguments)
            work(arguments[1])
            return answer

        _fit.tallied = after

    def test_rows_are_read_once_and_codes_released(self) -> None:
        seen = []
        self.between_passes(lambda what: seen.append((self.kept(), self.blocks())))
        heard = recorded(self)
        sunprint.spark.fit(counted(self.frame().repartition(3), self.folder), schema(), epsilon=1, ledger="none")
        one_machine(self, heard)
        for kept, blocks in seen:
            self.assertEqual((len(kept), blocks), (1, 3), "one frame of codes, in three parts")
        self.assertEqual((self.kept(), self.blocks()), ([], 0), "nothing is kept after the fit")
        # Once to be counted, and once more.
        turns = {f"{part}-{turn}" for part in range(3) for turn in (1, 2)}
        self.assertEqual({path.name for path in self.folder.glob("?-*")}, turns)

    def test_without_persist_every_pass_reads(self) -> None:
        self.between_passes(lambda what: self.assertEqual(self.kept(), []))
        heard = recorded(self)
        frame = counted(self.frame(), self.folder)
        sunprint.spark.fit(frame, schema(), epsilon=1, ledger="none", persist=False)
        one_machine(self, heard)
        self.assertTrue((self.folder / f"0-{len(heard) + 1}").exists(), "once to be counted, once for each pass")
        # One pass needs nothing that is kept.
        sunprint.spark.fit(frame, schema(), epsilon=1, ledger="none", method="cube")

    def test_codes_are_released_after_failures(self) -> None:
        class Stopped(BaseException):
            pass

        def stop(what: Any) -> None:
            self.assertEqual(self.blocks(), 3)
            if what.number == 2:
                raise Stopped

        folder = str(self.folder)

        def fails(batches: Iterator[Any]) -> Iterator[Any]:
            from pathlib import Path

            from pyspark import TaskContext

            part = TaskContext.get().partitionId()
            yield from batches
            # Once is well: it is when rows are counted. Later, one of three parts fails.
            if part == 0 and Path(f"{folder}/counted").exists():
                raise ValueError("on purpose")
            if part == 0:
                Path(f"{folder}/counted").touch()

        frame = self.frame().repartition(3)
        with self.assertRaises(sunprint.DataError) as caught:
            sunprint.spark.fit(frame.mapInArrow(fails, frame.schema), schema(), epsilon=1, ledger="none")
        self.assertIn("pass 1 failed on the cluster", str(caught.exception))
        self.assertEqual((self.kept(), self.blocks()), ([], 0))
        self.between_passes(stop)
        with self.assertRaises(Stopped):
            sunprint.spark.fit(frame, schema(), epsilon=1, ledger="none")
        self.assertEqual((self.kept(), self.blocks()), ([], 0))

    def test_other_frames_that_are_kept_stay(self) -> None:
        frame = self.frame().persist()
        self.addCleanup(frame.unpersist)
        frame.count()
        before = self.kept()
        self.assertEqual(len(before), 1)
        sunprint.spark.fit(frame, schema(), epsilon=1, ledger="none")
        self.assertEqual(self.kept(), before)
        # Two fits of one frame keep codes of their own.
        both = [_fit.kept(frame, schema(), _fit.Keys.fresh()) for _ in range(2)]
        self.assertEqual([cells.storageLevel.replication for cells in both], [1, 1], "no copy on another executor")
        for cells in both:
            self.assertTrue(0 < cells.count() < ROWS // 10, "many rows in a cell")
        self.assertEqual(len(self.kept()), 3)
        _fit._release(both[0])
        self.assertEqual(len(self.kept()), 2)
        _fit._release(both[1])
        self.assertEqual(self.kept(), before)

    def test_every_pass_has_the_bits_of_one_machine(self) -> None:
        whole = self.frame()
        columns = _fit.checked(whole, schema()._native, False)[1]
        cuts = {"1": whole.coalesce(1), "16": whole.repartition(16), "empty": whole.repartition(5, "smokes")}
        for name, frame in cuts.items():
            cells = _fit.kept(frame, schema(), KEYS)
            self.addCleanup(_fit._release, cells)
            for what, tally, mark in passes(schema(), table()):
                with self.subTest(number=what.number, partitions=name):
                    found, seen = _fit.tallied(frame, what, KEYS, columns, cells)
                    self.assertEqual((found.to_secret_bytes(), seen), (tally, mark))
        # Larger kinds of columns in Arrow, where Spark is told to use them.
        self.spark.conf.set("spark.sql.execution.arrow.useLargeVarTypes", "true")
        self.addCleanup(self.spark.conf.unset, "spark.sql.execution.arrow.useLargeVarTypes")
        what, tally, mark = passes(schema(), table())[0]
        cells = _fit.kept(whole, schema(), KEYS)
        self.addCleanup(_fit._release, cells)
        found, seen = _fit.tallied(whole, what, KEYS, columns, cells)
        self.assertEqual((found.to_secret_bytes(), seen), (tally, mark))

    def test_codes_that_are_evicted_are_made_again(self) -> None:
        self.between_passes(lambda what: self.evict())
        heard = recorded(self)
        sunprint.spark.fit(counted(self.frame(), self.folder), schema(), epsilon=1, ledger=self.folder / "ledger")
        one_machine(self, heard)
        self.assertTrue((self.folder / f"0-{len(heard) + 1}").exists(), "every pass made them again")
        self.assertEqual(_native.spent("people", str(self.folder / "ledger")), ("1", "0"))

    def test_codes_that_are_made_again_of_other_rows_are_noticed(self) -> None:
        ledger = self.folder / "ledger"
        self.between_passes(lambda what: self.evict())
        with self.assertRaises(sunprint.DataError) as caught:
            sunprint.spark.fit(random_ages(self.frame()), schema(), epsilon=1, ledger=ledger)
        self.assertIn("changed while it was being fitted", caught.exception.sentence)
        self.assertIn("charge stays in the ledger", "".join(caught.exception.__notes__))
        self.assertEqual(_native.spent("people", str(ledger)), ("1", "0"))
        self.assertEqual((self.kept(), self.blocks()), ([], 0))

    def test_codes_are_lost_with_their_worker_in_the_middle_of_pass_two(self) -> None:
        folder = str(self.folder)

        def waits(outcome: Iterator[Any], context: Any, number: int) -> Iterator[Any]:
            import time
            from pathlib import Path

            yield from outcome
            # The tally of one part is ready and does not go out before a worker is gone: this one, or the other.
            if number == 2 and context.partitionId() == 1:
                Path(f"{folder}/ready").touch()
                while not Path(f"{folder}/killed").exists():
                    time.sleep(0.05)

        killed: list[int] = []

        def killer() -> None:
            until = time.monotonic() + 120
            while not (self.folder / "ready").exists() and time.monotonic() < until:
                time.sleep(0.05)
            # Where the codes of that part were made, and are.
            number = 0 if "worker-0" in (self.folder / "1-2").read_text() else 1
            cluster().kill_worker(number)
            killed.append(number)
            (self.folder / "killed").touch()

        misbehaving(self, waits)
        heard = recorded(self)
        thread = threading.Thread(target=killer)
        thread.start()
        frame = counted(self.frame().repartition(4), self.folder)
        try:
            model = sunprint.spark.fit(frame, schema(), epsilon=1, ledger=self.folder / "ledger")
        finally:
            thread.join()
            for number in killed:
                cluster().restart_worker(number)
        self.assertEqual(len(killed), 1)
        self.assertTrue((self.folder / "1-3").exists(), "the codes of that part were made again")
        self.assertEqual((model.rows, model.receipt.ledger_entry), (ROWS, 1))
        one_machine(self, heard)
        self.assertEqual(_native.spent("people", str(self.folder / "ledger")), ("1", "0"))
        self.assertEqual(self.kept(), [])

    def test_refusals_come_before_the_charge(self) -> None:
        frame, ledger = self.frame(), self.folder / "ledger"
        with self.assertRaises(sunprint.UsageError) as caught:
            sunprint.spark.fit(frame, schema(), epsilon=1, ledger=ledger, persist="no")  # type: ignore[arg-type]
        self.assertIn("`persist` must be `True` or `False`", str(caught.exception))
        kind = type(frame.select("age"))
        persist = kind.persist
        self.addCleanup(lambda: setattr(kind, "persist", persist))

        def refuse(*_: Any) -> Any:
            raise ValueError(CANARY)

        kind.persist = refuse
        with self.assertRaises(sunprint.UsageError) as caught:
            sunprint.spark.fit(frame, schema(), epsilon=1, ledger=ledger)
        self.assertIn("cannot keep the codes of the rows between passes: it raised `ValueError`", str(caught.exception))
        self.assertIn("persist=False", caught.exception.hint)
        self.assertFalse(ledger.exists(), "nothing was charged")

    def test_failures_come_back_as_data(self) -> None:
        what, *_ = passes(schema(), table())[0]
        texts = what.texts()
        # A dictionary without entries, and keys into it: no batch that Arrow allows.
        keys = pa.array([113] * ROWS, pa.int8())
        torn = pa.DictionaryArray.from_arrays(keys, pa.array([], pa.string()), safe=False)
        place = table().column_names.index("town")
        batches = table().set_column(place, "town", torn).combine_chunks().to_batches()
        other = table().drop_columns("age").to_batches()
        for batch, kind in [(batches[0], "DataError"), (other[0], "DataError")]:
            kept = list(_executor.encode(iter([batch]), texts[1], KEYS.seal, 1000))
            self.assertEqual([piece.num_rows for piece in kept], [1], "nothing but the failure")
            self.assertEqual(json.loads(kept[0].column(1)[0].as_py())[0], kind)
            (row,) = next(_executor.tally_cells(iter(kept), *texts, *KEYS)).to_pylist()
            self.assertEqual((row["payload"], row["failure"]), (None, kind))
            self.assertNotIn("113", repr(row))
        # And where the package is missing or another one.
        version = sunprint.__version__
        self.addCleanup(lambda: setattr(sunprint, "__version__", version))
        work = shipped("encode", texts[1], KEYS.seal, 1000)
        sunprint.__version__ = "0"
        kept = list(work(iter(table().to_batches())))
        sunprint.__version__ = version
        (row,) = next(_executor.tally_cells(iter(kept), *texts, *KEYS)).to_pylist()
        self.assertEqual((row["payload"], row["failure"]), (None, "version"))

        def broken() -> Iterator[Any]:
            yield table().to_batches()[0]
            raise ValueError(CANARY)

        with self.assertRaises(RuntimeError) as caught:
            list(_executor.encode(broken(), texts[1], KEYS.seal, 1000))
        self.assertNotIn(CANARY, repr(caught.exception))
        self.assertIsNone(caught.exception.__context__)


class Random(OnCluster):
    def test_rows_that_are_made_once_do_not_change(self) -> None:
        heard = recorded(self)
        model = sunprint.spark.fit(random_ages(self.frame()), schema(), epsilon=1, ledger="none")
        self.assertEqual(model.rows, ROWS)
        self.assertGreaterEqual(len(heard), 3)
