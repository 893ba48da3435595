"""Tables that need no download, the same on every machine: generated ones, and the digits of scikit-learn.

Bounds are those of somebody who knows what is possible, not what occurs.
"""

import importlib.util

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
    # Some five deviations above the usual.
    bounds = np.exp(skew * 4.8).round(1)
    score = 0.9 * hidden[:, 0] + 0.9 * hidden[:, 4] * hidden[:, 7] + 0.58 * rng.normal(size=rows)
    columns = [{"name": f"x{j}", "kind": "continuous", "min": 0.0, "max": bounds[j]} for j in range(width)]
    columns.append({"name": "quality", "kind": "categorical", "values": ["good", "plain"], "role": "label"})
    frame = polars.from_numpy(values.round(4), schema=[column["name"] for column in columns[:-1]])
    good = polars.Series("quality", np.where(score > np.quantile(score, 0.36), "good", "plain"))
    return datasets.Dataset("wine_like", datasets.written(columns, {}), frame.with_columns(good), "csv")


# What an instrument can show. Readings usually take up a fifth to a half of it.
RANGES = [(-40.0, 125.0), (0.0, 10.0), (0.0, 500.0), (-2.0, 2.0), (800.0, 1_200.0)]


def sensors():
    """20,000 moments of 30 instruments without a label: five smooth courses, seen through curves.

    A course is a sum of four waves. Each instrument sees a mixture of the courses through tanh, a mixture of their
    squares, or both; its noise grows with one of the courses.
    """
    rng, rows, width, hidden = np.random.default_rng(3), 20_000, 30, 5
    time = np.linspace(0, 1, rows)[:, None, None]
    waves = np.sin(2 * np.pi * (rng.uniform(1, 40, size=(hidden, 4)) * time + rng.random((hidden, 4))))
    courses = waves.sum(axis=2) / np.sqrt(2)
    bent = np.tanh(courses @ rng.normal(size=(hidden, width)))
    squares = (courses**2 - 1) @ rng.normal(size=(hidden, width)) / np.sqrt(2 * hidden)
    share = np.resize([0.0, 0.5, 1.0], width)
    noise = 0.15 * np.exp(0.6 * courses[:, rng.integers(hidden, size=width)]) * rng.normal(size=(rows, width))
    readings = (1 - share) * bent + share * squares + noise
    limits = [RANGES[j % len(RANGES)] for j in range(width)]
    low, high = np.array(limits).T
    values = np.clip(low + (high - low) * (0.5 + rng.uniform(0.08, 0.16, size=width) * readings), low, high)
    columns = [{"name": f"s{j}", "kind": "continuous", "min": limits[j][0], "max": limits[j][1]} for j in range(width)]
    frame = polars.from_numpy(values.round(4), schema=[column["name"] for column in columns])
    return datasets.Dataset("sensors", datasets.written(columns, {}), frame, "parquet")


# Skewed columns of customers: bounds, the usual value, the deviation of the logarithm, and what is added to it in each
# segment. The first two are on a logarithmic scale.
SKEWED = {
    "income": (1_000.0, 1_000_000.0, 32_000.0, 0.45, (-0.5, 0.0, 0.3, 0.9)),
    "spent": (1.0, 100_000.0, 400.0, 0.9, (-0.6, 0.5, 0.0, 1.2)),
    "months": (0.0, 240.0, 22.0, 0.7, (-0.7, 0.4, 0.0, 0.5)),
    "basket": (0.0, 500.0, 35.0, 0.6, (-0.3, 0.0, 0.2, 0.6)),
    "visits": (0.0, 200.0, 9.0, 0.7, (0.0, 0.6, -0.5, 0.3)),
    "distance": (0.0, 100.0, 6.0, 0.8, (-0.2, 0.0, 0.6, 0.1)),
}
# Shares of the categories in each of the four segments, in per cent.
CHOICES = {
    "channel": {"web": (60, 30, 20, 40), "shop": (10, 50, 60, 20), "phone": (30, 20, 20, 40)},
    "region": {"north": (30, 20, 10, 20), "east": (20, 30, 10, 20), "south": (20, 20, 40, 10),
               "west": (20, 20, 35, 10), "centre": (10, 10, 5, 40)},
    "plan": {"free": (60, 5, 20, 1), "trial": (15, 2, 10, 1), "student": (15, 1, 2, 1), "basic": (6, 40, 40, 6),
             "family": (1, 30, 20, 6), "plus": (1, 15, 5, 35), "business": (1, 2, 2, 20), "premium": (1, 5, 1, 30)},
}
SEGMENTS = (0.3, 0.35, 0.25, 0.1)
# The share of answers that are missing in each segment: 15 % over all.
UNANSWERED = (0.3, 0.06, 0.12, 0.09)


