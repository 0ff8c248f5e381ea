"""Results of window functions: over a table, and over a stream whose time is moved by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Literal, final

from pyspark.sql.types import StructType

from winops import _arguments as arguments
from winops._errors import wrong_value
from winops.testing._rows import Rows, Schema, as_dict, as_rows, from_json, schema_of
from winops.testing._stream import ManualStream, OpenWindow


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
    opened = OverFunctions(functions, schema_of(given, schema), settings=settings)
    found = dict(opened.computed(opened.batch(given, None, last=True)))
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

    __slots__ = ("_finished", "_stream")

    def __init__(
        self,
        functions: str,
        schema: str | StructType | None,
        settings: Mapping[str, str],
    ) -> None:
        self._stream = ManualStream(
            lambda columns: OverFunctions(functions, columns, settings=settings), schema, None
        )
        self._finished = False

    @property
    def now(self) -> datetime | None:
        """The watermark or, in the order of arrival, the time; None before it is moved."""
        return self._stream.now

    @property
    def metrics(self) -> Mapping[str, int]:
        """The operator's metrics that are not 0, such as ``numRowsDroppedByWatermark``."""
        return self._stream.metrics

    @property
    def state_bytes(self) -> int:
        """The number of bytes that the state of all groups takes now, without their keys."""
        return self._stream.bytes

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
        self._check_open()
        return self._results(self._stream.arrive(rows, at))

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
        self._check_open()
        return self._results(self._stream.advance(to))

    def finish(self) -> list[dict[str, Any]]:
        """End the input, and return the rows that waited, as ``atEnd`` ``flush`` does.

        Raises
        ------
        PySparkValueError
            ``WINOPS_ARGUMENT``: the input has ended before, also in later calls of other methods.
        """
        self._check_open()
        found = self._results(self._stream.batch((), self._stream.now, last=True))
        self._finished = True
        return found

    def _check_open(self) -> None:
        if self._finished:
            raise wrong_value("The input has ended by finish(). Call over_stream() again.")

    def _results(self, reply: Mapping[str, Any] | None) -> list[dict[str, Any]]:
        window = self._stream.window
        if reply is None or window is None:
            return []
        return [
            {**as_dict(self._stream.rows[number]), **results}
            for number, results in window.computed(reply)
        ]


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


class OverFunctions(OpenWindow):
    """Window functions over a stream in the process.

    With `frames`, the reply to a micro-batch has the rows of the frames instead of results.
    """

    def __init__(
        self,
        functions: str,
        schema: Schema,
        *,
        frames: bool = False,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            functions=functions,
            schema=schema,
            frames=frames,
            settings={"atEnd": "flush", **(settings or {})},
        )
        self._results = StructType.fromJson(json.loads(self.opened["results"]))

    def computed(self, reply: Mapping[str, Any]) -> list[tuple[int, dict[str, Any]]]:
        """Return the number of each row of a reply, in the order of arrival, and its results."""
        return [(number, self._values(text)) for number, text in reply["rows"]]

    def _values(self, text: str) -> dict[str, Any]:
        values = json.loads(text, parse_float=Decimal)
        return {
            field.name: from_json(values[field.name], field.dataType) for field in self._results
        }
