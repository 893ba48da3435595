"""The benchmark of accuracy: what it measures, against figures worked out by hand, and whole on two tiny tables."""

import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import tomllib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "release" / "sunprint"
sys.path.insert(0, str(ROOT / "benches"))

import numpy as np
import polars

import accuracy
import datasets
import figures
import recipes
import report
import summary

MEASURED = ["w1_l2", "floor_l2", "ceiling_l2", "w1_linf", "floor_linf", "ceiling_linf", "line", "variation"]
MEASURED += ["correlation", "logistic", "forest", "svm"]
ROWS, TRAINING = 300, 210


def number(name, **keys):
    return {"name": name, "kind": "continuous", "min": 0.0, "max": 1.0} | keys


def categorical(name, *values, **keys):
    return {"name": name, "kind": "categorical", "values": list(values)} | keys


class Measures(unittest.TestCase):
    """Columns as numbers, and what is computed of them."""

    def units(self, keys, cells):
        return datasets.Column(keys).units(polars.Series(cells))

    def numbers(self, frame, *columns):
        return figures.Numbers(polars.DataFrame(frame), [datasets.Column(keys) for keys in columns])

    def test_places_between_bounds(self):
        units, missing = self.units(number("x", min=-1, max=3), ["-1", "1", "", "9", None, "3"])
        self.assertEqual(units.tolist(), [0, 0.5, 0.5, 1, 0.5, 1])
        self.assertEqual(missing.tolist(), [False, False, True, False, True, False])
        units, _ = self.units(number("x", min=1, max=100, scale="log"), [1.0, 10.0, 100.0, 0.0])
        np.testing.assert_allclose(units, [0, 0.5, 1, 0], atol=1e-12)

    def test_places_of_dates(self):
        day = {"name": "day", "kind": "date", "min": "2020-01-01", "max": "2020-01-11"}
        self.assertEqual(self.units(day, ["2020-01-01", "2020-01-06", "never"])[0].tolist(), [0, 0.5, 0.5])
        bounds = {"min": "01.01.2020 00h", "max": "02.01.2020 00h"}
        moment = {"name": "at", "kind": "datetime", "format": "%d.%m.%Y %Hh"} | bounds
        self.assertEqual(self.units(moment, ["01.01.2020 06h", "03.01.2020 00h"])[0].tolist(), [0.25, 1])
        dates = tomllib.loads("min = 2020-01-01\nmax = 2020-01-11")
        self.assertEqual(self.units(day | dates, ["2020-01-03"])[0].tolist(), [0.2])

    def test_categories(self):
        cells = polars.Series(["b", None, "z", "a"])
        self.assertEqual(datasets.Column(categorical("c", "a", "b")).categories(cells).tolist(), [1, 0, 0, 0])
        column = datasets.Column(categorical("c", "a", "b", other="b", missing="allow"))
        self.assertEqual((column.categories(cells).tolist(), column.width()), ([1, 2, 1, 0], 3))
        yes = datasets.Column({"name": "c", "kind": "boolean"})
        self.assertEqual(yes.categories(polars.Series(["True", "0", "false", "1"])).tolist(), [1, 0, 0, 1])

    def test_figures_by_hand(self):
        columns = number("x"), number("y"), number("same"), categorical("c", "a", "b")
        real = {"x": [0.0, 0.5, 1.0, 0.5], "y": [0.0, 0.5, 1.0, 0.5], "same": [0.25] * 4, "c": ["a", "a", "b", "b"]}
        other = {"x": [0.0, 0.5, 1.0, 0.5], "y": [1.0, 0.5, 0.0, 0.5], "same": [0.5] * 4, "c": ["a", "b", "b", "b"]}
        found = figures.compared(self.numbers(real, *columns), self.numbers(other, *columns))
        self.assertAlmostEqual(found["line"], 0.25 / 3)
        self.assertAlmostEqual(found["variation"], 0.25)
        # One pair of three turns from 1 to −1; a constant column goes with nothing.
        self.assertAlmostEqual(found["correlation"], 2 / 3)

    def test_figures_of_missing_cells(self):
        column = number("x", missing="allow")
        tables = [0.0, None, 1.0, None], [0.5, 0.5, 0.5, None]
        real, other = (self.numbers({"x": cells}, column) for cells in tables)
        self.assertAlmostEqual(figures.line(real, other), 0.5)
        self.assertAlmostEqual(figures.variation(real, other), 0.25)
        found = figures.features(polars.DataFrame({"x": [1.0, None]}), [datasets.Column(column)])
        self.assertEqual(found.tolist(), [[1, 0], [0.5, 1]])

    def test_intervals_are_students(self):
        found = report.estimate([1.0, 2.0, 3.0])
        self.assertAlmostEqual(found["interval"], 4.302653 / math.sqrt(3), 5)
        self.assertIsNone(report.estimate([1.0])["interval"])

    def test_percentiles_are_of_single_fits(self):
        found = report.estimate([float(value) for value in range(11)])
        self.assertEqual((found["p10"], found["p90"]), (1.0, 9.0))
        self.assertEqual(report.estimate([3.0])["p90"], 3.0)
        runs = [{"table": "a", "epsilon": 1.0, "method": "default", "seed": seed,
                 "figures": {"w1_l2": 2.0 + seed, "floor_l2": 2.0, "ceiling_l2": 9.0, "logistic": 0.5 + seed / 10}}
                for seed in range(3)]
        runs.append({"table": "a", "epsilon": None, "method": "real", "seed": 0, "rows": 9, "figures": {}})
        lines = report.markdown(report.cells(runs)).splitlines()
        of_fits = next(line for line in lines if "default" in line)
        titles, last = ([word.strip() for word in line.split("|")] for line in (lines[2], of_fits))
        self.assertEqual(last[titles.index("p90")], "1.90")
        self.assertTrue(last[titles.index("logistic")].endswith("p10 0.520"), last)

    def test_schemas_are_written_as_they_are_read(self):
        columns = [number("x", min=-1e-3), categorical("ä \"b\"", "\\", "", role="label")]
        rest = {"constraint": [{"rule": "x <= x"}]}
        self.assertEqual(tomllib.loads(datasets.written(columns, rest)), {"column": columns, **rest})

    def test_generated_tables(self):
        made = recipes.every()
        names = ["clusters", "customers", "digits", "far_clusters", "gen100", "gen20", "gen50", "heavy_tails", "one_value",
                 "sensors", "wide_bounds", "wine_like", "zero_inflated"]
        self.assertEqual(sorted(made), names)
        self.assertEqual(made["gen20"]().frame.shape, (2_000, 20))
        training, held_out = made["wine_like"]().split(0)
        self.assertEqual((training.shape, held_out.height), ((3_428, 12), 1_470))
        sensors = made["sensors"]()
        self.assertEqual((sensors.frame.shape, sensors.label), ((20_000, 30), None))
        self.assertEqual((made["clusters"]().frame.shape, made["digits"]().frame.shape), ((6_000, 13), (1_797, 65)))
        self.assertEqual([column.width() for column in map(self.label_of, ("clusters", "digits"))], [5, 10])

    def label_of(self, name):
        return recipes.every()[name]().label

    def test_generated_tables_are_the_same_everywhere(self):
        means = {"sensors": {"s0": 41.8953, "s29": 1003.6802}, "clusters": {"x0": -0.6681, "x11": -1.3440}}
        for name, columns in means.items():
            frame = recipes.every()[name]().frame
            for column, mean in columns.items():
                self.assertAlmostEqual(frame[column].mean(), mean, 3)

    def test_generated_cells_keep_to_their_schema(self):
        awkward = ("zero_inflated", "heavy_tails", "one_value", "far_clusters", "wide_bounds")
        for name in ("sensors", "customers", "clusters", "digits", "wine_like", *awkward):
            made = recipes.every()[name]()
            for column in made.columns:
                cells = made.frame[column.name]
                self.assertEqual(cells.null_count() > 0, column.may_miss, (name, column.name))
                if column.numeric:
                    self.assertTrue(column.keys["min"] <= cells.min() <= cells.max() <= column.keys["max"])
                else:
                    self.assertLessEqual(set(cells.cast(polars.String)), set(column.values))

    def test_customers_are_mixed(self):
        made = recipes.every()["customers"]()
        kinds = [column.kind for column in made.columns]
        counts = [kinds.count(kind) for kind in ("continuous", "categorical", "boolean")]
        self.assertEqual((made.frame.shape, counts), ((12_000, 13), [7, 4, 2]))
        self.assertEqual([column.keys.get("scale") for column in made.columns].count("log"), 2)
        self.assertAlmostEqual(made.frame["satisfaction"].is_null().mean(), 0.15, delta=0.01)
        self.assertAlmostEqual((made.frame["churn"] == "yes").mean(), 0.25, delta=0.01)
        # Who has no plan that costs something answers least.
        silent = made.frame.group_by("plan").agg(polars.col("satisfaction").is_null().mean())
        shares = dict(silent.iter_rows())
        self.assertGreater(shares["free"], 1.5 * shares["basic"])

    def test_every_table_is_in_one_half(self):
        tables = [table for half in accuracy.HALVES.values() for table in half]
        self.assertEqual(len(tables), len(set(tables)))
        self.assertEqual(sorted(accuracy.HALF_OF), sorted(tables))
        self.assertLessEqual(set(recipes.every()), set(tables))
        page = (ROOT / "docs" / "accuracy.md").read_text()
        for half, names in accuracy.HALVES.items():
            self.assertIn(f"| `--half {half}` | {', '.join(names)} |", page)


