"""The examples of the book do what the book says."""

import os
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest
from functools import cache
from pathlib import Path

from pages import ROOT, Block, blocks, commands, pages, pattern

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
SUNPRINT = TARGET / "release" / "sunprint"


class Scratch:
    """An empty folder with a ledger of its own."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="sunprint-book-"))
        self.environment = {
            "PATH": f"{SUNPRINT.parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.folder),
            "LC_ALL": "C.UTF-8",
            "SUNPRINT_LEDGER": str(self.folder / "ledger.sqlite"),
        }

    def run(self, command: str) -> tuple[int, str]:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=300,
        )
        return done.returncode, done.stdout.decode()

    def remove(self):
        shutil.rmtree(self.folder)


def play(block: Block, scratch: Scratch) -> list[str]:
    """What is wrong with a block, in words."""
    if block.mark == "file":
        (scratch.folder / block.argument).write_text(block.text)
        return []
    if block.mark == "before":
        code, said = scratch.run(block.argument)
        return [] if code == 0 else [f"{block.place()}: `{block.argument}` ended with {code}:\n{said}"]
    wrong = []
    todo = commands(block.text)
    for i, (command, lines) in enumerate(todo):
        code, said = scratch.run(command)
        wanted = int(block.argument or 0) if i + 1 == len(todo) else 0
        if code != wanted:
            wrong.append(f"{block.place()}: `{command}` ended with {code} instead of {wanted}:\n{said}")
        while lines and not lines[-1].strip():
            lines.pop()
        if not pattern(lines).fullmatch(said.rstrip("\n") + "\n" if said.strip() else ""):
            shown = "\n".join(lines)
            wrong.append(f"{block.place()}: `{command}`\n-- the page shows\n{shown}\n-- the program says\n{said}")
    return wrong


class ExamplesRun(unittest.TestCase):
    """Every marked block, page by page."""

    def test_marked_blocks_do_what_the_page_shows(self):
        played = 0
        for page in pages():
            marked = [block for block in blocks(page) if block.mark]
            if not marked:
                continue
            scratch = Scratch()
            self.addCleanup(scratch.remove)
            with self.subTest(page=page.name):
                for block in marked:
                    wrong = play(block, scratch)
                    self.assertFalse(wrong, "\n\n" + "\n\n".join(wrong))
                    played += block.mark == "run"
        self.assertGreater(played, 20, "the pages were found")

    def test_the_first_chapters_have_examples_that_run(self):
        for name in ("start", "epsilon", "schema", "ledger", "scaling", "planning"):
            page = ROOT / "docs" / f"{name}.md"
            self.assertTrue([b for b in blocks(page) if b.mark == "run"], f"{name}.md shows nothing that is run")


@cache
def known_options(words: tuple[str, ...]) -> frozenset[str] | None:
    """The options that a command's help names; None where there is no such command."""
    done = subprocess.run([SUNPRINT, *words, "--help"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None
    return frozenset(re.findall(r"(?<![\w-])(--?[a-z][a-z-]*)", done.stdout))


def unknown(command: str) -> str | None:
    """What the program does not know of a command line."""
    words = shlex.split(command, comments=True)
    words = words[words.index("sunprint") + 1 :]
    names = []
    for word in words:
        if word in {"|", "&&", ";", ">", "<"}:
            break
        if not word.startswith("-") and len(names) < (2 if names[:1] == ["ledger"] else 1):
            names.append(word)
    options = known_options(tuple(names))
    if options is None:
        return f"there is no `sunprint {' '.join(names)}`"
    for word in words:
        if word in {"|", "&&", ";", ">", "<"}:
            break
        option = word.split("=")[0]
        if option.startswith("-") and option != "-" and option not in options:
            return f"`sunprint {' '.join(names)}` has no `{option}`"
    return None


class CommandsParse(unittest.TestCase):
    """Every line that calls the program, run or not, uses options that it has."""

    def lines(self):
        documents = [*pages(), *(ROOT / name for name in ("README.md", "SECURITY.md", "CONTRIBUTING.md"))]
        for page in documents:
            for block in blocks(page):
                if block.language == "console" and block.mark != "before":
                    for command, _ in commands(block.text):
                        yield block, command

    def test_commands_and_options_exist(self):
        seen = 0
        for block, command in self.lines():
            for part in re.split(r"\||&&|;", command.split("#")[0]):
                if re.match(r"\s*(\w+=\S+\s+)*sunprint\s", part):
                    seen += 1
                    with self.subTest(place=block.place(), command=command):
                        self.assertIsNone(unknown(part))
        self.assertGreater(seen, 40, "the commands were found")

    def test_console_blocks_begin_with_a_command(self):
        for page in pages():
            for block in blocks(page):
                if block.language == "console":
                    with self.subTest(place=block.place()):
                        self.assertTrue(block.mark == "before" or commands(block.text))

    def test_what_shows_output_is_run(self):
        shown = set()
        for page in pages():
            for block in blocks(page):
                if block.language == "console" and not block.mark:
                    said = [line for _, lines in commands(block.text) for line in lines if line.strip()]
                    shown |= {page.name} if said else set()
        self.assertEqual(shown, {"audit.md"}, "an audit takes minutes; everything else can be run")

    def test_unknown_options_are_found(self):
        self.assertIsNone(unknown("sunprint fit people.csv --schema people.toml --epsilon 1 -o people.sunprint"))
        self.assertIn("--epsilom", unknown("sunprint fit people.csv --epsilom 1"))
        self.assertIn("no `sunprint fitt`", unknown("sunprint fitt people.csv"))
        self.assertIn("--rows", unknown("sunprint ledger limit people --rows 3"))


class Patterns(unittest.TestCase):
    """The comparison itself can fail."""

    def test_dots_stand_for_lines_and_for_text(self):
        lines = ["a", "...", "b ... c"]
        self.assertTrue(pattern(lines).fullmatch("a\nx\ny\nb 17 c\n"))
        self.assertTrue(pattern(lines).fullmatch("a\nb 17 c\n"))
        self.assertFalse(pattern(lines).fullmatch("a\nb 17 d\n"))
        self.assertFalse(pattern(lines).fullmatch("a\nx\n"))
        self.assertFalse(pattern(["a"]).fullmatch("a\nb\n"), "nothing may be left over")

    def test_a_block_that_lies_is_found(self):
        scratch = Scratch()
        self.addCleanup(scratch.remove)
        page = ROOT / "docs" / "start.md"
        said = Block(page, 1, "console", "$ echo 12\n12\n", "run")
        lies = Block(page, 1, "console", "$ echo 12\n13\n", "run")
        fails = Block(page, 1, "console", "$ false\n", "run")
        self.assertEqual(play(said, scratch), [])
        self.assertEqual(len(play(lies, scratch)), 1)
        self.assertEqual(len(play(fails, scratch)), 1)
        self.assertEqual(play(Block(page, 1, "console", "$ false\n", "run", "1"), scratch), [])

    def test_commands_are_taken_apart(self):
        found = commands("$ a \\\n    b\nsaid\n$ c\n")
        self.assertEqual(found, [("a b", ["said"]), ("c", [])])
        shown = commands("$ demo\nfirst\n\n$ sunprint fit\nsecond\n")
        self.assertEqual(len(shown), 1, "what a program shows is not a command")
