"""Rehearses a release: each step that the release workflow depends on, without publishing.

usage: python -m release.check [--tag TAG] [--skip STEP]...

Prints a line for each step; the output of its commands is in target/release-check. The exit code
is 0 if all steps passed. Without --tag, the changes may still stand under "Unreleased".
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from release import bom, golden, maven, pypi
from release.versions import ROOT, notes, spark_releases, version, version_problems

LOGS = ROOT / "target" / "release-check"
DIST = ROOT / "dist"


class Failed(Exception):
    """A step did not pass; the text says why."""


def run(*command: str, log: str, **environment: str) -> None:
    """Run a command of the project, with its output in a file."""
    LOGS.mkdir(parents=True, exist_ok=True)
    file = LOGS / f"{log}.log"
    with file.open("w") as out:
        done = subprocess.run(
            command,
            cwd=ROOT,
            stdout=out,
            stderr=subprocess.STDOUT,
            check=False,
            env={**os.environ, **environment},
        )
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)} failed, see {file.relative_to(ROOT)}")


def fail_on(problems: Sequence[str]) -> None:
    if problems:
        raise Failed("; ".join(problems))


def check_version(tag: str | None) -> str:
    changelog = (ROOT / "CHANGELOG.md").read_text()
    fail_on(version_problems(version(), changelog, tag))
    return f"{version()}, tag {tag or 'not given: a rehearsal'}"


def check_jdk(tag: str | None) -> str:
    """Require the oldest JDK: the tests run on it, and class files of another one differ."""
    home = os.environ.get("JAVA_HOME")
    # As the program sbt of the checkout looks for it.
    java = shutil.which(str(Path(home, "bin", "java")) if home else "java")
    place = f"JAVA_HOME, {home}" if home else "PATH"
    oldest = min(min(release.java) for release in spark_releases())
    if java is None:
        raise Failed(f"there is no java in {place}: a release is built with JDK {oldest}")
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    number = re.search(r'version "(\d+)', said)
    if number is None or int(number[1]) != oldest:
        shown = said.partition("\n")[0] or "nothing"
        raise Failed(
            f"a release is built with JDK {oldest}, and {java} of {place} is another one "
            f"({shown}): set JAVA_HOME"
        )
    return f"JDK {oldest}: {java}"


def check_tree(tag: str | None) -> str:
    changed = subprocess.check_output(["git", "status", "--porcelain"], cwd=ROOT, text=True)
    if changed:
        raise Failed(f"the tree has changes:\n{changed.rstrip()}")
    head = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=ROOT, text=True).strip()
    if tag is not None:
        named = subprocess.run(
            ["git", "rev-parse", f"{tag}^{{commit}}"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        ).stdout.strip()
        if named != head:
            raise Failed(f"{tag} is not the commit {head}")
    return f"clean, {head[:12]}"


def check_golden(tag: str | None) -> str:
    """Require the checkpoints of a version with a tag; a rehearsal shows what it lacks."""
    problems = golden.problems()
    if tag is not None:
        fail_on(problems)
    return "; ".join(problems) or "this version has its checkpoints for each Spark version"


def check_pages(tag: str | None) -> str:
    """Run the tests of pages and of the release that need nothing built."""
    options = ("-m", "not built", "tests/docs", "tests/build")
    run(sys.executable, "-m", "pytest", *options, log="pages", WINOPS_TRANSPORT="classic")
    return "tests/docs and tests/build, without those that need what is built"


def build_wheel(tag: str | None) -> str:
    run("make", "wheel", log="wheel")
    (wheel,) = DIST.glob("*.whl")
    run(sys.executable, "-m", "twine", "check", "--strict", str(wheel), log="twine")
    with zipfile.ZipFile(wheel) as archive:
        files = archive.namelist()
    if "winops/spark-versions.json" not in files:
        raise Failed(f"{wheel.name} has no winops/spark-versions.json")
    workflow = (ROOT / ".github/workflows/release.yml").read_text()
    accepted = pypi.accepted_version(workflow)
    fail_on(pypi.metadata_problems(pypi.metadata_of(wheel), accepted))
    names = {Path(name).name for name in files if name.endswith(".jar")}
    wanted = {f"winops_{found.minor}_2.13-{version()}.jar" for found in spark_releases()}
    if names != wanted:
        raise Failed(f"{wheel.name} has {sorted(names)}, not {sorted(wanted)}")
    return f"{wheel.name}, {len(names)} JARs, twine check passed"


def run_wheel(tag: str | None) -> str:
    run("make", "test-wheel", log="installed")
    return "the wheel runs beside each pyspark, outside of the checkout"


def run_releases(tag: str | None) -> str:
    run("make", "test-releases", log="versions")
    return "the oldest and newest patch of each Spark version"


def build_boms(tag: str | None) -> str:
    run("make", "sbom", log="sbom")
    (wheel,) = DIST.glob("*.whl")
    of_wheel = DIST / f"{wheel.name}.cdx.json"
    of_jars = {
        DIST / f"winops_{found.minor}_2.13-{version()}.jar.cdx.json": found
        for found in spark_releases()
    }
    made, wanted = set(DIST.glob("*.cdx.json")), {of_wheel, *of_jars}
    if made != wanted:
        names = [sorted(file.name for file in files) for files in (made, wanted)]
        raise Failed(f"dist has {names[0]}, not {names[1]}")
    problems = bom.wheel_problems(of_wheel, wheel)
    for file, found in of_jars.items():
        problems += bom.jar_problems(file, found)
    fail_on(problems)
    return ", ".join(sorted(file.name for file in made))


def publish_locally(tag: str | None) -> str:
    run("make", "publish-local", log="publish-local")
    fail_on(maven.problems(maven.REPOSITORY, signed=False))
    return f"{len(spark_releases())} artifacts: POM, JAR, sources, Scaladoc, checksums"


def run_packages(tag: str | None) -> str:
    run("make", "test-packages", log="packages")
    return "each Spark version ran its JAR by its coordinates and as a file"


def sign_bundle(tag: str | None) -> str:
    """Sign the artifacts with a key of this rehearsal, and verify what the bundle contains."""
    archive = DIST / f"winops-{version()}-maven.zip"
    with tempfile.TemporaryDirectory() as folder:
        home, bundle = Path(folder, "gnupg"), Path(folder, "bundle")
        home.mkdir(mode=0o700)
        gpg = {"GNUPGHOME": str(home), "GPG_KEY": "release rehearsal"}
        try:
            key = ("--passphrase", "", "--quick-generate-key", gpg["GPG_KEY"])
            run("gpg", "--batch", *key, "default", "default", "1d", log="gpg-key", **gpg)
            run("make", "maven-bundle", log="bundle", **gpg)
            shutil.unpack_archive(archive, bundle)
            fail_on(maven.problems(bundle, signed=True))
            signatures = sorted(bundle.rglob("*.asc"))
            for signature in signatures:
                signed = str(signature.with_suffix(""))
                run("gpg", "--verify", str(signature), signed, log="gpg-verify", **gpg)
        finally:
            # The agent would outlive the folder.
            run("gpgconf", "--kill", "gpg-agent", log="gpg-agent", **gpg)
            # Nobody can use what this key has signed.
            archive.unlink(missing_ok=True)
            for signature in maven.REPOSITORY.rglob("*.asc*"):
                signature.unlink()
    return f"{len(signatures)} files signed with a key of the rehearsal, and verified"


def archive_docs(tag: str | None) -> str:
    archive = DIST / f"winops-{version()}-docs.zip"
    pages = ("README.md", "CHANGELOG.md", "SECURITY.md", "LICENSE", "docs", "examples")
    run("git", "archive", "--output", str(archive), "HEAD", *pages, log="docs")
    run("make", "site", log="site")
    site = DIST / f"winops-{version()}-site"
    shutil.make_archive(str(site), "zip", ROOT / "target" / "site" / "html")
    changes = notes(version(), (ROOT / "CHANGELOG.md").read_text())
    (DIST / "notes.md").write_text(changes)
    return f"{archive.name}, {site.name}.zip, notes.md"


def published() -> list[Path]:
    """Return the files of this version that a release publishes, other than the bundle."""
    found = [DIST / f"winops-{version()}-py3-none-any.whl"]
    for release in spark_releases():
        found.append(DIST / f"winops_{release.minor}_2.13-{version()}.jar.cdx.json")
        found += maven.files(maven.REPOSITORY, release.minor, version())
    return found


def compare_bytes(tag: str | None) -> str:
    # The comparison leaves out what the checkout does not have.
    fail_on([f"{file.relative_to(ROOT)} is missing" for file in published() if not file.exists()])
    run("make", "reproducible", log="reproducible")
    return f"two builds of this commit are equal, and the {len(published())} files to publish"


STEPS: dict[str, Callable[[str | None], str]] = {
    "version": check_version,
    "jdk": check_jdk,
    "tree": check_tree,
    "golden": check_golden,
    "pages": check_pages,
    "wheel": build_wheel,
    "installed": run_wheel,
    "versions": run_releases,
    "sbom": build_boms,
    "maven": publish_locally,
    "packages": run_packages,
    "bundle": sign_bundle,
    "docs": archive_docs,
    "bytes": compare_bytes,
}

# Steps that read what an earlier step has made.
NEEDS = {
    "installed": "wheel",
    "sbom": "wheel",
    "packages": "maven",
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m release.check")
    parser.add_argument("--tag", help="the tag of the release, such as v1.2.0")
    parser.add_argument("--skip", action="append", default=[], choices=list(STEPS))
    options = parser.parse_args(arguments)
    failed = set()
    for name, step in STEPS.items():
        if name in options.skip:
            print(f"skipped  {name}", flush=True)
            continue
        if NEEDS.get(name) in failed:
            print(f"skipped  {name}: {NEEDS[name]} failed", flush=True)
            continue
        started = time.monotonic()
        try:
            said = step(options.tag)
        # Whatever a step raises, such as for a missing gpg, the other steps still run.
        except Exception as problem:  # noqa: BLE001
            failed.add(name)
            kind = "" if isinstance(problem, Failed) else f"{type(problem).__name__}: "
            print(f"failed   {name}: {kind}{problem}", flush=True)
        else:
            print(f"ok       {name}: {said} ({time.monotonic() - started:.0f} s)", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
