"""`make reproducible` compares two builds, and what the checkout has with them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.paths import ROOT

# A stand-in for sbt: the JAR, its bill of materials and an artifact.
SBT = """#!/usr/bin/env bash
mkdir -p target/jars target/repository/winops jvm/spark/target/spark-4.1
echo "classes$ODD" >target/jars/winops_4.1_2.13-1.2.0.jar
echo bill >jvm/spark/target/spark-4.1/winops_4.1_2.13-1.2.0.jar.cdx.json
echo artifact >target/repository/winops/winops-spark_4.1_2.13-1.2.0.jar
echo sum >target/repository/winops/winops-spark_4.1_2.13-1.2.0.jar.md5
"""
# A stand-in for Python: the list of versions, and the wheel.
PYTHON = """#!/usr/bin/env bash
if [[ $2 == build ]]; then echo wheel >dist/winops-1.2.0-py3-none-any.whl; else echo 4.1; fi
"""
BILL = "dist/winops_4.1_2.13-1.2.0.jar.cdx.json"
ARTIFACT = "target/repository/winops/winops-spark_4.1_2.13-1.2.0.jar"
PUBLISHED = {
    "dist/winops-1.2.0-py3-none-any.whl": "wheel\n",
    BILL: "bill\n",
    "target/jars/winops_4.1_2.13-1.2.0.jar": "classes\n",
    ARTIFACT: "artifact\n",
}
# Files that no build of these makes.
OTHERS = {
    f"{ARTIFACT}.asc": "signature\n",
    f"{ARTIFACT}.md5": "other sum\n",
    "dist/winops-1.2.0-maven.zip": "bundle\n",
}


def program(file: Path, text: str) -> None:
    file.write_text(text)
    file.chmod(0o755)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    (folder / "project").mkdir(parents=True)
    (folder / "VERSION").write_text("1.2.0\n")
    (folder / ".gitignore").write_text("dist/\ntarget/\n")
    program(folder / "sbt", SBT)
    program(tmp_path / "python", PYTHON)
    for command in (
        ["init", "--quiet"],
        ["add", "."],
        ["-c", "user.name=n", "-c", "user.email=e", "commit", "--quiet", "-m", "Build"],
    ):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return folder


def compare(checkout: Path, **files: str) -> subprocess.CompletedProcess[str]:
    for name, text in files.items():
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_text(text)
    return subprocess.run(
        [ROOT / "tests/build/same_bytes", checkout.parent / "python"],
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_the_checkout_has_is_compared_with_a_build(checkout: Path) -> None:
    done = compare(checkout, **PUBLISHED, **OTHERS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "The checkout has 4 files with these bytes." in done.stdout


@pytest.mark.parametrize("name", PUBLISHED)
def test_another_file_in_the_checkout_is_named(checkout: Path, name: str) -> None:
    done = compare(checkout, **{**PUBLISHED, name: "other\n"})
    assert done.returncode == 1
    assert f"{name} in the checkout differs from a build of the last commit" in done.stdout
    assert "The checkout has 3 files with these bytes." in done.stdout


def test_a_checkout_without_a_build_is_compared_with_nothing(checkout: Path) -> None:
    done = compare(checkout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "The checkout has 0 files with these bytes." in done.stdout


def test_two_builds_that_differ_fail(checkout: Path) -> None:
    program(checkout / "sbt", SBT.replace("$ODD", "$TZ"))
    subprocess.run(
        ["git", "-c", "user.name=n", "-c", "user.email=e", "commit", "-aqm", "Odd"],
        cwd=checkout,
        check=True,
    )
    assert compare(checkout).returncode == 1
