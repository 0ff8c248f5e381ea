"""The sink :func:`winops.to_postgres`: one transaction for each micro-batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from pyspark.sql import DataFrame

from winops import _arguments as arguments
from winops._errors import wrong_value
from winops._kept import Kept
from winops._sinks.clients import client
from winops._sinks.identified import (
    CHANGE_TYPE,
    Identity,
    check_columns,
    identified,
    last_changes,
)
from winops._sinks.text import as_text

_STAGE = "winops_last_changes"
_KIND = "_winops_kind"
# The kinds of tables in pg_class: ordinary and partitioned ones.
_TABLES = ("r", "p")


@arguments.known
def to_postgres(
    table: str, kept: Kept, *, conninfo: str, key: arguments.Names | None = None
) -> Callable[[DataFrame, int], None]:
    """Return the function for ``foreachBatch`` that keeps a PostgreSQL table equal to the window.

    The last change of each row of a micro-batch is written in one transaction, so other sessions
    see the window after a micro-batch or before it. A micro-batch that runs again after a
    failure leaves the table as it is. The driver of the query sends the rows.

    Needs psycopg 3: ``pip install "winops[postgres]"``.

    Parameters
    ----------
    table : str
        The name of the table, such as ``last_orders`` or ``shop.last_orders``. It exists and has
        the columns of the input, without that of ``op=``, and a unique constraint on the columns
        that identify a row, in which NULLs are equal: ``UNIQUE NULLS NOT DISTINCT``. It may have
        other columns of :meth:`Kept.changes`, such as ``_change_time`` and ``_change_version``.
        Arrays, maps and structs are written as JSON.
    kept : Kept
        The windows, of a ``keep`` with ``key=``.
    conninfo : str
        The connection, as in ``psycopg.connect``: ``host=db dbname=shop user=winops`` or a
        ``postgresql://`` address. The driver connects. A password is better in a password file
        than here.
    key : str or list of str, optional
        The columns that identify a row of the table: those of its primary key or of another
        unique constraint. If it is omitted, these are the columns of the group and of the key of
        ``keep``. The columns of `key` must identify a row among the windows of all groups.

    Returns
    -------
    callable
        A function of the changes and the number of a micro-batch. Give it the result of
        :meth:`Kept.changes`: other outputs are refused, but for :meth:`Kept.inserts`, which looks
        the same and leaves deleted rows in the table.

    Raises
    ------
    PySparkTypeError, PySparkValueError
        ``WINOPS_ARGUMENT``: the changes have no ``_change_row``, or the table lacks a column or
        a unique constraint.
    PySparkRuntimeError
        ``WINOPS_CLIENT_MISSING``: psycopg is not installed.

    Examples
    --------
    >>> from winops import keep, to_postgres
    >>> def start(orders, checkpoint):
    ...     kept = keep(orders, "KEEP 5 ROWS PER (customer)", key="id", op="op", order_by="seq")
    ...     write = to_postgres("last_orders", kept, conninfo="host=db dbname=shop")
    ...     writer = kept.changes().writeStream.foreachBatch(write)
    ...     return writer.option("checkpointLocation", checkpoint).start()
    """
    target = tuple(arguments.text("table", table, "the name of a table").split("."))
    address = arguments.text("conninfo", conninfo, "a connection such as host=db dbname=shop")
    changes, identity = identified("to_postgres", kept, key)
    psycopg = client("to_postgres", "psycopg", "postgres")
    with psycopg.connect(address) as connection:
        cursor = connection.execute(" ".join(("SELECT * FROM", _name(target), "LIMIT 0")))
        of_table = {column.name for column in cursor.description}
        names = tuple(name for name in changes.columns if name in of_table)
        check_columns(table, changes, identity, set(names))
        _check_unique(target, identity, connection.execute(_indexes(target)).fetchall())
    return _Upsert(target, names, identity, address)


@dataclass(frozen=True)
class _Upsert:
    """The function for ``foreachBatch``: names alone, so that Spark Connect can send it."""

    table: tuple[str, ...]
    columns: tuple[str, ...]
    identity: Identity
    conninfo: str = field(repr=False)

    def __call__(self, changes: DataFrame, batch: int) -> None:
        psycopg = client("to_postgres", "psycopg", "postgres")
        stage, copy, *writes = statements(self.table, self.columns, self.identity)
        with last_changes(changes, self.identity, self.columns) as last:
            texts = [as_text(last, name).alias(name) for name in self.columns]
            rows = last.select(*texts, last[CHANGE_TYPE].alias(_KIND))
            with psycopg.connect(self.conninfo) as connection, connection.cursor() as cursor:
                cursor.execute(stage)
                with cursor.copy(copy) as copied:
                    for row in rows.toLocalIterator():
                        copied.write_row(tuple(row))
                for write in writes:
                    cursor.execute(write)


def statements(
    table: Sequence[str], columns: Sequence[str], identity: Identity
) -> tuple[str, str, str, str]:
    """Write the statements of a micro-batch: the staging table, the copy, deletes and upserts.

    Deletes come first: a row that left another group gives up its values of unique columns
    before the row with the same key enters here.
    """
    target = _name(table)
    names = ", ".join(map(_quoted, columns))
    same = " AND ".join(_same(name, name in identity.never_null) for name in identity.sink)
    settings = [
        f"{name} = EXCLUDED.{name}"
        for name in map(_quoted, (name for name in columns if name not in identity.sink))
    ]
    action = f"UPDATE SET {', '.join(settings)}" if settings else "NOTHING"
    unique = ", ".join(map(_quoted, identity.sink))
    # The staging table has the types of the table, without its constraints.
    stage = (
        f"CREATE TEMPORARY TABLE {_STAGE} ON COMMIT DROP AS SELECT",
        names,
        f", NULL::text AS {_KIND} FROM",
        target,
        "LIMIT 0",
    )
    copy = (f"COPY {_STAGE} (", names, f", {_KIND}) FROM STDIN")
    delete = (
        "DELETE FROM",
        target,
        f"AS held USING {_STAGE} AS last WHERE last.{_KIND} = 'delete' AND",
        same,
    )
    upsert = (
        "INSERT INTO",
        target,
        "(",
        names,
        ") SELECT",
        names,
        f"FROM {_STAGE} WHERE {_KIND} <> 'delete'",
        f"ON CONFLICT ({unique}) DO {action}",
    )
    return " ".join(stage), " ".join(copy), " ".join(delete), " ".join(upsert)


def _indexes(table: Sequence[str]) -> str:
    """Write the query for the columns of the table's unique indexes, as text.

    A row has the kind of the table, the number of an index, and the name of a column of it, with
    ``true`` if the index admits one NULL at most. Only an index that ``ON CONFLICT`` can use
    counts. Before PostgreSQL 15, ``pg_index`` has no ``indnullsnotdistinct``.
    """
    literal = _name(table).replace("'", "''")
    is_one_null = (
        "a.attnotnull OR coalesce((to_jsonb(i) ->> 'indnullsnotdistinct')::boolean, false)"
    )
    return " ".join(
        (
            "SELECT c.relkind::text, coalesce(i.indexrelid::text, ''),",
            f"coalesce(a.attname::text, ''), coalesce({is_one_null}, false)::text",
            "FROM pg_class AS c",
            "LEFT JOIN pg_index AS i ON i.indrelid = c.oid AND i.indisunique AND i.indisvalid",
            "AND i.indimmediate AND i.indpred IS NULL AND i.indexprs IS NULL",
            "LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid",
            "AND a.attnum = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1])",
            f"WHERE c.oid = '{literal}'::regclass",
        )
    )


def _check_unique(
    table: Sequence[str], identity: Identity, found: Iterable[Sequence[str]]
) -> None:
    """Refuse a table whose constraints do not identify the rows of changes."""
    indexes: dict[str, dict[str, bool]] = {}
    for kind, index, column, takes_one_null in found:
        if kind not in _TABLES:
            # The constraints of a view are those of the table below.
            return
        indexes.setdefault(index, {})[column] = takes_one_null == "true"
    # A column that has NULLs needs a constraint in which they are equal.
    nullable = [name for name in identity.sink if name not in identity.never_null]
    if not any(
        set(columns) == set(identity.sink) and all(columns[name] for name in nullable)
        for columns in indexes.values()
    ):
        equal = " NULLS NOT DISTINCT" if nullable else ""
        constraint = f"UNIQUE{equal} ({', '.join(map(_quoted, identity.sink))})"
        primary = f" If {', '.join(nullable)} is never NULL, a primary key does too."
        raise wrong_value(
            f"The table {'.'.join(table)} has no unique constraint by which to_postgres finds "
            f"the row of a change. Add one: ALTER TABLE {_name(table)} ADD {constraint}."
            f"{primary if nullable else ''}"
        )


def _same(name: str, is_never_null: bool) -> str:
    """Compare a column of both tables; PostgreSQL uses an index or a hash only for ``=``."""
    held, last = f"held.{_quoted(name)}", f"last.{_quoted(name)}"
    if is_never_null:
        return f"{held} = {last}"
    return f"({held} = {last} OR ({held} IS NULL AND {last} IS NULL))"


def _name(parts: Sequence[str]) -> str:
    return ".".join(map(_quoted, parts))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
