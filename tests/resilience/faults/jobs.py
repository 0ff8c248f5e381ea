"""The windows under test, with the output columns to compare."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from winops import esper, keep

ROWS = "k string, seq long, price int, ts timestamp"
# The group whose rows only advance the time of the others.
HEARTBEAT = "heartbeat"
INTERVAL_MILLIS = 3_000
# Variants of a query: as it is, and with another input column.
AS_IT_IS = "as it is"
WITH_COLUMN = "with another column"
# Columns that variants have beside those to compare.
_OF_VARIANTS = ("further", "low")


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
    # Other queries with the same facts, of which a restart may be any.
    others: Mapping[str, Callable[[DataFrame], DataFrame]] = field(default_factory=dict)

    @property
    def variants(self) -> tuple[str, ...]:
        """The variants of the query, all of which have the same facts."""
        return (AS_IT_IS,) if self.name == CONTROL else (AS_IT_IS, WITH_COLUMN, *self.others)

    @property
    def takes_history(self) -> bool:
        """True if the facts do not depend on how a table orders its rows, nor on the clock."""
        return self.name != CONTROL and not (self.in_source_order or self.by_batch_time)

    def facts(self, rows: DataFrame, variant: str = AS_IT_IS) -> DataFrame:
        """Return the query's rows as text, with their group and their position in it."""
        if self.timed and self.in_source_order:
            rows = rows.withColumn("ts", F.date_trunc("minute", "ts"))
        if variant == WITH_COLUMN:
            rows = rows.withColumn("further", F.col("seq") * 2)
        query = self.others.get(variant, self.query)
        output = query(rows.withWatermark("ts", "0 seconds") if self.timed else rows)
        hidden = set(_OF_VARIANTS)
        if not (self.timed or self.by_batch_time):
            hidden.add("_change_time")
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


def _sort(rows: DataFrame, text: str) -> DataFrame:
    kept = keep(rows, esper(text), per="k", order_by="seq", on_change="carry")
    return kept.changes()


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
            lambda rows: _sort(rows, "#sort(6, price, seq)"),
            # Another window for winops, whose rows are the same, because no two seq are equal.
            others={"carried": lambda rows: _sort(rows, "#sort(6, price, seq, price)")},
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
            others={
                "with another aggregate": lambda rows: keep(
                    rows, "KEEP 300 ROWS PER (k)", order_by="seq"
                ).withColumns(
                    {"low": F.min("price"), "mean": F.avg("price"), "top": F.max("price")}
                )
            },
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
