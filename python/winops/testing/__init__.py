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

from __future__ import annotations

import re
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from numbers import Real
from typing import Any, Literal, final

from pyspark.errors import AnalysisException
from pyspark.sql.types import StructType

from winops import _arguments as arguments
from winops._dialects import WindowPolicy
from winops._errors import condition_of, wrong_type, wrong_value
from winops._options import options_of
from winops._policy import policy_of
from winops.testing._over import OverProcess
from winops.testing._parity import assert_same
from winops.testing._process import PROCESS
from winops.testing._rows import (
    as_dict,
    as_json,
    as_rows,
    check_added,
    local,
    millis,
    quoted,
    schema_of,
)

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

# The arguments that name a column, with its type.
_NAMED = {"time": "timestamp", "punct": "string"}

# The conditions of policies that depend on the columns of the rows.
_UNKNOWN_COLUMN = "WINOPS_POLICY.UNKNOWN_COLUMN"
_OF_TYPES = frozenset({"WINOPS_POLICY.TYPE", "WINOPS_POLICY.UNSUPPORTED"})
_UNKNOWN = re.compile(r"there is no (.+): the columns are ")

_START = datetime(2026, 1, 1, tzinfo=timezone.utc)

Policy = str | WindowPolicy | Mapping[str, str | WindowPolicy]
Rows = Any


@dataclass(frozen=True)
class Change:
    """A row that entered or left a window.

    Attributes
    ----------
    type : str
        ``insert`` or ``delete``.
    row : Any
        The row, as it was given; a dict for a row of a pandas frame.
    reason : str
        The reason, as in the column ``_change_reason`` of :meth:`winops.Kept.changes`.
    time : datetime.datetime or None
        The time of the step in the local time zone, without a zone, as ``collect()`` returns it;
        None on a table without ``time=``.
    step : int
        The number of the step among the group's steps, from 0.
    seq : int
        The number of the change among the group's changes, from 0.
    window : str or None
        The name of the window, if there are several.
    """

    type: str
    row: Any
    reason: str
    time: datetime | None
    step: int
    seq: int
    window: str | None = None


@arguments.known
def changes(
    rows: Rows,
    policy: Policy,
    *,
    schema: str | StructType | None = None,
    until: datetime | None = None,
    per: arguments.Names | None = None,
    order_by: arguments.Names | None = None,
    time: str | None = None,
    apply: Literal["event_time", "arrival"] | None = None,
    params: Mapping[str, arguments.Parameter] | None = None,
    origin: int | Literal["first"] | None = None,
    idle: str | timedelta | None = None,
    max_rows: int | None = None,
    on_null_time: Literal["error", "drop"] | None = None,
    punct: str | None = None,
) -> list[Change]:
    """Return the changes of a window over a table of rows.

    They are those of ``keep(df, policy, ...).changes(reason=True)`` for a DataFrame of the rows.

    Parameters
    ----------
    rows : list of dict, list of Row, or pandas.DataFrame
        The rows in their order.
    policy : str or WindowPolicy or dict
        The policy, as for :func:`winops.keep`.
    schema : str or StructType, optional
        The columns of the rows, such as ``"seq long, price double"``. If it is omitted, the types
        follow from the values.
    until : datetime.datetime, optional
        The instant to which time goes on after the last row. If it is omitted, time stops at the
        greatest `time` of the rows, as for a table in Spark.
    per, order_by, time, apply, params, origin, idle, max_rows, on_null_time, punct
        As for :func:`winops.keep`; `order_by` takes names of columns only.

    Returns
    -------
    list of Change
        The changes of a group are in the order of ``seq``; changes of different groups have no
        order.

    Raises
    ------
    AnalysisException
        ``WINOPS_POLICY`` and other conditions, as for :func:`winops.keep`.
    PySparkTypeError, PySparkValueError
        ``WINOPS_ARGUMENT``: an argument is invalid, or the type of a column does not follow from
        its values.
    PySparkRuntimeError
        ``WINOPS_TEST_PROCESS``: Java is missing, or a value does not fit its column.

    Examples
    --------
    >>> from datetime import datetime, timedelta
    >>> from winops.testing import changes
    >>> noon = datetime(2026, 1, 1, 12)
    >>> rows = [{"n": i, "ts": noon + timedelta(seconds=i)} for i in range(3)]
    >>> gone = changes(rows, "KEEP 2 SECONDS", time="ts", until=noon + timedelta(seconds=3))
    >>> [(change.row["n"], change.reason) for change in gone if change.type == "delete"]
    [(0, 'expired'), (1, 'expired')]
    """
    given = as_rows(rows)
    call = _call(
        policy, per, order_by, time, apply, params, origin, idle, max_rows, on_null_time, punct
    )
    more = {} if until is None else {"until": millis(until)}
    reply = PROCESS.request(
        "table",
        schema=schema_of(given, schema),
        rows=[as_json(row) for row in given],
        **call,
        **more,
    )
    return [_change(change, given) for change in reply["changes"]]


