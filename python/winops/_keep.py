"""The one function of the package."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from datetime import timedelta
from typing import Literal

from pyspark.sql import DataFrame

from winops import _arguments as arguments
from winops._call import Call
from winops._dialects import Window
from winops._errors import wrong_type, wrong_value
from winops._kept import Kept
from winops._policy import policy_of
from winops._session import check_session


def keep(
    df: DataFrame,
    policy: str | Window | Mapping[str, str | Window] | None = None,
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
    variables: Mapping[str, arguments.Parameter] | None = None,
    origin: int | Literal["first"] | None = None,
    idle: str | timedelta | None = None,
    max_rows: int | None = None,
    on_null_time: Literal["error", "drop"] | None = None,
    punct: str | None = None,
    at_end: Literal["wait", "flush"] | None = None,
    key_columns: arguments.Names | None = None,
) -> Kept:
    """Retain the rows of a DataFrame, static or streaming, by a policy.

    Supports Spark Connect.

    Parameters
    ----------
    df : DataFrame
        The rows. All of them are taken as inserts.
    policy : str or Window or dict, optional
        A policy in CCL, such as ``KEEP 100 ROWS SLACK 10 PER (symbol)``, or in another language:
        :func:`winops.esper`, :func:`winops.apama`, :func:`winops.spl`. Without it, either `rows`
        or `interval` says what to keep. A dict of names and policies of one language is several
        windows over the same rows, which are stored once.
    rows : int, optional
        Keep this many of the newest rows, per group.
    slack : int, optional
        Purge this many rows at once, as soon as there are that many too many; 1 if not given.
    interval : str or datetime.timedelta, optional
        Keep a row for this long. A text is written as in CCL: ``10 minutes``, ``1 hour 30 min``,
        ``02:30:00``.
    every : bool, default False
        Empty the whole window at once: when row `rows` + 1 arrives, or at the end of each
        `interval`.
    per : str or list of str, optional
        The columns whose distinct values have a window each. It may repeat the policy's PER.
        Without it all rows have one window; an empty list is refused.
    order_by : str, Column or list of these, optional
        The columns that order the rows of a group, as in ``DataFrame.orderBy``: a name stands for
        ascending order with NULLs first; ``F.desc("seq")`` and ``F.asc_nulls_last("seq")`` give
        another one. Without it they have the order of the source: of files, Kafka, ranges and
        local rows. Above a shuffle, and for other sources, there is none; then it is required,
        unless `time` orders the rows.
    time : str, optional
        The column with the event time: timestamp or timestamp_ntz. On a stream it needs
        ``withWatermark``. Without it, time is the timestamp of the micro-batch.
    apply : {"event_time", "arrival"}, optional
        With `time`: ``event_time``, the default, lets rows wait until the watermark has passed
        them, and applies them in order; ``arrival`` applies them as they come.
    params : dict, optional
        The values of the names in the policy's text: int, float, Decimal, str or timedelta.
    variables : dict, optional
        The same under the name that Esper has for it: constants of the query.
    origin : int or "first", optional
        Where periods start to count, in milliseconds since the epoch; ``first`` is each group's
        first row. The default is 0 in CCL and Apama, and the first row in Esper and IBM Streams.
    idle : str or datetime.timedelta, optional
        Forget a group after this much silence; its rows are deleted in the change stream. Without
        it a window by rows remembers every group for ever.
    max_rows : int, optional
        The most rows that a group may hold, 10 million if not given; more fail the query with
        ``WINOPS_MAX_ROWS``.
    on_null_time : {"error", "drop"}, optional
        What to do with a row whose `time` is NULL: fail the query, which is the default, or drop
        the row and count it.
    punct : str, optional
        A string column that marks the stream, for windows of IBM Streams: ``window`` is a window
        punctuation, ``final`` the end of the input, and NULL makes the row one like any other.
    at_end : {"wait", "flush"}, optional
        What happens to rows that wait for the watermark when the input of a stream ends.
        ``wait``, the default, leaves them in the checkpoint. ``flush`` moves the watermark past
        them, so that they are applied and time comes to the last of them, as on a table. Rows
        that come at a later start and are not later than the last of them are late, dropped and
        counted. A start without new rows flushes nothing. The query needs
        ``trigger(availableNow=True)``, and the call `time` with ``apply="event_time"``.
    key_columns : str or list of str, optional
        The columns of the rows' primary key, only to be warned about groups of single rows.

    Returns
    -------
    Kept
        Its methods give the changes and the rows as DataFrames.

    Raises
    ------
    PySparkTypeError, PySparkValueError
        ``WINOPS_ARGUMENT``: an argument cannot be meant.
    AnalysisException
        ``WINOPS_POLICY`` and other conditions: Spark refuses the call; the policy's text, the
        columns or the stream do not allow it.
    PySparkRuntimeError
        ``WINOPS_JAR_MISSING``, ``WINOPS_VERSION_MISMATCH``: the session does not have the JAR.

    Warns
    -----
    UserWarning
        The columns of `per` contain those of `key_columns`: every row is a group of its own.

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

    The same in keywords:

    >>> keep(trades, rows=2, per="symbol", order_by="seq").rows().count()
    3
    """
    if not isinstance(df, DataFrame):
        raise wrong_type(f"keep takes a DataFrame, not a {type(df).__name__}.{_instead_of(df)}")
    call = Call(
        policy=policy_of(
            policy,
            rows=rows,
            slack=slack,
            interval=interval,
            every=every,
            params=_both(params, variables),
        ),
        per=arguments.names("per", per),
        order_by=arguments.sort_keys("order_by", order_by),
        options=_options(time, apply, origin, idle, max_rows, on_null_time, punct, at_end),
    )
    keys = arguments.names("key_columns", key_columns)
    check_session(df.sparkSession)
    kept = Kept(df, call)
    if keys:
        for warning in call.warnings(df, keys):
            warnings.warn(warning, UserWarning, stacklevel=2)
    return kept


def _instead_of(given: object) -> str:
    """Say what to write where something else than a DataFrame is given."""
    if isinstance(given, Kept):
        return " Give it one of its results, such as kept.changes() or kept.inserts()."
    # Spark Connect has a class of its own under this name.
    if type(given).__name__ == "GroupedData":
        return ' Give it the DataFrame before groupBy, and the columns of the group as per="...".'
    return " Make one, for example with spark.table or spark.createDataFrame."


def _options(
    time: str | None,
    apply: str | None,
    origin: int | str | None,
    idle: str | timedelta | None,
    max_rows: int | None,
    on_null_time: str | None,
    punct: str | None,
    at_end: str | None,
) -> dict[str, int | str]:
    if time is None and (apply is not None or on_null_time is not None):
        raise wrong_value(
            "apply= and on_null_time= say how the column time= is read; it is missing."
        )
    if at_end == "flush" and (time is None or apply == "arrival"):
        raise wrong_value(
            'at_end="flush" applies rows that wait for the watermark, and only those of a column '
            'time= with apply="event_time" do.'
        )
    options: dict[str, int | str] = {}
    if time is not None:
        options["time"] = arguments.text("time", time, "the name of a column")
    if apply is not None:
        options["apply"] = arguments.choice("apply", apply, ("event_time", "arrival"))
    if origin is not None:
        options["origin"] = (
            arguments.choice("origin", origin, ("first",))
            if isinstance(origin, str)
            else arguments.whole("origin", origin)
        )
    if idle is not None:
        options["idle"] = arguments.interval("idle", idle)
    if max_rows is not None:
        options["max_rows"] = arguments.count("max_rows", max_rows)
    if on_null_time is not None:
        options["on_null_time"] = arguments.choice(
            "on_null_time", on_null_time, ("error", "drop")
        )
    if punct is not None:
        options["punct"] = arguments.text("punct", punct, "the name of a column")
    if at_end is not None:
        options["at_end"] = arguments.choice("at_end", at_end, ("wait", "flush"))
    return options


def _both(
    params: Mapping[str, arguments.Parameter] | None,
    variables: Mapping[str, arguments.Parameter] | None,
) -> Mapping[str, arguments.Parameter] | None:
    if params is not None and variables is not None:
        raise wrong_value("params= and variables= are two names of one argument; give one.")
    return params if variables is None else variables
