"""Many groups, and large groups, in heaps of 512 MB; each case is a process of its own.

Cases of windows have a million rows of 2 KB in one group.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.programs import output_of
from tests.support.transports import on_classic_spark

GROUPS = ("jump", "interval", "idle", "function", "flush", "twice")
# Windows by the kind of storage, and of order in which rows leave. Those of a line share a
# process and the source.
WINDOWS = (
    "keep,keep_slack,keep_every,keep_all,sliding,tumbling,length_batch",
    "sort,rank,unique,firstunique,retain_unique,expr,expr_batch",
    "intersection,union,sorted_batch,ext_timed,ext_timed_batch,time_and_sort",
    "keep_time,keep_every_time,timetolive,time_order,time_accum,within_every",
    "agg,agg_sorted,agg_distinct,with_columns,latest_of_groups,rows_of_groups",
)
# The contents at the end of the input, which a stream does not have.
ROWS = "rows"
# Over a table, they are Spark's own.
OVER = "over_sum,over_range,over_lag,over_lead,over_first"

CASES = [
    *(("groups.py", case) for case in GROUPS),
    *(("windows.py", cases, source) for source in ("stream", "table") for cases in WINDOWS),
    ("windows.py", ROWS, "table"),
    ("windows.py", OVER, "stream"),
]


@on_classic_spark
@pytest.mark.parametrize("program", CASES, ids=" ".join)
def test_a_small_heap_is_enough(
    program: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    script, *arguments = program
    output = output_of(Path(__file__).with_name(script), *arguments, timeout=1800)
    passed = [line for line in output.splitlines() if "passed, heap" in line]
    assert len(passed) == len(arguments[0].split(","))
    with capsys.disabled():
        print("", *passed, sep="\n")
