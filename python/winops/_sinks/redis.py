"""The sink :func:`winops.to_redis`: a hash for each row of the window."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeVar

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from winops import _arguments as arguments
from winops._kept import Kept
from winops._sinks.clients import client
from winops._sinks.identified import (
    VERSION,
    Identity,
    columns_of_rows,
    identified,
    is_gone,
    last_changes,
)
from winops._sinks.text import as_text

# Rows of one transaction of Redis: enough to make round trips rare, few enough not to hold up
# other clients.
_ROWS_AT_ONCE = 1_000
_Item = TypeVar("_Item")


@arguments.known
def to_redis(
    prefix: str, kept: Kept, *, url: str, key: arguments.Names | None = None
) -> Callable[[DataFrame, int], None]:
    """Return the function for ``foreachBatch`` that keeps hashes in Redis equal to the window.

    Each row that the window holds is a hash with a field for each column that is not NULL, and
    ``_change_version``. The hash of a row that leaves is deleted. A micro-batch that runs again
    after a failure writes the same hashes. Each hash is replaced as a whole; a micro-batch of
    more than 1,000 rows is written in several transactions. The driver of the query sends the
    rows.

    Needs redis-py: ``pip install "winops[redis]"``.

    Parameters
    ----------
    prefix : str
        The start of the hashes' keys: the hash of order 17 is ``orders:17`` with the prefix
        ``orders`` and ``key="id"``.
    kept : Kept
        The windows, of a ``keep`` with ``key=``.
    url : str
        The server, as in ``redis.Redis.from_url``: ``redis://cache:6379/0``.
    key : str or list of str, optional
        The columns of the hashes' keys, whose values are separated by colons. If it is omitted,
        these are the columns of the group and of the key of ``keep``. The columns of `key` must
        identify a row among the windows of all groups. In a value, ``%`` and ``:`` are written
        as ``%25`` and ``%3A``; NULL is ``%00``.

    Returns
    -------
    callable
        A function of the changes and the number of a micro-batch. Give it the result of
        :meth:`Kept.changes`: other outputs are refused, but for :meth:`Kept.inserts`, which looks
        the same and leaves the hashes of deleted rows.

    Raises
    ------
    PySparkTypeError, PySparkValueError
        ``WINOPS_ARGUMENT``: the changes have no ``_change_row``, or no column of `key`.
    PySparkRuntimeError
        ``WINOPS_CLIENT_MISSING``: redis-py is not installed.

    Examples
    --------
    >>> from winops import keep, to_redis
    >>> def start(orders, checkpoint):
    ...     kept = keep(orders, "KEEP 1 DAY", key="id", op="op", time="ts")
    ...     write = to_redis("orders", kept, url="redis://cache:6379/0")
    ...     writer = kept.changes().writeStream.foreachBatch(write)
    ...     return writer.option("checkpointLocation", checkpoint).start()
    """
    start = arguments.text("prefix", prefix, "the start of the keys")
    server = arguments.text("url", url, "an address such as redis://cache:6379/0")
    changes, identity = identified("to_redis", kept, key)
    client("to_redis", "redis", "redis")
    return _Hashes(start, (*columns_of_rows(changes), VERSION), identity, server)


@dataclass(frozen=True)
class _Hashes:
    """The function for ``foreachBatch``: names alone, so that Spark Connect can send it."""

    prefix: str
    fields: tuple[str, ...]
    identity: Identity
    url: str = field(repr=False)

    def __call__(self, changes: DataFrame, batch: int) -> None:
        redis = client("to_redis", "redis", "redis")
        with (
            last_changes(changes, self.identity, self.fields) as last,
            redis.Redis.from_url(self.url, decode_responses=True) as server,
        ):
            key = hash_key(last, self.prefix, self.identity.sink).alias("_key")
            gone = last.where(is_gone()).select(key)
            for rows in _some(gone.toLocalIterator()):
                server.delete(*(row["_key"] for row in rows))
            texts = [as_text(last, name).alias(name) for name in self.fields]
            held = last.where(~is_gone()).select(key, *texts)
            for rows in _some(held.toLocalIterator()):
                with server.pipeline(transaction=True) as pipeline:
                    for name, *values in rows:
                        pipeline.delete(name)
                        pipeline.hset(name, mapping=_not_null(self.fields, values))
                    pipeline.execute()


def hash_key(df: DataFrame, prefix: str, names: Iterable[str]) -> Column:
    """Return the key of a row's hash: the prefix and the values, separated by colons."""
    values = [F.coalesce(_escaped(as_text(df, name)), F.lit("%00")) for name in names]
    return F.concat_ws(":", F.lit(prefix), *values)


def _escaped(value: Column) -> Column:
    without_percent = F.replace(value, F.lit("%"), F.lit("%25"))
    return F.replace(without_percent, F.lit(":"), F.lit("%3A"))


def _not_null(names: Iterable[str], values: Iterable[str | None]) -> dict[str, str]:
    pairs = zip(names, values, strict=True)
    return {name: value for name, value in pairs if value is not None}


def _some(rows: Iterator[_Item]) -> Iterator[list[_Item]]:
    """Cut rows into lists of limited length."""
    while some := list(islice(rows, _ROWS_AT_ONCE)):
        yield some
