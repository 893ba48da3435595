"""In the chapters of the theory "Lemma 12" leads to its proof; one that does not exist stops the build."""

import re
from pathlib import Path

from anchors import anchor
from mkdocs.exceptions import PluginError

HEADING = re.compile(r"^### (Lemma (\d+): .*)$", re.MULTILINE)
NAMED = re.compile(r"(?<!\[)\bLemma (\d+)\b")


def on_page_markdown(markdown, page, config, files):
    if not page.file.src_uri.startswith("theory/"):
        return markdown
    proofs = (Path(config.docs_dir) / "proofs.md").read_text()
    known = {number: anchor(heading) for heading, number in HEADING.findall(proofs)}

    def link(match: re.Match) -> str:
        if match[1] not in known:
            raise PluginError(f"{page.file.src_uri}: there is no Lemma {match[1]} in proofs.md")
        return f"[{match[0]}](../proofs.md#{known[match[1]]})"

    return NAMED.sub(link, markdown)
