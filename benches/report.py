"""What was found, over seeds: Markdown, JSON and CSV."""

import csv
import json
import math

import scipy.stats

# Figures, their headings in the table, and their digits.
COLUMNS = {
    "w1_l2": ("W1 ℓ2", 3),
    "times_floor": ("of floor", 2),
    "times_floor_p90": ("p90", 2),
    "w1_linf": ("W1 ℓ∞", 3),
    "line": ("1-D", 4),
    "variation": ("TV", 4),
    "correlation": ("corr", 3),
    "place": ("worst mean", 4),
    "share": ("worst share", 4),
    "logistic": ("logistic", 3),
    "forest": ("forest", 3),
    "svm": ("SVM", 3),
}
# Of these the largest of all fits is shown: a curator has one fit.
WORST = ("place", "share")
# Of these the tenth percentile is shown beside the mean: nine of ten fits are better.
LEARNT = ("logistic", "forest", "svm")
FLOOR, CEILING = "two real halves", "uniform noise"


def estimate(values):
    """A mean, and half of its 95 % confidence interval by Student's t; None for a single value."""
    count = len(values)
    middle = math.fsum(values) / count
    p10, p90 = percentile(values, 0.1), percentile(values, 0.9)
    if count == 1:
        return {"mean": middle, "interval": None, "most": middle, "p10": p10, "p90": p90, "seeds": 1}
    square = math.fsum((value - middle) ** 2 for value in values) / (count - 1)
    half = float(scipy.stats.t.ppf(0.975, count - 1)) * math.sqrt(square / count)
    return {"mean": middle, "interval": half, "most": max(values), "p10": p10, "p90": p90, "seeds": count}


def percentile(values, part):
    """Between the two nearest of the sorted values, in proportion."""
    ordered = sorted(values)
    at = part * (len(ordered) - 1)
    low = math.floor(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])


def estimates(runs):
    names = dict.fromkeys(name for run in runs for name in run.get("figures", {}))
    values = {name: [run["figures"].get(name) for run in runs if "figures" in run] for name in names}
    known = {name: [value for value in list_of if value is not None] for name, list_of in values.items()}
    return {name: estimate(list_of) for name, list_of in known.items() if list_of}


def cells(runs):
    """One for each table, ε and method, over seeds. The real rows have no ε; they know floor and ceiling."""
    groups = {}
    for run in runs:
        groups.setdefault((run["table"], run["epsilon"], run["method"]), []).append(run)
    found = []
    for (table, epsilon, method), group in groups.items():
        cell = {"table": table, "epsilon": epsilon, "method": method, "figures": estimates(group)}
        cell["seeds"] = sum("figures" in run for run in group)
        for key in ("refused", "remark", "rows"):
            cell |= {key: run[key] for run in group if key in run}
        found.append(cell)
    for cell in found:
        if cell["epsilon"] is None:
            # The floor belongs to the split, whatever it is compared with: one for each seed.
            by_seed = {r["seed"]: r for r in runs if r["table"] == cell["table"] and "w1_l2" in r.get("figures", {})}
            all_of = estimates(list(by_seed.values()))
            cell["figures"] |= {name: all_of[name] for name in all_of if name.startswith(("floor", "ceiling"))}
        elif "floor_l2" in cell["figures"]:
            figures = cell["figures"]
            floor = max(figures["floor_l2"]["mean"], 1e-12)
            for name, of in (("times_floor", "mean"), ("times_floor_p90", "p90")):
                ratio = figures["w1_l2"][of] / floor
                figures[name] = {"mean": ratio, "interval": None, "seeds": cell["seeds"]}
    return found


def shown(figure, digits):
    if figure is None:
        return ""
    words = f"{figure['mean']:.{digits}f}"
    return words if figure["interval"] is None else f"{words} ± {figure['interval']:.{digits}f}"


def worst(figure, digits):
    return "" if figure is None or "most" not in figure else f"{figure['most']:.{digits}f}"


def learnt(figure, digits):
    words = shown(figure, digits)
    return words if figure is None or figure["seeds"] < 2 else f"{words}, p10 {figure['p10']:.{digits}f}"


