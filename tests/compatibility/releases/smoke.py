"""Runs winops with the installed pyspark and prints the result in one line.

usage: smoke.py CHAIN STEP

If the package has a JAR for that version: README's lines run, a table and a stream have the same
aggregates of each kind, the stream is started twice, and the queries in the folder CHAIN go on
with the rows of a step. Otherwise ``configure`` and the JAR of another version in spark-sql must
refuse the version with WINOPS_SPARK_VERSION, and so must ``keep`` in a session without configure,
of which ``doctor`` says that it has no JAR. On each version, a session must refuse each JAR for
another one.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pyspark
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException, PySparkRuntimeError
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from winops import configure, doctor, esper, keep, read_state

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from tests.compatibility.releases.chain import go_on
from tests.compatibility.releases.foreign import (
    EXTENSIONS,
    foreign_jars,
    is_refused,
    needs_extensions,
    refusals,
)
from tests.compatibility.releases.shell import refusal_in_shell
from tests.support.markdown import blocks
from tests.support.paths import ROOT

_SCHEMA = "seq long, symbol string, price double"
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
}


# Sketches, in whose library a version of Spark refuses a version of Java; docs/compatibility.md.
_SKETCHES = ("hll_sketch_agg", "kll_sketch_agg_double", "theta_sketch_agg")
_WITHOUT_SKETCHES = {("4.2", 25)}
# Aggregates that a supported version of Spark lacks, by minor version.
_LACKING: dict[str, set[str]] = {}


def aggregates(trades: DataFrame) -> list[Column]:
    """Return one aggregate for each kind of buffer that this Spark supports on this Java."""
    names = (
        "sum", "avg", "stddev", "max", "approx_count_distinct", "median", "collect_list",
        *_SKETCHES,
    )  # fmt: skip
    known = {
        name: getattr(F, name)("seq" if name == "hll_sketch_agg" else "price")
        for name in names
        if hasattr(F, name)
    }
    able = {name: column for name, column in known.items() if _is_able(trades, column)}
    minor = ".".join(pyspark.__version__.split(".")[:2])
    check_left_out(set(names) - set(known), set(known) - set(able), minor, _java(trades))
    return [column.alias(f"a{i}") for i, column in enumerate(able.values())]


def check_left_out(lacking: set[str], failing: set[str], minor: str, java: int) -> None:
    """Print the aggregates that are not tested, and fail unless each one is known to be missing.

    ``lacking`` are those that Spark does not have, and ``failing`` those that it cannot compute.
    """
    if lacking or failing:
        named = ", ".join(sorted(lacking | failing))
        print(f"Spark {minor}, Java {java}: left out: {named}", flush=True)
    new = lacking - _LACKING.get(minor, set())
    assert not new, f"Spark {minor} has no {sorted(new)}, which _LACKING does not list"
    known = set(_SKETCHES) if (minor, java) in _WITHOUT_SKETCHES else set()
    assert failing <= known, f"Spark {minor} on Java {java} fails to compute {sorted(failing)}"


def _java(trades: DataFrame) -> int:
    query = "SELECT java_method('java.lang.System', 'getProperty', 'java.specification.version')"
    (found,) = trades.sparkSession.sql(query).collect()
    return int(found[0])


def _is_able(trades: DataFrame, column: Column) -> bool:
    """Return false for a sketch of which Spark alone says that its library lacks this Java."""
    try:
        trades.agg(column).collect()
    except (PySparkException, Py4JJavaError) as error:
        # The second failure of the library says only that the first one has left it unusable.
        reasons = ("Unsupported JDK", "Could not initialize class org.apache.datasketches")
        if not any(reason in str(error) for reason in reasons):
            raise
        return False
    return True


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
    later = trades.withColumn("seq", F.col("seq") + trades.count())
    columns = aggregates(trades)
    of_table = _lines(_values(trades.union(later), columns))
    assert of_table.total() == 2 * trades.count()
    assert keep(trades, esper("#unique(symbol)"), order_by=F.desc("seq")).rows().count() == 2
    trades.coalesce(1).write.parquet(str(folder / "trades"))
    stream = spark.readStream.schema(_SCHEMA).parquet(str(folder / "trades"))
    for rows in (None, later):
        if rows is not None:
            rows.coalesce(1).write.mode("append").parquet(str(folder / "trades"))
        writer = _values(stream, columns).writeStream.format("parquet").trigger(availableNow=True)
        query = writer.option("checkpointLocation", str(folder / "checkpoint")).start(
            str(folder / "values")
        )
        query.awaitTermination()
    assert read_state(spark, folder / "checkpoint").count() == 4
    of_stream = _lines(spark.read.parquet(str(folder / "values")))
    assert of_stream == of_table, (of_stream - of_table, of_table - of_stream)
    return of_stream.total()


def _values(rows: DataFrame, columns: list[Column]) -> DataFrame:
    return keep(rows, "KEEP 2 ROWS PER (symbol)", order_by="seq").agg(*columns)


def _lines(values: DataFrame) -> Counter[str]:
    # Without a time, changes of a stream have that of their micro-batch, of a table none.
    return Counter(str(row) for row in values.drop("_change_time").collect())


def is_supported() -> bool:
    """Return true if spark-versions.json has the minor version of the running Spark."""
    file = Path(__file__).resolve().parents[3] / "spark-versions.json"
    running = pyspark.__version__.split(".")[:2]
    return ".".join(running) in [version["minor"] for version in json.loads(file.read_text())]


def without_jar(spark: SparkSession) -> None:
    """Check ``keep`` and ``doctor`` in a session that ``configure`` has not built."""
    try:
        keep(spark.range(1), rows=1)
    except PySparkRuntimeError as error:
        said = str(error)
    else:
        raise AssertionError("keep was not refused")
    assert said.startswith("[WINOPS_SPARK_VERSION]"), said
    found = {finding.subject: finding for finding in doctor(spark).findings}
    assert (found["Spark"].status, found["JAR"].status) == ("error", "error"), found
    assert "[WINOPS_JAR_MISSING]" in found["JAR"].remedy, found


def in_shell() -> str:
    """Return the refusal of a JAR in spark-sql."""
    jar = foreign_jars()[0]
    options = [f"--conf=spark.sql.extensions={EXTENSIONS}"] if needs_extensions() else []
    with TemporaryDirectory() as name:
        said = refusal_in_shell(str(jar), Path(name), *options)
    assert is_refused(said, jar), said
    return said


def show_refusals() -> None:
    for said in refusals():
        print(f"Spark {pyspark.__version__}: refused, {said}", flush=True)


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
        spark = builder.getOrCreate()
        without_jar(spark)
        spark.stop()
        print(f"{running}: refused in spark-sql, {in_shell()}", flush=True)
        show_refusals()
        return
    spark = builder.getOrCreate()
    readme()
    rows = [(1, "A", 1.0), (2, "B", 2.0), (3, "A", 3.0), (4, "A", 2.0), (5, "B", 4.0)]
    with TemporaryDirectory() as name:
        found = run(spark.createDataFrame(rows, _SCHEMA), Path(name))
    changes = go_on(spark, chain, step)
    print(f"{running}: works, {found} rows of values, {changes} changes so far", flush=True)
    spark.stop()
    show_refusals()


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute(), int(sys.argv[2]))
