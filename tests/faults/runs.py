"""One query over one input, from its first start to its end, through all that goes wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from tests.faults.answers import (
    Answer,
    CommittedFiles,
    Fact,
    Verdict,
    batches,
    compare,
    read_files,
)
from tests.faults.batch_times import Arrivals, FileArrivals, TopicArrivals, replayed
from tests.faults.jobs import JOBS
from tests.faults.lives import Life
from tests.support.settings import (
    CHANGELOG,
    CHECKPOINT_FORMAT,
    HDFS,
    PARTITIONS,
    ROCKSDB,
    STATE_STORE,
)

WITH_CHANGELOG = "RocksDB, changelog"
# Spark 4.1.2 with a file sink cannot go on with it: a batch that the sink has already is not
# computed again, so that no task tells the id of its state, and an assertion fails.
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
    """What is run: a job, where its rows come from and go to, and where its state is."""

    job: str
    source: str
    sink: str
    store: str

    def __str__(self) -> str:
        return f"{self.job}; {self.source} to {self.sink}; {self.store}"


@dataclass(frozen=True)
class Input:
    """What all runs of a campaign read, and the answer of each job that a table can answer."""

    files: Path
    answers: Mapping[str, Answer]
    topic: str
    servers: str | None


class Run:
    """A plan in a folder of its own."""

    def __init__(self, plan: Plan, folder: Path, given: Input) -> None:
        self.plan = plan
        self.folder = folder
        self._given = given
        self._dumps = count()
        folder.mkdir(parents=True)
        self.checkpoint = folder / "checkpoint"
        self._output = folder / "output"
        self._committed = CommittedFiles(self._output)
        self._out_topic = f"{folder.parent.name}-{folder.name}"

    @property
    def by_batch_time(self) -> bool:
        """Whether the window goes by the time of batches."""
        return JOBS[self.plan.job].by_batch_time

    def command(self, partitions: int, *, read_tasks: int, hasten: bool) -> dict[str, Any]:
        """Give what a driver is told to start; partitions count at the first start only.

        A batch is read by `read_tasks` tasks or more, which also share a file.
        """
        batch = HASTE if hasten else 1
        files = 3 * batch if JOBS[self.plan.job].in_source_order else batch
        # What a window by batch time has to answer is told by the offsets of all its batches.
        retained = "1000" if self.by_batch_time else "10"
        command: dict[str, Any] = {
            "job": self.plan.job,
            "source": self.plan.source,
            "sink": self.plan.sink,
            "checkpoint": str(self.checkpoint),
            "input": str(self._given.files),
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
                "startingOffsets": "earliest",
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

    def last_commit(self) -> int:
        """Give the number of the last committed batch, -1 for none."""
        return max(batches(self.checkpoint / "commits"), default=-1)

    def last_in_sink(self) -> int:
        """Give the last batch in a file sink's log; -1 for none, and for another sink."""
        return max(batches(self._output / "_spark_metadata"), default=-1)

    def verdict(self, life: Life, *, ended: bool) -> Verdict:
        """Compare what has been written so far; a driver reads what is in topics."""
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
