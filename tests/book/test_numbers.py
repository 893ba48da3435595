"""Numbers in the book that are arithmetic agree with the arithmetic."""

import math
import unittest

from pages import DOCS


def at_most(prior: float, epsilon: float) -> str:
    """What a belief can become at most, in percent, rounded up: the rule of `receipt/odds.rs`."""
    other = (1 - prior) * math.exp(-epsilon)
    left = 100 * other / (prior + other)
    if left < 1e-6:
        return "no bound worth the name"
    digits = 1 if left >= 1 else 1 - math.floor(math.log10(left))
    scale = 10.0**digits
    return f"{100 - math.floor(left * scale) / scale:.{digits}f} %"


def table(page: str, first: str) -> list[list[str]]:
    """The rows of the table whose heading begins with a word."""
    lines = iter((DOCS / page).read_text().splitlines())
    for line in lines:
        if line.startswith(f"| {first} |"):
            break
    next(lines)
    rows = []
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


class Odds(unittest.TestCase):
    def test_the_table_of_odds(self):
        rows = table("epsilon.md", "ε")
        self.assertGreater(len(rows), 8)
        for row in rows:
            epsilon = float(row[0])
            self.assertAlmostEqual(float(row[1].replace(",", "")) / math.exp(epsilon), 1, delta=0.01, msg=str(row))
            self.assertEqual(row[2:], [at_most(prior, epsilon) for prior in (0.5, 0.1, 0.01)], row[0])

    def test_the_promise_has_the_same_odds(self):
        for row in table("privacy-promise.md", "ε"):
            self.assertEqual(row[1:], [at_most(prior, float(row[0])) for prior in (0.5, 0.01)])

    def test_several_rows_and_several_releases(self):
        for row in table("epsilon.md", "rows of one person"):
            rows = int(row[0])
            self.assertEqual(row[1], f"{rows}")
            self.assertEqual(row[2], at_most(0.5, rows))


class Theory(unittest.TestCase):
    """Constants that the chapters of the theory derive."""

    def test_what_the_printed_levels_lose(self):
        text = (DOCS / "theory" / "printed.md").read_text()
        loss = 2 / (1 - 2 ** -0.25)
        self.assertIn(f"{loss:.2f}", text)
        rows = table("theory/printed.md", "$d'$")
        for row in rows:
            slope = 0.5 * (1 - 1 / int(row[0]))
            self.assertEqual(row[1], f"{2 / (1 - 2**-slope):.1f}", row)

    def test_how_much_too_long_ways_on_a_lattice_are(self):
        for row in table("theory/psmm.md", "$k$"):
            k = int(row[0])
            factor = math.sqrt(sum((math.sqrt(i) - math.sqrt(i - 1)) ** 2 for i in range(1, k + 1)))
            self.assertEqual(row[1], f"{factor:.3f}")

    def test_the_cube_against_laplace(self):
        text = (DOCS / "theory" / "centre.md").read_text()
        self.assertIn(f"{math.sqrt(2) * math.sqrt(3):.2f}", text, "√2 d b over d b/√3")

    def test_a_billion_rows(self):
        """Two bytes for each coordinate and four for each row."""
        rows = table("scaling.md", "coordinates")
        self.assertGreaterEqual(len(rows), 3)
        for row in rows:
            width = int(row[0].replace(",", ""))
            self.assertEqual(row[1], f"{2 * width + 4:,} GB", row)
