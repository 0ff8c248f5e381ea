"""Rows of tests: lists of dicts and pandas frames as JSON, with a schema."""

from __future__ import annotations

import base64
import math
import struct
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

from pyspark.sql import Row
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DayTimeIntervalType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegralType,
    LongType,
    MapType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from winops._errors import wrong_type, wrong_value

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)

_TYPES: tuple[tuple[type, DataType], ...] = (
    (bool, BooleanType()),
    (int, LongType()),
    (float, DoubleType()),
    (str, StringType()),
    (bytes, BinaryType()),
    (datetime, TimestampType()),
    (date, DateType()),
    (timedelta, DayTimeIntervalType()),
    (Decimal, DecimalType(38, 18)),
)

#: A list of dicts or of Rows, or a pandas frame.
Rows = Any

#: The columns of rows, as requests have them: DDL, or the JSON of a StructType.
Schema = str | dict[str, Any]


def is_pandas(rows: Any) -> bool:
    """Return True for a pandas frame."""
    # A DataFrame of Spark Connect takes any attribute for a column, from Spark 4.2 on.
    return hasattr(type(rows), "to_dict") and hasattr(type(rows), "columns")


def as_rows(rows: Any) -> list[Any]:
    """Return rows as a list; those of a pandas frame as dicts."""
    if is_pandas(rows):
        return [
            {name: plain(value) for name, value in row.items()} for row in rows.to_dict("records")
        ]
    if isinstance(rows, (str, bytes, Mapping)) or not hasattr(rows, "__iter__"):
        raise wrong_type(
            f"The rows are a list of dicts or a pandas frame, not a {type(rows).__name__}."
        )
    return list(rows)


def as_dict(row: Any) -> Mapping[str, Any]:
    """Return a row with the names of its columns."""
    if isinstance(row, Mapping):
        return row
    if hasattr(row, "asDict"):
        return dict(row.asDict())
    if hasattr(row, "_asdict"):
        return dict(row._asdict())
    raise wrong_type(f"A row is a dict or a Row, not a {type(row).__name__}: {row!r}.")


def schema_of(rows: Sequence[Any], schema: str | StructType | None) -> Schema:
    """Return a schema for a request: the given one, or one that follows from the values."""
    if isinstance(schema, str):
        return schema
    if schema is None:
        values: dict[str, Any] = {}
        for row in rows:
            for name, value in as_dict(row).items():
                if values.get(name) is None:
                    values[name] = value
        if not values:
            raise wrong_value("Without rows there is no type of a column. Add schema=.")
        schema = StructType()
        for name, value in values.items():
            schema.add(name, _type(name, value))
    found: dict[str, Any] = schema.jsonValue()
    return found


def check_added(rows: Sequence[Any], columns: Sequence[str] | None) -> None:
    """Refuse arguments of ``add`` that are no rows, or have a name that is no column."""
    for row in rows:
        if is_pandas(row):
            raise wrong_type('add() takes rows: write add(*frame.to_dict("records")).')
        # A Row is a tuple with names.
        if isinstance(row, (list, tuple)) and not _has_names(row):
            raise wrong_type("add() takes rows: write add(*rows).")
        for name in as_dict(row):
            if columns is not None and name not in columns:
                raise wrong_value(
                    f"A row has a value for {name}, but there is no such column. The columns are "
                    f"{', '.join(columns)}. Spell the name as there, or add it to schema=."
                )


def _has_names(row: Any) -> bool:
    return hasattr(row, "asDict") or hasattr(row, "_asdict")


def from_json(value: Any, kind: DataType) -> Any:
    """Return a value that Spark has written as JSON, with its numbers as int and Decimal."""
    if value is None:
        return None
    match kind:
        case DoubleType():
            return float(value)
        case FloatType():
            return struct.unpack("f", struct.pack("f", float(value)))[0]
        case DecimalType():
            return Decimal(value)
        case TimestampType():
            return datetime.fromisoformat(value).astimezone().replace(tzinfo=None)
        case TimestampNTZType():
            return datetime.fromisoformat(value)
        case DateType():
            return date.fromisoformat(value)
        case DayTimeIntervalType():
            return timedelta(microseconds=int(value))
        case BinaryType():
            return base64.b64decode(value)
        case ArrayType():
            return [from_json(item, kind.elementType) for item in value]
        case MapType():
            return {
                _key(key, kind.keyType): from_json(item, kind.valueType)
                for key, item in value.items()
            }
        case StructType():
            values = {each.name: from_json(value[each.name], each.dataType) for each in kind}
            return Row(**values)
    return value


def _key(text: str, kind: DataType) -> Any:
    """Return the key of a map, which JSON has as a text."""
    if isinstance(kind, IntegralType):
        return int(text)
    if isinstance(kind, BooleanType):
        return text == "true"
    return from_json(text, kind)


def _interval_text(value: timedelta) -> str:
    """Return an interval as Spark writes it."""
    span = abs(value)
    seconds = f"{span.seconds % 60:02}.{span.microseconds:06}"
    clock = f"{span.seconds // 3600:02}:{span.seconds // 60 % 60:02}:{seconds}"
    sign = "-" if value < timedelta() else ""
    return f"INTERVAL '{sign}{span.days} {clock}' DAY TO SECOND"


def as_json(value: Any) -> Any:
    """Return a value, or a row, in the form that Spark reads from JSON."""
    value = plain(value)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else _nonfinite(value)
    if isinstance(value, Decimal):
        return [str(value)]
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, timedelta):
        return _interval_text(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, (list, set)) or (
        isinstance(value, tuple)
        and not hasattr(value, "_fields")
        and not hasattr(value, "asDict")
    ):
        return [_nested(item) for item in value]
    return {str(name): _nested(item) for name, item in as_dict(value).items()}


def millis(instant: datetime) -> int:
    """Return an instant in milliseconds since 1970."""
    if not isinstance(instant, datetime):
        raise wrong_type(f"Takes a datetime, not a {type(instant).__name__}.")
    # A time without a zone is local, as in PySpark.
    return (instant.astimezone(timezone.utc) - _EPOCH) // timedelta(milliseconds=1)


def local(micros: int | None) -> datetime | None:
    """Return microseconds since 1970 as a local time without a zone, as ``collect()`` does."""
    if micros is None:
        return None
    return (_EPOCH + timedelta(microseconds=micros)).astimezone().replace(tzinfo=None)


def _nested(value: Any) -> Any:
    """Return a value within a row, where a decimal is a text."""
    return str(value) if isinstance(value, Decimal) else as_json(value)


def _nonfinite(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def plain(value: Any) -> Any:
    """Return the Python value of a scalar or array of numpy's or pandas'."""
    kind = type(value).__name__
    if kind in ("NaTType", "NAType"):
        return None
    if kind == "Timestamp":
        return value.to_pydatetime()
    if kind == "Timedelta":
        return value.to_pytimedelta()
    is_of_numpy = type(value).__module__ == "numpy" and hasattr(value, "tolist")
    return value.tolist() if is_of_numpy else value


def _type(name: str, value: Any) -> DataType:
    value = plain(value)
    for kind, of_spark in _TYPES:
        if isinstance(value, kind):
            return of_spark
    raise wrong_value(
        f"The type of the column {name} does not follow from "
        f"{'NULL alone' if value is None else f'a {type(value).__name__}'}. Add schema=."
    )
