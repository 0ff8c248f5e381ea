"""The columns that changes have beside those of their rows."""

from __future__ import annotations

# A column of a row may have any other name, also one that begins in the same way.
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
