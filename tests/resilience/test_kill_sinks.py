"""A small run of the kills of each sink; the run of 20 kills each is started by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.resilience.sinks.stores import STORES
from tests.support.programs import output_of_module
from tests.support.transports import on_classic_spark


@on_classic_spark
@pytest.mark.built
@pytest.mark.parametrize("store", STORES)
def test_kills_leave_the_window_in_the_store(store: str, tmp_path: Path) -> None:
    lacks = STORES[store].missing()
    if lacks:
        pytest.skip(lacks)
    output = output_of_module(
        "tests.resilience.sinks.kill",
        *("--kills", "2", "--seed", "5", "--only", store, "--work", str(tmp_path)),
    )
    assert output.rstrip().endswith(f"{store}: 2 kills, 0 wrong")
