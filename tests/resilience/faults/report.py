"""The report of a campaign: a Markdown table, a full text, and JSON."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from tests.resilience.faults.tally import Count, Tally


def table(tally: Tally) -> str:
    """Return the Markdown table for the documentation."""
    lines = [
        "| What was broken | Faults | of which acted | Queries that stopped"
        " | Went on with nothing lost | What became of them |",
        "|---|--:|--:|--:|--:|---|",
    ]
    together = Count()
    for kind, c in sorted(tally.kinds.items()):
        lines.append(_row(kind, c, _counted(c.outcomes)))
        together.faults += c.faults
        together.acted += c.acted
        together.stops += c.stops
        together.recoveries += c.recoveries
    lines.append(_row("**together**", together, ""))
    return "\n".join(
        [
            *lines,
            "",
            f"Committed rows were compared {tally.comparisons:,} times, {tally.rows:,} rows in"
            f" all: {tally.lost} lost, {tally.doubled} doubled, {tally.wrong} other than they"
            " should be.",
            f"The clock was moved {tally.clock_moves:,} times,"
            f" {tally.clock_moves_by_batch_time:,} of them under a window by batch time."
            f" Queries were started again for Spark's Kafka source {tally.resumed:,} times.",
        ]
    )


def text(tally: Tally) -> str:
    """Return all counts as text."""
    lines = [table(tally), "", f"{tally.seconds:,.0f} seconds"]
    lines += _listed("tasks that were not the first, or failed", tally.attempts)
    lines += _listed("runs", tally.runs)
    lines += _listed("drivers", tally.places)
    for kind, c in sorted(tally.kinds.items()):
        lines += _listed(f"{kind}: where", c.what)
        lines += _listed(f"{kind}: stopped with", c.errors)
    lines += [f"left out: {left}" for left in tally.left_out]
    lines += [f"MISSING: {missing}" for missing in tally.shortfalls]
    lines += [f"PROBLEM: {problem}" for problem in tally.problems]
    return "\n".join(lines)


def data(tally: Tally) -> dict[str, Any]:
    """Return all counts as JSON-compatible data."""
    return {
        "good": tally.good,
        "seconds": round(tally.seconds, 1),
        "faults": tally.total,
        "kinds": {
            kind: {
                "faults": c.faults,
                "acted": c.acted,
                "stops": c.stops,
                "recoveries": c.recoveries,
                "seconds": round(c.seconds, 1),
                "outcomes": dict(c.outcomes),
                "what": dict(c.what),
                "errors": dict(c.errors),
            }
            for kind, c in sorted(tally.kinds.items())
        },
        "comparisons": tally.comparisons,
        "rows": tally.rows,
        "lost": tally.lost,
        "doubled": tally.doubled,
        "wrong": tally.wrong,
        "runs": dict(tally.runs),
        "drivers": dict(tally.places),
        "attempts": dict(tally.attempts),
        "clock moves": tally.clock_moves,
        "clock moves by batch time": tally.clock_moves_by_batch_time,
        "resumed": tally.resumed,
        "left out": tally.left_out,
        "missing": tally.shortfalls,
        "problems": tally.problems,
    }


def write(tally: Tally, folder: Path) -> None:
    """Write all three forms into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "faults.md").write_text(table(tally) + "\n")
    (folder / "faults.txt").write_text(text(tally) + "\n")
    (folder / "faults.json").write_text(json.dumps(data(tally), indent=2) + "\n")


def _row(kind: str, c: Count, outcomes: str) -> str:
    return f"| {kind} | {c.faults} | {c.acted} | {c.stops} | {c.recoveries} | {outcomes} |"


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{n} {what}" for what, n in counts.most_common())


def _listed(title: str, counts: Counter[str]) -> list[str]:
    if not counts:
        return []
    return [title, *(f"{n:>8}  {what}" for what, n in counts.most_common())]
