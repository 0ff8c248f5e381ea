"""The aggregate functions of the Spark that runs, also if it has no ScalaTest of the operator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
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


@pytest.fixture(scope="module")
def aggregates(spark: SparkSession) -> dict[str, Any]:
    """Return the names of aggregate functions, each with its identifier in Spark's registry."""
    registry = spark._jsparkSession.sessionState().functionRegistry()
    functions = registry.listFunction()
    # Spark 4.3 registers its functions under names of three parts, and earlier versions do not.
    identifiers = {one.funcName(): one for one in map(functions.apply, range(functions.size()))}

    def is_aggregate(name: str) -> bool:
        # A function of Python has no class.
        of_class = str(registry.lookupFunction(identifiers[name]).get().getClassName())
        return name[0].isalpha() and ".expressions.aggregate." in of_class

    return {name: identifier for name, identifier in identifiers.items() if is_aggregate(name)}


@same_on_connect
def test_each_aggregate_function_is_classified(aggregates: dict[str, Any]) -> None:
    # Each name in the file has a call in EveryAggregateSuite.
    assert len(aggregates) > 70
    assert aggregates.keys() - set(KNOWN) == set(), f"add them as {PAGE} says"


@same_on_connect
def test_each_aggregate_function_has_properties(
    spark: SparkSession, aggregates: dict[str, Any]
) -> None:
    names = aggregates.keys() - NOT_OVER_ROWS
    unknown = {name for name in names if not _has_properties(spark, aggregates[name])}
    assert unknown == set(), f"add lines to AggregateProperties.ofSpark, as {PAGE} says"


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