@arguments.known
def window(
    policy: Policy,
    *,
    schema: str | StructType | None = None,
    start: datetime | None = None,
    per: arguments.Names | None = None,
    order_by: arguments.Names | None = None,
    time: str | None = None,
    apply: Literal["event_time", "arrival"] | None = None,
    params: Mapping[str, arguments.Parameter] | None = None,
    origin: int | Literal["first"] | None = None,
    idle: str | timedelta | None = None,
    max_rows: int | None = None,
    on_null_time: Literal["error", "drop"] | None = None,
    punct: str | None = None,
) -> ManualWindow:
    """Create a window over a stream whose time is moved by hand.

    Parameters
    ----------
    policy, schema, per, order_by, time, apply, params, origin, idle
        As for :func:`changes`.
    max_rows, on_null_time, punct
        As for :func:`changes`.
    start : datetime.datetime, optional
        The instant at which time starts, without `time`; 2026-01-01 00:00 UTC by default.

    Returns
    -------
    ManualWindow
        The window, which holds no rows.

    Raises
    ------
    AnalysisException
        ``WINOPS_POLICY`` and other conditions: the policy is not valid. Without `schema`, the
        columns that it names are checked by the first rows.
    PySparkTypeError, PySparkValueError
        ``WINOPS_ARGUMENT``: an argument is invalid.

    Examples
    --------
    >>> from winops import testing
    >>> window = testing.window("KEEP 10 SECONDS PER (symbol)")
    >>> [change.type for change in window.add({"seq": 1, "symbol": "A"})]
    ['insert']
    >>> window.advance(9)
    []
    >>> [(change.type, change.reason) for change in window.advance(1)]
    [('delete', 'expired')]
    """
    if time is not None and start is not None:
        raise wrong_value(
            "start= is the time of the first micro-batch, but time= names a column with the time "
            "of each row. Omit start=, and move the watermark with advance()."
        )
    call = _call(
        policy, per, order_by, time, apply, params, origin, idle, max_rows, on_null_time, punct
    )
    begin = None if time is not None else _START if start is None else start
    return ManualWindow(call, schema, begin)


