"""What the results say at a glance: the default beside its bounds and beside the baselines, table by table."""

import report

TITLES = ["table", "half", "ε", "W1 / floor", "excess of paper / default", "gaussian / default", "W1 / ceiling"]
NOTHING = "–"


def markdown(found, half_of):
    """A line for each table and ε at which the default was tried. **Bold**: the default is worse than that."""
    by_key = {(cell["table"], cell["epsilon"], cell["method"]): cell for cell in found}
    order = list(dict.fromkeys(cell["table"] for cell in found))
    keys = [(table, epsilon) for table, epsilon, method in by_key if method == "default"]
    if not keys:
        return "The default was not tried: there is nothing to compare.\n"
    lines, worse, compared = [report.line(*TITLES), "|---" * len(TITLES) + "|"], 0, 0
    for table, epsilon in sorted(keys, key=lambda key: (order.index(key[0]), key[1])):
        default, paper, gaussian = (by_key.get((table, epsilon, name)) for name in ("default", "paper", "gaussian"))
        about = [table, half_of.get(table, ""), f"{epsilon:g}"]
        if "refused" in default:
            lines.append(report.line(*about, f"refused: {default['refused']}", "", "", ""))
            continue
        ratios = [excess(paper, default), ratio(mean(gaussian, "w1_l2"), mean(default, "w1_l2"))]
        ceiling = ratio(mean(default, "w1_l2"), mean(default, "ceiling_l2"))
        words = [marked(one, one is not None and one < 1) for one in ratios]
        words.append(marked(ceiling, ceiling is not None and ceiling > 1))
        compared += sum(word != NOTHING for word in words)
        worse += sum(word.startswith("**") for word in words)
        lines.append(report.line(*about, marked(ratio(mean(default, "w1_l2"), mean(default, "floor_l2"))), *words))
    told = f"The default is worse than a baseline or than uniform noise (bold) in {worse} of {compared} comparisons."
    return "\n".join([*lines, "", f"{told} Ratios are of means of W1 (ℓ2) over seeds.", ""])


def mean(cell, name):
    figure = cell["figures"].get(name) if cell else None
    return None if figure is None else figure["mean"]


def ratio(above, below):
    """None where one of them is not known, or there is nothing to divide by."""
    return above / below if above is not None and below is not None and below > 0 else None


def excess(paper, default):
    """What paper has above its floor over what the default has above its own.

    By chance a W1 can be below its floor: that counts as no excess. If neither has any, there is nothing to compare.
    """
    known = [(mean(cell, "w1_l2"), mean(cell, "floor_l2")) for cell in (paper, default)]
    if any(value is None for pair in known for value in pair):
        return None
    theirs, ours = (max(w1 - floor, 0.0) for w1, floor in known)
    if ours == 0:
        return float("inf") if theirs > 0 else None
    return theirs / ours


def marked(value, worse=False):
    if value is None:
        return NOTHING
    # Ratios near 1 have digits enough to tell on which side they are.
    words = "∞" if value == float("inf") else f"{value:.3f}" if abs(value - 1) < 0.01 else f"{value:.2f}"
    return f"**{words}**" if worse else words
