"""The table of languages in ccl.md: the policies of a line keep the same rows."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import pytest

from tests.support.paths import ROOT
from winops import apama, esper, spl, testing

pytestmark = pytest.mark.built

LANGUAGES = (str, esper, apama, spl)
NEWEST = set(range(20, 30))
PRICES = [seq * 7 % 31 for seq in range(30)]
ROWS = [
    {
        "seq": seq,
        "symbol": "AB"[seq % 2],
        "price": float(price),
        "ts": datetime(2026, 1, 1) + timedelta(seconds=seq),
    }
    for seq, price in enumerate(PRICES)
]
GREATEST = set(sorted(range(30), key=PRICES.__getitem__)[-10:])


def lines() -> dict[str, list[str]]:
    """Return the cells of each line of the table by the first one."""
    page = (ROOT / "docs" / "ccl.md").read_text(encoding="utf-8")
    _, _, section = page.partition("## Which language can say what\n")
    table = re.findall(r"^\| (.+) \|$", section.partition("\n## ")[0], re.MULTILINE)
    cells = [line.split(" | ") for line in table[1:]]
    return {first: [cell.strip("`") for cell in others] for first, *others in cells}


def held(policy: object) -> set[int]:
    rows: set[int] = set()
    for change in testing.changes(ROWS, policy, time="ts"):  # type: ignore[arg-type]
        (rows.add if change.type == "insert" else rows.discard)(change.row["seq"])
    return rows


def test_the_policies_of_a_line_keep_the_rows_that_it_names() -> None:
    wanted = [
        [NEWEST],
        # In IBM Streams, a row leaves when it is older than the time.
        [set(range(15, 30)), set(range(14, 30))],
        [NEWEST],
        [{28, 29}],
        [GREATEST],
        # A batch stays, or leaves when it is full.
        [NEWEST, set()],
    ]
    found = lines()
    assert len(found) == len(wanted)
    for (name, policies), rows in zip(found.items(), wanted, strict=True):
        assert len(policies) == len(LANGUAGES)
        for language, policy in zip(LANGUAGES, policies, strict=True):
            if policy != "no":
                assert held(language(policy)) in rows, (name, policy)
