"""The state of a query, read from its checkpoint and moved to other partitions."""

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
    """Read the rows that the windows of a query hold, from the query's checkpoint.

    The query may be running, stopped or deleted: only its checkpoint folder is needed, and the
    folder is not changed. Supports Spark Connect; the server must have access to the folder.

    A filter such as ``_group.device = 'a'`` or ``_group.device IN ('a', 'b')`` reads the
    partition of these groups and only their entries.

    Parameters
    ----------
    spark : SparkSession
        The session that reads the checkpoint.
    checkpoint : str or os.PathLike
        The ``checkpointLocation`` of the query.
    batch : int, optional
        The number of the micro-batch after which to read the rows; the last committed one if
        omitted.
    operator : int, optional
        The ``keep`` to read if the query has several: its ``operatorId`` in Spark's
        ``state-metadata`` source.

    Returns
    -------
    DataFrame
        The columns of the held rows, preceded by

        ``_partition`` : int
            the partition of the state;
        ``_group`` : struct
            the group key; NULL for rows that wait for all groups together;
        ``_window`` : string
            the name of the window, only with several windows; each window has its own rows;
        ``_row`` : long
            the row's number among all rows of its group so far, from 0; NULL while it waits;
        ``_arrived`` : timestamp
            the arrival time by the group's clock; NULL if the window does not use it;
        ``_leaves`` : timestamp
            the expiry time if no other row arrives; NULL if the row does not expire by time;
        ``_waits`` : boolean
            true if the row waits for the watermark, outside of any window.

    Raises
    ------
    AnalysisException
        ``WINOPS_CHECKPOINT_NOT_FOUND``, ``WINOPS_CHECKPOINT_NO_KEEP``: the folder is not a
        checkpoint, or its query has no ``keep``; ``WINOPS_CHECKPOINT_BATCH``,
        ``WINOPS_CHECKPOINT_OPERATOR``: it has no such batch or ``keep``, or several;
        ``WINOPS_CHECKPOINT_CLASS``: it names a state store class that the session does not.
    PySparkException
        ``WINOPS_STATE_FORMAT``: another version of winops wrote the state, or it is damaged.

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
    """Write a new checkpoint that continues a query with another number of partitions.

    Stop the query, call `repartition`, and start the query with the new checkpoint. It emits the
    same changes as without the move. The old checkpoint is not changed. Do not start a query from
    it again, because both queries would write to the same sink. Supports Spark Connect.

    Parameters
    ----------
    spark : SparkSession
        The session that copies the state. It needs the same state store settings as the query,
        such as ``checkpointFormatVersion``.
    checkpoint : str or os.PathLike
        The ``checkpointLocation`` of the query.
    partitions : int
        The new number of partitions. A ``keep`` that runs in one task keeps its one partition.
    to : str or os.PathLike
        The folder of the new checkpoint, which must be empty or not exist.

    Raises
    ------
    AnalysisException
        ``WINOPS_CHECKPOINT_NOT_FOUND``, ``WINOPS_CHECKPOINT_NO_KEEP``,
        ``WINOPS_CHECKPOINT_EXISTS``: a folder is missing, has no ``keep`` or is not empty;
        ``WINOPS_CHECKPOINT_CLASS``: it names a state store class that the session does not;
        ``WINOPS_CHECKPOINT_OTHER_STATE``: the query has other stateful operators.
    PySparkException
        ``WINOPS_STATE_FORMAT``: another version of winops wrote the state, or it is damaged.

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
        raise wrong_value(f"{argument}= takes a whole number of at least 0, not {number}.")
    return number
