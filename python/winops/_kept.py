"""The result of :func:`winops.keep`: changes, rows, aggregates, lookups, snapshots and events."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NoReturn, final

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, StructType

from winops import _arguments as arguments
from winops._call import Call, Lookup
from winops._errors import condition_of, wrong_value

if TYPE_CHECKING:
    from winops._tools.timeline import Timeline

_MODES = ("all", "latest", "changes")
_HOW = ("left", "inner")
# Conditions of Spark for a column of a row, or of other rows, among aggregates.
_NO_AGGREGATE = (
    "MISSING_GROUP_BY",
    "UNRESOLVED_COLUMN",
    "MISSING_ATTRIBUTES",
    "CANNOT_RESOLVE_DATAFRAME_COLUMN",
)
# The columns that changes have beside those of their rows. A column of a row may have any other
# name, also one that begins in the same way.
CHANGE_COLUMNS = frozenset(
    {
        "_change_type",
        "_change_time",
        "_change_step",
        "_change_seq",
        "_change_row",
        "_change_version",
        "_change_reason",
    }
)


@final
class Kept:
    """The windows that a policy defines over a DataFrame, with a method for each output.

    :func:`winops.keep` creates it, as ``groupBy`` creates ``GroupedData``. Every method for rows
    returns an ordinary DataFrame. The object is immutable.

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

    def changes(self, *, reason: bool = False) -> DataFrame:
        """Return the change stream: every row that is inserted and every row that is deleted.

        Parameters
        ----------
        reason : bool, default False
            True adds the column ``_change_reason``. A stream may switch it on or off at a restart
            from a checkpoint.

        Returns
        -------
        DataFrame
            ``_change_type``
                string: ``insert`` or ``delete``; with ``updates="update"`` also
                ``update_before`` and ``update_after``; with ``late="emit"`` ``late`` and
                ``refused``, of rows without effect.
            ``_change_time``
                timestamp of the step. With ``time=`` it is an instant of event time, and on a
                stream it carries the watermark. Otherwise it is the timestamp of the micro-batch,
                and NULL in a batch query.
            ``_change_step``
                long: number of the step among the group's steps, from 0. A step is a row that
                arrives with all rows that it evicts, or an instant at which rows expire.
            ``_change_seq``
                long: number of the change among the group's changes, from 0, without gaps.

            ``_change_row``
                long, with ``key=`` or ``row_id=True``: number of the row among those that entered
                its group, from 0. All changes of the row have it.
            ``_change_version``
                long, with ``_change_row``: orders the changes of a row. It is ``_change_seq``.
            ``_window``
                string, only with several windows: the name of the window of the change.
            ``_change_reason``
                string, with `reason`, and always with ``late="emit"``: why the row entered, left
                or had no effect. Of inserts ``arrived``, ``returned`` from behind the window,
                or ``trigger`` for a row that enters with others. Of deletes ``displaced`` by
                newer or better rows, ``expired`` by time, ``replaced`` by a newer row of its key,
                ``condition`` that does not hold, ``distance`` of a newer row's value, ``silence``
                after the last row, ``trigger`` or ``punctuation`` at which a batch leaves,
                ``group idle`` and ``group limit`` for a group that is removed; ``window changed``
                for a restart with another window. With a primary key also ``updated`` and
                ``deleted``; docs/updates.md has the reasons of rows without effect.

            The columns of the input follow. ``_change_seq`` orders the changes of a group;
            changes of different groups have no order.

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

        Why each row left:

        >>> gone = keep(trades, "KEEP 2 ROWS", order_by="seq").changes(reason=True)
        >>> gone.where("_change_type = 'delete'").select("seq", "_change_reason").show()
        +---+--------------+
        |seq|_change_reason|
        +---+--------------+
        |  1|     displaced|
        +---+--------------+
        <BLANKLINE>
        """
        if not arguments.flag("reason", reason):
            return self._changes
        return self._call.over(self._df, "changes", more={"reason": True})

    def inserts(self) -> DataFrame:
        """Return the changes of type ``insert``: the rows that enter the window.

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
        """Return the changes of type ``delete``: the rows that leave the window.

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
        """Return the final window contents; only for a static DataFrame.

        Returns
        -------
        DataFrame
            The columns of the input.

        Raises
        ------
        AnalysisException
            ``WINOPS_ROWS_ON_STREAM``: the input is a stream, which has no end.

        Examples
        --------
        >>> from winops import keep
        >>> trades = spark.createDataFrame([(1,), (2,), (3,)], "seq long")
        >>> [row.seq for row in keep(trades, rows=2, order_by="seq").rows().collect()]
        [2, 3]
        """
        self._refuse_several("rows")
        return self._call.over(self._df, "rows")

    def agg(
        self, *columns: Column, mode: Literal["all", "latest", "changes"] | None = None
    ) -> DataFrame:
        """Compute aggregates of the window contents after every step that changes them.

        Supports Spark's aggregate functions, with ``FILTER`` and ``DISTINCT``, and expressions
        over several of them. If rows leave oldest first, the cost of a row does not depend on the
        size of the window. In other windows, and for ``count(DISTINCT ...)``, it is logarithmic
        in the size. Some functions scan the whole window: ``collect_list``, ``collect_set``,
        ``percentile``, ``median``, ``mode``, ``listagg``, and ``DISTINCT`` of functions other
        than ``count``.

        Parameters
        ----------
        *columns : Column
            Aggregates, as for ``DataFrame.agg``. May be omitted for a policy that defines its
            own, such as Esper's ``#length(10)#uni(price)`` and ``select avg(price) from ...``.
        mode : {"all", "latest", "changes"}, optional
            The rows to emit. ``all``, the default, emits the new values of each step. ``latest``
            emits only the last values of each group and micro-batch, as a stream of updates, so
            the output depends on how the stream is cut into micro-batches. ``changes`` emits two
            rows for each step, the replaced values as a ``delete`` and the new values as an
            ``insert``, in a column ``_change_type``; the first deleted row has the values of an
            empty window.

        Returns
        -------
        DataFrame
            The columns of the group; ``_change_time`` as in :meth:`changes`; ``_change_seq``,
            long: the number of the last change that the values include; and the aggregates. With
            ``mode="changes"``, ``_change_type`` precedes ``_change_time``. One row for each step;
            a window of IBM Streams has one row for each report instead: at its trigger, or when a
            tumbling window is full. Over an empty window an aggregate has SQL's value: a sum is
            NULL, a count is 0.

        Raises
        ------
        PySparkTypeError, PySparkValueError
            ``WINOPS_ARGUMENT``: an argument is not a column.
        AnalysisException
            ``WINOPS_ARGUMENT.MISSING``: no column is given, and the policy defines none.
            ``WINOPS_ARGUMENT.VALUE``: ``changes`` for a window with its own reports, or
            ``latest`` for a statement that selects ``rstream``.
            ``WINOPS_AGGREGATES``: Spark alone cannot compute a column, or a column is not
            deterministic.

        Examples
        --------
        >>> from pyspark.sql import functions as F
        >>> from winops import keep
        >>> trades = spark.createDataFrame(
        ...     [(1, "A", 5.0), (2, "A", 7.0), (3, "A", 6.0)],
        ...     "seq long, symbol string, price double",
        ... )
        >>> kept = keep(trades, "KEEP 2 ROWS PER (symbol)", order_by="seq")
        >>> spread = (F.max("price") - F.min("price")).alias("spread")
        >>> values = kept.agg(F.avg("price").alias("mean"), spread)
        >>> values.orderBy("_change_seq").select("symbol", "_change_seq", "mean", "spread").show()
        +------+-----------+----+------+
        |symbol|_change_seq|mean|spread|
        +------+-----------+----+------+
        |     A|          0| 5.0|   0.0|
        |     A|          1| 6.0|   2.0|
        |     A|          3| 6.5|   1.0|
        +------+-----------+----+------+
        <BLANKLINE>
        """
        self._refuse_several("agg")
        query = self._df.agg(*arguments.columns("agg", columns)) if columns else None
        return self._call.over(self._df, "agg", query, more=_mode(mode))

    def groupBy(self, *columns: str | Sequence[str]) -> GroupedKept:
        """Group the window contents by columns, to aggregate each part.

        All parts share one window: a row may evict a row of another part. For a separate window
        for each value, use ``per=``.

        Parameters
        ----------
        *columns : str or list of str
            The names of the columns, or one list of the names.

        Returns
        -------
        GroupedKept
            An object whose method :meth:`GroupedKept.agg` computes the aggregates.

        Raises
        ------
        PySparkTypeError, PySparkValueError
            ``WINOPS_ARGUMENT``: an argument is not a name, or no column is named.

        Examples
        --------
        >>> from pyspark.sql import functions as F
        >>> from winops import keep
        >>> trades = spark.createDataFrame(
        ...     [(1, "A"), (2, "B"), (3, "A")], "seq long, symbol string"
        ... )
        >>> kept = keep(trades, "KEEP 2 ROWS", order_by="seq")
        >>> parts = kept.groupBy("symbol").agg(F.count("*").alias("n"))
        >>> for row in parts.orderBy("_change_seq", "symbol").collect():
        ...     print(row["_change_seq"], row.symbol, row.n)
        0 A 1
        1 B 1
        3 A 1
        """
        self._refuse_several("groupBy")
        return GroupedKept(self._df, self._call, arguments.grouping(columns))

    def withColumns(
        self, columns: Mapping[str, Column] | Mapping[str, tuple[str, Column]]
    ) -> DataFrame:
        """Return every inserted row, with aggregates of the window contents at its insertion.

        The aggregates are those after the row's step, so they exclude the rows that the step
        evicts. They include the row itself unless its own step evicts it, as the last row of a
        tumbling window of IBM Streams does.

        With a primary key, an operation that inserts a row has a row, and later ones have the
        aggregates after updates and deletes. With ``corrections=True``, a row comes again when it
        is updated or returns.

        Parameters
        ----------
        columns : dict
            Names, and expressions over aggregates and columns of the row. With several windows,
            each value is a pair of a window's name and such an expression.

        Returns
        -------
        DataFrame
            The columns of the input and the new columns; a new column replaces an input column of
            the same name. On a stream the column of ``time=`` keeps its watermark, reduced by one
            millisecond.

        Raises
        ------
        PySparkTypeError, PySparkValueError
            ``WINOPS_ARGUMENT``: `columns` is not a dict of names and columns, or of names and
            pairs that start with the name of a window.
        AnalysisException
            ``WINOPS_AGGREGATES``, as in :meth:`agg`.

        Examples
        --------
        >>> from pyspark.sql import functions as F
        >>> from winops import keep
        >>> trades = spark.createDataFrame(
        ...     [(1, "A", 5.0), (2, "A", 7.0), (3, "A", 6.0)],
        ...     "seq long, symbol string, price double",
        ... )
        >>> kept = keep(trades, rows=2, per="symbol", order_by="seq")
        >>> off = F.col("price") - F.avg("price")
        >>> kept.withColumns({"mean": F.avg("price"), "off": off}).orderBy("seq").show()
        +---+------+-----+----+----+
        |seq|symbol|price|mean| off|
        +---+------+-----+----+----+
        |  1|     A|  5.0| 5.0| 0.0|
        |  2|     A|  7.0| 6.0| 1.0|
        |  3|     A|  6.0| 6.5|-0.5|
        +---+------+-----+----+----+
        <BLANKLINE>

        Several windows over the same rows, in one pass:

        >>> kept = keep(trades, {"last": "KEEP 2 ROWS", "all": "KEEP ALL"}, order_by="seq")
        >>> prices = kept.withColumns(
        ...     {"mean": ("last", F.avg("price")), "highest": ("all", F.max("price"))}
        ... )
        >>> [(row.seq, row.mean, row.highest) for row in prices.orderBy("seq").collect()]
        [(1, 5.0, 5.0), (2, 6.0, 7.0), (3, 6.5, 7.0)]
        """
        windows = self._call.policy.windows
        of_windows: dict[str, str] | None = None
        if windows:
            named, of_windows = arguments.columns_of_windows("withColumns", columns, windows)
        else:
            named = arguments.named_columns("withColumns", columns)
        # Spark allows columns of the row beside aggregates only if the query groups by them.
        rows = self._df.groupBy(*_groupable(self._df))
        query = rows.agg(*(column.alias(name) for name, column in named.items()))
        return self._call.over(self._df, "withColumns", query, of_windows)

    def lookup(
        self,
        other: DataFrame,
        columns: Mapping[str, Column] | Mapping[str, tuple[str, Column]] | None = None,
        *,
        on: arguments.Names | Mapping[str, str] | None = None,
        time: str | None = None,
        before: bool = False,
        how: Literal["left", "inner"] = "left",
        contents: str | None = None,
        max_rows: int | None = None,
    ) -> DataFrame:
        """Return each row of another DataFrame, with aggregates of a window as of its time.

        A row looks up the window of its group: it reads what the window holds after the rows with
        a time up to its own, and does not enter. The result over tables is a training set, and
        that over streams has the same rows. The windows need ``time=`` of :func:`winops.keep`, or
        a stream that applies rows as they arrive. Supports Spark Connect.

        Parameters
        ----------
        other : DataFrame
            The rows that look up: a table if the windows are over a table, otherwise a stream.
        columns : dict, optional
            Names, and aggregates of the window contents, such as ``{"mean": F.avg("price")}``.
            With several windows, each value is a pair of a window's name and an aggregate. It may
            be omitted with `contents`.
        on : str, list of str, or dict, optional
            The columns of `other` for the columns of the group key: names that both have, or a
            dict of names in the windows and names in `other`. By default, they have the same
            names. A string is compared with strings only.
        time : str, optional
            The time column of `other`, of the type of the windows' time column; by default the
            column with its name. On a stream it needs ``withWatermark``.
        before : bool, default False
            True reads the window before the rows with the same time, as a feature needs that must
            not see its own event.
        how : {"left", "inner"}, default "left"
            The treatment of a row whose window is empty or whose group is unknown: ``left`` emits
            it with the aggregates of no rows, such as NULL and a count of 0; ``inner`` omits it.
        contents : str, optional
            The name of a column with the rows of the window: an array of structs with the
            columns of the windows' input, oldest row first. Only with one window.
        max_rows : int, optional
            The maximum number of rows in this array, 100,000 by default.

        Returns
        -------
        DataFrame
            The columns of `other`, the aggregates in the order of `columns`, and `contents`. Each
            row of `other` occurs once, unless `how` omits it or it is late. With
            ``late="emit"`` of :func:`winops.keep` a column ``_change_reason`` follows: ``late``
            or ``time missing`` for a row that has read nothing, and NULL for other rows.

        Raises
        ------
        PySparkTypeError, PySparkValueError
            ``WINOPS_ARGUMENT``: an argument or a combination of arguments is invalid.
        AnalysisException
            ``WINOPS_LOOKUP``: one of the two inputs is a stream and the other one a table, the
            groups of the windows depend on each other, a table has no time, or a column of the
            group key or the time does not fit; ``WINOPS_AGGREGATES``, as in
            :meth:`agg`; ``WINOPS_COLUMN_CONFLICT``: a result has the name of a column of `other`;
            ``WINOPS_WATERMARK_REQUIRED``: the time of a stream has no watermark.
        SparkRuntimeException
            ``WINOPS_CONTENT_SIZE``: a window holds more than `max_rows` rows;
            ``WINOPS_NULL_TIME``: a row has no time, without ``on_null_time="drop"``;
            ``WINOPS_MAX_ROWS``: a group holds more than `max_rows` of :func:`winops.keep`, with
            the rows that wait; ``WINOPS_OP_UNKNOWN``, ``WINOPS_KEY_NULL``: a row of a window has
            no valid operation or key, whatever `late` is.

        See Also
        --------
        winops.asof_join : Joins a row with one row, the nearest in time.

        Examples
        --------
        >>> from pyspark.sql import functions as F
        >>> from winops import keep
        >>> trades = spark.createDataFrame(
        ...     [(1, "A", 5.0), (2, "A", 7.0), (4, "A", 6.0)],
        ...     "sec long, symbol string, price double",
        ... ).selectExpr("timestamp_seconds(sec) AS ts", "symbol", "price")
        >>> orders = spark.createDataFrame(
        ...     [(1, "A", 3), (2, "B", 3), (3, "A", 4)], "id long, symbol string, sec long"
        ... ).selectExpr("id", "symbol", "timestamp_seconds(sec) AS placed")
        >>> kept = keep(trades, "KEEP 2 ROWS PER (symbol)", time="ts")
        >>> features = {"mean": F.avg("price"), "n": F.count("*")}
        >>> kept.lookup(orders, features, time="placed").drop("placed").orderBy("id").show()
        +---+------+----+---+
        | id|symbol|mean|  n|
        +---+------+----+---+
        |  1|     A| 6.0|  2|
        |  2|     B|NULL|  0|
        |  3|     A| 6.5|  2|
        +---+------+----+---+
        <BLANKLINE>

        Without the trades of the order's own time, and without orders of an unknown symbol:

        >>> seen = kept.lookup(orders, features, time="placed", before=True, how="inner")
        >>> [(row.id, row.mean) for row in seen.orderBy("id").collect()]
        [(1, 6.0), (3, 6.0)]

        Several windows, in one pass:

        >>> windows = {"last": "KEEP 1 ROW", "all": "KEEP ALL"}
        >>> kept = keep(trades, windows, per="symbol", time="ts")
        >>> prices = kept.lookup(
        ...     orders,
        ...     {"price": ("last", F.last("price")), "mean": ("all", F.avg("price"))},
        ...     time="placed",
        ... )
        >>> [(row.id, row.price, row.mean) for row in prices.orderBy("id").collect()]
        [(1, 7.0, 6.0), (2, None, None), (3, 6.0, 6.0)]
        """
        arguments.dataframe("lookup", other)
        named, of_windows = self._looked_up({} if columns is None else columns, contents)
        query = self._aggregated(named) if named else None
        more: dict[str, int | str] = {"lookup_how": arguments.choice("how", how, _HOW)}
        if time is not None:
            more["lookup_time"] = arguments.text("time", time, "the name of a column")
        if arguments.flag("before", before):
            more["lookup_before"] = True
        if contents is not None:
            more["lookup_contents"] = arguments.text("contents", contents, "a name for a column")
        return self._call.over(
            self._df,
            "lookup",
            query,
            of_windows,
            {**more, **_max_content(max_rows)},
            Lookup(other, arguments.pairs("on", on)),
        )

    def _aggregated(self, named: Mapping[str, Column]) -> DataFrame:
        """Write the aggregates of a lookup as a query over the rows of the windows."""
        try:
            query = self._df.agg(*(column.alias(name) for name, column in named.items()))
            # Spark Connect resolves columns only now.
            _ = query.schema
        except AnalysisException as error:
            if (condition_of(error) or "").startswith(_NO_AGGREGATE):
                raise wrong_value(
                    'The values of lookup are aggregates, such as F.last("price"), over columns '
                    f"of the windows only. Spark says: {str(error).splitlines()[0]}"
                ) from error
            raise
        return query

    def _looked_up(
        self, columns: object, contents: str | None
    ) -> tuple[dict[str, Column], dict[str, str] | None]:
        """Read the columns of a lookup, and the window of each if there are several."""
        windows = self._call.policy.windows
        if windows and contents is not None:
            raise wrong_value(
                "contents= supports one window, but this keep has several: "
                f"{', '.join(windows)}. Write F.collect_list as an aggregate of one of them."
            )
        if windows:
            return arguments.columns_of_windows("lookup", columns, windows)
        # A comparison with a Column is a Column, which has no truth value.
        if contents is not None and isinstance(columns, Mapping) and not columns:
            return {}, None
        return arguments.named_columns("lookup", columns), None

    def snapshots(self, *, max_rows: int | None = None) -> DataFrame:
        """Return the window contents each time that they change or are reported.

        A window of IBM Streams reports at its trigger, and a tumbling one when it is full. Other
        windows have one snapshot after each step. A snapshot is one value with all rows, so each
        snapshot costs the size of the window.

        Parameters
        ----------
        max_rows : int, optional
            The maximum number of rows of a snapshot, 100,000 by default; more rows fail the
            query.

        Returns
        -------
        DataFrame
            ``_change_time`` and ``_change_step`` as in :meth:`changes`, the columns of the group,
            and ``content``: an array of structs with the columns of the input, oldest row first.

        Raises
        ------
        SparkRuntimeException
            ``WINOPS_CONTENT_SIZE``: a window holds more than `max_rows` rows.

        Examples
        --------
        >>> from winops import keep, spl
        >>> trades = spark.createDataFrame([(1,), (2,), (3,)], "seq long")
        >>> kept = keep(trades, spl("sliding, count(2)"), order_by="seq")
        >>> [[row.seq for row in snapshot.content] for snapshot in kept.snapshots().collect()]
        [[1], [1, 2], [2, 3]]
        """
        self._refuse_several("snapshots")
        return self._call.over(self._df, "snapshots", None, more=_max_content(max_rows))

    def events(self, *, max_rows: int | None = None) -> DataFrame:
        """Return all events of a window of IBM Streams, such as insertions and triggers.

        Parameters
        ----------
        max_rows : int, optional
            The maximum number of rows of an event, 100,000 by default; more rows fail the query.
            An eviction of a tumbling window holds all rows of the window, as does a trigger.

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
            ``WINOPS_NO_EVENTS``: the policy is in another language.
        SparkRuntimeException
            ``WINOPS_CONTENT_SIZE``: an event has more than `max_rows` rows.

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
        self._refuse_several("events")
        return self._call.over(self._df, "events", more=_max_content(max_rows))

    def describe(self) -> str:
        """Return one or two sentences that describe the window.

        The text includes the group, `idle` and the application order of event times, whether the
        policy's text or an argument defines them.

        Examples
        --------
        >>> from winops import keep
        >>> trades = spark.createDataFrame([(1, "A")], "seq long, symbol string")
        >>> keep(trades, "KEEP 2 ROWS PER (symbol)", order_by="seq").describe()
        'For each `symbol`, keeps the newest 2 rows.'
        >>> keep(trades, rows=2, per="symbol", order_by="seq").describe()
        'For each `symbol`, keeps the newest 2 rows.'
        """
        row = self._call.over(self._df, "describe").first()
        return str(row[0]) if row else ""

    def restart_plan(self, checkpoint: str | os.PathLike[str]) -> DataFrame:
        """Compare the query of `changes` with the checkpoint of a former query.

        For the query of another output, call :func:`winops.restart_plan` with its DataFrame,
        where the columns of the result are described.

        Parameters
        ----------
        checkpoint : str or os.PathLike
            The ``checkpointLocation`` of the former query.
        """
        from winops._tools.state import restart_plan

        return restart_plan(self._changes, checkpoint)

    def timeline(self, *, label: str | None = None) -> Timeline:
        """Draw the changes of a table: a bar for each row, from its insert to its delete.

        Runs the query of :meth:`changes`. For what a stream wrote, use :func:`winops.timeline`.

        Parameters
        ----------
        label : str, optional
            The column that names each bar; by default the first column outside the group.

        Returns
        -------
        Timeline
            The picture, with methods for SVG, PNG, HTML and text. It shows itself in a notebook.

        Raises
        ------
        PySparkValueError
            ``WINOPS_ARGUMENT``: the input is a stream, or has no rows or more than 400.

        Examples
        --------
        >>> from winops import keep
        >>> trades = spark.createDataFrame([(1,), (2,), (3,)], "seq long")
        >>> print(keep(trades, "KEEP 2 ROWS", order_by="seq").timeline().text(width=9))
        Keeps the newest 2 rows.
        seq=1 ████████  displaced
        seq=2     █████ held
        seq=3         █ held
        """
        from winops._tools.display import drawn

        return drawn(self, self._df, self._call, label)

    def _repr_html_(self) -> str:
        """Show the window in a notebook: a sentence, the columns, and a picture of sample rows.

        Never runs the query over the input.
        """
        from winops._tools.display import html_of

        return html_of(self, self._df, self._call)

    # Type checkers would accept any name of a class with this method.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            text = f"{type(self).__name__!r} object has no attribute {name!r}"
            if not name.startswith("_") and hasattr(DataFrame, name):
                text += (
                    ": keep() gives no DataFrame yet. Call changes(), rows(), agg() or another "
                    f"output first, such as kept.changes().{name}"
                )
            raise AttributeError(text, name=name, obj=self)

    def _refuse_several(self, method: str) -> None:
        if self._call.policy.windows:
            raise wrong_value(
                f"{method}() supports one window, but this keep has several: "
                f"{', '.join(self._call.policy.windows)}. Use changes(), withColumns() or "
                "lookup(), or a keep with one window."
            )

    def _of_type(self, change: str) -> DataFrame:
        return self._changes.where(F.col("_change_type") == change)

    def __repr__(self) -> str:
        parts = [self._call.policy.text]
        parts += [f"{name}={value!r}" for name, value in self._call.policy.params.items()]
        columns_by_name = {
            "per": self._call.per,
            "order_by": self._call.order_by,
            "key": self._call.key,
        }
        for name, columns in columns_by_name.items():
            if columns:
                parts.append(f"{name}=({', '.join(map(str, columns))})")
        parts += [f"{name}={value!r}" for name, value in self._call.options.items()]
        return f"Kept[{', '.join(parts)}]"


@final
class GroupedKept:
    """The window contents of a policy, grouped by columns; :meth:`Kept.groupBy` creates it.

    Examples
    --------
    >>> from pyspark.sql import functions as F
    >>> from winops import keep
    >>> trades = spark.createDataFrame([(1, "A"), (2, "A")], "seq long, symbol string")
    >>> parts = keep(trades, "KEEP 9 ROWS", order_by="seq").groupBy("symbol")
    >>> parts.agg(F.count("*").alias("n"), mode="latest").select("symbol", "n").show()
    +------+---+
    |symbol|  n|
    +------+---+
    |     A|  2|
    +------+---+
    <BLANKLINE>
    """

    __slots__ = ("_by", "_call", "_df")

    def __init__(self, df: DataFrame, call: Call, by: tuple[str, ...]) -> None:
        self._df = df
        self._call = call
        self._by = by

    def agg(
        self, *columns: Column, mode: Literal["all", "latest", "changes"] | None = None
    ) -> DataFrame:
        """Compute aggregates of each part of the window contents, when the part changes.

        Parameters
        ----------
        *columns : Column
            Aggregates, as for :meth:`Kept.agg`.
        mode : {"all", "latest", "changes"}, optional
            As for :meth:`Kept.agg`.

        Returns
        -------
        DataFrame
            The columns of :meth:`Kept.agg`, with the grouping columns before the aggregates. Each
            step has one row for each part with inserted or deleted rows.

        Examples
        --------
        >>> from pyspark.sql import functions as F
        >>> from winops import keep
        >>> trades = spark.createDataFrame([(1, "A"), (2, "B")], "seq long, symbol string")
        >>> parts = keep(trades, "KEEP 1 ROW", order_by="seq").groupBy("symbol")
        >>> for row in parts.agg(F.count("*").alias("n")).orderBy("_change_seq", "n").collect():
        ...     print(row["_change_seq"], row.symbol, row.n)
        0 A 1
        2 A 0
        2 B 1
        """
        query = self._df.groupBy(*self._by).agg(*arguments.columns("agg", columns))
        return self._call.over(self._df, "agg", query, more=_mode(mode))


def _mode(mode: str | None) -> dict[str, int | str]:
    return {} if mode is None else {"mode": arguments.choice("mode", mode, _MODES)}


def _max_content(max_rows: int | None) -> dict[str, int | str]:
    return {} if max_rows is None else {"max_content": arguments.count("max_rows", max_rows)}


def _groupable(df: DataFrame) -> list[Column]:
    """Return the columns that a query can group by."""
    return [
        F.col(f"`{field.name.replace('`', '``')}`")
        for field in df.schema.fields
        # By name: the package must import on Spark 3.5 to refuse it, which has no VariantType.
        if not _holds(field.dataType, ("map", "variant"))
    ]


def _holds(kind: DataType, names: tuple[str, ...]) -> bool:
    if kind.typeName() in names:
        return True
    if isinstance(kind, ArrayType):
        return _holds(kind.elementType, names)
    if isinstance(kind, StructType):
        return any(_holds(field.dataType, names) for field in kind.fields)
    return False
