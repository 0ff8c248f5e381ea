"""The minimum costs of kinds of queries in Spark."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Floor:
    """A query that others are compared with.

    Attributes
    ----------
    text
        Its name in the results.
    query
        Creates it from a stream, the columns of its key and order, and the number of partitions.
    output_mode
        The output mode of the stream.
    """

    text: str
    query: Callable[[DataFrame, str, tuple[str, ...], int], DataFrame]
    output_mode: str = "append"


def _sorted(stream: DataFrame, key: str, order: tuple[str, ...], partitions: int) -> DataFrame:
    return stream.repartition(partitions, key).sortWithinPartitions(key, *order)


def _counted(stream: DataFrame, key: str, _order: tuple[str, ...], _partitions: int) -> DataFrame:
    return stream.groupBy(key).count()


def _stateless(
    stream: DataFrame, _key: str, _order: tuple[str, ...], _partitions: int
) -> DataFrame:
    return stream


# The work of any query before it can keep rows: it shuffles the rows by key and sorts them, with
# all columns. The cost above this floor is the operator's own.
SORTED = Floor("shuffled and sorted", _sorted)
# Spark's smallest state: a number for each key in the batch.
COUNTED = Floor("groupBy(key).count()", _counted, output_mode="update")
STATELESS = Floor("passed through", _stateless)
