"""The JAR: adding it to a session, and the errors without it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyspark
import pytest
from packaging.specifiers import SpecifierSet
from pyspark import SparkConf
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from tests.compatibility.releases.shell import refusal_in_shell
from tests.support.paths import ROOT
from tests.support.transports import on_classic_spark
from tests.support.versions import MINOR, SUPPORTED
from winops import configure, jar_path
from winops.__main__ import main
from winops._session import check_session, package_version


def jars(builder: SparkSession.Builder) -> list[str]:
    return str(builder._options["spark.jars"]).split(",")


def test_configure_keeps_other_jars() -> None:
    builder = SparkSession.Builder().config("spark.jars", "/a.jar,/b.jar")
    assert configure(builder) is builder
    assert jars(builder) == ["/a.jar", "/b.jar", jar_path()]


def test_configure_keeps_the_jars_of_the_defaults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ["# spark.jars /x.jar", "spark.jars.ivy /ivy", "spark.jars   /a.jar,/b.jar "]
    (tmp_path / "spark-defaults.conf").write_text("\n".join(lines))
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    # A value of the builder replaces that of the file when Spark starts.
    monkeypatch.setattr("winops._session.SparkConf", lambda: SparkConf(loadDefaults=False))
    assert jars(configure(SparkSession.Builder())) == ["/a.jar", "/b.jar", jar_path()]
    assert jars(configure(SparkSession.Builder().config("spark.jars", "/c.jar"))) == [
        "/c.jar",
        jar_path(),
    ]


def test_configure_adds_the_jar_once() -> None:
    assert jars(configure(configure(SparkSession.Builder()))).count(jar_path()) == 1


def test_configure_adds_no_jar_for_a_remote_server() -> None:
    builder = configure(SparkSession.Builder().remote("sc://example.org"))
    assert "spark.jars" not in builder._options


def test_configure_adds_the_jar_for_an_in_process_server() -> None:
    assert jar_path() in jars(configure(SparkSession.Builder().remote("local[2]")))


@pytest.mark.parametrize("other", [None, "local", SparkSession])
def test_configure_takes_only_a_builder(other: Any) -> None:
    with pytest.raises(TypeError, match="before getOrCreate"):
        configure(other)


def test_the_jar_is_a_file_of_this_version() -> None:
    jar = Path(jar_path())
    assert jar.is_absolute()
    assert jar.is_file()
    assert jar.name == f"winops_{MINOR}_2.13-{package_version()}.jar"


def test_the_package_takes_the_pyspark_of_its_jars() -> None:
    (major, first), *_, (_, last) = [map(int, minor.split(".")) for minor in SUPPORTED]
    ranges = re.findall(r'"pyspark(?:\[connect\])?(>=.*)"', (ROOT / "pyproject.toml").read_text())
    assert ranges == [f">={major}.{first}.0,<{major}.{last + 1}"] * 2
    taken = SpecifierSet(ranges[0])
    lines = json.loads((ROOT / "spark-versions.json").read_text())
    assert all(patch in taken for line in lines for patch in line["patches"])
    assert not any(other in taken for other in ("3.5.8", "4.0.5", "4.9.0", "5.0.0"))


@pytest.mark.parametrize("version", ["3.5.6", "4.0.2", "4.9.0", "5.0.0.dev1"])
def test_a_spark_version_without_a_jar_is_refused(
    monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    monkeypatch.setattr(pyspark, "__version__", version)
    for call in (jar_path, lambda: configure(SparkSession.Builder())):
        with pytest.raises(PySparkRuntimeError) as caught:
            call()
        assert caught.value.getCondition() == "WINOPS_SPARK_VERSION"
        assert version[:3] in str(caught.value)
        assert f"winops_{MINOR}_2.13" in str(caught.value)


@on_classic_spark
def test_the_jar_alone_refuses_a_later_spark(tmp_path: Path) -> None:
    # Spark takes its version from the first such file of the class path.
    names = ["version", "user", "revision", "branch", "date", "url", "docroot"]
    said = "".join(f"{name}=4.9.0\n" for name in names)
    (tmp_path / "spark-version-info.properties").write_text(said)
    line = refusal_in_shell(jar_path(), tmp_path, f"--driver-class-path={tmp_path}")
    assert f"is for Spark {MINOR}, but this is Spark 4.9.0" in line
    assert f"supports Spark {', '.join(SUPPORTED)}" in line


def test_the_command_line_prints_the_path(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["jar"]) == 0
    assert capsys.readouterr().out == jar_path() + "\n"


def test_the_command_line_reports_an_unsupported_version(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pyspark, "__version__", "3.5.6")
    assert main(["jar"]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "WINOPS_SPARK_VERSION" in printed.err


def test_the_command_line_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "winops", "jar"]
    assert subprocess.check_output(command, text=True).strip() == jar_path()


class FakeSession:
    """A session with the calls that the check makes; it counts the calls."""

    def __init__(self, version: str | None) -> None:
        self.version = version
        self.asked = 0
        self.catalog = self

    def functionExists(self, name: str) -> bool:
        self.asked += 1
        return name == "winops_version" and self.version is not None

    def sql(self, query: str) -> FakeSession:
        assert query == "VALUES (winops_version())"
        return self

    def first(self) -> tuple[str | None]:
        return (self.version,)


def test_a_session_is_checked_once() -> None:
    session = FakeSession(package_version())
    for _ in range(3):
        check_session(session)  # type: ignore[arg-type]
    assert session.asked == 1


def test_a_session_without_the_jar_is_checked_again() -> None:
    session = FakeSession(None)
    for _ in range(2):
        with pytest.raises(PySparkRuntimeError) as caught:
            check_session(session)  # type: ignore[arg-type]
        assert caught.value.getCondition() == "WINOPS_JAR_MISSING"
    assert session.asked == 2


def test_a_jar_of_another_version_is_refused() -> None:
    with pytest.raises(PySparkRuntimeError) as caught:
        check_session(FakeSession("9.9.9"))  # type: ignore[arg-type]
    assert caught.value.getCondition() == "WINOPS_VERSION_MISMATCH"
    assert caught.value.getMessageParameters() == {"package": package_version(), "jar": "9.9.9"}
    assert "9.9.9" in str(caught.value)


def test_a_real_session_has_the_jar_of_this_version(spark: SparkSession) -> None:
    check_session(spark)
    (row,) = spark.sql("SELECT winops_version() AS version").collect()
    assert row.version == package_version()


def test_a_real_session_without_the_jar_is_refused_with_advice(transport: str) -> None:
    start = 'master("local[1]")' if transport == "classic" else 'remote("local[1]")'
    script = f"""
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession
from winops import keep
spark = SparkSession.builder.{start}.config("spark.ui.enabled", "false").getOrCreate()
try:
    keep(spark.range(3), "KEEP 2 ROWS")
except PySparkRuntimeError as error:
    print(error.getCondition(), error)
spark.stop()
"""
    # Excludes the remote session of this process and its server.
    foreign = (
        "SPARK_REMOTE",
        "SPARK_LOCAL_REMOTE",
        "SPARK_CONNECT_MODE_ENABLED",
        "PYSPARK_GATEWAY_",
    )
    environment = {k: v for k, v in os.environ.items() if not k.startswith(foreign)}
    answer = subprocess.run(
        [sys.executable, "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert answer.startswith("WINOPS_JAR_MISSING [WINOPS_JAR_MISSING]")
    for advice in ("winops.configure", "spark-submit --jars", "Spark Connect"):
        assert advice in answer
