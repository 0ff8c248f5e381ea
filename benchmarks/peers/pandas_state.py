"""State machines written by hand in Python, for one key's frame at a time."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, Protocol

import pandas as pd
from pyspark import cloudpickle
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout
from pyspark.sql.streaming.stateful_processor import (
    ExpiredTimerInfo,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)

from peers.peer import LATE_ROWS, Job, SparkPeer
from peers.windows import (
    HELD,
    Step,
    averaged,
    due_millis,
    expired,
    in_order,
    last_millis,
    last_rows,
)

# Workers cannot import this package, so it is pickled by value.
cloudpickle.register_pickle_by_value(sys.modules["peers"])  # type: ignore[no-untyped-call]

_STATE = "seq array<long>, price array<double>, qty array<long>, micros array<long>"
_TRADE = "key long, seq long, price double, qty long, micros long"
_OUT = {
    "rows": f"{_TRADE}, kind string",
    "time": f"{_TRADE}, kind string",
    "aggregates": f"{_TRADE}, mean double, low double, high double",
}


class _Window(Protocol):
    def __call__(self, held: pd.DataFrame, arrived: pd.DataFrame) -> Step: ...


def _window(job: Job) -> _Window:
    if job.kind == "time":
        return partial(last_millis, millis=job.size)
    return partial({"rows": last_rows, "aggregates": averaged}[job.kind], rows=job.size)


def _prepared(trades: DataFrame, job: Job) -> DataFrame:
    if job.kind == "time":
        trades = trades.withWatermark(job.time, "0 seconds")
    return trades.withColumn("micros", F.unix_micros(job.time))


def _finished(out: DataFrame, job: Job) -> DataFrame:
    return out.withColumn("micros", F.timestamp_micros("micros")).withColumnRenamed(
        "micros", job.time
    )


def _from_state(state: tuple[Any, ...] | None) -> pd.DataFrame:
    columns: tuple[Any, ...] = state or ([],) * len(HELD)
    types = ("int64", "float64", "int64", "int64")
    return pd.DataFrame(
        {
            name: pd.Series(values, dtype=of)
            for name, values, of in zip(HELD, columns, types, strict=True)
        }
    )


def _to_state(held: pd.DataFrame) -> tuple[Any, ...]:
    return tuple(held[name].tolist() for name in HELD)


def _told(key: tuple[Any, ...], out: pd.DataFrame) -> Iterator[pd.DataFrame]:
    if len(out):
        out.insert(0, "key", key[0])
        yield out


class _Held(StatefulProcessor):
    """A key's rows are one value, because fetching and storing each row would cost a message."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle
        self._state = handle.getValueState("trades", _STATE)

    def handleInputRows(
        self,
        key: Any,
        rows: Any,
        timerValues: TimerValues,
    ) -> Iterator[pd.DataFrame]:
        state = self._state.get()
        out, held = _window(self._job)(_from_state(state), in_order(rows))
        self._store(held)
        if self._job.kind == "time" and state is None:
            self._wait(held)
        yield from _told(key, out)

    def handleExpiredTimer(
        self,
        key: Any,
        timerValues: TimerValues,
        expiredTimerInfo: ExpiredTimerInfo,
    ) -> Iterator[pd.DataFrame]:
        now = timerValues.getCurrentWatermarkInMs() * 1000
        out, held = expired(_from_state(self._state.get()), self._job.size, now)
        self._store(held)
        if len(held):
            self._wait(held)
        yield from _told(key, out)

    def _store(self, held: pd.DataFrame) -> None:
        if len(held):
            self._state.update(_to_state(held))
        else:
            self._state.clear()

    def _wait(self, held: pd.DataFrame) -> None:
        self._handle.registerTimer(due_millis(held, self._job.size))


def _transform_with_state(trades: DataFrame, job: Job) -> DataFrame:
    time_mode = "EventTime" if job.kind == "time" else "None"
    out = (
        _prepared(trades, job)
        .groupBy(job.key)
        .transformWithStateInPandas(_Held(job), _OUT[job.kind], "append", time_mode)
    )
    return _finished(out, job)


def _apply_with_state(trades: DataFrame, job: Job) -> DataFrame:
    window = _window(job)

    def advance(
        key: Any, rows: Iterable[pd.DataFrame], state: GroupState
    ) -> Iterator[pd.DataFrame]:
        before = _from_state(state.getOption)
        if state.hasTimedOut:
            out, held = expired(before, job.size, state.getCurrentWatermarkMs() * 1000)
        else:
            out, held = window(before, in_order(rows))
        if len(held):
            state.update(_to_state(held))
            if job.kind == "time":
                # A timer fires when the watermark is past its time, but a row expires at its
                # time.
                state.setTimeoutTimestamp(due_millis(held, job.size) - 1)
        else:
            state.remove()
        yield from _told(key, out)

    timeout = GroupStateTimeout.EventTimeTimeout
    out = (
        _prepared(trades, job)
        .groupBy(job.key)
        .applyInPandasWithState(
            advance,
            _OUT[job.kind],
            _STATE,
            "append",
            timeout if job.kind == "time" else GroupStateTimeout.NoTimeout,
        )
    )
    return _finished(out, job)


PANDAS = (
    SparkPeer(
        name="transformWithStateInPandas",
        missing=LATE_ROWS,
        longest=10_000,
        query=_transform_with_state,
    ),
    SparkPeer(
        name="applyInPandasWithState",
        missing=LATE_ROWS,
        longest=10_000,
        query=_apply_with_state,
    ),
)
