"""The same windows over a table, in Spark's own SQL, without a stream."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from peers.peer import Job


def last_rows(trades: DataFrame, job: Job) -> DataFrame:
    """Return the last `job.size` rows of each key, which are held at the end."""
    newest_first = Window.partitionBy(job.key).orderBy(F.desc(job.order))
    return (
        trades.withColumn("place", F.row_number().over(newest_first))
        .where(F.col("place") <= job.size)
        .drop("place")
    )


def aggregates(trades: DataFrame, job: Job) -> DataFrame:
    """Return each row with the aggregates of the last `job.size` rows of its key."""
    recent = Window.partitionBy(job.key).orderBy(job.order).rowsBetween(1 - job.size, 0)
    return trades.withColumns(
        {
            "mean": F.avg("price").over(recent),
            "low": F.min("price").over(recent),
            "high": F.max("price").over(recent),
        }
    )
