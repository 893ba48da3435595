"""How near synthetic rows come to real ones: Sunprint's methods, and the output of others, over the tables of a folder.

Each table is split, fitted and drawn several times; docs/accuracy.md says what is measured, and how.
"""

import argparse
import concurrent.futures
import json
import multiprocessing
import os
import pathlib
import subprocess
import sys

# Learners ask for many small products: on a busy machine several threads make each of them wait for the others.
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import datasets
import figures
import plots
import recipes
import report
import robust
import summary
import trials

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()

TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", "target"))

# Constants may be set by the first half alone. docs/accuracy.md says what was seen of the second, and when.
HALVES = {
    "tuning": ["dry_bean", "breast_cancer", "covertype", "credit_default", "california_housing", "gas_drift",
               "optdigits", "spambase", "adult", "gen20", "gen50", "gen100", "digits"],
    "check": ["mnist", "tissue_gene_expression", "wine_like", "sensors", "customers", "clusters",
              "zero_inflated", "heavy_tails", "one_value", "far_clusters", "wide_bounds"],
}
HALF_OF = {table: half for half, tables in HALVES.items() for table in tables}

# Tables of more cells are tried once, unless a number of seeds is given.
MANY_CELLS = 40_000_000
SEEDS = 5


def words(text):
    return [word.strip() for word in text.split(",") if word.strip()]


def numbers(text):
    return [float(word) for word in words(text)]


def method(text):
    """`paper`, or `NAME=OPTIONS` for any options of the fit."""
    name, equals, options = text.partition("=")
    return name, options if equals else f"--method {name}"


