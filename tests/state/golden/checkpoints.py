"""Checkpoints of former versions: the query of each one, and its expected output."""

from __future__ import annotations

import json
import os
import re
import tarfile
from collections.abc import Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from tests.support.paths import ROOT
from tests.support.versions import DEFAULT
from winops import apama, esper, keep, spl

CHECKPOINTS = ROOT / "tests/data/checkpoints"
HEARTBEAT = "heartbeat"
HEARTBEAT_AT = "2026-03-29T02:30:00.000+00:00"
BATCH_TIME = "_batch_time"

_TEXT = {"ignoreNullFields": "false", "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"}
_DIALECTS = {"apama": apama, "esper": esper, "spl": spl}

_FOLDER = re.compile(r".*-format\d+(?:-spark(?P<spark>[\d.]+))?")

Rows = Sequence[Mapping[str, Any]]


class GoldenKeep(NamedTuple):
    """One `keep` of a query; with several windows, `values` are pairs with a window name.

    With the output `over`, the query adds the columns `values` with OVER clauses, and no `keep`.
    """

    policy: str | dict[str, str]
    arguments: dict[str, Any]
    dialect: str | None = None
    output: str = "changes"
    values: Mapping[str, str | Sequence[str]] | None = None
    by: Sequence[str] | None = None

    def result(self, rows: DataFrame) -> DataFrame:
        """Return the output for the rows of a stream or a table."""
        if self.output == "over":
            columns = [F.expr(str(sql)).alias(name) for name, sql in self._values()]
            return rows.select("*", *columns)
        kept = keep(rows, self._policy(), **self.arguments)
        if self.output == "withColumns":
            return kept.withColumns({name: _value(of) for name, of in self._values()})
        if self.output == "agg":
            columns = [F.expr(str(sql)).alias(name) for name, sql in self._values()]
            return kept.groupBy(*self.by).agg(*columns) if self.by else kept.agg(*columns)
        return {
            "changes": kept.changes,
            "events": kept.events,
            "snapshots": kept.snapshots,
        }[self.output]()

    def _policy(self) -> Any:
        return _DIALECTS[self.dialect](str(self.policy)) if self.dialect else self.policy

    def _values(self) -> list[tuple[str, str | Sequence[str]]]:
        return list((self.values or {}).items())


class GoldenQuery(NamedTuple):
    """A query as data, so that later changes of the code that created it do not affect it.

    Rows with the symbol `HEARTBEAT` only advance time. If rows expire by processing time, only
    rows before `told_until` are expected: the others belong to batches after the checkpoint. A
    table has the batch time in the column `BATCH_TIME`."""

    schema: str
    keeps: Sequence[GoldenKeep]
    watermark: Sequence[str] | None = None
    settings: dict[str, str] | None = None
    told_until: int | None = None

    def result(self, rows: DataFrame) -> DataFrame:
        """Return each output row of the query as a line of JSON."""
        if len(self.keeps) == 1:
            return self._lines(self.keeps[0], rows)
        numbered = [
            self._lines(one, rows).select(F.concat(F.lit(f"{number} "), "value").alias("value"))
            for number, one in enumerate(self.keeps)
        ]
        return reduce(DataFrame.union, numbered)

    def _lines(self, one: GoldenKeep, rows: DataFrame) -> DataFrame:
        result = one.result(rows).drop(BATCH_TIME)
        if self.told_until is not None:
            result = result.where(F.col("seq") < self.told_until)
        elif "time" in one.arguments:
            result = _before_heartbeat(result, of_rows=one.output == "over")
        else:
            # The time is that of the batch, which a table does not have.
            result = result.drop("_change_time")
        return result.select(F.to_json(F.struct(*_columns(result)), _TEXT).alias("value"))

    def as_data(self) -> dict[str, Any]:
        """Return the fields of the `GoldenQuery` as JSON-compatible data."""
        return {**self._asdict(), "keeps": [one._asdict() for one in self.keeps]}

    def stream(self, spark: SparkSession, source: Path) -> DataFrame:
        """Return the files of a folder as a stream, one file per batch."""
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


def _value(of: str | Sequence[str]) -> Any:
    if isinstance(of, str):
        return F.expr(of)
    window, sql = of
    return window, F.expr(sql)


def _before_heartbeat(result: DataFrame, of_rows: bool) -> DataFrame:
    if of_rows:
        # The last rows of each symbol wait for rows behind them.
        result = result.where(F.col("ts") < F.lit(HEARTBEAT_AT).cast("timestamp"))
    if "symbol" in result.columns:
        result = result.where(F.col("symbol") != HEARTBEAT)
    if "_change_time" in result.columns:
        # If all symbols share one window, the heartbeat may delete a row of another symbol.
        result = result.where(F.col("_change_time") < F.lit(HEARTBEAT_AT).cast("timestamp"))
    return result


def _columns(result: DataFrame) -> list[Column]:
    return [F.col(f"`{name}`") for name in result.columns]


def write_source(folder: Path, batches: Sequence[Rows]) -> None:
    """Write a file for each batch, with increasing modification times."""
    source = folder / "source"
    source.mkdir()
    for number, rows in enumerate(batches, 1):
        file = source / f"{number:05}.json"
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        os.utime(file, (number, number))


def output_lines(folder: Path) -> list[str]:
    """Return the lines that a query has written, in no order."""
    # The sink's own list of files does not start at the first batch of the checkpoint.
    files = sorted((folder / "output").glob("part-*.txt"))
    return [line for file in files for line in file.read_text().splitlines()]


def current_format() -> int:
    """Return the number of this version's state format."""
    source = ROOT / "jvm/spark/src/main/scala/winops/spark/state/StateVersion.scala"
    found = re.search(r"val Current = (\d+)", source.read_text())
    assert found
    return int(found[1])


def archives() -> list[Path]:
    """Return all checkpoints; the folder names the version, the format, and another Spark."""
    return sorted(CHECKPOINTS.glob("*/*.tar.xz"))


def folder_of(version: str, spark: str) -> Path:
    """Return the folder of the checkpoints of a version of winops on a version of Spark."""
    of_spark = "" if spark == DEFAULT else f"-spark{spark}"
    return CHECKPOINTS / f"{version}-format{current_format()}{of_spark}"


def spark_of(archive: Path) -> str | None:
    """Return the version of Spark that has made a checkpoint, None for the default one."""
    found = _FOLDER.fullmatch(archive.parent.name)
    assert found, archive
    return found["spark"]


class Golden(NamedTuple):
    """An unpacked checkpoint with its input."""

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
    return Golden(_query(read("query")), read("expected"), folder)


def _query(fields: dict[str, Any]) -> GoldenQuery:
    keeps = [GoldenKeep(**one) for one in fields.pop("keeps")]
    return GoldenQuery(keeps=keeps, **fields)


def _move_source(folder: Path) -> None:
    """Rewrite the checkpoint's source log to the new location of the files that it has read."""
    source = (folder / "source").as_uri()
    for log in (folder / "checkpoint/sources").glob("*/[0-9]*"):
        (log.parent / f".{log.name}.crc").unlink(missing_ok=True)
        moved = re.sub(r'"path":"[^"]*/(\w+\.json)"', rf'"path":"{source}/\1"', log.read_text())
        log.write_text(moved)
