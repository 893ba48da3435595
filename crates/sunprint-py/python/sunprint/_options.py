"""The parameters of a fit, as text for the native half."""

from __future__ import annotations

import json
import math
import os
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias, Union

from ._errors import UsageError

#: An exact number. A float counts as the shortest decimal that reads back to it: 0.1 is a tenth.
Exact: TypeAlias = Union[int, float, str, Decimal, Fraction]


def exact(name: str, value: Exact) -> str:
    """An exact number as text."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | Fraction):
        try:
            value = float(value)  # a number of numpy
        except (TypeError, ValueError):
            raise UsageError(f"`{name}` must be a number; a `{type(value).__name__}` was given") from None
    if isinstance(value, float) and not math.isfinite(value):
        raise UsageError(f"`{name}` must be a number; {value} was given")
    return str(value)


def decimal(number: Fraction) -> str:
    """As a decimal where that is exact, and as a fraction where it is not."""
    places = number.denominator
    for factor in (2, 5):
        while places % factor == 0:
            places //= factor
    if places > 1:
        return str(number)
    digits = 0
    while (number * 10**digits).denominator > 1:
        digits += 1
    whole = str(abs(number) * 10**digits).rjust(digits + 1, "0")
    sign = "-" if number < 0 else ""
    return sign + (f"{whole[:-digits]}.{whole[-digits:]}" if digits else whole)


def written(
    *,
    epsilon: Exact | None,
    delta: Exact | None,
    method: str,
    dimension: int | None,
    texture: bool,
    mechanism: str,
    metric: str | None,
    cell: float | None,
    public_basis: Any,
    ledger: str | os.PathLike[str] | None,
    memory: int | None,
    spill_dir: str | os.PathLike[str] | None,
    ignore_extra: bool,
) -> str:
    """All parameters, as JSON."""
    if epsilon is None:
        raise UsageError("`epsilon` has no default", "it is the promise: 1 is a common choice, smaller promises more")
    options = {
        "epsilon": exact("epsilon", epsilon),
        "delta": None if delta is None else exact("delta", delta),
        "method": method,
        "dimension": None if dimension is None else _whole("dimension", dimension),
        "texture": bool(texture),
        "mechanism": mechanism,
        "metric": metric,
        "cell": None if cell is None else float(cell),
        "public_basis": None if public_basis is None else [[float(x) for x in vector] for vector in public_basis],
        "ledger": None if ledger is None else os.fspath(ledger),
        "memory": None if memory is None else _whole("memory", memory),
        "spill_dir": None if spill_dir is None else os.fspath(spill_dir),
        "ignore_extra": bool(ignore_extra),
    }
    try:
        return json.dumps(options, allow_nan=False)
    except (TypeError, ValueError):
        raise UsageError("a parameter has a value of another type") from None


def _whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__") or value.__index__() < 0:
        raise UsageError(f"`{name}` must be a whole number; {value!r} was given")
    return int(value.__index__())
