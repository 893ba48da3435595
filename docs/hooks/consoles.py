"""In a console block, what one types stands out from what is said."""

import re

CONSOLE = re.compile(r'(<pre><code class="language-console">)(.*?)(</code></pre>)', re.DOTALL)
COMMAND = re.compile(r"^\$ .*(?:\\\n.*)*", re.MULTILINE)


def on_page_content(html, page, config, files):
    return CONSOLE.sub(lambda block: block[1] + COMMAND.sub(r"<b>\g<0></b>", block[2]) + block[3], html)
