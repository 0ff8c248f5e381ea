"""Bills of materials: adds the JARs to that of the wheel, and checks the components of each one.

usage: python -m release.bom WHEEL BOM

Adds the JARs of the wheel to its bill of materials, each with its hash.
"""

from __future__ import annotations

import hashlib
import json
import sys
import zipfile
from pathlib import Path
from typing import Any

from release.versions import SparkRelease

# The wheel requires pyspark, which requires py4j.
_OF_WHEEL = {"pyspark", "py4j"}


def jars(wheel: Path) -> list[dict[str, Any]]:
    """Return a component for each JAR in the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        names = sorted(name for name in archive.namelist() if name.endswith(".jar"))
        return [
            {
                "bom-ref": name,
                "hashes": [
                    {"alg": "SHA-256", "content": hashlib.sha256(archive.read(name)).hexdigest()}
                ],
                "name": name,
                "type": "file",
            }
            for name in names
        ]


def add_jars(wheel: Path, bom: Path) -> None:
    """Add the JARs of the wheel to the components of its bill of materials."""
    content = json.loads(bom.read_text())
    content["components"] = [*content.get("components", []), *jars(wheel)]
    bom.write_text(json.dumps(content, indent=2, sort_keys=True) + "\n")


def wheel_problems(bom: Path, wheel: Path) -> list[str]:
    """Return missing and superfluous components of the bill of materials of the wheel."""
    listed = _names(bom)
    wanted = _OF_WHEEL | {jar["name"] for jar in jars(wheel)}
    return [f"{bom.name} lacks {name}" for name in sorted(wanted - listed)] + [
        f"{bom.name} has {name}, which the wheel does not require"
        for name in sorted(listed - wanted)
    ]


def jar_problems(bom: Path, release: SparkRelease) -> list[str]:
    """Return a problem if the bill of materials of a JAR lacks Spark.

    Without a version on Maven, sbt compiles against the JARs of PySpark, which have no
    coordinates, so that the bill cannot list Spark.
    """
    has_spark = any(name.startswith("spark-sql_") for name in _names(bom))
    if release.on_maven and not has_spark:
        return [f"{bom.name} lacks spark-sql"]
    return []


def _names(bom: Path) -> set[str]:
    return {part["name"] for part in json.loads(bom.read_text()).get("components", [])}


if __name__ == "__main__":
    add_jars(Path(sys.argv[1]), Path(sys.argv[2]))
