"""The versions of winops and of Spark, each from the one file that states it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# Without a suffix: the wheel would have another spelling of 1.2.0-rc.1 than the JARs.
_SEMANTIC = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
_SECTION = re.compile(r"^## (?:\[)?([^\]\s]+)(?:\])?(?: - (\d{4}-\d\d-\d\d))?$", re.MULTILINE)


@dataclass(frozen=True)
class SparkRelease:
    """A minor version of Spark that has a JAR: a line of spark-versions.json."""

    minor: str
    spark: str
    patches: tuple[str, str]
    scala: str
    java: tuple[int, ...]
    python: str
    delta: str | None
    iceberg: str | None
    default: bool
    on_maven: bool = True


def spark_releases(file: Path = ROOT / "spark-versions.json") -> list[SparkRelease]:
    """Return the minor versions of Spark, oldest first."""
    found = [
        SparkRelease(
            minor=line["minor"],
            spark=line["spark"],
            patches=(line["patches"][0], line["patches"][-1]),
            scala=line["scala"],
            java=tuple(line["java"]),
            python=line["python"],
            delta=line.get("delta"),
            iceberg=line.get("iceberg"),
            default=line.get("default", False),
            on_maven=line.get("maven") is not None,
        )
        for line in json.loads(file.read_text())
    ]
    return sorted(found, key=lambda release: [int(part) for part in release.minor.split(".")])


def version() -> str:
    """Return the version of winops."""
    return (ROOT / "VERSION").read_text().strip()


def version_problems(number: str, changelog: str, tag: str | None) -> list[str]:
    """Return what keeps this version from being released.

    A rehearsal, without a tag, also accepts changes under "Unreleased". A tag is that of the
    version, whose section has a date and is the first one with entries.
    """
    problems = []
    if not _SEMANTIC.fullmatch(number):
        problems.append(
            f"VERSION is {number}, not a semantic version without a suffix, such as 1.2.0"
        )
    sections = [(found[1], found[2]) for found in _SECTION.finditer(changelog)]
    newest = next((section for section in sections if section[0] != "Unreleased"), None)
    if tag is None:
        if not sections or sections[0][0] not in ("Unreleased", number):
            problems.append(f"CHANGELOG.md starts with neither Unreleased nor {number}")
        return problems
    if tag != f"v{number}":
        problems.append(f"The tag is {tag}; that of VERSION {number} is v{number}")
    if (
        any(name == "Unreleased" for name, _ in sections)
        and notes("Unreleased", changelog).strip()
    ):
        problems.append("CHANGELOG.md has entries under Unreleased: move them to the version")
    if newest is None or newest[0] != number:
        problems.append(f"CHANGELOG.md has no section {number}: rename Unreleased")
    elif newest[1] is None:
        problems.append(f"The section {number} of CHANGELOG.md has no date")
    return problems


def notes(number: str, changelog: str) -> str:
    """Return the section of a version, which describes the release."""
    found = {match[1]: match for match in _SECTION.finditer(changelog)}
    start = found.get(number) or found["Unreleased"]
    after = _SECTION.search(changelog, start.end())
    return changelog[start.end() : after.start() if after else None].strip() + "\n"
