"""A fit of a DataFrame: one job for each pass, tallies merged on executors, noise on the driver."""

from __future__ import annotations

import os
import secrets
from typing import Any, NamedTuple

from .. import _native
from .._errors import DataError, SunprintError, UsageError
from .._model import Model
from .._options import Exact, written
from .._progress import Listener
from .._protocol import Fit, merge
from .._schema import Schema, SchemaLike
from ._columns import checked
from ._executor import added
from ._shipping import CELLS, OUTCOME, collected, shipped

#: The driver takes no more tallies than these, and a later round of merging puts so many together.
_AT_THE_DRIVER, _FAN = 4, 8
#: The most bytes of tallies that leave the tasks of one pass, about: wide tables are tallied in fewer, larger tasks.
_MOST_BYTES = 4 << 30
#: Tallies below this size are merged wherever there is a core; larger ones by no fewer tasks than these.
_SMALL_TALLY, _MERGERS = 64 << 10, 32
#: Where Spark does not tell how many cores it has.
_SOME_CORES = 16
#: Spark hands kept cells back by their number, whatever their size: so many of them come to so many bytes, about.
_RECORDS, _BATCH_BYTES = "spark.sql.execution.arrow.maxRecordsPerBatch", 40_000_000
#: A cell is no larger, about, however few come at a time.
_CELL_BYTES = 1 << 20


class Keys(NamedTuple):
    """The secrets of one fit: known to its driver and to the executors of its jobs, and forgotten when it ends."""

    #: Of the fingerprints of rows.
    mark: bytes
    #: Of everything that Spark keeps or carries: codes and tallies.
    seal: bytes

    @classmethod
    def fresh(cls) -> Keys:
        return cls(secrets.token_bytes(32), secrets.token_bytes(32))


_CHARGED = "the rows may have been read, so the charge stays in the ledger"


def fit(
    frame: Any,
    schema: SchemaLike,
    *,
    epsilon: Exact | None = None,
    delta: Exact | None = None,
    method: str = "default",
    dimension: int | None = None,
    ledger: str | os.PathLike[str] | None = None,
    texture: bool = True,
    mechanism: str = "auto",
    metric: str | None = None,
    cell: float | None = None,
    public_basis: Any = None,
    ignore_extra: bool = False,
    persist: bool = True,
    progress: bool | Listener | None = None,
) -> Model:
    """Fits a DataFrame of Spark where it lies, and spends the whole of ``epsilon`` on it.

    The parameters are those of :class:`sunprint.Synthesizer`. The columns are checked before any job runs; then the rows
    are counted, and read. Nothing but tallies leaves the executors, and nothing but the model leaves the driver.

    With ``persist``, Spark keeps a code of two bytes for each value on the executors, in memory or on their disks, until the
    fit ends; later passes take the rows from there. Codes and tallies are sealed: Spark sees neither, nor does whoever
    finds its files. Without ``persist``, every pass reads the frame again.

    The rows must be the same in every pass. If they are not (a source that somebody writes to, a random column), the fit
    is refused and the charge stays: write such a frame out, and fit what was written.
    """
    if not isinstance(persist, bool):
        raise UsageError(f"`persist` must be `True` or `False`; a `{type(persist).__name__}` was given")
    known = Schema(schema)
    parameters: dict[str, Any] = {
        "epsilon": epsilon,
        "delta": delta,
        "method": method,
        "dimension": dimension,
        "ledger": ledger,
        "texture": texture,
        "mechanism": mechanism,
        "metric": metric,
        "cell": cell,
        "public_basis": public_basis,
        "ignore_extra": ignore_extra,
    }
    options = written(memory=None, spill_dir=None, **parameters)
    chosen, columns = checked(frame, known._native, ignore_extra)
    empty = columns.empty_table()
    _native.check(known._native, options, empty)
    _probe(chosen.sparkSession)
    rows = _count(chosen)
    running = Fit(known, rows=rows, like=empty, progress=progress, **parameters)
    keys = Keys.fresh()
    # The one pass of the cube needs nothing that is kept.
    cells = kept(chosen, known, keys) if persist and method != "cube" else None
    charged = False
    seen: bytes | None = None
    try:
        while (what := running.next_pass()) is not None:
            charged = True
            tally, mark = tallied(chosen, what, keys, columns, cells)
            if tally.rows != rows or seen not in (None, mark):
                raise _changed()
            seen = mark
            running.absorb(tally)
        return running.finish()
    except BaseException as error:
        if charged:
            if isinstance(error, SunprintError):
                error.charged = True  # type: ignore[attr-defined]
            error.add_note(_CHARGED)
        raise
    finally:
        if cells is not None:
            _release(cells)


