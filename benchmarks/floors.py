"""What is the least that a query of a kind costs in Spark."""

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
        How it is called in the results.
    query
        Makes it of a stream, the columns of its key and of its order, and the number of
        partitions.
    output_mode
        Of the stream.
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


# What a query has to do before it can retain anything: the rows of a key are brought together and
# put in order, with all columns. What is above it is the operator's own.
SORTED = Floor("shuffled and sorted", _sorted)
# Spark's smallest state: a number for each key that is touched.
COUNTED = Floor("groupBy(key).count()", _counted, output_mode="update")
STATELESS = Floor("passed through", _stateless)
