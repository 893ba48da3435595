"""Types against the binary, and every example: docstrings, docs/python.md, both run and checked."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import os
import pkgutil
import re
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

import dask
import polars as pl

import sunprint
from support import ROOT, InFolder

DOCUMENT = ROOT / "docs" / "python.md"
CONFIG = ROOT / "crates" / "sunprint-py" / "pyproject.toml"


def people() -> sunprint.Schema:
    return sunprint.Schema.build("people", sunprint.integer("age", 0, 120), sunprint.continuous("weight", 0, 250))


def people_frame(rows: int = 1000) -> pl.DataFrame:
    return pl.DataFrame({"age": [20 + i * 7 % 60 for i in range(rows)], "weight": [50.0 + i * 13 % 70 for i in range(rows)]})


def checked(*words: str | Path) -> str:
    """What a tool of mypy says; nothing if all is well."""
    done = subprocess.run([sys.executable, "-m", *map(str, words)], capture_output=True, text=True, cwd=CONFIG.parent)
    return "" if done.returncode == 0 else done.stdout + done.stderr


class Types(InFolder):
    def test_the_stubs_are_those_of_the_binary(self) -> None:
        self.assertEqual(checked("mypy.stubtest", "sunprint._native", "--mypy-config-file", CONFIG), "")

    def test_the_shell_is_strictly_typed(self) -> None:
        self.assertEqual(checked("mypy", "--strict", "--config-file", CONFIG, "python/sunprint"), "")
        self.assertTrue((Path(sunprint.__file__).parent / "py.typed").exists())

    def test_the_examples_are_strictly_typed(self) -> None:
        given = "from typing import Any\nimport polars\nframe: polars.DataFrame\nparts: list[polars.DataFrame]\nchunks: list[Any]\n"
        example = self.folder / "example.py"
        example.write_text(given + "\n".join(examples()))
        words = ("mypy", "--strict", "--config-file", CONFIG, example)
        # The conversation is shown three times, each with a fit of its own.
        self.assertEqual(checked(*words, "--allow-redefinition"), "")
        example.write_text(given + "sunprint.Synthesizer(7)\nimport sunprint\n")
        self.assertNotEqual(checked(*words), "", "the control is caught")


def examples() -> list[str]:
    """The code of docs/python.md that is meant to run."""
    return re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), flags=re.DOTALL)


class Examples(InFolder):
    def test_the_document(self) -> None:
        found = examples()
        self.assertGreaterEqual(len(found), 5)
        known = sunprint.Schema.build(
            "people",
            sunprint.integer("age", 0, 120),
            sunprint.continuous("weight", 0, 250),
            sunprint.categorical("smokes", ["no", "yes"], role="label"),
        )
        frame = people_frame().with_columns(smokes=pl.Series(["no", "yes"] * 500))
        (self.folder / "people.toml").write_text(known.to_toml())
        parts = [frame[:300], frame[300:]]
        chunks = [dask.delayed(part) for part in parts]
        names: dict[str, Any] = {"frame": frame, "parts": parts, "chunks": chunks}
        with contextlib.chdir(self.folder), contextlib.redirect_stdout(io.StringIO()) as said:
            for code in found:
                exec(compile(code, str(DOCUMENT), "exec"), names)
        self.assertIn("This release is differentially private with ε = 1", said.getvalue())
        self.assertEqual(names["synthetic"].height, 100_000)
        self.assertIsInstance(names["model"], sunprint.Model)
        self.assertEqual(names["distance"], 1.0)
        self.assertTrue((self.folder / "people.sunprint").exists())

    def test_docstrings(self) -> None:
        frame = people_frame()
        model = sunprint.Synthesizer(people(), epsilon=1, ledger="none").fit(frame).model_
        rows = sunprint.Model.load(self._saved(model))
        names = {"sunprint": sunprint, "schema": people(), "frame": frame, "parts": [frame[:1], frame[1:]], "model": rows}
        tried = 0
        for info in pkgutil.iter_modules(sunprint.__path__):
            module = importlib.import_module(f"sunprint.{info.name}")
            if info.name == "_native":
                continue
            outcome = doctest.testmod(module, extraglobs=names, optionflags=doctest.NORMALIZE_WHITESPACE)
            self.assertEqual(outcome.failed, 0, info.name)
            tried += outcome.attempted
        self.assertGreaterEqual(tried, 15)

    def _saved(self, model: sunprint.Model) -> Path:
        path = self.folder / "people.sunprint"
        model.save(path)
        return path

    def test_everything_public_is_described(self) -> None:
        for name in sunprint.__all__:
            thing = getattr(sunprint, name)
            if name == "__version__":
                continue
            self.assertTrue(thing.__doc__, name)
            if isinstance(thing, type) and thing.__module__.startswith("sunprint."):
                for member, value in vars(thing).items():
                    if not member.startswith("_") and (callable(value) or isinstance(value, property | classmethod)):
                        self.assertTrue(value.__doc__, f"{name}.{member}")
        self.assertIn("secret", (sunprint.Tally.__doc__ or "").lower())
        self.assertEqual(os.environ["SUNPRINT_LEDGER"], "none")


if __name__ == "__main__":
    unittest.main()
