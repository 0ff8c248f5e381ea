"""A driver that runs one query after the other, as the lines on its standard input say.

    python -m tests.faults.driver SETTINGS

It answers with lines on its standard output, each an event in JSON, and ends with its input.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from tests.faults.jobs import JOBS, ROWS
from winops import configure

# JSON's own format of a timestamp ends with milliseconds.
MICROS = {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"}
POLL_SECONDS = 0.02
# Spark 4.1 with a Kafka source stops so, once, after the first batch that it does again.
KAFKA_METRICS = "NullPointerException in KafkaMicroBatchStream$.metrics"
_said = threading.Lock()


def say(event: str, **facts: object) -> None:
    """Tell the campaign."""
    with _said:
        print(json.dumps({"event": event, **facts}), flush=True)


def causes(query: StreamingQuery) -> list[str]:
    """Name what a query died of, outermost first: error conditions, or classes without one.

    Of what any code may throw, such as a NullPointerException, the place is named too.
    """
    failure = query._jsq.exception()
    names = []
    cause = failure.get() if failure.isDefined() else None
    while cause is not None:
        try:
            name = cause.getCondition()
        except Py4JError:
            name = None
        names.append(name or _class_and_place(cause))
        cause = cause.getCause()
    return names


def _class_and_place(cause: Any) -> str:
    name = cause.getClass().getSimpleName()
    if not cause.getClass().getName().startswith("java.lang."):
        return str(name)
    for frame in cause.getStackTrace():
        if not frame.getClassName().startswith(("java.", "scala.")):
            within = frame.getClassName().rpartition(".")[2]
            return f"{name} in {within}.{frame.getMethodName()}"
    return str(name)


class Driver:
    """A session and at most one query."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._query: StreamingQuery | None = None
        self._to_stop = False
        self._starts = threading.Lock()

    def start(self, run: Mapping[str, Any]) -> None:
        """Start the query of a run; its end is told by an event."""
        with self._starts:
            self._to_stop = False
            self._start(run)

    def stop(self) -> None:
        """Stop the query, which then ends as any other."""
        with self._starts:
            self._to_stop = True
            if self._query is not None:
                self._query.stop()

    def _start(self, run: Mapping[str, Any]) -> None:
        for name, value in run["settings"].items():
            self._spark.conf.set(name, value)
        facts = JOBS[run["job"]].facts(self._stream(run))
        if run["sink"] == "kafka":
            facts = facts.select(F.col("k").alias("key"), F.to_json(F.struct("*")).alias("value"))
        writer = (
            facts.writeStream.format(run["sink"])
            .options(**run["sink_options"])
            .option("checkpointLocation", run["checkpoint"])
            .trigger(availableNow=True)
        )
        self._query = writer.start()
        threading.Thread(target=self._await, args=(self._query, run), daemon=True).start()

    def table(self, job: str, source: str, to: str) -> None:
        """Answer a job of a table."""
        rows = self._spark.read.schema(ROWS).parquet(source)
        JOBS[job].facts(rows).coalesce(1).write.parquet(to)
        say("answered")

    def fill(self, source: str, servers: str, topic: str) -> None:
        """Write a table's rows to a topic, in their order."""
        rows = (
            self._spark.read.schema(ROWS).parquet(source).coalesce(1).sortWithinPartitions("seq")
        )
        (
            rows.select(F.to_json(F.struct("*"), MICROS).alias("value"))
            .write.format("kafka")
            .option("kafka.bootstrap.servers", servers)
            .option("topic", topic)
            .save()
        )
        say("answered")

    def dump(self, servers: str, topic: str, to: str) -> None:
        """Write what a topic holds to files."""
        records = (
            self._spark.read.format("kafka")
            .option("kafka.bootstrap.servers", servers)
            .option("subscribe", topic)
            .load()
        )
        facts = F.from_json(F.col("value").cast("string"), "k string, position long, fact string")
        records.select(facts.alias("r")).select("r.*").coalesce(1).write.parquet(to)
        say("answered")

    def _stream(self, run: Mapping[str, Any]) -> DataFrame:
        reader = self._spark.readStream.options(**run["source_options"])
        if run["source"] == "kafka":
            value = F.col("value").cast("string")
            records = reader.format("kafka").load()
            return records.select(F.from_json(value, ROWS, MICROS).alias("r")).select("r.*")
        return reader.schema(ROWS).parquet(run["input"])

    def _await(self, query: StreamingQuery, run: Mapping[str, Any]) -> None:
        while query.isActive:
            time.sleep(POLL_SECONDS)
        names = causes(query)
        if names and names[-1] == KAFKA_METRICS:
            names = []
            with self._starts:
                if not self._to_stop:
                    say("resumed")
                    self._start(run)
                    return
        if names:
            say("failed", names=names)
        else:
            say("ended")


def main() -> int:
    """Obey until there is nothing more to read."""
    settings = json.loads(sys.argv[1])
    builder = configure(SparkSession.builder.appName("faults").config(map=settings))
    spark = builder.getOrCreate()
    driver = Driver(spark)
    commands: dict[str, Callable[..., None]] = {
        name: getattr(driver, name) for name in ("start", "stop", "table", "fill", "dump")
    }
    say("ready")
    for line in sys.stdin:
        command = json.loads(line)
        do = command.pop("do")
        try:
            commands[do](**command)
        except Exception as error:  # noqa: BLE001 - the campaign has to hear of each
            if do == "start":
                say("failed", names=[type(error).__name__])
            else:
                say("refused", error=f"{type(error).__name__}: {error}"[:500])
    return 0


if __name__ == "__main__":
    sys.exit(main())
