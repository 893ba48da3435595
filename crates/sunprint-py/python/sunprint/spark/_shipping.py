"""How work gets to executors, and how its outcome comes back: as rows, also where it failed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .. import _errors, _native
from .._errors import DataError, SunprintError, UsageError

#: The columns of an outcome. ``part`` says from which partition it is; in a tally's outcome ``payload`` is the tally with
#: the fingerprint of its rows, sealed. In a failure, ``payload`` is null and the others say what it was.
OUTCOME = "part int, payload binary, failure string, sentence string, hint string"

#: The columns of kept rows: the codes of some, sealed, or a failure as JSON: its kind, a sentence and a hint.
CELLS = "codes binary, failure string"

#: The kinds of failure that come from no exception of ours.
MISSING, UNLOADABLE, OTHER_VERSION, FOREIGN = "missing", "unloadable", "version", "foreign"


def shipped(task: str, *arguments: Any) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """A function for ``mapInArrow`` that runs a task of :mod:`sunprint.spark._executor`.

    It goes over the wire by value and needs nothing of this package to be unpickled, so that an executor without the
    package can say so: as a row, for an exception of an executor would come back with Spark's own words around it.
    """
    version = _native.__version__

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        failure = None
        try:
            import sunprint
            from sunprint.spark import _executor

            if sunprint.__version__ != version:
                failure = "version"
        except ModuleNotFoundError as error:
            failure = "missing" if (error.name or "").partition(".")[0] == "sunprint" else "unloadable"
        except Exception:
            failure = "unloadable"
        if failure is None:
            yield from getattr(_executor, task)(batches, *arguments)
            return
        if task == "draw":
            raise ImportError("the package sunprint is missing on an executor, or is another version there")
        # Spark does not like it when its rows are left lying.
        for _ in batches:
            pass
        import pyarrow as pa

        if task == "encode":
            told = pa.array([f'["{failure}", null, null]'], pa.string())
            yield pa.RecordBatch.from_arrays([pa.array([None], pa.binary()), told], ["codes", "failure"])
            return
        columns = [[0], [None], [failure], [None], [None]]
        types = [pa.int32(), pa.binary(), pa.string(), pa.string(), pa.string()]
        names = ["part", "payload", "failure", "sentence", "hint"]
        yield pa.RecordBatch.from_arrays([pa.array(c, t) for c, t in zip(columns, types, strict=True)], names)

    return work


def collected(outcomes: Any, doing: str) -> list[Any]:
    """The rows of a frame of outcomes, or the first failure among them as one of our exceptions.

    What Spark raises is never handed on, nor kept as the cause or the context of what is: it quotes what executors said.
    """
    found: list[Any] = []
    raised = None
    try:
        found = outcomes.collect()
    except Exception as error:
        raised = type(error).__name__
    if raised is not None:
        raise DataError(
            f"{doing} failed on the cluster: Spark raised `{raised}`",
            "its message is not repeated, for it may quote a value; the logs of the cluster have it, and `frame.count()` "
            "or `frame.write` may show the same outside of sunprint",
        )
    for row in found:
        if row["failure"] is not None:
            raise _failed(row, doing)
    return found


def _failed(row: Any, doing: str) -> SunprintError:
    kind = row["failure"]
    if kind == MISSING:
        return UsageError(
            "the package sunprint is missing on an executor",
            "install the same wheel on every node of the cluster, for the Python that executors run",
        )
    if kind == UNLOADABLE:
        return UsageError(
            "the package sunprint cannot be loaded on an executor",
            "install a wheel for the platform and the Python of the executors; `import sunprint` there shows what is wrong",
        )
    if kind == OTHER_VERSION:
        return UsageError(
            f"an executor has another version of the package sunprint than the driver, which has {_native.__version__}",
            "install the same wheel on every node of the cluster",
        )
    ours = getattr(_errors, kind, None)
    if isinstance(ours, type) and issubclass(ours, SunprintError) and row["sentence"] is not None:
        made: SunprintError = ours(row["sentence"], row["hint"])
        return made
    return DataError(
        f"{doing} failed on an executor with `{row['sentence']}`",
        "its message is not repeated, for it may quote a value",
    )
