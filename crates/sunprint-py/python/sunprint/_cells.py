"""Python objects that the native half does not know by itself, told in its terms."""

from __future__ import annotations

import sys
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

#: Nothing, a truth value, a number, or a moment: the seconds since 1970 in a tuple of their own.
Plain: TypeAlias = None | bool | int | float | tuple[int]

_EPOCH = date(1970, 1, 1).toordinal()
#: Classes of values that are missing. They are found by name, so that no library is imported for them.
_MISSING = frozenset({"NAType", "NaTType", "MaskedConstant"})


def plain(value: Any) -> Plain:
    """What an object is. Raises whatever it likes for one that is none of these, and so cannot be read.

    Only the class of an object is asked what it is, and only methods of classes that are known here are called: an object
    may say anything of itself.
    """
    kind = type(value)
    if kind.__name__ in _MISSING:
        return None
    if issubclass(kind, int):
        return _real(value, int.__float__, int.__gt__(value, 0))
    if issubclass(kind, Decimal):
        return None if Decimal.is_nan(value) else _real(value, Decimal.__float__, not Decimal.is_signed(value))
    if issubclass(kind, Fraction):
        return _real(value, Fraction.__float__, Fraction.__gt__(value, 0))
    numpy = sys.modules.get("numpy")
    if numpy is not None and issubclass(kind, numpy.generic):
        return _scalar(value, numpy)
    if hasattr(kind, "to_datetime64"):
        return _scalar(value.to_datetime64(), numpy)
    if issubclass(kind, datetime):
        return (_second(value),)
    if issubclass(kind, date):
        return ((date.toordinal(value) - _EPOCH) * 86_400,)
    raise TypeError


def _real(value: Any, convert: Any, positive: bool) -> float:
    try:
        return float(convert(value))
    except OverflowError:
        return float("inf") if positive else float("-inf")


def _second(moment: datetime) -> int:
    """A moment without a time zone is taken as one of UTC, as in every other column."""
    midnight = (date.toordinal(moment) - _EPOCH) * 86_400
    ahead = datetime.utcoffset(moment)
    second = midnight + moment.hour * 3600 + moment.minute * 60 + moment.second
    return second if ahead is None else second - ahead // timedelta(seconds=1)


def _scalar(value: Any, numpy: Any) -> Plain:
    kind = value.dtype.kind
    if kind == "b":
        return bool(value)
    if kind in "iu":
        # What is beyond 64 bits with a sign is a real number.
        whole = int(value)
        return whole if whole < 1 << 63 else float(whole)
    if kind == "f":
        with numpy.errstate(all="ignore"):
            return float(value)
    if kind == "M":
        return None if numpy.isnat(value) else (int(value.astype("M8[s]").astype("i8")),)
    raise TypeError
