"""How near synthetic rows come to real ones: Sunprint's methods, and the output of others, over the tables of a folder.

Each table is split, fitted and drawn several times; docs/accuracy.md says what is measured, and how.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import sys

CORES = len(os.sched_getaffinity(0))
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, str(CORES))

import datasets
import figures
import recipes
import report
import trials

TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", "target"))

# Constants of the method are set by the first half and checked by the second.
HALVES = {
    "tuning": ["dry_bean", "breast_cancer", "covertype", "optdigits", "gen20", "gen50"],
    "check": ["credit_default", "california_housing", "adult", "spambase", "gas_drift", "mnist",
              "tissue_gene_expression", "gen100", "wine_like"],
}

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
    parser.add_argument("--data", type=pathlib.Path, help="a folder of folders with schema.toml and data.csv or data.parquet")
    parser.add_argument("--generated", action="store_true", help="generated tables too")
    parser.add_argument("--tables", type=words, help="only these, by name; generated ones can be named too")
    parser.add_argument("--half", choices=list(HALVES), help="only the tables that constants are set, or checked, by")
    parser.add_argument("--epsilons", type=numbers, default=[0.5, 1, 4])
    parser.add_argument("--methods", type=words, default=["default", "paper", "cube", "gaussian"],
                        help="methods of the program; NAME=OPTIONS names any options of `sunprint fit`")
    parser.add_argument("--seeds", type=int, help=f"how many splits and fits [default: {SEEDS}; 1 for very large tables]")
    parser.add_argument("--learners", type=words, default=list(figures.LEARNERS), help="what learns from the rows, or `none`")
    parser.add_argument("--rivals", type=pathlib.Path, help="files METHOD/TABLE/epsilon=E/seed=S.csv made by others")
    parser.add_argument("--write-splits", type=pathlib.Path, metavar="DIR", help="only write the training rows, for others")
    parser.add_argument("--jobs", type=int, default=1, help="how many splits are tried side by side")
    parser.add_argument("--output", type=pathlib.Path, default=TARGET / "bench" / "accuracy")
    parser.add_argument("--program", type=pathlib.Path, default=TARGET / "release" / "sunprint")
    options = parser.parse_args()
    options.methods = dict(map(method, options.methods))
    options.learners = [name for name in options.learners if name != "none"]
    options.cache = TARGET / "bench" / "real"
    options.cores = max(1, CORES // options.jobs)
    unknown = [name for name in options.learners if name not in figures.LEARNERS]
    if unknown:
        parser.error(f"there is no learner `{unknown[0]}`")
    return parser, options


def chosen(parser, options):
    """The tables that are asked for, and how to get each."""
    found = datasets.in_folder(options.data) if options.data else {}
    made, wanted = recipes.every(), options.tables
    if options.half:
        wanted = [name for name in HALVES[options.half] if wanted is None or name in wanted]
        # A half can be tried as far as its tables are there.
        wanted = [name for name in wanted if name in found or name in made]
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
        return trial.every()


def write_splits(load, options):
    """TABLE/schema.toml and TABLE/seed=S.csv, from which others make METHOD/TABLE/epsilon=E/seed=S.csv."""
    dataset = load()
    place = options.write_splits / dataset.name
    place.mkdir(parents=True, exist_ok=True)
    (place / "schema.toml").write_text(dataset.text)
    for seed in seeds_of(dataset, options):
        datasets.write(dataset.split(seed)[0], place / f"seed={seed}.csv")


def side_by_side(work, jobs):
    """The results of calls, in their order."""
    if jobs == 1:
        yield from (call(*given) for call, *given in work)
        return
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        waiting = [pool.submit(*item) for item in work]
        yield from (future.result() for future in waiting)


def main():
    parser, options = arguments()
    tables = chosen(parser, options)
    if not tables:
        parser.error("there are no tables: --data FOLDER, --generated, or both")
    if options.write_splits:
        for load in tables.values():
            write_splits(load, options)
        return
    about = {"program": str(options.program), "command": sys.argv[1:]}
    runs = []
    for load in tables.values():
        dataset = load()
        for found in side_by_side([(try_one, dataset, seed, options) for seed in seeds_of(dataset, options)], options.jobs):
            runs += found
        report.save(options.output, about, runs, report.cells(runs), [])
    print(report.markdown(report.cells(runs)))


if __name__ == "__main__":
    main()
