"""The number of rows over time: the state grows, is constant, and shrinks to nothing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

START = datetime(2024, 1, 1, tzinfo=timezone.utc)
BATCH_SECONDS = 5
# A batch's rows wait for the watermark of the next batch, and groups for their idle time.
LAG_BATCHES = 6


@dataclass(frozen=True)
class Wave:
    """Equal batches, each of the same time, under a window by time.

    Rows arrive in the first two thirds. The window is one third long. In the last third, rows are
    only deleted.

    Attributes
    ----------
    batches
        The number of all batches.
    peak_rows
        The number of held rows while inserts and deletes balance.
    tail
        The number of batches after the last row has expired.
    """

    batches: int
    peak_rows: int
    tail: int

    def __post_init__(self) -> None:
        if self.window < 2 * LAG_BATCHES:
            raise ValueError(f"{self.batches} batches are too few for a tail of {self.tail}")

    @property
    def window(self) -> int:
        """The window's length, in batches."""
        return (self.batches - self.tail - LAG_BATCHES) // 3

    @property
    def window_seconds(self) -> int:
        return self.window * BATCH_SECONDS

    @property
    def idle_seconds(self) -> int:
        """The idle time after which a group is removed; it exceeds the window's length."""
        return (self.window + LAG_BATCHES // 2) * BATCH_SECONDS

    @property
    def rows_per_batch(self) -> int:
        return -(-self.peak_rows // self.window)

    @property
    def fed_batches(self) -> int:
        """The number of batches with input rows."""
        return 2 * self.window

    @property
    def rows(self) -> int:
        return self.fed_batches * self.rows_per_batch

    @property
    def end_of_rows(self) -> datetime:
        return START + self.fed_batches * timedelta(seconds=BATCH_SECONDS)

    @property
    def hours(self) -> float:
        """The time that the batches represent, in hours."""
        return self.batches * BATCH_SECONDS / 3_600

    def holds_level(self, batch: int) -> bool:
        """Return True if as many rows are deleted as inserted."""
        return self.window + LAG_BATCHES <= batch < self.fed_batches
