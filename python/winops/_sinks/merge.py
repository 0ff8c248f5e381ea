"""The sink :func:`winops.merge_into`: one MERGE for each micro-batch."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame

from winops import _arguments as arguments
from winops._kept import Kept
from winops._sinks.identified import (
    CHANGE_TYPE,
    Identity,
    check_columns,
    identified,
    last_changes,
    quoted,
)


@arguments.known
def merge_into(
    table: str, kept: Kept, *, key: arguments.Names | None = None
) -> Callable[[DataFrame, int], None]:
    """Return the function for ``foreachBatch`` that keeps a table equal to the window contents.

    Each micro-batch becomes one MERGE with the last change of each row: a row that entered and
    left within the micro-batch is not written. A micro-batch that runs again after a failure
    leaves the table as it is. The table is of Delta Lake, Apache Iceberg or another source with
    MERGE. Supports Spark Connect, if the server has this package.

    Parameters
    ----------
    table : str
        The name of the table, as in SQL. It exists and has the columns of the input, without
        that of ``op=``. It may have other columns of :meth:`Kept.changes`, such as
        ``_change_time`` and ``_change_version``, and columns of its own, which are NULL in
        inserted rows and stay in updated rows.
    kept : Kept
        The windows, of a ``keep`` with ``key=``.
    key : str or list of str, optional
        The columns that identify a row of the table. If it is omitted, these are the columns of
        the group and of the key of ``keep``. The columns of `key` must identify a row among the
        windows of all groups.

    Returns
    -------
    callable
        A function of the changes and the number of a micro-batch. Give it the result of
        :meth:`Kept.changes`: other outputs are refused, but for :meth:`Kept.inserts`, which looks
        the same and leaves deleted rows in the table.

    Raises
    ------
    PySparkTypeError, PySparkValueError
        ``WINOPS_ARGUMENT``: the changes have no ``_change_row``, or the table lacks a column.
    AnalysisException
        Spark finds no such table.

    Examples
    --------
    >>> from winops import keep, merge_into
    >>> def start(orders, checkpoint):
    ...     kept = keep(orders, "KEEP 5 ROWS PER (customer)", key="id", op="op", order_by="seq")
    ...     writer = kept.changes().writeStream.foreachBatch(merge_into("last_orders", kept))
    ...     return writer.option("checkpointLocation", checkpoint).start()
    """
    target = arguments.text("table", table, "the name of a table")
    changes, identity = identified("merge_into", kept, key)
    # A name that is more than an identifier is refused here, before it is part of a statement.
    of_table = {name.lower() for name in changes.sparkSession.table(target).columns}
    # Spark finds columns in any case.
    names = tuple(name for name in changes.columns if name.lower() in of_table)
    check_columns(target, changes, identity, set(names))
    return _Merge(target, names, identity)


@dataclass(frozen=True)
class _Merge:
    """The function for ``foreachBatch``: names alone, so that Spark Connect can send it."""

    table: str
    columns: tuple[str, ...]
    identity: Identity

    def __call__(self, changes: DataFrame, batch: int) -> None:
        with last_changes(changes, self.identity, self.columns) as last:
            if last.isEmpty():
                return
            # Views belong to the session, which the queries of a program may share.
            view = f"winops_last_changes_{uuid.uuid4().hex}"
            last.createOrReplaceTempView(view)
            try:
                last.sparkSession.sql(statement(self.table, view, self.columns, self.identity))
            finally:
                last.sparkSession.catalog.dropTempView(view)


def statement(table: str, view: str, columns: Sequence[str], identity: Identity) -> str:
    """Write the MERGE of the last changes in a view.

    If the last change of a row is a delete and the table lacks the row, no branch applies: the
    row entered and left within the micro-batch, or the micro-batch runs again.
    """
    kind = f"last.{quoted(CHANGE_TYPE)}"
    same = [
        f"held.{quoted(name)} {'=' if name in identity.never_null else '<=>'} last.{quoted(name)}"
        for name in identity.sink
    ]
    settings = [f"{quoted(name)} = last.{quoted(name)}" for name in columns]
    values = [f"last.{quoted(name)}" for name in columns]
    return "\n".join(
        (
            f"MERGE INTO {table} AS held USING {view} AS last ON {' AND '.join(same)}",
            f"WHEN MATCHED AND {kind} = 'delete' THEN DELETE",
            f"WHEN MATCHED THEN UPDATE SET {', '.join(settings)}",
            f"WHEN NOT MATCHED AND {kind} <> 'delete' THEN INSERT",
            f"({', '.join(map(quoted, columns))}) VALUES ({', '.join(values)})",
        )
    )
