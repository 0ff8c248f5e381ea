"""Rows fed to a streaming query, one file after another."""

from __future__ import annotations

import copy
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

TIMEOUT_SECONDS = 120
_ARROW = {
    "string": pa.string(),
    "int": pa.int32(),
    "long": pa.int64(),
    "double": pa.float64(),
    "timestamp": pa.timestamp("us", tz="UTC"),
}


def at(seconds: float) -> datetime:
    """Return the instant that is the given number of seconds after the epoch."""
    return datetime.fromtimestamp(seconds, timezone.utc)


class Replay:
    """A stream whose every micro-batch is one file, and the output of a query over it.

    A second call of `run` restarts the query from its checkpoint.
    """

    def __init__(self, spark: SparkSession, folder: Path, schema: str) -> None:
        self._spark = spark
        self.folder = folder
        self._source = folder / "source"
        self._source.mkdir(parents=True)
        self.output = str(folder / "output")
        self.checkpoint = str(folder / "checkpoint")
        self._schema = schema
        fields = [column.split() for column in schema.split(",")]
        self._arrow = pa.schema([(name, _ARROW[kind]) for name, kind in fields])
        self._files = 0

    def add(self, *batches: Sequence[Sequence[Any]]) -> None:
        """Add files; each row is a sequence of values in the order of the schema."""
        for batch in batches:
            columns = list(zip(*batch, strict=True)) or [() for _ in self._arrow]
            table = pa.table(
                [pa.array(c, f.type) for c, f in zip(columns, self._arrow, strict=True)],
                schema=self._arrow,
            )
            self._files += 1
            hidden = self._source / f"_{self._files:05}"
            pq.write_table(table, hidden)
            # The source takes files in the order of their modification times, in whole
            # milliseconds.
            os.utime(hidden, (self._files, self._files))
            hidden.rename(self._source / f"{self._files:05}.parquet")

    def rows(self, watermark: tuple[str, str] | None = None, batch_files: int = 1) -> DataFrame:
        """Return the rows as a stream."""
        reader = self._spark.readStream.schema(self._schema)
        stream = reader.option("maxFilesPerTrigger", batch_files).parquet(str(self._source))
        return stream.withWatermark(*watermark) if watermark else stream

    def table(self) -> DataFrame:
        """Return the same rows as a static DataFrame."""
        return self._spark.read.schema(self._schema).parquet(str(self._source))

    def start(
        self,
        result: DataFrame,
        options: Mapping[str, str] | None = None,
        output: str | None = None,
    ) -> StreamingQuery:
        """Start a query that ends after all available rows."""
        return (
            result.writeStream.format("parquet")
            .options(**(options or {}))
            .option("checkpointLocation", self.checkpoint)
            .outputMode("append")
            .trigger(availableNow=True)
            .start(output or self.output)
        )

    def run(self, result: DataFrame) -> StreamingQuery:
        """Run a query over all available rows."""
        query = self.start(result)
        finish(query)
        return query

    def run_last_batch_again(self, result: DataFrame) -> DataFrame:
        """Run the last micro-batch as after a crash before its commit, and return its rows."""
        commits = Path(self.checkpoint, "commits")
        last = max(int(file.name) for file in commits.iterdir() if file.name.isdigit())
        for name in (f"{last}", f".{last}.crc"):
            (commits / name).unlink(missing_ok=True)
        # The first folder has a log of its micro-batches, and would refuse this one. The log of
        # the other folder does not begin with micro-batch 0, so its files are read without it.
        output = f"{self.output}-again"
        finish(self.start(result, output=output))
        return self._spark.read.parquet(f"{output}/*.parquet")

    def written(self) -> DataFrame:
        """Return the rows that the queries have written so far."""
        return self._spark.read.parquet(self.output)

    def changes(self, *columns: str) -> list[Row]:
        """Return the written changes of all groups in the order of their sequence."""
        return self.written().select(*columns).orderBy("_change_seq").collect()


NewReplay = Callable[[str], Replay]


class Snapshot:
    """A stream whose query has run, and a copy of its files, so that several tests continue it.

    Each test has the files at the same place, because the logs of the query name them.
    """

    def __init__(self, stream: Replay) -> None:
        self._stream = stream
        self._files = Path(f"{stream.folder}-copy")
        # Spark may still maintain the state, and renames its temporary files.
        ignored = shutil.ignore_patterns("*.tmp*")
        shutil.copytree(stream.folder, self._files, ignore=ignored)

    def restored(self) -> Replay:
        """Return the stream as it was when its files were copied."""
        shutil.rmtree(self._stream.folder)
        # Times of files are those of the originals, as the log of the source has them.
        shutil.copytree(self._files, self._stream.folder)
        return copy.copy(self._stream)


def finish(query: StreamingQuery) -> None:
    """Wait for the end of a query; its failure is raised."""
    try:
        if not query.awaitTermination(TIMEOUT_SECONDS):
            raise TimeoutError("the query did not come to its end")
    finally:
        query.stop()


def failure(query: StreamingQuery) -> str:
    """Wait for a query to fail and return the text of its error."""
    try:
        finish(query)
    except PySparkException as error:
        return str(error)
    raise AssertionError("the query was expected to fail")
