"""Plots of what was found, as SVG: W1 over the floor, what can be learnt, and the error against ε."""

import sys

import figures

PREFERRED = 1.0
# Colours that can be told apart by everybody, quiet ones for what is not ours; further methods begin again.
COLOURS = ["#1b4f8a", "#d1802c", "#5f9e6e", "#a34a6b", "#7a7a7a", "#8d7cc3", "#5aa7b8", "#b5a642"]
MARKS = ["o", "s", "^", "D", "v", "P", "X", "<"]
INK, PALE = "#333333", "#bbbbbb"


def draw(found, folder, before=""):
    """Writes the plots that there are figures for, and gives their paths; none without matplotlib."""
    try:
        import matplotlib.pyplot
    except ImportError:
        print("no plots: matplotlib is missing", file=sys.stderr)
        return []
    matplotlib.use("svg")
    style = {"svg.hashsalt": "sunprint", "svg.fonttype": "none", "font.size": 9, "text.color": INK,
             "axes.edgecolor": PALE, "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK,
             "axes.spines.top": False, "axes.spines.right": False, "axes.titlesize": 9, "legend.frameon": False}
    with matplotlib.rc_context(style):
        plots = {"w1": over_floor(found), "learning": learning(found), "epsilon": against_epsilon(found)}
        paths = []
        for name, figure in plots.items():
            if figure is not None:
                paths.append(folder / f"{before}{name}.svg")
                figure.savefig(paths[-1], metadata={"Date": None}, bbox_inches="tight")
                matplotlib.pyplot.close(figure)
    return paths


def looks(found):
    """A colour and a mark for each method, in the order in which they come."""
    methods = dict.fromkeys(cell["method"] for cell in found if cell["epsilon"] is not None and cell["figures"])
    return {name: (COLOURS[i % len(COLOURS)], MARKS[i % len(MARKS)]) for i, name in enumerate(methods)}


def mean(cell, name):
    figure = cell["figures"].get(name)
    return None if figure is None else figure["mean"]


def real_rows(found):
    return {cell["table"]: cell for cell in found if cell["epsilon"] is None}


def epsilons(found):
    return sorted({cell["epsilon"] for cell in found if cell["epsilon"] is not None})


def one_epsilon(found):
    """ε = 1 if it is there, or what is nearest to it."""
    return min(epsilons(found), key=lambda epsilon: abs(epsilon - PREFERRED))


def panels(plt, count, tables, width=2.6):
    size = (width * count + 1.2, 0.32 * len(tables) + 1.2)
    figure, axes = plt.subplots(1, count, figsize=size, sharex=True, sharey=True, squeeze=False, layout="constrained")
    axes = axes[0]
    axes[0].set_yticks(range(len(tables)), tables)
    axes[0].set_ylim(len(tables) - 0.5, -0.5)
    for axis in axes:
        axis.tick_params(length=0)
        axis.grid(axis="x", color=PALE, linewidth=0.4)
        axis.set_axisbelow(True)
    return figure, axes


