"""Runs Spark's own window functions over a stream, with plain PySpark.

spark-submit --jars WINOPS_JAR tests/streaming/over_program.py FOLDER
"""

from __future__ import annotations

import sys

from pyspark.sql import SparkSession, Window
from pyspark.sql import functions as F

folder = sys.argv[1]
spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.sql.session.timeZone", "UTC")
    .config("spark.winops.over.atEnd", "flush")
    .getOrCreate()
)
rows = spark.range(8).selectExpr(
    "IF(id % 2 = 0, 'A', 'B') AS symbol",
    "timestamp_seconds(id) AS ts",
    "id * 1.5D AS price",
)
rows.coalesce(1).write.parquet(f"{folder}/trades")

trades = spark.readStream.schema(rows.schema).parquet(f"{folder}/trades")
by_time = Window.partitionBy("symbol").orderBy("ts")
query = (
    trades.withWatermark("ts", "10 seconds")
    .withColumn("before", F.lag("price").over(by_time))
    .withColumn("mean", F.avg("price").over(by_time.rowsBetween(-2, 0)))
    .writeStream.option("checkpointLocation", f"{folder}/checkpoint")
    .trigger(availableNow=True)
    .start(f"{folder}/means", format="parquet")
)
query.awaitTermination()

means = spark.read.schema("symbol string, ts timestamp, before double, mean double")
for row in means.parquet(f"{folder}/means").orderBy("ts").collect():
    print("row", row.symbol, row.ts.second, row.before, row.mean)
print("imported:", [name for name in sys.modules if name.split(".")[0] == "winops"])
spark.stop()
