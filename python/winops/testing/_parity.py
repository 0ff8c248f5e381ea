"""The comparison of what a stream wrote with the same windows over a table."""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from pyspark.sql import functions as F
from pyspark.sql.types import TimestampNTZType, TimestampType

from winops import _arguments as arguments
from winops._errors import wrong_type, wrong_value
from winops.testing._rows import as_dict, as_rows, is_pandas, plain

_SHOWN = 10


@arguments.known
def assert_same(
    stream_rows: Any,
    table_rows: Any,
    *,
    ignore: arguments.Names = (),
    tolerance: float | None = None,
) -> None:
    """Assert that what a stream wrote equals the same windows over a table.

    Rows are compared without their order, by the names of their columns. Every row counts as
    often as it occurs, so a row that the stream wrote twice is a difference.

    Parameters
    ----------
    stream_rows, table_rows : DataFrame, pandas.DataFrame, list of dict, or list of Row
        The rows to compare. A DataFrame of Spark is collected. In a pandas frame, a column of
        floating-point numbers with NaN may stand for a nullable column of integers: NULL then
        equals NaN, and an integer equals its nearest floating-point number. Beside a DataFrame of
        Spark, a timestamp of a pandas frame without a zone is in the session's time zone, as that
        of ``toPandas()``; the two instants of a repeated hour are then equal.
    ignore : str or list of str, optional
        Columns that are not compared.
    tolerance : float, optional
        The greatest relative difference of two floating-point numbers that count as equal. If it
        is omitted, all of their bits are compared: 0.0 differs from -0.0, and NaN equals NaN.

    Raises
    ------
    AssertionError
        The rows differ. The message names up to 10 rows of each side.
    PySparkTypeError, PySparkValueError
        ``WINOPS_ARGUMENT``: an argument is invalid, or two columns have one name.

    Examples
    --------
    >>> from winops.testing import assert_same
    >>> assert_same([{"n": 1, "mean": 0.5}], [{"n": 1, "mean": 0.5}])
    >>> assert_same([{"n": 1, "mean": 0.1 + 0.2}], [{"n": 1, "mean": 0.3}])
    Traceback (most recent call last):
    ...
    AssertionError: The stream and the table differ.
    1 row differs in mean:
      stream: n=1, mean=0.30000000000000004
      table:  n=1, mean=0.3
    """
    ignored = arguments.names("ignore", None if _is_empty(ignore) else ignore)
    _check_tolerance(tolerance)
    left = _read(stream_rows, table_rows, ignored)
    right = _read(table_rows, stream_rows, ignored)
    for name in _columns_without_null(stream_rows) | _columns_without_null(table_rows):
        for row in (*left, *right):
            if name in row:
                row[name] = _as_float(row[name])
    columns = [_columns(side) for side in (left, right)]
    if left and right and columns[0] != columns[1]:
        raise AssertionError(
            f"The stream has the columns {', '.join(sorted(columns[0]))}; the table has "
            f"{', '.join(sorted(columns[1]))}."
        )
    only_left, only_right = _difference(left, right), _difference(right, left)
    pairs = _paired(only_left, only_right, tolerance)
    text = _differences(pairs, only_left, only_right, tolerance)
    if text:
        raise AssertionError("\n".join(["The stream and the table differ.", *text]))


def _is_empty(names: object) -> bool:
    return isinstance(names, (list, tuple)) and not names


def _check_tolerance(tolerance: object) -> None:
    if tolerance is None:
        return
    message = "tolerance= is a number from 0 to 1, the greatest relative difference."
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float):
        raise wrong_type(message)
    if not 0 <= tolerance < 1:
        raise wrong_value(message)


def _read(rows: Any, others: Any, ignored: Sequence[str]) -> list[dict[str, Any]]:
    if hasattr(rows, "collect"):
        _check_names(rows.columns, ignored)
        collected = (_in_session_zone(rows) if is_pandas(others) else rows).collect()
    else:
        if is_pandas(rows):
            _check_names(list(rows.columns), ignored)
        collected = as_rows(rows)
    for row in collected:
        if hasattr(row, "__fields__"):
            _check_names(row.__fields__, ignored)
    return [
        {name: value for name, value in as_dict(row).items() if name not in ignored}
        for row in collected
    ]


def _check_names(names: Sequence[str], ignored: Sequence[str]) -> None:
    named = Counter(name for name in names if name not in ignored)
    twice = [name for name, number in named.items() if number > 1]
    if twice:
        raise wrong_value(
            f"Several columns have the name {twice[0]}, and rows are compared by the names of "
            "their columns. Rename all but one of them."
        )


def _in_session_zone(df: Any) -> Any:
    """Return a DataFrame with timestamps as ``toPandas`` returns them; ``collect`` does not."""
    named = df.toDF(*(f"_{number}" for number in range(len(df.columns))))
    columns = [
        F.col(name).cast(TimestampNTZType())
        if isinstance(field.dataType, TimestampType)
        else F.col(name)
        for name, field in zip(named.columns, df.schema.fields, strict=True)
    ]
    return named.select(*columns).toDF(*df.columns)


