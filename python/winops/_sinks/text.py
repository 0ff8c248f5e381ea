"""Values as text, for sinks outside of Spark."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from winops._sinks.identified import quoted

# An instant with its offset from UTC is the same for every reader, whatever the time zone of the
# session was.
_INSTANT = "yyyy-MM-dd HH:mm:ss.SSSSSSxxx"
_NESTED = ("array", "map", "struct", "variant")


def as_text(df: DataFrame, name: str) -> Column:
    r"""Return a column as text; NULL stays NULL.

    Nested values become JSON, binary values hexadecimal digits after ``\x``, as PostgreSQL
    writes them, and timestamps have their offset from UTC.
    """
    column = F.col(quoted(name))
    kind = df.schema[name].dataType.typeName()
    if kind == "timestamp":
        return F.date_format(column, _INSTANT)
    if kind == "binary":
        return F.concat(F.lit("\\x"), F.lower(F.hex(column)))
    if kind in _NESTED:
        return F.to_json(column, {"ignoreNullFields": "false"})
    return column.cast("string")


def as_json(names: Iterable[str]) -> Column:
    """Return columns as one JSON object, with NULL values."""
    values = [F.col(quoted(name)).alias(name) for name in names]
    return F.to_json(F.struct(*values), {"ignoreNullFields": "false"})
