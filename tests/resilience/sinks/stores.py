"""The stores of the sinks: their servers, how a program writes to them, and what they hold."""

from __future__ import annotations

import json
import shutil
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from tests.compatibility.lakehouse import merge
from tests.compatibility.recipes import started
from tests.compatibility.stores.recipe import redis_server
from tests.resilience.faults.broker import CLASSPATH as BROKER_CLASSPATH
from tests.resilience.faults.broker import Broker
from tests.resilience.faults.lives import kafka_classes
from tests.resilience.sinks.rows import COLUMNS, Content, in_order
from tests.support import postgres_server
from winops import Kept, merge_into, to_kafka, to_postgres, to_redis

Variables = dict[str, str]
Write = Callable[[DataFrame, int], None]

_COLUMNS = "seq bigint, g string, id bigint, v bigint"


@dataclass(frozen=True)
class _Announced:
    """A function for ``foreachBatch`` that leaves a file in a folder when it is called."""

    folder: Path
    write: Write

    def __call__(self, changes: DataFrame, batch: int) -> None:
        self.folder.mkdir(exist_ok=True)
        (self.folder / f"{batch}-{time.time_ns()}").touch()
        self.write(changes, batch)


class Store(ABC):
    """The store of one job, which has a folder of its own.

    Parameters
    ----------
    folder
        The folder of the job. Its name is that of the table, topic or prefix.
    variables
        What :meth:`server` has yielded.
    """

    #: The pattern of the files in the folder that tell that a micro-batch is being written.
    marks = "writing/*"

    def __init__(self, folder: Path, variables: Variables) -> None:
        self.folder = folder
        self.name = folder.name.replace("-", "_")
        self.variables = variables

    @staticmethod
    @abstractmethod
    def missing() -> str | None:
        """Return what the store needs and this machine lacks."""

    @staticmethod
    @contextmanager
    def server(folder: Path) -> Iterator[Variables]:
        """Run the server of all jobs, outside of the processes that are killed."""
        yield {}

    def session(self) -> SparkSession:
        """Start the session of the program."""
        return started("classic", self.folder, [], {"spark.sql.shuffle.partitions": "2"})

    def prepare(self) -> None:  # noqa: B027 - topics and hashes need no table
        """Create the empty table, if there is one. The program that does this is not killed."""

    def start(self, kept: Kept) -> StreamingQuery:
        """Start the query."""
        function = _Announced(self.folder / "writing", self.function(kept))
        writer = kept.changes().writeStream.foreachBatch(function)
        return self.started(writer)

    def function(self, kept: Kept) -> Write:
        """Return the function for ``foreachBatch``."""
        raise NotImplementedError

    @abstractmethod
    def content(self, spark: SparkSession) -> Content:
        """Return the rows that the store holds."""

    def started(self, writer: Any) -> StreamingQuery:
        checkpoint = str(self.folder / "checkpoint")
        query: StreamingQuery = (
            writer.option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
        )
        return query


class _Table(Store):
    @staticmethod
    def missing() -> str | None:
        try:
            merge.jars()
        except SystemExit as error:
            return str(error)
        return None

    def session(self) -> SparkSession:
        return merge.session("classic", self.folder)

    #: The format of the table in SQL.
    format: str

    @property
    @abstractmethod
    def table(self) -> str:
        """The name of the table in SQL."""

    def prepare(self) -> None:
        spark = self.session()
        spark.sql(f"CREATE TABLE {self.table} ({_COLUMNS}) USING {self.format}")
        spark.stop()

    def function(self, kept: Kept) -> Write:
        return merge_into(self.table, kept)

    def content(self, spark: SparkSession) -> Content:
        return in_order(spark.table(self.table).select(*COLUMNS).collect())


class Delta(_Table):
    """A table of Delta Lake by its path: a kill ends a catalog in memory."""

    format = "delta"

    @property
    def table(self) -> str:
        return f"delta.`{self.folder / 'held'}`"


class Iceberg(_Table):
    """A table of Apache Iceberg in a catalog of files."""

    format = "iceberg"

    @property
    def table(self) -> str:
        return "ice.default.held"


