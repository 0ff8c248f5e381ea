"""SQL literals that every session parses to the same value.

Parameter markers would avoid literals, but only Spark's own parser handles them: a session
extension that wraps the parser, such as Delta Lake's, loses their values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal

Value = int | float | Decimal | str | None


def literal(value: Value) -> str:
    """Write a value as SQL.

    A string is written as the hexadecimal form of its UTF-8 bytes, so the SQL contains none of
    its characters and nothing needs escaping: ``spark.sql.parser.escapedStringLiterals``,
    ``spark.sql.variable.substitute`` and the formatting of DataFrames in the query cannot change
    quotes, backslashes, ``${...}`` and braces.
    """
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return f"CAST(X'{_utf8(value).hex()}' AS STRING)"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"CAST('{float.__repr__(value)}' AS DOUBLE)"
    if isinstance(value, Decimal):
        return f"{value}BD"
    return f"{int(value):d}L"


def call(function: str, *values: Value) -> str:
    """Write a function call."""
    return f"{function}({', '.join(map(literal, values))})"


def select_from(function: str, *values: Value) -> str:
    """Write a query for all rows of a table function."""
    return " ".join(("SELECT * FROM", call(function, *values)))


def array(values: Iterable[str]) -> str:
    """Write strings as an array."""
    return call("array", *values)


def struct(named: Mapping[str, Value]) -> str:
    """Write a dict of names and values as a struct."""
    return call("named_struct", *(value for field in named.items() for value in field))


def _utf8(text: str) -> bytes:
    """Encode a string as UTF-8; an unpaired surrogate becomes a question mark."""
    return text.encode("utf-8", errors="replace")
