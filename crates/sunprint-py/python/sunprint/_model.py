"""A finished model and its receipt: public, to keep and to publish."""

from __future__ import annotations

import json
import os
import secrets
from fractions import Fraction
from pathlib import Path
from typing import Any

from . import _html, _native
from ._errors import FileError, UsageError
from ._frames import Frame, Origin
from ._options import decimal
from ._progress import Listener, listening
from ._schema import Schema


class Receipt:
    """What was promised and spent. Public: it goes out with the release.

    >>> receipt = model.receipt
    >>> receipt.epsilon, receipt.delta, receipt.rows
    ('1', None, 1000)
    >>> print(receipt.sentence)  # doctest: +ELLIPSIS
    This release is differentially private with ε = 1: ...
    """

    def __init__(self, model: _native.Model) -> None:
        self._model = model
        self._facts: dict[str, Any] = json.loads(model.receipt_json)

    @property
    def dataset(self) -> str:
        """The name of the data set."""
        return str(self._facts["dataset"])

    @property
    def epsilon(self) -> str:
        """ε, exactly as it was asked for."""
        return decimal(Fraction(self._facts["epsilon"]))

    @property
    def delta(self) -> str | None:
        """δ, exactly; ``None`` for a promise without one."""
        delta = self._facts["delta"]
        return None if delta is None else decimal(Fraction(delta))

    @property
    def rows(self) -> int:
        """The number of rows that were measured, which is public."""
        return int(self._facts["rows"])

    @property
    def method(self) -> str:
        """The method."""
        return str(self._facts["method"])

    @property
    def remarks(self) -> list[str]:
        """What a reader of the release should know."""
        return list(self._facts["remarks"])

    @property
    def ledger_entry(self) -> int | None:
        """The number of the entry in the ledger; ``None`` where none was kept."""
        entry = self._facts.get("ledger")
        return None if entry is None else int(entry["entry"])

    @property
    def sentence(self) -> str:
        """The promise in one sentence."""
        return self._model.receipt_sentence

    def statement(self, form: str = "text") -> str:
        """The page that goes out with a release, as ``"text"`` or as ``"html"``."""
        if form not in ("text", "html"):
            raise UsageError(f"`form` is one of `text` and `html`; `{form}` was given")
        return self._model.statement_text if form == "text" else self._model.statement_html

    def to_dict(self) -> dict[str, Any]:
        """Everything, as it stands in a receipt file."""
        facts: dict[str, Any] = json.loads(self._model.receipt_json)
        return facts

    def __str__(self) -> str:
        return self._model.receipt_text

    def __repr__(self) -> str:
        delta = "" if self.delta is None else f", delta {self.delta}"
        return f"<sunprint.Receipt of {self.dataset}: epsilon {self.epsilon}{delta}, {self.rows} rows>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _receipt_of, (self._model.to_json(),)

    def _repr_html_(self) -> str:
        facts = [("data set", self.dataset), ("epsilon", self.epsilon)]
        if self.delta is not None:
            facts.append(("delta", self.delta))
        facts += [("method", self.method), ("rows", f"{self.rows:,}")]
        entry = self.ledger_entry
        facts.append(("ledger", "not kept" if entry is None else f"entry {entry}"))
        facts += [("remark", remark) for remark in self.remarks]
        parts = [(stage["name"], 100 * stage["share"] / stage["of"]) for stage in self._facts["stages"]]
        return _html.page("Receipt", self.sentence, facts, _html.bars("how the budget was divided", parts))


