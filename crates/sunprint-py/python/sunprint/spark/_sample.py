"""Rows drawn on a cluster."""

from __future__ import annotations

from typing import Any

from .._errors import UsageError
from .._model import Model, _count, _seed
from .._synthesizer import Synthesizer
from ._columns import spark_columns
from ._fit import _cores, _probe
from ._shipping import shipped

#: Values that one step of a task draws at most, about: 32 MB of numbers.
_STEP_VALUES = 4 << 20


def sample(
    session: Any,
    model: Model | Synthesizer,
    rows: int | None = None,
    *,
    seed: int | None = None,
    partitions: int | None = None,
) -> Any:
    """Draws synthetic rows as a DataFrame of Spark: as many as were measured, unless ``rows`` says otherwise.

    The same seed gives the same rows, whatever the number of partitions, and they are those that ``model.sample`` draws
    on one machine. The columns have the names, the order and the types of the frame that was fitted. Nothing is drawn
    until the DataFrame is used; then it is drawn by the executors.
    """
    if isinstance(model, Synthesizer):
        model = model._model()
    if not isinstance(model, Model):
        raise UsageError(f"`model` must be a `sunprint.Model`; a `{type(model).__name__}` was given")
    count, chosen = _count(rows, model.rows), _seed(seed)
    import pyarrow as pa

    struct, columns = spark_columns(pa.schema(model._native.sample(0, chosen)))
    values = count * max(1, len(columns))
    if partitions is None:
        # Two for each core, unless the rows are few.
        partitions = max(1, min(2 * _cores(session), -(-values // _STEP_VALUES)))
    if isinstance(partitions, bool) or not isinstance(partitions, int) or partitions < 1:
        raise UsageError(f"`partitions` must be a whole number from 1 on; {partitions!r} was given")
    steps = max(1, -(-values // (_STEP_VALUES * partitions)))
    _probe(session)
    task = shipped(
        "draw", model._native.to_json(), count, chosen, partitions, steps, columns.serialize().to_pybytes()
    )
    return session.range(0, partitions, 1, partitions).mapInArrow(task, struct)
