"""The project's own programs, run as a user runs them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.support.paths import ROOT

# In seconds.
TIMEOUT = 900


def run_program(script: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program to its end."""
    return _run(str(script), *arguments)


def output_of(script: Path, *arguments: str, timeout: int = TIMEOUT) -> str:
    """Run a program to its end, which must be a success, and return its output."""
    return _output(_run(str(script), *arguments, timeout=timeout))


def output_of_module(module: str, *arguments: str) -> str:
    """Run a module of this checkout as a program to its end, which must be a success."""
    return _output(run_module(module, *arguments))


def run_module(
    module: str, *arguments: str, folder: Path = ROOT
) -> subprocess.CompletedProcess[str]:
    """Run a module of this checkout as a program to its end, in a folder."""
    return _run("-m", module, *arguments, folder=folder)


def _run(
    *command: str, folder: Path | None = None, timeout: int = TIMEOUT
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        cwd=folder,
    )


def _output(run: subprocess.CompletedProcess[str]) -> str:
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout
