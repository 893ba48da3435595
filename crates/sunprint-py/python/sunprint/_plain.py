"""Frames that do not speak Arrow by themselves: numpy arrays, and pandas frames column by column.

A column becomes a tuple for the native half: a word for what it is, its data, and what else belongs to it. Only a slice of
rows is handed over at a time, as buffers; a column of numbers never becomes Python objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from . import _native
from ._errors import DataError

#: A slice of a column, from one row to another.
Slice: TypeAlias = Callable[[int, int], tuple[str, Any, Any]]



def step(columns: int) -> int:
    """Rows in a slice: about two megabytes of numbers."""
    return min(max((1 << 18) // max(columns, 1), 1024), 65_536)


class Pieces:
    """Batches of a frame whose first one has no rows: its columns are known before a row is read."""

    def __init__(self, names: Sequence[str], columns: Sequence[Slice], rows: int, labels: Sequence[str]) -> None:
        self._names, self._columns, self._rows, self._labels = list(names), columns, rows, list(labels)

    def __iter__(self) -> Iterator[_native.Rows]:
        yield self._piece(0, 0)
        rows = step(len(self._columns))
        for first in range(0, self._rows, rows):
            yield self._piece(first, min(first + rows, self._rows))

    def _piece(self, first: int, last: int) -> _native.Rows:
        parts = [column(first, last) for column in self._columns]
        return _native.Rows.from_columns(self._names, parts, self._labels)


class PolarsSlices:
    """A frame of polars, some rows at a time: where its columns are chunked differently, polars copies what it exports."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def __iter__(self) -> Iterator[Any]:
        yield self._frame.clear()
        yield from self._frame.iter_slices(step(self._frame.width))


def labels(names: Sequence[str], known: Sequence[str]) -> list[str]:
    """What errors call the columns. A name that the schema does not have may be a value, and is not shown."""
    public = set(known)
    return [f"column `{name}`" if name in public else f"column number {i + 1}" for i, name in enumerate(names)]


def of_numpy(array: Any, names: list[str]) -> Pieces:
    """A structured array by its own names, or a matrix whose columns are those of the schema in their order."""
    if array.dtype.names is not None:
        if array.ndim != 1:
            raise DataError("a structured array must have one dimension", "give one entry for each row")
        named = list(array.dtype.names)
        called = labels(named, names)
        columns = [numpy_slice(array[name], label) for name, label in zip(named, called, strict=True)]
        return Pieces(named, columns, len(array), called)
    if array.ndim != 2:
        raise DataError(f"an array must have two dimensions; this one has {array.ndim}", "give rows by columns")
    if array.shape[1] != len(names):
        raise DataError(
            f"the array has {array.shape[1]} columns and the schema has {len(names)}",
            "the columns of an array are those of the schema, in its order",
        )
    called = labels(names, names)
    return Pieces(names, [numpy_slice(array[:, i], called[i]) for i in range(len(names))], array.shape[0], called)


def numpy_slice(array: Any, label: str) -> Slice:
    """A column of numpy, of whichever type."""
    import numpy as np

    kind = array.dtype.kind
    masked = isinstance(array, np.ma.MaskedArray)

    def mask(first: int, last: int) -> Any:
        if not masked:
            return None
        return np.ascontiguousarray(np.ma.getmaskarray(array[first:last])).view("u1")

    def plain(first: int, last: int, dtype: str) -> Any:
        part = array[first:last]
        return np.require(part.data if masked else part, dtype=dtype, requirements=["C", "A"])

    if kind in "iuf":
        # Half and long floats have no buffer that is understood everywhere.
        size = min(max(array.dtype.itemsize, 4), 8) if kind == "f" else array.dtype.itemsize
        word = f"{kind}{size}"
        return lambda first, last: (word, plain(first, last, word), mask(first, last))
    if kind == "b":
        return lambda first, last: ("b1", plain(first, last, "b1").view("u1"), mask(first, last))
    if kind == "M":
        unit = np.datetime_data(array.dtype)[0]
        unit = unit if unit in ("s", "ms", "us", "ns") else "s"
        return lambda first, last: ("time", plain(first, last, f"M8[{unit}]").view("i8"), (unit, None))
    if kind in "OU":
        return lambda first, last: texts(array[first:last].tolist())
    raise DataError(
        f"{label} of the table has type {array.dtype.name}, which cannot be read",
        "columns may hold numbers, booleans, dates or text; convert this one or drop it from the table",
    )


