"""The golden checkpoints of the version to be released, which later versions must continue."""

from __future__ import annotations

from pathlib import Path

from release.compatibility import state_format
from release.versions import ROOT, SparkRelease, spark_releases, version

CHECKPOINTS = ROOT / "tests" / "data" / "checkpoints"


def folder(release: SparkRelease) -> Path:
    """Return the folder of the checkpoints of this version on a version of Spark."""
    of_spark = "" if release.default else f"-spark{release.minor}"
    return CHECKPOINTS / f"{version()}-format{state_format()}{of_spark}"


def problems() -> list[str]:
    """Return the folders that lack checkpoints, each with the command that makes these."""
    # Only this step needs pyspark.
    from tests.state.golden.cases import CASES, SPARK_CASES

    found = []
    for release in spark_releases():
        wanted = {case.name for case in (CASES if release.default else SPARK_CASES)}
        place = folder(release)
        made = {archive.name.partition(".")[0] for archive in place.glob("*.tar.xz")}
        if missing := wanted - made:
            command = "make golden" if release.default else f"make golden SPARK={release.minor}"
            found.append(f"{place.name} lacks {len(missing)} checkpoints: run `{command}`")
    return found
