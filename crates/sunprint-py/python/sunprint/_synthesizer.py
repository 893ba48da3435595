"""A fit in the habits of scikit-learn."""

from __future__ import annotations

import os
import warnings
from fractions import Fraction
from typing import Any

from . import _native
from ._errors import ChargeWarning, NotFittedError, SunprintError, UsageError
from ._frames import Frame, Origin, handed
from ._model import Model, Receipt
from ._options import Exact, decimal, exact, written
from ._progress import Listener, listening
from ._schema import Schema, SchemaLike

_PARAMETERS = (
    "schema",
    "epsilon",
    "delta",
    "method",
    "dimension",
    "ledger",
    "texture",
    "mechanism",
    "metric",
    "cell",
    "public_basis",
    "memory",
    "spill_dir",
    "ignore_extra",
    "progress",
)


class Synthesizer:
    """Makes differentially private synthetic rows from a table.

    >>> synthesizer = sunprint.Synthesizer(schema, epsilon=1, ledger="none")
    >>> synthetic = synthesizer.fit(frame).sample(500, seed=7)
    >>> type(synthetic) is type(frame), synthetic.shape
    (True, (500, 2))
    >>> synthesizer.receipt_
    <sunprint.Receipt of people: epsilon 1, 1000 rows>

    Parameters
    ----------
    schema
        All public knowledge of the table: a :class:`Schema`, a mapping, or the text or the path of a TOML file. It must
        name the data set: the ledger adds up under that name what is spent on the same rows.
    epsilon
        The promise. It has no default. A float counts as the decimal that it prints as: 0.1 is a tenth.
    delta
        A second part of the promise; without it, the promise is pure.
    method
        ``"default"``, ``"paper"``, ``"cube"`` or ``"gaussian"``.
    dimension
        In how many directions the shape is measured; by default that is chosen.
    ledger
        The file that keeps what every data set has spent. By default that of the command line; ``"none"`` keeps none.
    texture, mechanism, metric, cell, public_basis
        As the options of the command line.
    memory, spill_dir
        The most bytes of codes in memory (a value takes two), and where the others go; half of the memory by default.
    ignore_extra
        Leave out columns that the schema does not describe, instead of refusing them.
    progress
        ``True`` for bars of tqdm, where it is installed, or a callable that takes what is being done, how far it is and
        its length (``None`` where that is not known).

    Attributes
    ----------
    model_ : Model
        Everything that was released.
    receipt_ : Receipt
        What was promised and spent.
    dimension_ : int or None
        In how many directions the shape was measured.
    schema_ : Schema
        The schema that was used.
    """

    def __init__(
        self,
        schema: SchemaLike,
        *,
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
        memory: int | None = None,
        spill_dir: str | os.PathLike[str] | None = None,
        ignore_extra: bool = False,
        progress: bool | Listener | None = None,
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.delta = delta
        self.method = method
        self.dimension = dimension
        self.ledger = ledger
        self.texture = texture
        self.mechanism = mechanism
        self.metric = metric
        self.cell = cell
        self.public_basis = public_basis
        self.memory = memory
        self.spill_dir = spill_dir
        self.ignore_extra = ignore_extra
        self.progress = progress

    def fit(self, table: object, y: None = None, *, format: str | None = None) -> Synthesizer:
        """Measures a table and spends the whole of ``epsilon`` on it.

        ``table`` is a frame of polars, pandas, pyarrow or DuckDB, an array of numpy (a matrix has the columns of the schema,
        in its order), anything with Arrow's PyCapsule interface, the path of a file, or an iterable of such batches, which
        is read once. Values never become Python objects; what is kept is a code of two bytes for each.

        The parameters and the table's columns are checked first, which costs nothing. Then the charge is written into the
        ledger, before the rows are looked at, and nothing takes it out again. A second fit of the
        same object is a new charge, and warns that it is.
        """
        if y is not None:
            raise UsageError("`y` has no meaning here", "give a label as a column of the table, with `role = \"label\"`")
        schema = Schema(self.schema)
        options = self._options()
        self._warn_of_another_charge(schema)
        origin = Origin()
        with listening(self.progress) as listener:
            try:
                native = _native.fit(schema._native, options, handed(table, schema._native, origin), format, listener)
            except BaseException as error:
                if getattr(error, "charged", False):
                    self._charge()
                raise
        self._charge()
        self.model_ = Model(native, origin)
        self.schema_ = schema
        self.receipt_: Receipt = self.model_.receipt
        self.dimension_ = self.model_.dimension
        return self

    def sample(
        self,
        n: int | None = None,
        *,
        seed: int | None = None,
        to: Frame | None = None,
        part: tuple[int, int] | None = None,
    ) -> Any:
        """Draws synthetic rows, as the kind of frame that was fitted: see :meth:`Model.sample`."""
        return self._model().sample(n, seed=seed, to=to, part=part, progress=self.progress)

    def fit_sample(self, table: object, n: int | None = None, *, seed: int | None = None) -> Any:
        """Fits a table and draws as many synthetic rows."""
        return self.fit(table).sample(n, seed=seed)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Writes the model to a file: see :meth:`Model.save`."""
        self._model().save(path, force=force)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Synthesizer:
        """A fitted synthesizer from a model file."""
        model = Model.load(path)
        receipt = model.receipt
        loaded = cls(model.schema, epsilon=receipt.epsilon, delta=receipt.delta, method=receipt.method)
        loaded.model_, loaded.schema_ = model, model.schema
        loaded.receipt_, loaded.dimension_ = receipt, model.dimension
        return loaded

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters of the constructor, by name."""
        return {name: getattr(self, name) for name in _PARAMETERS}

    def set_params(self, **parameters: Any) -> Synthesizer:
        """Changes parameters of the constructor."""
        for name, value in parameters.items():
            if name not in _PARAMETERS:
                raise UsageError(f"`{name}` is no parameter of a synthesizer", f"the parameters are {', '.join(_PARAMETERS)}")
            setattr(self, name, value)
        return self

    def _options(self) -> str:
        parameters = self.get_params()
        del parameters["schema"], parameters["progress"]
        return written(**parameters)

    def _model(self) -> Model:
        model: Model | None = getattr(self, "model_", None)
        if model is None:
            raise NotFittedError("this synthesizer was not fitted yet", "call `fit` with a table first")
        return model

    def _charge(self) -> None:
        before = getattr(self, "_charged", Fraction(0))
        self._charged = before + Fraction(exact("epsilon", self.epsilon or 0))

    def _warn_of_another_charge(self, schema: Schema) -> None:
        before: Fraction | None = getattr(self, "_charged", None)
        if before is None or self.epsilon is None:
            return
        more = Fraction(exact("epsilon", self.epsilon))
        ledger = None if self.ledger is None else os.fspath(self.ledger)
        try:
            kept = _native.spent(schema.name, ledger)
        except SunprintError:
            kept = None  # the fit itself will say what is wrong with the ledger
        total, where = (before, "by this object") if kept is None else (Fraction(kept[0]), "by the ledger")
        warnings.warn(
            f"data set `{schema.name}` was fitted with this synthesizer before: this fit is a new charge of epsilon "
            f"{decimal(more)}, on top of epsilon {decimal(total)} {where}, {decimal(total + more)} together",
            ChargeWarning,
            stacklevel=3,
        )

    def __repr__(self) -> str:
        fitted = "" if getattr(self, "model_", None) is None else ", fitted"
        return f"<sunprint.Synthesizer: epsilon {self.epsilon}, method {self.method}{fitted}>"

    def _repr_html_(self) -> str | None:
        model: Model | None = getattr(self, "model_", None)
        return None if model is None else model._repr_html_()

