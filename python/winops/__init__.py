"""Retention windows for Apache Spark: count, time and condition windows as an operator.

A policy such as ``KEEP 100 ROWS SLACK 10 PER (symbol)`` defines which rows a window keeps. The
operator runs inside Spark and emits every row that is inserted and every row that is deleted. The
same call works on a static DataFrame and on a stream, on classic Spark and on Spark Connect.

Examples
--------
>>> from winops import keep
>>> trades = spark.createDataFrame([(1, "A"), (2, "A"), (3, "A")], "seq long, symbol string")
>>> kept = keep(trades, "KEEP 2 ROWS PER (symbol)", order_by="seq")
>>> [row.seq for row in kept.rows().orderBy("seq").collect()]
[2, 3]
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from winops._as_of import asof_join
from winops._dialects import WindowPolicy, apama, esper, spl
from winops._history import with_history
from winops._keep import keep
from winops._kept import GroupedKept, Kept
from winops._session import configure, jar_path

if TYPE_CHECKING:
    from winops._sinks.kafka import to_kafka
    from winops._sinks.merge import merge_into
    from winops._sinks.postgres import to_postgres
    from winops._sinks.redis import to_redis
    from winops._tools.diagnosis import Diagnosis, Finding
    from winops._tools.doctor import doctor
    from winops._tools.state import forget, read_state, repartition, restart_plan
    from winops._tools.timeline import Timeline, timeline

__all__ = [
    "Diagnosis",
    "Finding",
    "GroupedKept",
    "Kept",
    "Timeline",
    "WindowPolicy",
    "apama",
    "asof_join",
    "configure",
    "doctor",
    "esper",
    "forget",
    "jar_path",
    "keep",
    "merge_into",
    "read_state",
    "repartition",
    "restart_plan",
    "spl",
    "timeline",
    "to_kafka",
    "to_postgres",
    "to_redis",
    "with_history",
]

# The modules of tools and sinks, which are imported when a program asks for the name.
_LATER = {
    "Diagnosis": "_tools.diagnosis",
    "Finding": "_tools.diagnosis",
    "Timeline": "_tools.timeline",
    "doctor": "_tools.doctor",
    "forget": "_tools.state",
    "merge_into": "_sinks.merge",
    "read_state": "_tools.state",
    "repartition": "_tools.state",
    "restart_plan": "_tools.state",
    "timeline": "_tools.timeline",
    "to_kafka": "_sinks.kafka",
    "to_postgres": "_sinks.postgres",
    "to_redis": "_sinks.redis",
}


def __getattr__(name: str) -> Any:
    """Import a tool, a sink or ``winops.testing`` when a program asks for it."""
    if name == "testing":
        return import_module("winops.testing")
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"winops.{_LATER[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "testing"})
