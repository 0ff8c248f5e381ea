"""The parts of a release: version, POM, artifacts, public API, compatibility table."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from subprocess import CalledProcessError

import pytest
from release import bom, check, compatibility, golden, maven, public_api
from release.versions import notes, spark_releases, version, version_problems

from tests.state.golden.cases import CASES, SPARK_CASES
from tests.state.golden.checkpoints import folder_of
from tests.support import makefiles
from tests.support.paths import ROOT
from tests.support.versions import MINOR

MINORS = [release.minor for release in spark_releases()]
CHANGELOG = (
    "# Changelog\n\n## Unreleased\n\n## 1.2.0 - 2026-11-23\n\n- New.\n\n## 1.1.0\n\n- Old.\n"
)


@pytest.mark.parametrize(
    ("number", "tag", "problem"),
    [
        ("1.2.0", "v1.2.0", None),
        ("1.2.0", None, None),
        ("1.2.0-rc.1", None, "without a suffix"),
        ("1.2.0+build.7", None, "without a suffix"),
        ("1.2.0", "v1.3.0", "tag is v1.3.0"),
        ("1.3.0", "v1.3.0", "no section 1.3.0"),
        ("1.2", None, "not a semantic version"),
        ("01.2.0", None, "not a semantic version"),
    ],
)
def test_version_changelog_and_tag_agree(
    number: str, tag: str | None, problem: str | None
) -> None:
    found = version_problems(number, CHANGELOG, tag)
    assert bool(found) == (problem is not None)
    assert problem is None or problem in found[0]


def test_a_release_needs_a_date() -> None:
    undated = CHANGELOG.replace(" - 2026-11-23", "")
    assert version_problems("1.2.0", undated, "v1.2.0") == [
        "The section 1.2.0 of CHANGELOG.md has no date"
    ]


def test_a_release_has_no_unreleased_changes() -> None:
    more = CHANGELOG.replace("## Unreleased\n", "## Unreleased\n\n- Forgotten.\n")
    assert version_problems("1.2.0", more, None) == []
    (problem,) = version_problems("1.2.0", more, "v1.2.0")
    assert "entries under Unreleased" in problem


def only(monkeypatch: pytest.MonkeyPatch, **steps: Callable[[str | None], str]) -> None:
    monkeypatch.setattr(check, "STEPS", steps)
    monkeypatch.setattr(check, "NEEDS", {"last": "first"})


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (check.Failed("no wheel"), "failed   first: no wheel"),
        (KeyError("Unreleased"), "failed   first: KeyError: 'Unreleased'"),
        (FileNotFoundError(2, "No such file", "gpg"), "FileNotFoundError: [Errno 2]"),
        (CalledProcessError(128, ["git", "status"]), "failed   first: CalledProcessError: "),
    ],
)
def test_a_step_that_raises_has_failed_and_others_run(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: Exception,
    line: str,
) -> None:
    def first(tag: str | None) -> str:
        raise error

    only(monkeypatch, first=first, middle=lambda tag: "done", last=lambda tag: "done")
    assert check.main([]) == 1
    printed = capsys.readouterr().out
    assert line in printed.splitlines()[0]
    assert "ok       middle: done" in printed
    assert "skipped  last: first failed" in printed


def test_steps_that_pass_have_no_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, first=lambda tag: "done", last=lambda tag: "done")
    assert check.main(["--tag", "v1.2.0"]) == 0


def test_a_tag_needs_the_golden_checkpoints_of_its_version(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(golden, "CHECKPOINTS", tmp_path)
    for release in spark_releases():
        place = golden.folder(release)
        place.mkdir()
        for case in CASES if release.default else SPARK_CASES:
            (place / f"{case.name}.tar.xz").touch()
    assert check.check_golden("v1.2.0").startswith("this version has its checkpoints")
    for release in spark_releases():
        archive = next(golden.folder(release).iterdir())
        archive.unlink()
        option = "" if release.default else f" SPARK={release.minor}"
        with pytest.raises(check.Failed, match=f"run `make golden{option}`") as lacking:
            check.check_golden("v1.2.0")
        assert str(lacking.value) in check.check_golden(None)
        archive.touch()


def test_the_step_and_make_golden_name_the_same_folders() -> None:
    for release in spark_releases():
        assert golden.folder(release) == folder_of(version(), release.minor)


def test_the_page_has_the_command_for_the_checkpoints_of_each_spark_version() -> None:
    page = (ROOT / "docs/contributing/releasing.md").read_text()
    others = [f" SPARK={release.minor}" for release in spark_releases() if not release.default]
    assert re.findall(r"^ *make golden(.*)$", page, re.MULTILINE) == ["", *others]


def test_the_page_lists_the_steps_of_the_rehearsal() -> None:
    page = (ROOT / "docs/contributing/releasing.md").read_text()
    assert re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE) == list(check.STEPS)


def test_this_version_can_be_rehearsed() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    assert version_problems(version(), text, None) == []
    assert notes(version(), text).startswith("### ")


def test_notes_are_the_section_of_the_version() -> None:
    assert notes("1.2.0", CHANGELOG) == "- New.\n"


POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion><groupId>io.github.winops</groupId>
<artifactId>winops-spark_4.1_2.13</artifactId><version>1.2.0</version><name>n</name>
<description>d</description><url>u</url>
<licenses><license><name>Apache-2.0</name><url>u</url></license></licenses>
<developers><developer><name>n</name><url>u</url></developer></developers>
<scm><url>u</url><connection>c</connection><developerConnection>c</developerConnection></scm>
</project>"""
SPARK = "<dependency><artifactId>spark-sql_2.13</artifactId></dependency>"