def customers():
    """12,000 customers, 8,400 of them for training: skewed numbers, categories, yes and no, gaps, and who leaves."""
    rng, rows = np.random.default_rng(4), 12_000
    segment = rng.choice(len(SEGMENTS), size=rows, p=SEGMENTS)
    columns, cells, logarithms = [], {}, {}
    for name, (low, high, usual, deviation, added) in SKEWED.items():
        logarithms[name] = np.array(added)[segment] + deviation * rng.normal(size=rows)
        # Who spends more comes more often, and has come for longer.
        if name in ("months", "visits"):
            logarithms[name] += 0.3 * logarithms["spent"]
        scale = {"scale": "log"} if len(columns) < 2 else {}
        columns.append({"name": name, "kind": "continuous", "min": low, "max": high, "decimals": 2} | scale)
        cells[name] = np.clip(usual * np.exp(logarithms[name]), low, high).round(2)
    for name, shares in CHOICES.items():
        values, ends = list(shares), np.array(list(shares.values())).cumsum(axis=0)[:-1].T
        picked = (100 * rng.random(rows)[:, None] > ends[segment]).sum(axis=1)
        columns.append({"name": name, "kind": "categorical", "values": values})
        cells[name] = np.array(values)[picked]
    for name, shares in {"newsletter": (0.2, 0.5, 0.3, 0.7), "complaint": (0.25, 0.08, 0.12, 0.05)}.items():
        columns.append({"name": name, "kind": "boolean"})
        cells[name] = rng.random(rows) < np.array(shares)[segment]
    mood = np.array((5.5, 7.5, 6.5, 8.0))[segment] - 2.0 * cells["complaint"] + 1.5 * rng.normal(size=rows)
    columns.append({"name": "satisfaction", "kind": "continuous", "min": 0.0, "max": 10.0, "decimals": 1,
                    "missing": "allow"})
    answers = np.where(rng.random(rows) < np.array(UNANSWERED)[segment], np.nan, np.clip(mood, 0, 10).round(1))
    cells["satisfaction"] = polars.Series(answers).fill_nan(None)
    score = (-1.95 - 0.9 * logarithms["months"] - 0.5 * logarithms["visits"] - 0.45 * (mood - 6.5)
             + 0.9 * cells["complaint"] - 0.5 * cells["newsletter"] + 0.7 * np.isin(cells["plan"], ["free", "trial"]))
    columns.append({"name": "churn", "kind": "categorical", "values": ["no", "yes"], "role": "label"})
    cells["churn"] = np.where(rng.random(rows) < 1 / (1 + np.exp(-score)), "yes", "no")
    return datasets.Dataset("customers", datasets.written(columns, {}), polars.DataFrame(cells), "csv")


def clusters():
    """6,000 rows, 4,200 of them for training: five classes, each a mixture of two Gaussians of any shape."""
    rng, rows, width, classes = np.random.default_rng(5), 6_000, 12, 5
    centres = 2.0 * rng.normal(size=(classes, 2, width))
    shapes = rng.normal(size=(classes, 2, width, width)) * rng.uniform(0.2, 0.5, size=(classes, 2, 1, 1))
    label = rng.choice(classes, size=rows, p=[0.35, 0.25, 0.2, 0.12, 0.08])
    part = (rng.random(rows) < 0.4).astype(int)
    normal = rng.normal(size=(rows, width))
    values = centres[label, part] + np.einsum("rij,rj->ri", shapes[label, part], normal)
    columns = [{"name": f"x{j}", "kind": "continuous", "min": -10.0, "max": 10.0} for j in range(width)]
    frame = polars.from_numpy(np.clip(values, -10, 10).round(4), schema=[column["name"] for column in columns])
    columns.append({"name": "class", "kind": "categorical", "values": list("abcde"), "role": "label"})
    classed = polars.Series("class", np.array(list("abcde"))[label])
    return datasets.Dataset("clusters", datasets.written(columns, {}), frame.with_columns(classed), "csv")


def labelled(name, columns, cells, score, rng):
    """A table with a label that follows a score; a quarter of the rows have it."""
    columns.append({"name": "event", "kind": "categorical", "values": ["no", "yes"], "role": "label"})
    noisy = score + score.std() * rng.normal(size=len(score))
    cells["event"] = np.where(noisy > np.quantile(noisy, 0.75), "yes", "no")
    return datasets.Dataset(name, datasets.written(columns, {}), polars.DataFrame(cells), "csv")


def zero_inflated():
    """40,000 rows: sixteen amounts that are mostly zero, with long tails, in wide bounds; two categories; a label."""
    rng, rows = np.random.default_rng(6), 40_000
    active = rng.normal(size=rows)
    columns, cells = [], {}
    for j in range(16):
        wish = 0.6 * active + 0.8 * rng.normal(size=rows)
        size = np.exp(1.2 * (0.5 * active + rng.normal(size=rows))) * 10 ** (1 + j % 4)
        high = int(10 ** (1 + j % 4) * 400)
        amount = np.where(wish > np.quantile(wish, 0.7 + 0.015 * j), np.minimum(size, high), 0)
        columns.append({"name": f"amount{j}", "kind": "integer", "min": 0, "max": high})
        cells[f"amount{j}"] = amount.astype(np.int64)
    for name, values in {"region": "abcd", "tier": "xyz"}.items():
        columns.append({"name": name, "kind": "categorical", "values": list(values)})
        pick = np.digitize(active + rng.normal(size=rows), np.linspace(-0.5, 1.5, len(values))[:-1])
        cells[name] = np.array(list(values))[pick]
    return labelled("zero_inflated", columns, cells, active, rng)


