"""Writes what was measured, as JSON with every round and as a table in Markdown."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import SparkSession

from measure import Result
from workloads import Workload


def versions(spark: SparkSession) -> dict[str, str]:
    """What the figures were taken with."""
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
    """Every round of every workload."""
    return json.dumps(
        {
            "versions": taken_with,
            "unit": "milliseconds",
            "workloads": [
                {
                    "workload": _described(each.workload),
                    "rounds": [asdict(one) for one in each.rounds],
                    "ratios": [one.ratio for one in each.rounds],
                    "ratio": each.ratio,
                    "nanoseconds per row": each.nanos_per_row,
                }
                for each in results
            ],
        },
        indent=2,
    )


def _described(workload: Workload) -> dict[str, Any]:
    return {field.name: getattr(workload, field.name) for field in fields(workload)} | {
        "source": workload.source.name,
        "policy": workload.policy,
        "question": workload.question.text,
    }


def as_markdown(results: list[Result], taken_with: dict[str, str]) -> str:
    """A line per workload; times are medians, the spread is that of the rounds' ratios."""
    lines = [
        "| workload | policy | asked | rows per batch | keys | candidate, ms | floor, ms"
        " | ratio | spread |",
        "|---|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for each in results:
        ratios = [one.ratio for one in each.rounds]
        workload = each.workload
        lines.append(
            f"| {workload.name} | `{workload.policy}` | {workload.question.text}"
            f" | {workload.rows:,} | {_keys(workload)}"
            f" | {each.candidate_millis:,.0f} | {each.floor_millis:,.0f} | **{each.ratio:.2f}**"
            f" | {min(ratios):.2f} to {max(ratios):.2f} |"
        )
    lines += ["", *_families(results)]
    lines += [", ".join(f"{name} {version}" for name, version in taken_with.items()), ""]
    return "\n".join(lines)


def _keys(workload: Workload) -> str:
    return f"{workload.keys:,}" if workload.keys else "its own"


def _families(results: list[Result]) -> list[str]:
    """A line per workload of a family: time per row, and in units of the family's first."""
    of_families = [each for each in results if each.workload.family]
    if not of_families:
        return []
    lines = [
        "| family | workload | rows in a window | ns per row | to the first |",
        "|---|---|--:|--:|--:|",
    ]
    first: dict[str | None, float] = {}
    for each in of_families:
        workload, nanos = each.workload, each.nanos_per_row
        times = nanos / first.setdefault(workload.family, nanos)
        lines.append(
            f"| {workload.family} | {workload.name} | {workload.window:,} | {nanos:,.0f}"
            f" | **{times:.2f}** |"
        )
    return [*lines, ""]


def write(results: list[Result], spark: SparkSession, out: Path) -> str:
    """Write ``results.json`` and ``results.md`` into `out`; the table is given back."""
    out.mkdir(parents=True, exist_ok=True)
    taken_with = versions(spark)
    markdown = as_markdown(results, taken_with)
    (out / "results.json").write_text(as_json(results, taken_with) + "\n")
    (out / "results.md").write_text(markdown)
    return markdown
