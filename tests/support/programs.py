"""The project's own programs, run as a user runs them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def run_program(script: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program to its end."""
    return subprocess.run(
        [sys.executable, str(script), *arguments],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


def output_of(script: Path, *arguments: str) -> str:
    """Run a program to its end, which has to be a success, and give what it printed."""
    run = run_program(script, *arguments)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout
