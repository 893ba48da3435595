"""Wide tables scroll by themselves instead of pushing the page aside, and a number keeps its unit beside it."""

import re

CELL = re.compile(r"<td[^>]*>.*?</td>", re.DOTALL)
UNIT = re.compile(r"(?<=\d) (?=(?:%|[GMk]B|µ?s|ms|ns)(?![\w]))")


def on_page_content(html, page, config, files):
    html = CELL.sub(lambda cell: UNIT.sub("\N{NO-BREAK SPACE}", cell[0]), html)
    return html.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")
