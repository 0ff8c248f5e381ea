"""The JAR of another Spark version in a shell of Spark, without the Python package."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_QUERIES = """
    SELECT count(*) FROM range(3);
    SELECT * FROM keep(TABLE(SELECT 1 AS a), 'KEEP 1 ROW')
"""
_SETTINGS = {"spark.ui.enabled": "false", "spark.sql.catalogImplementation": "in-memory"}


def refusal_in_shell(jar: str, folder: Path, *options: str) -> str:
    """Return the line with which spark-sql refuses a call, after a query that works.

    The shell has ``folder`` as its current folder.
    """
    programs = Path(sys.executable).parent
    settings = [f"--conf={name}={value}" for name, value in _SETTINGS.items()]
    start = [programs / "spark-sql", "--master=local[1]", f"--jars={jar}", *settings, *options]
    shell = subprocess.run(
        [*start, "-e", _QUERIES],
        cwd=folder,
        # The shell uses the pyspark of the first Python.
        env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert shell.stdout == "3\n", shell.stdout + shell.stderr
    assert shell.returncode != 0
    lines = shell.stderr.splitlines()
    return next(line for line in lines if "[WINOPS_SPARK_VERSION]" in line)
