"""Links in the repository's own documents lead somewhere, also those into the book."""

import re
import unittest

from pages import DOCS, ROOT, pages

import sys

sys.path.insert(0, str(DOCS / "hooks"))
from anchors import anchor  # noqa: E402

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
FENCED = re.compile(r"^(```+|~~~+).*?^\1\s*$", re.DOTALL | re.MULTILINE)


def headings(text: str) -> set[str]:
    return {anchor(line.lstrip("#").strip()) for line in FENCED.sub("", text).splitlines() if line.startswith("#")}


class Repository(unittest.TestCase):
    def test_links_lead_somewhere(self):
        links = 0
        for document in [ROOT / name for name in ("README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md")] + pages():
            for match in LINK.finditer(FENCED.sub("", document.read_text())):
                target = match[1] or match[2]
                if re.match(r"[a-z]+:", target):
                    continue
                links += 1
                path, _, heading = target.partition("#")
                file = (document.parent / path).resolve() if path else document
                self.assertTrue(file.exists(), f"{document.name} links to {target}")
                if heading and file.suffix == ".md":
                    self.assertIn(heading, headings(file.read_text()), f"{document.name} links to {target}")
        self.assertGreater(links, 100)

    def test_anchors_are_those_of_the_rust_test(self):
        self.assertEqual(anchor("What stays in memory"), "what-stays-in-memory")
        self.assertEqual(anchor("PMM loses several times ε"), "pmm-loses-several-times-ε")
        self.assertEqual(anchor("Pure ε, or ε with δ"), "pure-ε-or-ε-with-δ")

    def test_the_first_chapters_link_to_one_another(self):
        index = (DOCS / "index.md").read_text()
        for page in ("start.md", "epsilon.md", "schema.md", "report.md", "scaling.md", "migrating.md", "faq.md"):
            self.assertIn(f"({page})", index)


if __name__ == "__main__":
    unittest.main()
