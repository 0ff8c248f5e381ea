"""Keywords written as policy text. The text itself is read by the operator, never here."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from typing import NamedTuple

from winops import _arguments as arguments
from winops._dialects import Window
from winops._errors import wrong_value

_INTERVAL = "W"


class Policy(NamedTuple):
    """A policy's text and the values of the parameters that it names."""

    text: str
    params: Mapping[str, int | float | Decimal | str]
    dialect: str = "ccl"


def policy_of(
    policy: str | Window | None,
    *,
    rows: int | None,
    slack: int | None,
    interval: str | timedelta | None,
    every: bool,
    params: Mapping[str, arguments.Parameter] | None,
) -> Policy:
    """Take a policy as text, or write the one that the keywords describe."""
    if policy is None:
        if params is not None:
            raise wrong_value(
                "params= gives values to names in a policy's text; there is no text."
            )
        return _from_keywords(rows, slack, interval, every)
    if rows is not None or slack is not None or interval is not None or every:
        raise wrong_value(
            "A policy's text says everything: rows=, slack=, interval= and every= cannot stand "
            "beside it."
        )
    if isinstance(policy, Window):
        return Policy(policy.text, arguments.parameters(params), policy.dialect)
    return Policy(
        arguments.text("policy", policy, 'a text such as "KEEP 100 ROWS"'),
        arguments.parameters(params),
    )


def _from_keywords(
    rows: int | None, slack: int | None, interval: str | timedelta | None, every: bool
) -> Policy:
    beat = "KEEP EVERY" if every else "KEEP"
    if rows is not None and interval is None:
        return Policy(f"{beat} {arguments.count('rows', rows)} ROWS{_slack(slack, every)}", {})
    if interval is not None and rows is None:
        if slack is not None:
            raise wrong_value("slack= counts rows: it goes with rows=, not with interval=.")
        return Policy(
            f"{beat} {_INTERVAL}", {_INTERVAL: arguments.interval("interval", interval)}
        )
    raise wrong_value(
        'Say what to keep in one way: a policy such as "KEEP 100 ROWS", or rows=, or interval=. '
        'To keep every row, write "KEEP ALL".'
    )


def _slack(slack: int | None, every: bool) -> str:
    if slack is None:
        return ""
    if every:
        raise wrong_value("slack= cannot go with every=True, which empties the window at once.")
    return f" SLACK {arguments.count('slack', slack)}"
