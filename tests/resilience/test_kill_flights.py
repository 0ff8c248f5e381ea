"""A small run of kill_flights as a regression test; the long run is started by hand."""

from __future__ import annotations

from pathlib import Path

from tests.support.programs import output_of_module
from tests.support.transports import on_classic_spark


@on_classic_spark
def test_two_kills_do_not_alter_the_change_rows(tmp_path: Path) -> None:
    output = output_of_module(
        "tests.resilience.kill_flights",
        *("--kills", "2", "--seed", "3", "--work", str(tmp_path)),
        *("--day", "2013-07-03", "--days", "2", "--files", "6"),
    )
    assert "2 kills: " in output
    assert output.rstrip().endswith(" 0 failed")
