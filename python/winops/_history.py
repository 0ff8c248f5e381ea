"""A stream that starts with the rows of a table: :func:`winops.with_history`."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pyspark.sql import DataFrame

from winops import _arguments as arguments
from winops._errors import wrong_type, wrong_value
from winops._literals import call, literal
from winops._session import check_session

_EMIT = ("none", "all")


@arguments.known
def with_history(
    stream: DataFrame,
    table: DataFrame,
    *,
    emit: Literal["none", "all"] = "none",
    until: str | datetime | None = None,
) -> DataFrame:
    """Put the rows of a table before those of a stream.

    A ``keep`` or window functions over the result start with the state that the rows of the table
    lead to, as if the stream had read the table first. The first micro-batch computes it: keep
    the call until it is committed. Later starts do not read the table, and log a warning. A
    restart with another query whose :func:`winops.restart_plan` says ``needs history`` replaces
    the state by the rows of the table, which must then have the rows that the stream has
    delivered too. Supports Spark Connect.

    Parameters
    ----------
    stream : DataFrame
        The stream. With `time`, its ``withWatermark`` may stand before or after this call.
    table : DataFrame
        The rows before those of the stream, with the columns of the stream by name; further
        columns are not read. Its source must be files, a Delta table, or rows in memory.
    emit : {"none", "all"}, optional
        The rows of the table that have output: ``none``, the default, or ``all``. With ``none``,
        rows that leave up to the greatest time of the table have no output either.
    until : str or datetime.datetime, optional
        The time before which rows of the table are read, such as ``"2026-01-01 00:00:00"``. If it
        is omitted, all rows are read. It needs the `time` of ``keep``, or window functions over a
        time; without a time, filter the table. It has no effect on a restart that replaces the
        state: with ``apply="event_time"``, such a restart reads the rows before the watermark
        that the former query had reached, and otherwise all rows.

    Returns
    -------
    DataFrame
        The stream, for ``keep`` and window functions. ``select``, ``filter`` and
        ``withWatermark`` may be between.

    Raises
    ------
    PySparkTypeError, PySparkValueError
        ``WINOPS_ARGUMENT``: an argument is invalid.
    AnalysisException
        ``WINOPS_HISTORY_COLUMN``: the table lacks a column of the stream, or has it with another
        type; ``WINOPS_HISTORY_SOURCE``: its source may have other rows if it is read again;
        ``WINOPS_HISTORY_PLACE``: the result is not the input of ``keep`` or window functions.
    StreamingQueryException
        ``WINOPS_HISTORY_CHANGED``: a micro-batch that reads the table failed, and the table has
        changed since; ``WINOPS_HISTORY_MISSING``: the first micro-batch failed, and the query is
        started without the table.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from winops import keep, with_history
    >>> folder = mkdtemp()
    >>> spark.range(0, 4).coalesce(1).write.mode("overwrite").parquet(f"{folder}/table")
    >>> spark.range(4, 6).coalesce(1).write.mode("overwrite").parquet(f"{folder}/rows")
    >>> stream = spark.readStream.schema("id long").parquet(f"{folder}/rows")
    >>> table = spark.read.parquet(f"{folder}/table")
    >>> changes = keep(with_history(stream, table), "KEEP 2 ROWS", order_by="id").changes()
    >>> query = changes.writeStream.format("parquet").trigger(availableNow=True).start(
    ...     f"{folder}/changes", checkpointLocation=f"{folder}/checkpoint"
    ... )
    >>> query.awaitTermination()
    >>> written = spark.read.parquet(f"{folder}/changes").orderBy("_change_seq")
    >>> written.select("_change_type", "_change_seq", "id").show()
    +------------+-----------+---+
    |_change_type|_change_seq| id|
    +------------+-----------+---+
    |      insert|          6|  4|
    |      delete|          7|  2|
    |      insert|          8|  5|
    |      delete|          9|  3|
    +------------+-----------+---+
    <BLANKLINE>
    """
    for name, df in (("stream", stream), ("table", table)):
        arguments.dataframe(f"{name}=", df)
    if emit not in _EMIT:
        raise wrong_value(f"emit= takes 'none' or 'all', not {emit!r}.")
    check_session(stream.sparkSession)
    given = ["TABLE({stream})", "TABLE({table})", f"emit => {literal(emit)}"]
    if until is not None:
        given.append(f"until => {_instant(until)}")
    query = ["SELECT *", f"FROM with_history({', '.join(given)})"]
    return stream.sparkSession.sql("\n".join(query), stream=stream, table=table)


def _instant(until: str | datetime) -> str:
    """Write a time as SQL; as in PySpark, a datetime without a time zone is local time."""
    if isinstance(until, datetime):
        whole = until.replace(microsecond=0).timestamp()
        return call("timestamp_micros", round(whole) * 1_000_000 + until.microsecond)
    if not isinstance(until, str):
        raise wrong_type(f"until= takes a str or datetime, not {type(until).__name__}.")
    return literal(until)
