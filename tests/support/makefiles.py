"""The makefiles of the checkout."""

from __future__ import annotations

import re

from tests.support.paths import ROOT

TEXT = "\n".join(file.read_text() for file in (ROOT / "Makefile", *(ROOT / "make").glob("*.mk")))


def targets() -> set[str]:
    """Return the targets that `make help` lists."""
    return set(re.findall(r"^([a-z-]+):.*## ", TEXT, re.MULTILINE))


def variables() -> set[str]:
    """Return the variables that recipes use."""
    return set(re.findall(r"\$\((\w+)\)", TEXT))
