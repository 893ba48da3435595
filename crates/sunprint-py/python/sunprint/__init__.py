"""Differentially private synthetic data from high-dimensional tables.

::

    import sunprint

    synthesizer = sunprint.Synthesizer("people.toml", epsilon=1).fit(frame)
    synthetic = synthesizer.sample(100_000, seed=7)   # a frame of the same library
    print(synthesizer.receipt_)                       # what was promised and spent
    synthesizer.save("people.sunprint")               # publish it, draw from it for ever

A schema says what is public about the table; a fit spends ``epsilon``, once, and the ledger writes it down before a row is
read; what is drawn, and the model itself, may be published. ``docs/python.md`` has more.
"""

from ._compare import Evaluation, Forecast, Plan, evaluate, plan, wasserstein1
from ._errors import (
    BudgetError,
    ChargeWarning,
    DataError,
    FileError,
    InternalError,
    LedgerError,
    ModelError,
    NotFittedError,
    ProtocolError,
    SchemaError,
    SunprintError,
    UsageError,
)
from ._model import Model, Receipt
from ._native import Pass, Rows, Tally, __version__
from ._protocol import Fit, merge, tally
from ._schema import Schema, boolean, categorical, continuous, date, integer, moment
from ._synthesizer import Synthesizer

__all__ = [
    "BudgetError",
    "ChargeWarning",
    "DataError",
    "Evaluation",
    "FileError",
    "Fit",
    "Forecast",
    "InternalError",
    "LedgerError",
    "Model",
    "ModelError",
    "NotFittedError",
    "Pass",
    "Plan",
    "ProtocolError",
    "Receipt",
    "Rows",
    "Schema",
    "SchemaError",
    "SunprintError",
    "Synthesizer",
    "Tally",
    "UsageError",
    "__version__",
    "boolean",
    "categorical",
    "continuous",
    "date",
    "evaluate",
    "integer",
    "merge",
    "moment",
    "plan",
    "tally",
    "wasserstein1",
]
