"""Samples of the cases, which `make test` runs in place of all of them."""

import random
from collections import defaultdict
from itertools import zip_longest

from cases import Case

# Esper has several times as many windows as the other dialects.
SHARES = {"esper": 3}


def sampled(cases: list[Case], count: int, skipped: int = 0) -> list[Case]:
    """Return some cases, in their order: the next ones after those of the samples before.

    Samples alternate between dialects and, within a dialect, between families.
    """
    families: dict[str, dict[str, list[Case]]] = defaultdict(lambda: defaultdict(list))
    for case in cases:
        families[case["dialect"]][family(case)].append(case)
    in_turn = _in_turn(
        [
            turns[start :: SHARES.get(dialect, 1)]
            for dialect, turns in sorted(
                (dialect, _in_turn(_shuffled(of_dialect)))
                for dialect, of_dialect in families.items()
            )
            for start in range(SHARES.get(dialect, 1))
        ]
    )
    chosen = {case["name"] for case in in_turn[skipped : skipped + count]}
    return [case for case in cases if case["name"] in chosen]


def family(case: Case) -> str:
    """Return the window of an Esper case, ``error`` if it is refused; the topic of others."""
    if case["dialect"] == "esper" and "error" in case:
        return "error"
    return case["topic"].removesuffix("-hand").removesuffix("-random")


def _shuffled(families: dict[str, list[Case]]) -> list[list[Case]]:
    """Shuffle the families and their cases, in the same way each time."""
    shuffled = random.Random(1)
    lists = [families[name] for name in sorted(families)]
    shuffled.shuffle(lists)
    return [shuffled.sample(cases, len(cases)) for cases in lists]


def _in_turn(lists: list[list[Case]]) -> list[Case]:
    return [case for turn in zip_longest(*lists) for case in turn if case is not None]