@final
class ManualWindow:
    """A window over a stream whose time is moved by hand; :func:`window` creates it.

    Each call of :meth:`add` and :meth:`advance` is a micro-batch. Its state is stored and read
    again for the next one. A call that fails changes nothing.

    Examples
    --------
    >>> from winops import esper, testing
    >>> window = testing.window(esper("#time_accum(10 sec)"))
    >>> changes = window.add({"n": 1}, {"n": 2})
    >>> window.rows
    [{'n': 1}, {'n': 2}]
    >>> [change.reason for change in window.advance(10)]
    ['silence', 'silence']
    >>> window.rows
    []
    """

    __slots__ = (
        "__weakref__",
        "_bytes",
        "_call",
        "_columns",
        "_given",
        "_held",
        "_metrics",
        "_now",
        "_number",
        "_schema",
    )

    def __init__(
        self,
        call: Mapping[str, Any],
        schema: str | StructType | None,
        now: datetime | None,
    ) -> None:
        self._call = call
        self._schema = schema
        self._columns = ""
        self._now = now
        self._number: int | None = None
        self._given: list[Any] = []
        self._held: list[tuple[str | None, int]] = []
        self._metrics: Mapping[str, int] = {}
        self._bytes = 0
        if schema is None:
            _check_policy(call)
        else:
            self._keep(self._opened(()))

    @property
    def now(self) -> datetime | None:
        """The time: of the next micro-batch or, with ``time=``, the watermark; None before it."""
        return self._now

    @property
    def rows(self) -> list[Any]:
        """The rows that the changes have inserted and not deleted, oldest first."""
        return [self._given[number] for _, number in self._held]

    @property
    def metrics(self) -> Mapping[str, int]:
        """The operator's metrics that are not 0, such as ``rowsRefused``.

        ``rowsHeld``, ``rowsWaiting`` and ``groups`` are those of now; all others are sums over
        all calls so far. The metrics of a state store are not among them.
        """
        return self._metrics

    @property
    def state_bytes(self) -> int:
        """The number of bytes that the state of all groups takes now, without their keys."""
        return self._bytes

    def add(self, *rows: Any, at: datetime | None = None) -> list[Change]:
        """Let rows arrive, and return the changes.

        With ``time=``, rows wait for the watermark unless ``apply="arrival"``.

        Parameters
        ----------
        *rows : dict or Row
            The rows in the order of arrival: ``add(*rows)`` for a list. The columns are those of
            `schema` or, without it, of the rows of the first call. A column that a row does not
            have is NULL.
        at : datetime.datetime, optional
            The instant, or the watermark, to which time moves on; now by default. The changes
            until then are among the changes.

        Raises
        ------
        PySparkTypeError, PySparkValueError
            ``WINOPS_ARGUMENT``: the instant is before now, an argument is no row, or a row has a
            name that is no column.
        """
        return self._batch(rows, self._now if at is None else _not_before(self._now, at))

    def advance(self, to: float | timedelta | datetime) -> list[Change]:
        """Move time on, and return the changes that happen until then.

        Parameters
        ----------
        to : float or timedelta or datetime
            A number of seconds or a duration from :attr:`now` on, or an instant.

        Raises
        ------
        PySparkTypeError, PySparkValueError
            ``WINOPS_ARGUMENT``: the instant is before now, is a duration while there is no
            watermark, or is of another type.
        """
        return self._batch((), _moved(self._now, to))

    def _batch(self, rows: Sequence[Any], now: datetime | None) -> list[Change]:
        number = self._number
        if number is None:
            if not rows:
                self._now = now
                return []
            number = self._opened(rows)
        else:
            check_added(rows, self._columns)
        try:
            reply = _micro_batch(number, rows, now)
        except Exception:
            if self._number is None:
                # The types of the columns follow from the rows of the first call that succeeds.
                PROCESS.forget(number)
            raise
        if self._number is None:
            self._keep(number)
        self._now = now
        self._given += rows
        self._metrics = reply["metrics"]
        self._bytes = reply["bytes"]
        for kind, _, _, _, name, _, row in reply["changes"]:
            if kind == "insert":
                self._held.append((name, row))
            elif (name, row) in self._held:
                # A statement that selects rstream emits no inserts.
                self._held.remove((name, row))
        return [_change(change, self._given) for change in reply["changes"]]

    def _opened(self, rows: Sequence[Any]) -> int:
        schema = _schema_of_added(rows, self._schema)
        number = PROCESS.number()
        PROCESS.request("open", id=number, schema=schema, **self._call)
        self._columns = schema
        if self._now is not None:
            # Rows of the first call can be late.
            _micro_batch(number, (), self._now)
        return number

    def _keep(self, number: int) -> None:
        self._number = number
        weakref.finalize(self, PROCESS.forget, number)


def _micro_batch(number: int, rows: Sequence[Any], now: datetime | None) -> dict[str, Any]:
    return PROCESS.request(
        "batch",
        id=number,
        rows=[as_json(row) for row in rows],
        now=0 if now is None else millis(now),
    )


