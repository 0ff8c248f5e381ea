"""The calls of winops that an OVER clause replaces."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from peers.peer import Job, SparkPeer
from winops import keep


def _over(trades: DataFrame, job: Job) -> DataFrame:
    kept = keep(
        trades.withWatermark(job.time, "0 seconds"),
        f"KEEP {job.size} ROWS PER ({job.key})",
        order_by=job.order,
        time=job.time,
    )
    return kept.withColumns(
        {"mean": F.avg("price"), "low": F.min("price"), "high": F.max("price")}
    )


KEPT = (SparkPeer(name="keep().withColumns", missing="", jobs=frozenset({"over"}), query=_over),)
