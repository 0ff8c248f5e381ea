"""The code blocks of Markdown pages, and the cells of notebooks."""

from __future__ import annotations

import json
import re
import shlex
import warnings
from collections.abc import Mapping
from contextlib import redirect_stdout
from inspect import signature
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

_BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A block, its language, and its output if the page shows one."""

    language: str
    code: str
    printed: str | None


def all_blocks(page: Path) -> list[Block]:
    """Return the blocks of a page, in order; a text block after another one is its output.

    A cell of a notebook shows its output, or it has none.
    """
    if page.suffix == ".ipynb":
        return _cells(page)
    found: list[Block] = []
    for match in _BLOCK.finditer(page.read_text()):
        language, code = match[1], match[2]
        if language == "text" and found and found[-1].printed is None:
            found[-1] = found[-1]._replace(printed=code)
        else:
            found.append(Block(language, code, None))
    return found


def blocks(page: Path) -> list[Block]:
    """Return the blocks of a page that Spark runs, in order."""
    return [block for block in all_blocks(page) if block.language in ("python", "sql")]


def commands(block: Block) -> list[list[str]]:
    """Return the words of each command of a shell block, without its comments."""
    lines = block.code.replace("\\\n", " ").splitlines()
    return [words for line in lines if (words := shlex.split(line, comments=True))]


def check_blocks(page: Path, names: Mapping[str, Any]) -> int:
    """Run the blocks of a page, compare what they print, and return their number.

    `names` are the variables that the first block finds, among them `spark`. The tests that a
    block defines run after it, as pytest runs them.
    """
    variables = dict(names)
    found = blocks(page)
    for block in found:
        output = StringIO()
        with warnings.catch_warnings(), redirect_stdout(output):
            # The session already exists and accepts no static settings.
            warnings.simplefilter("ignore", UserWarning)
            if block.language == "sql":
                variables["spark"].sql(block.code).collect()
            else:
                exec(compile(block.code, str(page), "exec"), variables)
                for name in re.findall(r"^def (test_\w+)", block.code, re.MULTILINE):
                    test = variables[name]
                    test(*(variables[fixture] for fixture in signature(test).parameters))
        if block.printed is not None:
            printed = output.getvalue()
            assert printed == block.printed, f"{block.code}\nprinted:\n{printed}"
    return len(found)


def _cells(notebook: Path) -> list[Block]:
    cells = [
        cell for cell in json.loads(notebook.read_text())["cells"] if cell["cell_type"] == "code"
    ]
    return [
        Block(
            "python",
            "".join(cell["source"]),
            # Pictures are shown and not compared.
            "".join("".join(output.get("text", [])) for output in cell["outputs"]),
        )
        for cell in cells
    ]
