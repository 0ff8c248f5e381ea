"""Writes the version of winops into the pages that show it.

usage: python -m release.pages
"""

from __future__ import annotations

import re
from pathlib import Path

from release.versions import ROOT, version

_NUMBER = r"\d+\.\d+\.\d+"
_PLACES = re.compile(
    # JARs and Maven coordinates; the wheel; lines of the doctor; the form for a bug.
    rf"(?P<before>winops(?:-spark)?_\d+\.\d+_2\.13(?:[-:]|\" % \")"
    rf"|winops-(?={_NUMBER}-py3)"
    rf"|^ok +(?:winops|JAR) +"
    rf"|placeholder: winops ){_NUMBER}",
    re.MULTILINE,
)


def pages() -> list[Path]:
    """Return the pages that can name the version; CHANGELOG.md names each one on purpose."""
    return [
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
        *sorted((ROOT / "docs").glob("**/*.md")),
        *sorted((ROOT / "deploy").glob("**/*.md")),
        *sorted((ROOT / ".github").glob("**/*.md")),
        *sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")),
    ]


def with_version(page: str, number: str) -> str:
    """Return the page with this version of winops in each place that names one."""
    return _PLACES.sub(lambda found: found["before"] + number, page)


if __name__ == "__main__":
    for page in pages():
        text = page.read_text()
        changed = with_version(text, version())
        if changed != text:
            page.write_text(changed)
            print(page.relative_to(ROOT))