@pytest.mark.parametrize(
    ("before", "after", "problems"),
    [
        ("", "", []),
        ("<description>d</description>", "", ["pom.xml: no description"]),
        ("<connection>c</connection>", "<connection/>", ["pom.xml: no scm/connection"]),
        ("1.2.0", "1.1.0", ["pom.xml: version is 1.1.0, not 1.2.0"]),
        ("</project>", f"{SPARK}</project>", ["pom.xml: depends on spark-sql_2.13"]),
    ],
)
def test_a_pom_is_complete_and_has_no_dependencies(
    tmp_path: Path, before: str, after: str, problems: list[str]
) -> None:
    pom = tmp_path / "pom.xml"
    pom.write_text(POM.replace(before, after) if before else POM)
    assert maven.pom_problems(pom, "4.1", "1.2.0") == problems


@pytest.mark.built
def test_the_pom_of_this_version_is_complete() -> None:
    name = f"{maven.artifact_id(MINOR)}-{version()}.pom"
    poms = [pom for pom in (ROOT / "jvm/spark/target").glob("**/*.pom") if pom.name == name]
    assert poms, "`./sbt spark/makePom` writes it"
    for pom in poms:
        assert maven.pom_problems(pom, MINOR, version()) == []


def test_missing_files_of_artifacts_are_named(tmp_path: Path) -> None:
    for release in spark_releases():
        artifact = maven.files(tmp_path, release.minor, version())
        artifact[0].parent.mkdir(parents=True)
        for file in artifact:
            for suffix in ("", ".md5", ".sha1"):
                file.with_name(file.name + suffix).touch()
        pom = POM.replace("1.2.0", version()).replace("4.1", release.minor)
        artifact[0].write_text(pom)
    assert maven.problems(tmp_path, signed=False) == []
    unsigned = maven.problems(tmp_path, signed=True)
    assert len(unsigned) == 4 * len(MINORS)
    assert all(problem.endswith(".asc is missing") for problem in unsigned)
    javadoc = maven.files(tmp_path, MINOR, version())[3]
    javadoc.unlink()
    assert maven.problems(tmp_path, signed=False) == [f"{javadoc} is missing"]


