"""One query over one input, from its first start to its end, across all faults."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from tests.resilience.faults.answers import (
    Answer,
    CommittedFiles,
    Fact,
    Verdict,
    batches,
    compare,
    read_files,
)
from tests.resilience.faults.batch_times import Arrivals, FileArrivals, TopicArrivals, replayed
from tests.resilience.faults.jobs import AS_IT_IS, JOBS
from tests.resilience.faults.lives import Life
from tests.support.settings import (
    CHANGELOG,
    CHECKPOINT_FORMAT,
    HDFS,
    PARTITIONS,
    ROCKSDB,
    STATE_STORE,
)

WITH_CHANGELOG = "RocksDB, changelog"
# Spark 4.1.2 with a file sink cannot restart with this format: it does not compute a batch again
# that is already in the sink, so no task reports its state id, and an assertion fails.
FORMAT_2 = "RocksDB, changelog, format 2"
STORES = {
    "RocksDB": {STATE_STORE: ROCKSDB, CHANGELOG: "false", CHECKPOINT_FORMAT: "1"},
    WITH_CHANGELOG: {STATE_STORE: ROCKSDB, CHANGELOG: "true", CHECKPOINT_FORMAT: "1"},
    FORMAT_2: {STATE_STORE: ROCKSDB, CHANGELOG: "true", CHECKPOINT_FORMAT: "2"},
    "HDFS-backed": {STATE_STORE: HDFS, CHANGELOG: "false", CHECKPOINT_FORMAT: "1"},
}
ROWS_OF_FILE = 50
HASTE = 40


@dataclass(frozen=True)
class Plan:
    """A job with its source, sink and state store."""

    job: str
    source: str
    sink: str
    store: str
    # True if the stream starts with a table of the first rows.
    history: bool = False

    def __str__(self) -> str:
        after = "; with_history" if self.history else ""
        return f"{self.job}; {self.source} to {self.sink}; {self.store}{after}"


@dataclass(frozen=True)
class Input:
    """The input of all runs of a campaign, with the answers that a table can compute.

    Attributes
    ----------
    history
        A folder with the files of the first rows.
    later
        A folder with the other files.
    """

    files: Path
    history: Path
    later: Path
    answers: Mapping[str, Answer]
    topic: str
    servers: str | None


class Run:
    """A plan that runs in its own folder."""

    def __init__(self, plan: Plan, folder: Path, given: Input) -> None:
        self.plan = plan
        self.folder = folder
        self._given = given
        self._dumps = count()
        self.variant = AS_IT_IS
        folder.mkdir(parents=True)
        self.checkpoint = folder / "checkpoint"
        self._output = folder / "output"
        self._committed = CommittedFiles(self._output)
        self._out_topic = f"{folder.parent.name}-{folder.name}"

    @property
    def by_batch_time(self) -> bool:
        """True if the window uses the time of batches."""
        return JOBS[self.plan.job].by_batch_time

    @property
    def other_variants(self) -> list[str]:
        """The variants of the query that a restart may change to."""
        return [v for v in JOBS[self.plan.job].variants if v != self.variant]

    def command(self, partitions: int, *, read_tasks: int, hasten: bool) -> dict[str, Any]:
        """Return the start command for a driver; `partitions` applies to the first start only.

        At least `read_tasks` tasks read a batch and share its files.
        """
        batch = HASTE if hasten else 1
        files = 3 * batch if JOBS[self.plan.job].in_source_order else batch
        # The answer of a processing-time window needs the offsets of all its batches.
        retained = "1000" if self.by_batch_time else "10"
        command: dict[str, Any] = {
            "job": self.plan.job,
            "variant": self.variant,
            "history": str(self._given.history) if self.plan.history else None,
            "source": self.plan.source,
            "sink": self.plan.sink,
            "checkpoint": str(self.checkpoint),
            "input": str(self._given.later if self.plan.history else self._given.files),
            "settings": {
                **STORES[self.plan.store],
                PARTITIONS: str(partitions),
                "spark.sql.files.minPartitionNum": str(read_tasks),
                "spark.sql.files.maxPartitionBytes": str(4_000 // read_tasks),
                "spark.sql.files.openCostInBytes": "0",
                "spark.sql.streaming.minBatchesToRetain": retained,
                "spark.sql.streaming.stateStore.minDeltasForSnapshot": "4",
            },
        }
        kafka = {"kafka.bootstrap.servers": self._given.servers}
        command["source_options"] = (
            {
                **kafka,
                "subscribe": self._given.topic,
                "startingOffsets": self._starting_offsets(),
                "maxOffsetsPerTrigger": str(batch * ROWS_OF_FILE),
            }
            if self.plan.source == "kafka"
            else {"maxFilesPerTrigger": str(files)}
        )
        command["sink_options"] = (
            {**kafka, "topic": self._out_topic}
            if self.plan.sink == "kafka"
            else {"path": str(self._output)}
        )
        return command

    def _starting_offsets(self) -> str:
        if not self.plan.history:
            return "earliest"
        rows = ROWS_OF_FILE * len(list(self._given.history.glob("*.parquet")))
        return json.dumps({self._given.topic: {"0": rows}})

    def last_commit(self) -> int:
        """Return the number of the last committed batch, or -1."""
        return max(batches(self.checkpoint / "commits"), default=-1)

    def last_in_sink(self) -> int:
        """Return the last batch in a file sink's log, or -1; other sinks always have -1."""
        return max(batches(self._output / "_spark_metadata"), default=-1)

    def verdict(self, life: Life, *, ended: bool) -> Verdict:
        """Compare the rows written so far; a driver reads the rows of topics."""
        facts = self._written(life)
        expected = self._given.answers.get(self.plan.job)
        if expected is None:
            expected = replayed(self.checkpoint, self._arrivals())
        return compare(expected, facts, ended=ended, at_least_once=self.plan.sink == "kafka")

    def _arrivals(self) -> Arrivals:
        if self.plan.source == "kafka":
            return TopicArrivals(self._given.files)
        return FileArrivals(self.checkpoint)

    def _written(self, life: Life) -> list[Fact]:
        if self.plan.sink == "kafka":
            to = self.folder / f"topic-{next(self._dumps)}"
            life.ask("dump", servers=self._given.servers, topic=self._out_topic, to=str(to))
            return read_files(to.glob("*.parquet"))
        return self._committed.facts()