class Summary(unittest.TestCase):
    """The default beside its bounds and the baselines, from results that are made up."""

    def cells(self, **methods):
        """The cells of one table from W1 and floor of each method; the ceiling is 2."""
        runs = []
        for method, distances in methods.items():
            about = {"table": "t", "epsilon": 1.0, "method": method, "seed": 0}
            told = dict(zip(("w1_l2", "floor_l2"), distances, strict=True)) if isinstance(distances, tuple) else None
            runs.append(about | ({"figures": told | {"ceiling_l2": 2.0}} if told else {"refused": distances}))
        return report.cells(runs)

    def row(self, **methods):
        text = summary.markdown(self.cells(**methods), {"t": "check"})
        return text.splitlines()[2], text.splitlines()[-1]

    def test_ratios_by_hand(self):
        row, told = self.row(default=(0.5, 0.25), paper=(1.0, 0.25), gaussian=(0.75, 0.25))
        self.assertEqual(row, "| t | check | 1 | 2.00 | 3.00 | 1.50 | 0.25 |")
        self.assertIn("in 0 of 3 comparisons", told)

    def test_worse_is_bold(self):
        row, told = self.row(default=(2.5, 0.5), paper=(1.5, 0.5), gaussian=(2.49, 0.5))
        self.assertEqual(row, "| t | check | 1 | 5.00 | **0.50** | **0.996** | **1.25** |")
        self.assertIn("in 3 of 3 comparisons", told)

    def test_what_is_not_there_is_not_compared(self):
        row, told = self.row(default=(0.5, 0.25), gaussian="no")
        self.assertEqual(row, "| t | check | 1 | 2.00 | – | – | 0.25 |")
        self.assertIn("in 0 of 1 comparisons", told)
        self.assertEqual(self.row(default="too | few")[0], "| t | check | 1 | refused: too \\| few |  |  |  |")
        self.assertIn("was not tried", summary.markdown(self.cells(paper=(0.5, 0.25)), {}))

    def test_at_the_floor(self):
        row, _ = self.row(default=(0.25, 0.26), paper=(0.5, 0.25))
        self.assertEqual(row, "| t | check | 1 | 0.96 | ∞ | – | 0.12 |")
        self.assertIn("| – | – |", self.row(default=(0.25, 0.25), paper=(0.25, 0.25))[0])
        self.assertIn("| **0.00** | – |", self.row(default=(0.5, 0.25), paper=(0.2, 0.25))[0])

    def test_tables_come_in_their_order_and_then_epsilon(self):
        runs = [{"table": table, "epsilon": epsilon, "method": "default", "seed": 0,
                 "figures": {"w1_l2": 1.0, "floor_l2": 1.0, "ceiling_l2": 2.0}}
                for table in ("z", "a") for epsilon in (4.0, 0.5)]
        lines = summary.markdown(report.cells(runs), {"z": "tuning"}).splitlines()[2:6]
        found = [[word.strip() for word in line.split("|")[1:4]] for line in lines]
        self.assertEqual(found, [["z", "tuning", "0.5"], ["z", "tuning", "4"], ["a", "", "0.5"], ["a", "", "4"]])

    def test_every_method_stands_below_its_own_table(self):
        """Whatever was run first: results that are kept from another call come before the real rows of this one."""
        figures = {"w1_l2": 1.0, "floor_l2": 1.0, "ceiling_l2": 2.0}
        runs = []
        for table in ("a", "b"):
            runs.append({"table": table, "epsilon": 1.0, "method": "default", "seed": 0, "figures": figures})
            runs.append({"table": table, "epsilon": None, "method": "real", "seed": 0, "rows": 9, "figures": {}})
        lines = report.markdown(report.cells(runs)).splitlines()[4:10]
        found = [[word.strip() for word in line.split("|")[1:3]] for line in lines]
        of = lambda table: [[f"{table} (9 rows)", report.FLOOR], ["", report.CEILING], ["", "default"]]
        self.assertEqual(found, of("a") + of("b"))


