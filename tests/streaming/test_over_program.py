"""Spark's own window functions over a stream need the JAR, and nothing else of winops."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.transports import on_classic_spark
from winops import jar_path

pytestmark = on_classic_spark

PROGRAM = Path(__file__).with_name("over_program.py")


def test_a_submitted_program_with_plain_pyspark(tmp_path: Path) -> None:
    foreign = (
        "PYTHONPATH",
        "SPARK_REMOTE",
        "SPARK_LOCAL_REMOTE",
        "SPARK_CONNECT_MODE_ENABLED",
        "PYSPARK_GATEWAY_",
    )
    environment = {k: v for k, v in os.environ.items() if not k.startswith(foreign)}
    submit = Path(sys.executable).with_name("spark-submit")
    done = subprocess.run(
        [str(submit), "--jars", jar_path(), str(PROGRAM), str(tmp_path)],
        env={**environment, "PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert "imported: []" in lines
    assert [line for line in lines if line.startswith("row ")] == [
        "row A 0 None 0.0",
        "row B 1 None 1.5",
        "row A 2 0.0 1.5",
        "row B 3 1.5 3.0",
        "row A 4 3.0 3.0",
        "row B 5 4.5 4.5",
        "row A 6 6.0 6.0",
        "row B 7 7.5 7.5",
    ]
