"""A cluster tallies to the bits of one machine, draws its rows, and keeps types."""

from __future__ import annotations

import datetime
import decimal
import os
from pathlib import Path

import pyarrow as pa
from support import CANARY, KEYS, ROWS, OnCluster, cluster, passes, schema, table

import sunprint
import sunprint.spark
from sunprint.spark import _fit


def drawn(model: sunprint.Model, rows: int, seed: int) -> list[tuple[object, ...]]:
    """The draw of one machine, as Python's own values; moments with a zone as seconds."""
    columns = model.sample(rows, seed=seed, to="pyarrow").to_pydict().values()
    return [tuple(map(plain, row)) for row in zip(*columns, strict=True)]


def plain(value: object) -> object:
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value.timestamp()
    return value


class Tallies(OnCluster):
    def columns(self, frame: object) -> pa.Schema:
        return _fit.checked(frame, schema()._native, False)[1]

    def test_every_pass_has_the_bits_of_one_machine(self) -> None:
        whole = self.frame()
        columns = self.columns(whole)
        for method in ("default", "paper"):
            # Some partitions are empty, and some have one row.
            cuts = {"1": whole.coalesce(1), "3": whole, "16": whole.repartition(16), "empty": whole.repartition(5, "smokes")}
            for what, tally, mark in passes(schema(), table(), method):
                for name, frame in cuts.items():
                    with self.subTest(method=method, number=what.number, partitions=name):
                        found, seen = _fit.tallied(frame, what, KEYS, columns)
                        self.assertEqual(found.to_secret_bytes(), tally)
                        self.assertEqual(seen, mark)
                if method == "default" and what.number > 1:
                    cuts = {"3": whole}
        # Control: one other value is another tally and another fingerprint.
        other = table().set_column(0, "age", pa.array([1, *table()["age"].to_pylist()[1:]], pa.int8()))
        what, tally, mark = passes(schema(), table())[0]
        found, seen = _fit.tallied(self.frame(other), what, KEYS, columns)
        self.assertNotEqual(found.to_secret_bytes(), tally)
        self.assertNotEqual(seen, mark)

    def test_many_rounds_of_merging(self) -> None:
        whole = self.frame().repartition(13)
        what, tally, _ = passes(schema(), table())[0]
        fan, most, tasks = _fit._FAN, _fit._AT_THE_DRIVER, _fit._tasks
        self.addCleanup(lambda: setattr(_fit, "_FAN", fan))
        self.addCleanup(lambda: setattr(_fit, "_AT_THE_DRIVER", most))
        self.addCleanup(lambda: setattr(_fit, "_tasks", tasks))
        _fit._FAN, _fit._AT_THE_DRIVER = 2, 1
        _fit._tasks = lambda size, cores: (1000, 4)
        arrived = []
        collected = _fit.collected
        self.addCleanup(lambda: setattr(_fit, "collected", collected))
        _fit.collected = lambda *words: arrived.extend(found := collected(*words)) or found
        found, _ = _fit.tallied(whole, what, KEYS, self.columns(whole))
        self.assertEqual(found.to_secret_bytes(), tally)
        self.assertEqual(len(arrived), 1, "the driver gets one tally")

    def test_wide_tallies_come_in_few_tasks(self) -> None:
        small, wide = _fit._tasks(20_000, 100), _fit._tasks(16_000_000, 100)
        self.assertGreater(small[0], 100_000)
        self.assertEqual(small[1], 100)
        self.assertLess(wide[0] * 16_000_000, 5 << 30)
        self.assertGreaterEqual(wide[0], 200)

    def test_texts_may_hold_any_bytes(self) -> None:
        # Half a character is no category and no reason to fail.
        frame = self.frame().selectExpr(
            *[f"`{name}`" for name in table().column_names if name != "town"],
            f"cast(concat(unhex('FFC3'), cast('{CANARY}' as binary)) as string) as town",
        )
        model = sunprint.spark.fit(frame, schema(), epsilon=1, ledger="none")
        self.assertEqual(model.rows, ROWS)


