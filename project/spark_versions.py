"""Prints what spark-versions.json says, for the Makefile.

usage: spark_versions.py minors | default | check-python | FIELD MINOR

``minors`` are all minor versions, ``default`` is the one that is built if none is named, and
``FIELD MINOR`` is one field of one version, with a space between the values of a list.
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
    known = versions()
    if arguments == ["minors"]:
        return " ".join(known)
    if arguments == ["default"]:
        return next(minor for minor, version in known.items() if version["default"])
    if arguments == ["check-python"]:
        if problem := python_problem(tuple(sys.version_info[:2])):
            sys.exit(problem)
        return f"Python {platform.python_version()} can build winops."
    field, minor = arguments
    if minor not in known:
        sys.exit(f"Spark {minor}: write one of {', '.join(known)}, as in {FILE.name}.")
    value = known[minor][field]
    return " ".join(map(str, value)) if isinstance(value, list) else str(value or "")


if __name__ == "__main__":
    print(main(sys.argv[1:]))