def texts(values: list[Any]) -> tuple[str, Any, Any]:
    """A list of texts. Nothing, not-a-number and their like are missing."""
    missing = bytearray(value is None or _is_void(value) for value in values)
    return "text", values, missing if any(missing) else None


def _is_void(value: Any) -> bool:
    # Not-a-number and not-a-time differ from themselves; pandas' NA answers with itself, which is neither true nor false.
    if isinstance(value, str):
        return False
    if type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value


def of_pandas(frame: Any, known: list[str]) -> Pieces:
    """A frame of pandas, whatever its columns are backed by. The index is no column."""
    names = [str(name) for name in frame.columns]
    called = labels(names, known)
    columns = [_pandas_slice(frame.iloc[:, i], called[i]) for i in range(len(names))]
    return Pieces(names, columns, len(frame), called)


def _pandas_slice(series: Any, label: str) -> Slice:
    import numpy as np
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return numpy_slice(series.to_numpy(), label)
    if isinstance(dtype, pd.CategoricalDtype):
        return _categories(series, label)
    if isinstance(dtype, pd.DatetimeTZDtype):
        moments = series.to_numpy(dtype=f"M8[{dtype.unit}]")
        zone = str(dtype.tz)

        def zoned(first: int, last: int) -> tuple[str, Any, Any]:
            return "time", np.ascontiguousarray(moments[first:last]).view("i8"), (dtype.unit, zone)

        return zoned
    if hasattr(series.array, "__arrow_array__") and _is_arrow(dtype):
        # The protocol by which pandas hands its own Arrow memory over; a slice of it is not copied.
        chunks = series.array.__arrow_array__()

        def sliced(first: int, last: int) -> tuple[str, Any, Any]:
            part = chunks.slice(first, last - first)
            return "arrow", part.combine_chunks() if hasattr(part, "combine_chunks") else part, None

        return sliced
    if dtype.kind in "iufb" and hasattr(dtype, "numpy_dtype"):
        word = "b1" if dtype.kind == "b" else dtype.numpy_dtype.str[1:]

        def nullable(first: int, last: int) -> tuple[str, Any, Any]:
            part = series.iloc[first:last]
            values = part.to_numpy(dtype=dtype.numpy_dtype, na_value=dtype.numpy_dtype.type(0))
            values = np.ascontiguousarray(values)
            missing = np.ascontiguousarray(part.isna().to_numpy(dtype=bool)).view("u1")
            return word, values.view("u1") if word == "b1" else values, missing

        return nullable
    if isinstance(dtype, pd.StringDtype):
        return lambda first, last: texts(series.iloc[first:last].to_numpy(dtype=object).tolist())
    raise DataError(
        f"{label} of the table has type {dtype.name}, which cannot be read",
        "columns may hold numbers, booleans, dates or text; convert this one or drop it from the table",
    )


def _is_arrow(dtype: Any) -> bool:
    return type(dtype).__name__ == "ArrowDtype" or getattr(dtype, "storage", None) == "pyarrow"


def _categories(series: Any, label: str) -> Slice:
    import numpy as np

    categories = series.cat.categories
    codes = series.cat.codes.to_numpy()
    if len(categories) == 0 or all(isinstance(category, str) for category in categories):
        named = [str(category) for category in categories]
        return lambda first, last: ("dictionary", np.ascontiguousarray(codes[first:last], dtype="i4"), named)
    values = categories.to_numpy()

    def taken(first: int, last: int) -> tuple[str, Any, Any]:
        part = codes[first:last]
        missing = part < 0
        word, data, extra = numpy_slice(values[np.where(missing, 0, part)], label)(0, last - first)
        if word == "time":
            return word, np.where(missing, np.iinfo("i8").min, data), extra
        if word == "text":
            return texts([None if gone else value for gone, value in zip(missing, data, strict=True)])
        return word, data, np.ascontiguousarray(missing).view("u1")

    return taken