def arguments():
    parser = argparse.ArgumentParser(prog="./bench accuracy", description=__doc__)
    add = parser.add_argument
    add("--data", type=pathlib.Path, help="a folder of folders with schema.toml and data.csv or data.parquet")
    add("--generated", action="store_true", help="generated tables too, and the digits of scikit-learn")
    add("--tables", type=words, help="only these, by name; generated ones can be named too")
    add("--half", choices=list(HALVES), help="only the tables that constants are set, or checked, by")
    add("--epsilons", type=numbers, help="[default: 0.5,1,4; 1 with --robust]")
    add("--methods", type=words, help="methods of the program, NAME=OPTIONS for any options of `sunprint fit`, or "
        "`none` [default: default,paper,cube,gaussian; default with --robust]")
    add("--seeds", type=int, help=f"how many splits and fits [default: {SEEDS}; 1 for very large tables]")
    add("--learners", type=words, default=list(figures.LEARNERS), help="what learns from the rows, or `none`")
    add("--robust", action="store_true", help="W1 with a constant column, a column twice and wide bounds, instead")
    add("--rivals", type=pathlib.Path, metavar="DIR", help="files METHOD/TABLE/epsilon=E/seed=S.csv made by others")
    add("--write-splits", type=pathlib.Path, metavar="DIR", help="only write the training rows, for others")
    add("--jobs", type=int, default=1, help="how many splits are tried side by side")
    add("--output", type=pathlib.Path, metavar="DIR", default=TARGET / "bench" / "accuracy")
    add("--keep", action="store_true", help="add to the results that are in the output already")
    add("--report", action="store_true", help="try nothing; tell again what is in the output")
    add("--markdown", type=pathlib.Path, metavar="FILE", help="rewrite the results in this page, plots beside it")
    add("--program", type=pathlib.Path, default=TARGET / "release" / "sunprint", help="another build of the program")
    options = parser.parse_args()
    options.epsilons = options.epsilons or ([1.0] if options.robust else [0.5, 1.0, 4.0])
    usual = ["default"] if options.robust else ["default", "paper", "cube", "gaussian"]
    options.methods = dict(method(word) for word in options.methods or usual if word != "none")
    options.learners = [name for name in options.learners if name != "none"]
    options.cache = TARGET / "bench" / "real"
    options.cores = max(1, CORES // options.jobs)
    unknown = [name for name in options.learners if name not in figures.LEARNERS]
    if unknown:
        parser.error(f"there is no learner `{unknown[0]}`")
    if not options.report and not options.program.exists():
        parser.error(f"there is no program {options.program}")
    return parser, options


def chosen(parser, options):
    """The tables that are asked for, and how to get each."""
    found = datasets.in_folder(options.data) if options.data else {}
    made, wanted = recipes.every(), options.tables
    if options.half:
        wanted = [name for name in HALVES[options.half] if wanted is None or name in wanted]
        # A half can be tried as far as its tables are there.
        for name in [name for name in wanted if name not in found and name not in made]:
            trials.say(f"{name} is not there")
            wanted.remove(name)
    if wanted is None:
        return found | made if options.generated else found
    missing = [name for name in wanted if name not in found and name not in made]
    if missing:
        parser.error(f"there is no table `{missing[0]}`")
    return {name: (found | made)[name] for name in wanted}


def seeds_of(dataset, options):
    large = dataset.frame.height * dataset.frame.width > MANY_CELLS
    return range(options.seeds or (1 if large else SEEDS))


def try_one(dataset, seed, options):
    with trials.Trial(dataset, seed, options) as trial:
        return robust.every(trial) if options.robust else trial.every()


def write_splits(load, options):
    """TABLE/schema.toml and TABLE/seed=S.csv, from which others make METHOD/TABLE/epsilon=E/seed=S.csv."""
    dataset = load()
    place = options.write_splits / dataset.name
    place.mkdir(parents=True, exist_ok=True)
    (place / "schema.toml").write_text(dataset.text)
    for seed in seeds_of(dataset, options):
        datasets.write(dataset.split(seed)[0], place / f"seed={seed}.csv")


def side_by_side(work, jobs):
    """The results of calls, in their order. Processes begin afresh: threads of this one would not follow them."""
    if jobs == 1:
        yield from (call(*given) for call, *given in work)
        return
    with concurrent.futures.ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        waiting = [pool.submit(*item) for item in work]
        yield from (future.result() for future in waiting)


class Results:
    """Everything that was found, saved after each table."""

    def __init__(self, options):
        self.options, path = options, options.output / "results.json"
        earlier = json.loads(path.read_text()) if (options.keep or options.report) and path.exists() else {}
        self.runs, self.robust = earlier.get("runs", []), earlier.get("robust", [])
        self.about = earlier.get("about", [])

    def add(self, found):
        """New results take the place of older ones about the same."""
        kind = "robust" if self.options.robust else "runs"
        new = {(run["table"], run["epsilon"], run["method"]) for run in found}
        older = [run for run in getattr(self, kind) if (run["table"], run["epsilon"], run["method"]) not in new]
        setattr(self, kind, older + found)
        self.save()

    def begin(self):
        version = subprocess.run([self.options.program, "--version"], capture_output=True, text=True).stdout.strip()
        self.about.append({"program": version, "command": sys.argv[1:]})

    def save(self):
        report.save(self.options.output, self.about, self.runs, report.cells(self.runs), self.robust)

    def tell(self):
        found, page = report.cells(self.runs), self.options.markdown
        if self.runs and not (self.options.robust and not self.options.report):
            text, comparison = report.markdown(found), summary.markdown(found, HALF_OF)
            print(text)
            print("### What this says\n")
            print(comparison)
            plots.draw(found, self.options.output)
            if page:
                paths = plots.draw(found, page.parent, f"{page.stem}-")
                report.between_markers(page, "results", "\n".join([text, *report.images(paths)]))
                report.between_markers(page, "summary", comparison)
        if self.robust and (self.options.robust or self.options.report):
            print(robust.markdown(self.robust))
            if page:
                report.between_markers(page, "robustness", robust.markdown(self.robust))


def main():
    parser, options = arguments()
    results = Results(options)
    if not options.report:
        tables = chosen(parser, options)
        if not tables:
            parser.error("there are no tables: --data FOLDER, --generated, or both")
        if options.write_splits:
            for load in tables.values():
                write_splits(load, options)
            return
        results.begin()
        for load in tables.values():
            dataset = load()
            work = [(try_one, dataset, seed, options) for seed in seeds_of(dataset, options)]
            results.add([run for found in side_by_side(work, options.jobs) for run in found])
    results.tell()


if __name__ == "__main__":
    main()
