"""The flights example, on a few days."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pandas as pd

from tests.support.paths import ROOT
from tests.support.programs import run_program
from tests.support.transports import on_classic_spark

SCRIPT = ROOT / "examples" / "flights.py"
PNG = b"\x89PNG\r\n\x1a\n"

pytestmark = on_classic_spark


def run(out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return run_program(SCRIPT, "--out", str(out), "--day", "2013-07-03", *options)


def committed(out: Path) -> dict[str, int]:
    return {
        commits.parent.name: len(list(commits.glob("[0-9]*")))
        for commits in out.glob("checkpoints/*/commits")
    }


def test_flights_checks_itself_and_reports(tmp_path: Path) -> None:
    options = ("--days", "3", "--files", "3")
    first = run(tmp_path, *options)
    assert first.returncode == 0, first.stdout + first.stderr
    assert "self-check passed" in first.stdout
    # Counted by hand from the data: departures from EWR, JFK and LGA from 08:01 to 09:00.
    assert [line.split() for line in first.stdout.splitlines() if line.startswith("09:00")] == [
        ["09:00", "23", "28", "24"]
    ]
    assert (tmp_path / "flights-2013-07-03.png").read_bytes().startswith(PNG)
    assert "airports  batch 3 of 3" in first.stderr

    # A second run finds no new files. An altered row then differs from the streams' input.
    batches = committed(tmp_path)
    file = tmp_path / "departures" / "data" / "0001.parquet"
    rows = pd.read_parquet(file)
    rows.loc[7, "dest"] = "XXX"
    rows.to_parquet(file, index=False, coerce_timestamps="us")
    second = run(tmp_path, *options)
    assert committed(tmp_path) == batches
    assert second.returncode == 1, second.stdout + second.stderr
    # The insert and the delete of that row, and nothing else.
    assert "self-check FAILED: airports: changes: 2 too many" in second.stderr
    assert "self-check FAILED: carriers: changes: 2 missing" in second.stderr
    assert second.stderr.count("self-check FAILED") == 4


def test_flights_on_the_hdfs_backed_state_store(tmp_path: Path) -> None:
    job = run(tmp_path, "--days", "1", "--files", "2", "--provider", "hdfs")
    assert job.returncode == 0, job.stdout + job.stderr
    assert "self-check passed" in job.stdout


def test_other_options_on_the_same_directory_are_refused(tmp_path: Path) -> None:
    (tmp_path / "departures").mkdir()
    (tmp_path / "departures" / "manifest.json").write_text("{}")
    refused = run(tmp_path, "--days", "1", "--files", "2")
    assert refused.returncode == 2
    assert "was prepared with {}" in refused.stderr