def _columns_without_null(rows: Any) -> set[str]:
    """Return the columns of a pandas frame that have NaN for NULL."""
    if not is_pandas(rows):
        return set()
    return {
        name for name, kind in rows.dtypes.items() if kind.kind == "f" and rows[name].isna().any()
    }


class _Whole(float):
    """An integer that is compared with the floating-point numbers of a pandas frame."""


def _as_float(value: Any) -> Any:
    value = plain(value)
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int):
        return value
    try:
        return _Whole(value)
    except OverflowError:
        return value


def _columns(rows: Iterable[Mapping[str, Any]]) -> set[str]:
    return {name for row in rows for name in row}


def _difference(
    rows: Sequence[dict[str, Any]], others: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the rows that the others do not have, or have less often."""
    left = Counter(map(_key, others))
    found = []
    for row in rows:
        key = _key(row)
        if left[key] > 0:
            left[key] -= 1
        else:
            found.append(row)
    return found


def _key(value: Any, bits: bool = True) -> Hashable:
    """Return a value that is equal for equal values only: of their types and, of floats, bits."""
    value = plain(value)
    if isinstance(value, float):
        if not bits:
            return "float"
        return "NaN" if math.isnan(value) else ("float", struct.pack(">d", value))
    value = _by_name(value)
    if isinstance(value, bytearray):
        return _key(bytes(value))
    if isinstance(value, Mapping):
        members = ((_key(name, bits), _key(item, bits)) for name, item in value.items())
        return ("map", frozenset(members))
    if isinstance(value, (list, tuple)):
        return ("list", tuple(_key(item, bits) for item in value))
    return value if value is None else (type(value).__name__, _hashable(value))


def _by_name(value: Any) -> Any:
    """Return a nested row as a dict."""
    return value.asDict() if hasattr(value, "asDict") else value


def _hashable(value: Any) -> Hashable:
    return value if isinstance(value, Hashable) else repr(value)


def _paired(
    left: list[dict[str, Any]], right: list[dict[str, Any]], tolerance: float | None
) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Take the rows out of both lists that differ in floating-point numbers alone, as pairs.

    Rows within the tolerance are paired first, whatever their order.
    """
    waiting: dict[Hashable, list[dict[str, Any]]] = {}
    for row in right:
        waiting.setdefault(_key(row, bits=False), []).append(row)
    pairs, apart, alone = [], [], []
    for row in left:
        partners = waiting.get(_key(row, bits=False), [])
        close = (n for n, other in enumerate(partners) if not _differing(row, other, tolerance))
        number = next(close, None)
        if number is None:
            apart.append(row)
        else:
            pairs.append((row, partners.pop(number)))
    for row in apart:
        partners = waiting.get(_key(row, bits=False), [])
        if partners:
            pairs.append((row, partners.pop(0)))
        else:
            alone.append(row)
    left[:] = alone
    right[:] = [row for rows in waiting.values() for row in rows]
    return pairs


def _differences(
    pairs: Sequence[tuple[dict[str, Any], dict[str, Any]]],
    only_left: Sequence[dict[str, Any]],
    only_right: Sequence[dict[str, Any]],
    tolerance: float | None,
) -> list[str]:
    text = []
    differing = []
    for one, other in pairs:
        names = _differing(one, other, tolerance)
        if names:
            differing.append((names, one, other))
    if differing:
        names = sorted({name for some, _, _ in differing for name in some})
        text.append(f"{_rows(len(differing))} in {', '.join(names)}:")
        for _, one, other in differing[:_SHOWN]:
            text += [f"  stream: {_shown(one)}", f"  table:  {_shown(other)}"]
        text += _rest(len(differing))
    for side, rows in (("stream", only_left), ("table", only_right)):
        if rows:
            text.append(f"{len(rows)} {'row' if len(rows) == 1 else 'rows'} only in the {side}:")
            text += [f"  {_shown(row)}" for row in rows[:_SHOWN]]
            text += _rest(len(rows))
    return text


def _differing(
    one: Mapping[str, Any], other: Mapping[str, Any], tolerance: float | None
) -> list[str]:
    """Return the columns in which two rows differ."""
    return [name for name in one if not _is_close(one[name], other.get(name), tolerance)]


def _is_close(one: Any, other: Any, tolerance: float | None) -> bool:
    one, other = plain(one), plain(other)
    if _key(one) == _key(other):
        return True
    if tolerance is None:
        return False
    if isinstance(one, float) and isinstance(other, float):
        is_whole = isinstance(one, _Whole) or isinstance(other, _Whole)
        return not is_whole and math.isclose(one, other, rel_tol=tolerance)
    one, other = _by_name(one), _by_name(other)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        others = {_key(name): value for name, value in other.items()}
        return len(one) == len(others) and all(
            _key(name) in others and _is_close(value, others[_key(name)], tolerance)
            for name, value in one.items()
        )
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(
            _is_close(a, b, tolerance) for a, b in zip(one, other, strict=True)
        )
    return False


def _rows(number: int) -> str:
    return "1 row differs" if number == 1 else f"{number} rows differ"


def _rest(number: int) -> list[str]:
    return [f"  and {number - _SHOWN} more"] if number > _SHOWN else []


def _shown(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in row.items())
