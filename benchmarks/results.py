"""Writes what was measured, as JSON with every round and as a table in Markdown."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict
from pathlib import Path
from statistics import median

import pyspark
from pyspark.sql import SparkSession

from measure import Result


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
                    **asdict(each),
                    "ratios": [one.ratio for one in each.rounds],
                    "ratio": each.ratio,
                }
                for each in results
            ],
        },
        indent=2,
    )


def as_markdown(results: list[Result], taken_with: dict[str, str]) -> str:
    """A line per workload; times are medians, the spread is that of the rounds' ratios."""
    lines = [
        "| workload | policy | rows per batch | keys | candidate, ms | floor, ms"
        " | ratio | spread |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for each in results:
        ratios = [one.ratio for one in each.rounds]
        candidate = median(one.candidate.add_batch for one in each.rounds)
        floor = median(one.floor.add_batch for one in each.rounds)
        workload = each.workload
        lines.append(
            f"| {workload.name} | `{workload.policy}` | {workload.rows:,} | {workload.keys:,}"
            f" | {candidate:,.0f} | {floor:,.0f} | **{each.ratio:.2f}**"
            f" | {min(ratios):.2f} to {max(ratios):.2f} |"
        )
    lines += ["", ", ".join(f"{name} {version}" for name, version in taken_with.items()), ""]
    return "\n".join(lines)


def write(results: list[Result], spark: SparkSession, out: Path) -> str:
    """Write ``results.json`` and ``results.md`` into `out`; the table is given back."""
    out.mkdir(parents=True, exist_ok=True)
    taken_with = versions(spark)
    markdown = as_markdown(results, taken_with)
    (out / "results.json").write_text(as_json(results, taken_with) + "\n")
    (out / "results.md").write_text(markdown)
    return markdown
