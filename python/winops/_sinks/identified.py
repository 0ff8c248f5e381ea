"""Changes whose rows have an identity, and the last change of each row in a micro-batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from winops import _arguments as arguments
from winops._errors import wrong_type, wrong_value
from winops._kept import CHANGE_COLUMNS, Kept

CHANGE_TYPE = "_change_type"
VERSION = "_change_version"
_ROW = "_change_row"
_WINDOW = "_window"
_TIME = "_change_time"

# A change of one of these types leaves a row in the window. The row before an update, late rows
# and refused rows say nothing about what the window holds.
_HELD = ("insert", "update_after")
_GONE = "delete"

# Options of a call that only changes() has.
_OF_CHANGES = ("late", "updates", "row_id", "corrections")

Batch = Callable[[DataFrame, int], None]


@dataclass(frozen=True)
class Identity:
    """The columns that identify a row.

    `function` is the function of this package that takes the changes. `window` are the columns
    of the windows: the group and the key. `sink` are those of the sink, by default the same.
    `never_null` are the columns among them that are not NULL.
    """

    function: str
    window: tuple[str, ...]
    sink: tuple[str, ...]
    never_null: frozenset[str]


def identified(
    function: str, kept: Kept, key: arguments.Names | None
) -> tuple[DataFrame, Identity]:
    """Return the changes of windows that give each row an identity, or refuse them."""
    if not isinstance(kept, Kept):
        raise wrong_type(
            f"{function} takes the result of keep(), not {type(kept).__name__}. Give it kept "
            "itself, without changes(), agg() or another output."
        )
    changes = kept.changes()
    missing = [name for name in (_ROW, VERSION) if name not in changes.columns]
    if missing:
        raise wrong_value(
            f"{function} needs the columns {' and '.join(missing)}, which these changes lack. "
            'Give keep the primary key of the rows, such as key=["id"], without row_id=False and '
            "without idle."
        )
    own = kept._call.key or (_ROW,)
    if _WINDOW in changes.columns:
        own = (_WINDOW, *own)
    window = _spelled(function, changes, [*_group(kept), *own])
    sink = _spelled(function, changes, arguments.names("key", key)) or window
    return changes, Identity(function, window, sink, frozenset(_spelled(function, changes, own)))


def columns_of_rows(changes: DataFrame) -> list[str]:
    """Return the columns of the input among those of changes."""
    return [name for name in changes.columns if name not in CHANGE_COLUMNS]


def content_changes(changes: DataFrame) -> DataFrame:
    """Return the changes that say what the window holds."""
    return changes.where(F.col(CHANGE_TYPE).isin(*_HELD, _GONE))


def is_gone() -> Column:
    """Return the condition for a row that the window no longer holds."""
    return F.col(CHANGE_TYPE) == _GONE


@contextmanager
def last_changes(
    changes: DataFrame, identity: Identity, columns: Iterable[str]
) -> Iterator[DataFrame]:
    """Cache the last change of each row of a micro-batch, and release them at the end.

    `columns` are those that the sink writes.

    The whole micro-batch is read, as Spark requires of a stateful query, and read once, because
    each reading would run the query again.
    """
    _check_changes(changes, identity, columns)
    last = _last(content_changes(changes), identity.window, F.col(VERSION))
    if identity.sink != identity.window:
        # A row that left one group and entered another is two rows of windows. Their versions
        # do not compare, but the sink has the row that is held.
        last = _last(last, identity.sink, F.struct(~is_gone(), VERSION))
    last = last.persist()
    try:
        last.count()
        yield last
    finally:
        last.unpersist()


def _check_changes(changes: DataFrame, identity: Identity, columns: Iterable[str]) -> None:
    """Refuse the DataFrame of another output, such as that of ``agg``.

    The rows of ``inserts()`` have the same columns as those of ``changes()``, and cannot be told
    from changes without a delete.
    """
    needed = dict.fromkeys([CHANGE_TYPE, VERSION, *identity.window, *identity.sink, *columns])
    missing = [name for name in needed if name not in changes.columns]
    if missing:
        raise wrong_value(
            f"The function of {identity.function} takes the DataFrame of kept.changes(), and "
            f"this one lacks the columns {', '.join(missing)}. Write "
            "kept.changes().writeStream.foreachBatch(...), without agg(), rows() or another "
            "output."
        )


def check_columns(table: str, changes: DataFrame, identity: Identity, found: set[str]) -> None:
    """Refuse a table that lacks columns of the rows."""
    needed = dict.fromkeys([*identity.sink, *columns_of_rows(changes)])
    missing = [name for name in needed if name not in found]
    if missing:
        raise wrong_value(
            f"The table {table} lacks the columns {', '.join(missing)}. Add them with ALTER "
            "TABLE, or drop columns of the rows before keep."
        )


def quoted(name: str) -> str:
    """Write a name in Spark's SQL, so that dots and spaces belong to it."""
    return f"`{name.replace('`', '``')}`"


def _last(changes: DataFrame, identity: Iterable[str], order: Column) -> DataFrame:
    row = F.struct(*(F.col(quoted(name)) for name in changes.columns))
    by = [F.col(quoted(name)) for name in identity]
    # The grouping columns are in the row too, so the name of the row must be another.
    newest = F.max_by(row, order).alias("_change_last")
    return changes.groupBy(*by).agg(newest).select("_change_last.*")


def _group(kept: Kept) -> list[str]:
    """Return the columns of the group, which Python does not parse from the policy's text."""
    options = {
        name: value for name, value in kept._call.options.items() if name not in _OF_CHANGES
    }
    policy = kept._call.policy
    # Several windows have one group, and aggregates are of one window.
    one = policy._replace(text=policy.texts[0], windows={})
    counted = kept._df.agg(F.count(F.lit(1)).alias("winops_count"))
    call = replace(kept._call, policy=one, options=options)
    columns = call.over(kept._df, "agg", counted).columns
    return columns[: columns.index(_TIME)]


def _spelled(function: str, changes: DataFrame, names: Sequence[str]) -> tuple[str, ...]:
    """Return names as the changes spell them, each once."""
    spelled = {name.lower(): name for name in changes.columns}
    missing = [name for name in names if name.lower() not in spelled]
    if missing:
        raise wrong_value(
            f"{function}: the changes have no columns {', '.join(missing)} to identify a row by. "
            f"They have {', '.join(changes.columns)}."
        )
    return tuple(dict.fromkeys(spelled[name.lower()] for name in names))
