"""Prints what spark-versions.json says, for the Makefile.

usage: spark_versions.py minors | default | FIELD MINOR

``minors`` are all minor versions, ``default`` is the one that is built if none is named, and
``FIELD MINOR`` is one field of one version, with a space between the values of a list.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

FILE = Path(__file__).resolve().parents[1] / "spark-versions.json"


def versions() -> dict[str, dict[str, Any]]:
    """Return the fields of each minor version, by minor version."""
    return {version["minor"]: version for version in json.loads(FILE.read_text())}


def main(arguments: list[str]) -> str:
    known = versions()
    if arguments == ["minors"]:
        return " ".join(known)
    if arguments == ["default"]:
        return next(minor for minor, version in known.items() if version["default"])
    field, minor = arguments
    if minor not in known:
        sys.exit(f"Spark {minor}: write one of {', '.join(known)}, as in {FILE.name}.")
    value = known[minor][field]
    return " ".join(map(str, value)) if isinstance(value, list) else str(value or "")


if __name__ == "__main__":
    print(main(sys.argv[1:]))
