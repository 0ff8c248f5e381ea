"""The versions of winops and of Spark, each from the one file that states it.

usage: python -m release.versions minors | make | check-python

``minors`` prints the minor versions of Spark, for scripts. ``make`` prints variables of make,
such as ``NEWEST_4.2``. ``check-python`` fails if the running Python is too old for a build, which
installs each pyspark.
"""

from __future__ import annotations

import json
import platform
import re
import sys
from collections.abc import Sequence
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
    return sorted(found, key=lambda release: _numbers(release.minor))


def variables() -> str:
    """Return the variables of make for all versions of Spark, and for each one."""
    releases = spark_releases()
    (default,) = (release.minor for release in releases if release.default)
    lines = [f"MINORS := {' '.join(release.minor for release in releases)}"]
    lines.append(f"DEFAULT := {default}")
    for release in releases:
        lines += [
            f"COMPILED_WITH_{release.minor} := {release.spark}",
            f"PATCHES_{release.minor} := {' '.join(dict.fromkeys(release.patches))}",
            f"NEWEST_{release.minor} := {release.patches[1]}",
            f"JAVA_{release.minor} := {' '.join(map(str, release.java))}",
            f"ON_MAVEN_{release.minor} := {'yes' if release.on_maven else ''}",
        ]
    return "\n".join(lines)


def build_python() -> str:
    """Return the oldest version of Python that takes each pyspark."""
    return max((release.python for release in spark_releases()), key=_numbers)


def python_problem(running: tuple[int, ...]) -> str | None:
    """Return why this version of Python cannot build winops, or None if it can."""
    needed = build_python()
    if running >= _numbers(needed):
        return None
    minor = next(release.minor for release in spark_releases() if release.python == needed)
    return (
        f"Building winops needs Python {needed} or later, which pyspark {minor} requires; this "
        f"is Python {'.'.join(map(str, running))}. Name another one: make setup "
        f"PYTHON=python{needed}"
    )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


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


def main(arguments: Sequence[str]) -> None:
    if list(arguments) == ["minors"]:
        print(*(release.minor for release in spark_releases()))
    elif list(arguments) == ["make"]:
        print(variables())
    elif list(arguments) == ["check-python"]:
        if problem := python_problem(sys.version_info[:2]):
            sys.exit(problem)
        print(f"Python {platform.python_version()} can build winops.")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
