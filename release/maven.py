"""The Maven artifacts of a release: their names, and what Maven Central requires of them.

sbt writes and signs the artifacts; ``make publish-local`` and ``make maven-bundle`` call it.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from release.versions import ROOT, spark_releases, version

GROUP = "io.github.winops"
REPOSITORY = ROOT / "target" / "repository"

_POM = "{http://maven.apache.org/POM/4.0.0}"
# Elements that Maven Central requires in a POM.
_REQUIRED = (
    "modelVersion",
    "groupId",
    "artifactId",
    "version",
    "name",
    "description",
    "url",
    "licenses/license/name",
    "licenses/license/url",
    "developers/developer/name",
    "developers/developer/url",
    "scm/url",
    "scm/connection",
    "scm/developerConnection",
)


def artifact_id(minor: str) -> str:
    """Return the name of the artifact for a minor version of Spark."""
    return f"winops-spark_{minor}_2.13"


def files(repository: Path, minor: str, number: str) -> list[Path]:
    """Return the files of an artifact, the POM first, without checksums and signatures."""
    name = artifact_id(minor)
    folder = repository.joinpath(*GROUP.split("."), name, number)
    kinds = (".pom", ".jar", "-sources.jar", "-javadoc.jar")
    return [folder / f"{name}-{number}{kind}" for kind in kinds]


def pom_problems(pom: Path, minor: str, number: str) -> list[str]:
    """Return elements that the POM lacks for Maven Central, and its dependencies."""
    project = ElementTree.parse(pom).getroot()

    def text(path: str) -> str | None:
        found = project.find("/".join(_POM + name for name in path.split("/")))
        return None if found is None else (found.text or "").strip()

    problems = [f"{pom.name}: no {path}" for path in _REQUIRED if not text(path)]
    expected = {"groupId": GROUP, "artifactId": artifact_id(minor), "version": number}
    for path, value in expected.items():
        if text(path) not in (None, value):
            problems.append(f"{pom.name}: {path} is {text(path)}, not {value}")
    # Spark brings all libraries. ``--packages`` would put a second copy on the class path.
    problems += [
        f"{pom.name}: depends on {found.findtext(_POM + 'artifactId')}"
        for found in project.iter(f"{_POM}dependency")
    ]
    return problems


def problems(repository: Path, *, signed: bool) -> list[str]:
    """Return the problems of the artifacts of this version: missing files, and POMs."""
    found = []
    suffixes = ("", ".md5", ".sha1", ".asc") if signed else ("", ".md5", ".sha1")
    for release in spark_releases():
        artifact = files(repository, release.minor, version())
        wanted = [file.with_name(file.name + suffix) for file in artifact for suffix in suffixes]
        missing = [f"{file} is missing" for file in wanted if not file.is_file()]
        found += missing or pom_problems(artifact[0], release.minor, version())
    return found
