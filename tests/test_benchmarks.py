"""The benchmarks run, on a few rows; what they measure is not looked at."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.programs import output_of
from tests.support.transports import on_classic_spark

SCRIPT = Path(__file__).resolve().parents[1] / "benchmarks" / "run.py"


@on_classic_spark
def test_a_small_run_writes_ratios_and_versions(tmp_path: Path) -> None:
    output = output_of(
        SCRIPT,
        *("--rows", "5000", "--keys", "10", "--warm-up", "1", "--batches", "2"),
        *("--data", str(tmp_path / "data"), "--out", str(tmp_path)),
    )
    results = json.loads((tmp_path / "results.json").read_text())
    for workload in results["workloads"]:
        assert len(workload["rounds"]) == 2
        for one in workload["rounds"]:
            assert one["candidate"]["counted"]["rowsInserted"] == 5000
            assert one["floor"]["counted"] == {}
        assert workload["ratio"] > 0
    assert results["versions"]["spark"].startswith("4.")
    assert (tmp_path / "results.md").read_text() in output
