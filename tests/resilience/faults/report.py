"""The report of a campaign: a Markdown table, a full text, and JSON."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from tests.resilience.faults.counts import Count, FaultCounts


def table(counts: FaultCounts) -> str:
    """Return the Markdown table for the documentation."""
    lines = [
        "| What was broken | Faults | of which acted | Queries that stopped"
        " | Went on with nothing lost | What became of them |",
        "|---|--:|--:|--:|--:|---|",
    ]
    together = Count()
    for kind, c in sorted(counts.kinds.items()):
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
            f"Committed rows were compared {counts.comparisons:,} times, {counts.rows:,} rows in"
            f" all: {counts.lost} lost, {counts.doubled} doubled, {counts.wrong} other than they"
            " should be.",
            f"The clock was moved {counts.clock_moves:,} times,"
            f" {counts.clock_moves_by_batch_time:,} of them under a window by batch time."
            f" Queries were started again for Spark's Kafka source {counts.resumed:,} times.",
        ]
    )


def text(counts: FaultCounts) -> str:
    """Return all counts as text."""
    lines = [table(counts), "", f"{counts.seconds:,.0f} seconds"]
    lines += _listed("tasks that were not the first, or failed", counts.attempts)
    lines += _listed("runs", counts.runs)
    lines += _listed("drivers", counts.places)
    for kind, c in sorted(counts.kinds.items()):
        lines += _listed(f"{kind}: where", c.what)
        lines += _listed(f"{kind}: stopped with", c.errors)
    lines += [f"left out: {left}" for left in counts.left_out]
    lines += [f"MISSING: {missing}" for missing in counts.shortfalls]
    lines += [f"PROBLEM: {problem}" for problem in counts.problems]
    return "\n".join(lines)


def data(counts: FaultCounts) -> dict[str, Any]:
    """Return all counts as JSON-compatible data."""
    return {
        "good": counts.good,
        "seconds": round(counts.seconds, 1),
        "faults": counts.total,
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
            for kind, c in sorted(counts.kinds.items())
        },
        "comparisons": counts.comparisons,
        "rows": counts.rows,
        "lost": counts.lost,
        "doubled": counts.doubled,
        "wrong": counts.wrong,
        "runs": dict(counts.runs),
        "drivers": dict(counts.places),
        "attempts": dict(counts.attempts),
        "clock moves": counts.clock_moves,
        "clock moves by batch time": counts.clock_moves_by_batch_time,
        "resumed": counts.resumed,
        "left out": counts.left_out,
        "missing": counts.shortfalls,
        "problems": counts.problems,
    }


def write(counts: FaultCounts, folder: Path) -> None:
    """Write all three forms into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "faults.md").write_text(table(counts) + "\n")
    (folder / "faults.txt").write_text(text(counts) + "\n")
    (folder / "faults.json").write_text(json.dumps(data(counts), indent=2) + "\n")


def _row(kind: str, c: Count, outcomes: str) -> str:
    return f"| {kind} | {c.faults} | {c.acted} | {c.stops} | {c.recoveries} | {outcomes} |"


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{n} {what}" for what, n in counts.most_common())


def _listed(title: str, counts: Counter[str]) -> list[str]:
    if not counts:
        return []
    return [title, *(f"{n:>8}  {what}" for what, n in counts.most_common())]
