"""The protocol: a fit as a conversation of a few passes, for engines that keep the rows elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, NoReturn

from . import _native
from ._frames import handed
from ._model import Model
from ._native import Pass, Tally
from ._options import Exact, written
from ._progress import Listener, listening
from ._schema import Schema, SchemaLike


class Fit:
    """A fit whose rows are wherever you keep them.

    Every pass is a small public description of what to tally; it may be sent anywhere. The answer of each part of the table
    is a tally, and tallies merge in any order to the same bits. Tallies are **secret**: exact numbers of private rows.
    Noise is added where a tally is absorbed, once.

    >>> fit = sunprint.Fit(schema, epsilon=1, rows=1000, ledger="none")
    >>> while (p := fit.next_pass()) is not None:
    ...     fit.absorb(sunprint.merge(sunprint.tally(p, part) for part in parts))
    >>> fit.finish()
    <sunprint.Model of people: 1000 rows measured, epsilon 1>

    ``rows`` is the number of rows of all parts together, which is public. The other parameters are those of
    :class:`Synthesizer`. With ``like``, the columns of that table (of which no row is read) give the order and the types
    of what the model draws.

    The charge stands in the ledger, once, when the first pass is handed out, and is marked as spent before the first tally
    is absorbed. Each row must be tallied exactly once in every pass: whoever retries a part must drop its first answer.
    """

    def __init__(
        self,
        schema: SchemaLike,
        *,
        rows: int,
        epsilon: Exact | None = None,
        delta: Exact | None = None,
        method: str = "default",
        dimension: int | None = None,
        ledger: str | os.PathLike[str] | None = None,
        texture: bool = True,
        mechanism: str = "auto",
        metric: str | None = None,
        cell: float | None = None,
        public_basis: Any = None,
        ignore_extra: bool = False,
        like: object = None,
        progress: bool | Listener | None = None,
    ) -> None:
        options = written(
            epsilon=epsilon,
            delta=delta,
            method=method,
            dimension=dimension,
            texture=texture,
            mechanism=mechanism,
            metric=metric,
            cell=cell,
            public_basis=public_basis,
            ledger=ledger,
            memory=None,
            spill_dir=None,
            ignore_extra=ignore_extra,
        )
        native = Schema(schema)._native
        shape = None if like is None else handed(like, native)
        self._native = _native.Fit(native, options, rows, shape)
        self._progress = progress

    def next_pass(self) -> Pass | None:
        """What to tally next, or ``None`` when the fit is complete. Public."""
        return self._native.next_pass()

    def absorb(self, tally: Tally) -> None:
        """Takes the merged tally of the whole table, and adds the noise.

        A tally of another fit, of another pass, or of another number of rows, is refused before anything is spent.
        """
        with listening(self._progress) as listener:
            self._native.absorb(tally, listener)

    def finish(self) -> Model:
        """The finished model."""
        return Model(self._native.finish())

    def __repr__(self) -> str:
        return "<sunprint.Fit>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a fit cannot be pickled, for its charge is spent once; send its passes instead")


def tally(
    what: Pass,
    part: object,
    *,
    format: str | None = None,
    ignore_extra: bool = False,
    progress: bool | Listener | None = None,
) -> Tally:
    """Tallies one part of a table: whatever :meth:`Synthesizer.fit` takes. A part may be empty.

    >>> what = sunprint.Fit(schema, epsilon=1, rows=1000, ledger="none").next_pass()
    >>> sunprint.tally(what, frame)
    <sunprint.Tally of pass 1: 1000 rows; secret>
    """
    with listening(progress) as listener:
        return what.tally(handed(part, what.schema, None), format, ignore_extra, listener)


def merge(tallies: Iterable[Tally]) -> Tally:
    """The sum of tallies of one pass, in any order: the same bits. ``a + b`` and ``sum(tallies)`` give the same."""
    return Tally.merged(list(tallies))


def _pass_of(what: str, schema: str) -> Pass:
    return Pass.from_text(what, schema)


def _tally_of(secret: bytes, what: Pass) -> Tally:
    return Tally.from_secret_bytes(secret, what)
