"""The queries over the windows; a new query is a new entry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from winops import Kept


@dataclass(frozen=True)
class Question:
    """A query over the windows.

    Attributes
    ----------
    text
        Its name in the results.
    answer
        Creates the query.
    tells_deletes
        True if the query emits deleted rows as well as inserted ones.
    """

    text: str
    answer: Callable[[Kept], DataFrame]
    tells_deletes: bool = False

    def rows(self, inserted: int, deleted: int) -> int:
        """Return the expected number of output rows for the given inserts and deletes."""
        return inserted + deleted if self.tells_deletes else inserted


def _mean_low_high(kept: Kept) -> DataFrame:
    return kept.withColumns(
        {"mean": F.avg("price"), "low": F.min("price"), "high": F.max("price")}
    )


def _average(kept: Kept) -> DataFrame:
    return kept.withColumns({"average": F.avg("final")})


def _total(kept: Kept) -> DataFrame:
    return kept.withColumns({"total": F.sum("qty")})


def _mean(kept: Kept) -> DataFrame:
    return kept.withColumns({"mean": F.avg("price")})


def _mean_of_steps(kept: Kept) -> DataFrame:
    return kept.agg(F.avg("price").alias("mean"))


def _high_of_steps(kept: Kept) -> DataFrame:
    return kept.agg(F.max("price").alias("high"))


def _high_and_mean_of_steps(kept: Kept) -> DataFrame:
    return kept.agg(F.max("price").alias("high"), F.avg("price").alias("mean"))


CHANGES = Question("changes", Kept.changes, tells_deletes=True)
MEAN_LOW_HIGH = Question("mean, low, high", _mean_low_high)
AVERAGE = Question("average", _average)
MEAN = Question("mean", _mean)
MEAN_OF_STEPS = Question("mean of each step", _mean_of_steps)
HIGH_OF_STEPS = Question("greatest of each step", _high_of_steps)
HIGH_AND_MEAN_OF_STEPS = Question("greatest and mean of each step", _high_and_mean_of_steps)
RUNNING_TOTAL = Question("running total", _total)
