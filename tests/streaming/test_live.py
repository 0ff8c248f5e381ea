"""The tab "Windows" on a Spark Connect server."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

from tests.support.transports import on_classic_spark

pytestmark = on_classic_spark

PROGRAM = Path(__file__).with_name("live_program.py")


def test_a_connect_server_has_the_tab(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    foreign = ("SPARK_REMOTE", "SPARK_LOCAL_REMOTE", "SPARK_CONNECT_MODE_ENABLED")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(foreign)}
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(tmp_path), str(port)],
        env={**environment, "SPARK_TESTING": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = dict(line.split(": ", 1) for line in done.stdout.splitlines() if ": " in line)
    assert lines["page"] == "True"
    [query] = json.loads(lines["json"])["queries"]
    assert (query["name"], query["status"]) == ("numbers", "finished")
    [window] = query["windows"]
    assert window["description"] == "For each `odd`, keeps the newest 3 rows."
    assert window["metrics"]["rowsHeld"] == 6
    assert {group["group"]: group["rows"] for group in window["largestGroups"]} == {
        "0": 3,
        "1": 3,
    }