def legend(figure, axes, look):
    """The methods in their order, then what they are compared with."""
    known = {label: handle for axis in axes for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    labels = [name for name in look if name in known] + [name for name in known if name not in look]
    figure.legend([known[label] for label in labels], labels, loc="outside lower center", ncols=6)


def over_floor(found):
    """W1 as a multiple of the floor, for each table; a tick where uniform noise is."""
    import matplotlib.pyplot as plt

    known = [cell for cell in found if mean(cell, "times_floor") is not None]
    tables = list(dict.fromkeys(cell["table"] for cell in known))
    if not tables:
        return None
    look, columns = looks(found), epsilons(known)
    figure, axes = panels(plt, len(columns), tables)
    for axis, epsilon in zip(axes, columns, strict=True):
        for table, cell in real_rows(found).items():
            if table in tables and mean(cell, "ceiling_l2") is not None and mean(cell, "floor_l2"):
                ceiling = mean(cell, "ceiling_l2") / mean(cell, "floor_l2")
                axis.plot(ceiling, tables.index(table), "|", color=INK, markersize=9, label="uniform noise")
        for cell in reversed([cell for cell in known if cell["epsilon"] == epsilon]):
            colour, mark = look[cell["method"]]
            place = (mean(cell, "times_floor"), tables.index(cell["table"]))
            axis.plot(*place, mark, color=colour, markersize=5, label=cell["method"])
        axis.set_xscale("log")
        axis.xaxis.set_major_formatter("{x:g}")
        axis.axvline(1, color=INK, linewidth=0.6)
        axis.set_title(f"ε = {epsilon:g}")
        axis.set_xlabel("W1 (ℓ2) / floor")
    legend(figure, axes, look)
    return figure


def learning(found):
    """The accuracy of each learner from synthetic rows, at one ε; a tick where real rows are."""
    import matplotlib.pyplot as plt

    if not epsilons(found):
        return None
    epsilon, look = one_epsilon(found), looks(found)
    known = [cell for cell in found if cell["epsilon"] == epsilon]
    learners = [name for name in figures.LEARNERS if any(mean(cell, name) is not None for cell in known)]
    tables = list(dict.fromkeys(c["table"] for c in known if any(mean(c, name) is not None for name in learners)))
    if not tables:
        return None
    figure, axes = panels(plt, len(learners), tables)
    for axis, name in zip(axes, learners, strict=True):
        for table, cell in real_rows(found).items():
            if table in tables and mean(cell, name) is not None:
                axis.plot(mean(cell, name), tables.index(table), "|", color=INK, markersize=9, label="real rows")
        for cell in reversed([cell for cell in known if mean(cell, name) is not None]):
            colour, mark = look[cell["method"]]
            place = (mean(cell, name), tables.index(cell["table"]))
            axis.plot(*place, mark, color=colour, markersize=5, label=cell["method"])
        axis.set_title(f"{name}, ε = {epsilon:g}")
        axis.set_xlabel("accuracy on held-out real rows")
    legend(figure, axes, look)
    return figure


def against_epsilon(found):
    """W1 against ε with its interval, a panel for each table; floor and ceiling as lines."""
    import matplotlib.pyplot as plt
    import matplotlib.ticker

    known = [cell for cell in found if cell["epsilon"] is not None and mean(cell, "w1_l2") is not None]
    tables = list(dict.fromkeys(cell["table"] for cell in known))
    if len(epsilons(known)) < 2:
        return None
    look, across = looks(found), min(4, len(tables))
    down = -(-len(tables) // across)
    figure, axes = plt.subplots(down, across, figsize=(2.3 * across, 1.9 * down), squeeze=False, layout="constrained")
    for axis, table in zip(axes.flat, tables, strict=False):
        for name, style in (("floor_l2", "-"), ("ceiling_l2", ":")):
            height = mean(real_rows(found).get(table, {"figures": {}}), name)
            if height is not None:
                axis.axhline(height, color=INK, linewidth=0.7, linestyle=style, label=name.split("_")[0])
        for method, (colour, mark) in look.items():
            of_method = [cell for cell in known if (cell["table"], cell["method"]) == (table, method)]
            of_method.sort(key=lambda cell: cell["epsilon"])
            if of_method:
                across_it = [cell["epsilon"] for cell in of_method]
                heights = [mean(cell, "w1_l2") for cell in of_method]
                bars = [cell["figures"]["w1_l2"]["interval"] or 0 for cell in of_method]
                look_of_it = {"marker": mark, "color": colour, "markersize": 4, "linewidth": 1}
                axis.errorbar(across_it, heights, bars, label=method, **look_of_it)
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.yaxis.set_major_formatter("{x:g}")
        axis.yaxis.set_minor_formatter("{x:g}")
        axis.yaxis.set_minor_locator(matplotlib.ticker.LogLocator(subs=(2, 5)))
        axis.set_xticks(epsilons(known), [f"{epsilon:g}" for epsilon in epsilons(known)])
        axis.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())
        axis.tick_params(axis="y", which="minor", labelsize=7)
        axis.set_title(table)
    for axis in axes.flat[len(tables):]:
        axis.set_visible(False)
    for axis in axes.flat[max(0, len(tables) - across):len(tables)]:
        axis.set_xlabel("ε")
    figure.supylabel("W1 (ℓ2)", fontsize=9)
    legend(figure, axes.flat, look)
    return figure