@arguments.known
def over(
    rows: Rows,
    functions: str,
    *,
    schema: str | StructType | None = None,
    arrival_order: bool = False,
    null_time: Literal["error", "drop"] = "error",
    idle: str | timedelta | None = None,
    max_rows: int | None = None,
    exact_floats: bool = False,
) -> list[dict[str, Any]]:
    """Return rows with the results of window functions, as of a table of the rows.

    The operator of a stream computes them: all rows arrive at once, and then the input ends.

    Parameters
    ----------
    rows : list of dict, list of Row, or pandas.DataFrame
        The rows in their order.
    functions : str
        Window functions of SQL, separated by commas, such as
        ``"avg(x) OVER (PARTITION BY k ORDER BY ts ROWS 9 PRECEDING) AS mean"``. They have one
        PARTITION BY and ORDER BY; a clause WINDOW can follow. Each timestamp has a watermark.
    schema : str or StructType, optional
        The columns of the rows. If it is omitted, the types follow from the values.
    arrival_order : bool
        True accepts an ORDER BY without an event time.
    null_time : str
        ``drop`` drops rows whose time is None; ``error`` raises an error.
    idle : str or timedelta, optional
        The time after which a silent group is removed.
    max_rows : int, optional
        The number of rows that a group may hold.
    exact_floats : bool
        True adds floating-point numbers of every frame in the order of its rows, as Spark does.

    Returns
    -------
    list of dict
        The rows in their order, each with the columns of the functions, whose values are those of
        ``collect()``: an interval of days is a timedelta. In the order of arrival, rows that wait
        for rows behind them are not among them.

    Raises
    ------
    AnalysisException
        ``WINOPS_OVER_TEXT``: the text is not valid. ``WINOPS_OVER``: a stream cannot compute it.
    SparkRuntimeException
        A row has no time, or a group has too many rows.
    PySparkTypeError, PySparkValueError
        ``WINOPS_ARGUMENT``: an argument is invalid, or the type of a column does not follow from
        its values.

    Examples
    --------
    >>> from datetime import datetime
    >>> from winops import testing
    >>> rows = [{"x": float(i), "ts": datetime(2026, 1, 1, 12, i)} for i in range(3)]
    >>> found = testing.over(rows, "sum(x) OVER (ORDER BY ts ROWS 1 PRECEDING) AS total")
    >>> [row["total"] for row in found]
    [0.0, 1.0, 3.0]
    """
    given = as_rows(rows)
    settings = _settings(arrival_order, null_time, idle, max_rows, exact_floats)
    process = OverProcess(functions, schema_of(given, schema), settings=settings)
    found = dict(process.computed(process.batch(given, None, last=True)))
    return [{**as_dict(given[number]), **found[number]} for number in sorted(found)]


@arguments.known
def over_stream(
    functions: str,
    *,
    schema: str | StructType | None = None,
    arrival_order: bool = False,
    null_time: Literal["error", "drop"] = "error",
    idle: str | timedelta | None = None,
    max_rows: int | None = None,
    exact_floats: bool = False,
) -> ManualOver:
    """Create window functions over a stream whose time is moved by hand.

    Parameters
    ----------
    functions, schema, arrival_order, null_time, idle, max_rows, exact_floats
        As for :func:`over`.

    Returns
    -------
    ManualOver
        The functions, which have no rows.

    Examples
    --------
    >>> from datetime import datetime
    >>> from winops import testing
    >>> stream = testing.over_stream("lag(n) OVER (ORDER BY ts) AS before")
    >>> stream.add({"n": 2, "ts": datetime(2026, 1, 2)}, {"n": 1, "ts": datetime(2026, 1, 1)})
    []
    >>> [row["before"] for row in stream.advance(datetime(2026, 1, 3))]
    [None, 1]
    """
    settings = _settings(arrival_order, null_time, idle, max_rows, exact_floats)
    return ManualOver(functions, schema, settings)


