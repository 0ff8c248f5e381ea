"""What the checkpoint of a query holds, without the query."""

from __future__ import annotations

import os

from pyspark.sql import DataFrame, SparkSession

from winops import _arguments as arguments
from winops._errors import wrong_type, wrong_value
from winops._literals import select_from
from winops._session import check_session


def read_state(
    spark: SparkSession,
    checkpoint: str | os.PathLike[str],
    *,
    batch: int | None = None,
    operator: int | None = None,
) -> DataFrame:
    """Read the rows that the windows of a query hold, from its checkpoint.

    The query may run, be stopped or be forgotten: nothing of it is needed but the folder, which
    stays as it is. Supports Spark Connect, where the folder is one that the server sees.

    Parameters
    ----------
    spark : SparkSession
        The session that reads.
    checkpoint : str or os.PathLike
        The folder that the query has as its ``checkpointLocation``.
    batch : int, optional
        The number of a micro-batch, for the rows that were held after it; the last one that was
        committed if not given.
    operator : int, optional
        Which ``keep`` is meant where the query has several: its ``operatorId`` in Spark's
        ``state-metadata`` source.

    Returns
    -------
    DataFrame
        The columns of the held rows, and before them

        ``_partition`` : int
            the partition of the state;
        ``_group`` : struct
            the values that group the rows; NULL for rows that wait for all groups together;
        ``_window`` : string
            the name of the window where there are several, which each have rows of their own;
        ``_row`` : long
            the place of the row among all rows that its group ever had, from 0;
        ``_arrived`` : timestamp
            when it arrived by the clock of its group; NULL if the window does not ask for that;
        ``_leaves`` : timestamp
            when it leaves if no other row comes; NULL if time alone does not make it leave;
        ``_waits`` : boolean
            whether it still waits for the watermark, outside of any window.

    Raises
    ------
    AnalysisException
        ``WINOPS_CHECKPOINT_NOT_FOUND``, ``WINOPS_CHECKPOINT_NO_KEEP``: the folder is no
        checkpoint, or one of a query without ``keep``; ``WINOPS_CHECKPOINT_BATCH``,
        ``WINOPS_CHECKPOINT_OPERATOR``: it has no such batch or ``keep``, or several;
        ``WINOPS_CHECKPOINT_CLASS``: it names a class of state stores that the session does not.
    PySparkException
        ``WINOPS_STATE_FORMAT``: it was written by another version of winops, or is damaged.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from winops import keep, read_state
    >>> folder = mkdtemp()
    >>> spark.range(4).coalesce(1).write.mode("overwrite").parquet(f"{folder}/rows")
    >>> stream = spark.readStream.schema("id long").parquet(f"{folder}/rows")
    >>> changes = keep(stream, "KEEP 2 ROWS", order_by="id").changes().writeStream
    >>> query = changes.format("noop").trigger(availableNow=True).start(
    ...     checkpointLocation=f"{folder}/checkpoint"
    ... )
    >>> query.awaitTermination()
    >>> read_state(spark, f"{folder}/checkpoint").select("_row", "id").orderBy("_row").show()
    +----+---+
    |_row| id|
    +----+---+
    |   2|  2|
    |   3|  3|
    +----+---+
    <BLANKLINE>
    """
    check_session(spark)
    query = select_from(
        "winops_state",
        _folder("checkpoint", checkpoint),
        _number("batch", batch),
        _number("operator", operator),
    )
    return spark.sql(query)


def repartition(
    spark: SparkSession,
    checkpoint: str | os.PathLike[str],
    partitions: int,
    *,
    to: str | os.PathLike[str],
) -> None:
    """Write a checkpoint that goes on where another one is, with another number of partitions.

    Stop the query first, and start it with the new checkpoint afterwards: the changes go on as if
    nothing had happened. The old checkpoint stays as it is, and must not be gone on with,
    because both would write to the same sink. Supports Spark Connect.

    Parameters
    ----------
    spark : SparkSession
        The session that moves the state; what a query sets of its state store, such as
        ``checkpointFormatVersion``, it has to have too.
    checkpoint : str or os.PathLike
        The folder that the query has as its ``checkpointLocation``.
    partitions : int
        How many partitions there are to be. A ``keep`` that runs in one task keeps its one.
    to : str or os.PathLike
        The folder of the new checkpoint, which is empty or not there yet.

    Raises
    ------
    AnalysisException
        ``WINOPS_CHECKPOINT_NOT_FOUND``, ``WINOPS_CHECKPOINT_NO_KEEP``,
        ``WINOPS_CHECKPOINT_EXISTS``: a folder is not what it has to be;
        ``WINOPS_CHECKPOINT_CLASS``: it names a class of state stores that the session does not;
        ``WINOPS_CHECKPOINT_OTHER_STATE``: the query has other stateful operators.
    PySparkException
        ``WINOPS_STATE_FORMAT``: it was written by another version of winops, or is damaged.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from winops import keep, read_state, repartition
    >>> folder = mkdtemp()
    >>> spark.range(4).coalesce(1).write.mode("overwrite").parquet(f"{folder}/rows")
    >>> stream = spark.readStream.schema("id long").parquet(f"{folder}/rows")
    >>> changes = keep(stream, "KEEP 2 ROWS", per="id", order_by="id").changes().writeStream
    >>> query = changes.format("noop").trigger(availableNow=True).start(
    ...     checkpointLocation=f"{folder}/two"
    ... )
    >>> query.awaitTermination()
    >>> repartition(spark, f"{folder}/two", 3, to=f"{folder}/three")
    >>> read_state(spark, f"{folder}/three").count()
    4
    """
    check_session(spark)
    query = select_from(
        "winops_repartition",
        _folder("checkpoint", checkpoint),
        _folder("to", to),
        arguments.count("partitions", partitions),
    )
    spark.sql(query).collect()


def _folder(argument: str, value: object) -> str:
    given = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(given, str):
        raise wrong_type(f"{argument}= takes the path of a folder, not {type(given).__name__}.")
    return given


def _number(argument: str, value: int | None) -> int | None:
    if value is None:
        return None
    number = arguments.whole(argument, value)
    if number < 0:
        raise wrong_value(f"{argument}= takes a whole number from 0, not {number}.")
    return number
