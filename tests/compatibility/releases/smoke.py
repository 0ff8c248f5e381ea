"""Runs winops with the installed pyspark and prints the result in one line.

usage: smoke.py CHAIN STEP

If the package has a JAR for that version: README's lines run, a table and a stream are read with
aggregates of each kind, the stream is started twice, and the queries in the folder CHAIN go on
with the rows of a step. Otherwise ``configure``, and the JAR of another version in a session and
in spark-sql, must refuse the version with WINOPS_SPARK_VERSION.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pyspark
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

import winops
from winops import configure, esper, keep, read_state

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from tests.compatibility.releases.chain import go_on
from tests.compatibility.releases.shell import refusal_in_shell
from tests.support.markdown import blocks
from tests.support.paths import ROOT

_SCHEMA = "seq long, symbol string, price double"
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
}


def aggregates() -> list[Column]:
    """Return one aggregate for each kind of buffer that this version of Spark supports."""
    names = (
        "sum", "avg", "stddev", "max", "approx_count_distinct", "median", "collect_list",
        "kll_sketch_agg_double", "theta_sketch_agg",
    )  # fmt: skip
    known = [getattr(F, name)("price") for name in names if hasattr(F, name)]
    return [column.alias(f"a{i}") for i, column in enumerate(known)] + [F.hll_sketch_agg("seq")]


def readme() -> None:
    """Run the Python of README, which must print what it shows."""
    names: dict[str, object] = {}
    for block in blocks(ROOT / "README.md"):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(block.code, names)
        if block.printed is not None:
            assert printed.getvalue() == block.printed, printed.getvalue()


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


def is_supported() -> bool:
    """Return true if spark-versions.json has the minor version of the running Spark."""
    file = Path(__file__).resolve().parents[3] / "spark-versions.json"
    running = pyspark.__version__.split(".")[:2]
    return ".".join(running) in [version["minor"] for version in json.loads(file.read_text())]


def refusal(spark: SparkSession) -> str:
    assert spark.range(3).groupBy("id").count().count() == 3
    assert spark.sql("SELECT winops_version()").first() is not None
    try:
        spark.sql("SELECT * FROM keep(TABLE(SELECT 1 AS a), 'KEEP 1 ROW')")
    except Exception as error:
        if "[WINOPS_SPARK_VERSION]" not in str(error):
            raise
        return str(error).splitlines()[0]
    raise AssertionError("the call was not refused")


def main(chain: Path, step: int) -> None:
    running = f"Spark {pyspark.__version__}"
    builder = SparkSession.builder.master("local[2]")
    for name, value in _SETTINGS.items():
        builder = builder.config(name, value)
    try:
        builder = configure(builder)
    except PySparkRuntimeError as error:
        # Spark 3.5 has no getCondition.
        if "[WINOPS_SPARK_VERSION]" not in str(error) or is_supported():
            raise
        jar = next(Path(winops.__file__).parent.glob("jars/winops_*.jar"))
        builder = builder.config("spark.jars", str(jar))
        # PySpark 3.5 does not load the extensions that a JAR registers.
        extensions = "winops.spark.WinopsExtensions"
        spark = builder.config("spark.sql.extensions", extensions).getOrCreate()
        print(f"{running}: refused, {refusal(spark)}", flush=True)
        spark.stop()
        with TemporaryDirectory() as name:
            said = refusal_in_shell(
                str(jar), Path(name), f"--conf=spark.sql.extensions={extensions}"
            )
        print(f"{running}: refused in spark-sql, {said}", flush=True)
        return
    spark = builder.getOrCreate()
    readme()
    rows = [(1, "A", 1.0), (2, "B", 2.0), (3, "A", 3.0), (4, "A", 2.0), (5, "B", 4.0)]
    with TemporaryDirectory() as name:
        found = run(spark.createDataFrame(rows, _SCHEMA), Path(name))
    changes = go_on(spark, chain, step)
    print(f"{running}: works, {found} rows of values, {changes} changes so far", flush=True)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute(), int(sys.argv[2]))
