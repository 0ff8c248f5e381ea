"""A small run of kill_flights, so that it keeps working; the long one is started by hand."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("kill_flights.py")


@pytest.mark.skipif(
    os.environ.get("WINOPS_TRANSPORT") == "connect",
    reason="the example is a program of its own and runs on classic Spark",
)
def test_two_kills_leave_the_change_rows_as_they_are(tmp_path: Path) -> None:
    run = subprocess.run(
        [
            sys.executable,
            str(SCRIPT),
            *("--kills", "2", "--seed", "3", "--work", str(tmp_path)),
            *("--day", "2013-07-03", "--days", "2", "--files", "6"),
        ],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "2 kills: " in run.stdout
    assert run.stdout.rstrip().endswith(" 0 failed")
