"""Runs the installed winops with the installed pyspark, and prints a line for each check.

usage: installed.py classic | connect

The package must be in the virtual environment, not in a checkout, and the current folder outside
of this one.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

# Makes the in-process Connect server choose a free port.
os.environ["SPARK_TESTING"] = "1"

import pyspark
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

import winops
from winops import configure

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from tests.compatibility.releases.chain import alone, go_on
from tests.compatibility.releases.smoke import readme, run
from tests.support.paths import ROOT

_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
}
_TRADES = "seq long, symbol string, price double, ts timestamp"


@contextmanager
def check(name: str) -> Iterator[None]:
    """Print the name and the seconds of a block that does not fail."""
    started = time.monotonic()
    yield
    seconds = round(time.monotonic() - started)
    print(f"Spark {pyspark.__version__}, {sys.argv[1]}: {name} ({seconds} s)", flush=True)


def package() -> None:
    assert Path(winops.__file__).is_relative_to(Path(sys.prefix).resolve()), winops.__file__
    assert not Path.cwd().is_relative_to(ROOT), Path.cwd()


def session(transport: str) -> SparkSession:
    builder = SparkSession.builder.appName("installed")
    for name, value in _SETTINGS.items():
        builder = builder.config(name, value)
    place = builder.remote if transport == "connect" else builder.master
    return configure(place("local[2]")).getOrCreate()


def restart(spark: SparkSession, folder: Path) -> None:
    """Start streams twice on each kind of state store, and compare with streams of one go."""
    for step in range(2):
        go_on(spark, folder, step)
    alone(spark, folder, 2)


def over(spark: SparkSession, folder: Path) -> None:
    """Run window functions of Spark over a stream, and compare with the table."""
    seq = F.col("id")
    rows = spark.range(0, 60, 1, 1).select(
        seq.alias("seq"),
        F.concat(F.lit("S"), (seq % 3).cast("string")).alias("symbol"),
        (seq * 37 % 101 / 4).alias("price"),
        F.timestamp_seconds(seq).alias("ts"),
    )
    rows.write.parquet(str(folder / "trades"))
    spark.conf.set("spark.winops.over.atEnd", "flush")
    stream = spark.readStream.schema(_TRADES).parquet(str(folder / "trades"))
    values = _over(stream.withWatermark("ts", "5 seconds"))
    writer = values.writeStream.format("parquet").trigger(availableNow=True)
    location = str(folder / "checkpoint")
    writer.option("checkpointLocation", location).start(str(folder / "values")).awaitTermination()
    written = spark.read.schema(values.schema).parquet(str(folder / "values"))
    of_table = _over(rows)
    assert written.count() == of_table.count() == 60
    assert written.exceptAll(of_table).count() == 0


def _over(trades: DataFrame) -> DataFrame:
    recent = Window.partitionBy("symbol").orderBy("ts")
    return trades.withColumn("mean", F.avg("price").over(recent.rowsBetween(-3, 0))).withColumn(
        "before", F.lag("price", 2).over(recent)
    )


def main(transport: str) -> None:
    with check("winops is in the virtual environment"):
        package()
    with check("a session starts"):
        spark = session(transport)
        assert (transport == "connect") == type(spark).__module__.startswith(
            "pyspark.sql.connect"
        )
    with check("the lines of README print what it shows"):
        readme()
    rows = [(1, "A", 1.0), (2, "B", 2.0), (3, "A", 3.0), (4, "A", 2.0), (5, "B", 4.0)]
    trades = spark.createDataFrame(rows, "seq long, symbol string, price double")
    with check("a table and a stream have aggregates of each kind"), TemporaryDirectory() as name:
        run(trades, Path(name))
    with check("streams go on after a restart"), TemporaryDirectory() as name:
        restart(spark, Path(name))
    with check("OVER gives the same on a stream as on a table"), TemporaryDirectory() as name:
        over(spark, Path(name))
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
