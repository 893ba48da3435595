"""Tables with a schema: read from a folder, split, written down, and turned into numbers by the schema alone."""

import datetime
import json
import pathlib
import tomllib

import numpy as np
import polars

# Kinds that are places on a line; the others are categories.
ON_A_LINE = ("continuous", "integer", "date", "datetime")
TRUE, FALSE = ("true", "1", "yes"), ("false", "0", "no")

# Training rows, where there is a label to predict.
TRAINING = 0.7


class Column:
    """A column as the schema describes it. A label that is a number is a feature like others."""

    def __init__(self, keys):
        self.keys = keys
        self.name, self.kind = keys["name"], keys["kind"]
        self.numeric = self.kind in ON_A_LINE
        self.label = keys.get("role") == "label" and not self.numeric
        self.may_miss = keys.get("missing") == "allow"
        self.values = keys.get("values", ["false", "true"])

    def without_role(self):
        return {key: value for key, value in self.keys.items() if key != "role"}

    def units(self, series):
        """Places between the bounds in [0, 1], and which cells are missing. Those have the middle."""
        low, high = (self._number(self.keys[bound]) for bound in ("min", "max"))
        values = self._numbers(series)
        missing = ~np.isfinite(values)
        values = np.clip(np.where(missing, low, values), low, high)
        if self.keys.get("scale") == "log":
            low, high, values = np.log(low), np.log(high), np.log(values)
        units = (values - low) / (high - low) if high > low else np.zeros(len(values))
        units[missing] = 0.5
        return units, missing

    def categories(self, series):
        """The number of each cell's category; missing cells have one more number."""
        words = series.cast(polars.String)
        if self.kind == "boolean":
            words = words.str.to_lowercase().replace(dict.fromkeys(TRUE, "true") | dict.fromkeys(FALSE, "false"))
        numbers = {value: number for number, value in enumerate(self.values)}
        other = numbers[self.keys.get("other", self.values[0])]
        known = words.replace_strict(numbers, default=other, return_dtype=polars.Int64).to_numpy().copy()
        if self.may_miss:
            known[words.is_null().to_numpy()] = len(self.values)
        return known

    def width(self):
        """How many categories there are."""
        return len(self.values) + self.may_miss

    def _number(self, bound):
        if isinstance(bound, str):
            bound = self._instants(polars.Series([bound]))[0] or datetime.datetime.fromisoformat(bound)
        if not isinstance(bound, datetime.date):
            return float(bound)
        # A datetime is a date too.
        return datetime.datetime.fromisoformat(bound.isoformat()).replace(tzinfo=datetime.UTC).timestamp()

    def _numbers(self, series):
        if self.kind in ("date", "datetime"):
            instants = self._instants(series).dt.epoch("us").cast(polars.Float64) / 1e6
            return instants.fill_null(np.nan).to_numpy()
        return series.cast(polars.Float64, strict=False).fill_null(np.nan).to_numpy()

    def _instants(self, series):
        if series.dtype != polars.String:
            return series.cast(polars.Datetime("us"))
        shape = self.keys.get("format", "%Y-%m-%d" if self.kind == "date" else "%Y-%m-%dT%H:%M:%S")
        read = {words: instant(words, shape) for words in series.unique()}
        return series.replace_strict(read, return_dtype=polars.Datetime("us"))


def instant(words, shape):
    try:
        return datetime.datetime.strptime(words, shape)
    except (TypeError, ValueError):
        return None


class Dataset:
    """A table: its schema as the program gets it, and its cells as they stand in the file."""

    def __init__(self, name, text, frame, form):
        self.name, self.form = name, form
        parsed = tomllib.loads(text)
        self.columns = [Column(keys) for keys in parsed.pop("column")]
        self.rest = parsed
        # A fit wants a name for what it spends on. It comes last, so that lines keep their numbers.
        if not parsed.get("dataset", {}).get("name"):
            text += "" if "dataset" in parsed else f"\n[dataset]\nname = {json.dumps(name)}\n"
            parsed["dataset"] = {"name": name} | parsed.get("dataset", {})
        # The program's messages name lines of the schema: it is left as it is where it can be.
        if any("role" in column.keys and column.numeric for column in self.columns):
            text = written(self.schema_columns(), self.rest)
        self.text = text
        self.frame = frame.select([column.name for column in self.columns])
        self.label = next((column for column in self.columns if column.label), None)

    def split(self, seed):
        """Training rows and held-out rows; all rows and None without a label to predict."""
        if self.label is None:
            return self.frame, None
        order = np.random.default_rng(seed).permutation(len(self.frame))
        first = int(TRAINING * len(order))
        return self.frame[order[:first]], self.frame[order[first:]]

    def schema_columns(self):
        """The columns as the program gets them."""
        return [column.without_role() if column.numeric else column.keys for column in self.columns]


def written(columns, rest):
    """A schema in TOML."""
    lines = [f"{key} = {value_of(value)}" for key, value in rest.items() if not isinstance(value, (dict, list))]
    for name, keys in rest.items():
        if isinstance(keys, dict):
            lines += ["", f"[{name}]", *(f"{key} = {value_of(value)}" for key, value in keys.items())]
    tables = [("column", keys) for keys in columns]
    tables += [(name, keys) for name, list_of in rest.items() if isinstance(list_of, list) for keys in list_of]
    for name, keys in tables:
        lines += ["", f"[[{name}]]", *(f"{key} = {value_of(value)}" for key, value in keys.items())]
    return "\n".join(lines) + "\n"


def value_of(value):
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()
    return json.dumps(value, ensure_ascii=False)


def write(frame, path):
    frame.write_parquet(path) if path.suffix == ".parquet" else frame.write_csv(path)


def read_cells(path):
    """All cells of a table as they stand: text stays text, so that a category `01` is not a number."""
    if path.suffix == ".parquet":
        return polars.read_parquet(path)
    return polars.read_csv(path, infer_schema=False)


def read_synthetic(path, columns):
    """A synthetic table: numbers as numbers, everything else as text. Columns in the order of the schema."""
    plain = {column.name: column.kind in ("continuous", "integer") for column in columns}
    kinds = {name: polars.Float64 if number else polars.String for name, number in plain.items()}
    frame = polars.read_csv(path, schema_overrides=kinds, ignore_errors=True, infer_schema=False)
    missing = [name for name in plain if name not in frame.columns]
    if missing:
        raise ValueError(f"column `{missing[0]}` is missing")
    return frame.select(list(plain))


def in_folder(folder):
    """The names of the tables of a folder, and how to read each: a folder with schema.toml and data.csv or .parquet."""
    found = {}
    for place in sorted(pathlib.Path(folder).iterdir()):
        files = [place / f"data.{form}" for form in ("csv", "parquet")]
        data = next((path for path in files if path.is_file()), None)
        if data is not None and (place / "schema.toml").is_file():
            found[place.name] = lambda place=place, data=data: Dataset(
                place.name, (place / "schema.toml").read_text(), read_cells(data), data.suffix[1:]
            )
    return found
