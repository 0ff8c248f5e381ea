"""The Maven repository of a release: checks, signatures, and the bundle for Maven Central.

usage: python -m release.maven check|sign|bundle

``make publish-local`` writes the repository into target/repository. ``sign`` signs each file with
the key that GPG_KEY names, from the agent or with GPG_PASSPHRASE.
"""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from release.versions import ROOT, spark_releases, version

GROUP = "io.github.winops"
REPOSITORY = ROOT / "target" / "repository"
DIST = ROOT / "dist"

_POM = "{http://maven.apache.org/POM/4.0.0}"
# What Maven Central requires of a POM.
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
ARTIFACTS = (".pom", ".jar", "-sources.jar", "-javadoc.jar")
_CHECKSUMS = (".md5", ".sha1")
# A bundle has the same bytes whenever it is made.
_TIME = (2010, 1, 1, 0, 0, 0)


def artifact_id(minor: str) -> str:
    """Return the name of the artifact for a minor version of Spark."""
    return f"winops-spark_{minor}_2.13"


def folder(repository: Path, minor: str, number: str) -> Path:
    """Return the folder of an artifact."""
    return repository.joinpath(*GROUP.split("."), artifact_id(minor), number)


def pom_problems(pom: Path, minor: str, number: str) -> list[str]:
    """Return what Maven Central, or a user of ``--packages``, would miss in a POM."""
    project = ElementTree.parse(pom).getroot()

    def text(path: str) -> str | None:
        found = project.find("/".join(_POM + name for name in path.split("/")))
        return None if found is None else (found.text or "").strip()

    problems = [f"{pom.name}: no {path}" for path in _REQUIRED if not text(path)]
    expected = {"groupId": GROUP, "artifactId": artifact_id(minor), "version": number}
    for path, value in expected.items():
        if text(path) not in (None, value):
            problems.append(f"{pom.name}: {path} is {text(path)}, not {value}")
    # Spark brings all that winops needs.
    problems += [
        f"{pom.name}: depends on {found.findtext(_POM + 'artifactId')}"
        for found in project.iter(f"{_POM}dependency")
    ]
    return problems


def artifact_problems(place: Path, minor: str, number: str, *, signed: bool) -> list[str]:
    """Return the files that an artifact lacks: JARs, checksums and, if signed, signatures."""
    stem = f"{artifact_id(minor)}-{number}"
    suffixes = (*_CHECKSUMS, ".asc") if signed else _CHECKSUMS
    wanted = [stem + kind for kind in ARTIFACTS]
    wanted += [name + suffix for name in wanted for suffix in suffixes]
    return [f"{place / name} is missing" for name in wanted if not (place / name).is_file()]


def check(repository: Path, *, signed: bool) -> list[str]:
    """Return the problems of all artifacts of this version."""
    problems = []
    for release in spark_releases():
        place = folder(repository, release.minor, version())
        missing = artifact_problems(place, release.minor, version(), signed=signed)
        problems += missing
        if not missing:
            pom = place / f"{artifact_id(release.minor)}-{version()}.pom"
            problems += pom_problems(pom, release.minor, version())
    return problems


def sign(repository: Path, key: str, passphrase: str | None = None) -> int:
    """Write a signature beside each file that needs one, and return their number."""
    files = [file for file in _files(repository) if not file.name.endswith((*_CHECKSUMS, ".asc"))]
    secret = [] if passphrase is None else ["--pinentry-mode", "loopback", "--passphrase-fd", "0"]
    for file in files:
        command = ["gpg", "--batch", "--yes", *secret, "--local-user", key, "--armor"]
        subprocess.run(
            [*command, "--output", f"{file}.asc", "--detach-sign", str(file)],
            input=passphrase,
            text=True,
            check=True,
        )
    return len(files)


def bundle(repository: Path, to: Path) -> Path:
    """Write the files of this version into an archive, and return it."""
    to.mkdir(exist_ok=True)
    archive = to / f"winops-{version()}-maven.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        for file in _files(repository):
            entry = zipfile.ZipInfo(str(file.relative_to(repository)), _TIME)
            entry.external_attr = 0o644 << 16
            out.writestr(entry, file.read_bytes(), zipfile.ZIP_DEFLATED)
    return archive


def _files(repository: Path) -> list[Path]:
    places = [folder(repository, release.minor, version()) for release in spark_releases()]
    return sorted(file for place in places for file in place.iterdir() if file.is_file())


def main(arguments: Sequence[str]) -> int:
    key = os.environ.get("GPG_KEY")
    if list(arguments) == ["check"]:
        problems = check(REPOSITORY, signed=bool(key))
        print("\n".join(problems) or f"{REPOSITORY} is complete")
        return 1 if problems else 0
    if list(arguments) == ["sign"]:
        if not key:
            print("GPG_KEY names no key: the files stay unsigned")
            return 0
        print(f"{sign(REPOSITORY, key, os.environ.get('GPG_PASSPHRASE'))} files are signed")
        return 0
    if list(arguments) == ["bundle"]:
        print(bundle(REPOSITORY, DIST))
        return 0
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
