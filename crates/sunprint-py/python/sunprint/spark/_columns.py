"""The columns of Spark's frames: which can be read, and which types drawn rows take."""

from __future__ import annotations

from typing import Any

from .. import _native
from .._errors import DataError, UsageError

#: Spark's types that a column may have, by the names that Spark gives them.
_READABLE = {
    "boolean",
    "byte",
    "char",
    "date",
    "decimal",
    "double",
    "float",
    "integer",
    "long",
    "short",
    "string",
    "timestamp",
    "timestamp_ntz",
    "varchar",
    "void",
}
_NESTED = {"array", "map", "struct", "variant"}


def checked(frame: Any, schema: _native.Schema, ignore_extra: bool) -> tuple[Any, Any]:
    """The columns of the schema out of a frame, in the frame's order, and their types in Arrow. No job runs."""
    if not callable(getattr(frame, "mapInArrow", None)):
        raise DataError(
            f"`frame` must be a DataFrame of Spark 3.5 or newer; a `{type(frame).__name__}` was given",
            "other frames are fitted by `sunprint.Synthesizer`",
        )
    if getattr(frame, "isStreaming", False):
        raise DataError("a streaming DataFrame cannot be fitted", "a fit reads its rows several times: write them out first")
    fields = frame.schema.fields
    for field in fields:
        if field.name.strip() in schema.names:
            _readable(field)
    if ignore_extra:
        fields = [field for field in fields if field.name.strip() in schema.names]
    arrow = _arrow_schema(fields, schema)
    if len({field.name for field in fields}) < len(fields):
        # `check` of the native half has better words for columns of the schema; others are not named.
        return frame, arrow
    return frame.select(*[_quoted(field.name) for field in fields]), arrow


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _readable(field: Any) -> None:
    kind = field.dataType.typeName().partition("(")[0]
    if kind in _NESTED or hasattr(field.dataType, "sqlType"):
        raise DataError(
            f"column `{field.name}` is nested: it holds `{kind}`",
            f"select what is inside as columns of their own, for instance `{field.name}.field`",
        )
    if kind not in _READABLE:
        raise DataError(
            f"column `{field.name}` holds `{kind}`, which cannot be read",
            "columns may hold numbers, booleans, dates, moments or text; cast this one",
        )


def _arrow_schema(fields: list[Any], schema: _native.Schema) -> Any:
    import pyarrow as pa

    # Columns that the schema does not have are refused by the native half, whatever their type.
    known = [arrow_type(field.dataType) if field.name.strip() in schema.names else pa.null() for field in fields]
    return pa.schema([pa.field(field.name, kind) for field, kind in zip(fields, known, strict=True)])


def arrow_type(kind: Any) -> Any:
    """The Arrow type in which Spark hands over one of its own."""
    import pyarrow as pa

    name = kind.typeName().partition("(")[0]
    if name == "decimal":
        return pa.decimal128(kind.precision, kind.scale)
    return {
        "boolean": pa.bool_(),
        "byte": pa.int8(),
        "short": pa.int16(),
        "integer": pa.int32(),
        "long": pa.int64(),
        "float": pa.float32(),
        "double": pa.float64(),
        "date": pa.date32(),
        "timestamp": pa.timestamp("us", "UTC"),
        "timestamp_ntz": pa.timestamp("us"),
        "void": pa.null(),
    }.get(name, pa.string())


def spark_columns(arrow: Any) -> tuple[Any, Any]:
    """The types of drawn rows: Spark's, and the Arrow types that Spark takes them in."""
    import pyarrow as pa
    from pyspark.sql import types as st

    struct, fields = st.StructType(), []
    for field in arrow:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        spark = _spark_type(kind)
        struct.add(field.name, spark, True)
        fields.append(pa.field(field.name, arrow_type(spark)))
    return struct, pa.schema(fields)


def _spark_type(kind: Any) -> Any:
    import pyarrow as pa
    from pyspark.sql import types as st

    if pa.types.is_decimal(kind):
        return st.DecimalType(kind.precision, kind.scale)
    if pa.types.is_timestamp(kind):
        return st.TimestampNTZType() if kind.tz is None else st.TimestampType()
    # Spark has no numbers without a sign: the next larger one with a sign holds them all.
    tests: list[tuple[Any, Any]] = [
        (pa.types.is_boolean, st.BooleanType()),
        (pa.types.is_int8, st.ByteType()),
        (pa.types.is_int16, st.ShortType()),
        (pa.types.is_uint8, st.ShortType()),
        (pa.types.is_int32, st.IntegerType()),
        (pa.types.is_uint16, st.IntegerType()),
        (pa.types.is_int64, st.LongType()),
        (pa.types.is_uint32, st.LongType()),
        (pa.types.is_uint64, st.DecimalType(20, 0)),
        (pa.types.is_float16, st.FloatType()),
        (pa.types.is_float32, st.FloatType()),
        (pa.types.is_float64, st.DoubleType()),
        (pa.types.is_date, st.DateType()),
        (pa.types.is_string, st.StringType()),
        (pa.types.is_large_string, st.StringType()),
        (pa.types.is_string_view, st.StringType()),
    ]
    for test, spark in tests:
        if test(kind):
            return spark
    raise UsageError("a column of the model has a type that Spark does not have")
