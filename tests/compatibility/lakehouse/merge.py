"""Merges the changes of a window into Delta and Iceberg tables, batch by batch.

The session extensions of both replace Spark's parser, and a parser that wraps another one may
not delegate every call. So the other calls of winops run here too.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from tests.support.paths import ROOT
from winops import (
    Kept,
    apama,
    configure,
    keep,
    merge_into,
    read_state,
    repartition,
    spl,
    with_history,
)

_CLASSPATH = ROOT / "target" / "compatibility" / "lakehouse.classpath"
_SCHEMA = "seq long, symbol string, price double"
_DELTA = "spark_catalog.default.held_delta"
_ICEBERG = "ice.default.held_iceberg"
_FILES = 3
_ROWS_OF_FILE = 10


def jars() -> list[str]:
    """Return the JARs of Delta and Iceberg."""
    if not _CLASSPATH.is_file():
        raise SystemExit("The JARs of Delta and Iceberg are missing: run ./sbt lakehouse first.")
    return [jar for jar in _CLASSPATH.read_text().split(":") if jar.endswith(".jar")]


def session(transport: str, folder: Path) -> SparkSession:
    """Start Spark with the extensions of Delta and Iceberg."""
    builder = SparkSession.builder.appName("lakehouse")
    builder = builder.remote("local[2]") if transport == "connect" else builder.master("local[2]")
    settings = {
        "spark.jars": ",".join(jars()),
        "spark.sql.extensions": (
            "io.delta.sql.DeltaSparkSessionExtension,"
            "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
        ),
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.ice.type": "hadoop",
        "spark.sql.catalog.ice.warehouse": str(folder / "ice"),
        # A streaming query has its own catalog; a cached table does not show that catalog's
        # writes.
        "spark.sql.catalog.ice.cache-enabled": "false",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.shuffle.partitions": "2",
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.driver.host": "localhost",
        "spark.ui.enabled": "false",
    }
    with warnings.catch_warnings():
        # The server already applied the static settings; the client warns that it cannot set
        # them.
        warnings.simplefilter("ignore", UserWarning)
        return configure(builder.config(map=settings)).getOrCreate()


def merge(changes: DataFrame, batch: int) -> None:
    """Merge the last change of each row of the batch into both tables."""
    spark = changes.sparkSession
    newest = F.max_by(F.struct(*changes.columns), "_change_seq").alias("last")
    # Two statements read the batch; caching avoids a second computation.
    last = changes.groupBy("seq").agg(newest).select("last.*").persist()
    last.createOrReplaceTempView("last_changes")
    for table in (_DELTA, _ICEBERG):
        spark.sql(f"""
            MERGE INTO {table} AS held USING last_changes AS last ON held.seq = last.seq
            WHEN MATCHED AND last._change_type = 'delete' THEN DELETE
            WHEN MATCHED THEN UPDATE SET symbol = last.symbol, price = last.price
            WHEN NOT MATCHED AND last._change_type = 'insert'
              THEN INSERT (seq, symbol, price) VALUES (last.seq, last.symbol, last.price)
            """)
    last.unpersist()


def stream(spark: SparkSession, folder: Path) -> list[Row]:
    """Merge a stream's changes, and return the rows that a batch query expects to be held."""
    spark.sql(f"CREATE TABLE {_DELTA} ({_SCHEMA}) USING delta")
    spark.sql(f"CREATE TABLE {_ICEBERG} ({_SCHEMA}) USING iceberg")
    trades = spark.range(_FILES * _ROWS_OF_FILE).selectExpr(
        "id AS seq", "concat('S', id % 3) AS symbol", "CAST(id * id % 7 AS DOUBLE) AS price"
    )
    for number in range(_FILES):
        rows = trades.where(F.floor(F.col("seq") / _ROWS_OF_FILE) == number).coalesce(1)
        rows.write.mode("append").parquet(str(folder / "trades"))
    source = (
        spark.readStream.schema(_SCHEMA)
        .option("maxFilesPerTrigger", 1)
        .parquet(str(folder / "trades"))
    )
    kept = keep(source, "KEEP n ROWS PER (symbol)", params={"n": 4}, order_by="seq")
    query = (
        kept.changes()
        .writeStream.foreachBatch(merge)
        .trigger(availableNow=True)
        .option("checkpointLocation", str(folder / "checkpoint"))
        .start()
    )
    query.awaitTermination()
    return keep(trades, rows=4, per="symbol", order_by="seq").rows().sort("seq").collect()


