"""The input: one Parquet file per micro-batch, written once and used by all sides."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

# Spark splits a file by row groups, so small row groups let both cores read.
ROW_GROUPS = 8


@dataclass(frozen=True)
class Source:
    """An endless sequence of rows, in the order of a stream.

    Attributes
    ----------
    name
        The name of the rows, and of the directory of their files.
    key
        The column that groups them.
    order
        The columns that order them.
    batches
        Yields micro-batches of the given sizes over the given number of keys. A source with its
        own keys ignores the number.
    """

    name: str
    key: str
    order: tuple[str, ...]
    batches: Callable[[Sequence[int], int], Iterator[pa.Table]]


def files(cache: Path, source: Source, keys: int, sizes: Sequence[int]) -> list[Path]:
    """Write the micro-batches that `cache` lacks, and return all of them, in order."""
    digest = hashlib.sha256()
    paths = []
    for number, size in enumerate(sizes):
        digest.update(f"{size} ".encode())
        name = f"batch-{number:04d}-{size}-{digest.hexdigest()[:8]}.parquet"
        paths.append(cache / f"{source.name}-keys-{keys}" / name)
    if not all(path.exists() for path in paths):
        for path, batch in zip(paths, source.batches(sizes, keys), strict=True):
            _write(batch, path)
    return paths


def _write(batch: pa.Table, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_suffix(".part")
    pq.write_table(batch, half, row_group_size=max(1, len(batch) // ROW_GROUPS))
    half.rename(path)


def deliver(path: Path, source: Path) -> None:
    """Move a complete micro-batch into the directory of a file source at once."""
    if (source / path.name).exists():
        # Another query that reads the directory has received it.
        return
    try:
        (source / path.name).hardlink_to(path)
    except OSError:
        # The file system differs. The source ignores names that begin with a dot.
        hidden = source / f".{path.name}"
        shutil.copyfile(path, hidden)
        hidden.rename(source / path.name)
