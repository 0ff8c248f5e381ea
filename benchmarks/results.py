"""Writes the measurements as JSON, with every round, and as Markdown tables."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from statistics import median
from typing import Any

import pyspark
from pyspark.sql import SparkSession

from measure import WINOPS, Result
from peers import Peer
from workloads import Workload


def versions(spark: SparkSession) -> dict[str, str]:
    """Return the versions of the measured software."""
    [row] = spark.sql(
        "SELECT winops_version() AS winops, java_method("
        "'java.lang.System', 'getProperty', 'java.version') AS java"
    ).collect()
    return {
        "winops": row["winops"],
        "spark": pyspark.__version__,
        "java": row["java"],
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
    }


def as_json(results: list[Result], taken_with: dict[str, str]) -> str:
    """Return every round of every workload as JSON."""
    return json.dumps(
        {
            "versions": taken_with,
            "unit": "milliseconds",
            "workloads": [
                {
                    "workload": _described(each.workload),
                    "rounds": [
                        {name: asdict(times) for name, times in one.times.items()}
                        for one in each.rounds
                    ],
                    "ratios": {name: each.ratios(name) for name in each.candidates},
                    "ratio": {name: each.ratio(name) for name in each.candidates},
                }
                for each in results
            ],
        },
        indent=2,
    )


def _described(workload: Workload) -> dict[str, Any]:
    return {field.name: getattr(workload, field.name) for field in fields(workload)} | {
        "source": workload.source.name,
        "policy": _policy(workload),
        "question": workload.question.text,
        "floor": workload.floor.text,
        "job": workload.job and asdict(workload.job),
    }


def as_markdown(
    results: list[Result], taken_with: dict[str, str], missing: dict[str, str]
) -> str:
    """Return a line per workload and candidate; the spread is that of the rounds' ratios.

    Parameters
    ----------
    missing
        The guarantees that a candidate lacks, by its name.
    """
    lines = [
        "| workload | policy | asked | rows per batch | keys | to | candidate | ratio | spread"
        " | to winops |",
        "|---|---|---|--:|--:|---|---|--:|--:|--:|",
    ]
    for each in results:
        workload = each.workload
        for name in each.candidates:
            ratios = each.ratios(name)
            lines.append(
                f"| {workload.name} | `{_policy(workload)}` | {workload.question.text}"
                f" | {workload.rows:,} | {_keys(workload)} | {workload.floor.text} | {name}"
                f" | **{each.ratio(name):.2f}** | {min(ratios):.2f} to {max(ratios):.2f}"
                f" | {each.ratio(name) / each.ratio(WINOPS):.2f} |"
            )
    lines += ["", *_families(results), *_written(results)]
    lines += [f"- {name}: {text}" for name, text in missing.items()]
    lines += ["", ", ".join(f"{name} {version}" for name, version in taken_with.items()), ""]
    return "\n".join(lines)


def _policy(workload: Workload) -> str:
    policy = workload.policy
    return policy if isinstance(policy, str) else policy.text


def _keys(workload: Workload) -> str:
    return f"{workload.keys:,}" if workload.keys else "its own"


def _families(results: list[Result]) -> list[str]:
    """Return a line per workload of a family: time per row, also relative to the first."""
    of_families = [each for each in results if each.workload.family]
    if not of_families:
        return []
    lines = [
        "| family | workload | rows in a window | time per row, to the first |",
        "|---|---|--:|--:|",
    ]
    first: dict[str | None, float] = {}
    for each in of_families:
        workload, nanos = each.workload, each.nanos_per_row(WINOPS)
        times = nanos / first.setdefault(workload.family, nanos)
        lines.append(
            f"| {workload.family} | {workload.name} | {workload.window:,} | **{times:.2f}** |"
        )
    return [*lines, ""]


def _written(results: list[Result]) -> list[str]:
    """Return a line per workload and query with a state: what a micro-batch writes and reads."""
    lines = [
        "| workload | candidate | changelog bytes per row | entries written | bytes read"
        " | entries read |",
        "|---|---|--:|--:|--:|--:|",
    ]
    for each in results:
        rows = max(1, each.workload.rows)
        for name in each.rounds[0].times:
            times = [one.times[name] for one in each.rounds]
            changelog = median(one.changelog_bytes for one in times) / rows
            if changelog == 0:
                continue
            line = f"| {each.workload.name} | {name} | {changelog:,.0f}"
            for metric in ("stateEntriesWritten", "stateBytesRead", "stateEntriesRead"):
                count = median(one.counted.get(metric, 0) for one in times) / rows
                line += f" | {count:,.1f}" if times[0].counted.get(metric) else " |"
            lines.append(f"{line} |")
    return [*lines, ""]


def write(
    results: list[Result],
    spark: SparkSession,
    out: Path,
    name: str,
    peers: Sequence[Peer],
    settings: Mapping[str, str],
) -> str:
    """Write `name` as JSON and as Markdown into `out`, and return the tables.

    Parameters
    ----------
    settings
        The command line settings; they are written next to the versions.
    """
    out.mkdir(parents=True, exist_ok=True)
    taken_with = versions(spark) | settings
    markdown = as_markdown(results, taken_with, {peer.name: peer.missing for peer in peers})
    (out / f"{name}.json").write_text(as_json(results, taken_with) + "\n")
    (out / f"{name}.md").write_text(markdown)
    return markdown
