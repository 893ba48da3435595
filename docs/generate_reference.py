#!/usr/bin/env python3
"""Writes docs/reference/*.md from what the program says of itself.

    docs/generate_reference.py            writes the pages
    docs/generate_reference.py --check    writes nothing, and fails where a page differs

Commands and options are those of `--help`. The keys of a schema are found by asking: the program lists what it knows
when it refuses what it does not.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "reference"
SUNPRINT = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve() / "release" / "sunprint"
MADE = "<!-- Made by docs/generate_reference.py from what the program says: do not edit. -->\n"


def ask(*words: str) -> subprocess.CompletedProcess:
    """Runs the program, far from anybody's ledger."""
    environment = {**os.environ, "SUNPRINT_LEDGER": "none", "LC_ALL": "C.UTF-8"}
    return subprocess.run([SUNPRINT, *words], capture_output=True, text=True, env=environment, check=False)


def help_of(*words: str) -> str:
    done = ask(*words, "--help")
    if done.returncode != 0:
        raise SystemExit(f"error: `sunprint {' '.join(words)} --help` ended with {done.returncode}")
    return "\n".join(line.rstrip() for line in done.stdout.rstrip().splitlines())


def subcommands(text: str) -> list[tuple[str, str]]:
    """The names and sentences under `Commands:`."""
    found = re.search(r"^Commands:\n((?:  .*\n?)+)", text, re.MULTILINE)
    lines = found[1].splitlines() if found else []
    pairs = [re.match(r"  (\S+)\s+(.*)", line).groups() for line in lines]
    return [pair for pair in pairs if pair[0] != "help"]


def commands_page() -> str:
    top = help_of()
    table, sections = [], []

    def add(words: tuple[str, ...], sentence: str):
        name = " ".join(("sunprint", *words))
        text = help_of(*words)
        table.append(f"| [`{name}`](#{name.replace(' ', '-')}) | {sentence} |")
        sections.append(f"## {name}\n\n```text\n{text}\n```\n")
        for sub, about in subcommands(text):
            add((*words, sub), about)

    for name, sentence in subcommands(top):
        add((name,), sentence)
    return "\n".join([
        "# Commands",
        "",
        MADE,
        "Data goes to stdout, talk to stderr. Exit codes: 0 good, 1 refused or failed, 2 wrong usage. An error is one",
        "sentence, and a hint on a line of its own.",
        "",
        "| command | does |",
        "|---|---|",
        *table,
        "",
        "## sunprint",
        "",
        f"```text\n{top}\n```",
        "",
        *sections,
    ]).rstrip() + "\n"


# A column of each kind that is accepted as it stands.
COLUMNS = {
    "continuous": {"min": "1", "max": "2"},
    "integer": {"min": "1", "max": "2"},
    "boolean": {},
    "categorical": {"values": '["a", "b"]'},
    "date": {"min": '"2024-01-01"', "max": '"2024-12-31"'},
    "datetime": {"min": '"2024-01-01T00:00:00"', "max": '"2024-12-31T00:00:00"'},
}
# A value that each key accepts, where the kind has the key.
GOOD = {
    "values": '["a", "b"]',
    "scale": '"linear"',
    "decimals": "2",
    "ordered": "true",
    "other": '"a"',
    "format": '"%d.%m.%Y"',
    "missing": '"allow"',
    "role": '"feature"',
}


# A value that no key takes, and a rule without a comparison.
DATASET = '[dataset]\n{} = "nonsense"\n'
RULE = '[[constraint]]\nrule = "c ~ 1"\n'


