"""The version of Spark that the tests run with."""

from __future__ import annotations

import json

import pyspark

from tests.support.paths import ROOT

MINOR = ".".join(pyspark.__version__.split(".")[:2])
"""The minor version, such as ``4.1``, of which JARs are named."""

SPARK = tuple(int(part) for part in MINOR.split("."))
"""The same for comparisons."""

_LINES = json.loads((ROOT / "spark-versions.json").read_text())

SUPPORTED = [version["minor"] for version in _LINES]
"""All minor versions that winops supports."""

DEFAULT = next(version["minor"] for version in _LINES if version["default"])
"""The minor version that is built and tested if none is named."""
