"""Generated tables, the same on every machine: mixtures in a subspace, and one that looks like wines."""

import numpy as np
import polars

import datasets

# The part of a mixture's variance that lies between its centres.
BETWEEN = 0.75

# Spreads are set so that W1 between parts of 1,500 real rows (1,000 of gen20) is 0.05, 0.15 and 0.22.
MIXTURES = {
    "gen20": {"rows": 2_000, "width": 20, "dimension": 2, "spread": 0.42},
    "gen50": {"rows": 10_000, "width": 50, "dimension": 3, "spread": 0.69},
    "gen100": {"rows": 50_000, "width": 100, "dimension": 3, "spread": 1.1},
}


def mixture(name, rows, width, dimension, spread):
    """Three spherical Gaussians, equally likely, in a random subspace through the middle of the cube, clipped to it."""
    rng = np.random.default_rng(1)
    basis, _ = np.linalg.qr(rng.normal(size=(width, dimension)))
    centres = rng.normal(size=(3, dimension))
    centres -= centres.mean(axis=0)
    centres *= spread * np.sqrt(BETWEEN / np.mean(centres**2))
    inside = centres[rng.integers(3, size=rows)] + spread * np.sqrt(1 - BETWEEN) * rng.normal(size=(rows, dimension))
    values = np.clip(0.5 + inside @ basis.T, 0, 1)
    columns = [{"name": f"x{j}", "kind": "continuous", "min": 0.0, "max": 1.0} for j in range(width)]
    frame = polars.from_numpy(values, schema=[column["name"] for column in columns])
    return datasets.Dataset(name, datasets.written(columns, {}), frame, "parquet")


def wine_like():
    """4,898 rows, 3,428 of them for training: eleven skewed columns that go with one another, and a label.

    Logarithms are normal with three common factors. The label follows one column and a product of two, so that trees
    see more of it than a straight line does.
    """
    rng, rows, width = np.random.default_rng(2), 4_898, 11
    loadings = rng.normal(size=(3, width)) * 0.75
    hidden = rng.normal(size=(rows, 3)) @ loadings + rng.normal(size=(rows, width))
    hidden /= np.sqrt((loadings**2).sum(axis=0) + 1)
    skew = np.linspace(0.15, 0.6, width)
    values = np.exp(skew * hidden)
    # Bounds of somebody who knows what is possible, not what occurs: some five deviations above the usual.
    bounds = np.exp(skew * 4.8).round(1)
    score = 0.9 * hidden[:, 0] + 0.9 * hidden[:, 4] * hidden[:, 7] + 0.58 * rng.normal(size=rows)
    columns = [{"name": f"x{j}", "kind": "continuous", "min": 0.0, "max": bounds[j]} for j in range(width)]
    columns.append({"name": "quality", "kind": "categorical", "values": ["good", "plain"], "role": "label"})
    frame = polars.from_numpy(values.round(4), schema=[column["name"] for column in columns[:-1]])
    good = polars.Series("quality", np.where(score > np.quantile(score, 0.36), "good", "plain"))
    return datasets.Dataset("wine_like", datasets.written(columns, {}), frame.with_columns(good), "csv")


def every():
    """The names of the generated tables, and how to make each."""
    made = {name: lambda name=name, recipe=recipe: mixture(name, **recipe) for name, recipe in MIXTURES.items()}
    return made | {"wine_like": wine_like}
