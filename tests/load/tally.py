"""What the progress of a query says that it has done."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class Tally:
    """Adds up batches, each once, however often its progress is seen.

    Attributes
    ----------
    inserted, deleted
        Change rows of all batches.
    held, groups, entries
        After the newest batch: rows, groups, and entries of the state store.
    peak_held
        The most rows held after any batch.
    """

    def __init__(self) -> None:
        self.inserted = self.deleted = 0
        self.held = self.groups = self.entries = 0
        self.peak_held = 0
        self._seen = 0
        self._newest = -1

    @property
    def batches(self) -> int:
        """How many batches there were, those included whose progress was not seen."""
        return self._newest + 1

    @property
    def unseen(self) -> int:
        """Batches that were done when the query was stopped, before they were told."""
        return self.batches - self._seen

    def add(self, progress: Iterable[Any]) -> None:
        """Add what has not been added before."""
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
