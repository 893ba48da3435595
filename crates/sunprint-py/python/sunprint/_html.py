"""Small pages for notebooks. Every text is escaped; every number in them is public."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

_BOX = (
    "font-family:system-ui,sans-serif;font-size:13px;line-height:1.45;max-width:46em;border:1px solid #8886;"
    "border-radius:6px;padding:.7em 1em"
)


def page(title: str, sentence: str, pairs: Iterable[tuple[str, str]], chart: str = "") -> str:
    """A box with a title, a sentence, a table of facts and a chart."""
    rows = "".join(
        f'<tr><td style="text-align:left;opacity:.7;padding:0 1.5em 0 0">{escape(name)}</td>'
        f'<td style="text-align:left;padding:0">{escape(value)}</td></tr>'
        for name, value in pairs
    )
    return (
        f'<div style="{_BOX}"><div style="font-weight:600">{escape(title)}</div>'
        f'<p style="margin:.4em 0">{escape(sentence)}</p>'
        f'<table style="border-collapse:collapse;margin:.4em 0">{rows}</table>{chart}</div>'
    )


def bars(title: str, parts: Sequence[tuple[str, float]]) -> str:
    """Horizontal bars with their names, the largest filling the width."""
    most = max((size for _, size in parts), default=0.0)
    if most <= 0:
        return ""
    lines = []
    for i, (name, size) in enumerate(parts):
        top = 20 * i
        lines.append(
            f'<text x="0" y="{top + 14}" font-size="11" fill="currentColor">{escape(name)}</text>'
            f'<rect x="90" y="{top + 4}" width="{max(1.0, 220 * size / most):.1f}" height="12" rx="2" fill="#3b7dd8"/>'
            f'<text x="{96 + 220 * size / most:.1f}" y="{top + 14}" font-size="11" fill="currentColor">{size:.3g} %</text>'
        )
    return _svg(title, 370, 20 * len(parts) + 4, "".join(lines))


def spectrum(values: Sequence[float], edge: float) -> str:
    """Released variances, largest first, against the line below which they are noise."""
    shown = [max(0.0, value) for value in values[:40]]
    most = max([edge, *shown], default=0.0)
    if not shown or most <= 0:
        return ""
    width = 340 / len(shown)
    lines = []
    for i, value in enumerate(shown):
        height = 90 * value / most
        colour = "#3b7dd8" if value > edge else "#9aa4b2"
        lines.append(
            f'<rect x="{width * i:.1f}" y="{100 - height:.1f}" width="{0.8 * width:.1f}" height="{height:.1f}" fill="{colour}"/>'
        )
    if edge > 0:
        y = 100 - 90 * edge / most
        lines.append(f'<line x1="0" y1="{y:.1f}" x2="340" y2="{y:.1f}" stroke="#d8663b" stroke-dasharray="4 3"/>')
        lines.append(f'<text x="340" y="{max(10.0, y - 3):.1f}" font-size="10" text-anchor="end" fill="#d8663b">noise</text>')
    return _svg("variance along each direction, largest first", 350, 104, "".join(lines))


def _svg(title: str, width: int, height: int, content: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{escape(title)}"><title>{escape(title)}</title>{content}</svg>'
    )
