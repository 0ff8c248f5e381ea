"""Pictures of a keep: of the changes of a table, and of sample rows in a notebook."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from html import escape
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from winops._call import Call
from winops._errors import wrong_value
from winops._literals import call as sql_call
from winops._tools.samples import START, sample_rows
from winops._tools.timeline import Timeline, timeline
from winops.testing import Change
from winops.testing._process import checked
from winops.testing._rows import as_json, millis
from winops.testing._windows import call_of, change_of

if TYPE_CHECKING:
    from winops._kept import Kept

# The options that change a picture of a few rows.
_SAMPLED = ("time", "apply", "origin", "idle", "punct")


def drawn(kept: Kept, df: DataFrame, call: Call, label: str | None) -> Timeline:
    """Draw the changes of a call over a table."""
    if df.isStreaming:
        raise wrong_value(
            "timeline() draws the changes of a table, but the input is a stream. Use "
            "winops.timeline(...) with what the stream wrote, or a table with some of its "
            "rows."
        )
    changes, names = kept.changes(reason=True), []
    for name in _group(df, call):
        if name not in df.columns:
            try:
                computed = changes.withColumn(name, F.expr(name))
                # Spark Connect checks the expression only now.
                _ = computed.schema
            except PySparkException:
                # The key is an expression that SQL does not have.
                continue
            changes = computed
        names.append(name)
    return timeline(changes, per=names or None, label=label, title=kept.describe())


def html_of(kept: Kept, df: DataFrame, call: Call) -> str:
    """Return a sentence, the columns of the changes, and a picture of sample rows."""
    columns = ", ".join(
        f"<code>{escape(name)}</code>" for name in kept.changes(reason=True).columns
    )
    parts = [f"<p>{escape(kept.describe())}</p>", f"<p>Columns of changes(): {columns}</p>"]
    try:
        # An expression has no column in the sample rows.
        groups = [name for name in _group(df, call) if name in df.columns]
        picture = timeline(_sample_changes(df, call, groups), per=groups or None)
        parts.append(f"<p>Over sample rows:</p>{picture.svg()}")
    except (ImportError, PySparkException) as error:
        # A notebook without matplotlib still shows the rest.
        parts.append(f"<p>No picture: {escape(str(error))}</p>")
    return "".join(parts)


def _group(df: DataFrame, call: Call) -> list[str]:
    """Return the keys of the group, columns or expressions; the policy's text can name them.

    Several windows share the group, which one of their texts may name.
    """
    for text in call.policy.texts:
        one = replace(call, policy=call.policy._replace(text=text, windows={}))
        keys = one.over(df, "snapshots").columns[2:-1]
        if keys:
            return keys
    return []


def _sample_changes(df: DataFrame, call: Call, groups: Sequence[str]) -> list[Change]:
    """Return the changes of a call over synthetic rows.

    The number of rows and the time between them are the first at which rows leave; of a window
    that keeps every row, they are the smallest.
    """
    options = {name: call.options[name] for name in _SAMPLED if name in call.options}
    # Sample rows arrive one by one, in any order.
    order_by = [key for key in call.order_by if isinstance(key, str)]
    request = {
        **call_of(call.policy, call.per, order_by, options),
        "schema": df.schema.jsonValue(),
    }
    punct = options.get("punct")
    first: list[Change] = []
    for gap, rows in sample_rows(df.schema, groups, None if punct is None else str(punct)):
        request["batches"] = _batches(rows, gap, has_time="time" in options)
        # The JVM of the session runs the window, without a job.
        query = f"VALUES ({sql_call('winops_sample', json.dumps(request))})"
        (reply,) = df.sparkSession.sql(query).collect()
        found = checked(json.loads(reply[0]))["changes"]
        changes = [change_of(change, rows) for change in found]
        first = first or changes
        if len({change.time for change in changes if change.type == "delete"}) > 1:
            return changes
    return first


def _batches(
    rows: Sequence[Mapping[str, Any]], gap: timedelta, *, has_time: bool
) -> list[dict[str, Any]]:
    """Return micro-batches of one row each, and a last one after which time has moved on."""
    instants = [millis(START + gap * number) for number in range(len(rows) + 1)]
    if has_time:
        # There is no watermark before the first row.
        instants[0] = 0
    arriving = [[as_json(row)] for row in rows]
    return [
        {"rows": batch, "now": now} for batch, now in zip([*arriving, []], instants, strict=True)
    ]
