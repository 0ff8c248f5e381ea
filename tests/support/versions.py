"""The version of Spark that the tests run with."""

from __future__ import annotations

import json

import pyspark

from tests.support.paths import ROOT

MINOR = ".".join(pyspark.__version__.split(".")[:2])
"""The minor version, such as ``4.1``, of which JARs are named."""

SPARK = tuple(int(part) for part in MINOR.split("."))
"""The same for comparisons."""

SUPPORTED = [
    version["minor"] for version in json.loads((ROOT / "spark-versions.json").read_text())
]
"""All minor versions that winops supports."""
