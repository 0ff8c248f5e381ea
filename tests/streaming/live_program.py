"""Runs a stream on a Spark Connect server, and prints what the server's tab shows of it.

SPARK_TESTING=1 python tests/streaming/live_program.py FOLDER PORT
"""

from __future__ import annotations

import json
import sys
import time
from urllib.request import urlopen

from pyspark.sql import SparkSession

from winops import configure, keep

folder, port = sys.argv[1:]
builder = SparkSession.builder.remote("local[1]").config(
    map={
        "spark.driver.host": "localhost",
        "spark.ui.port": port,
        "spark.sql.shuffle.partitions": "1",
    }
)
spark = configure(builder).getOrCreate()
spark.range(8).selectExpr("id AS seq", "id % 2 AS odd").coalesce(1).write.parquet(
    f"{folder}/numbers"
)
numbers = spark.readStream.schema("seq long, odd long").parquet(f"{folder}/numbers")
query = (
    keep(numbers, "KEEP 3 ROWS PER (odd)", order_by="seq")
    .changes()
    .writeStream.queryName("numbers")
    .option("checkpointLocation", f"{folder}/checkpoint")
    .trigger(availableNow=True)
    .start(f"{folder}/changes", format="parquet")
)
query.awaitTermination()
shown = {"queries": [{"status": "running"}]}
deadline = time.monotonic() + 60
# Listeners get the event of the end after the query has ended.
while shown["queries"][0]["status"] == "running" and time.monotonic() < deadline:
    time.sleep(0.1)
    with urlopen(f"http://localhost:{port}/windows/json/", timeout=60) as answer:
        shown = json.load(answer)
print("json:", json.dumps(shown))
with urlopen(f"http://localhost:{port}/windows/", timeout=60) as answer:
    print("page:", ">numbers</h4>" in answer.read().decode())
spark.stop()
