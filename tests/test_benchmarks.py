"""The benchmarks run, on a few rows; what they measure is not looked at."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.programs import output_of
from tests.support.transports import on_classic_spark

SCRIPT = Path(__file__).resolve().parents[1] / "benchmarks" / "run.py"


@on_classic_spark
def test_small_runs_write_ratios_and_versions(tmp_path: Path) -> None:
    output = output_of(
        SCRIPT,
        *("w1", "w5", "w5-size", "w8"),
        *("--rows", "5000", "--keys", "10", "--max-window", "100"),
        *("--warm-up", "1", "--batches", "2"),
        *("--data", str(tmp_path / "data"), "--out", str(tmp_path)),
    )
    results = json.loads((tmp_path / "results.json").read_text())
    names = [workload["workload"]["name"] for workload in results["workloads"]]
    assert names == ["w1", "w5", "w5-100", "w5-10000", "w5-1000000", "w8"]
    for workload in results["workloads"]:
        assert len(workload["rounds"]) == 2
        for one in workload["rounds"]:
            assert one["candidate"]["counted"]["rowsInserted"] == 5000
            out = 10_000 if workload["workload"]["question"] == "changes" else 5000
            assert one["candidate"]["rows_out"] == out
            assert one["floor"]["counted"] == {}
            assert one["floor"]["rows_out"] == 5000
        assert workload["ratio"] > 0
    assert results["versions"]["spark"].startswith("4.")
    assert (tmp_path / "results.md").read_text() in output
    family = [line for line in output.splitlines() if line.startswith("| w5-size |")]
    assert len(family) == 3
    assert family[0].endswith("| **1.00** |")