class Postgres(Store):
    """A table of a PostgreSQL server. psql replaces psycopg where that is not installed."""

    @staticmethod
    def missing() -> str | None:
        return None if postgres_server.is_installed() else "PostgreSQL is not installed"

    @staticmethod
    @contextmanager
    def server(folder: Path) -> Iterator[Variables]:
        server = postgres_server.Server()
        try:
            yield {"conninfo": server.conninfo}
        finally:
            server.stop()

    def prepare(self) -> None:
        self._run(
            f"CREATE TABLE {self.name} (seq bigint, g text, id bigint NOT NULL, v bigint, "
            "UNIQUE NULLS NOT DISTINCT (g, id))"
        )

    def function(self, kept: Kept) -> Write:
        if not find_spec("psycopg"):
            modules: dict[str, Any] = sys.modules
            modules["psycopg"] = postgres_server.stand_in()
        return to_postgres(self.name, kept, conninfo=self.variables["conninfo"])

    def content(self, spark: SparkSession) -> Content:
        rows = self._run(f"SELECT json_build_array({', '.join(COLUMNS)}) FROM {self.name}")
        return in_order(map(json.loads, rows.splitlines()))

    def _run(self, statement: str) -> str:
        return postgres_server.psql(self.variables["conninfo"], statement)


class Redis(Store):
    """Hashes of a Redis server, whose keys begin with the name of the job."""

    @staticmethod
    def missing() -> str | None:
        if not shutil.which("redis-server"):
            return "redis-server is not installed"
        return None if find_spec("redis") else "redis-py is not installed"

    @staticmethod
    @contextmanager
    def server(folder: Path) -> Iterator[Variables]:
        with redis_server(folder) as variables:
            yield variables

    def function(self, kept: Kept) -> Write:
        return to_redis(self.name, kept, url=self.variables["url"])

    def content(self, spark: SparkSession) -> Content:
        import redis

        with redis.Redis.from_url(self.variables["url"], decode_responses=True) as server:
            hashes = [server.hgetall(key) for key in server.scan_iter(f"{self.name}:*")]
        return in_order(
            [fields.get("g"), int(fields["id"]), int(fields["v"])] for fields in hashes
        )


class Kafka(Store):
    """A topic of one partition. The last record of each key is what compaction leaves."""

    # Records are written by Spark's tasks and not by a function.
    marks = "checkpoint/offsets/[0-9]*"

    @staticmethod
    def missing() -> str | None:
        if BROKER_CLASSPATH.exists() and kafka_classes():
            return None
        return "The JARs of Kafka are missing: run ./sbt faults kafka first."

    @staticmethod
    @contextmanager
    def server(folder: Path) -> Iterator[Variables]:
        with closing(Broker(folder / "broker")) as broker:
            yield {"servers": broker.servers}

    def session(self) -> SparkSession:
        jars = [jar for jar in kafka_classes() if jar.endswith(".jar")]
        return started("classic", self.folder, jars, {"spark.sql.shuffle.partitions": "2"})

    def start(self, kept: Kept) -> StreamingQuery:
        writer = to_kafka(kept).writeStream.format("kafka")
        servers = self.variables["servers"]
        return self.started(
            writer.option("kafka.bootstrap.servers", servers).option("topic", self.name)
        )

    def content(self, spark: SparkSession) -> Content:
        records = (
            spark.read.format("kafka")
            .option("kafka.bootstrap.servers", self.variables["servers"])
            .option("subscribe", self.name)
            .load()
        )
        # The struct of a deleted key has NULL, and max_by does not pass over it.
        value = F.struct(F.col("value").cast("string").alias("value"))
        last = records.groupBy("key").agg(F.max_by(value, "offset").alias("last"))
        values = [row.value for row in last.select("last.value").collect()]
        rows = [json.loads(value) for value in values if value is not None]
        return in_order([row[name] for name in COLUMNS] for row in rows)


STORES: dict[str, type[Store]] = {
    "delta": Delta,
    "iceberg": Iceberg,
    "postgres": Postgres,
    "redis": Redis,
    "kafka": Kafka,
}
