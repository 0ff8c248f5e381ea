"""The aggregate functions of the Spark that runs, also if it has no ScalaTest of the operator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from tests.support.paths import ROOT
from tests.support.transports import same_on_connect

KNOWN = (ROOT / "tests" / "data" / "aggregate-functions.txt").read_text().split()

# A function of metric views, which has no value over rows.
NOT_OVER_ROWS = {"measure"}

# The page that says what to do when a test of this file fails.
PAGE = "docs/contributing/adding-an-aggregate.md"

MOST_ARGUMENTS = 5
EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions"


@same_on_connect
def test_each_aggregate_function_is_classified(spark: SparkSession) -> None:
    # Each name in the file has a call in EveryAggregateSuite.
    aggregates = _aggregates(spark)
    assert len(aggregates) > 70
    assert aggregates - set(KNOWN) == set(), f"add them as {PAGE} says"


@same_on_connect
def test_each_aggregate_function_has_properties(spark: SparkSession) -> None:
    registry = spark._jsparkSession.sessionState().functionRegistry().listFunction()
    # Spark 4.3 registers its functions under names of three parts, and earlier versions do not.
    identifiers = {one.funcName(): one for one in map(registry.apply, range(registry.size()))}
    names = _aggregates(spark) - NOT_OVER_ROWS
    unknown = {name for name in names if not _has_properties(spark, identifiers[name])}
    assert unknown == set(), f"add lines to AggregateProperties.ofSpark, as {PAGE} says"


def _aggregates(spark: SparkSession) -> set[str]:
    functions = spark.sql("SHOW SYSTEM FUNCTIONS").collect()
    named = [str(row[0]) for row in functions if str(row[0])[0].isalpha()]
    return {name for name in named if ".expressions.aggregate." in _class(spark, name)}


def _class(spark: SparkSession, function: str) -> str:
    lines = [row[0] for row in spark.sql(f"DESCRIBE FUNCTION {function}").collect()]
    return next((line for line in lines if line.startswith("Class:")), "")


def _has_properties(spark: SparkSession, identifier: Any) -> bool:
    properties = _jvm(spark).winops.spark.aggregates.AggregateProperties
    functions = list(_functions(spark, _call(spark, identifier)))
    return bool(functions) and all(
        properties.ofSpark(function).isDefined() for function in functions
    )


def _call(spark: SparkSession, identifier: Any) -> Any:
    """Return a call of a function with the first number of arguments that it accepts."""
    jvm = _jvm(spark)
    state = spark._jsparkSession.sessionState()
    for count in range(1, MOST_ARGUMENTS + 1):
        # Types are not checked before the analysis of a query.
        arguments = [state.sqlParser().parseExpression("1") for _ in range(count)]
        try:
            return state.functionRegistry().lookupFunction(
                identifier, jvm.org.apache.spark.api.python.PythonUtils.toSeq(arguments)
            )
        except AnalysisException:
            continue
    raise AssertionError(f"{identifier.funcName()} takes no 1 to {MOST_ARGUMENTS} arguments")


def _functions(spark: SparkSession, expression: Any) -> Iterator[Any]:
    """Return the aggregate functions by which Spark replaces a call."""
    if _is(spark, expression, f"{EXPRESSIONS}.RuntimeReplaceable"):
        yield from _functions(spark, expression.replacement())
    elif _is(spark, expression, f"{EXPRESSIONS}.aggregate.AggregateFunction"):
        yield expression
    else:
        children = expression.children()
        for i in range(children.size()):
            yield from _functions(spark, children.apply(i))


def _is(spark: SparkSession, value: Any, name: str) -> bool:
    return bool(_jvm(spark).java.lang.Class.forName(name).isInstance(value))


def _jvm(spark: SparkSession) -> Any:
    return spark.sparkContext._jvm
