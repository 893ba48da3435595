"""The reference is what the program says."""

import re
import sys
import unittest

from pages import DOCS

sys.path.insert(0, str(DOCS))
import generate_reference as reference  # noqa: E402


class Reference(unittest.TestCase):
    def test_the_committed_pages_are_what_the_program_says(self):
        for path, text in reference.pages().items():
            with self.subTest(page=path.name):
                self.assertEqual(path.read_text(), text, "run docs/generate_reference.py")

    def test_every_command_is_there(self):
        text = (DOCS / "reference" / "commands.md").read_text()
        for name in ("demo", "schema", "check", "plan", "fit", "sample", "synth", "show", "evaluate", "audit"):
            self.assertIn(f"\n## sunprint {name}\n", text)
        for name in ("show", "limit", "verify", "export", "import"):
            self.assertIn(f"\n## sunprint ledger {name}\n", text)

    def test_the_chapter_on_schemas_knows_every_key(self):
        chapter = (DOCS / "schema.md").read_text()
        generated = (DOCS / "reference" / "schema-keys.md").read_text()
        keys = re.findall(r"^\| `(\w+)` \|", generated, re.MULTILINE)
        self.assertGreaterEqual(len(keys), 12)
        for key in keys:
            self.assertRegex(chapter, rf"\| .*`{key}`.* \|", f"schema.md says nothing of `{key}`")

    def test_which_kinds_have_which_keys(self):
        self.assertIn("must not have `decimals`", reference.refusal(reference.column("integer", decimals="2")))
        self.assertEqual(reference.refusal(reference.column("continuous", decimals="2")), "")
