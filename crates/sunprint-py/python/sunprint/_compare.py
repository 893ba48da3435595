"""Before and after a fit."""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from . import _native
from ._errors import DataError
from ._frames import handed
from ._model import Model
from ._options import Exact, exact
from ._progress import Listener, listening
from ._schema import Schema, SchemaLike

#: How far apart two points are: Euclidean, largest difference, or sum of differences.
Metric: TypeAlias = Literal["l2", "linf", "l1"]


class Forecast:
    """What a fit with one ε can be expected to give. Made of public numbers alone; nothing is read and nothing spent."""

    def __init__(self, facts: dict[str, Any]) -> None:
        self._facts = facts

    @property
    def epsilon(self) -> float:
        """ε."""
        return float(self._facts["question"]["epsilon"])

    @property
    def enough(self) -> bool:
        """Whether directions are likely to stand out of the noise."""
        return bool(self._facts["verdict"]["rows"] == "enough")

    @property
    def rows_needed(self) -> int | None:
        """About how many rows would do, where these do not; ``None`` where they do, or where no number would."""
        rows = self._facts["verdict"].get("would_do")
        return None if rows is None else int(rows)

    @property
    def w1(self) -> dict[str, float]:
        """The predicted W1 between real and synthetic rows, by what the table looks like."""
        return {str(outlook["spectrum"]): float(outlook["w1"]) for outlook in self._facts["outlooks"]}

    @property
    def seconds(self) -> float:
        """About how long a fit takes on two cores."""
        return float(self._facts["cost"]["seconds"])

    @property
    def bytes(self) -> float:
        """About how much memory a fit takes."""
        return float(self._facts["cost"]["bytes"])

    def to_dict(self) -> dict[str, Any]:
        """Everything, as ``sunprint plan --json`` prints it."""
        return dict(self._facts)

    def __repr__(self) -> str:
        verdict = "enough rows" if self.enough else "too few rows for directions"
        return f"<sunprint.Forecast: epsilon {self.epsilon:g}, {verdict}>"


class Plan(list[Forecast]):
    """Forecasts, one for each ε; and, where a W1 was wished for, the ε that gives it."""

    #: For each kind of spectrum the smallest ε that gives the wished W1; ``None`` where none up to 100 does.
    wish: dict[str, float | None] | None = None


def plan(
    schema: SchemaLike,
    rows: int,
    *,
    epsilon: Exact | Sequence[Exact] = 1,
    delta: Exact | None = None,
    w1: float | None = None,
) -> Plan:
    """What a fit can give, before there is a table.

    >>> sunprint.plan(schema, 1_000_000, epsilon=[0.1, 1])
    [<sunprint.Forecast: epsilon 0.1, enough rows>, <sunprint.Forecast: epsilon 1, enough rows>]
    """
    several = epsilon if isinstance(epsilon, Sequence) and not isinstance(epsilon, str) else [epsilon]
    wanted = [exact("epsilon", one) for one in several]
    told = json.loads(_native.plan(Schema(schema)._native, rows, wanted, None if delta is None else exact("delta", delta), w1))
    result = Plan(Forecast(facts) for facts in told["forecasts"])
    if told["wish"] is not None:
        result.wish = {name: value for name, value in told["wish"]}
    return result