def line(*words):
    safe = (word.replace("|", "\\|") for word in words)
    return f"| {' | '.join(safe)} |"


def markdown(found):
    """One table for each ε."""
    tables, lines = dict.fromkeys(cell["table"] for cell in found), []
    for epsilon in sorted({cell["epsilon"] for cell in found if cell["epsilon"] is not None}):
        titles = [title for title, _ in COLUMNS.values()]
        lines += [f"### ε = {epsilon:g}", "", line("table", "method", *titles, "seeds")]
        lines.append("|---|---|" + "---|" * (len(COLUMNS) + 1))
        for table in tables:
            lines += of_table([cell for cell in found if cell["table"] == table], epsilon)
        lines.append("")
    remarks = dict.fromkeys(f"- {c['table']}, {c['method']}: no W1: {c['remark']}" for c in found if "remark" in c)
    return "\n".join([*lines, *remarks, ""]) if remarks else "\n".join(lines)


def of_table(found, epsilon):
    """The real rows, uniform noise, then every method, in whatever order they were run."""
    lines, table = [], found[0]["table"]
    for cell in sorted(found, key=lambda cell: cell["epsilon"] is not None):
        figures = cell["figures"]
        if cell["epsilon"] is None:
            floor = {"w1_l2": figures.get("floor_l2"), "w1_linf": figures.get("floor_linf")}
            ceiling = {"w1_l2": figures.get("ceiling_l2"), "w1_linf": figures.get("ceiling_linf")}
            name = f"{table} ({cell['rows']:,} rows)"
            lines.append(row(name, FLOOR, figures | floor, cell["seeds"]))
            lines.append(row("", CEILING, ceiling, cell["seeds"]))
        elif cell["epsilon"] == epsilon:
            if "refused" in cell:
                lines.append(line("", cell["method"], f"refused: {cell['refused']}", *[""] * len(COLUMNS)))
            else:
                lines.append(row("", cell["method"], figures, cell["seeds"]))
    return lines


def row(table, method, figures, seeds):
    how = dict.fromkeys(WORST, worst) | dict.fromkeys(LEARNT, learnt)
    words = [how.get(name, shown)(figures.get(name), digits) for name, (_, digits) in COLUMNS.items()]
    return line(table, method, *words, str(seeds))


def images(paths):
    """Plots in a page beside them."""
    titles = {"w1": "W1 over the floor", "learning": "What can be learnt", "epsilon": "W1 against ε"}
    return [f"![{titles[path.stem.rpartition('-')[2]]}]({path.name})\n" for path in paths]


def between_markers(path, name, text):
    """Rewrites what a page has between `<!-- NAME -->` and `<!-- end of NAME -->`."""
    page, start, end = path.read_text(), f"<!-- {name} -->", f"<!-- end of {name} -->"
    if page.count(start) != 1 or page.count(end) != 1 or page.index(start) > page.index(end):
        raise SystemExit(f"error: {path} must have `{start}` and `{end}`, once each and in this order")
    before, after = page[: page.index(start) + len(start)], page[page.index(end) :]
    path.write_text(f"{before}\n\n{text.strip()}\n\n{after}")


def save(folder, about, runs, found, robust):
    folder.mkdir(parents=True, exist_ok=True)
    whole = {"about": about, "cells": found, "robust": robust, "runs": runs}
    part = folder / "results.json.part"
    part.write_text(json.dumps(whole, indent=1, ensure_ascii=False))
    part.rename(folder / "results.json")
    with open(folder / "results.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["table", "epsilon", "method", "figure", "mean", "half_interval", "seeds", "refused"])
        for cell in found:
            about_it = [cell["table"], cell["epsilon"], cell["method"]]
            if "refused" in cell:
                writer.writerow([*about_it, "", "", "", cell["seeds"], cell["refused"]])
            for name, figure in cell["figures"].items():
                writer.writerow([*about_it, name, figure["mean"], figure["interval"], figure["seeds"], ""])