def refusal(text: str) -> str:
    """What the program says of a schema: nothing, if it takes it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "schema.toml"
        path.write_text(text)
        return ask("plan", str(path), "--rows", "1000", "--epsilon", "1").stderr


def quoted(sentence: str) -> list[str]:
    return re.findall(r"`([^`]+)`", sentence)


def listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def column(kind: str, **more: str) -> str:
    keys = {"name": '"c"', "kind": f'"{kind}"', **COLUMNS.get(kind, {}), **more}
    return "[[column]]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items())


def hint(text: str) -> str:
    found = re.search(r"^hint: (.*)$", refusal(text), re.MULTILINE)
    if not found:
        raise SystemExit("error: the program took a schema that it should refuse:\n" + text)
    return found[1]


def descriptions() -> dict[str, str]:
    """The sentence about each key at the head of a skeleton."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        path.write_text("c\n1\n")
        text = ask("schema", str(path)).stdout
    found = {}
    for names, sentence in re.findall(r"^#   ([a-z/]+)\s+(.*)$", text, re.MULTILINE):
        found.update((name, sentence.replace("|", "or")) for name in names.split("/"))
    return found


def schema_page() -> str:
    keys = quoted(hint(column("continuous", nonsense="1")).split("keys are")[1])
    kinds = quoted(hint(column("nonsense")))
    known = descriptions()
    missing = [key for key in keys if key not in {"name", *known}]
    if missing or set(kinds) != set(COLUMNS):
        raise SystemExit(f"error: the generator knows nothing of {missing or set(kinds) ^ set(COLUMNS)}")
    tables = hint("[nonsense]\nkey = 1\n")
    lines = [
        "# Keys of the schema",
        "",
        MADE,
        "[Writing a schema](../schema.md) explains them. Sentences are those of the skeleton that `sunprint schema`",
        "writes; which kinds have which keys was found by asking the program.",
        "",
        "## Tables",
        "",
        tables[0].upper() + tables[1:] + ".",
        "",
        "| table | keys |",
        "|---|---|",
        f"| `[dataset]` | {listed(quoted(hint(DATASET.format('nonsense'))))} |",
        f"| `[[column]]` | {listed(keys)} |",
        "| `[[constraint]]` | `rule` |",
        "",
        "## Keys of a column",
        "",
        "| key | says | continuous | integer | boolean | categorical | date | datetime |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for key in keys:
        cells = []
        for kind in COLUMNS:
            given = GOOD.get(key, COLUMNS[kind].get(key, "1"))
            if key in ("name", "kind") or key in COLUMNS[kind]:
                cells.append("needed")
            elif "must not have" in refusal(column(kind, **{key: given})):
                cells.append("–")
            else:
                cells.append("may")
        says = known.get(key, "the column's name in the header")
        lines.append(f"| `{key}` | {says} | {' | '.join(cells)} |")
    lines += ["", "## Words that a key takes", "", "What the program answers to a word that it does not know:", ""]
    for key, kind in (("kind", None), ("scale", "continuous"), ("missing", "integer"), ("role", "integer")):
        text = column("nonsense") if kind is None else column(kind, **{key: '"nonsense"'})
        lines.append(f"- `{key}`: {hint(text)}")
    lines.append(f"- `unit`: {hint(DATASET.format('unit'))}")
    lines.append(f"- `rule`: {hint(column('integer') + RULE)}")
    return "\n".join(lines) + "\n"


def pages() -> dict[Path, str]:
    """Every generated page."""
    return {PAGES / "commands.md": commands_page(), PAGES / "schema-keys.md": schema_page()}


def main() -> int:
    if not SUNPRINT.exists():
        print(f"error: {SUNPRINT} is missing", file=sys.stderr)
        print("hint: cargo build --release --package sunprint-cli", file=sys.stderr)
        return 1
    different = [path for path, text in pages().items() if not path.exists() or path.read_text() != text]
    if "--check" in sys.argv[1:]:
        for path in different:
            print(f"error: {path.relative_to(ROOT)} is not what the program says", file=sys.stderr)
            print("hint: run docs/generate_reference.py", file=sys.stderr)
        return 1 if different else 0
    PAGES.mkdir(exist_ok=True)
    for path, text in pages().items():
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
