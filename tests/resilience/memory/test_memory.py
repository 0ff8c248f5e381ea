"""Many groups, and large groups, in heaps of 512 MB; each case is a process of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.programs import output_of
from tests.support.transports import on_classic_spark

CASES = [
    *(("groups.py", case) for case in ("jump", "interval", "idle", "function", "flush", "twice")),
]


@on_classic_spark
@pytest.mark.parametrize("program", CASES, ids=" ".join)
def test_a_small_heap_is_enough(
    program: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    script, *arguments = program
    output = output_of(Path(__file__).with_name(script), *arguments)
    with capsys.disabled():
        print(f"\n{output.splitlines()[-1]}")
