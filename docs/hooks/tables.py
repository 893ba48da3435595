"""Wide tables scroll by themselves instead of pushing the page aside."""


def on_page_content(html, page, config, files):
    return html.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")
