"""Versions that two files have, or one file twice, agree."""

from __future__ import annotations

import re

import pytest
from release.versions import build_python, python_problem, spark_releases

from tests.support import makefiles
from tests.support.paths import ROOT

BUILD = (ROOT / "build.sbt").read_text()
PYPROJECT = (ROOT / "pyproject.toml").read_text()


def by_minor(versions: list[str]) -> dict[tuple[int, ...], tuple[int, ...]]:
    found = [tuple(int(part) for part in version.split(".")) for version in versions]
    return {version[:2]: version for version in found}


def test_the_refused_releases_of_sbt_and_make_are_of_the_same_minor_versions() -> None:
    on_maven = by_minor(re.findall(r'"(?:longB|b)efore" -> "([\d.]+)"', BUILD))
    (listed,) = re.findall(r"^REFUSED := (.*)$", makefiles.TEXT, re.MULTILINE)
    on_pypi = by_minor(listed.split())
    assert on_maven.keys() == on_pypi.keys()
    assert len(on_maven) == 2
    # PyPI can be ahead of Maven.
    assert all(on_maven[minor] <= version for minor, version in on_pypi.items())
    supported = {tuple(map(int, release.minor.split("."))) for release in spark_releases()}
    assert not supported & on_pypi.keys()
    assert max(on_pypi) < min(supported)


def test_the_package_takes_the_pyspark_of_each_jar_and_no_later_one() -> None:
    releases = spark_releases()
    major, minor = releases[-1].minor.split(".")
    wanted = f">={releases[0].patches[0]},<{major}.{int(minor) + 1}"
    found = re.findall(r'"pyspark(?:\[connect\])?(>=.*)"', PYPROJECT)
    assert found == [wanted, wanted]


def test_the_build_and_the_environment_have_the_same_hatchling() -> None:
    found = re.findall(r'"(hatchling==[\d.]+)"', PYPROJECT)
    assert len(found) == 2
    assert len(set(found)) == 1


def test_scalac_compiles_for_the_oldest_java() -> None:
    (release,) = re.findall(r'"-release",\s*"(\d+)"', BUILD)
    assert int(release) == min(min(version.java) for version in spark_releases())


def test_a_python_that_is_too_old_to_build_is_named() -> None:
    newest = build_python()
    assert newest == max(
        (release.python for release in spark_releases()),
        key=lambda version: [int(part) for part in version.split(".")],
    )
    major, minor = (int(part) for part in newest.split("."))
    assert python_problem((major, minor)) is None
    assert python_problem((major, minor + 1)) is None
    problem = python_problem((major, minor - 1))
    assert f"needs Python {newest} or later" in problem
    assert f"this is Python {major}.{minor - 1}" in problem


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", "docs/start.md", "docs/install.md"]
)
def test_pages_name_the_python_to_run_and_to_build_with(page: str) -> None:
    text = " ".join((ROOT / page).read_text().split())
    oldest = re.findall(r'requires-python = ">=(.*)"', PYPROJECT)
    build = build_python()
    assert re.search(rf"Python \(?{re.escape(oldest[0])} or later", text)
    assert re.search(
        rf"{re.escape(build)} or later to build|build.{{0,60}}Python {build} or later", text
    )
