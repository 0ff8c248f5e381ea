"""What the Spark engines have to know of each dialect."""

import re
from collections.abc import Callable
from dataclasses import dataclass

PER = re.compile(r"\bPER\s*\(([^)]*)\)", re.IGNORECASE)


@dataclass(frozen=True)
class Dialect:
    """How a dialect's policy is given to ``keep``, and which columns its groups have."""

    policy: Callable[[str], str]
    group_columns: Callable[[str], list[str]]


def _per_columns(policy: str) -> list[str]:
    per = PER.search(policy)
    return [column.strip() for column in per.group(1).split(",")] if per else []


DIALECTS = {"ccl": Dialect(policy=str, group_columns=_per_columns)}
