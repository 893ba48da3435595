"""Frames that do not speak Arrow by themselves: numpy arrays, and pandas frames column by column.

A column becomes a tuple for the native half: a word for what it is, its data, and what else belongs to it. Only a slice of
rows is handed over at a time, as buffers; a column of numbers never becomes Python objects. A column of Python objects is
handed over as a list of them, and every one is taken for what it is: no object decides whether a table can be read.
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

    def __init__(self, names: Sequence[str], columns: Sequence[Slice], rows: int) -> None:
        self._names, self._columns, self._rows = [_whole(name) for name in names], columns, rows

    def __iter__(self) -> Iterator[_native.Rows]:
        yield self._piece(0, 0)
        rows = step(len(self._columns))
        for first in range(0, self._rows, rows):
            yield self._piece(first, min(first + rows, self._rows))

    def _piece(self, first: int, last: int) -> _native.Rows:
        return _native.Rows.from_columns(self._names, [column(first, last) for column in self._columns])


class PolarsSlices:
    """A frame of polars, some rows at a time: where its columns are chunked differently, polars copies what it exports."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def __iter__(self) -> Iterator[Any]:
        yield _without_objects(self._frame.clear())
        yield from map(_without_objects, self._frame.iter_slices(step(self._frame.width)))


def _without_objects(frame: Any) -> Any:
    """A slice of polars' as it is, or column by column if some hold Python objects, which Arrow does not know."""
    objects = [type(dtype).__name__ == "Object" or getattr(dtype, "__name__", "") == "Object" for dtype in frame.dtypes]
    if not any(objects):
        return frame

    def part(name: str, of_objects: bool) -> tuple[str, Any, Any]:
        return ("objects", frame[name].to_list(), None) if of_objects else ("frame", frame.select(name).rechunk(), None)

    names = frame.columns
    return _native.Rows.from_columns(names, [part(*one) for one in zip(names, objects, strict=True)])


