"""Streams of the process for tests, whose rows and time a test gives."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from numbers import Real
from typing import Any, Generic, TypeVar

from pyspark.sql.types import StructType

from winops._errors import wrong_type, wrong_value
from winops.testing import _process
from winops.testing._rows import Schema, as_json, check_added, millis, schema_of


class OpenWindow:
    """A window, or window functions, over a stream in the process.

    The process removes the window when this object is gone.

    Attributes
    ----------
    opened : dict
        The reply to the request that has opened the window.
    bytes : int
        The number of bytes that the state of all groups takes.
    metrics : dict
        The metrics of the operator that are not 0.
    """

    def __init__(self, **call: Any) -> None:
        self._number = _process.PROCESS.number()
        self.opened = _process.PROCESS.request("open", id=self._number, **call)
        weakref.finalize(self, _process.PROCESS.forget, self._number)
        self.bytes = 0
        self.metrics: Mapping[str, int] = {}

    def batch(
        self, rows: Sequence[Any], now: datetime | None, *, last: bool = False
    ) -> dict[str, Any]:
        """Run a micro-batch, and return the reply.

        Parameters
        ----------
        rows : list of dict or Row
            The rows.
        now : datetime or None
            The watermark, or without a time column the instant; None before the first one.
        last : bool
            True if the input of window functions has ended.
        """
        reply = _process.PROCESS.request(
            "batch",
            id=self._number,
            rows=[as_json(row) for row in rows],
            now=0 if now is None else millis(now),
            last=last,
        )
        self.bytes = reply["bytes"]
        self.metrics = reply["metrics"]
        return reply


_Opened = TypeVar("_Opened", bound=OpenWindow)


class ManualStream(Generic[_Opened]):
    """A stream whose time is moved by hand. A call that fails changes nothing.

    Parameters
    ----------
    opening : function
        Opens the window over rows of a schema.
    schema : str or StructType or None
        The columns of the rows; None if they are those of the first rows.
    now : datetime or None
        The time at which the stream starts.

    Attributes
    ----------
    now : datetime or None
        The time of the next micro-batch, or the watermark; None before it.
    rows : list
        The rows that have arrived.
    window : OpenWindow or None
        The window; None before the first rows if there is no schema.
    """

    def __init__(
        self,
        opening: Callable[[Schema], _Opened],
        schema: str | StructType | None,
        now: datetime | None,
    ) -> None:
        self._opening = opening
        self.now = now
        self.rows: list[Any] = []
        self.window = None if schema is None else self._opened(schema_of((), schema))

    @property
    def metrics(self) -> Mapping[str, int]:
        """The metrics of the operator that are not 0."""
        return {} if self.window is None else self.window.metrics

    @property
    def bytes(self) -> int:
        """The number of bytes that the state of all groups takes."""
        return 0 if self.window is None else self.window.bytes

    def arrive(self, rows: Sequence[Any], at: datetime | None) -> dict[str, Any] | None:
        """Let rows arrive at an instant, or now, and return the reply."""
        return self.batch(rows, self.now if at is None else self._not_before(at))

    def advance(self, to: Any) -> dict[str, Any] | None:
        """Move time to an instant, or on by a duration or seconds, and return the reply."""
        return self.batch((), self._moved(to))

    def batch(
        self, rows: Sequence[Any], now: datetime | None, *, last: bool = False
    ) -> dict[str, Any] | None:
        """Run a micro-batch, and return the reply; None if there is no window yet."""
        window = self.window
        if window is not None:
            check_added(rows, window.opened["columns"])
        elif rows:
            check_added(rows, None)
            window = self._opened(schema_of(rows, None))
        else:
            self.now = now
            return None
        reply = window.batch(rows, now, last=last)
        # The types of the columns follow from the rows of the first call that succeeds.
        self.window, self.now = window, now
        self.rows += rows
        return reply

    def _opened(self, schema: Schema) -> _Opened:
        window = self._opening(schema)
        if self.now is not None:
            # Rows of the first call can be late.
            window.batch((), self.now)
        return window

    def _moved(self, to: Any) -> datetime:
        """Return the instant to which time moves on."""
        if isinstance(to, datetime):
            return self._not_before(to)
        taken = "advance() takes a number of seconds, a timedelta or a datetime"
        if isinstance(to, bool) or not isinstance(to, timedelta | Real):
            raise wrong_type(f"{taken}, not {to!r}.")
        if self.now is None:
            raise wrong_value(
                "advance() takes a datetime here: there is no watermark before the first "
                "advance()."
            )
        try:
            span = to if isinstance(to, timedelta) else timedelta(seconds=float(to))
            then = self.now + span
        except (ValueError, OverflowError):
            raise wrong_value(f"{taken} up to the year 9999, not {to!r}.") from None
        return self._not_before(then)

    def _not_before(self, then: Any) -> datetime:
        if not isinstance(then, datetime):
            raise wrong_type(f"at= is a datetime, not {then!r}.")
        if self.now is not None and millis(then) < millis(self.now):
            raise wrong_value(f"Time moves on, from {self.now}, not back to {then}.")
        return then
