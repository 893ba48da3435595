"""Reads the book's pages: fenced blocks, and the comments that say what is to be done with them.

A comment on the line before a block says what the block is:

    <!-- run -->            its commands are run, one after the other, and what they say is compared
    <!-- run: 1 -->         the same, and the last command ends with exit code 1
    <!-- file: NAME -->     its text is written to a file of that name

and a comment on its own, anywhere:

    <!-- before: COMMAND --> is run before the next block, and what it says does not matter

All blocks of a page share one empty folder and one ledger. In what a page shows, `...` alone on a line stands for any
number of lines, and elsewhere for any text within the line.
"""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"

COMMENT = re.compile(r"<!--\s*(run|file|before)(?::\s*(.*?))?\s*-->$")
FENCE = re.compile(r"^(```+|~~~+)\s*(\S*)\s*$")


@dataclass
class Block:
    """A fenced block."""

    page: Path
    line: int
    language: str
    text: str
    mark: str = ""
    argument: str = ""

    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def pages() -> list[Path]:
    """Every page of the book."""
    return sorted(DOCS.rglob("*.md"))


def blocks(page: Path) -> list[Block]:
    """The blocks of a page, and its `before` comments as blocks of their own."""
    found, mark, opened = [], None, None
    for number, line in enumerate(page.read_text().splitlines(), 1):
        fence = FENCE.match(line)
        if opened is not None:
            if fence and fence[1] == ticks:
                found.append(opened)
                opened = None
            else:
                opened.text += line + "\n"
            continue
        if fence:
            ticks = fence[1]
            opened = Block(page, number, fence[2], "", *(mark or ("", "")))
            mark = None
            continue
        comment = COMMENT.match(line.strip())
        if mark is not None:
            raise ValueError(f"{page}:{number}: a mark must stand directly before its block")
        if comment and comment[1] == "before":
            found.append(Block(page, number, "console", "", "before", comment[2]))
        elif comment:
            mark = (comment[1], comment[2] or "")
    if opened is not None or mark is not None:
        raise ValueError(f"{page}: the last block does not end")
    return found


def commands(text: str) -> list[tuple[str, list[str]]]:
    """The commands of a console block, each with the lines that follow it.

    A block that shows the talk of a program which itself shows a command (the demo does) would be taken apart there: a
    line that starts a command must therefore not follow an empty line of output.
    """
    found: list[tuple[str, list[str]]] = []
    lines = iter(text.splitlines())
    last = ""
    for line in lines:
        if line.startswith("$ ") and not (found and last == ""):
            command = line[2:]
            while command.endswith("\\"):
                command = command[:-1] + next(lines).strip()
            found.append((command, []))
        elif found:
            found[-1][1].append(line)
        else:
            raise ValueError("a console block begins with a command")
        last = line
    return found


def pattern(lines: list[str]) -> re.Pattern:
    """What these lines allow to be said."""
    parts = []
    for line in lines:
        if line.strip() == "...":
            parts.append(r"(?:[^\n]*\n)*?")
        else:
            parts.append(r"[^\n]*?".join(re.escape(part) for part in line.rstrip().split("...")) + r"[ \t]*\n")
    return re.compile("".join(parts))
