"""The readings that must return to their former values, with tolerances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from instruments import Reading

MILLION = 1_000_000


@dataclass(frozen=True)
class Level:
    """A reading with its tolerance: the later value may be ``factor`` times plus ``more``."""

    name: str
    more: float = 0
    factor: float = 1

    def allowed(self, base: float) -> float:
        return base * self.factor + self.more


@dataclass(frozen=True)
class Verdict:
    """One reading before and after, with the allowed maximum."""

    name: str
    before: float
    after: float
    allowed: float

    @property
    def holds(self) -> bool:
        return self.after <= self.allowed


# Readings of winops's own resources must return to their exact values. Spark's thread pools,
# class caches, query histories and compiled code fill up gradually, up to their own limits. A
# batch registers some 200 accumulators.
AT_REST = [
    *map(
        Level,
        [
            "running_queries",
            "state_stores",
            "task_memory_bytes",
            "temp_views",
            "bus_listeners",
            "query_listeners",
            "execution_listeners",
            "cached_rdds",
        ],
    ),
    Level("storage_memory_bytes", more=4 * MILLION),
    Level("heap_bytes", more=48 * MILLION),
    Level("non_heap_bytes", more=96 * MILLION),
    Level("direct_bytes", more=8 * MILLION),
    Level("direct_buffers", more=16),
    Level("mapped_bytes"),
    # The C library retains the memory that RocksDB has freed.
    Level("resident_bytes", more=512 * MILLION),
    Level("file_handles", more=16),
    Level("threads", more=24),
    Level("classes", more=2_500),
    Level("accumulators", more=1_000),
    Level("shuffles", more=8),
    Level("checkpoint_bytes", more=16 * MILLION),
    Level("local_bytes", more=16 * MILLION),
]

# Readings of an empty store. Its cache keeps blocks until others need the room, at most Spark's
# limit (8 MB for each of two stores).
EMPTIED = [
    *map(Level, ["running_queries", "state_stores", "rocksdb_snapshots"]),
    Level("rocksdb_pinned_bytes", more=0.1 * MILLION),
    Level("rocksdb_versions", more=2),
    Level("rocksdb_memtable_bytes", more=4.3 * MILLION),
    Level("rocksdb_reader_bytes", more=0.1 * MILLION),
    Level("rocksdb_cache_bytes", more=17 * MILLION),
]

# Readings while the number of held rows is constant. Written data stays in memory until a
# memtable of some MB is full.
ON_THE_LEVEL = [
    *map(Level, ["running_queries", "state_stores", "rocksdb_snapshots", "temp_views"]),
    Level("rocksdb_pinned_bytes", more=0.1 * MILLION),
    Level("rocksdb_memtable_bytes", more=17 * MILLION),
    Level("rocksdb_reader_bytes", more=0.5 * MILLION),
    Level("rocksdb_cache_bytes", more=17 * MILLION),
    *map(Level, ["bus_listeners", "query_listeners", "execution_listeners", "cached_rdds"]),
    Level("rocksdb_versions", more=8),
    Level("heap_bytes", more=48 * MILLION),
    Level("non_heap_bytes", more=32 * MILLION),
    Level("direct_bytes", more=8 * MILLION),
    Level("resident_bytes", more=512 * MILLION),
    Level("file_handles", more=64, factor=1.5),
    Level("threads", more=16),
    Level("classes", more=1_500),
    Level("checkpoint_files", more=50, factor=1.5),
    Level("checkpoint_bytes", more=8 * MILLION, factor=1.5),
    Level("local_bytes", more=16 * MILLION, factor=2),
]


def compared(levels: Sequence[Level], before: Reading, after: Reading) -> list[Verdict]:
    """Compare two readings."""
    return [
        Verdict(
            level.name, before[level.name], after[level.name], level.allowed(before[level.name])
        )
        for level in levels
    ]
