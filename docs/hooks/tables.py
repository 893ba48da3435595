"""Wide tables scroll by themselves instead of pushing the page aside, and a number keeps its unit beside it."""

import re

TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)
CELL = re.compile(r"<td[^>]*>.*?</td>", re.DOTALL)
HEAD = re.compile(r"<th[ >]")
CODE = re.compile(r"<code>([^<]*)</code>")
UNIT = re.compile(r"(?<=\d) (?=(?:%|[GMk]B|µ?s|ms|ns)(?![\w]))")
# Tables with more columns than this hold numbers, and may be wider than the text.
MANY = 6
# Code in a cell that is longer than this may be broken.
LONG = 24


def dressed(table: re.Match) -> str:
    """One table, ready to be shown."""

    def code(match: re.Match) -> str:
        return match[0].replace("<code>", '<code class="long">') if len(match[1]) > LONG else match[0]

    html = CELL.sub(lambda cell: CODE.sub(code, UNIT.sub("\N{NO-BREAK SPACE}", cell[0])), table[0])
    many = len(HEAD.findall(html)) > MANY
    return f'<div class="wide{" many" if many else ""}">{html}</div>'


def on_page_content(html, page, config, files):
    return TABLE.sub(dressed, html)
