"""What a careless curator adds must not harm the rest: a constant column, a column twice, bounds ten times too wide."""

import time

import polars

import datasets
import report
import trials

# The share of the cube at which the constant column stands.
CONSTANT = 0.3
WIDER = 10


def widest(dataset):
    """The numeric column that varies most between its bounds: whatever is done to it matters most to the others."""
    plain = [c for c in dataset.columns if c.numeric and c.kind in ("continuous", "integer")]
    plain = [column for column in plain if column.keys.get("scale", "linear") == "linear"]
    if len(plain) < 2:
        raise trials.Refused("fewer than two numeric columns")
    return max(plain, key=lambda column: column.units(dataset.frame[column.name])[0].std())


def changes(dataset):
    """Names of changes; each gives the columns of the schema, the change of the rows, and the column that is apart."""
    keys, column = [dict(keys) for keys in dataset.schema_columns()], widest(dataset)
    names = {one["name"] for one in keys}
    fresh = next(name for name in ("extra", *(f"extra{i}" for i in range(len(keys) + 1))) if name not in names)
    constant = {"name": fresh, "kind": "continuous", "min": 0.0, "max": 1.0}
    twice = {key: value for key, value in column.keys.items() if key != "role"} | {"name": fresh}
    low, high = column.keys["min"], column.keys["max"]
    margin = (high - low) * (WIDER - 1) / 2
    margin = round(margin) if column.kind == "integer" else margin
    wide = [one | {"min": low - margin, "max": high + margin} if one["name"] == column.name else one for one in keys]
    return {
        "a constant column": ([*keys, constant], polars.lit(CONSTANT).alias(fresh), None),
        f"`{column.name}` twice": ([*keys, twice], polars.col(column.name).alias(fresh), None),
        f"bounds of `{column.name}` {WIDER} times as wide": (wide, None, column.name),
    }


class Others:
    """W1 over the columns that were not touched, of several synthetic tables of one split."""

    def __init__(self, trial, apart):
        self.trial = trial
        self.names = [column.name for column in trial.dataset.columns if column.name != apart]
        kept = [keys for keys in trial.dataset.schema_columns() if keys["name"] != apart]
        self.table, self.schema = trial.place / "others.csv", trial.place / "others.toml"
        # Rules between columns are no part of the comparison, and may speak of the column that is apart.
        self.schema.write_text(datasets.written(kept, {}))
        datasets.write(trial.training.select(self.names), self.table)

    def w1(self, cells):
        path = self.trial.place / "others-synthetic.csv"
        datasets.write(cells.select(self.names), path)
        return self.trial.distances(path, self.table, self.schema, metrics=("l2",))["w1_l2"]


def every(trial):
    """W1 over the other columns with each change and without, for each method and ε."""
    options, found = trial.options, []
    for epsilon in options.epsilons:
        for name, words in options.methods.items():
            start = time.perf_counter()
            about = {"table": trial.dataset.name, "epsilon": epsilon, "method": name, "seed": trial.seed}
            try:
                results = of_method(trial, epsilon, words)
            except trials.Refused as refusal:
                results = [{"refused": str(refusal)}]
            found += [about | result for result in results]
            told = ", ".join(result.get("refused") or f"{result['with'] / result['without']:.2f}" for result in results)
            took = time.perf_counter() - start
            trials.say(f"{trial.dataset.name}, ε = {epsilon:g}, {name}, seed {trial.seed}: {told}, {took:.1f} s")
    return found


def of_method(trial, epsilon, words):
    plain = datasets.read_cells(trial.synthesise(words, epsilon)[0])
    found, without = [], {}
    for change, (columns, added, apart) in changes(trial.dataset).items():
        table, schema = trial.place / f"changed.{trial.dataset.form}", trial.place / "changed.toml"
        datasets.write(trial.training.with_columns(added) if added is not None else trial.training, table)
        schema.write_text(datasets.written(columns, trial.dataset.rest))
        others = Others(trial, apart)
        if apart not in without:
            without[apart] = others.w1(plain)
        path, _ = trial.synthesise(words, epsilon, table, schema)
        found.append({"change": change, "with": others.w1(datasets.read_cells(path)), "without": without[apart]})
    return found


def markdown(results):
    """Means over seeds, and their ratio."""
    lines = [report.line("table", "ε", "method", "change", "W1 of the others", "without the change", "ratio", "seeds")]
    lines.append("|---|---|---|---|---|---|---|---|")
    groups = {}
    for result in results:
        key = tuple(result[name] for name in ("table", "epsilon", "method")) + (result.get("change"),)
        groups.setdefault(key, []).append(result)
    for (table, epsilon, method, change), group in groups.items():
        if change is None:
            lines.append(report.line(table, f"{epsilon:g}", method, f"refused: {group[0]['refused']}", *[""] * 4))
            continue
        sides = [report.estimate([one[side] for one in group]) for side in ("with", "without")]
        ratio = sides[0]["mean"] / max(sides[1]["mean"], 1e-12)
        words = [report.shown(side, 3) for side in sides]
        lines.append(report.line(table, f"{epsilon:g}", method, change, *words, f"{ratio:.2f}", str(len(group))))
    return "\n".join([*lines, ""])
