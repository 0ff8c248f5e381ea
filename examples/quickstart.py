from pyspark.sql import SparkSession

from winops import configure, keep

spark = configure(SparkSession.builder.appName("desk")).getOrCreate()
trades = spark.createDataFrame(
    [(1, "A", 5.0), (2, "B", 7.0), (3, "A", 6.0), (4, "A", 4.0)],
    "seq long, symbol string, price double",
)
kept = keep(trades, "KEEP 2 ROWS PER (symbol)", order_by="seq")
kept.changes().orderBy("symbol", "_change_seq").show()
