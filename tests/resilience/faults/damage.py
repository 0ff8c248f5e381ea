"""Damaged checkpoint files, and their restoration."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from pathlib import Path

COMMIT_LOG = "commit log"
DAMAGES = ("truncated", "a byte flipped", "deleted")
_STATE = re.compile(r"(\d+)[^/.]*\.(delta|changelog|zip|snapshot)$")


@dataclass(frozen=True)
class Damaged:
    """A damaged file, with its original bytes and its Hadoop checksums."""

    path: Path
    how: str
    what: str
    _contents: dict[Path, bytes]
    _left: bytes | None

    def put_back(self) -> None:
        """Restore the file, unless it has been written again."""
        if _content(self.path) != self._left:
            return
        for path, content in self._contents.items():
            path.write_bytes(content)


def damage(checkpoint: Path, rng: random.Random) -> Damaged | None:
    """Damage a file that the next start reads: the newest state of a task, or the last commit."""
    found = _newest(checkpoint, rng)
    if found is None:
        return None
    path, what = found
    hadoop = path.with_name(f".{path.name}.crc")
    contents = {p: p.read_bytes() for p in (path, hadoop) if p.exists()}
    how = rng.choice(DAMAGES)
    content = contents[path]
    if what != COMMIT_LOG:
        # Without Hadoop's checksum, Spark and RocksDB must detect the damage themselves. A commit
        # log keeps its checksum, because an altered digit of a watermark is still valid.
        hadoop.unlink(missing_ok=True)
    if how == "deleted":
        path.unlink()
    elif how == "truncated":
        path.write_bytes(content[: rng.randrange(len(content))])
    else:
        at = rng.randrange(len(content))
        path.write_bytes(
            content[:at] + bytes([content[at] ^ (1 << rng.randrange(8))]) + content[at + 1 :]
        )
    return Damaged(path, how, what, contents, _content(path))


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def _newest(checkpoint: Path, rng: random.Random) -> tuple[Path, str] | None:
    if rng.random() < 0.15:
        commits = sorted(checkpoint.glob("commits/[0-9]*"), key=lambda p: int(p.name))
        return (commits[-1], COMMIT_LOG) if commits else None
    stores = [p for p in checkpoint.glob("state/0/[0-9]*") if p.is_dir()]
    if not stores:
        return None
    store = rng.choice(sorted(stores))
    files = [(int(m[1]), p, m[2]) for p in store.iterdir() if (m := _STATE.match(p.name))]
    ssts = sorted(store.glob("SSTs/*.sst"))
    if ssts and rng.random() < 0.3:
        return max(ssts, key=lambda p: p.stat().st_mtime), "SST"
    if not files:
        return None
    _, path, kind = max(files, key=lambda f: f[0])
    return path, kind
