"""The two queries that are compared: the operator, and the least that any such operator costs.

The floor reads the same micro-batches, brings the rows of a key together and puts them in order,
with all columns. That is what a query has to do before it can retain anything; what is above it
is the operator's own: windows, state store, answers.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

from data import deliver
from winops import keep
from workloads import Workload

# Sorting inside partitions is sound on a stream, but Spark's check refuses every sort.
_CHECK = "spark.sql.streaming.unsupportedOperationCheck"


def candidate(stream: DataFrame, workload: Workload) -> DataFrame:
    """What winops answers."""
    kept = keep(stream, workload.policy, order_by=list(workload.source.order))
    return workload.question.answer(kept)


def floor(stream: DataFrame, workload: Workload) -> DataFrame:
    """The same rows, shuffled by key and sorted by key and order."""
    key, order = workload.source.key, workload.source.order
    return stream.repartition(workload.partitions, key).sortWithinPartitions(key, *order)


SIDES: dict[str, Callable[[DataFrame, Workload], DataFrame]] = {
    "candidate": candidate,
    "floor": floor,
}


@dataclass(frozen=True)
class Times:
    """Duration of one micro-batch, in milliseconds, and what came out and was counted in it."""

    add_batch: int
    whole_trigger: int
    rows_out: int
    counted: dict[str, int]


class Side:
    """A running query that is given one micro-batch at a time."""

    def __init__(self, name: str, spark: SparkSession, workload: Workload, work: Path) -> None:
        self.name = name
        self._source = work / name / "source"
        self._source.mkdir(parents=True)
        self._query: StreamingQuery | None = None
        self._spark = spark
        self._workload = workload
        self._checkpoint = work / name / "checkpoint"

    def take(self, path: Path) -> Times:
        """Hand over a micro-batch, wait for it, and tell how long it took.

        Raises
        ------
        RuntimeError
            The rows did not arrive as one micro-batch.
        """
        deliver(path, self._source)
        query = self._query or self._start(path)
        query.processAllAvailable()
        progress = [each for each in query.recentProgress if each["numInputRows"]][-1]
        if progress["numInputRows"] != self._workload.rows:
            raise RuntimeError(f"{self.name}: a batch of {progress['numInputRows']:,} rows")
        operators = progress["stateOperators"]
        return Times(
            progress["durationMs"]["addBatch"],
            progress["durationMs"]["triggerExecution"],
            progress["sink"]["numOutputRows"],
            dict(operators[0]["customMetrics"]) if operators else {},
        )

    def stop(self) -> None:
        """End the query and remove its files."""
        if self._query is not None:
            self._query.stop()
        shutil.rmtree(self._source.parent)

    def _start(self, example: Path) -> StreamingQuery:
        schema = self._spark.read.parquet(str(example)).schema
        stream = self._spark.readStream.schema(schema).parquet(str(self._source))
        self._spark.conf.set(_CHECK, str(self.name != "floor").lower())
        self._query = (
            SIDES[self.name](stream, self._workload)
            .writeStream.queryName(self.name)
            .format("noop")
            .option("checkpointLocation", str(self._checkpoint))
            .start()
        )
        return self._query
