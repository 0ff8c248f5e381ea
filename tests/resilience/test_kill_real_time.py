"""A small campaign in real-time mode; on Spark 4.3, the long one has a lane of this mode."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.resilience.faults.kinds import IN_REAL_TIME
from tests.resilience.real_time.lane import REAL_TIME_WINDOWS, facts_of
from tests.support.programs import output_of_module
from tests.support.transports import on_classic_spark
from tests.support.versions import SPARK


@on_classic_spark
@pytest.mark.longer
@pytest.mark.skipif(SPARK < (4, 3), reason="real-time mode needs Spark 4.3")
def test_three_kills_in_real_time_lose_no_row_and_alter_none(tmp_path: Path) -> None:
    output_of_module(
        "tests.resilience.faults.campaign",
        *("--faults", "3", "--lanes", "real-time", "--seed", "1", "--report", str(tmp_path)),
    )
    report = json.loads((tmp_path / "faults.json").read_text())
    assert report["good"]
    assert sum(count["faults"] for count in report["kinds"].values()) == 3
    assert report["kinds"][IN_REAL_TIME]["acted"] > 0
    assert report["rows"] > 0
    assert report["lost"] == report["doubled"] == report["wrong"] == 0


def test_windows_of_the_campaign_in_the_order_of_arrival_are_killed_in_real_time() -> None:
    assert REAL_TIME_WINDOWS == (
        "KEEP 7 ROWS SLACK 3 PER (k)",
        "#sort(6, price, seq)",
        "KEEP 300 ROWS PER (k), avg, max",
    )


def test_a_line_that_a_kill_has_cut_is_no_fact(tmp_path: Path) -> None:
    (tmp_path / "0-0").write_text('["a", 1, "x"]\n["a", 2, "y"]')
    assert facts_of([tmp_path / "0-0"]) == [("a", 1, "x")]
