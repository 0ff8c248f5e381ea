"""Rules of the Makefile, as `make -n` prints them, and the versions that it reads."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from release.versions import spark_releases

from tests.support.paths import ROOT

SCRIPT = ROOT / "project" / "spark_versions.py"
VENV = "tests/compatibility/releases/venv"


def commands(*arguments: str) -> list[str]:
    """Return the lines that make would run for all that a target needs."""
    # Tests run under make too, which hands its options on.
    environment = {name: value for name, value in os.environ.items() if "MAKE" not in name}
    done = subprocess.run(
        ["make", "-n", "-B", f"PYTHON={sys.executable}", *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def spark_versions() -> ModuleType:
    spec = importlib.util.spec_from_file_location("spark_versions", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def other_versions(folder: Path, minor: str, **fields: object) -> str:
    """Return the option that makes make read other fields of a minor version."""
    lines = json.loads((ROOT / "spark-versions.json").read_text())
    (line,) = (line for line in lines if line["minor"] == minor)
    line.update(fields)
    (folder / "project").mkdir()
    shutil.copy(SCRIPT, folder / "project")
    (folder / "spark-versions.json").write_text(json.dumps(lines))
    return f"SPARK_VERSIONS={sys.executable} {folder}/project/{SCRIPT.name}"


def first(lines: list[str], pattern: str) -> int:
    return next(number for number, line in enumerate(lines) if re.search(pattern, line))


@pytest.mark.parametrize("target", ["target/jars/.stamp-4.3", "test-spark SPARK=4.3"])
def test_a_version_without_maven_is_compiled_with_its_spark_and_not_the_newest_patch(
    tmp_path: Path, target: str
) -> None:
    reading = other_versions(
        tmp_path, "4.3", spark="4.3.0", maven=None, patches=["4.3.0", "4.3.1"]
    )
    lines = commands(reading, *target.split())
    assert first(lines, rf"{VENV} \S+ 4\.3\.0$") < first(lines, r"^\./sbt -Dspark=4\.3 ")
    if target.startswith("test-spark"):
        assert first(lines, rf"{VENV} \S+ 4\.3\.1$") < first(
            lines, r"releases/4\.3\.1/bin/python"
        )


def test_a_version_on_maven_needs_no_pyspark_to_compile() -> None:
    lines = commands("target/jars/.stamp-4.2")
    assert first(lines, r"^\./sbt -Dspark=4\.2 jars")
    assert not [line for line in lines if line.startswith(VENV)]


def test_versions_of_python_that_are_asked_for_have_to_be_found() -> None:
    script = "tests/compatibility/releases/pythons"
    assert f"{script} --all 3.10 3.13" in commands("test-pythons", "PYTHONS=3.10 3.13")
    (listed,) = (line for line in commands("test-pythons") if line.startswith(script))
    assert "--all" not in listed


# Makes an environment with itself as its Python, and accepts all else.
FAKE_PYTHON = """#!/usr/bin/env bash
if [[ "$1 $2" == "-m venv" ]]; then mkdir -p "$3/bin" && cp "$0" "$3/bin/python"; fi
"""


@pytest.mark.parametrize(("option", "code"), [((), 0), (("--all",), 1)])
def test_a_python_that_is_missing_fails_if_all_are_asked_for(
    tmp_path: Path, option: tuple[str, ...], code: int
) -> None:
    python = tmp_path / "python3.98"
    python.write_text(FAKE_PYTHON)
    python.chmod(0o755)
    done = subprocess.run(
        [ROOT / "tests/compatibility/releases/pythons", *option, "3.98", "3.99"],
        env={**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Python 3.99: not found, not tried" in done.stdout
    assert "Python 3.98: " not in done.stdout
    assert done.returncode == code


def test_bills_of_materials_are_those_of_this_version() -> None:
    (copied,) = (line for line in commands("sbom") if "cdx.json dist/" in line)
    assert "winops_${minor}_2.13-$(cat VERSION).jar.cdx.json dist/" in copied
    assert "*" not in copied


def test_the_site_leaves_nothing_outside_of_target() -> None:
    lines = commands("target/site/static/mermaid/.11.6.0", "MERMAID_VERSION=11.6.0")
    (maven,) = (
        line for line in "\n".join(lines).replace("\\\n", "").splitlines() if "mvn" in line
    )
    # The goal unpack makes a folder for its notes, which without a POM is in the current folder.
    assert re.search(r"maven-dependency-plugin:[\d.]+:copy\b", maven)
    assert f'-DoutputDirectory="{ROOT}/target/' in maven


def test_the_environment_is_made_by_a_python_that_each_pyspark_takes() -> None:
    lines = commands(".venv/.stamp")
    assert first(lines, "spark_versions.py check-python") < first(lines, "-m venv .venv")


def test_a_python_that_is_too_old_to_build_is_named() -> None:
    module = spark_versions()
    newest = module.build_python()
    assert newest == max(
        (release.python for release in spark_releases()),
        key=lambda version: [int(part) for part in version.split(".")],
    )
    major, minor = (int(part) for part in newest.split("."))
    assert module.python_problem((major, minor)) is None
    assert module.python_problem((major, minor + 1)) is None
    problem = module.python_problem((major, minor - 1))
    assert f"needs Python {newest} or later" in problem
    assert f"this is Python {major}.{minor - 1}" in problem


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", "docs/start.md", "docs/install.md"]
)
def test_pages_name_the_python_to_run_and_to_build_with(page: str) -> None:
    text = " ".join((ROOT / page).read_text().split())
    oldest = re.findall(r'requires-python = ">=(.*)"', (ROOT / "pyproject.toml").read_text())
    build = spark_versions().build_python()
    assert re.search(rf"Python \(?{re.escape(oldest[0])} or later", text)
    assert re.search(
        rf"{re.escape(build)} or later to build|build.{{0,60}}Python {build} or later", text
    )
