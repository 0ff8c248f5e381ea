"""Checkpoints that a version has left: what query they are of, and what has to come of it."""

from __future__ import annotations

import json
import os
import re
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from winops import apama, esper, keep, spl

ROOT = Path(__file__).parents[2]
CHECKPOINTS = ROOT / "tests/data/checkpoints"
HEARTBEAT = "heartbeat"

_TEXT = {"ignoreNullFields": "false", "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"}
_DIALECTS = {"apama": apama, "esper": esper, "spl": spl}

Rows = Sequence[Mapping[str, Any]]


class GoldenQuery(NamedTuple):
    """A query as data, so that it stays as it was when the code that made it has changed.

    Rows with the symbol `HEARTBEAT` only let time pass.
    """

    schema: str
    policy: str | dict[str, str]
    arguments: dict[str, Any]
    dialect: str | None = None
    watermark: tuple[str, str] | None = None
    output: str = "changes"
    values: dict[str, str] | None = None
    settings: dict[str, str] | None = None

    def result(self, rows: DataFrame) -> DataFrame:
        """Give each row that the query gives as a line of JSON."""
        policy = _DIALECTS[self.dialect](self.policy) if self.dialect else self.policy
        kept = keep(rows, policy, **self.arguments)
        values = {name: F.expr(sql) for name, sql in (self.values or {}).items()}
        if self.output == "agg":
            result = kept.agg(*(column.alias(name) for name, column in values.items()))
        elif self.output == "columns":
            result = kept.withColumns(values)
        else:
            result = kept.changes()
        if "time" in self.arguments:
            result = result.where(F.col("symbol") != HEARTBEAT)
        else:
            # It is that of the batch, and a table has none.
            result = result.drop("_change_time")
        return result.select(F.to_json(F.struct("*"), _TEXT).alias("value"))

    def stream(self, spark: SparkSession, source: Path) -> DataFrame:
        """Give the files of a folder as a stream, one by one."""
        reader = spark.readStream.schema(self.schema).option("maxFilesPerTrigger", 1)
        rows = reader.json(str(source))
        return rows.withWatermark(*self.watermark) if self.watermark else rows

    def start(self, spark: SparkSession, folder: Path) -> StreamingQuery:
        """Start the query over `source`, with `checkpoint`, into `output`."""
        writer = self.result(self.stream(spark, folder / "source")).writeStream.format("text")
        return (
            writer.option("checkpointLocation", str(folder / "checkpoint"))
            .trigger(availableNow=True)
            .start(str(folder / "output"))
        )


def write_source(folder: Path, batches: Sequence[Rows]) -> None:
    """Write a file for each batch, of which each is younger than the one before."""
    source = folder / "source"
    source.mkdir()
    for number, rows in enumerate(batches, 1):
        file = source / f"{number:05}.json"
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        os.utime(file, (number, number))


def output_lines(folder: Path) -> list[str]:
    """Give what a query has written, in no order."""
    # The sink's own list of files does not begin at the first batch of the checkpoint.
    files = sorted((folder / "output").glob("part-*.txt"))
    return [line for file in files for line in file.read_text().splitlines()]


def current_format() -> int:
    """Give the number of the form in which this version stores its state."""
    source = ROOT / "jvm/spark/src/main/scala/winops/spark/StateFormat.scala"
    found = re.search(r"val Version = (\d+)", source.read_text())
    assert found
    return int(found[1])


def archives() -> list[Path]:
    """Give the checkpoints of all versions; the folder names the version and the format."""
    return sorted(CHECKPOINTS.glob("*/*.tar.xz"))


def format_of(archive: Path) -> int:
    """Give the format of the state in a checkpoint."""
    return int(archive.parent.name.rpartition("-format")[2])


class Golden(NamedTuple):
    """A checkpoint that was unpacked, with its input."""

    query: GoldenQuery
    expected: list[str]
    folder: Path


def unpack(archive: Path, folder: Path) -> Golden:
    """Unpack a checkpoint into a folder, with all of its input as `source`."""
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")

    def read(name: str) -> Any:
        return json.loads((folder / f"{name}.json").read_text())

    write_source(folder, [*read("before"), *read("after")])
    _move_source(folder)
    return Golden(GoldenQuery(**read("query")), read("expected"), folder)


def _move_source(folder: Path) -> None:
    """Let the checkpoint find the files that it has read where they are now."""
    source = (folder / "source").as_uri()
    for log in (folder / "checkpoint/sources/0").glob("[0-9]*"):
        (log.parent / f".{log.name}.crc").unlink(missing_ok=True)
        moved = re.sub(r'"path":"[^"]*/(\w+\.json)"', rf'"path":"{source}/\1"', log.read_text())
        log.write_text(moved)