@final
class ManualOver:
    """Window functions over a stream whose time is moved by hand.

    :func:`over_stream` creates it. Each call of :meth:`add`, :meth:`advance` and :meth:`finish`
    is a micro-batch, and returns the rows whose results it has made known, each as a dict with
    the columns of the functions. A call that fails changes nothing.
    """

    __slots__ = (
        "_columns",
        "_finished",
        "_functions",
        "_given",
        "_now",
        "_process",
        "_schema",
        "_settings",
    )

    def __init__(
        self,
        functions: str,
        schema: str | StructType | None,
        settings: Mapping[str, str],
    ) -> None:
        self._functions = functions
        self._schema = schema
        self._columns = ""
        self._settings = settings
        self._now: datetime | None = None
        self._given: list[Any] = []
        self._finished = False
        self._process = None if schema is None else self._opened(())

    @property
    def now(self) -> datetime | None:
        """The watermark or, in the order of arrival, the time; None before it is moved."""
        return self._now

    @property
    def metrics(self) -> Mapping[str, int]:
        """The operator's metrics that are not 0, such as ``numRowsDroppedByWatermark``."""
        return {} if self._process is None else self._process.metrics

    @property
    def state_bytes(self) -> int:
        """The number of bytes that the state of all groups takes now, without their keys."""
        return 0 if self._process is None else self._process.bytes

    def add(self, *rows: Any, at: datetime | None = None) -> list[dict[str, Any]]:
        """Let rows arrive.

        Parameters
        ----------
        *rows : dict or Row
            The rows in the order of arrival, with columns as for :meth:`ManualWindow.add`. They
            wait for the watermark.
        at : datetime.datetime, optional
            The watermark to which time moves on; now by default.

        Raises
        ------
        PySparkTypeError, PySparkValueError
            ``WINOPS_ARGUMENT``: as for :meth:`ManualWindow.add`.
        """
        return self._batch(rows, self._now if at is None else _not_before(self._now, at))

    def advance(self, to: float | timedelta | datetime) -> list[dict[str, Any]]:
        """Move the watermark on.

        Parameters
        ----------
        to : float or timedelta or datetime
            A number of seconds or a duration from :attr:`now` on, or an instant.

        Raises
        ------
        PySparkTypeError, PySparkValueError
            ``WINOPS_ARGUMENT``: the instant is before now, is a duration while there is no
            watermark, or is of another type.
        """
        return self._batch((), _moved(self._now, to))

    def finish(self) -> list[dict[str, Any]]:
        """End the input, and return the rows that waited, as ``atEnd`` ``flush`` does.

        Raises
        ------
        PySparkValueError
            ``WINOPS_ARGUMENT``: the input has ended before, also in later calls of other methods.
        """
        found = self._batch((), self._now, last=True)
        self._finished = True
        return found

    def _batch(
        self, rows: Sequence[Any], now: datetime | None, last: bool = False
    ) -> list[dict[str, Any]]:
        if self._finished:
            raise wrong_value("The input has ended by finish(). Call over_stream() again.")
        process = self._process
        if process is None:
            if not rows:
                self._now = now
                return []
            process = self._opened(rows)
        else:
            check_added(rows, self._columns)
        reply = process.batch(rows, now, last=last)
        self._process, self._now = process, now
        self._given += rows
        return [
            {**as_dict(self._given[number]), **results}
            for number, results in process.computed(reply)
        ]

    def _opened(self, rows: Sequence[Any]) -> OverProcess:
        schema = _schema_of_added(rows, self._schema)
        process = OverProcess(self._functions, schema, settings=self._settings)
        self._columns = schema
        if self._now is not None:
            # Rows of the first call can be late.
            process.batch((), self._now)
        return process