class Evaluation:
    """How near a synthetic table is to the real one. **Private**: exact numbers of the real rows, for the curator's eyes."""

    def __init__(self, facts: dict[str, Any]) -> None:
        self._facts = facts

    @property
    def w1(self) -> float:
        """W1 between real and synthetic rows, in units of the columns' ranges. Private."""
        return float(self._facts["distances"]["synthetic"]["w1"])

    @property
    def floor(self) -> float | None:
        """W1 between two parts of the real table, which differ by chance alone. Private."""
        floor = self._facts["distances"]["floor"]
        return None if floor is None else float(floor["w1"])

    @property
    def ceiling(self) -> float:
        """W1 between real rows and rows of which nothing is known but the schema. Private."""
        return float(self._facts["distances"]["ceiling"]["w1"])

    @property
    def verdict(self) -> dict[str, str | None]:
        """How good five things are: ``columns``, ``pairs``, ``rows``, ``groups`` and ``learning``, each ``"good"``,
        ``"usable"`` or ``"poor"``; ``None`` where there is nothing to judge, or too few rows to tell. The figures and their
        limits are in ``to_dict()["verdict"]``. Private."""
        return {what: judgement["grade"] for what, judgement in self._facts["verdict"].items()}

    @property
    def notices(self) -> list[str]:
        """What should be heard before anything else, a sentence each: cells that the schema changed, tables that look
        swapped, a model that did not make the rows. Private."""
        return list(self._facts["notices"])

    @property
    def changed(self) -> dict[str, float]:
        """The part of every column's real cells that the schema changed: clamped, unreadable, unlisted, or missing where
        none may be. Private."""
        return {column["name"]: float((column["real"] or {"share": 0.0})["share"]) for column in self._facts["changed"]}

    @property
    def auc(self) -> float | None:
        """AUC of a classifier that tells synthetic rows from real ones: 0.5 is perfect, 1 the worst. Private."""
        telling = self._facts["telling"]
        return None if telling is None else float(telling["auc"])

    @property
    def beyond(self) -> float | None:
        """W1 beyond chance: √(W1² − floor²), which does not depend on how many rows were compared. Private."""
        beyond = self._facts["distances"]["beyond"]
        return None if beyond is None else float(beyond)

    @property
    def columns(self) -> list[dict[str, Any]]:
        """Every column by itself, the worst first. Private."""
        return list(self._facts["columns"])

    def to_dict(self) -> dict[str, Any]:
        """Everything, as ``sunprint evaluate --json`` prints it. Private."""
        return dict(self._facts)

    def __repr__(self) -> str:
        real, synthetic = self._facts["real_rows"], self._facts["synthetic_rows"]
        return f"<sunprint.Evaluation: {real} real rows, {synthetic} synthetic rows; private, for the curator's eyes>"


def evaluate(
    real: object,
    synthetic: object,
    schema: SchemaLike,
    *,
    metric: Metric = "l2",
    rows: int | None = 1000,
    draws: int = 5,
    seed: int = 1,
    ignore_extra: bool = False,
    progress: bool | Listener | None = None,
    model: Model | None = None,
) -> Evaluation:
    """Compares a synthetic table with the real one, which comes first. Spends nothing, because nothing of it may be
    published.

    With the ``model`` that is said to have made the rows, ``notices`` tells whether it did. W1 is exact, on ``rows`` rows of each table that are drawn ``draws`` times; ``rows=None`` takes all rows, once.

    >>> evaluation = sunprint.evaluate(frame, model.sample(seed=1), schema)
    >>> evaluation.floor < evaluation.w1 < evaluation.ceiling
    True
    >>> sorted(evaluation.verdict)
    ['columns', 'groups', 'learning', 'pairs', 'rows']
    """
    known = Schema(schema)._native
    with listening(progress) as listener:
        tables = handed(real, known), handed(synthetic, known)
        made = None if model is None else model._native
        told = _native.evaluate(*tables, known, metric, rows, draws, seed, ignore_extra, listener, made)
    return Evaluation(json.loads(told))


def wasserstein1(a: object, b: object, *, metric: Metric = "l2") -> float:
    """The exact W1 between two sets of points: the least mean distance over which one must be moved to become the other.

    Points are rows of an array, of any object with a buffer of floats, or of a list; a flat list is points on a line.

    >>> sunprint.wasserstein1([0.0, 1.0], [0.5, 1.5])
    0.5
    >>> sunprint.wasserstein1([[0.0, 0.0]], [[3.0, 4.0], [0.0, 0.0]])
    2.5
    """
    left, wide = _points(a, "a")
    right, broad = _points(b, "b")
    if wide != broad:
        raise DataError(
            f"the points of `a` have {wide} coordinates and those of `b` have {broad}",
            "only points of the same space have a distance",
        )
    return _native.wasserstein1(left, right, wide, metric)[0]


def _points(points: Any, name: str) -> tuple[Any, int]:
    """Points as one buffer of floats, and their number of coordinates."""
    if hasattr(points, "to_numpy") and not hasattr(points, "dtype"):
        points = points.to_numpy()
    if hasattr(points, "__array_interface__"):
        import numpy

        matrix = numpy.ascontiguousarray(points, dtype="f8")
        if matrix.ndim == 1:
            return matrix, 1
        if matrix.ndim == 2:
            return matrix.reshape(-1), matrix.shape[1]
        raise DataError(f"`{name}` has {matrix.ndim} dimensions; points have one or two")
    rows = [row if isinstance(row, Sequence) else (row,) for row in points]
    if not rows:
        raise DataError(f"`{name}` has no points", "a distance needs at least one point on each side")
    width = len(rows[0])
    if any(len(row) != width for row in rows):
        raise DataError(f"the points of `{name}` have different numbers of coordinates")
    return array("d", (float(x) for row in rows for x in row)), width
