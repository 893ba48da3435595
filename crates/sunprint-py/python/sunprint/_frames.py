"""Tables on their way in, and synthetic rows on their way out as the same kind of frame."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any, Literal, TypeAlias

from . import _native, _plain
from ._errors import DataError, UsageError

#: The kinds of frame that rows can be drawn as.
Frame: TypeAlias = Literal["polars", "pandas", "pyarrow", "duckdb", "numpy", "rows"]

_KNOWN = {
    ("polars", "DataFrame"): "polars",
    ("polars", "LazyFrame"): "lazy",
    ("pandas", "DataFrame"): "pandas",
    ("pyarrow", "Table"): "pyarrow",
    ("pyarrow", "RecordBatch"): "batch",
    ("pyarrow", "RecordBatchReader"): "reader",
    ("duckdb", "DuckDBPyRelation"): "duckdb",
    ("numpy", "ndarray"): "numpy",
}


def kind_of(table: object) -> str | None:
    """Which library a frame is of, without importing any."""
    for one in type(table).__mro__:
        found = _KNOWN.get((one.__module__.partition(".")[0].lstrip("_"), one.__name__))
        if found is not None:
            return found
    return None


class Origin:
    """What kind of frame came in, and nothing of what was in it."""

    def __init__(self) -> None:
        self.kind = "rows"
        #: The types of columns that Arrow does not tell apart, by name. Categories are not kept: they may come from rows.
        self.types: dict[str, Any] = {}

    def see(self, table: Any, kind: str) -> None:
        """Remembers the types of a frame."""
        self.kind = "polars" if kind == "lazy" else kind
        if kind == "pandas":
            self.types = {str(name): _pandas_type(dtype) for name, dtype in zip(table.columns, table.dtypes, strict=True)}
        elif kind == "polars":
            self.types = {name: "enum" for name, dtype in table.schema.items() if type(dtype).__name__ == "Enum"}
        elif kind == "numpy":
            self.types = {"": table.dtype}

    def built(self, rows: _native.Rows, schema: _native.Schema, to: Frame | None = None) -> Any:
        """Rows as a frame of that kind, or of another one."""
        kind = self.kind if to is None else to
        types = self.types if kind == self.kind else {}
        if kind == "rows":
            return rows
        if kind == "polars":
            return _to_polars(rows, schema, types)
        if kind == "pandas":
            return _to_pandas(rows, schema, types)
        if kind == "numpy":
            return _to_numpy(rows, types.get(""))
        if kind in ("pyarrow", "batch", "reader"):
            return _to_pyarrow(rows, kind)
        if kind == "duckdb":
            import duckdb

            return duckdb.from_arrow(_to_pyarrow(rows, "pyarrow"))
        raise UsageError(
            f"rows cannot be drawn as `{kind}`",
            "`to` is one of `polars`, `pandas`, `pyarrow`, `duckdb`, `numpy` and `rows`",
        )


def _pandas_type(dtype: Any) -> Any:
    return "category" if type(dtype).__name__ == "CategoricalDtype" else dtype


def handed(table: object, schema: _native.Schema, origin: Origin | None = None, strict: bool = True) -> Any:
    """A table as the native half takes it: a path, an object that speaks Arrow, or an iterator of batches.

    If `strict`, types that cannot be read are refused; else all values of such a type are ones that cannot be read.
    """
    if isinstance(table, str | os.PathLike):
        return os.fspath(table)
    kind = kind_of(table)
    if kind is not None and origin is not None:
        origin.see(table, kind)
    frame: Any = table
    if kind in ("polars", "lazy"):
        return _plain.PolarsSlices(frame.collect() if kind == "lazy" else frame)
    if kind == "pandas":
        return _plain.of_pandas(frame, schema.names, strict)
    if kind == "numpy":
        return _plain.of_numpy(frame, schema.names, strict)
    if kind in ("pyarrow", "batch"):
        return _plain.checked(frame)
    if kind == "reader":
        return _plain.ArrowBatches(frame)
    if hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__"):
        return table
    if callable(table):
        return handed(table(), schema, origin, strict)
    if isinstance(table, Iterable) and not isinstance(table, bytes | bytearray | memoryview | dict | set | frozenset):
        return _parts(iter(table), schema, origin)
    raise DataError(
        f"a table cannot be a `{type(table).__name__}`",
        "give a frame of polars, pandas, pyarrow or DuckDB, a numpy array, a file's path, or batches of those",
    )


def _parts(items: Iterator[object], schema: _native.Schema, origin: Origin | None) -> Iterator[Any]:
    first = True
    for item in items:
        # The types of the first part are those of the table. What later ones have may depend on their rows, and is read
        # as what it is.
        part = handed(item, schema, origin, strict=first)
        origin, first = None, False
        if isinstance(part, str):
            raise DataError("a batch of a table cannot be a file", "give the files one by one, or as one frame")
        if isinstance(part, _plain.Pieces | _plain.PolarsSlices | _plain.ArrowBatches):
            yield from part
        else:
            yield part


def _to_polars(rows: _native.Rows, schema: _native.Schema, types: dict[str, Any]) -> Any:
    import polars

    frame = polars.DataFrame(rows)
    categories = dict(zip(schema.names, schema.categories, strict=True))
    enums: dict[Any, Any] = {name: polars.Enum(categories[name]) for name in types if categories.get(name)}
    return frame.cast(enums) if enums else frame


def _to_pyarrow(rows: _native.Rows, kind: str) -> Any:
    import pyarrow

    if kind == "reader":
        return pyarrow.RecordBatchReader.from_stream(rows)
    table = pyarrow.table(rows)
    return table.combine_chunks().to_batches()[0] if kind == "batch" and len(rows) else table


def _column(rows: _native.Rows, number: int) -> tuple[Any, Any, str | None]:
    """A column as an array of numpy, where values are missing, and its time zone."""
    import numpy

    word, data, extra = rows.column(number)
    zone = None
    if word == "text":
        values = numpy.array(data, dtype=object)
        return values, numpy.array([value is None for value in data], dtype=bool), None
    if word == "time":
        unit, zone, extra = extra
        values = numpy.frombuffer(data, dtype=f"M8[{unit}]")
    elif word == "date":
        values = numpy.frombuffer(data, dtype="i4").astype("M8[D]")
    else:
        values = numpy.frombuffer(data, dtype=word)
    missing = None if extra is None else numpy.frombuffer(extra, dtype=bool)
    return values, missing, zone


def _to_numpy(rows: _native.Rows, dtype: Any) -> Any:
    import numpy

    named = dtype is not None and dtype.names is not None
    columns = []
    for number in range(len(rows.names)):
        values, missing, _ = _column(rows, number)
        if missing is not None and missing.any():
            if values.dtype.kind in "iub":
                values = values.astype(float)
            values[missing] = numpy.datetime64("NaT") if values.dtype.kind == "M" else (None if values.dtype.kind == "O" else numpy.nan)
        columns.append(values.astype(object) if dtype == object and not named else values)
    if named:
        out = numpy.empty(len(rows), dtype=dtype)
        for name, values in zip(rows.names, columns, strict=True):
            out[name] = values
        return out
    matrix = numpy.column_stack(columns) if columns else numpy.empty((len(rows), 0))
    return matrix if dtype is None else matrix.astype(dtype)


def _to_pandas(rows: _native.Rows, schema: _native.Schema, types: dict[str, Any]) -> Any:
    import pandas

    categories = dict(zip(schema.names, schema.categories, strict=True))
    columns = [
        _pandas_column(rows, number, types.get(name), categories.get(name.strip(), []))
        for number, name in enumerate(rows.names)
    ]
    frame = pandas.concat(columns, axis=1) if columns else pandas.DataFrame()
    frame.columns = pandas.Index(rows.names)
    return frame


def _pandas_column(rows: _native.Rows, number: int, dtype: Any, categories: list[str]) -> Any:
    import pandas

    if type(dtype).__name__ == "ArrowDtype":
        import pyarrow

        return pandas.Series(pandas.arrays.ArrowExtensionArray(pyarrow.table(rows).column(number))).astype(dtype)
    values, missing, zone = _column(rows, number)
    if dtype == "category" and values.dtype == object and categories:
        return pandas.Series(pandas.Categorical(values, categories=categories))
    series = pandas.Series(values, dtype="str" if values.dtype == object and dtype is None else None)
    if zone is not None:
        series = series.dt.tz_localize("UTC").dt.tz_convert(zone)
    if missing is not None and missing.any() and values.dtype != object:
        nullable = getattr(dtype, "na_value", None) is pandas.NA
        series = series.astype(dtype) if nullable else series
        series = series.mask(missing)
    return series if dtype is None or series.dtype == dtype else series.astype(dtype)