def _settings(
    arrival_order: bool,
    null_time: str,
    idle: str | timedelta | None,
    max_rows: int | None,
    exact_floats: bool,
) -> dict[str, str]:
    """Return the settings of window functions by their names behind ``spark.winops.over.``."""
    settings = {
        "arrivalOrder": str(arrival_order).lower(),
        "nullTime": null_time,
        "exactFloats": str(exact_floats).lower(),
    }
    if arrival_order:
        # In the order of arrival, the end of the input applies no rows.
        settings["atEnd"] = "wait"
    if idle is not None:
        settings["idle"] = arguments.interval("idle", idle)
    if max_rows is not None:
        settings["maxRows"] = str(max_rows)
    return settings


def _moved(now: datetime | None, to: Any) -> datetime:
    """Return the instant to which time moves on."""
    if isinstance(to, datetime):
        return _not_before(now, to)
    taken = "advance() takes a number of seconds, a timedelta or a datetime"
    if isinstance(to, bool) or not isinstance(to, timedelta | Real):
        raise wrong_type(f"{taken}, not {to!r}.")
    if now is None:
        raise wrong_value(
            "advance() takes a datetime here: there is no watermark before the first advance()."
        )
    try:
        then = now + (to if isinstance(to, timedelta) else timedelta(seconds=float(to)))
    except (ValueError, OverflowError):
        raise wrong_value(f"{taken} up to the year 9999, not {to!r}.") from None
    return _not_before(now, then)


def _not_before(now: datetime | None, then: Any) -> datetime:
    if not isinstance(then, datetime):
        raise wrong_type(f"at= is a datetime, not {then!r}.")
    if now is not None and millis(then) < millis(now):
        raise wrong_value(f"Time moves on, from {now}, not back to {then}.")
    return then


def _schema_of_added(rows: Sequence[Any], schema: str | StructType | None) -> str:
    if schema is None:
        check_added(rows, None)
        return schema_of(rows, None)
    found = schema_of((), schema)
    check_added(rows, found)
    return found


def _check_policy(call: Mapping[str, Any]) -> None:
    """Refuse a policy that is not valid whatever the columns are.

    Each column that the policy names is taken for a number. Errors that follow from this type, or
    that name no column, are left to the first rows.
    """
    given = call["arguments"]
    columns = {"_": "bigint"}
    columns |= dict.fromkeys([*call["per"], *call["order_by"]], "bigint")
    columns |= {given[name]: kind for name, kind in _NAMED.items() if name in given}
    while True:
        schema = ", ".join(f"{quoted(name)} {kind}" for name, kind in columns.items())
        number = PROCESS.number()
        try:
            PROCESS.request("open", id=number, schema=schema, **call)
        except AnalysisException as error:
            condition = condition_of(error) or ""
            if condition == _UNKNOWN_COLUMN:
                found = _UNKNOWN.search(str(error))
                if found is not None and found[1] not in columns:
                    columns[found[1]] = "bigint"
                    continue
                return
            if condition.startswith("WINOPS_POLICY.") and (
                condition not in _OF_TYPES or len(columns) == 1
            ):
                raise
            return
        PROCESS.forget(number)
        return


def _call(
    policy: Policy,
    per: arguments.Names | None,
    order_by: arguments.Names | None,
    time: str | None,
    apply: str | None,
    params: Mapping[str, arguments.Parameter] | None,
    origin: int | str | None,
    idle: str | timedelta | None,
    max_rows: int | None,
    on_null_time: str | None,
    punct: str | None,
) -> dict[str, Any]:
    read = policy_of(policy, rows=None, slack=None, interval=None, every=False, params=params)
    given: dict[str, Any] = dict(
        options_of(time, apply, origin, idle, max_rows, on_null_time, punct, None)
    )
    if read.windows:
        given.update(windows=dict(read.windows), dialect=read.dialect)
    else:
        given[read.dialect] = read.text
    if read.params:
        given["params"] = {name: as_json(value) for name, value in read.params.items()}
    return {
        "arguments": given,
        "per": arguments.names("per", per),
        "order_by": arguments.names("order_by", order_by),
    }


def _change(values: Sequence[Any], rows: Sequence[Any]) -> Change:
    kind, micros, step, sequence, name, reason, number = values
    return Change(kind, rows[number], reason, local(micros), step, sequence, name)
