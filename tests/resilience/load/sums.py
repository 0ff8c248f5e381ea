"""Sums over the progress events of a query."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class ProgressSums:
    """Sums over batches; each batch counts once, however often its progress is seen.

    Attributes
    ----------
    inserted, deleted
        The change rows of all batches.
    held, groups, entries
        After the newest batch: rows, groups, and entries of the state store.
    peak_held
        The maximum number of rows held after any batch.
    """

    def __init__(self) -> None:
        self.inserted = self.deleted = 0
        self.held = self.groups = self.entries = 0
        self.peak_held = 0
        self._seen = 0
        self._newest = -1

    @property
    def batches(self) -> int:
        """The number of batches, including those without observed progress."""
        return self._newest + 1

    @property
    def unseen(self) -> int:
        """The number of batches that ended without observed progress."""
        return self.batches - self._seen

    def add(self, progress: Iterable[Any]) -> None:
        """Add the batches that were not added before."""
        for one in progress:
            if one["batchId"] <= self._newest or not one["stateOperators"]:
                continue
            [operator] = one["stateOperators"]
            own = operator["customMetrics"]
            self._newest = one["batchId"]
            self._seen += 1
            self.inserted += own["rowsInserted"]
            self.deleted += own["rowsDeleted"]
            self.held, self.groups = own["rowsHeld"], own["groups"]
            self.entries = operator["numRowsTotal"]
            self.peak_held = max(self.peak_held, self.held)