def tiny_tables(folder):
    """Two tables of three features and a label: numbers alone, and with a category. Also a label that is a number."""
    rng = np.random.default_rng(5)
    hidden = rng.normal(size=(ROWS, 2))
    values = np.clip(0.5 + 0.1 * hidden @ rng.normal(size=(2, 3)), 0, 1)
    label = np.where(hidden[:, 0] > 0, "yes", "no")
    plain = {f"x{j}": values[:, j] for j in range(3)} | {"label": label}
    mixed = plain | {"x2": np.array(["low", "middle", "high"])[np.digitize(values[:, 2], [0.45, 0.55])]}
    role = categorical("label", "no", "yes", role="label")
    schemas = {
        "plain": [number("x0"), number("x1"), number("x2"), role],
        "mixed": [number("x0"), number("x1"), categorical("x2", "low", "middle", "high"), role],
        "value": [number("x0"), number("x1", role="label")],
    }
    for name, columns in schemas.items():
        (folder / name).mkdir()
        (folder / name / "schema.toml").write_text(datasets.written(columns, {}))
        frame = polars.DataFrame(mixed if name == "mixed" else plain).select([keys["name"] for keys in columns])
        datasets.write(frame, folder / name / ("data.parquet" if name == "mixed" else "data.csv"))


class Whole(unittest.TestCase):
    """The command, from the folder to the page."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="sunprint-tiny-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "data").mkdir()
        tiny_tables(self.folder / "data")

    def bench(self, *words, code=0):
        places = ["--data", self.folder / "data", "--output", self.folder / "output", "--program", PROGRAM]
        command = [sys.executable, "-B", ROOT / "benches" / "accuracy.py", *places, "--seeds", 1, *words]
        environment = os.environ | {"CARGO_TARGET_DIR": str(self.folder / "target")}
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=environment)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def results(self):
        return json.loads((self.folder / "output" / "results.json").read_text())

    def test_methods_and_rivals(self):
        self.bench("--write-splits", self.folder / "splits")
        split = self.folder / "splits" / "plain" / "seed=0.csv"
        self.assertEqual(len(polars.read_csv(split)), TRAINING)
        noise = np.random.default_rng(6).random((TRAINING, 3))
        frame = polars.from_numpy(noise, schema=["x2", "x1", "x0"])
        frame = frame.with_columns(polars.Series("label", ["no", "yes"] * (TRAINING // 2)))
        for method, cells in {"copy": polars.read_csv(split), "noise": frame, "torn": frame.drop("x1")}.items():
            place = self.folder / "rivals" / method / "plain" / "epsilon=1.0"
            place.mkdir(parents=True)
            cells.write_csv(place / "seed=0.csv")
        page = self.folder / "page.md"
        marked = "<!-- {0} -->\nstale\n<!-- end of {0} -->\n"
        page.write_text(f"before\n{marked.format('results')}between\n{marked.format('summary')}after\n")

        methods = "default,paper,nonsense,plane=--dimension 1"
        words = ["--tables", "plain,mixed", "--epsilons", "1", "--rivals", self.folder / "rivals", "--markdown", page]
        done = self.bench(*words, "--methods", methods)
        self.assertIn("plain, ε = 1, default, seed 0: W1 ", done.stderr)
        found = {(cell["table"], cell["method"]): cell for cell in self.results()["cells"]}
        measured = [(table, method) for table in ("plain", "mixed") for method in ("default", "paper", "plane")]
        for key in [*measured, ("plain", "copy"), ("plain", "noise")]:
            cell = found[key]
            if key[0] == "mixed" and "not supported yet" in cell.get("refused", ""):
                continue
            self.assertNotIn("refused", cell)
            means = {name: figure["mean"] for name, figure in cell["figures"].items()}
            self.assertEqual([name for name in MEASURED if not math.isfinite(means[name])], [], key)
            for metric in ("l2", "linf"):
                self.assertLessEqual(means[f"floor_{metric}"], means[f"ceiling_{metric}"])
            for name in figures.LEARNERS:
                self.assertTrue(0 <= means[name] <= 1)
        for table in ("plain", "mixed"):
            self.assertIn("nonsense", found[table, "nonsense"]["refused"])
        self.assertIn("column `x1` is missing", found["plain", "torn"]["refused"])

        mean = {method: {name: figure["mean"] for name, figure in found["plain", method]["figures"].items()}
                for method in ("real", "copy", "noise")}
        # Rows drawn from the same table twice can be the same: never further apart than different ones.
        self.assertLess(mean["copy"]["w1_l2"], 1.1 * mean["copy"]["floor_l2"])
        self.assertLess(mean["copy"]["w1_l2"], 0.5 * mean["noise"]["w1_l2"])
        self.assertLess(abs(mean["noise"]["w1_l2"] / mean["noise"]["ceiling_l2"] - 1), 0.2)
        self.assertEqual([mean["copy"][name] for name in ("line", "variation")], [0, 0])
        for name in figures.LEARNERS:
            self.assertEqual(mean["copy"][name], mean["real"][name])
            self.assertGreater(mean["real"][name], 0.8)

        text = page.read_text()
        self.assertTrue(text.startswith("before\n<!-- results -->\n\n### ε = 1\n"))
        self.assertIn("<!-- end of results -->\nbetween\n<!-- summary -->\n\n| table | half | ε | ", text)
        self.assertTrue(text.endswith(" over seeds.\n\n<!-- end of summary -->\nafter\n"))
        self.assertIn("### What this says\n\n| table | half |", done.stdout)
        self.assertNotIn("stale", text)
        self.assertIn("| nonsense | refused: ", text)
        self.assertEqual(self.bench("--report").stdout.strip(), done.stdout.strip())
        self.assertIn("plain,1.0,copy,w1_l2,", (self.folder / "output" / "results.csv").read_text())

    def test_careless_schemas_and_a_label_that_is_a_number(self):
        self.bench("--tables", "value", "--epsilons", "4", "--methods", "default")
        found = {cell["method"]: cell for cell in self.results()["cells"]}
        self.assertEqual(found["real"]["rows"], ROWS)
        self.assertIn("w1_l2", found["default"]["figures"])
        self.assertNotIn("forest", found["default"]["figures"])
        done = self.bench("--tables", "plain", "--robust", "--keep", "--jobs", 2)
        results = self.results()
        self.assertEqual(len(results["robust"]), 3)
        self.assertTrue(all(result["with"] > 0 and result["without"] > 0 for result in results["robust"]))
        self.assertIn("| a constant column |", done.stdout)
        self.assertIn("value", {cell["table"] for cell in results["cells"]})

    def test_words_that_cannot_be_understood(self):
        self.assertIn("no table `nowhere`", self.bench("--tables", "nowhere", code=2).stderr)
        self.assertIn("no learner `cat`", self.bench("--learners", "cat", code=2).stderr)


if __name__ == "__main__":
    unittest.main()
