"""What :func:`winops.keep` gives: the retained rows, and how they came to be retained."""

from __future__ import annotations

from typing import final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from winops._call import Call


@final
class Kept:
    """The rows that a policy retains, as changes or as content.

    :func:`winops.keep` makes it, as ``groupBy`` makes ``GroupedData``; every method gives an
    ordinary DataFrame. It cannot be changed.

    Examples
    --------
    >>> from winops import keep
    >>> trades = spark.createDataFrame([(1, "A"), (2, "A"), (3, "B")], "seq long, symbol string")
    >>> keep(trades, rows=1, per="symbol", order_by="seq")
    Kept[KEEP 1 ROWS, per=(symbol), order_by=(seq)]
    """

    __slots__ = ("_call", "_changes", "_df")

    def __init__(self, df: DataFrame, call: Call) -> None:
        self._df = df
        self._call = call
        self._changes = call.over(df, "changes")

    def changes(self) -> DataFrame:
        """Give the change stream: every row that came in, every row that left.

        Returns
        -------
        DataFrame
            ``_change_type``
                string: ``insert`` or ``delete``.
            ``_change_time``
                timestamp of the step. With ``time=`` it is an instant of event time, and on a
                stream carries the watermark. Without, it is the timestamp of the micro-batch,
                and NULL in a batch query.
            ``_change_step``
                long: number of the step among the group's steps, from 0. A row that arrives, with
                all that it makes leave, is one step; so is an instant at which rows leave.
            ``_change_seq``
                long: number of the change among the group's changes, from 0, without gaps.

            and then the columns of the input. Rows of a group can be put into order by
            ``_change_seq``; rows of different groups have no order among each other.

        Examples
        --------
        >>> from winops import keep
        >>> trades = spark.createDataFrame([(1,), (2,), (3,)], "seq long")
        >>> changes = keep(trades, "KEEP 2 ROWS", order_by="seq").changes()
        >>> changes.select("_change_seq", "_change_type", "seq").orderBy("_change_seq").show()
        +-----------+------------+---+
        |_change_seq|_change_type|seq|
        +-----------+------------+---+
        |          0|      insert|  1|
        |          1|      insert|  2|
        |          2|      insert|  3|
        |          3|      delete|  1|
        +-----------+------------+---+
        <BLANKLINE>
        """
        return self._changes

    def inserts(self) -> DataFrame:
        """Give the changes that are rows coming in.

        Returns
        -------
        DataFrame
            The columns of :meth:`changes`.

        Examples
        --------
        >>> from winops import keep
        >>> trades = spark.createDataFrame([(1,), (2,), (3,)], "seq long")
        >>> [row.seq for row in keep(trades, rows=2, order_by="seq").inserts().collect()]
        [1, 2, 3]
        """
        return self._of_type("insert")

    def deletes(self) -> DataFrame:
        """Give the changes that are rows leaving.

        Returns
        -------
        DataFrame
            The columns of :meth:`changes`.

        Examples
        --------
        >>> from winops import keep
        >>> trades = spark.createDataFrame([(1,), (2,), (3,)], "seq long")
        >>> [row.seq for row in keep(trades, rows=2, order_by="seq").deletes().collect()]
        [1]
        """
        return self._of_type("delete")

    def rows(self) -> DataFrame:
        """Give the rows that are retained at the end; only of a static DataFrame.

        Returns
        -------
        DataFrame
            The columns of the input.

        Raises
        ------
        AnalysisException
            ``WINOPS_ROWS_ON_STREAM`` when the input is a stream, which has no end.

        Examples
        --------
        >>> from winops import keep
        >>> trades = spark.createDataFrame([(1,), (2,), (3,)], "seq long")
        >>> [row.seq for row in keep(trades, rows=2, order_by="seq").rows().collect()]
        [2, 3]
        """
        return self._call.over(self._df, "rows")

    def snapshots(self) -> DataFrame:
        """Give the content of the window each time that it is reported.

        Windows of IBM Streams report at their trigger; windows that do not report have no
        snapshots.

        Returns
        -------
        DataFrame
            ``_change_time`` and ``_change_step`` as in :meth:`changes`, the columns of the group,
            and ``content``: an array of structs with the columns of the input, oldest row first.

        Raises
        ------
        AnalysisException
            ``WINOPS_NO_REPORT`` when the policy reports nothing.

        Examples
        --------
        >>> from winops import keep, spl
        >>> trades = spark.createDataFrame([(1,), (2,), (3,)], "seq long")
        >>> kept = keep(trades, spl("sliding, count(2)"), order_by="seq")
        >>> [[row.seq for row in snapshot.content] for snapshot in kept.snapshots().collect()]
        [[1], [1, 2], [2, 3]]
        """
        return self._call.over(self._df, "snapshots")

    def events(self) -> DataFrame:
        """Give everything that a window of IBM Streams tells, as events.

        Returns
        -------
        DataFrame
            ``_event_type``
                string: ``INSERTION``, ``EVICTION``, ``TRIGGER``, ``INITIAL_FULL``,
                ``PARTITION_EVICTION`` or ``FINAL``.
            ``_change_time`` and ``_change_step`` as in :meth:`changes`, the columns of the group,
            and ``rows``: an array of structs with the columns of the input, oldest row first.

        Raises
        ------
        AnalysisException
            ``WINOPS_NO_EVENTS`` when the policy is in another language.

        Examples
        --------
        >>> from winops import keep, spl
        >>> trades = spark.createDataFrame([(1,), (2,)], "seq long")
        >>> kept = keep(trades, spl("tumbling, count(2)"), order_by="seq")
        >>> for event in kept.events().collect():
        ...     print(event["_event_type"], [row.seq for row in event.rows])
        INSERTION [1]
        INSERTION [2]
        EVICTION [1, 2]
        """
        return self._call.over(self._df, "events")

    def describe(self) -> str:
        """Say in a sentence what is kept.

        Examples
        --------
        >>> from winops import keep
        >>> trades = spark.createDataFrame([(1, "A")], "seq long, symbol string")
        >>> keep(trades, "KEEP 2 ROWS PER (symbol)", order_by="seq").describe()
        'For each symbol, keeps the newest 2 rows.'
        """
        row = self._call.over(self._df, "description").first()
        return str(row[0]) if row else ""

    def _of_type(self, change: str) -> DataFrame:
        return self._changes.where(F.col("_change_type") == change)

    def __repr__(self) -> str:
        parts = [self._call.policy.text]
        parts += [f"{name}={value!r}" for name, value in self._call.policy.params.items()]
        for name, columns in (("per", self._call.per), ("order_by", self._call.order_by)):
            if columns:
                parts.append(f"{name}=({', '.join(columns)})")
        parts += [f"{name}={value!r}" for name, value in self._call.options.items()]
        return f"Kept[{', '.join(parts)}]"
