"""A small run of the kills in real-time mode; the long run is started by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.resilience.real_time.__main__ import REAL_TIME_WINDOWS, facts_of
from tests.support.programs import output_of_module
from tests.support.transports import on_classic_spark
from tests.support.versions import SPARK


@on_classic_spark
@pytest.mark.longer
@pytest.mark.skipif(SPARK < (4, 3), reason="real-time mode needs Spark 4.3")
def test_three_kills_in_real_time_lose_no_row_and_alter_none(tmp_path: Path) -> None:
    output = output_of_module(
        "tests.resilience.real_time",
        *("--kills", "3", "--seed", "1", "--work", str(tmp_path)),
    )
    assert "3 kills, " in output
    assert output.rstrip().endswith(" 0 failed")


def test_windows_of_the_campaign_in_the_order_of_arrival_are_killed_in_real_time() -> None:
    assert REAL_TIME_WINDOWS == (
        "KEEP 7 ROWS SLACK 3 PER (k)",
        "#sort(6, price, seq)",
        "KEEP 300 ROWS PER (k), avg, max",
    )


def test_a_line_that_a_kill_has_cut_is_no_fact(tmp_path: Path) -> None:
    (tmp_path / "0-0").write_text('["a", 1, "x"]\n["a", 2, "y"]')
    assert facts_of([tmp_path / "0-0"]) == [("a", 1, "x")]
