"""The aggregate functions of the Spark that runs, also if it has no ScalaTest of the operator."""

from __future__ import annotations

from pyspark.sql import SparkSession

from tests.support.paths import ROOT
from tests.support.transports import same_on_connect

KNOWN = (ROOT / "tests" / "data" / "aggregate-functions.txt").read_text().split()


@same_on_connect
def test_each_aggregate_function_is_classified(spark: SparkSession) -> None:
    # Each name in the file has a call in EveryAggregateSuite.
    functions = spark.sql("SHOW SYSTEM FUNCTIONS").collect()
    named = [str(row[0]) for row in functions if str(row[0])[0].isalpha()]
    classes = {name: _class(spark, name) for name in named}
    aggregates = {name for name, owner in classes.items() if ".expressions.aggregate." in owner}
    assert len(aggregates) > 70
    assert aggregates - set(KNOWN) == set(), (
        "add them as docs/contributing/adding-an-aggregate.md says"
    )


def _class(spark: SparkSession, function: str) -> str:
    lines = [row[0] for row in spark.sql(f"DESCRIBE FUNCTION {function}").collect()]
    return next((line for line in lines if line.startswith("Class:")), "")
