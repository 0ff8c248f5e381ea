"""The versions of Spark that winops supports, and the versions of Java that they run on."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

_NAME = "spark-versions.json"


def spark_versions() -> list[str]:
    """Return the minor versions of Spark that winops supports, oldest first."""
    return sorted(_lines(), key=lambda minor: [int(part) for part in minor.split(".")])


def oldest_java() -> int:
    """Return the oldest version of Java on which a supported version of Spark runs."""
    return min(java for minor in _lines() for java in java_versions(minor))


def java_versions(spark: str) -> list[int]:
    """Return the versions of Java for a minor version of Spark, or none if it is unknown."""
    line = _lines().get(spark)
    return sorted(line["java"]) if line else []


@cache
def _lines() -> dict[str, dict[str, Any]]:
    # A wheel has the file, which can also be read from within a zip file. A checkout has it in
    # its root.
    packaged = files("winops").joinpath(_NAME)
    checkout = Path(__file__).parents[2] / _NAME
    text = (packaged if packaged.is_file() else checkout).read_text(encoding="utf-8")
    return {line["minor"]: line for line in json.loads(text)}
