"""The schema: everything about a table that is public."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias, Union

from . import _native
from ._errors import SchemaError

#: Whatever a schema can be made from.
SchemaLike: TypeAlias = Union["Schema", Mapping[str, Any], str, "os.PathLike[str]"]


class Schema:
    """All public knowledge of a table: its columns, their kinds and their bounds.

    Bounds and categories come from here alone and never from the rows; ``docs/schema.md`` describes every key. A schema is
    made from a mapping, from the text or the path of a TOML file, or in code:

    >>> schema = sunprint.Schema(
    ...     {
    ...         "name": "people",
    ...         "columns": [
    ...             {"name": "age", "kind": "integer", "min": 0, "max": 120},
    ...             {"name": "smokes", "kind": "categorical", "values": ["no", "yes"], "role": "label"},
    ...         ],
    ...     }
    ... )
    >>> schema
    <sunprint.Schema people: 2 columns>
    >>> schema == sunprint.Schema(schema.to_toml())
    True
    >>> schema == sunprint.Schema.build(
    ...     "people",
    ...     sunprint.integer("age", 0, 120),
    ...     sunprint.categorical("smokes", ["no", "yes"], role="label"),
    ... )
    True
    """

    __slots__ = ("_native",)

    def __init__(self, source: SchemaLike) -> None:
        self._native = _read(source)

    @classmethod
    def from_toml(cls, text: str) -> Schema:
        """Reads the text of a schema file."""
        return cls._of(_native.Schema.parse(text, "the schema"))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Schema:
        """Reads a schema file."""
        return cls._of(_native.Schema.load(os.fspath(path)))

    @classmethod
    def build(cls, name: str, *columns: Mapping[str, Any], constraints: Iterable[str] = ()) -> Schema:
        """A schema in code: see :func:`continuous`, :func:`integer`, :func:`boolean`, :func:`categorical`, :func:`date`
        and :func:`moment`."""
        return cls({"name": name, "columns": columns, "constraints": list(constraints)})

    @classmethod
    def _of(cls, native: _native.Schema) -> Schema:
        schema = cls.__new__(cls)
        schema._native = native
        return schema

    @property
    def name(self) -> str:
        """The name of the data set, by which the ledger knows it."""
        return self._native.name

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self._native.names

    @property
    def width(self) -> int:
        """The number of coordinates: a category without an order takes one for each of its values."""
        return self._native.width

    @property
    def strata(self) -> int:
        """The number of strata: the combinations of all columns that split the table."""
        return self._native.strata

    def to_toml(self) -> str:
        """The text of a schema file."""
        return self._native.to_toml()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and self.to_toml() == other.to_toml()

    def __hash__(self) -> int:
        return hash(self.to_toml())

    def __repr__(self) -> str:
        return f"<sunprint.Schema {self.name or 'without a name'}: {len(self.columns)} columns>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Schema.from_toml, (self.to_toml(),)


def _read(source: SchemaLike) -> _native.Schema:
    if isinstance(source, Schema):
        return source._native
    if isinstance(source, Mapping):
        return _native.Schema.parse(_toml(source), "the schema")
    if isinstance(source, str) and ("\n" in source or "[[column]]" in source):
        return _native.Schema.parse(source, "the schema")
    if isinstance(source, str | os.PathLike):
        return _native.Schema.load(os.fspath(source))
    raise SchemaError(
        f"a schema cannot be made of `{type(source).__name__}`",
        "give a `sunprint.Schema`, a mapping, or the text or the path of a TOML file",
    )


def continuous(name: str, low: float, high: float, **keys: Any) -> dict[str, Any]:
    """A column of real numbers between two bounds."""
    return {"name": name, "kind": "continuous", "min": low, "max": high, **keys}


def integer(name: str, low: int, high: int, **keys: Any) -> dict[str, Any]:
    """A column of whole numbers between two bounds."""
    return {"name": name, "kind": "integer", "min": low, "max": high, **keys}


def boolean(name: str, **keys: Any) -> dict[str, Any]:
    """A column of truth values."""
    return {"name": name, "kind": "boolean", **keys}


def categorical(name: str, values: Iterable[str], **keys: Any) -> dict[str, Any]:
    """A column of categories, all of which are listed."""
    return {"name": name, "kind": "categorical", "values": list(values), **keys}


def date(name: str, first: datetime.date | str, last: datetime.date | str, **keys: Any) -> dict[str, Any]:
    """A column of days."""
    return {"name": name, "kind": "date", "min": first, "max": last, **keys}


def moment(name: str, first: datetime.datetime | str, last: datetime.datetime | str, **keys: Any) -> dict[str, Any]:
    """A column of days with the time of day, to the second."""
    return {"name": name, "kind": "datetime", "min": first, "max": last, **keys}


def _toml(source: Mapping[str, Any]) -> str:
    """The text of a schema file. Keys are written as they are, and the reader refuses those that it does not know."""
    known = {"name", "columns", "constraints"}
    if unknown := sorted(str(key) for key in source.keys() - known):
        raise SchemaError(f"unknown key `{unknown[0]}` in the schema", "the keys are `name`, `columns` and `constraints`")
    lines = ["[dataset]"]
    if source.get("name"):
        lines.append(f"name = {_value(source['name'])}")
    for column in source.get("columns", ()):
        if not isinstance(column, Mapping):
            raise SchemaError("`columns` must be a list of mappings", "write for instance `sunprint.integer(\"age\", 0, 120)`")
        lines += ["[[column]]", *(f"{_quoted(str(key))} = {_value(value)}" for key, value in column.items() if value is not None)]
    for rule in source.get("constraints", ()):
        lines += ["[[constraint]]", f"rule = {_value(rule)}"]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, datetime.date):
        return _quoted(value.isoformat())
    if isinstance(value, Iterable):
        return f"[{', '.join(_value(item) for item in value)}]"
    # Numbers of numpy and of the decimal module print as plain digits too.
    return str(value)


def _quoted(text: str) -> str:
    escapes = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    plain = (escapes.get(letter, letter) for letter in text)
    return '"' + "".join(f"\\u{ord(letter):04X}" if len(letter) == 1 and (letter < " " or letter == "\x7f") else letter for letter in plain) + '"'
