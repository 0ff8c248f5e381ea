"""A driver that runs one query after another, controlled by lines on its standard input.

    python -m tests.resilience.faults.driver SETTINGS

It answers with lines on its standard output, each an event in JSON, and exits at end of input.
"""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors.exceptions.captured import CapturedException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from tests.resilience.faults.jobs import JOBS, ROWS
from tests.resilience.faults.stops import KAFKA_METRICS, Cause, chain
from winops import configure, with_history

# JSON's own timestamp format is limited to milliseconds.
MICROS = {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"}
POLL_SECONDS = 0.02
_said = threading.Lock()


def say(event: str, **facts: object) -> None:
    """Send an event to the campaign."""
    with _said:
        print(json.dumps({"event": event, **facts}), flush=True)


def causes(query: StreamingQuery) -> list[Cause]:
    """Return the causes of a query's failure, outermost first; empty if it did not fail."""
    failure = query._jsq.exception()
    return chain(failure.get()) if failure.isDefined() else []


def causes_of(error: Exception) -> list[Cause]:
    """Return the causes of a Python error."""
    if isinstance(error, CapturedException) and error._origin is not None:
        return chain(error._origin)
    if isinstance(error, Py4JJavaError):
        return chain(error.java_exception)
    return [Cause(type(error).__name__, None, "Python", str(error)[:200])]


def say_failed(found: Sequence[Cause]) -> None:
    """Report the failure of a query to the campaign."""
    say("failed", causes=[asdict(cause) for cause in found])


class Driver:
    """A session with at most one query."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._query: StreamingQuery | None = None
        self._to_stop = False
        self._starts = threading.Lock()

    def start(self, run: Mapping[str, Any]) -> None:
        """Start the query of a run; an event reports its end."""
        with self._starts:
            self._to_stop = False
            self._start(run)

    def stop(self) -> None:
        """Stop the query; an event reports its end."""
        with self._starts:
            self._to_stop = True
            if self._query is not None:
                self._query.stop()

    def _start(self, run: Mapping[str, Any]) -> None:
        for name, value in run["settings"].items():
            self._spark.conf.set(name, value)
        facts = JOBS[run["job"]].facts(self._rows(run), run["variant"])
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

    def table(self, job: str, variant: str, source: str, to: str) -> None:
        """Compute the answer of a job from a table."""
        rows = self._spark.read.schema(ROWS).parquet(source)
        JOBS[job].facts(rows, variant).coalesce(1).write.parquet(to)
        say("answered")

    def fill(self, source: str, servers: str, topic: str) -> None:
        """Write a table's rows to a topic, in order."""
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
        """Write the contents of a topic to files."""
        # Kafka creates a topic with its first record. A pattern may match none, a name may not.
        records = (
            self._spark.read.format("kafka")
            .option("kafka.bootstrap.servers", servers)
            .option("subscribePattern", f"^{re.escape(topic)}$")
            .load()
        )
        facts = F.from_json(F.col("value").cast("string"), "k string, position long, fact string")
        records.select(facts.alias("r")).select("r.*").coalesce(1).write.parquet(to)
        say("answered")

    def _rows(self, run: Mapping[str, Any]) -> DataFrame:
        stream = self._stream(run)
        if run["history"] is None:
            return stream
        table = self._spark.read.schema(ROWS).parquet(run["history"])
        return with_history(stream, table, emit="all")

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
        found = causes(query)
        if found and str(found[-1]) == KAFKA_METRICS:
            found = []
            with self._starts:
                if not self._to_stop:
                    say("resumed")
                    self._start(run)
                    return
        if found:
            say_failed(found)
        else:
            say("ended")


def main() -> int:
    """Process commands until the end of input."""
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
                say_failed(causes_of(error))
            else:
                say("refused", error=f"{type(error).__name__}: {error}"[:500])
    return 0


if __name__ == "__main__":
    sys.exit(main())
