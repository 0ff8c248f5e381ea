"""Unit tests of windows: the changes of a policy over a few rows, without a Spark session.

The windows are run by the operator's own task in one JVM, which the first call starts in a few
seconds. A case then takes milliseconds.

Examples
--------
>>> from winops import testing
>>> rows = [{"seq": 1, "symbol": "A"}, {"seq": 2, "symbol": "A"}, {"seq": 3, "symbol": "A"}]
>>> for change in testing.changes(rows, "KEEP 2 ROWS PER (symbol)"):
...     print(change.type, change.row["seq"], change.reason)
insert 1 arrived
insert 2 arrived
insert 3 arrived
delete 1 displaced
"""

from winops.testing._over import ManualOver, over, over_stream
from winops.testing._parity import assert_same
from winops.testing._windows import Change, ManualWindow, changes, window

__all__ = [
    "Change",
    "ManualOver",
    "ManualWindow",
    "assert_same",
    "changes",
    "over",
    "over_stream",
    "window",
]
