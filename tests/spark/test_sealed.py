"""What Spark keeps and carries is sealed: neither codes nor tallies are to be seen, and whatever is changed is refused."""

from __future__ import annotations

import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from reference import opened, sealed
from support import KEY, KEYS, ROWS, OnCluster, passes, schema, table

import sunprint
from sunprint import _native
from sunprint.spark import _executor, _fit

#: The salt and the number of a sealed text, which are in the clear.
HEADER = 32


def without_strata() -> sunprint.Schema:
    return sunprint.Schema(schema().to_toml().replace('role = "label"\n', ""))


def constant(rows: int = ROWS) -> pa.Table:
    """Rows that are all the same: whatever does not hide them repeats."""
    one = table().slice(0, 1)
    return pa.concat_tables([one] * rows).combine_chunks()


def collected(cells: Any) -> list[bytes]:
    return [bytes(row["codes"]) for row in cells.collect()]


def texts(cells: list[bytes]) -> list[bytes]:
    """The control: what is inside."""
    return [opened(KEYS.seal, b"rows", cell) for cell in cells]


def shows(cells: list[bytes], needle: bytes) -> bool:
    """Whether somebody who looks at cells sees something: a row, or eight bytes that come twice.

    Cells are looked at behind their headers. Among 2¹⁴ random words two are equal with a probability of 2⁻³⁷.
    """
    bodies = [cell[HEADER:] for cell in cells]
    words = [body[place : place + 8] for body in bodies for place in range(0, len(body) - 7, 8)]
    return needle in b"".join(cells) or len(set(words)) < len(words)


class Reference(unittest.TestCase):
    """Against sealed texts in plain Python. These need no cluster."""

    def test_cells(self) -> None:
        for strata, known in enumerate((without_strata(), schema())):
            what, tally, mark = passes(known, table())[0]
            for size in (1, 3000, 1 << 20):
                with self.subTest(strata=strata, size=size):
                    some = table() if size > 1 else table(40)
                    cells = pa.table(_native.sealed_cells(known._native, some, KEYS.seal, size)).column(0).to_pylist()
                    inside = texts(cells)
                    # Sealed again by the reference, with salts of its own, in another order.
                    again = [sealed(KEYS.seal, b"rows", bytes([7] * 24), number, text) for number, text in enumerate(inside)]
                    for spelling in (cells, again[::-1]):
                        rows = pa.table({"codes": pa.array(spelling, pa.binary())})
                        found, seen = _native.tally_cells(what, rows, KEY, KEYS.seal)
                        if size > 1:
                            self.assertEqual((found.to_secret_bytes(), seen), (tally, mark))
                        self.assertEqual(found.rows, some.num_rows)

    def test_tallies(self) -> None:
        for what, plain, mark in passes(schema(), table()):
            tally = _native.Tally.from_secret_bytes(plain, what)
            whole = _native.seal_tally(tally, mark, KEYS.seal)
            self.assertEqual(opened(KEYS.seal, b"tallies", whole), mark + plain)
            again = sealed(KEYS.seal, b"tallies", bytes(range(24)), 3, mark + plain)
            for spelling in (whole, again):
                found, seen = _native.open_tally(what, spelling, KEYS.seal)
                self.assertEqual((found.to_secret_bytes(), seen), (plain, mark))
            damaged = [
                whole[:-1],
                whole + b"\0",
                whole[:40] + bytes([whole[40] ^ 1]) + whole[41:],
                b"",
                mark + plain,
                sealed(KEYS.seal, b"rows", bytes(24), 0, mark + plain),
                sealed(KEY, b"tallies", bytes(24), 0, mark + plain),
            ]
            for bad in damaged:
                with self.assertRaises(sunprint.ProtocolError) as caught:
                    _native.open_tally(what, bad, KEYS.seal)
                self.assertEqual(caught.exception.sentence, "a tally does not open with the key of this fit")
        with self.assertRaises(TypeError):
            _native.open_tally(what, whole, b"short")
        with self.assertRaises(TypeError):
            _native.seal_tally(tally, b"short", KEYS.seal)


