"""The code blocks of Markdown pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A block, its language, and its output if the page shows one."""

    language: str
    code: str
    printed: str | None


def blocks(page: Path) -> list[Block]:
    """Return the runnable blocks of a page, in order; a text block after one is its output."""
    found = [(match[1], match[2]) for match in _BLOCK.finditer(page.read_text())]
    runs = []
    for i, (language, code) in enumerate(found):
        if language in ("python", "sql"):
            after = found[i + 1] if i + 1 < len(found) else ("", "")
            runs.append(Block(language, code, after[1] if after[0] == "text" else None))
    return runs
