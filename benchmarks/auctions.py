"""The sold auctions of the Nexmark model, in the order in which they closed."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

import pyarrow as pa

from data import Source

sys.path.append(str(Path(__file__).resolve().parents[1] / "examples"))
from nexmark_lib.model import Model
from nexmark_lib.winners import sold_between

# The auctions' bids are generated at once and must fit into memory.
EVENTS = 2_000_000


def _batches(sizes: Sequence[int], _keys: int) -> Iterator[pa.Table]:
    model, waiting, events = Model(), pa.table({}), count(step=EVENTS)
    for rows in sizes:
        while len(waiting) < rows:
            first = next(events)
            closed = sold_between(model, first, first + EVENTS)
            made = pa.Table.from_pandas(closed, preserve_index=False)
            waiting = pa.concat_tables([waiting, made]) if len(waiting) else made
        yield waiting.slice(0, rows)
        waiting = waiting.slice(rows)


AUCTIONS = Source("auctions", key="seller", order=("expires", "auction"), batches=_batches)
