"""The benchmarks run, on a few rows; what they measure is not looked at."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "benchmarks" / "run.py"


@pytest.mark.skipif(
    os.environ.get("WINOPS_TRANSPORT") == "connect",
    reason="the benchmarks are a program of their own and run on classic Spark",
)
def test_a_small_run_writes_ratios_and_versions(tmp_path: Path) -> None:
    run = subprocess.run(
        [
            sys.executable,
            str(SCRIPT),
            *("--rows", "5000", "--keys", "10", "--warm-up", "1", "--batches", "2"),
            *("--data", str(tmp_path / "data"), "--out", str(tmp_path)),
        ],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    results = json.loads((tmp_path / "results.json").read_text())
    for workload in results["workloads"]:
        assert len(workload["rounds"]) == 2
        for one in workload["rounds"]:
            assert one["candidate"]["counted"]["rowsInserted"] == 5000
            assert one["floor"]["counted"] == {}
        assert workload["ratio"] > 0
    assert results["versions"]["spark"].startswith("4.")
    assert (tmp_path / "results.md").read_text() in run.stdout
