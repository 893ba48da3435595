"""What runs on executors. Nothing here raises what another library said, and nothing goes to Spark but what is sealed."""

from __future__ import annotations

import itertools
import json
import os
import struct
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .. import _native
from .._errors import SunprintError
from ._shipping import FOREIGN

Batches = Iterator[Any]


def probe(batches: Batches) -> Batches:
    """Says that the package is here."""
    for _ in batches:
        pass
    yield _outcome(b"")


def tally(batches: Batches, what: str, schema: str, key: bytes, seal: bytes, columns: bytes) -> Batches:
    """The tally of one partition."""
    stream = _Stream(batches)

    def work() -> Any:
        _one_thread_for_each_core_of_the_task()
        part = _native.tally_marked(_native.Pass.from_text(what, schema), _begun(stream, columns), key)
        return _outcome(_native.seal_tally(*part, seal))

    yield _guarded(work, stream)


def encode(batches: Batches, schema: str, seal: bytes, size: int) -> Batches:
    """The rows of one partition as cells of sealed codes, some rows in each, for Spark to keep; a failure is a row too.

    The key of a fit makes its work different from that of any other, so that Spark takes none for another.
    """
    stream = _Stream(batches)
    _one_thread_for_each_core_of_the_task()
    known, failure = _tried(lambda: _native.Schema.parse(schema, "the pass"))
    while failure is None:
        cells, failure = _tried(lambda: _cells(known, stream, seal, size))
        if cells is None:
            break
        yield from cells
    _ended(stream)
    if failure is not None:
        yield _kept([None], [json.dumps(failure)])


def tally_cells(batches: Batches, what: str, schema: str, key: bytes, seal: bytes) -> Batches:
    """The tally of one partition of cells."""
    stream = _Stream(batches)

    def work() -> Any:
        import pyarrow as pa

        _one_thread_for_each_core_of_the_task()
        failures: list[str] = []

        def cells(first: Any) -> Iterator[Any]:
            for batch in itertools.chain([first], stream):
                failed = batch.column(1)
                if failed.null_count < len(failed):
                    failures.extend(failed.drop_null()[:1].to_pylist())
                    return
                yield batch.select([0])

        begun = next(stream, None)
        begun = _kept([], []) if begun is None else begun
        reader = pa.RecordBatchReader.from_batches(begun.select([0]).schema, cells(begun))
        part = _native.tally_cells(_native.Pass.from_text(what, schema), reader, key, seal)
        return _failure(*json.loads(failures[0])) if failures else _outcome(_native.seal_tally(*part, seal))

    yield _guarded(work, stream)


def merge(batches: Batches, what: str, schema: str, seal: bytes) -> Batches:
    """The sum of the tallies of one partition, or the first failure among them; nothing where there is none."""
    stream = _Stream(batches)

    def work() -> Any:
        answered = _native.Pass.from_text(what, schema)
        whole: _native.Tally | None = None
        marks = []
        for batch in stream:
            for number in range(batch.num_rows):
                row = batch.slice(number, 1)
                payload = row.column("payload")[0].as_buffer()
                if payload is None:
                    return row
                one, mark = _native.open_tally(answered, bytes(payload), seal)
                whole = one if whole is None else whole + one
                marks.append(mark)
        return None if whole is None else _outcome(_native.seal_tally(whole, added(marks), seal))

    made = _guarded(work, stream)
    if made is not None:
        yield made


def added(marks: Iterable[bytes]) -> bytes:
    """The sum of fingerprints: two numbers of 64 bits, each without its carry."""
    both = [struct.unpack("<QQ", mark) for mark in marks]
    return struct.pack("<QQ", *(sum(numbers) % 2**64 for numbers in zip(*both, strict=True)))


def draw(batches: Batches, model: str, rows: int, seed: int, parts: int, steps: int, columns: bytes) -> Batches:
    """The parts of a draw whose numbers come in, each in a few steps, so that no more than one step is in memory."""
    import pyarrow as pa

    stream = _Stream(batches)
    _one_thread_for_each_core_of_the_task()
    types = pa.ipc.read_schema(pa.py_buffer(columns))
    loaded = _native.Model.from_json(model.encode(), "the model")
    for batch in stream:
        for part in batch.column(0).to_pylist():
            for step in range(steps):
                drawn = loaded.sample(rows, seed, (part * steps + step, parts * steps))
                for piece in pa.table(drawn).cast(types).to_batches():
                    yield piece


