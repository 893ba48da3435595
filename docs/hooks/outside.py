"""Pages link to README.md and the like, which are not part of the book: such links become plain words with a path."""

import re
from pathlib import Path

from mkdocs.exceptions import PluginError

LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((\.\./[^)#\s]*)(?:#[^)]*)?\)")


def on_page_markdown(markdown, page, config, files):
    docs = Path(config.docs_dir).resolve()
    here = (docs / page.file.src_uri).parent

    def outside(match):
        target = (here / match[2]).resolve()
        if target.is_relative_to(docs):
            return match[0]
        if not target.exists():
            raise PluginError(f"{page.file.src_uri} links to {match[2]}, which does not exist")
        return f"{match[1]} (`{target.relative_to(docs.parent)}` in the repository)"

    return LINK.sub(outside, markdown)
