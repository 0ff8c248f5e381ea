"""The windows under test, with the output columns to compare."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from winops import esper, keep

ROWS = "k string, seq long, price int, ts timestamp"
# The group whose rows only advance the time of the others.
HEARTBEAT = "heartbeat"
INTERVAL_MILLIS = 3_000


@dataclass(frozen=True)
class Job:
    """A window: its query, and the column that numbers the rows of a group."""

    name: str
    query: Callable[[DataFrame], DataFrame]
    position: str = "_change_seq"
    # Columns that define the scope of the numbers: the group, or one of its windows.
    numbered: tuple[str, ...] = ("k",)
    # Rows without their own event time have the time of the batch.
    timed: bool = False
    by_batch_time: bool = False
    # Rows of the same time are ordered by the source only; their times are cut to the minute.
    in_source_order: bool = False

    def facts(self, rows: DataFrame) -> DataFrame:
        """Return the query's rows as text, with their group and their position in it."""
        if self.timed and self.in_source_order:
            rows = rows.withColumn("ts", F.date_trunc("minute", "ts"))
        output = self.query(rows.withWatermark("ts", "0 seconds") if self.timed else rows)
        hidden = () if self.timed or self.by_batch_time else ("_change_time",)
        columns = [_shown(name) for name in output.columns if name not in hidden]
        return output.select(
            F.concat_ws("/", *(F.col(name).cast("string") for name in self.numbered)).alias("k"),
            F.col(self.position).alias("position"),
            F.to_json(F.struct(*columns)).alias("fact"),
        )


def _shown(name: str) -> Column:
    if name == "_change_time":
        return F.unix_millis(name).alias(name)
    return F.unix_micros(name).alias(name) if name == "ts" else F.col(name)


# A control without winops: a failure of Spark's own stateful operator is not due to winops.
CONTROL = "dropDuplicates of Spark"
JOBS = {
    job.name: job
    for job in (
        Job(CONTROL, lambda rows: rows.dropDuplicates(["k", "seq"]), position="seq"),
        Job(
            "KEEP 7 ROWS SLACK 3 PER (k)",
            lambda rows: keep(rows, "KEEP 7 ROWS SLACK 3 PER (k)", order_by="seq").changes(),
        ),
        Job(
            "KEEP 20 SECONDS PER (k)",
            lambda rows: keep(
                rows, "KEEP 20 SECONDS PER (k)", time="ts", order_by="seq"
            ).changes(),
            timed=True,
        ),
        Job(
            "#sort(6, price, seq)",
            lambda rows: keep(
                rows, esper("#sort(6, price, seq)"), per="k", order_by="seq"
            ).changes(),
        ),
        Job(
            "#time(25 sec)#unique(price)",
            lambda rows: keep(
                rows, esper("#time(25 sec)#unique(price)"), per="k", time="ts", order_by="seq"
            ).changes(),
            timed=True,
            numbered=("k", "price"),
        ),
        Job(
            "KEEP 300 ROWS PER (k), avg, max",
            lambda rows: keep(rows, "KEEP 300 ROWS PER (k)", order_by="seq").withColumns(
                {"mean": F.avg("price"), "top": F.max("price")}
            ),
            position="seq",
        ),
        Job(
            "KEEP 5 ROWS PER (k), as in the source",
            lambda rows: keep(rows, "KEEP 5 ROWS PER (k)").changes(),
            in_source_order=True,
        ),
        Job(
            "KEEP 9 ROWS PER (k), by the minute and as in the source",
            lambda rows: keep(rows, "KEEP 9 ROWS PER (k)", time="ts").changes(),
            timed=True,
            in_source_order=True,
        ),
        Job(
            "KEEP 3 SECONDS PER (k), by batch",
            lambda rows: keep(rows, "KEEP 3 SECONDS PER (k)", order_by="seq").changes(),
            by_batch_time=True,
        ),
    )
}
WINDOWS = tuple(name for name in JOBS if name != CONTROL)
