"""The versions of Spark in spark-versions.json, for make and for scripts.

usage: spark_versions.py minors | make | check-python

``minors`` prints the minor versions, and ``make`` variables of make, such as ``NEWEST_4.2``.
``check-python`` fails if the running Python is too old for a build, which installs each pyspark.
"""

from __future__ import annotations

import json
import platform
import sys
from pathlib import Path
from typing import Any

FILE = Path(__file__).resolve().parents[1] / "spark-versions.json"


def versions() -> dict[str, dict[str, Any]]:
    """Return the fields of each minor version, by minor version."""
    return {version["minor"]: version for version in json.loads(FILE.read_text())}


def variables() -> str:
    """Return the variables of make for all versions and for each one."""
    known = versions()
    default = next(minor for minor, version in known.items() if version["default"])
    lines = [f"MINORS := {' '.join(known)}", f"DEFAULT := {default}"]
    for minor, version in known.items():
        lines += [
            f"COMPILED_WITH_{minor} := {version['spark']}",
            f"PATCHES_{minor} := {' '.join(dict.fromkeys(version['patches']))}",
            f"NEWEST_{minor} := {version['patches'][-1]}",
            f"JAVA_{minor} := {' '.join(map(str, version['java']))}",
            f"MAVEN_{minor} := {' '.join(version['maven'] or [])}",
        ]
    return "\n".join(lines)


def build_python() -> str:
    """Return the oldest version of Python that takes each pyspark."""
    return max((version["python"] for version in versions().values()), key=_numbers)


def python_problem(running: tuple[int, ...]) -> str | None:
    """Return why this version of Python cannot build winops, or None if it can."""
    needed = build_python()
    if running >= _numbers(needed):
        return None
    minor = next(minor for minor, version in versions().items() if version["python"] == needed)
    return (
        f"Building winops needs Python {needed} or later, which pyspark {minor} requires; this "
        f"is Python {'.'.join(map(str, running))}. Name another one: make setup "
        f"PYTHON=python{needed}"
    )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def main(arguments: list[str]) -> str:
    if arguments == ["minors"]:
        return " ".join(versions())
    if arguments == ["make"]:
        return variables()
    if arguments == ["check-python"]:
        if problem := python_problem(tuple(sys.version_info[:2])):
            sys.exit(problem)
        return f"Python {platform.python_version()} can build winops."
    sys.exit(__doc__)


if __name__ == "__main__":
    print(main(sys.argv[1:]))