class Model:
    """Everything that was released. Publish it, and draw from it for ever, at no further cost.

    >>> model
    <sunprint.Model of people: 1000 rows measured, epsilon 1>
    >>> model.sample(3, seed=7)
    <sunprint.Rows: 3 rows, 2 columns>
    """

    def __init__(self, native: _native.Model, origin: Origin | None = None) -> None:
        self._native = native
        self._origin = origin or Origin()

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Model:
        """Reads a model file, of this package or of the command line."""
        try:
            text = Path(path).read_bytes()
        except OSError as error:
            raise FileError(f"{os.fspath(path)}: the model cannot be read", "check the path") from error
        return cls(_native.Model.from_json(text, os.fspath(path)))

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Writes the model to a file, whole or not at all. The command line reads it too.

        A file that is there already is kept, and a :class:`FileError` raised, unless ``force`` is true.
        """
        self._native.save(os.fspath(path), force)

    def sample(
        self,
        n: int | None = None,
        *,
        seed: int | None = None,
        to: Frame | None = None,
        part: tuple[int, int] | None = None,
        progress: bool | Listener | None = None,
    ) -> Any:
        """Draws synthetic rows: as many as were measured, unless ``n`` says otherwise.

        They come as the kind of frame that was fitted, or as ``to`` says: ``"polars"``, ``"pandas"``, ``"pyarrow"``,
        ``"duckdb"``, ``"numpy"``, or ``"rows"`` for an object that any library with Arrow's interface takes. The same
        ``seed`` draws the same rows, on any machine; it only picks rows out of what is public already. With
        ``part=(i, k)`` the i-th of k parts is drawn, so that k workers draw one table.

        >>> model.sample(1000, seed=7, to="numpy").shape
        (1000, 2)
        """
        count, chosen = _count(n, self._native.rows), _seed(seed)
        with listening(progress) as listener:
            rows = self._native.sample(count, chosen, part, listener)
        return self._origin.built(rows, self.schema._native, to)

    def write(
        self,
        path: str | os.PathLike[str],
        n: int | None = None,
        *,
        seed: int | None = None,
        format: str | None = None,
        progress: bool | Listener | None = None,
        force: bool = False,
    ) -> None:
        """Draws synthetic rows into a file: CSV, TSV, Parquet or Arrow, by its name or by ``format``.

        A file that is there already is kept, and a :class:`FileError` raised, unless ``force`` is true.
        """
        count, chosen = _count(n, self._native.rows), _seed(seed)
        with listening(progress) as listener:
            self._native.write(os.fspath(path), count, chosen, format, listener, force)

    @property
    def receipt(self) -> Receipt:
        """What was promised and spent."""
        return Receipt(self._native)

    @property
    def schema(self) -> Schema:
        """The schema of the table."""
        return Schema.from_toml(self._native.schema_toml)

    @property
    def rows(self) -> int:
        """The number of rows that were measured."""
        return self._native.rows

    @property
    def dimension(self) -> int | None:
        """In how many directions the shape was measured; ``None`` for methods that choose none."""
        return self._native.dimension

    @property
    def spectrum(self) -> list[float]:
        """Released variances along the directions, largest first, in units of the columns' ranges."""
        return self._native.spectrum

    @property
    def noise_edge(self) -> float:
        """Variances at or below this cannot be told from noise."""
        return self._native.noise_edge

    def __repr__(self) -> str:
        receipt = self.receipt
        return f"<sunprint.Model of {receipt.dataset}: {self.rows} rows measured, epsilon {receipt.epsilon}>"

    def _repr_html_(self) -> str:
        receipt, dimension = self.receipt, self.dimension
        facts = [
            ("data set", receipt.dataset),
            ("rows measured", f"{self.rows:,}"),
            ("columns", f"{len(self.schema.columns):,}"),
            ("directions", "none chosen" if dimension is None else str(dimension)),
        ]
        return _html.page("Model", receipt.sentence, facts, _html.spectrum(self.spectrum, self.noise_edge))

    def __reduce__(self) -> tuple[Any, ...]:
        return _model_of, (self._native.to_json(), self._origin)


def _model_of(text: str, origin: Origin) -> Model:
    return Model(_native.Model.from_json(text.encode(), "the pickled model"), origin)


def _receipt_of(text: str) -> Receipt:
    return Receipt(_native.Model.from_json(text.encode(), "the pickled receipt"))


def _count(n: int | None, measured: int) -> int:
    if n is None:
        return measured
    if isinstance(n, bool) or not hasattr(n, "__index__") or not 0 <= n.__index__() < 1 << 63:
        raise UsageError(f"`n` must be a number of rows; {n!r} was given")
    return n.__index__()


def _seed(seed: int | None) -> int:
    # A seed nobody chose. It only picks rows out of what is public, so that it need not be secret.
    if seed is None:
        return secrets.randbits(32)
    if isinstance(seed, bool) or not hasattr(seed, "__index__") or not 0 <= seed.__index__() < 1 << 64:
        raise UsageError(f"`seed` must be a whole number from 0 to 2**64 - 1; {seed!r} was given")
    return seed.__index__()
