"""How long pages take and how large they are: real against synthetic, and from the model alone.

Each is a process of its own, from the start of the program to the file on the disk. The reference is `check` of both
files: what it takes to read them and to look at every cell.
"""

import tables
from tables import FOLDER, SUNPRINT, Run, median


def row(what, *figures):
    print(f"| {what} | {' | '.join(figures)} |", flush=True)


def synthetic(rows, width):
    """As many rows drawn from a model of the real ones."""
    real, schema = tables.csv(rows, width), tables.schema(width)
    model = FOLDER / f"{rows}x{width}.sunprint"
    tables.finished(model, lambda part: tables.fit(real, width, output=part))
    drawn = FOLDER / f"{rows}x{width}-drawn.csv"
    words = ["sample", model, "--rows", rows, "--seed", "7", "--output-format", "csv", "--quiet", "--output"]
    tables.finished(drawn, lambda part: Run([SUNPRINT, *words, part]))
    return real, drawn, schema, model


def timed(options, command):
    command()
    return [command() for _ in range(options.runs)]


def pages(options, rows, width):
    rows //= options.scale
    real, drawn, schema, model = synthetic(rows, width)
    page, numbers = FOLDER / "page.html", FOLDER / "page.json"
    written = ["--report", page, "--report-json", numbers, "--force"]
    looks = [[SUNPRINT, "check", file, "--schema", schema, "--quiet"] for file in (real, drawn)]
    reading = median(sum(Run(look).wall for look in looks) for _ in range(options.runs))
    curators = [SUNPRINT, "evaluate", real, drawn, "--schema", schema, "--model", model, "--quiet", *written]
    published = [SUNPRINT, "evaluate", "--public", "--model", model, "--quiet", *written]
    for what, words in [("the curator's", curators), ("public", published)]:
        runs = timed(options, lambda: Run(words))
        wall = median(run.wall for run in runs)
        sizes = [f"{file.stat().st_size / 1e6:.2f} MB" for file in (page, numbers)]
        cpu, peak = median(run.cpu for run in runs), max(run.peak for run in runs)
        ratio = f"{wall / reading:.1f}"
        row(f"{what}, {rows:,} x {width}", f"{wall:.1f} s", f"{cpu:.1f} s", ratio, *sizes, f"{peak:.0f} MB")


PARTS = {
    "long": lambda options: pages(options, 100_000, 100),
    "narrow": lambda options: pages(options, 100_000, 50),
    "wide": lambda options: pages(options, 20_000, 1_000),
}


def begin(options):
    print(f"Medians of {options.runs} runs. Ratio = wall seconds / those of `check` on both files.\n")
    row("page", "wall", "processors", "ratio", "HTML", "JSON", "peak")
    row(*["---"] * 7)


if __name__ == "__main__":
    tables.run("./bench report", __doc__, PARTS, 3, begin)
