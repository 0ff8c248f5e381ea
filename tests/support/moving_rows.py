"""Operations on rows that move between groups, for tests of sinks."""

from __future__ import annotations

import random

from tests.support.keyed import Row

GROUPS = ("A", "B", None)


def operations(rng: random.Random, count: int = 120, keys: int = 12) -> list[Row]:
    """Return operations in their order: `op`, the group `g`, the key `id` and a value `v`.

    A row that moves to another group leaves the former one by a preimage. Some updates and
    deletes are of rows that were never inserted.
    """
    group_of: dict[int, str | None] = {}
    found = []
    for number in range(count):
        key = rng.randrange(keys)
        group = group_of.get(key, rng.choice(GROUPS))
        if key in group_of and rng.random() < 0.3:
            found.append({"op": "update_preimage", "g": group, "id": key, "v": number})
            group = rng.choice(GROUPS)
        kind = rng.choice(["upsert", "update_postimage", "update", "delete"])
        group_of[key] = group
        found.append({"op": kind, "g": group, "id": key, "v": number})
    return found
