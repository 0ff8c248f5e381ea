"""Windows in real-time mode, through Python."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from tests.support.replay import TIMEOUT_SECONDS
from tests.support.settings import CHECKPOINT_FORMAT, PARTITIONS, settings
from tests.support.transports import same_on_connect
from tests.support.versions import SPARK
from winops import keep

pytestmark = [
    same_on_connect,
    pytest.mark.skipif(SPARK < (4, 3), reason="real-time mode needs Spark 4.3"),
]

# The session of the tests has two cores: one for the source, one for the window.
REAL_TIME = {
    "spark.sql.streaming.realTimeMode.allowlistCheck": "false",
    CHECKPOINT_FORMAT: "2",
    PARTITIONS: "1",
}


def followed(spark: SparkSession, folder: Path) -> DataFrame:
    """Return the stream of rows that are appended to the file ``0`` of a folder."""
    folder.mkdir()
    lines = spark.readStream.format("winops.testing.FollowedFiles").load(str(folder))
    return lines.selectExpr(
        "split(value, ',')[0] AS symbol", "CAST(split(value, ',')[1] AS BIGINT) AS seq"
    )


def append(folder: Path, *rows: tuple[str, int]) -> None:
    with (folder / "0").open("a") as file:
        file.writelines(f"{symbol},{seq}\n" for symbol, seq in rows)


def writer_to(path: Path) -> Callable[[Row], None]:
    """Return the function of a foreach sink that appends rows to a file."""
    name = str(path)

    def write(row: Row) -> None:
        with Path(name).open("a", encoding="utf-8") as file:
            file.write(json.dumps([row["_change_type"], row["symbol"], row["seq"]]) + "\n")

    return write


def wait_for(path: Path, count: int) -> list[list[object]]:
    until = time.monotonic() + TIMEOUT_SECONDS
    while time.monotonic() < until:
        lines = path.read_text().splitlines() if path.exists() else []
        if len(lines) >= count:
            return [json.loads(line) for line in lines]
        time.sleep(0.01)
    raise AssertionError(f"{count} changes have not come")


def test_changes_of_rows_that_arrive_one_by_one(spark: SparkSession, tmp_path: Path) -> None:
    with settings(spark, REAL_TIME):
        rows = followed(spark, tmp_path / "rows")
        changes = keep(rows, "KEEP 2 ROWS PER (symbol)", order_by="seq").changes()
        written = tmp_path / "changes"
        query = (
            changes.writeStream.foreach(writer_to(written))
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .outputMode("update")
            # A foreach in Python gets so few rows when the batch ends.
            .trigger(realTime="5 seconds")
            .start()
        )
        try:
            append(tmp_path / "rows", ("A", 1), ("A", 2), ("B", 3), ("A", 4))
            assert wait_for(written, 5) == [
                ["insert", "A", 1],
                ["insert", "A", 2],
                ["insert", "B", 3],
                ["insert", "A", 4],
                ["delete", "A", 1],
            ]
        finally:
            query.stop()


def test_a_function_of_python_is_refused_by_its_name(spark: SparkSession, tmp_path: Path) -> None:
    @F.udf("long")
    def twice(number: int) -> int:
        return 2 * number

    def start(name: str) -> None:
        kept = keep(followed(spark, tmp_path / name), "KEEP 2 ROWS PER (symbol)", order_by="seq")
        writer = kept.changes().select(twice("seq")).writeStream.format("console")
        writer = writer.option("checkpointLocation", str(tmp_path / f"{name}-checkpoint"))
        writer.outputMode("update").trigger(realTime="5 seconds").start().stop()

    accepts = "spark.winops.realTime.pythonFunctions"
    with settings(spark, REAL_TIME):
        with pytest.raises(AnalysisException, match=accepts) as caught:
            start("refused")
        assert caught.value.getCondition() == "WINOPS_REAL_TIME.PYTHON"
        assert "the Python function twice" in str(caught.value)
    with settings(spark, {**REAL_TIME, accepts: "true"}):
        start("accepted")