def call_everything(spark: SparkSession, folder: Path) -> None:
    """Make each kind of call of the package."""
    rows = spark.createDataFrame([(1, "A", 1.0), (2, "B", 2.0), (3, "A", 3.0)], _SCHEMA)
    kept = keep(rows, rows=2, order_by="seq")
    assert kept.agg(F.sum("price").alias("s")).agg(F.max("s")).first()[0] == 5.0
    assert kept.withColumns({"n": F.count("*")}).where("n = 2").count() == 2
    assert kept.groupBy("symbol").agg(F.count("*")).count() == 3
    assert kept.snapshots(max_rows=10).count() == 3
    dearest = keep(rows, rows=1, order_by=[F.desc("price"), "seq"])
    assert [row.seq for row in dearest.rows().collect()] == [1]
    events = keep(rows, spl("sliding, count(2)"), order_by="seq").events(max_rows=10)
    assert events.where("_event_type = 'EVICTION'").select("rows.seq").collect() == [Row(seq=[1])]
    assert kept.describe().startswith("Keeps the newest 2 rows")
    assert keep(rows, apama("retain 2"), per="symbol", order_by="seq").rows().count() == 3
    several = keep(rows, {"a": "KEEP 1 ROW", "b": "KEEP n ROWS"}, params={"n": 2}, order_by="seq")
    assert several.changes().groupBy("_window").count().count() == 2
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        keep(rows, rows=2, per=["seq"], key_columns=["seq"])
    assert any("primary key" in str(warning.message) for warning in warned)
    assert read_state(spark, folder / "checkpoint", batch=_FILES - 1).count() == 12
    repartition(spark, folder / "checkpoint", 3, to=folder / "moved")
    assert read_state(spark, folder / "moved").count() == 12


def read_in_the_order_of_delta(spark: SparkSession, folder: Path) -> None:
    """Keep rows of a Delta table without an order: by name in a table, by the log in a stream."""
    path = str(folder / "appended")
    for first in range(0, 40, 10):
        rows = spark.range(first, first + 10).selectExpr(
            "id AS seq", "timestamp_seconds(id) AS ts"
        )
        rows.coalesce(1).write.mode("append").format("delta").save(path)
    table = spark.read.format("delta").load(path)
    named = table.select("seq", F.col("_metadata.file_path").alias("file")).collect()
    by_name = [row.seq for row in sorted(named, key=lambda row: (row.file, row.seq))]
    inserts = keep(table, rows=1).inserts().orderBy("_change_seq")
    assert [row.seq for row in inserts.collect()] == by_name

    def streamed(name: str, **arguments: str) -> list[int]:
        files = spark.readStream.format("delta").option("maxFilesPerTrigger", 1).load(path)
        kept = keep(files.withWatermark("ts", "1 day"), rows=1, **arguments)
        query = (
            kept.inserts()
            .writeStream.format("delta")
            .option("checkpointLocation", str(folder / f"checkpoint_{name}"))
            .trigger(availableNow=True)
            .start(str(folder / name))
        )
        query.awaitTermination()
        written = spark.read.format("delta").load(str(folder / name))
        return [row.seq for row in written.orderBy("_change_seq").collect()]

    assert streamed("by_log") == [*range(40)]
    assert streamed("flushed", time="ts", at_end="flush") == [*range(40)]