def heavy_tails():
    """30,000 rows of fifteen columns with Student's distribution of two degrees of freedom, clipped at round bounds."""
    rng, rows = np.random.default_rng(7), 30_000
    common = rng.standard_t(2, size=(rows, 3))
    columns, cells = [], {}
    for j in range(15):
        value = common[:, j % 3] + rng.standard_t(2, size=rows)
        columns.append({"name": f"t{j}", "kind": "continuous", "min": -200.0, "max": 200.0, "decimals": 3})
        cells[f"t{j}"] = np.clip(value, -200, 200).round(3)
    return labelled("heavy_tails", columns, cells, common[:, 0].clip(-5, 5), rng)


def one_value():
    """25,000 rows: twelve columns that have one value in 95 % of the rows, each somewhere else, and six ordinary ones."""
    rng, rows = np.random.default_rng(8), 25_000
    hidden = rng.normal(size=rows)
    columns, cells = [], {}
    for j in range(12):
        usual, high = (j * 7) % 100, 100 if j % 2 else 1_000
        other = rng.integers(0, high + 1, size=rows)
        rare = rng.random(rows) < 0.05 * np.exp(0.5 * hidden - 0.125)
        columns.append({"name": f"set{j}", "kind": "integer", "min": 0, "max": high})
        cells[f"set{j}"] = np.where(rare, other, usual)
    for j in range(6):
        columns.append({"name": f"x{j}", "kind": "continuous", "min": -6.0, "max": 6.0})
        cells[f"x{j}"] = np.clip(hidden * (j % 3) / 2 + rng.normal(size=rows), -6, 6).round(3)
    return labelled("one_value", columns, cells, hidden, rng)


def far_clusters():
    """20,000 rows in two clusters at far ends of the bounds, one of them with 3 % of the rows; 20 columns."""
    rng, rows = np.random.default_rng(9), 20_000
    far = rng.random(rows) < 0.03
    columns, cells = [], {}
    for j in range(20):
        places = (0.05, 0.9) if j % 2 else (0.4, 0.02)
        value = np.where(far, places[1], places[0]) + 0.02 * rng.normal(size=rows)
        columns.append({"name": f"c{j}", "kind": "continuous", "min": 0.0, "max": 1.0})
        cells[f"c{j}"] = np.clip(value, 0, 1).round(4)
    return labelled("far_clusters", columns, cells, far + 0.3 * rng.normal(size=rows), rng)


def wide_bounds():
    """50,000 rows of 18 columns that take up a fiftieth to a five-hundredth of their bounds, near one end of them."""
    rng, rows = np.random.default_rng(10), 50_000
    hidden = rng.normal(size=(rows, 2))
    columns, cells = [], {}
    for j in range(18):
        used = (50, 100, 500)[j % 3]
        value = np.exp(0.4 * (hidden[:, j % 2] + rng.normal(size=rows)))
        columns.append({"name": f"w{j}", "kind": "continuous", "min": 0.0, "max": 4.0 * used, "decimals": 3})
        cells[f"w{j}"] = np.clip(value, 0, 4 * used).round(3)
    return labelled("wide_bounds", columns, cells, hidden[:, 0], rng)


def digits():
    """1,797 digits written by hand, 8 × 8 places of ink from 0 to 16, as scikit-learn has them."""
    from sklearn.datasets import load_digits

    values, label = load_digits(return_X_y=True)
    columns = [{"name": f"p{j // 8}{j % 8}", "kind": "integer", "min": 0, "max": 16} for j in range(64)]
    frame = polars.from_numpy(values.astype(np.int64), schema=[column["name"] for column in columns])
    columns.append({"name": "digit", "kind": "categorical", "values": list("0123456789"), "role": "label"})
    named = polars.Series("digit", label.astype(str))
    return datasets.Dataset("digits", datasets.written(columns, {}), frame.with_columns(named), "csv")


def every():
    """The names of the tables that can be made here, and how to make each."""
    made = {name: lambda name=name, recipe=recipe: mixture(name, **recipe) for name, recipe in MIXTURES.items()}
    made |= {"wine_like": wine_like, "sensors": sensors, "customers": customers, "clusters": clusters}
    made |= {"zero_inflated": zero_inflated, "heavy_tails": heavy_tails, "one_value": one_value}
    made |= {"far_clusters": far_clusters, "wide_bounds": wide_bounds}
    return made | ({"digits": digits} if importlib.util.find_spec("sklearn") else {})
