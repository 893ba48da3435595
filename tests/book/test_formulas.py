"""TeX becomes MathML, or the build stops."""

import sys
import unittest
import xml.etree.ElementTree as tree

from mkdocs.exceptions import PluginError
from pages import DOCS

sys.path.insert(0, str(DOCS / "hooks"))
import formulas  # noqa: E402


class Formulas(unittest.TestCase):
    def test_every_formula_is_well_formed(self):
        for tex in (r"\frac{a}{b}", r"\sqrt{x}", r"\sum_{i>d'}\sigma_i", r"\lVert x\rVert_\infty", r"\mathbb E\,W_1"):
            root = tree.fromstring(formulas.mathml(tex))
            self.assertTrue(root.tag.endswith("math"), tex)

    def test_what_would_be_shown_raw_is_refused(self):
        for tex in (r"\nosuch x", r"\frac{a", r"\begin{nosuch}a\end{nosuch}", r"a & b", r"\arg\min"):
            with self.assertRaises(formulas.UnknownCommand, msg=tex):
                formulas.mathml(tex)

    def test_code_is_left_alone(self):
        text = "Set `$TMPDIR`, then\n\n```console\n$ echo $HOME\n```\n\nand ``a `$` b`` <!-- before: echo $X -->."
        self.assertEqual(formulas.take_out(text, "page"), (text, []))

    def test_formulas_are_found_in_prose_and_in_tables(self):
        text = "| $d'$ | $\\lvert x\\rvert$ |\n|---|---|\n| 1 | 2 |\n\n$$ a\n= b $$\n\nand $x$, $y$."
        kept, found = formulas.take_out(text, "page")
        self.assertEqual(len(found), 5)
        self.assertNotIn("$", kept)
        self.assertEqual(kept.count("|"), text.count("|"), "no formula takes a table apart")
        self.assertEqual(sum('display="block"' in formula for formula in found), 1)

    def test_a_lone_dollar_sign_stops_the_build(self):
        for text in ("It costs 5$.", "from $5 to 6", "# A heading with $x$"):
            with self.assertRaises(PluginError, msg=text):
                formulas.take_out(text, "page")

    def test_names_and_bars_keep_their_space(self):
        norm = formulas.mathml(r"\lVert x\rVert_*")
        self.assertEqual(norm.count('stretchy="false"'), 2, "both bars are as high as the line")
        self.assertIn('rspace="0.167em"', formulas.mathml(r"\ln g"))
        self.assertIn('rspace="0"', formulas.mathml(r"\ln(g)"))
        self.assertIn("𝔼", formulas.mathml(r"\mathbb E"))
        self.assertIn("munder", formulas.mathml(r"\min_x f", display=True))


if __name__ == "__main__":
    unittest.main()
