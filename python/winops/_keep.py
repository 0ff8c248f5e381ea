"""The entry point :func:`winops.keep`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from datetime import timedelta
from typing import Literal

from pyspark.sql import DataFrame

from winops import _arguments as arguments
from winops._call import Call
from winops._dialects import WindowPolicy
from winops._errors import wrong_type
from winops._kept import Kept
from winops._options import key_options_of, options_of
from winops._policy import policy_of
from winops._session import check_session

# Names of columns that say what a row does, in the feeds of other products.
_NAMES_OF_OPERATIONS = ("op", "_op", "__op")


@arguments.known
def keep(
    df: DataFrame,
    policy: str | WindowPolicy | Mapping[str, str | WindowPolicy] | None = None,
    *,
    rows: int | None = None,
    slack: int | None = None,
    interval: str | timedelta | None = None,
    every: bool = False,
    per: arguments.Names | None = None,
    order_by: arguments.SortKeys | None = None,
    time: str | None = None,
    apply: Literal["event_time", "arrival"] | None = None,
    params: Mapping[str, arguments.Parameter] | None = None,
    origin: int | Literal["first"] | None = None,
    idle: str | timedelta | None = None,
    max_rows: int | None = None,
    on_null_time: Literal["error", "drop"] | None = None,
    punct: str | None = None,
    at_end: Literal["wait", "flush"] | None = None,
    on_change: Literal["refuse", "carry"] | None = None,
    fill: Mapping[str, arguments.Fill] | None = None,
    key_columns: arguments.Names | None = None,
    key: arguments.Names | None = None,
    op: str | None = None,
    updates: Literal["delete_insert", "update"] | None = None,
    row_id: bool | None = None,
    late: Literal["drop", "emit"] | None = None,
    corrections: bool = False,
    buffer: int | None = None,
) -> Kept:
    """Keep the rows of a static or streaming DataFrame in windows defined by a policy.

    Supports Spark Connect.

    Parameters
    ----------
    df : DataFrame
        The input rows. Without `key`, every row is treated as an insert.
    policy : str or WindowPolicy or dict, optional
        A policy in CCL, such as ``KEEP 100 ROWS SLACK 10 PER (symbol)``, or in another language:
        :func:`winops.esper`, :func:`winops.apama`, :func:`winops.spl`. If it is omitted, `rows`
        or `interval` defines the window. A dict of names and policies of one language defines
        several windows over the same rows, which are stored once.
    rows : int, optional
        The number of newest rows to keep in each group.
    slack : int, optional
        The number of rows to evict at once: the window grows to `rows` + `slack` rows, then the
        oldest `slack` rows are evicted. The default is 1.
    interval : str or datetime.timedelta, optional
        The time for which each row is kept. A string is written as in CCL: ``10 minutes``,
        ``1 hour 30 min``, ``02:30:00``.
    every : bool, default False
        Empty the whole window at once: when row `rows` + 1 arrives, or at the end of each
        `interval`.
    per : str or list of str, optional
        The group key: each distinct combination of these columns has its own window. It may
        repeat the policy's PER. If it is omitted, all rows share one window. An empty list is
        refused.
    order_by : str, Column or list of these, optional
        The sort order of the rows of a group, as in ``DataFrame.orderBy``: a name means
        ascending order with NULLs first; ``F.desc("seq")`` and ``F.asc_nulls_last("seq")`` give
        another order. If it is omitted, rows keep the order of the source: of files, Kafka,
        ranges and local rows. Rows after a shuffle and rows of other sources have no order; for
        them `order_by` is required, unless `time` orders the rows.
    time : str, optional
        The event time column: timestamp or timestamp_ntz. On a stream it needs
        ``withWatermark``. If it is omitted, time is the timestamp of the micro-batch.
    apply : {"event_time", "arrival"}, optional
        The application order with `time`: ``event_time``, the default, holds rows until the
        watermark has passed them and applies them in order of event time; ``arrival`` applies
        rows in the order of arrival.
    params : dict, optional
        The values of the parameters in the policy's text, and of the variables in Esper's text:
        int, float, Decimal, str or timedelta.
    origin : int or "first", optional
        The start of the first period, in milliseconds since the epoch; ``first`` is each group's
        first row. The default is 0 in CCL and Apama, and the first row in Esper and IBM Streams.
    idle : str or datetime.timedelta, optional
        The time after which a group without new rows is removed; its rows are deleted in the
        change stream. If it is omitted, a count window keeps every group forever.
    max_rows : int, optional
        The maximum number of rows of a group, 10 million by default; more rows fail the query
        with ``WINOPS_MAX_ROWS``.
    on_null_time : {"error", "drop"}, optional
        The treatment of a row whose `time` is NULL: ``error``, the default, fails the query;
        ``drop`` drops the row and counts it.
    punct : str, optional
        A string column with punctuations, for windows of IBM Streams: ``window`` is a window
        punctuation, ``final`` the end of the input, and NULL marks an ordinary row.
    at_end : {"wait", "flush"}, optional
        The treatment of rows that wait for the watermark when the input of a stream ends.
        ``wait``, the default, leaves these rows in the checkpoint. ``flush`` moves the watermark
        past these rows, so that they are applied and time advances to the last of them, as on a
        table. In a later run, rows that are not later than the last of them are late, dropped and
        counted. A start without new rows flushes nothing. The query needs
        ``trigger(availableNow=True)``, and the call needs `time` with ``apply="event_time"``.
    on_change : {"refuse", "carry"}, optional
        The treatment of a restart with another window: ``refuse``, the default, fails the query,
        unless the table of :func:`winops.with_history` has the rows before;
        ``carry`` lets the rows that are held enter the new window in the order of their arrival,
        and deletes those that it does not keep, also if the query has a table.
    fill : dict, optional
        The values that stored rows get in columns that a restart adds, by the names of the
        columns: int, float, Decimal, str or bool. Other columns are NULL there.
    key_columns : str or list of str, optional
        The primary key columns of the rows, used only to warn about groups of single rows; `op`
        needs `key`.
    key : str or list of str, optional
        The primary key columns. A group holds one row of each key, and a row of the input
        inserts, updates or deletes the row of its key: as `op` says, or inserts or updates it if
        there is no `op`. An update keeps the place and the age of its row.
    op : str, optional
        A string column that says what a row does, in any case: ``insert``, ``update``,
        ``upsert``, ``delete``; ``c``, ``r``, ``u``, ``d`` of Debezium; ``insert``,
        ``update_preimage``, ``update_postimage``, ``delete`` of change feeds; the types of
        changes of another window. The column is not in the output.
    updates : {"delete_insert", "update"}, optional
        The changes of an update: ``delete_insert``, the default, gives a ``delete`` with the
        former values and an ``insert`` with the new ones; ``update`` gives them the types
        ``update_before`` and ``update_after``.
    row_id : bool, optional
        True adds the columns ``_change_row`` and ``_change_version`` to the changes. The default
        is True with `key` and False without.
    late : {"drop", "emit"}, optional
        The treatment of rows without effect: ``drop``, the default, counts late rows, rows that
        the window refuses, and updates and deletes of rows that it does not hold, and fails for
        rows without a valid operation or key; ``emit`` emits all of them among the changes as
        ``late`` or ``refused``, with the reason in ``_change_reason``, and rows without a time
        too, whatever `on_null_time` is. :meth:`Kept.lookup` emits rows that look up if they are
        late or have no time; rows of its windows are treated as with ``drop``.
    corrections : bool, default False
        True emits a row again in ``withColumns`` when it is updated or returns.
    buffer : int, optional
        The number of rows that are stored behind a window of `key` and a number of rows: ``KEEP n
        ROWS``, ``#length``, ``#sort``, ``#rank``. When a delete or an update makes room, the best
        of them returns, with the reason ``returned``. By default, evicted rows do not return.

    Returns
    -------
    Kept
        An object whose methods return the changes and the rows as DataFrames.

    Raises
    ------
    PySparkTypeError, PySparkValueError
        ``WINOPS_ARGUMENT``: an argument or a combination of arguments is invalid.
    AnalysisException
        ``WINOPS_POLICY`` and other conditions: Spark refuses the call because of the policy's
        text, the columns or the stream.
    PySparkRuntimeError
        ``WINOPS_JAR_MISSING``, ``WINOPS_VERSION_MISMATCH``: the session lacks a matching JAR.

    Warns
    -----
    UserWarning
        The columns of `per` contain those of `key_columns`, so every row is its own group. Or
        `key` is given without `op`, and a string column ``op``, ``_op`` or ``__op`` of the input
        seems to say what a row does.

    Examples
    --------
    >>> from winops import keep
    >>> trades = spark.createDataFrame(
    ...     [(1, "A", 5.0), (2, "B", 7.0), (3, "A", 6.0), (4, "A", 4.0)],
    ...     "seq long, symbol string, price double",
    ... )
    >>> keep(trades, "KEEP 2 ROWS PER (symbol)", order_by="seq").rows().orderBy("seq").show()
    +---+------+-----+
    |seq|symbol|price|
    +---+------+-----+
    |  2|     B|  7.0|
    |  3|     A|  6.0|
    |  4|     A|  4.0|
    +---+------+-----+
    <BLANKLINE>

    The same window in keywords:

    >>> keep(trades, rows=2, per="symbol", order_by="seq").rows().count()
    3
    """
    if not isinstance(df, DataFrame):
        raise wrong_type(_no_dataframe(df))
    call = Call(
        policy=policy_of(
            policy,
            rows=rows,
            slack=slack,
            interval=interval,
            every=every,
            params=params,
        ),
        per=arguments.names("per", per),
        order_by=arguments.sort_keys("order_by", order_by),
        options=options_of(
            time, apply, origin, idle, max_rows, on_null_time, punct, at_end, on_change
        )
        | key_options_of(key, op, updates, row_id, late, corrections, buffer, key_columns),
        fill=arguments.fill(fill),
        key=arguments.names("key", key),
    )
    arguments.check_directions("order_by", call.order_by, df)
    keys = arguments.names("key_columns", key_columns)
    check_session(df.sparkSession)
    kept = Kept(df, call)
    given = call.warnings(df, keys) if keys else []
    if call.key and op is None:
        given += _forgotten_operations(df)
    for warning in given:
        # One level for keep, one for the check of its argument names.
        warnings.warn(warning, UserWarning, stacklevel=3)
    return kept


def _forgotten_operations(df: DataFrame) -> list[str]:
    """Return a warning if a string column seems to be ``op=``, in a call without it."""
    return [
        "Each row is an upsert, because key= is given without op=, and the input has a string "
        f"column {name}. If it says what a row does, give op={name!r}; otherwise drop or rename "
        "it."
        for name, kind in df.dtypes
        if name.lower() in _NAMES_OF_OPERATIONS and kind.startswith("string")
    ][:1]


def _no_dataframe(given: object) -> str:
    """Return the error message about a value that is not a DataFrame."""
    if type(given).__name__ == "DataFrame":
        return f"keep takes a {arguments.not_dataframe(given)}"
    return f"keep takes a DataFrame, not a {type(given).__name__}.{_instead_of(given)}"


def _instead_of(given: object) -> str:
    """Return a hint for the error message about a value that is not a DataFrame."""
    if isinstance(given, Kept):
        return " Pass one of its results, such as kept.changes() or kept.inserts()."
    # Spark Connect has its own class of this name.
    if type(given).__name__ == "GroupedData":
        return ' Pass the DataFrame before groupBy, and the columns of the group as per="...".'
    return " Create one, for example with spark.table or spark.createDataFrame."
