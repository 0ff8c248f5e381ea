"""Policies as text: keywords are written as policy text, which only the operator parses."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from typing import NamedTuple

from winops import _arguments as arguments
from winops._dialects import WindowPolicy
from winops._errors import wrong_type, wrong_value

_INTERVAL = "interval"


class Policy(NamedTuple):
    """A policy text, or those of several windows, with the values of its parameters.

    Attributes
    ----------
    text : str
        The text; for several windows, the text that represents all of them in the repr.
    params : dict
        The values of the parameters in the text.
    dialect : str
        The language of the text or texts.
    windows : dict
        The texts of several windows by name; empty for a single window.
    """

    text: str
    params: Mapping[str, int | float | Decimal | str]
    dialect: str = "ccl"
    windows: Mapping[str, str] = {}

    @property
    def texts(self) -> tuple[str, ...]:
        """The text of each window."""
        return tuple(self.windows.values()) or (self.text,)


def policy_of(
    policy: str | WindowPolicy | Mapping[str, str | WindowPolicy] | None,
    *,
    rows: int | None,
    slack: int | None,
    interval: str | timedelta | None,
    every: bool,
    params: Mapping[str, arguments.Parameter] | None,
) -> Policy:
    """Return the policy of a text, or write the policy that the keywords describe."""
    if policy is None:
        if params is not None:
            raise wrong_value(
                "params= gives values to names in the text of policy=, but policy= is missing. "
                "Add policy=, or omit params=."
            )
        return _from_keywords(rows, slack, interval, every)
    if rows is not None or slack is not None or interval is not None or every:
        raise wrong_value(
            "rows=, slack=, interval= and every= cannot be combined with policy=, whose text "
            'defines the whole window. Write them in the text, such as "KEEP 100 ROWS SLACK 10", '
            "or omit policy=."
        )
    if isinstance(policy, Mapping):
        return _several(policy, arguments.parameters(params))
    window = _window(policy, "policy")
    return Policy(window.text, arguments.parameters(params), window.dialect)


def _several(
    windows: Mapping[str, str | WindowPolicy], params: Mapping[str, int | float | Decimal | str]
) -> Policy:
    if not windows:
        raise wrong_value(
            "policy= is an empty dict. Give it the policies of one or more windows."
        )
    if not all(isinstance(name, str) for name in windows):
        raise wrong_type("policy= takes a dict of names and policies, whose names are strings.")
    read = {name: _window(policy, f"policy[{name!r}]") for name, policy in windows.items()}
    dialects = sorted({window.dialect for window in read.values()})
    if len(dialects) > 1:
        raise wrong_value(
            f"The windows of policy= are in several languages: {' and '.join(dialects)}. Write "
            "all of them in one language, or use a separate keep for each language."
        )
    texts = {name: window.text for name, window in read.items()}
    return Policy(str(texts), params, dialects[0], texts)


def _window(policy: object, argument: str) -> WindowPolicy:
    if isinstance(policy, WindowPolicy):
        return policy
    return WindowPolicy("ccl", arguments.text(argument, policy, 'a text such as "KEEP 100 ROWS"'))


def _from_keywords(
    rows: int | None, slack: int | None, interval: str | timedelta | None, every: bool
) -> Policy:
    opening = "KEEP EVERY" if every else "KEEP"
    if rows is not None and interval is None:
        return Policy(f"{opening} {arguments.count('rows', rows)} ROWS{_slack(slack, every)}", {})
    if interval is not None and rows is None:
        if slack is not None:
            raise wrong_value(
                "slack= is a number of rows and requires rows=, not interval=. Omit slack=."
            )
        return Policy(
            f'{opening} "{_INTERVAL}"', {_INTERVAL: arguments.interval("interval", interval)}
        )
    raise wrong_value(
        'keep takes exactly one of policy=, rows= and interval=, such as "KEEP 100 ROWS", '
        'rows=100 or interval="10 minutes". To keep every row, write "KEEP ALL".'
    )


def _slack(slack: int | None, every: bool) -> str:
    if slack is None:
        return ""
    if every:
        raise wrong_value(
            "slack= cannot be combined with every=True, which evicts all rows. Omit one of them."
        )
    return f" SLACK {arguments.count('slack', slack)}"