class ArrowBatches:
    """The batches of a reader of pyarrow, each checked by pyarrow before it is handed over: only there the sizes of buffers
    are known."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader

    def __iter__(self) -> Iterator[Any]:
        yield self._reader.schema.empty_table()
        while True:
            try:
                batch = self._reader.read_next_batch()
            except StopIteration:
                return
            except Exception:
                raise DataError(
                    "the table's own reader failed while it was being read",
                    "its message is not repeated, for it may quote a value; read the table to its end outside of sunprint",
                ) from None
            yield checked(batch)


def checked(arrow: Any) -> Any:
    """A table, batch or column of pyarrow whose buffers are as long as it says; no value is looked at."""
    try:
        arrow.validate()
    except Exception:
        raise DataError(
            "an array of the table is not valid Arrow: its offsets, keys or lengths contradict each other",
            "no library should make such a table; make it anew from its source, for instance from the file",
        ) from None
    return arrow


def _whole(name: str) -> str:
    """A name without halves of characters."""
    return name.encode("utf-8", "replace").decode("utf-8")


def labels(names: Sequence[str], known: Sequence[str]) -> list[str]:
    """What errors call the columns. A name that the schema does not have may be a value, and is not shown."""
    public = set(known)
    return [f"column `{name}`" if name in public else f"column number {i + 1}" for i, name in enumerate(names)]


def of_numpy(array: Any, names: list[str], strict: bool = True) -> Pieces:
    """A structured array by its own names, or a matrix whose columns are those of the schema in their order.

    If `strict`, a type that cannot be read is refused; else every value of it is one that cannot be read.
    """
    if array.dtype.names is not None:
        if array.ndim != 1:
            raise DataError("a structured array must have one dimension", "give one entry for each row")
        named = list(array.dtype.names)
        called = labels(named, names)
        columns = [numpy_slice(array[name], label, strict) for name, label in zip(named, called, strict=True)]
        return Pieces(named, columns, len(array))
    if array.ndim != 2:
        raise DataError(f"an array must have two dimensions; this one has {array.ndim}", "give rows by columns")
    if array.shape[1] != len(names):
        raise DataError(
            f"the array has {array.shape[1]} columns and the schema has {len(names)}",
            "the columns of an array are those of the schema, in its order",
        )
    called = labels(names, names)
    return Pieces(names, [numpy_slice(array[:, i], called[i], strict) for i in range(len(names))], array.shape[0])


def numpy_slice(array: Any, label: str, strict: bool = True) -> Slice:
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
        # A number that the type does not reach is infinite, and no reason to raise where warnings do.
        with np.errstate(all="ignore"):
            return np.require(part.data if masked else part, dtype=dtype, requirements=["C", "A"])

    if kind in "iuf":
        # Half and long floats have no buffer that is understood everywhere.
        size = min(max(array.dtype.itemsize, 4), 8) if kind == "f" else array.dtype.itemsize
        word = f"{kind}{size}"
        return lambda first, last: (word, numbers := plain(first, last, word), _gone(numbers, mask(first, last)))
    if kind == "b":
        return lambda first, last: ("b1", plain(first, last, "b1").view("u1"), mask(first, last))
    if kind == "M":
        unit = np.datetime_data(array.dtype)[0]
        unit = unit if unit in ("s", "ms", "us", "ns") else "s"
        return lambda first, last: ("time", plain(first, last, f"M8[{unit}]").view("i8"), (unit, None))
    if kind == "U":
        return lambda first, last: ("text", array[first:last].tolist(), None)
    if kind != "O" and strict:
        raise _unknown_type(label, array.dtype.name)

    def objects(first: int, last: int) -> tuple[str, Any, Any]:
        part = array[first:last]
        if not masked:
            return "objects", _listed(part), None
        # A masked array hands out its objects in arrays of its own.
        gone = np.ma.getmaskarray(part)
        return "objects", [None if missing else value for value, missing in zip(_listed(part.data), gone, strict=True)], None

    return objects


def _gone(numbers: Any, mask: Any) -> Any:
    """Where numbers are missing. Neither numpy nor pandas has another way to say so of a real number than not-a-number."""
    import numpy as np

    if numbers.dtype.kind != "f":
        return mask
    gone = np.isnan(numbers).view("u1")
    gone = gone if mask is None else gone | mask
    return gone if gone.any() else None


def _unknown_type(label: str, dtype: str) -> DataError:
    return DataError(
        f"{label} of the table has type {dtype}, which cannot be read",
        "columns may hold numbers, booleans, dates or text; convert this one or drop it from the table",
    )


def _listed(values: Any) -> list[Any]:
    """Values of an array one by one, whatever they are."""
    try:
        return list(values)
    except Exception:
        # Somebody else's type, whose values stay where they are: none can be read.
        return [...] * len(values)


def of_pandas(frame: Any, known: list[str], strict: bool = True) -> Pieces:
    """A frame of pandas, whatever its columns are backed by. The index is no column. For `strict` see `of_numpy`."""
    names = [str(name) for name in frame.columns]
    called = labels(names, known)
    columns = [_pandas_slice(frame.iloc[:, i], called[i], strict) for i in range(len(names))]
    return Pieces(names, columns, len(frame))


def _pandas_slice(series: Any, label: str, strict: bool) -> Slice:
    import numpy as np
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return numpy_slice(series.to_numpy(), label, strict)
    if isinstance(dtype, pd.CategoricalDtype):
        return _categories(series, label, strict)
    if isinstance(dtype, pd.DatetimeTZDtype):
        moments = series.to_numpy(dtype=f"M8[{dtype.unit}]")
        zone = str(dtype.tz)

        def zoned(first: int, last: int) -> tuple[str, Any, Any]:
            return "time", np.ascontiguousarray(moments[first:last]).view("i8"), (dtype.unit, zone)

        return zoned
    if hasattr(series.array, "__arrow_array__") and _is_arrow(dtype):
        # The protocol by which pandas hands its own Arrow memory over; a slice of it is not copied.
        chunks = checked(series.array.__arrow_array__())

        def sliced(first: int, last: int) -> tuple[str, Any, Any]:
            return "arrow", _combined(chunks.slice(first, last - first)), None

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
        return lambda first, last: ("text", series.iloc[first:last].to_numpy(dtype=object).tolist(), None)
    if strict:
        raise _unknown_type(label, dtype.name)
    return lambda first, last: ("objects", _listed(series.iloc[first:last]), None)


def _combined(part: Any) -> Any:
    """Chunks of pyarrow as one array, whatever their values are."""
    if not hasattr(part, "num_chunks"):
        return part
    if part.num_chunks == 1:
        return part.chunk(0)
    if part.num_chunks > 1 and hasattr(part.type, "value_type") and hasattr(part.type, "index_type"):
        # The keys of a chunk may be too short for the values of all.
        part = part.cast(part.type.value_type)
    if part.num_chunks > 1 and str(part.type) == "string":
        # So may the offsets.
        part = part.cast("large_string")
    return part.combine_chunks()


def _is_arrow(dtype: Any) -> bool:
    return type(dtype).__name__ == "ArrowDtype" or getattr(dtype, "storage", None) == "pyarrow"


def _categories(series: Any, label: str, strict: bool) -> Slice:
    import numpy as np
    import pandas as pd

    categories = series.cat.categories
    codes = series.cat.codes.to_numpy()
    numbers = isinstance(categories.dtype, np.dtype) and categories.dtype.kind in "iufbM"
    if len(categories) == 0 or not numbers:
        if strict and not isinstance(categories.dtype, np.dtype | pd.StringDtype | pd.DatetimeTZDtype):
            raise _unknown_type(label, f"category of {categories.dtype.name}")
        # Texts as a rule. Whatever else is among them is taken for what it is.
        listed = _listed(categories)
        return lambda first, last: ("dictionary", np.ascontiguousarray(codes[first:last], dtype="i4"), listed)
    values = categories.to_numpy()

    def taken(first: int, last: int) -> tuple[str, Any, Any]:
        part = codes[first:last]
        missing = part < 0
        word, data, extra = numpy_slice(values[np.where(missing, 0, part)], label)(0, last - first)
        if word == "time":
            return word, np.where(missing, np.iinfo("i8").min, data), extra
        return word, data, np.ascontiguousarray(missing).view("u1")

    return taken
