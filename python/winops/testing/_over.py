"""Window functions that the process for tests runs over a stream."""

from __future__ import annotations

import json
import weakref
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from pyspark.sql.types import StructType

from winops.testing._process import PROCESS
from winops.testing._rows import as_json, from_json, millis


class OverProcess:
    """Window functions over a stream in the process for tests.

    Attributes
    ----------
    results : StructType
        The columns of the results.
    time : str or None
        The time column; None if rows have the order of arrival.
    names : list of str
        The names of the frames.
    bytes : int
        The number of bytes that the state of all groups takes.
    metrics : dict
        The metrics of the operator that are not 0.
    """

    def __init__(
        self,
        text: str,
        schema: str,
        *,
        frames: bool = False,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self._number = PROCESS.number()
        reply = PROCESS.request(
            "over_open",
            id=self._number,
            text=text,
            schema=schema,
            frames=frames,
            settings={"atEnd": "flush", **(settings or {})},
        )
        weakref.finalize(self, PROCESS.forget, self._number)
        self.results = StructType.fromJson(json.loads(reply["results"]))
        self.time: str | None = reply["time"]
        self.names: list[str] = reply["names"]
        self.bytes = 0
        self.metrics: Mapping[str, int] = {}
        self._now = 0

    def batch(
        self, rows: Sequence[Any], now: datetime | None, *, last: bool = False
    ) -> dict[str, Any]:
        """Run a micro-batch, and return the reply.

        Parameters
        ----------
        rows : list of dict or Row
            The rows.
        now : datetime or None
            The watermark, or without a time column the instant; None for the last one.
        last : bool
            True if the input has ended.
        """
        at = self._now if now is None else millis(now)
        reply = PROCESS.request(
            "over_batch",
            id=self._number,
            rows=[as_json(row) for row in rows],
            now=at,
            last=last,
        )
        self._now = at
        self.bytes = reply["bytes"]
        self.metrics = reply["metrics"]
        return reply

    def computed(self, reply: Mapping[str, Any]) -> list[tuple[int, dict[str, Any]]]:
        """Return the number of each row of a reply, in the order of arrival, and its results."""
        return [(number, self._values(text)) for number, text in reply["rows"]]

    def _values(self, text: str) -> dict[str, Any]:
        values = json.loads(text, parse_float=Decimal)
        return {
            field.name: from_json(values[field.name], field.dataType) for field in self.results
        }
