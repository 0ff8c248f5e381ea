"""Synthetic rows that show what a window does."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

from pyspark.sql.types import (
    BooleanType,
    DataType,
    DateType,
    FractionalType,
    IntegralType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

#: The time of the first row.
START = datetime(2026, 1, 1, tzinfo=timezone.utc)

# A window by time shows itself at one of these gaps between rows, in seconds; a window by count
# at one of the numbers of rows.
_GAPS = (1.0, 10.0, 60.0, 600.0, 3600.0, 86400.0)
_NUMBERS = (12, 36, 140)
_PRICES = (5.0, 7.0, 6.5, 9.0, 4.0, 8.0, 6.0)


def sample_rows(
    schema: StructType, groups: Collection[str], punct: str | None = None
) -> Iterator[tuple[timedelta, list[dict[str, Any]]]]:
    """Return rows of several numbers and times between them, each with this time.

    Parameters
    ----------
    schema : StructType
        The columns of the rows.
    groups : list of str
        The columns of the group, which have two values.
    punct : str, optional
        The column with punctuations.
    """
    sizes = [(_NUMBERS[0], gap) for gap in _GAPS]
    sizes += [(number, _GAPS[0]) for number in _NUMBERS[1:]]
    for number, seconds in sizes:
        gap = timedelta(seconds=seconds)
        yield gap, _rows(schema, groups, number, gap, punct)


def _rows(
    schema: StructType,
    groups: Collection[str],
    number: int,
    gap: timedelta,
    punct: str | None,
) -> list[dict[str, Any]]:
    return [
        {
            field.name: _punctuation(row)
            if field.name == punct
            else _value(field.dataType, row, field.name in groups, gap)
            for field in schema.fields
        }
        for row in range(number)
    ]


def _punctuation(row: int) -> str | None:
    """Return a window punctuation for every fourth row, and NULL for rows of the window."""
    return "window" if row % 4 == 3 else None


def _value(kind: DataType, row: int, is_group: bool, gap: timedelta) -> Any:
    """Return a value of a row; types that a picture does not need are NULL."""
    # Two groups whose rows do not simply alternate.
    place = (row * 2 // 3) % 2 if is_group else row
    if isinstance(kind, StringType):
        return "AB"[place % 2]
    if isinstance(kind, IntegralType):
        return place + 1
    if isinstance(kind, FractionalType):
        return _PRICES[place % len(_PRICES)]
    if isinstance(kind, BooleanType):
        return place % 2 == 0
    instant = START + gap * row
    if isinstance(kind, TimestampType):
        return instant
    if isinstance(kind, TimestampNTZType):
        return instant.replace(tzinfo=None)
    if isinstance(kind, DateType):
        return instant.date()
    return None
