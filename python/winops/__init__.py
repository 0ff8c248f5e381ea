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

from winops._diagnosis import Diagnosis, Finding
from winops._dialects import WindowPolicy, apama, esper, spl
from winops._doctor import doctor
from winops._keep import keep
from winops._kept import GroupedKept, Kept
from winops._session import configure, jar_path
from winops._state import read_state, repartition
from winops._timeline import Timeline, timeline

__all__ = [
    "Diagnosis",
    "Finding",
    "GroupedKept",
    "Kept",
    "Timeline",
    "WindowPolicy",
    "apama",
    "configure",
    "doctor",
    "esper",
    "jar_path",
    "keep",
    "read_state",
    "repartition",
    "spl",
    "timeline",
]