def start_with_a_version_of_delta(spark: SparkSession, folder: Path) -> None:
    """Start a stream with a Delta table, and run the first batch again when it has grown."""
    path = str(folder / "past")

    def rows(first: int, end: int) -> DataFrame:
        return (
            spark.range(first, end)
            .selectExpr("id AS seq", "'A' AS symbol", "CAST(id AS DOUBLE) AS price")
            .coalesce(1)
        )

    rows(0, 10).write.format("delta").save(path)
    rows(100, 102).write.parquet(str(folder / "live"))

    def run(name: str) -> list[tuple[str, int]]:
        live = spark.readStream.schema(_SCHEMA).parquet(str(folder / "live"))
        started = with_history(live, spark.read.format("delta").load(path))
        query = (
            keep(started, rows=3, order_by="seq")
            .changes()
            .writeStream.format("delta")
            .option("checkpointLocation", str(folder / "live_checkpoint"))
            .trigger(availableNow=True)
            .start(str(folder / name))
        )
        query.awaitTermination()
        written = spark.read.format("delta").load(str(folder / name))
        return [
            (row["_change_type"], row.seq) for row in written.orderBy("_change_seq").collect()
        ]

    expected = [("insert", 100), ("delete", 7), ("insert", 101), ("delete", 8)]
    assert run("first") == expected
    rows(10, 20).write.mode("append").format("delta").save(path)
    # The commit of the first batch is removed, as after a crash before the commit.
    commits = folder / "live_checkpoint" / "commits"
    for name in ("0", ".0.crc"):
        (commits / name).unlink(missing_ok=True)
    assert run("again") == expected
    assert [file.name for file in (folder / "live_checkpoint/history").glob("[0-9]*")]


def merge_with_one_call(spark: SparkSession, folder: Path) -> None:
    """Merge updates and deletes with `merge_into`, and the last micro-batch twice."""
    rows = "seq long, op string, id long, symbol string, price double"
    operations = spark.range(60).selectExpr(
        "id AS seq",
        "element_at(array('r', 'r', 'u', 'd'), CAST(id * 7 % 4 AS INT) + 1) AS op",
        "id * 5 % 11 AS id",
        "IF(id * 5 % 11 % 3 = 0, NULL, concat('S', id * 5 % 11 % 3)) AS symbol",
        "CAST(id AS DOUBLE) AS price",
    )
    for number in range(4):
        part = operations.where(f"seq DIV 15 = {number}").coalesce(1)
        part.write.mode("append").parquet(str(folder / "operations"))
    tables = ("spark_catalog.default.keyed_delta", "ice.default.keyed_iceberg")
    for table, kind in zip(tables, ("delta", "iceberg"), strict=True):
        spark.sql(
            f"CREATE TABLE {table} (own string, seq long, id long, symbol string, price double, "
            f"_change_version long) USING {kind}"
        )

    def kept(df: DataFrame) -> Kept:
        return keep(df, "KEEP 3 ROWS PER (symbol)", key="id", op="op", order_by="seq")

    stream = spark.readStream.schema(rows).option("maxFilesPerTrigger", 1)
    changes = kept(stream.parquet(str(folder / "operations")))
    into = [merge_into(table, changes) for table in tables]

    def merge_both(batch: DataFrame, number: int) -> None:
        for function in into:
            function(batch, number)

    def run() -> None:
        writer = changes.changes().writeStream.foreachBatch(merge_both)
        writer = writer.option("checkpointLocation", str(folder / "keyed_checkpoint"))
        writer.trigger(availableNow=True).start().awaitTermination()

    expected = kept(spark.read.schema(rows).parquet(str(folder / "operations"))).rows()
    wanted = sorted(
        map(tuple, expected.select("seq", "id", "symbol", "price").collect()), key=str
    )
    run()
    commits = folder / "keyed_checkpoint" / "commits"
    for name in ("3", ".3.crc"):
        (commits / name).unlink(missing_ok=True)
    for _ in range(2):
        for table in tables:
            held = spark.table(table).select("seq", "id", "symbol", "price").collect()
            assert sorted(map(tuple, held), key=str) == wanted, table
        run()


def main(transport: str) -> None:
    # The server starts Python for the foreachBatch function.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with TemporaryDirectory() as name:
        folder = Path(name)
        spark = session(transport, folder)
        expected = stream(spark, folder)
        for table in (_DELTA, _ICEBERG):
            held = spark.table(table).sort("seq").collect()
            assert held == expected, f"{table}: {held} instead of {expected}"
        call_everything(spark, folder)
        read_in_the_order_of_delta(spark, folder)
        merge_with_one_call(spark, folder)
        start_with_a_version_of_delta(spark, folder)
        spark.stop()
    print(f"both tables hold the {len(expected)} rows of the windows")


if __name__ == "__main__":
    main(sys.argv[1])