class Draws(OnCluster):
    def test_types_and_draws(self) -> None:
        ledger = self.folder / "ledger"
        frame = self.frame()
        model = sunprint.spark.fit(frame, schema(), epsilon=1, ledger=ledger)
        self.assertEqual((model.rows, model.receipt.epsilon, model.receipt.ledger_entry), (ROWS, "1", 1))
        again = self.folder / "people.sunprint"
        model.save(again)
        expected = drawn(sunprint.Model.load(again), 2500, 7)
        for partitions in (None, 1, 3, 40):
            with self.subTest(partitions=partitions):
                found = sunprint.spark.sample(self.spark, model, 2500, seed=7, partitions=partitions)
                self.assertEqual([f.dataType for f in found.schema], [f.dataType for f in frame.schema])
                self.assertEqual(found.columns, frame.columns)
                # Moments with a zone come back from Spark in the local one.
                rows = found.selectExpr(*[f"`{c}`" for c in found.columns if c != "seen"]).collect()
                seen = found.selectExpr("unix_micros(seen) / 1e6").collect()
                kept = [tuple(value for name, value in zip(found.columns, row, strict=True) if name != "seen") for row in expected]
                self.assertEqual([tuple(row) for row in rows], kept)
                self.assertEqual([row[0] for row in seen], [row[found.columns.index("seen")] for row in expected])
        other = sunprint.spark.sample(self.spark, model, 100, seed=8).select("number").collect()
        first = sunprint.spark.sample(self.spark, model, 100, seed=7).select("number").collect()
        self.assertNotEqual(other, first)
        row = sunprint.spark.sample(self.spark, model, 100, seed=7).first()
        self.assertIsInstance(row["price"], decimal.Decimal)
        self.assertIsInstance(row["born"], datetime.date)
        # Missing values, where they are allowed, and nowhere else.
        counts = sunprint.spark.sample(self.spark, model, 3000, seed=1).selectExpr(
            "count_if(town is null)", "count_if(weight is null)", "count_if(seen is null)", "count_if(age is null)"
        ).first()
        self.assertTrue(all(150 < count < 600 for count in counts[:3]), counts)
        self.assertEqual(counts[3], 0)

    def test_steps_draw_the_same(self) -> None:
        model = sunprint.Synthesizer(schema(), epsilon=1, ledger="none").fit(table()).model_
        from sunprint.spark import _sample

        few = _sample._STEP_VALUES
        self.addCleanup(lambda: setattr(_sample, "_STEP_VALUES", few))
        expected = [row[3] for row in drawn(model, 9000, 3)]
        _sample._STEP_VALUES = 10_000
        found = sunprint.spark.sample(self.spark, model, 9000, seed=3, partitions=2).select("number").collect()
        self.assertEqual([row[0] for row in found], expected)
        empty = sunprint.spark.sample(self.spark, model, 0, seed=3)
        self.assertEqual(empty.count(), 0)

    def test_models_of_files_draw_in_types_that_spark_has(self) -> None:
        path = self.folder / "few.csv"
        path.write_text("age,smokes,born\n" + "30,no,1990-01-01\n" * 50)
        known = sunprint.Schema.build(
            "few",
            sunprint.integer("age", 0, 120),
            sunprint.categorical("smokes", ["no", "yes"]),
            sunprint.date("born", "1920-01-01", "2020-12-31"),
        )
        synthesizer = sunprint.Synthesizer(known, epsilon=1, ledger="none").fit(path)
        found = sunprint.spark.sample(self.spark, synthesizer, 10, seed=1)
        self.assertEqual([field.dataType.simpleString() for field in found.schema], ["bigint", "string", "date"])
        self.assertEqual([tuple(row) for row in found.collect()], drawn(synthesizer.model_, 10, 1))


class Loopback(OnCluster):
    def test_nothing_listens_elsewhere(self) -> None:
        self.spark.range(4).count()
        mine = {os.getpid(), *self.spark_processes()}
        found = listening(mine)
        self.assertGreater(len(found), 5, "the master, two workers, a driver and executors listen")
        self.assertEqual(found - {"0100007F", "0000000000000000FFFF00000100007F"}, set(), "127.0.0.1 alone")

    def spark_processes(self) -> set[int]:
        groups = set(cluster().groups())
        found = set()
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            # The state, the parent, the group: the JVM of the driver is a child of this process.
            if int(fields[2]) in groups or int(fields[1]) == os.getpid():
                found.add(int(stat.parent.name))
        return found


class _Sockets(list[str]):
    """Addresses, of which there may be the same one several times."""

    def __sub__(self, other: set[str]) -> set[str]:
        return set(self) - other


def listening(processes: set[int]) -> _Sockets:
    """The addresses, as the system writes them, on which these processes listen."""
    held = set()
    for process in processes:
        try:
            held |= {os.readlink(link) for link in Path(f"/proc/{process}/fd").iterdir()}
        except OSError:
            continue
    found = _Sockets()
    for table_of in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table_of).read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and f"socket:[{words[9]}]" in held:
                found.append(words[1].partition(":")[0])
    return found
