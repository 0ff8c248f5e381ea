"""State machines written by hand in Scala, called through py4j."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame

from peers.peer import LATE_ROWS, ROOT, Job, SparkPeer

# Must be among `spark.jars` of the session.
SPARK_JAR = ROOT / "target" / "jars" / "winops-peers-spark.jar"


def _query(layout: str) -> Callable[[DataFrame, Job], DataFrame]:
    def query(trades: DataFrame, job: Job) -> DataFrame:
        spark = trades.sparkSession
        peer = getattr(spark._jvm.winops.peers.SparkPeers, layout)()  # type: ignore[union-attr]
        return DataFrame(getattr(peer, job.kind)(trades._jdf, job.size), spark)

    return query


SCALA = (
    SparkPeer(
        name="transformWithState, ListState",
        missing=LATE_ROWS,
        longest=10_000,
        needs=SPARK_JAR,
        query=_query("listState"),
    ),
    SparkPeer(
        name="transformWithState, packed",
        missing=LATE_ROWS,
        needs=SPARK_JAR,
        query=_query("packed"),
    ),
    SparkPeer(
        name="transformWithState, MapState as a ring",
        missing=LATE_ROWS,
        jobs=frozenset({"rows"}),
        needs=SPARK_JAR,
        query=_query("ring"),
    ),
    SparkPeer(
        name="flatMapGroupsWithState",
        missing=LATE_ROWS,
        longest=10_000,
        needs=SPARK_JAR,
        query=_query("groupState"),
    ),
)
