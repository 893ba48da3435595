"""What can go wrong: one sentence, and a hint what to do about it. No message shows a private value."""

from __future__ import annotations


class SunprintError(Exception):
    """The base of all exceptions of Sunprint.

    >>> try:
    ...     sunprint.Schema({"columns": [{"name": "age", "kind": "integer", "min": 9, "max": 3}]})
    ... except sunprint.SunprintError as error:
    ...     print(error.hint)
    give the smallest and largest value that the column can have
    """

    #: The rule that was broken.
    sentence: str
    #: What to do about it, if there is advice.
    hint: str | None

    def __init__(self, sentence: str, hint: str | None = None) -> None:
        super().__init__(sentence, hint)
        self.sentence = sentence
        self.hint = hint

    def __str__(self) -> str:
        return self.sentence if self.hint is None else f"{self.sentence}\nhint: {self.hint}"


class UsageError(SunprintError, ValueError):
    """A parameter has a value that cannot be used."""


class SchemaError(SunprintError, ValueError):
    """The schema cannot be read or contradicts itself."""


class DataError(SunprintError, ValueError):
    """The table does not have the shape that the schema promises."""


class FileError(SunprintError):
    """A file cannot be opened, read or written."""


class BudgetError(SunprintError):
    """More privacy budget was asked for than there is."""


class ModelError(SunprintError, ValueError):
    """A model file is damaged or from a newer version."""


class ProtocolError(SunprintError, ValueError):
    """A pass or a tally does not belong to this fit."""


class LedgerError(SunprintError):
    """A ledger is damaged, from a newer version, or held by another program."""


class InternalError(SunprintError):
    """A bug of Sunprint. The exception says where, and nothing of what was worked on."""


class NotFittedError(SunprintError, ValueError, AttributeError):
    """Something was asked of a synthesizer that was not fitted yet."""


class ChargeWarning(UserWarning):
    """A fit of the same object is one more charge on the same data set."""
