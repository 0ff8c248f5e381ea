"""The options of a call that are neither the policy nor columns of the group and the order."""

from __future__ import annotations

from datetime import timedelta

from winops import _arguments as arguments
from winops._errors import wrong_value


def options_of(
    time: str | None,
    apply: str | None,
    origin: int | str | None,
    idle: str | timedelta | None,
    max_rows: int | None,
    on_null_time: str | None,
    punct: str | None,
    at_end: str | None,
    on_change: str | None = None,
) -> dict[str, int | str]:
    """Check the options of a call, and return those that are given by their names in SQL."""
    if time is None and (apply is not None or on_null_time is not None):
        raise wrong_value(
            "apply= and on_null_time= define how the column of time= is used, but time= is "
            "missing. Add time=, or omit them."
        )
    if at_end == "flush" and (time is None or apply == "arrival"):
        raise wrong_value(
            'at_end="flush" applies rows that wait for the watermark, but without time=, or with '
            'apply="arrival", no rows wait. Add time= with apply="event_time", or omit at_end=.'
        )
    options: dict[str, int | str] = {}
    if time is not None:
        options["time"] = arguments.text("time", time, "the name of a column")
    if apply is not None:
        options["apply"] = arguments.choice("apply", apply, ("event_time", "arrival"))
    if origin is not None:
        options["origin"] = (
            arguments.choice("origin", origin, ("first",))
            if isinstance(origin, str)
            else arguments.whole("origin", origin)
        )
    if idle is not None:
        options["idle"] = arguments.interval("idle", idle)
    if max_rows is not None:
        options["max_rows"] = arguments.count("max_rows", max_rows)
    if on_null_time is not None:
        options["on_null_time"] = arguments.choice(
            "on_null_time", on_null_time, ("error", "drop")
        )
    if punct is not None:
        options["punct"] = arguments.text("punct", punct, "the name of a column")
    if at_end is not None:
        options["at_end"] = arguments.choice("at_end", at_end, ("wait", "flush"))
    if on_change is not None:
        options["on_change"] = arguments.choice("on_change", on_change, ("refuse", "carry"))
    return options


def key_options_of(
    key: object,
    op: str | None,
    updates: str | None,
    row_id: bool | None,
    late: str | None,
    corrections: bool,
    buffer: int | None,
    key_columns: object = None,
) -> dict[str, int | str]:
    """Check the options for rows with a primary key, and return those that are given."""
    needs_key = op is not None or updates is not None or corrections or buffer is not None
    if key is None and needs_key:
        only_names = (
            " key_columns= only names columns for a warning; key= names those by which "
            "operations find a row."
        )
        raise wrong_value(
            "op=, updates=, corrections= and buffer= are about rows with a primary key, but key= "
            f"is missing. Add key=, or omit them.{'' if key_columns is None else only_names}"
        )
    options: dict[str, int | str] = {}
    if op is not None:
        options["op"] = arguments.text("op", op, "the name of a column")
    if updates is not None:
        options["updates"] = arguments.choice("updates", updates, ("delete_insert", "update"))
    if row_id is not None:
        options["row_id"] = arguments.flag("row_id", row_id)
    if late is not None:
        options["late"] = arguments.choice("late", late, ("drop", "emit"))
    if arguments.flag("corrections", corrections):
        options["corrections"] = True
    if buffer is not None:
        options["buffer"] = arguments.count("buffer", buffer)
    return options
