"""The reason of each change: as an argument of Python, on tables and streams."""

from __future__ import annotations

import pytest
from pyspark.errors import PySparkTypeError
from pyspark.sql import SparkSession

from tests.support.replay import NewReplay, at
from winops import esper, keep, testing

SCHEMA = "seq long, symbol string, ts timestamp"


@pytest.mark.longer
def test_a_stream_and_a_table_give_the_same_reasons(replay: NewReplay) -> None:
    stream = replay(SCHEMA)
    rows = [(seq, "AB"[seq % 2], at(100 + 2 * seq)) for seq in range(8)]
    stream.add(rows[:3], rows[3:6], rows[6:])
    window = {"time": "ts", "order_by": "seq", "per": "symbol"}
    policy = esper("#length(2)#time(5 sec)")
    stream.run(keep(stream.rows(("ts", "0 seconds")), policy, **window).changes(reason=True))
    written = stream.written()
    table = keep(stream.table(), policy, **window).changes(reason=True)
    assert written.columns == table.columns
    assert written.columns[:5] == [
        "_change_type",
        "_change_time",
        "_change_step",
        "_change_seq",
        "_change_reason",
    ]
    assert {row["_change_reason"] for row in table.collect()} == {"arrived", "expired"}
    # The watermark has not passed the last row.
    testing.assert_same(written.where("seq < 5"), table.where("seq < 5"))


def test_reasons_are_off_by_default(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(1, "A"), (2, "A")], "seq long, symbol string")
    kept = keep(rows, "KEEP 1 ROW", order_by="seq")
    with_reasons = kept.changes(reason=True)
    assert "_change_reason" not in kept.changes().columns
    testing.assert_same(kept.changes(reason=False), with_reasons.drop("_change_reason"))
    with pytest.raises(PySparkTypeError, match="reason= takes True or False"):
        kept.changes(reason="yes")  # type: ignore[arg-type]
