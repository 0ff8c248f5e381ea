"""Runs winops with the installed pyspark and prints the result in one line.

If the JAR for that version is present, a table and a stream are read with aggregates of each
kind, and the stream is started twice. Otherwise the call must fail with WINOPS_SPARK_VERSION.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pyspark
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from winops import esper, keep, read_state

_SCHEMA = "seq long, symbol string, price double"


def aggregates() -> list[Column]:
    """Return one aggregate for each kind of buffer that this version of Spark supports."""
    names = (
        "sum", "avg", "stddev", "max", "approx_count_distinct", "median", "collect_list",
        "kll_sketch_agg_double", "theta_sketch_agg",
    )  # fmt: skip
    known = [getattr(F, name)("price") for name in names if hasattr(F, name)]
    return [column.alias(f"a{i}") for i, column in enumerate(known)] + [F.hll_sketch_agg("seq")]


def run(trades: DataFrame, folder: Path) -> int:
    spark = trades.sparkSession
    kept = keep(trades, "KEEP 2 ROWS PER (symbol)", order_by="seq")
    of_table = kept.agg(*aggregates()).count()
    assert of_table == trades.count()
    assert keep(trades, esper("#unique(symbol)"), order_by=F.desc("seq")).rows().count() == 2
    trades.coalesce(1).write.parquet(str(folder / "trades"))
    stream = spark.readStream.schema(_SCHEMA).parquet(str(folder / "trades"))
    values = keep(stream, "KEEP 2 ROWS PER (symbol)", order_by="seq").agg(*aggregates())
    for _ in range(2):
        writer = values.writeStream.format("parquet").trigger(availableNow=True)
        query = writer.option("checkpointLocation", str(folder / "checkpoint")).start(
            str(folder / "values")
        )
        query.awaitTermination()
        trades.coalesce(1).write.mode("append").parquet(str(folder / "trades"))
    assert read_state(spark, folder / "checkpoint").count() == 4
    return of_table + spark.read.parquet(str(folder / "values")).count()


def refusal(spark: SparkSession) -> str:
    assert spark.range(3).groupBy("id").count().count() == 3
    try:
        spark.sql("SELECT * FROM keep(TABLE(SELECT 1 AS a), 'KEEP 1 ROW')")
    except AnalysisException as error:
        if "[WINOPS_SPARK_VERSION]" not in str(error):
            raise
        return str(error)
    raise AssertionError("the call was not refused")


def main(jar: str) -> None:
    builder = SparkSession.builder.master("local[2]").config("spark.jars", jar)
    settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2"}
    spark = builder.config(map=settings).getOrCreate()
    running = f"Spark {pyspark.__version__}"
    if jar.rsplit("/", 1)[1].split("_")[1] == ".".join(pyspark.__version__.split(".")[:2]):
        rows = [(1, "A", 1.0), (2, "B", 2.0), (3, "A", 3.0), (4, "A", 2.0), (5, "B", 4.0)]
        with TemporaryDirectory() as name:
            found = run(spark.createDataFrame(rows, _SCHEMA), Path(name))
        print(f"{running}: works, {found} rows of values")
    else:
        print(f"{running}: refused, {refusal(spark)}")
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
