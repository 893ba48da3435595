"""The built book: whole, without anything from elsewhere, and built strictly."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pages import DOCS, ROOT, pages

SITE = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve() / "book" / "site"
# Where a page can make a browser fetch something by itself.
FETCHED = {
    "script": ("src",),
    "link": ("href",),
    "img": ("src", "srcset"),
    "source": ("src", "srcset"),
    "iframe": ("src",),
    "embed": ("src",),
    "object": ("data",),
    "video": ("src", "poster"),
    "audio": ("src",),
    "use": ("href", "xlink:href"),
}


class Page(HTMLParser):
    """What a page fetches, links to, and can be linked at."""

    def __init__(self, text: str):
        super().__init__()
        self.fetched, self.links, self.anchors, self.tags, self.headings = [], [], set(), [], 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.tags.append(tag)
        self.headings += tag == "h1"
        self.fetched += [(tag, found[name]) for name in FETCHED.get(tag, ()) if found.get(name)]
        self.fetched += [(tag, url) for url in re.findall(r"url\(([^)]*)\)", found.get("style") or "")]
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if found.get("id"):
            self.anchors.add(found["id"])


def foreign(text: str, css: bool = False) -> list[str]:
    """What a page or a style sheet would fetch from elsewhere, or run."""
    if css:
        urls = re.findall(r"url\(\s*['\"]?([^'\")]*)|@import\s+['\"]([^'\"]*)", text)
        return [url for pair in urls for url in pair if re.match(r"([a-z]+:)?//", url)]
    page = Page(text)
    found = [url for _, url in page.fetched if re.match(r"\s*([a-zA-Z]+:)?//", url)]
    return found + ["<script>" for tag in page.tags if tag == "script"]


class Site(unittest.TestCase):
    """The site that `docs/build` has made."""

    @classmethod
    def setUpClass(cls):
        cls.pages = {path: Page(path.read_text()) for path in sorted(SITE.rglob("*.html"))}

    def test_every_page_is_built(self):
        built = {path.relative_to(SITE).with_suffix("") for path in self.pages}
        self.assertEqual(built - {Path("404")}, {path.relative_to(DOCS).with_suffix("") for path in pages()})

    def test_nothing_comes_from_elsewhere(self):
        for path in self.pages:
            self.assertEqual(foreign(path.read_text()), [], path.name)
        for path in SITE.rglob("*.css"):
            self.assertEqual(foreign(path.read_text(), css=True), [], path.name)
        for path in SITE.rglob("*.svg"):
            self.assertNotRegex(path.read_text(), r"<script|(href|src)\s*=\s*['\"](https?:)?//|@import", path.name)
        kinds = {path.suffix for path in SITE.rglob("*") if path.is_file()}
        self.assertLessEqual(kinds, {".html", ".css", ".svg", ".json", ".xml", ".gz"}, "no scripts and no fonts")

    def test_what_comes_from_elsewhere_is_found(self):
        for text in (
            '<img src="https://example.org/x.png">',
            '<link rel="stylesheet" href="//cdn.example.org/a.css">',
            "<script>1</script>",
            '<p style="background: url(https://example.org/x)">',
        ):
            self.assertTrue(foreign(text), text)
        self.assertTrue(foreign("@import 'https://example.org/font.css';", css=True))
        self.assertTrue(foreign("a { src: url(//example.org/f.woff2) }", css=True))
        self.assertEqual(foreign('<a href="https://example.org">a link is not fetched</a>'), [])

    def test_links_lead_somewhere(self):
        links = 0
        for path, page in self.pages.items():
            for link in page.links + [url for _, url in page.fetched]:
                parts = urlsplit(link)
                if parts.scheme:
                    continue
                links += 1
                target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
                if path.name == "404.html":
                    target = SITE / unquote(parts.path).lstrip("/")
                self.assertTrue(target.exists(), f"{path.name} links to {link}")
                if parts.fragment and target in self.pages:
                    self.assertIn(unquote(parts.fragment), self.pages[target].anchors, f"{path.name} links to {link}")
        self.assertGreater(links, 1000)

    def test_pages_have_one_title_and_no_leftovers(self):
        for path, page in self.pages.items():
            text = path.read_text()
            self.assertEqual(page.headings, 1, path.name)
            self.assertNotIn("ALUMROF", text, path.name)
            prose = re.sub(r"<(pre|code)\b.*?</\1>", "", text, flags=re.DOTALL)
            self.assertNotRegex(prose, r"\\[a-zA-Z]+\{|\$\$", f"raw TeX in {path.name}")

    def test_formulas_are_formulas(self):
        for name in ("problem", "printed", "centre", "moments", "directions", "pmm", "psmm", "accounting"):
            page = self.pages[SITE / "theory" / f"{name}.html"]
            self.assertGreater(page.tags.count("math"), 15, name)


class Strictness(unittest.TestCase):
    """A book that is broken on purpose is not built."""

    def build(self, text: str, name: str = "start.md") -> subprocess.CompletedProcess:
        """The book with something added to a page, built by `docs/build` itself, elsewhere."""
        with tempfile.TemporaryDirectory(prefix="sunprint-book-") as folder:
            copy = Path(folder)
            shutil.copytree(DOCS, copy / "docs")
            (copy / "tests" / "oracles").mkdir(parents=True)
            for file in ("mkdocs.yml", "SECURITY.md", "README.md", "CONTRIBUTING.md", "tests/oracles/prepare"):
                shutil.copy(ROOT / file, copy / file)
            with (copy / "docs" / name).open("a") as page:
                page.write("\n" + text + "\n")
            environment = {**os.environ, "CARGO_TARGET_DIR": str(SITE.parents[1])}
            command = [copy / "docs" / "build", copy / "site"]
            return subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)

    def test_a_whole_book_is_built(self):
        done = self.build("A formula $e^{-x}$, and `$code` that is none.")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_broken_one_is_not(self):
        for text, name, sign in (
            ("[gone](nowhere.md)", "start.md", "nowhere.md"),
            ("[gone](epsilon.md#no-such-heading)", "start.md", "no-such-heading"),
            ("[gone](../NOWHERE.md)", "start.md", "NOWHERE.md"),
            (r"$\nosuchcommand{x}$", "start.md", "nosuchcommand"),
            (r"$$\begin{nosuch} x \end{nosuch}$$", "start.md", "nosuch"),
            ("It costs 5$ or so.", "start.md", "dollar"),
            ("# A page of its own", "orphan.md", "orphan.md"),
        ):
            with self.subTest(text=text):
                done = self.build(text, name)
                self.assertNotEqual(done.returncode, 0, "it was built all the same")
                self.assertIn(sign, done.stderr)


if __name__ == "__main__":
    unittest.main()