class Sealed(OnCluster):
    # What is compressed would not be found.
    conf = {"spark__shuffle__compress": "false", "spark__rdd__compress": "false"}

    def kept(self, frame: Any, known: sunprint.Schema, keys: _fit.Keys = KEYS) -> Any:
        cells = _fit.kept(frame, known, keys)
        self.addCleanup(_fit._release, cells)
        return cells

    def on_disks(self) -> bytes:
        """All that lies in the local folders of the executors now."""

        def folders(batches: Iterator[Any]) -> Iterator[Any]:
            import os

            import pyarrow as pa

            for _ in batches:
                pass
            yield pa.RecordBatch.from_pydict({"place": [os.environ["SPARK_LOCAL_DIRS"]]})

        rows = self.spark.range(0, 8, 1, 8).mapInArrow(folders, "place string").collect()
        places = {Path(place) for row in rows for place in row["place"].split(",")}
        self.assertTrue(places)
        return b"".join(path.read_bytes() for place in places for path in place.rglob("*") if path.is_file())

    def on_disks_alone(self) -> None:
        """Lets Spark keep everything on disks, as it does where memory is short."""
        from pyspark.storagelevel import StorageLevel

        level = StorageLevel.MEMORY_AND_DISK_DESER
        self.addCleanup(lambda: setattr(StorageLevel, "MEMORY_AND_DISK_DESER", level))
        StorageLevel.MEMORY_AND_DISK_DESER = StorageLevel.DISK_ONLY

    def test_constant_rows_are_not_to_be_seen(self) -> None:
        for known in (schema(), without_strata()):
            frame = self.frame(constant())
            columns = _fit.checked(frame, known._native, False)[1]
            cells = self.kept(frame, known)
            held = collected(cells)
            inside = texts(held)
            row = inside[0][: 2 * known._native.width]
            self.assertGreater(len(row), 20)
            self.assertFalse(shows(held, row))
            self.assertTrue(shows(inside, row), "the control: what is not sealed is seen")
            self.assertLess(10 * len(held), ROWS, "many rows in each")
            for what, tally, mark in passes(known, constant()):
                found, seen = _fit.tallied(frame, what, KEYS, columns, cells)
                self.assertEqual((found.to_secret_bytes(), seen), (tally, mark))
            # Another fit of the same rows keeps other bytes.
            other = self.kept(frame, known, _fit.Keys.fresh())
            self.assertFalse(shows(held + collected(other), row))

    def test_nothing_is_on_disks(self) -> None:
        self.on_disks_alone()
        frame = self.frame(constant()).coalesce(1)
        columns = _fit.checked(frame, schema()._native, False)[1]
        cells = self.kept(frame, schema())
        what, tally, mark = passes(schema(), constant())[0]
        found, seen = _fit.tallied(frame, what, KEYS, columns, cells)
        self.assertEqual((found.to_secret_bytes(), seen), (tally, mark))
        held = collected(cells)
        inside = texts(held)
        row = inside[0][: 2 * schema()._native.width]
        there = self.on_disks()
        self.assertIn(held[0], there, "codes are there, sealed")
        for secret in (row, tally, mark, *KEYS):
            self.assertNotIn(secret, there)
        # Controls: the same in the clear is found, kept and on its way.
        plain = self.spark.createDataFrame([(text,) for text in inside], "codes binary")
        from pyspark.storagelevel import StorageLevel

        plain.persist(StorageLevel.DISK_ONLY).count()
        self.addCleanup(plain.unpersist)
        way = self.spark.createDataFrame([(0, bytearray(tally), bytearray(mark))], "part int, payload binary, mark binary")
        way.repartition(2, "part").collect()
        there = self.on_disks()
        for secret in (row, tally, mark):
            self.assertIn(secret, there)

    def test_tallies_on_their_way_are_sealed(self) -> None:
        """What tasks hand to Spark, seen from outside."""
        what, tally, mark = passes(schema(), table())[0]
        written = what.texts()
        (row,) = next(_executor.tally(iter(table().to_batches()), *written, *KEYS, b"")).to_pylist()
        self.assertEqual(sorted(row), ["failure", "hint", "part", "payload", "sentence"])
        self.assertEqual(opened(KEYS.seal, b"tallies", row["payload"]), mark + tally)
        batches = [pa.RecordBatch.from_pylist([row] * 2, schema=next(_executor.probe(iter([]))).schema)]
        (twice,) = next(_executor.merge(iter(batches), *written, KEYS.seal)).to_pylist()
        found, _ = _native.open_tally(what, twice["payload"], KEYS.seal)
        self.assertEqual(found.rows, 2 * ROWS)
        for payload in (row["payload"], twice["payload"]):
            self.assertNotIn(mark, payload)
            self.assertFalse(shows([payload], tally[:16]))

    def test_what_was_changed_or_is_foreign_is_refused(self) -> None:
        frame = self.frame()
        columns = _fit.checked(frame, schema()._native, False)[1]
        what, *_ = passes(schema(), table())[0]
        cells = self.kept(frame, schema())

        def damage(batches: Iterator[Any]) -> Iterator[Any]:
            import pyarrow as pa

            for batch in batches:
                cells = [bytes([*cell[:50], cell[50] ^ 4, *cell[51:]]) for cell in batch.column(0).to_pylist()]
                yield pa.RecordBatch.from_arrays([pa.array(cells, pa.binary()), batch.column(1)], names=["codes", "failure"])

        other = _fit.Keys(KEY, bytes(32))
        foreign = [(cells.mapInArrow(damage, cells.schema), KEYS), (cells, other)]
        for kept, keys in foreign:
            with self.assertRaises(sunprint.ProtocolError) as caught:
                _fit.tallied(frame, what, keys, columns, kept)
            self.assertEqual(caught.exception.sentence, "what was kept of the rows does not have their form")

    def test_cells_follow_the_batches_of_spark(self) -> None:
        """Spark hands cells back by their number: few of them may be large."""
        conf = "spark.sql.execution.arrow.maxRecordsPerBatch"
        self.addCleanup(self.spark.conf.unset, conf)
        what, tally, mark = passes(schema(), table())[0]
        frame = self.frame()
        columns = _fit.checked(frame, schema()._native, False)[1]
        for records, size in [("10000", 4000), ("700", 57142), ("1", 1 << 20), ("0", 1 << 20)]:
            with self.subTest(records=records):
                self.spark.conf.set(conf, records)
                self.assertEqual(_fit._cell_bytes(self.spark), size)
                cells = self.kept(frame, schema())
                found, seen = _fit.tallied(frame, what, KEYS, columns, cells)
                self.assertEqual((found.to_secret_bytes(), seen), (tally, mark))
                self.assertLessEqual(max(map(len, collected(cells))), size + HEADER + 16 * (size // 4032 + 1))

    def test_keys_are_fresh(self) -> None:
        keys = [_fit.Keys.fresh() for _ in range(2)]
        secrets = [secret for pair in keys for secret in pair]
        self.assertEqual((len(set(secrets)), {len(secret) for secret in secrets}), (4, {32}))
