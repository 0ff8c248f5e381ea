"""A small campaign as a regression test; `make faults` runs the long one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.resilience.faults.lives import JAR
from tests.support.programs import output_of_module
from tests.support.transports import on_classic_spark


@pytest.mark.longer
@on_classic_spark
@pytest.mark.skipif(not JAR.exists(), reason="`./sbt faults` has not been run")
def test_nothing_is_lost_or_doubled_by_twenty_faults(tmp_path: Path) -> None:
    output_of_module(
        "tests.resilience.faults.campaign",
        *("--faults", "20", "--faults-of-run", "10", "--lanes", "local", "--seed", "5"),
        "--no-kafka",
        *("--report", str(tmp_path)),
    )
    report = json.loads((tmp_path / "faults.json").read_text())
    assert report["good"]
    assert report["faults"] >= 20
    assert report["rows"] > 0
    assert report["lost"] == report["doubled"] == report["wrong"] == 0
    assert len(report["kinds"]) >= 4