class _Stream:
    """Spark's batches, and whether it was Spark that failed to deliver them."""

    def __init__(self, batches: Batches) -> None:
        self._batches = iter(batches)
        self.broke = False

    def __iter__(self) -> _Stream:
        return self

    def __next__(self) -> Any:
        try:
            return next(self._batches)
        except StopIteration:
            raise
        except BaseException:
            self.broke = True
            raise

    def drain(self) -> None:
        """Reads what is left: Spark does not like it when its rows are left lying."""
        if not self.broke:
            for _ in self:
                pass


#: The class of an exception of ours, its sentence and its hint; of another one, `FOREIGN` and its class alone.
_Failure = tuple[str, str, str | None]


def _tried(work: Callable[[], Any]) -> tuple[Any, _Failure | None]:
    """The outcome of some work, or why there is none."""
    try:
        return work(), None
    except SunprintError as error:
        return None, (type(error).__name__, error.sentence, error.hint)
    except Exception as error:
        return None, (FOREIGN, type(error).__name__, None)


def _ended(stream: _Stream) -> None:
    """Reads what is left. Only where Spark's own stream breaks is something raised, outside of all handlers, so that nothing
    of what was caught goes along: then this attempt is lost, and Spark makes another."""
    _tried(stream.drain)
    if stream.broke:
        raise RuntimeError("sunprint: the rows of this partition could not be read to their end")


def _guarded(work: Callable[[], Any], stream: _Stream) -> Any:
    """The outcome of some work; a failure is an outcome too."""
    outcome, failure = _tried(work)
    _ended(stream)
    return outcome if failure is None else _failure(*failure)


def _begun(stream: _Stream, columns: bytes) -> Any:
    """The batches, or one without rows where there is none: an empty partition has no columns of its own."""
    import pyarrow as pa

    first = next(stream, None)
    if first is None:
        return pa.ipc.read_schema(pa.py_buffer(columns)).empty_table()
    texts = _texts(first)
    batches = itertools.chain([first], stream)
    whole = (_with_whole_characters(batch, texts) for batch in batches) if texts else batches
    return pa.RecordBatchReader.from_batches(first.schema, whole)


def _cells(schema: _native.Schema, stream: _Stream, seal: bytes, size: int) -> list[Any] | None:
    """The cells of the next batch; nothing where there is none."""
    import pyarrow as pa

    batch = next(stream, None)
    if batch is None:
        return None
    cells = _native.sealed_cells(schema, _with_whole_characters(batch, _texts(batch)), seal, size)
    fine = [(piece.column(0), pa.nulls(len(piece), pa.string())) for piece in pa.table(cells).to_batches()]
    return [pa.RecordBatch.from_arrays(list(columns), ["codes", "failure"]) for columns in fine]


def _kept(cells: list[bytes | None], failures: list[str]) -> Any:
    """Rows as Spark keeps them: cells, or what went wrong."""
    import pyarrow as pa

    return pa.RecordBatch.from_pydict({"codes": pa.array(cells, pa.binary()), "failure": pa.array(failures, pa.string())})


def _texts(batch: Any) -> list[int]:
    return [number for number, field in enumerate(batch.schema) if _is_text(field.type)]


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _with_whole_characters(batch: Any, texts: list[int]) -> Any:
    """Spark's texts may hold any bytes. What is no character becomes U+FFFD, as it does in files."""
    import pyarrow as pa

    for number in texts:
        column = batch.column(number)
        try:
            column.validate(full=True)
        except pa.ArrowInvalid:
            raw = column.cast(pa.large_binary() if pa.types.is_large_string(column.type) else pa.binary())
            values = [None if value is None else value.decode("utf-8", "replace") for value in raw.to_pylist()]
            batch = batch.set_column(number, batch.schema.field(number), pa.array(values, column.type))
    return batch


def _one_thread_for_each_core_of_the_task() -> None:
    from pyspark import TaskContext

    context = TaskContext.get()
    cores = 1 if context is None else context.cpus()
    # Read once by the native half, when it first needs threads.
    os.environ.setdefault("SUNPRINT_THREADS", str(max(1, cores)))


def _part() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else int(context.partitionId())


def _outcome(payload: bytes) -> Any:
    return _row(payload, None, None, None)


def _failure(kind: str, sentence: str, hint: str | None) -> Any:
    return _row(None, kind, sentence, hint)


def _row(payload: bytes | None, failure: str | None, sentence: str | None, hint: str | None) -> Any:
    import pyarrow as pa

    columns = {
        "part": pa.array([_part()], pa.int32()),
        "payload": pa.array([payload], pa.binary()),
        "failure": pa.array([failure], pa.string()),
        "sentence": pa.array([sentence], pa.string()),
        "hint": pa.array([hint], pa.string()),
    }
    return pa.RecordBatch.from_pydict(columns)
