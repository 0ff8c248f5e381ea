"""A small load run: it leaves nothing behind, and the readings detect a leak."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.programs import output_of
from tests.support.transports import on_classic_spark

SCRIPT = Path(__file__).with_name("load.py")


@on_classic_spark
def test_a_small_load_leaves_nothing_behind(tmp_path: Path) -> None:
    output = output_of(
        SCRIPT,
        *("--batches", "80", "--rows", "8000", "--keys", "20", "--runs", "2"),
        *("--readings", "20", "--heap", "1g", "--work", str(tmp_path), "--out", str(tmp_path)),
    )
    found = json.loads((tmp_path / "load.json").read_text())
    assert found["passed"]
    assert found["rows"]["held at most"] >= 7_500
    assert found["rows"]["held at the end"] == 0
    assert (tmp_path / "load.md").read_text() in output
