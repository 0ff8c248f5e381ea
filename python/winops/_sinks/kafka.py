"""The sink :func:`winops.to_kafka`: the records of a compacted topic."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from winops import _arguments as arguments
from winops._kept import Kept
from winops._sinks.identified import (
    VERSION,
    columns_of_rows,
    content_changes,
    identified,
    is_gone,
)
from winops._sinks.text import as_json


@arguments.known
def to_kafka(kept: Kept, *, key: arguments.Names | None = None) -> DataFrame:
    """Return the changes as the records of a compacted topic, which then holds the window.

    The record of a row that enters or is updated has the row as its value. The record of a row
    that leaves has the value NULL, at which compaction removes the key. Write the result with
    ``format("kafka")``.

    The changes of a group stay in their order. A micro-batch that runs again writes its records
    again, so the last record of each key is the same.

    Parameters
    ----------
    kept : Kept
        The windows, of a ``keep`` with ``key=``.
    key : str or list of str, optional
        The columns of the record's key. If it is omitted, these are the columns of the group and
        of the key of ``keep``. The columns of `key` must identify a row among the windows of all
        groups, and a row must not move from one group to another: the records of two groups have
        no order.

    Returns
    -------
    DataFrame
        ``key``
            string: the columns of the key as a JSON object.
        ``value``
            string: the columns of the row and ``_change_version`` as a JSON object; NULL for a
            row that left.

    Raises
    ------
    PySparkTypeError, PySparkValueError
        ``WINOPS_ARGUMENT``: the changes have no ``_change_row``, or no column of `key`.

    Examples
    --------
    >>> from winops import keep, to_kafka
    >>> def start(orders, servers, checkpoint):
    ...     kept = keep(orders, "KEEP 1 DAY", key="id", op="op", time="ts", updates="update")
    ...     writer = to_kafka(kept).writeStream.format("kafka")
    ...     writer = writer.option("kafka.bootstrap.servers", servers).option("topic", "orders")
    ...     return writer.option("checkpointLocation", checkpoint).start()
    """
    changes, identity = identified("to_kafka", kept, key)
    value = as_json([*columns_of_rows(changes), VERSION])
    return content_changes(changes).select(
        as_json(identity.sink).alias("key"), F.when(~is_gone(), value).alias("value")
    )