def bom_of(file: Path, *names: str) -> Path:
    file.write_text(json.dumps({"components": [{"name": name} for name in names]}))
    return file


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (("pyspark", "py4j"), None),
        (("pyspark", "py4j", "pytest"), "has pytest, which the wheel does not require"),
        (("pyspark",), "lacks py4j"),
    ],
)
def test_the_bill_of_the_wheel_has_what_it_requires_and_its_jars(
    tmp_path: Path, names: tuple[str, ...], problem: str | None
) -> None:
    wheel = tmp_path / "winops.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("winops/jars/winops_4.1.jar", b"classes")
    bill = bom_of(tmp_path / "winops.whl.cdx.json", *names)
    assert "winops.whl.cdx.json lacks winops/jars/winops_4.1.jar" in bom.wheel_problems(
        bill, wheel
    )
    bom.add_jars(wheel, bill)
    assert bom.wheel_problems(bill, wheel) == ([f"{bill.name} {problem}"] if problem else [])
    (jar,) = json.loads(bill.read_text())["components"][len(names) :]
    assert jar["hashes"][0]["content"].startswith("7b3bb6b0")


def test_the_bill_of_a_jar_has_the_spark_of_maven(tmp_path: Path) -> None:
    bill = bom_of(tmp_path / "bom", "scala-library")
    for release in spark_releases():
        problems = ["bom lacks spark-sql"] if release.on_maven else []
        assert bom.jar_problems(bill, release) == problems
    assert bom.jar_problems(bom_of(bill, "spark-sql_2.13"), spark_releases()[0]) == []


def test_the_public_api_is_the_listed_one() -> None:
    listed = public_api.LIST.read_text().splitlines()
    now = public_api.lines()
    assert sorted(set(now) - set(listed)) == [], "new: `make public-api` lists it"
    assert sorted(set(listed) - set(now)) == [], "gone: docs/public-api.md has the rule"
    assert now == listed


def test_the_public_api_has_every_kind_of_name() -> None:
    kinds = {line.split()[0] for line in public_api.lines()}
    assert kinds == {
        "artifact", "class", "column", "command", "error", "metric", "python", "scala",
        "setting", "sql"
    }  # fmt: skip


def test_the_listed_columns_are_those_of_the_page_in_its_table_of_types() -> None:
    page = (ROOT / "docs/python.md").read_text()
    table = page.partition("| Column | Type | Meaning |\n")[2].partition("\n\n")[0]
    named = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    listed = [line.split()[1] for line in public_api.lines() if line.startswith("column ")]
    assert sorted(named) == sorted(listed)


def test_the_compatibility_page_has_the_versions_of_the_build() -> None:
    page = compatibility.PAGE.read_text()
    assert compatibility.with_table(page) == page, "`make docs` writes the table"
    assert compatibility.table() in page


@pytest.mark.parametrize("page", ["README.md", "SECURITY.md", "docs/install.md"])
def test_pages_name_the_versions_of_the_build(page: str) -> None:
    listed = re.findall(r"Spark ((?:\d\.\d+, )*\d\.\d+ or \d\.\d+)", (ROOT / page).read_text())
    assert listed == [f"{', '.join(MINORS[:-1])} or {MINORS[-1]}"]


def test_pages_name_the_java_of_the_build() -> None:
    on_all = set.intersection(*(set(release.java) for release in spark_releases()))
    named = f"JDK {' or '.join(map(str, sorted(on_all)))}"
    for page in ("README.md", "docs/install.md", "docs/start.md"):
        assert re.findall(r"JDK 17 or \w+", (ROOT / page).read_text())[0] == named, page


def test_the_changelog_names_the_versions_of_the_build() -> None:
    names = f"{', '.join(MINORS[:-1])} and {MINORS[-1]}"
    assert f"- Spark {names}: the wheel has a JAR for each" in (ROOT / "CHANGELOG.md").read_text()


def test_the_page_of_platforms_says_which_are_not_supported() -> None:
    page = (ROOT / "docs/platforms.md").read_text()
    rows = re.findall(r"^\| \[.*?\]\(#.*?\) \| (.*?) \|", page, re.MULTILINE)
    found = re.findall(r": (\d\.\d+)[.\d]*(, not supported)?", "\n".join(rows))
    assert len(found) >= 5
    for minor, refused in found:
        assert bool(refused) == (minor not in MINORS), minor


WORKFLOWS = {file.name: file.read_text() for file in (ROOT / ".github/workflows").glob("*.yml")}


def jobs() -> dict[str, str]:
    """Return the jobs of the release workflow by name."""
    found = re.findall(r"^  (\w+):\n((?:    .*\n|\n)+)", WORKFLOWS["release.yml"], re.MULTILINE)
    return dict(found)