def kept(frame: Any, schema: Schema, keys: Keys) -> Any:
    """The rows as cells of sealed codes, which Spark keeps from their first use on. Nothing runs yet."""
    raised = None
    try:
        from pyspark.storagelevel import StorageLevel

        work = shipped("encode", schema.to_toml(), keys.seal, _cell_bytes(frame.sparkSession))
        # In one place each. What is lost or evicted is made again from the frame.
        return frame.mapInArrow(work, CELLS).persist(StorageLevel.MEMORY_AND_DISK_DESER)
    except Exception as error:
        raised = type(error).__name__
    raise UsageError(
        f"Spark cannot keep the codes of the rows between passes: it raised `{raised}`",
        "with `persist=False` every pass reads the frame again; nothing was spent",
    )


def _release(cells: Any) -> None:
    """Lets go of what was kept, and waits for it."""
    try:
        cells.unpersist(blocking=True)
    except Exception:
        # The cells are not Spark's to keep any more; an executor that does not answer is gone, or late.
        pass


def tallied(
    frame: Any, what: _native.Pass, keys: Keys, columns: Any, cells: Any = None
) -> tuple[_native.Tally, bytes]:
    """The tally of a whole frame, from its rows or from cells of them, and the fingerprint of the rows. Secret, both."""
    texts = what.texts()
    shape = columns.serialize().to_pybytes()
    cores = _cores(frame.sparkSession)
    nothing, _ = _native.tally_marked(what, columns.empty_table(), keys.mark)
    tasks, mergers = _tasks(len(nothing.to_secret_bytes()), cores)
    if cells is None:
        outcomes = frame.coalesce(tasks).mapInArrow(shipped("tally", *texts, *keys, shape), OUTCOME)
    else:
        outcomes = cells.coalesce(tasks).mapInArrow(shipped("tally_cells", *texts, *keys), OUTCOME)
    # By the number of the partition, so that a retry sends every tally to the same place again.
    while True:
        outcomes = outcomes.repartition(mergers, "part").mapInArrow(shipped("merge", *texts, keys.seal), OUTCOME)
        if mergers <= _AT_THE_DRIVER:
            break
        mergers = -(-mergers // _FAN)
    found = collected(outcomes, f"pass {what.number}")
    if not found:
        return nothing, bytes(16)
    opened = [_native.open_tally(what, bytes(row["payload"]), keys.seal) for row in found]
    return merge([tally for tally, _ in opened]), added(mark for _, mark in opened)


def _tasks(tally_bytes: int, cores: int) -> tuple[int, int]:
    """In how many tasks the rows are tallied at most, and by how many the tallies are merged first."""
    tasks = max(2 * cores, _MOST_BYTES // tally_bytes)
    return tasks, cores if tally_bytes < _SMALL_TALLY else max(cores, _MERGERS)


def _cell_bytes(session: Any) -> int:
    """How large cells are."""
    try:
        records = int(session.conf.get(_RECORDS))
    except Exception:  # a session that keeps it to itself has the default, which is 10,000
        records = 10_000
    # From 0 down, Spark hands over all of a partition at once, whatever cells are like.
    return min(_CELL_BYTES, _BATCH_BYTES // max(records, 1))


def _cores(session: Any) -> int:
    try:
        return max(1, int(session.sparkContext.defaultParallelism))
    except Exception:  # Spark Connect keeps it to itself
        return _SOME_CORES


def _probe(session: Any) -> None:
    """Asks some executors for the package, before anything is spent."""
    parts = 2 * min(_cores(session), 256)
    collected(session.range(0, parts, 1, parts).mapInArrow(shipped("probe"), OUTCOME), "looking for the package")


def _count(frame: Any) -> int:
    raised = None
    rows = 0
    try:
        rows = int(frame.count())
    except Exception as error:
        raised = type(error).__name__
    if raised is not None:
        raise DataError(
            f"the rows cannot be counted: Spark raised `{raised}`",
            "its message is not repeated, for it may quote a value; `frame.count()` shows it",
        )
    return rows


def _changed() -> DataError:
    return DataError(
        "the rows of the DataFrame changed while it was being fitted",
        "noise may have been drawn already: the whole epsilon counts as spent; write the frame out and fit what nobody "
        "changes, with budget that is left",
    )
