"""Values written as SQL literals that read the same in every session.

Parameter markers would do without them, but their values reach Spark's own parser only: a session
extension that wraps the parser, as that of Delta Lake does, loses them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal

Value = int | float | Decimal | str | None


def literal(value: Value) -> str:
    """Write a value as SQL.

    No character of a text stands in the SQL: its bytes are written in hexadecimal. So there is
    nothing to escape, whatever ``spark.sql.parser.escapedStringLiterals``,
    ``spark.sql.variable.substitute`` and the formatting of DataFrames in the query would make
    of quotes, backslashes, ``${...}`` and braces.
    """
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return f"CAST(X'{_utf8(value).hex()}' AS STRING)"
    if isinstance(value, float):
        return f"CAST('{float.__repr__(value)}' AS DOUBLE)"
    if isinstance(value, Decimal):
        return f"{value}BD"
    return f"{int(value):d}L"


def call(function: str, *values: Value) -> str:
    """Write the call of a function."""
    return f"{function}({', '.join(map(literal, values))})"


def select_from(function: str, *values: Value) -> str:
    """Write the query for all that a table function gives."""
    return " ".join(("SELECT * FROM", call(function, *values)))


def array(values: Iterable[str]) -> str:
    """Write texts as an array."""
    return call("array", *values)


def struct(named: Mapping[str, Value]) -> str:
    """Write values under names as a struct."""
    return call("named_struct", *(value for field in named.items() for value in field))


def _utf8(text: str) -> bytes:
    """Encode a text; a surrogate without its other half becomes a question mark."""
    return text.encode("utf-8", errors="replace")