def test_make_targets_of_workflows_exist() -> None:
    targets = makefiles.targets()
    for name, workflow in WORKFLOWS.items():
        assert set(re.findall(r"\bmake ([a-z-]+)", workflow)) <= targets, name
    assert "make release-check" in WORKFLOWS["release.yml"]


def test_publishing_waits_for_each_column_of_the_compatibility_table() -> None:
    found = jobs()
    tests = {
        "lint": "make lint-python",
        "test": "make test-spark",
        "pythons": "make test-pythons",
        "lakehouse": "make test-lakehouse",
    }
    assert f"needs: [{', '.join(tests)}]" in found["build"]
    for job, command in tests.items():
        assert command in found[job]
        # A skipped job would let the build go on.
        assert "\n    if:" not in found[job]
    assert "needs.build.result == 'success'" in found["pypi"]


def test_pypi_waits_for_maven_central_which_takes_signed_artifacts_only() -> None:
    found = jobs()
    assert "needs: [build, maven]" in found["pypi"]
    assert "needs.maven.result == 'success'" in found["pypi"]
    signing = found["build"].partition("- name: Sign")[2].partition("- name:")[0]
    for part, command in ((signing, "make maven-bundle"), (found["maven"], "make maven-upload")):
        assert command in part
        assert "if: ${{ vars.GPG_KEY != '' }}" in part


def test_the_release_runs_the_wheel_on_the_pythons_that_the_page_says_were_tried() -> None:
    job = jobs()["pythons"]
    asked = re.findall(r'PYTHONS="(.*)"', job)[0].split()
    installed = re.findall(r"^ +(3\.\d+)$", job, re.MULTILINE)
    # The last one is that of `python3`, with which the wheel is built and the other jobs run.
    *others, built_with = installed
    assert asked == others
    page = compatibility.PAGE.read_text()
    untried = re.findall(r"(3\.\d+) was not tried", page)
    assert f"The tests run on Python {built_with}." in page
    assert sorted([*installed, *untried]) == sorted(compatibility.python_versions())


def test_all_spark_versions_run_on_a_schedule() -> None:
    workflow = WORKFLOWS["matrix.yml"]
    assert re.search(r"^  schedule:\n    - cron: ", workflow, re.MULTILINE)
    assert re.search(r"run: make matrix$", workflow, re.MULTILINE)


def test_workflows_have_the_same_release_of_an_action() -> None:
    used = set(re.findall(r"uses: (\S+)@(\S+)", "\n".join(WORKFLOWS.values())))
    assert len({action for action, _ in used}) == len(used)
    assert all(re.fullmatch(r"v\d+\.\d+\.\d+|[0-9a-f]{40}", release) for _, release in used)


FAKE_JAVA = """#!/bin/sh
echo 'openjdk version "{version}" 2026-01-20' >&2
"""


def fake_java(folder: Path, number: str) -> Path:
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(FAKE_JAVA.format(version=number))
    program.chmod(0o755)
    return program


@pytest.mark.parametrize("variable", ["JAVA_HOME", "PATH"])
def test_a_release_is_built_with_the_oldest_java(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv(variable, str(tmp_path if variable == "JAVA_HOME" else tmp_path / "bin"))
    oldest = min(min(release.java) for release in spark_releases())
    java = fake_java(tmp_path, f"{oldest}.0.15")
    assert check.check_jdk(None) == f"JDK {oldest}: {java}"
    for number in (f"{oldest + 4}.0.1", f"{oldest}1-ea", "1.8.0_452"):
        fake_java(tmp_path, number)
        with pytest.raises(check.Failed, match=rf"a release is built with JDK {oldest}\b"):
            check.check_jdk(None)
    java.unlink()
    with pytest.raises(check.Failed, match="there is no java"):
        check.check_jdk(None)


def test_the_jdk_of_the_workflows_is_the_oldest_one() -> None:
    oldest = str(min(min(release.java) for release in spark_releases()))
    for name, workflow in WORKFLOWS.items():
        assert set(re.findall(r'java-version: "(.*)"', workflow)) == {oldest}, name
