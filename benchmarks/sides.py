"""Running queries that receive the same micro-batches in turns."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import StreamingQuery

from data import deliver
from peers import Job, ProcessPeer, SparkPeer
from winops import keep
from workloads import Workload

# Sorting inside partitions is sound on a stream, but Spark's check refuses every sort.
_CHECK = "spark.sql.streaming.unsupportedOperationCheck"
_COUNTS = "counts"
# The metrics of the operator that are added up over the micro-batches of a round.
COUNTED_METRICS = (
    "rowsInserted",
    "rowsDeleted",
    "stateEntriesRead",
    "stateBytesRead",
    "stateEntriesWritten",
    "stateBytesWritten",
)


@dataclass(frozen=True)
class Times:
    """The duration of one micro-batch in milliseconds, with its output rows and counters.

    Attributes
    ----------
    changelog_bytes
        The length of the changelogs that Spark's state stores wrote; 0 without a store.
    """

    add_batch: float
    whole_trigger: float
    rows_out: int
    counted: dict[str, int]
    changelog_bytes: int = 0


@dataclass(frozen=True)
class Counts:
    """The inserts and deletes of a micro-batch; rows with aggregates count as inserts."""

    inserted: int
    deleted: int


class Side(Protocol):
    """A query or process that processes one micro-batch at a time."""

    name: str

    def take(self, path: Path, rows: int) -> Times:
        """Pass a micro-batch of `rows` rows, wait for its output, and return the duration."""

    def count(self, path: Path, rows: int) -> Counts:
        """Pass a micro-batch and count its output; the time is not measured."""

    def stop(self) -> None:
        """Stop the side and remove its files."""


def winops_query(stream: DataFrame, workload: Workload) -> DataFrame:
    """Return the query of winops."""
    timed = {"time": workload.time, "apply": workload.apply} if workload.time else {}
    if workload.time:
        stream = stream.withWatermark(workload.time, workload.delay)
    if workload.over:
        return stream.selectExpr("*", *workload.over)
    kept: Any = keep(stream, workload.policy, order_by=list(workload.source.order), **timed)
    return workload.question.answer(kept)


def floor_query(stream: DataFrame, workload: Workload) -> DataFrame:
    """Return the query of the floor."""
    source = workload.source
    return workload.floor.query(stream, source.key, source.order, workload.partitions)


def counted(answer: DataFrame) -> DataFrame:
    """Make a query count its inserts and deletes."""
    kinds = [name for name in ("_change_type", "kind") if name in answer.columns]
    is_delete = F.col(kinds[0]) == "delete" if kinds else F.lit(False)
    return answer.observe(
        _COUNTS,
        F.count_if(~is_delete).alias("inserted"),
        F.count_if(is_delete).alias("deleted"),
    )


class QuerySide:
    """A Spark streaming query that keeps running.

    Attributes
    ----------
    source
        The folder of its micro-batches.
    checkpoint
        The folder of its checkpoint.
    """

    def __init__(
        self,
        name: str,
        spark: SparkSession,
        workload: Workload,
        work: Path,
        source: Path | None = None,
    ) -> None:
        self.name = name
        self._folder = work / name
        # A copy of a checkpoint reads the folder that its files are in.
        self.source = source or self._folder / "source"
        self.source.mkdir(parents=True, exist_ok=True)
        self._query: StreamingQuery | None = None
        self._last_batch = -1
        self._counts_changes = False
        self._state: dict[str, int] = {}
        self._spark = spark
        self._workload = workload
        self.checkpoint = self._folder / "checkpoint"

    def take(self, path: Path, rows: int) -> Times:
        """Pass a micro-batch of `rows` rows, wait for its output, and return the duration.

        Raises
        ------
        RuntimeError
            The rows did not arrive as one micro-batch.
        """
        batches = self._run(path, rows)
        # A batch without rows may follow to advance time; its duration is included.
        counted: dict[str, int] = {}
        for each in batches:
            for operator in each["stateOperators"]:
                for metric in COUNTED_METRICS:
                    more = dict(operator["customMetrics"]).get(metric, 0)
                    counted[metric] = counted.get(metric, 0) + more
                self._state = dict(operator["customMetrics"])
                self._state["memoryUsedBytes"] = operator["memoryUsedBytes"]
        return Times(
            sum(each["durationMs"]["addBatch"] for each in batches),
            sum(each["durationMs"]["triggerExecution"] for each in batches),
            sum(each["sink"]["numOutputRows"] for each in batches),
            counted,
            self._changelog_bytes([each["batchId"] for each in batches]),
        )

    def _changelog_bytes(self, batches: Sequence[int]) -> int:
        """Add up the changelogs of micro-batches: batch n writes version n + 1 of each store."""
        names = {f"{batch + 1}.changelog" for batch in batches}
        written = self.checkpoint.glob("state/**/*.changelog")
        return sum(path.stat().st_size for path in written if path.name in names)

    def count(self, path: Path, rows: int) -> Counts:
        """Pass a micro-batch and count its output.

        The query restarts from its checkpoint with counters, which cost time.
        """
        if not self._counts_changes:
            self._counts_changes = True
            self.pause()
        observed = [each["observedMetrics"].get(_COUNTS) for each in self._run(path, rows)]
        return Counts(
            sum(one["inserted"] for one in observed if one),
            sum(one["deleted"] for one in observed if one),
        )

    def _run(self, path: Path, rows: int) -> list[Any]:
        """Run the query over a micro-batch; return the progress of all of its batches."""
        deliver(path, self.source)
        query = self._query or self._start(path)
        query.processAllAvailable()
        batches = [
            each
            for each in query.recentProgress
            if each["batchId"] > self._last_batch and "addBatch" in each["durationMs"]
        ]
        self._last_batch = max(each["batchId"] for each in batches)
        with_rows = [each for each in batches if each["numInputRows"] == rows]
        if len(with_rows) != 1 and rows:
            counts = [each["numInputRows"] for each in batches]
            raise RuntimeError(f"{self.name}: {rows:,} rows came as batches of {counts}")
        return batches

    def state_metric(self, name: str) -> int:
        """Return the latest value of a metric of the state store."""
        return self._state[name]

    def pause(self) -> None:
        """Stop the query; the next micro-batch starts it from its checkpoint."""
        if self._query is not None:
            self._query.stop()
        self._query = None

    def stop(self) -> None:
        """Stop the query and remove its files."""
        self.pause()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _answer(self, stream: DataFrame) -> tuple[DataFrame, str]:
        return winops_query(stream, self._workload), "append"

    def _start(self, example: Path) -> StreamingQuery:
        schema = self._spark.read.parquet(str(example)).schema
        stream = self._spark.readStream.schema(schema).parquet(str(self.source))
        answer, output_mode = self._answer(stream)
        if self._counts_changes:
            answer = counted(answer)
        self._query = (
            answer.writeStream.queryName(self.name)
            .format("noop")
            .outputMode(output_mode)
            .option("checkpointLocation", str(self.checkpoint))
            .start()
        )
        return self._query


class FloorSide(QuerySide):
    """The query that the others are compared with."""

    def _answer(self, stream: DataFrame) -> tuple[DataFrame, str]:
        return floor_query(stream, self._workload), self._workload.floor.output_mode

    def _start(self, example: Path) -> StreamingQuery:
        self._spark.conf.set(_CHECK, "false")
        try:
            return super()._start(example)
        finally:
            self._spark.conf.set(_CHECK, "true")


class PeerQuerySide(QuerySide):
    """The same job in Spark, by hand."""

    def __init__(
        self, peer: SparkPeer, job: Job, spark: SparkSession, workload: Workload, work: Path
    ) -> None:
        super().__init__(peer.name, spark, workload, work)
        self._peer = peer
        self._job = job

    def _answer(self, stream: DataFrame) -> tuple[DataFrame, str]:
        return self._peer.query(stream, self._job), "append"


class ProcessSide:
    """The same job in another engine, as a separate process."""

    def __init__(self, peer: ProcessPeer, job: Job, workload: Workload, heap: str) -> None:
        self.name = peer.name
        self._question = workload.question
        self._process = subprocess.Popen(
            peer.command(job, heap),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def take(self, path: Path, rows: int) -> Times:
        """Pass a micro-batch of `rows` rows, wait for its output, and return the duration.

        Raises
        ------
        RuntimeError
            The process has ended, or counted other rows.
        """
        report = self._run(path, rows)
        out = self._question.rows(report["inserted"], report["deleted"])
        return Times(report["millis"], report["millis"], out, {})

    def count(self, path: Path, rows: int) -> Counts:
        """Pass a micro-batch and count its output."""
        report = self._run(path, rows)
        return Counts(report["inserted"], report["deleted"])

    def _run(self, path: Path, rows: int) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(path.resolve(), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended with exit code {self._process.wait()}")
        report = json.loads(line)
        if report["rows"] != rows:
            raise RuntimeError(f"{self.name}: {report['rows']:,} of {rows:,} rows")
        return report

    def stop(self) -> None:
        """End the process."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self._process.kill()
