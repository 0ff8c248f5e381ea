"""Rows joined with the nearest rows of another input in time: :func:`winops.asof_join`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Literal

from pyspark.sql import DataFrame

from winops import _arguments as arguments
from winops._errors import wrong_type, wrong_value
from winops._literals import array, literal
from winops._session import check_session

_DIRECTIONS = ("backward", "forward", "nearest")
_HOW = ("left", "inner")


@arguments.known
def asof_join(
    left: DataFrame,
    right: DataFrame,
    *,
    on: str | None = None,
    left_on: str | None = None,
    right_on: str | None = None,
    by: arguments.Names | None = None,
    left_by: arguments.Names | None = None,
    right_by: arguments.Names | None = None,
    direction: Literal["backward", "forward", "nearest"] = "backward",
    tolerance: str | timedelta | None = None,
    allow_exact_matches: bool = True,
    how: Literal["left", "inner"] = "left",
    suffixes: Sequence[str | None] = ("_x", "_y"),
    idle: str | timedelta | None = None,
    max_rows: int | None = None,
    at_end: Literal["wait", "flush"] | None = None,
    late: Literal["drop", "emit"] | None = None,
) -> DataFrame:
    """Join each row with the row of another DataFrame that is the nearest in time.

    The arguments have the names and meanings of pandas' ``merge_asof``. Neither side has to be
    sorted. Both sides are tables, or both are streams. A stream gives the rows of the tables; it
    joins a row when the watermark has passed its time. Supports Spark Connect.

    Parameters
    ----------
    left, right : DataFrame
        The rows to join, and the rows that they are joined with. On a stream, the time column of
        each side needs ``withWatermark``.
    on : str, optional
        The time column of both sides: timestamp, over tables also timestamp_ntz. The result has
        it once, with the values of the left side. Give it, or both `left_on` and `right_on`.
    left_on, right_on : str, optional
        The time column of each side. The result has both.
    by : str or list of str, optional
        The columns of both sides whose values must be equal. The result has them once. If no
        column is named, every row of the right side may match. Columns of different types are
        compared in a type that has all values of both; a string is compared with strings only.
    left_by, right_by : str or list of str, optional
        The same for columns with different names: as many on each side.
    direction : {"backward", "forward", "nearest"}, default "backward"
        The row that matches: ``backward`` takes the newest row of the right side that is not
        newer than the row; ``forward`` the oldest that is not older; ``nearest`` the nearer of
        the two, and the older one if both are as near. On streams, ``forward`` and ``nearest``
        need a `tolerance`: a row waits until the watermark has passed its time by as much, and
        its time has no watermark in the result.
    tolerance : str or datetime.timedelta, optional
        The greatest distance of the two times, such as ``5 seconds``. If it is omitted, any
        distance matches.
    allow_exact_matches : bool, default True
        False if a row of the same time does not match.
    how : {"left", "inner"}, default "left"
        The rows without a match: ``left`` emits them with NULL in the columns of the right side;
        ``inner`` omits them.
    suffixes : pair of str, default ("_x", "_y")
        The texts that are appended to the names of other columns that both sides have; None
        appends nothing.
    idle : str or datetime.timedelta, optional
        The time after which the newest row of a key of the right side is removed if no other row
        of the key has come, so that it matches nothing any more; only with ``backward``. If it is
        omitted, the state of a stream has the newest row of every key forever.
    max_rows : int, optional
        The maximum number of rows of a key, 10 million by default, rows of either side that wait
        among them; more rows fail the query with ``WINOPS_MAX_ROWS``.
    at_end : {"wait", "flush"}, optional
        The treatment of rows that wait for the watermark when the input of a stream ends:
        ``wait``, the default, leaves them in the checkpoint; ``flush``, with ``backward`` only,
        joins them, as `at_end` of `keep` does.
    late : {"drop", "emit"}, optional
        The treatment of late rows of the left side: ``drop``, the default, drops and counts them;
        ``emit`` emits them, and rows without a time, with NULL in the columns of the right side
        and the reason, ``late`` or ``time missing``, in a last column ``_change_reason``.

    Returns
    -------
    DataFrame
        The columns of the left side, then those of the right side without the columns of `on` and
        `by`. Each row of the left side occurs at most once. Of several rows of the right side at
        one time, the last in the order of their source matches. NULL in a column of `by` matches
        nothing, and neither does a row without a time.

    Raises
    ------
    PySparkTypeError, PySparkValueError
        ``WINOPS_ARGUMENT``: an argument or a combination of arguments is invalid.
    AnalysisException
        ``WINOPS_ASOF_JOIN``: one side is a stream and the other one a table, a stream has another
        `direction` than ``backward`` without a `tolerance`, the times have different types, or
        no type has the values of both columns of a key, only one of them is a string, or their
        collations differ;
        ``WINOPS_UNKNOWN_COLUMN``: a side lacks a column;
        ``WINOPS_COLUMN_CONFLICT``: two columns of the result would have one name;
        ``WINOPS_TIME_TYPE``: a time column is not a timestamp; ``WINOPS_WATERMARK_REQUIRED``: the
        time column of a stream has no watermark.
    SparkRuntimeException
        ``WINOPS_MAX_ROWS``: a key has more rows than `max_rows`.

    See Also
    --------
    Kept.lookup : Joins a row with aggregates of a window instead of one row.

    Examples
    --------
    >>> from winops import asof_join
    >>> trades = spark.createDataFrame(
    ...     [(1, "A", 100), (4, "A", 50), (4, "B", 10)], "sec long, symbol string, size long"
    ... ).selectExpr("timestamp_seconds(sec) AS ts", "symbol", "size")
    >>> quotes = spark.createDataFrame(
    ...     [(0, "A", 9.9), (3, "A", 10.1), (5, "B", 20.0)],
    ...     "sec long, symbol string, bid double",
    ... ).selectExpr("timestamp_seconds(sec) AS ts", "symbol", "bid")
    >>> joined = asof_join(trades, quotes, on="ts", by="symbol")
    >>> joined.drop("ts").orderBy("symbol", "size").show()
    +------+----+----+
    |symbol|size| bid|
    +------+----+----+
    |     A|  50|10.1|
    |     A| 100| 9.9|
    |     B|  10|NULL|
    +------+----+----+
    <BLANKLINE>
    """
    for name, df in (("left", left), ("right", right)):
        arguments.dataframe(f"{name}=", df)
    given = [
        *_times(on, left_on, right_on),
        *_keys(by, left_by, right_by),
        f"direction => {literal(arguments.choice('direction', direction, _DIRECTIONS))}",
        f"how => {literal(arguments.choice('how', how, _HOW))}",
        "allow_exact_matches => "
        + literal(arguments.flag("allow_exact_matches", allow_exact_matches)),
        f"suffixes => {array(_suffixes(suffixes))}",
    ]
    if tolerance is not None:
        given.append(f"tolerance => {literal(arguments.tolerance('tolerance', tolerance))}")
    given += _options(idle, max_rows, at_end, late)
    check_session(left.sparkSession)
    query = ["SELECT *", f"FROM asof_join(TABLE({{left}}), TABLE({{right}}), {', '.join(given)})"]
    return left.sparkSession.sql("\n".join(query), left=left, right=right)


def _options(idle: object, max_rows: object, at_end: object, late: object) -> list[str]:
    """Write the arguments that `keep` has, too."""
    given: dict[str, int | str] = {}
    if idle is not None:
        given["idle"] = arguments.interval("idle", idle)
    if max_rows is not None:
        given["max_rows"] = arguments.count("max_rows", max_rows)
    if at_end is not None:
        given["at_end"] = arguments.choice("at_end", at_end, ("wait", "flush"))
    if late is not None:
        given["late"] = arguments.choice("late", late, ("drop", "emit"))
    return [f"{name} => {literal(value)}" for name, value in given.items()]


def _times(on: object, left_on: object, right_on: object) -> list[str]:
    """Write the time columns as arguments in SQL."""
    _check_sides("on", on, left_on, right_on)
    if on is None and left_on is None:
        raise wrong_value("on= is missing. Give on=, or left_on= and right_on=.")
    given = {"on": on, "left_on": left_on, "right_on": right_on}
    return [
        f"{name} => {literal(arguments.text(name, column, 'the name of one column'))}"
        for name, column in given.items()
        if column is not None
    ]


def _keys(by: object, left_by: object, right_by: object) -> list[str]:
    """Write the columns of the keys as arguments in SQL."""
    _check_sides("by", by, left_by, right_by)
    given = {
        name: arguments.names(name, columns)
        for name, columns in (("by", by), ("left_by", left_by), ("right_by", right_by))
    }
    if len(given["left_by"]) != len(given["right_by"]):
        raise wrong_value(
            "left_by= and right_by= name as many columns of each side, not "
            f"{len(given['left_by'])} and {len(given['right_by'])}."
        )
    return [f"{name} => {array(columns)}" for name, columns in given.items() if columns]


def _check_sides(name: str, both: object, left: object, right: object) -> None:
    """Check that a column is named for both sides at once, or for each of them."""
    if both is not None and (left is not None or right is not None):
        raise wrong_value(
            f"{name}= names a column of both sides, and left_{name}= and right_{name}= one of "
            f"each. Give {name}=, or the other two."
        )
    if (left is None) != (right is None):
        missing = f"left_{name}" if left is None else f"right_{name}"
        raise wrong_value(f"{missing}= is missing. left_{name}= and right_{name}= go together.")


def _suffixes(value: object) -> tuple[str, str]:
    if isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 2:
        one, other = ("" if suffix is None else suffix for suffix in value)
        if isinstance(one, str) and isinstance(other, str):
            return one, other
    raise wrong_type('suffixes= takes two texts or None, such as ("_x", "_y").')
