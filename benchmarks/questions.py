"""What is asked of the windows; a new one is a new entry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from winops import Kept


@dataclass(frozen=True)
class Question:
    """What a query wants to know of the windows.

    Attributes
    ----------
    text
        How it is called in the results.
    answer
        Makes the query.
    tells_deletes
        Whether a row that leaves comes out too, and not only one that arrives.
    """

    text: str
    answer: Callable[[Kept], DataFrame]
    tells_deletes: bool = False

    def rows(self, inserted: int, deleted: int) -> int:
        """How many rows have to come out, for the rows that arrived and left."""
        return inserted + deleted if self.tells_deletes else inserted


def _mean_low_high(kept: Kept) -> DataFrame:
    return kept.withColumns(
        {"mean": F.avg("price"), "low": F.min("price"), "high": F.max("price")}
    )


def _average(kept: Kept) -> DataFrame:
    return kept.withColumns({"average": F.avg("final")})


CHANGES = Question("changes", Kept.changes, tells_deletes=True)
MEAN_LOW_HIGH = Question("mean, low, high", _mean_low_high)
AVERAGE = Question("average", _average)
