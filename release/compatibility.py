"""Writes the table of docs/compatibility.md from spark-versions.json.

usage: python -m release.compatibility
"""

from __future__ import annotations

import re

from release.versions import ROOT, SparkRelease, spark_releases

PAGE = ROOT / "docs" / "compatibility.md"
_HEAD = (
    "| Spark | Patch releases | Scala | JDK | Python | Delta Lake | Iceberg | State format |\n"
    "|---|---|---|---|---|---|---|---|\n"
)
_TABLE = re.compile(re.escape(_HEAD) + r"(?:\|.*\n)*")
_STATE = ROOT / "jvm/spark/src/main/scala/winops/spark/state/StateVersion.scala"


def python_versions() -> list[str]:
    """Return the versions of Python that the package declares."""
    text = (ROOT / "pyproject.toml").read_text()
    return re.findall(r'"Programming Language :: Python :: (3\.\d+)"', text)


def state_format() -> str:
    """Return the state format that is written and read."""
    found = re.search(r"val Current = (\d+)$", _STATE.read_text(), re.MULTILINE)
    assert found
    return found[1]


def _row(release: SparkRelease) -> str:
    cells = (
        release.minor,
        release.patches[0]
        if release.patches[0] == release.patches[1]
        else f"{release.patches[0]} to {release.patches[1]}",
        release.scala,
        ", ".join(map(str, release.java)),
        f"{release.python} to {python_versions()[-1]}",
        release.delta or "none yet",
        release.iceberg or "none yet",
        state_format(),
    )
    return f"| {' | '.join(cells)} |\n"


def table() -> str:
    """Return the table of versions that winops is built for."""
    return _HEAD + "".join(map(_row, spark_releases()))


def with_table(page: str) -> str:
    """Return the page with its table made anew."""
    return _TABLE.sub(lambda _: table(), page, count=1)


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text()))
