"""Changes of a window: over a table, and over a stream whose time is moved by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, Literal, final

from pyspark.sql.types import StructType

from winops import _arguments as arguments
from winops._dialects import WindowPolicy
from winops._errors import wrong_value
from winops._options import key_options_of, options_of
from winops._policy import Policy as CallPolicy
from winops._policy import policy_of
from winops.testing import _process
from winops.testing._rows import Rows, as_json, as_rows, local, millis, schema_of
from winops.testing._stream import ManualStream, OpenWindow

_START = datetime(2026, 1, 1, tzinfo=timezone.utc)

Policy = str | WindowPolicy | Mapping[str, str | WindowPolicy]


@dataclass(frozen=True)
class Change:
    """A row that entered or left a window.

    Attributes
    ----------
    type : str
        ``insert`` or ``delete``; with ``updates="update"`` also ``update_before`` and
        ``update_after``, with ``late="emit"`` ``late`` and ``refused``.
    row : Any
        The row, as it was given; a dict for a row of a pandas frame. With ``key=``, it is the
        operation whose values the row of the window has.
    reason : str
        The reason, as in the column ``_change_reason`` of :meth:`winops.Kept.changes`.
    time : datetime.datetime or None
        The time of the step in the local time zone, without a zone, as ``collect()`` returns it;
        None on a table without ``time=``.
    step : int or None
        The number of the step among the group's steps, from 0; None for ``late`` and ``refused``
        rows.
    seq : int or None
        The number of the change among the group's changes, from 0; None for these rows.
    window : str or None
        The name of the window, if there are several.
    number : int or None
        With ``key=``, the number of the row among those that entered the group, as in the column
        ``_change_row``; None for these rows.
    """

    type: str
    row: Any
    reason: str
    time: datetime | None
    step: int | None
    seq: int | None
    window: str | None = None
    number: int | None = None


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
    key: arguments.Names | None = None,
    op: str | None = None,
    updates: Literal["delete_insert", "update"] | None = None,
    late: Literal["drop", "emit"] | None = None,
    buffer: int | None = None,
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
    key, op, updates, late, buffer
        As for :func:`winops.keep`: the rows have a primary key, and are operations.

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
        policy,
        per,
        order_by,
        params,
        options_of(time, apply, origin, idle, max_rows, on_null_time, punct, None)
        | key_options_of(key, op, updates, None, late, False, buffer),
        key,
    )
    more = {} if until is None else {"until": millis(until)}
    reply = _process.PROCESS.request(
        "table",
        schema=schema_of(given, schema),
        rows=[as_json(row) for row in given],
        **call,
        **more,
    )
    return [change_of(change, given) for change in reply["changes"]]


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
    key: arguments.Names | None = None,
    op: str | None = None,
    updates: Literal["delete_insert", "update"] | None = None,
    late: Literal["drop", "emit"] | None = None,
    buffer: int | None = None,
) -> ManualWindow:
    """Create a window over a stream whose time is moved by hand.

    Parameters
    ----------
    policy, schema, per, order_by, time, apply, params, origin, idle
        As for :func:`changes`.
    max_rows, on_null_time, punct, key, op, updates, late, buffer
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

    Rows with a primary key are operations:

    >>> orders = testing.window("KEEP 2 ROWS", key="id", op="op")
    >>> _ = orders.add({"op": "insert", "id": 1, "n": 10}, {"op": "insert", "id": 2, "n": 20})
    >>> [(c.type, c.row["n"], c.number) for c in orders.add({"op": "update", "id": 1, "n": 11})]
    [('delete', 10, 0), ('insert', 11, 0)]
    >>> [row["n"] for row in orders.rows]
    [11, 20]
    """
    if time is not None and start is not None:
        raise wrong_value(
            "start= is the time of the first micro-batch, but time= names a column with the time "
            "of each row. Omit start=, and move the watermark with advance()."
        )
    call = _call(
        policy,
        per,
        order_by,
        params,
        options_of(time, apply, origin, idle, max_rows, on_null_time, punct, None)
        | key_options_of(key, op, updates, None, late, False, buffer),
        key,
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

    __slots__ = ("_held", "_stream")

    def __init__(
        self,
        call: Mapping[str, Any],
        schema: str | StructType | None,
        now: datetime | None,
    ) -> None:
        if schema is None:
            _process.PROCESS.request("check", **call)
        self._stream = ManualStream(
            lambda columns: OpenWindow(schema=columns, **call), schema, now
        )
        # The name of the window of each row, its number, and that in its group.
        self._held: list[tuple[str | None, int, int]] = []

    @property
    def now(self) -> datetime | None:
        """The time: of the next micro-batch or, with ``time=``, the watermark; None before it."""
        return self._stream.now

    @property
    def rows(self) -> list[Any]:
        """The rows that the changes have inserted and not deleted, oldest first.

        With ``key=``, a row that was updated is the operation that has updated it, and keeps its
        place. Rows of several groups are in the order of their numbers in these.
        """
        return [self._stream.rows[number] for _, number, _ in self._held]

    @property
    def metrics(self) -> Mapping[str, int]:
        """The operator's metrics that are not 0, such as ``rowsRefused``.

        ``rowsHeld``, ``rowsWaiting`` and ``groups`` are those of now; all others are sums over
        all calls so far. The metrics of a state store are not among them.
        """
        return self._stream.metrics

    @property
    def state_bytes(self) -> int:
        """The number of bytes that the state of all groups takes now, without their keys."""
        return self._stream.bytes

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
        return self._changes(self._stream.arrive(rows, at))

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
        return self._changes(self._stream.advance(to))

    def _changes(self, reply: Mapping[str, Any] | None) -> list[Change]:
        found = [] if reply is None else reply["changes"]
        for kind, _, _, _, name, _, row, *in_group in found:
            held = (name, row, in_group[0] if in_group else 0)
            if kind in ("insert", "update_after"):
                self._held.append(held)
            elif held in self._held:
                # A statement that selects rstream emits no inserts.
                self._held.remove(held)
        # The sort is stable, and changes nothing without numbers in groups.
        self._held.sort(key=lambda held: held[2])
        return [change_of(change, self._stream.rows) for change in found]


def _call(
    policy: Policy,
    per: arguments.Names | None,
    order_by: arguments.Names | None,
    params: Mapping[str, arguments.Parameter] | None,
    options: Mapping[str, int | str],
    key: arguments.Names | None,
) -> dict[str, Any]:
    return call_of(
        policy_of(policy, rows=None, slack=None, interval=None, every=False, params=params),
        arguments.names("per", per),
        arguments.names("order_by", order_by),
        options,
        arguments.names("key", key),
    )


def call_of(
    policy: CallPolicy,
    per: Sequence[str],
    order_by: Sequence[str],
    options: Mapping[str, int | str],
    key: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the members of a request for a call of ``keep``, without the columns."""
    given: dict[str, Any] = dict(options)
    if policy.windows:
        given.update(windows=dict(policy.windows), dialect=policy.dialect)
    else:
        given[policy.dialect] = policy.text
    if policy.params:
        given["params"] = {name: as_json(value) for name, value in policy.params.items()}
    return {"arguments": given, "per": per, "order_by": order_by, "key": key}


def change_of(values: Sequence[Any], rows: Sequence[Any]) -> Change:
    """Return a change of a reply, over the rows in the order of their arrival."""
    kind, micros, step, sequence, name, reason, number, *in_group = values
    return Change(kind, rows[number], reason, local(micros), step, sequence, name, *in_group)
