"""The state of a query: read, moved without some groups or not, and compared with a query."""

from __future__ import annotations

import os

from pyspark.sql import DataFrame, SparkSession

from winops import _arguments as arguments
from winops._errors import wrong_type, wrong_value
from winops._literals import literal, select_from
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

        A query with :meth:`Kept.lookup` or :func:`asof_join` has a last column ``_lookup``: the
        struct of a row that waits to look up, whose other columns are NULL but for the key and
        the time; NULL in rows of the windows.

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


def forget(
    spark: SparkSession,
    checkpoint: str | os.PathLike[str],
    *,
    where: str,
    to: str | os.PathLike[str],
    operator: int | None = None,
) -> int:
    """Write a new checkpoint that continues a query without some groups.

    Stop the query, call `forget`, and start the query with the new checkpoint. The groups are
    gone as if no row of them had arrived: a later row begins a new group, with numbers from 0. No
    deletes are emitted for their rows, so delete the rows that the sink has there. The old
    checkpoint is not changed: delete its folder, which still contains the rows. Supports Spark
    Connect.

    Parameters
    ----------
    spark : SparkSession
        The session that copies the state. It needs the same state store settings as the query,
        such as ``checkpointFormatVersion``.
    checkpoint : str or os.PathLike
        The ``checkpointLocation`` of the query.
    where : str
        A condition in SQL over the columns of the group key, as the struct ``_group`` of
        `read_state` has them, such as ``customer = 'x'``. A group for which it is true is
        removed, and one for which it is NULL is not.
    to : str or os.PathLike
        The folder of the new checkpoint, which must be empty or not exist.
    operator : int, optional
        The only ``keep`` that loses groups: its ``operatorId`` in Spark's ``state-metadata``
        source. All of the query do if omitted.

    Returns
    -------
    int
        The number of groups that were removed, of all ``keep``s together.

    Raises
    ------
    AnalysisException
        ``WINOPS_FORGET_CONDITION``: `where` is no condition over the group key;
        ``WINOPS_FORGET_WINDOW``: the groups of the window depend on each other, or it has none;
        ``WINOPS_CHECKPOINT_RUNNING``: the query runs; also the conditions of `repartition`.
    PySparkException
        ``WINOPS_STATE_FORMAT``: another version of winops wrote the state, or it is damaged.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from winops import forget, keep, read_state
    >>> folder = mkdtemp()
    >>> spark.range(4).coalesce(1).write.mode("overwrite").parquet(f"{folder}/rows")
    >>> stream = spark.readStream.schema("id long").parquet(f"{folder}/rows")
    >>> changes = keep(stream, "KEEP 2 ROWS", per="id", order_by="id").changes().writeStream
    >>> query = changes.format("noop").trigger(availableNow=True).start(
    ...     checkpointLocation=f"{folder}/before"
    ... )
    >>> query.awaitTermination()
    >>> forget(spark, f"{folder}/before", where="id IN (1, 2)", to=f"{folder}/after")
    2
    >>> read_state(spark, f"{folder}/after").select("id").orderBy("id").show()
    +---+
    | id|
    +---+
    |  0|
    |  3|
    +---+
    <BLANKLINE>
    """
    check_session(spark)
    query = select_from(
        "winops_forget",
        _folder("checkpoint", checkpoint),
        _folder("to", to),
        _condition("where", where),
        _number("operator", operator),
    )
    return sum(keep.forgotten_groups for keep in spark.sql(query).collect())


def restart_plan(
    df: DataFrame,
    checkpoint: str | os.PathLike[str],
    *,
    operator: int | None = None,
) -> DataFrame:
    """Compare a query with the checkpoint of another one, before it restarts with it.

    The plan says what becomes of the state because of each difference, what the first
    micro-batch rewrites, and how to supply what is missing. Nothing is run or changed. Supports
    Spark Connect; the server must have access to the folder.

    Parameters
    ----------
    df : DataFrame
        A streaming query with ``keep`` or with window functions, as it would be started.
    checkpoint : str or os.PathLike
        The ``checkpointLocation`` of the former query.
    operator : int, optional
        The operator of the checkpoint, if it has others than the query: its ``operatorId`` in
        Spark's ``state-metadata`` source.

    Returns
    -------
    DataFrame
        A row about the whole state, then a row for each difference:

        ``operator`` : long
            the number of the operator;
        ``subject`` : string
            what differs, such as ``column price``;
        ``before``, ``now`` : string
            the value in the checkpoint and in the query;
        ``outcome`` : string
            ``continues``, ``is rebuilt``, ``is carried over``, ``needs history`` or
            ``is refused``;
        ``because``, ``remedy`` : string
            the reason, and what to write if something is missing; with ``with_history``,
            nothing is missing where the outcome is ``needs history``;
        ``groups``, ``rows``, ``bytes`` : long
            what the first micro-batch rewrites or removes, in the row about the whole state;
        ``plan`` : string
            identifies the plan of the whole query, for ``spark.winops.restart.plan``.

    Raises
    ------
    AnalysisException
        ``WINOPS_CHECKPOINT_NOT_FOUND``, ``WINOPS_CHECKPOINT_NO_KEEP``: the folder is not a
        checkpoint, or its query has no ``keep``; ``WINOPS_CHECKPOINT_BATCH``,
        ``WINOPS_CHECKPOINT_OPERATOR``: it has no committed batch or no such operator;
        ``WINOPS_ARGUMENT.VALUE``: `df` is no such query.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from winops import keep, restart_plan
    >>> folder = mkdtemp()
    >>> spark.range(4).coalesce(1).write.mode("overwrite").parquet(f"{folder}/rows")
    >>> stream = spark.readStream.schema("id long").parquet(f"{folder}/rows")
    >>> changes = keep(stream, "KEEP 2 ROWS", order_by="id").changes().writeStream
    >>> query = changes.format("noop").trigger(availableNow=True).start(
    ...     checkpointLocation=f"{folder}/checkpoint"
    ... )
    >>> query.awaitTermination()
    >>> wider = stream.selectExpr("id", "id % 2 AS odd")
    >>> now = keep(wider, "KEEP 2 ROWS", order_by="id").changes()
    >>> plan = restart_plan(now, f"{folder}/checkpoint")
    >>> plan.select("subject", "outcome", "groups", "rows").show()
    +-----------+----------+------+----+
    |    subject|   outcome|groups|rows|
    +-----------+----------+------+----+
    |whole state|is rebuilt|     1|   2|
    | column odd|is rebuilt|  NULL|NULL|
    +-----------+----------+------+----+
    <BLANKLINE>
    """
    spark = df.sparkSession
    check_session(spark)
    folder = literal(_folder("checkpoint", checkpoint))
    number = literal(_number("operator", operator))
    call = f"winops_restart_plan(TABLE({{df}}), {folder}, {number})"
    return spark.sql(" ".join(("SELECT * FROM", call)), df=df)


def _folder(argument: str, value: object) -> str:
    given = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(given, str):
        raise wrong_type(f"{argument}= takes the path of a folder, not {type(given).__name__}.")
    return given


def _condition(argument: str, value: object) -> str:
    if not isinstance(value, str):
        raise wrong_type(f"{argument}= takes a condition in SQL, not {type(value).__name__}.")
    return value


def _number(argument: str, value: int | None) -> int | None:
    if value is None:
        return None
    number = arguments.whole(argument, value)
    if number < 0:
        raise wrong_value(f"{argument}= takes a whole number of at least 0, not {number}.")
    return number
