"""The project's own programs, run as a user runs them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

on_classic_spark = pytest.mark.skipif(
    os.environ.get("WINOPS_TRANSPORT") == "connect",
    reason="a program has a session of its own, on classic Spark",
)


def output_of(script: Path, *arguments: str) -> str:
    """Run a program to its end, which has to be a success, and give what it printed."""
    run = subprocess.run(
        [sys.executable, str(script), *arguments],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout
