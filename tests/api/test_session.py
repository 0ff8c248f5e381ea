"""The JAR: adding it to a session, and the errors without it."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pyspark
import pytest
from packaging.specifiers import SpecifierSet
from pyspark import SparkContext
from pyspark.errors import PySparkException, PySparkRuntimeError
from pyspark.sql import SparkSession

from tests.compatibility.releases.shell import refusal_in_shell
from tests.support.paths import ROOT
from tests.support.transports import longer_on_classic, on_classic_spark
from tests.support.versions import MINOR, SPARK, SUPPORTED
from winops import configure, jar_path
from winops.__main__ import main
from winops._session import _named, check_session, package_version

SUBMIT_ARGS = "PYSPARK_SUBMIT_ARGS"
PACKAGES = "spark.jars.packages"
SHUFFLE_WAIT = "spark.shuffle.streaming.networkBufferMaxWaitTimeMs"


def jars(builder: SparkSession.Builder) -> list[str]:
    return str(builder._options["spark.jars"]).split(",")


@pytest.fixture
def no_jvm(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that has started no JVM, also if other tests have."""
    monkeypatch.setattr(SparkContext, "_jvm", None)
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    # A value that configure sets is removed after the test.
    monkeypatch.setenv(SUBMIT_ARGS, "pyspark-shell")


def test_configure_keeps_other_jars() -> None:
    builder = SparkSession.Builder().config("spark.jars", "/a.jar,/b.jar")
    assert configure(builder) is builder
    assert jars(builder) == ["/a.jar", "/b.jar", jar_path()]


@pytest.mark.usefixtures("no_jvm")
def test_configure_keeps_the_jars_of_the_defaults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ["# spark.jars /x.jar", "spark.jars.ivy /ivy", "spark.jars   /a.jar,/b.jar "]
    (tmp_path / "spark-defaults.conf").write_text("\n".join(lines))
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    # A value of the builder replaces that of the file when Spark starts.
    assert jars(configure(SparkSession.Builder())) == ["/a.jar", "/b.jar", jar_path()]
    assert jars(configure(SparkSession.Builder().config("spark.jars", "/c.jar"))) == [
        "/c.jar",
        jar_path(),
    ]


@pytest.mark.usefixtures("no_jvm")
def test_configure_adds_the_jar_once() -> None:
    assert jars(configure(configure(SparkSession.Builder()))).count(jar_path()) == 1


REAL_TIME = {
    "spark.sql.streaming.realTimeMode.allowlistCheck": "false",
    "spark.sql.streaming.stateStore.checkpointFormatVersion": "2",
    SHUFFLE_WAIT: "1",
}


@pytest.mark.skipif(SPARK < (4, 3), reason="real-time mode needs Spark 4.3")
def test_configure_sets_what_real_time_mode_needs(caplog: pytest.LogCaptureFixture) -> None:
    builder = configure(SparkSession.Builder().config(SHUFFLE_WAIT, "5"), real_time=True)
    assert {name: builder._options[name] for name in REAL_TIME} == {
        **REAL_TIME,
        SHUFFLE_WAIT: "5",
    }
    assert "allowlistCheck to false" in caplog.text
    caplog.clear()
    assert not REAL_TIME.keys() & configure(SparkSession.Builder())._options.keys()
    assert not caplog.records


@pytest.mark.skipif(SPARK < (4, 3), reason="real-time mode needs Spark 4.3")
@pytest.mark.parametrize(("given", "warns"), [({}, True), ({SHUFFLE_WAIT: "1"}, False)])
def test_configure_warns_of_a_context_that_keeps_rows(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    given: dict[str, str],
    warns: bool,
) -> None:
    class Context:
        def getConf(self) -> dict[str, str]:
            return given

    monkeypatch.setattr(SparkContext, "_active_spark_context", Context())
    configure(SparkSession.Builder(), real_time=True)
    assert (f"--conf {SHUFFLE_WAIT}=1" in caplog.text) is warns
    caplog.clear()
    monkeypatch.setattr(SparkContext, "_active_spark_context", None)
    configure(SparkSession.Builder(), real_time=True)
    assert SHUFFLE_WAIT not in caplog.text


@pytest.mark.skipif(SPARK >= (4, 3), reason="Spark 4.3 has the mode")
def test_real_time_mode_is_refused_before_spark_4_3() -> None:
    with pytest.raises(PySparkRuntimeError) as caught:
        configure(SparkSession.Builder(), real_time=True)
    assert caught.value.getCondition() == "WINOPS_REAL_TIME.SPARK_VERSION"


def test_a_client_gives_a_server_the_settings_of_the_session_alone() -> None:
    builder = configure(SparkSession.Builder().remote("sc://example.org"), real_time=True)
    given = builder._options.keys()
    assert "spark.sql.streaming.realTimeMode.allowlistCheck" in given
    assert SHUFFLE_WAIT not in given
    assert "spark.jars" not in given


@pytest.mark.parametrize(
    "other",
    [
        "/old/winops_4.1_2.13-0.0.9.jar",
        "s3a://bucket/winops_9.9_2.13-0.1.0.jar",
        "/m2/winops-spark_4.1_2.13-0.1.0.jar",
        "/root/.ivy2/jars/io.github.winops_winops-spark_4.1_2.13-0.1.0.jar",
        "C:\\jars\\winops_4.1_2.13-0.0.9.jar",
    ],
)
def test_configure_drops_other_jars_of_winops(other: str) -> None:
    builder = SparkSession.Builder().config("spark.jars", f"/a.jar, {other},/mywinops_4.jar")
    assert jars(configure(builder)) == ["/a.jar", "/mywinops_4.jar", jar_path()]


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("C:\\jars\\winops_4.1_2.13-0.1.0.jar", ("4.1", "0.1.0")),
        ("file:/C:/jars/winops_4.1_2.13-0.1.0.jar", ("4.1", "0.1.0")),
        ("C:\\winops_4.1_2.13-0.1.0.jar\\a.jar", None),
    ],
)
def test_a_jar_is_recognized_in_a_path_of_windows(
    path: str, named: tuple[str, str] | None
) -> None:
    assert _named(path) == named


def launcher_jars() -> list[str]:
    """Return the JARs that PySpark's launcher passes to Spark, which takes the last option."""
    words = shlex.split(os.environ[SUBMIT_ARGS])
    options = words[: words.index("pyspark-shell")]
    assert options[-2] == "--jars"
    return options[-1].split(",")


OLD = "winops-spark_9.9_2.13-0.0.9.jar"


@pytest.mark.usefixtures("no_jvm")
@pytest.mark.parametrize(
    ("arguments", "others"),
    [
        ("--jars /a.jar pyspark-shell", ["/a.jar"]),
        ("--master local --jars=/a.jar pyspark-shell", ["/a.jar"]),
        ("--conf spark.jars=/a.jar pyspark-shell", ["/a.jar"]),
        ("--conf=spark.jars=/a.jar pyspark-shell", ["/a.jar"]),
        ('-c "spark.jars=/a b.jar" pyspark-shell', ["/a b.jar"]),
        ("--jars /a.jar --conf spark.jars=/b.jar pyspark-shell", ["/a.jar"]),
        ("--jars /a.jar --jars /b.jar pyspark-shell", ["/b.jar"]),
        ("--jars /a.jar,{own} pyspark-shell", ["/a.jar"]),
        (f"--jars /a.jar,{OLD} pyspark-shell", ["/a.jar"]),
        ("--packages a:b:1 --conf spark.jars.ivy=/ivy pyspark-shell", []),
        ("--conf spark.jars.packages=a:b:1 pyspark-shell --jars /x.jar", []),
    ],
)
def test_configure_adds_the_jar_to_the_options_of_the_launcher(
    monkeypatch: pytest.MonkeyPatch, arguments: str, others: list[str]
) -> None:
    monkeypatch.setenv(SUBMIT_ARGS, arguments.format(own=jar_path()))
    builder = configure(SparkSession.Builder())
    assert "spark.jars" not in builder._options
    assert launcher_jars() == [*others, jar_path()]
    configure(configure(SparkSession.Builder().config("spark.jars", "/c.jar")))
    assert launcher_jars() == [*others, "/c.jar", jar_path()]
    assert os.environ[SUBMIT_ARGS].endswith(arguments[arguments.index("pyspark-shell") :])


@pytest.mark.usefixtures("no_jvm")
@pytest.mark.parametrize("by", ["builder", "spark-defaults.conf"])
def test_configure_leaves_the_jars_of_packages_to_the_launcher(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    lines = ["spark.jars /a.jar"]
    builder = SparkSession.Builder()
    if by == "builder":
        builder.config(PACKAGES, "a:b:1")
    else:
        lines.append(f"{PACKAGES} a:b:1")
    (tmp_path / "spark-defaults.conf").write_text("\n".join(lines))
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    configure(configure(builder))
    assert "spark.jars" not in builder._options
    assert launcher_jars() == ["/a.jar", jar_path()]


@pytest.mark.usefixtures("no_jvm")
@pytest.mark.parametrize("arguments", ["pyspark-shell", "--conf spark.jars.ivy=/i pyspark-shell"])
def test_configure_leaves_other_options_of_the_launcher(
    monkeypatch: pytest.MonkeyPatch, arguments: str
) -> None:
    monkeypatch.setenv(SUBMIT_ARGS, arguments)
    assert jars(configure(SparkSession.Builder())) == [jar_path()]
    assert os.environ[SUBMIT_ARGS] == arguments


@pytest.mark.usefixtures("no_jvm")
def test_configure_adds_no_jar_under_spark_submit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    builder = configure(SparkSession.Builder().config(PACKAGES, "a:b:1"))
    # A value of the builder would replace --jars and --packages of spark-submit.
    assert builder._options == {PACKAGES: "a:b:1"}
    assert os.environ[SUBMIT_ARGS] == "pyspark-shell"
    # This builder replaces them itself.
    builder = configure(SparkSession.Builder().config("spark.jars", "/a.jar"))
    assert jars(builder) == ["/a.jar", jar_path()]


@pytest.mark.longer
@on_classic_spark
def test_executors_get_the_jars_of_the_launcher_and_of_the_package(tmp_path: Path) -> None:
    other = tmp_path / "a.jar"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("a.txt", "a")
    script = """
from pyspark.sql import SparkSession
from winops import configure
builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
spark = configure(builder).getOrCreate()
print(spark.sparkContext.getConf().get("spark.jars"))
print(spark.catalog.functionExists("winops_version"))
spark.stop()
"""
    answer = subprocess.check_output(
        [sys.executable, "-c", script],
        env={**os.environ, SUBMIT_ARGS: f"--jars {other} pyspark-shell"},
        text=True,
    )
    assert answer.splitlines() == [f"file://{other},file://{jar_path()}", "True"]


def test_configure_adds_no_jar_for_a_remote_server() -> None:
    builder = configure(SparkSession.Builder().remote("sc://example.org"))
    assert "spark.jars" not in builder._options


@pytest.mark.usefixtures("no_jvm")
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
@pytest.mark.parametrize(
    "call",
    [jar_path, lambda: configure(SparkSession.Builder())],
    ids=["jar_path", "configure"],
)
def test_a_spark_version_without_a_jar_is_refused(
    monkeypatch: pytest.MonkeyPatch, version: str, call: Any
) -> None:
    monkeypatch.setattr(pyspark, "__version__", version)
    with pytest.raises(PySparkRuntimeError) as caught:
        call()
    assert caught.value.getCondition() == "WINOPS_SPARK_VERSION"
    assert version[:3] in str(caught.value)
    assert f"winops_{MINOR}_2.13" in str(caught.value)


def test_a_pyspark_without_the_classes_of_errors_is_refused() -> None:
    script = "import pyspark.errors as e; del e.PySparkRuntimeError; import winops"
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert run.returncode == 1
    line = run.stderr.splitlines()[-1]
    assert line.startswith("ImportError: [WINOPS_SPARK_VERSION] winops supports Spark ")
    assert f"{', '.join(SUPPORTED)}, but this is pyspark {pyspark.__version__}" in line


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """JARs of a package that supports two versions, and the two versions."""
    monkeypatch.setattr("winops._session._JARS", tmp_path)
    for minor in SUPPORTED:
        (tmp_path / f"winops_{minor}_2.13-{package_version()}.jar").touch()
    return SUPPORTED


def minor_of_jar(path: str) -> str:
    return Path(path).name.split("_")[1]


def test_the_jar_of_another_spark_can_be_named(
    places: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for minor in places:
        assert minor_of_jar(jar_path(minor)) == minor
        assert jar_path(f"{minor}.1") == jar_path(minor)
        assert main(["jar", "--spark", minor]) == 0
        assert capsys.readouterr().out == jar_path(minor) + "\n"
    assert main(["jar", "--spark", "3.5"]) == 1
    refusal = capsys.readouterr().err
    assert "no JAR for Spark 3.5" in refusal
    assert f"supports Spark {', '.join(places)}" in refusal
    for advice in ("jar --spark 4.1", "SPARK_HOME", "Remove other winops JARs from spark.jars"):
        assert advice in refusal


@pytest.mark.usefixtures("no_jvm")
@pytest.mark.parametrize("minor", SUPPORTED)
@pytest.mark.parametrize("by", ["jar", "RELEASE"])
def test_the_jar_is_that_for_the_spark_of_its_home(
    places: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, minor: str, by: str
) -> None:
    home = tmp_path / "home"
    (home / "jars").mkdir(parents=True)
    if by == "jar":
        (home / "jars" / f"spark-core_2.13-{minor}.1.jar").touch()
    else:
        (home / "RELEASE").write_text(f"Spark {minor}.1 (git revision 1) built for Hadoop 3\n")
    monkeypatch.setenv("SPARK_HOME", str(home))
    assert minor_of_jar(jar_path()) == minor
    assert minor_of_jar(jars(configure(SparkSession.Builder()))[-1]) == minor


def test_a_spark_home_without_a_jar_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "jars").mkdir()
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    assert minor_of_jar(jar_path()) == MINOR
    (tmp_path / "jars" / "spark-core_2.12-3.5.6.jar").touch()
    with pytest.raises(PySparkRuntimeError, match=r"no JAR for Spark 3\.5;"):
        jar_path()


def test_the_package_in_a_zip_file_knows_its_versions(tmp_path: Path) -> None:
    # A wheel among --py-files is imported as the zip file that it is.
    package = ROOT / "python" / "winops"
    archive = tmp_path / "winops-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(archive, "w") as whl:
        for file in package.glob("*.py"):
            whl.write(file, f"winops/{file.name}")
        whl.write(ROOT / "spark-versions.json", "winops/spark-versions.json")
        whl.writestr("winops-0.1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: winops\n")
    script = (
        "import winops; from winops._versions import java_versions, spark_versions\n"
        "print(winops.__file__, *spark_versions(), *java_versions(spark_versions()[0]))"
    )
    said = subprocess.check_output(
        [sys.executable, "-c", script],
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(archive)},
    )
    file, *versions = said.split()
    assert file.startswith(str(archive))
    first = json.loads((ROOT / "spark-versions.json").read_text())[0]
    assert versions == [*SUPPORTED, *map(str, first["java"])]


@pytest.mark.longer
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

    def __init__(self, jar: str | None, spark: str = pyspark.__version__) -> None:
        self.jar = jar
        self.version = spark
        self.asked = 0
        self.catalog = self

    def functionExists(self, name: str) -> bool:
        self.asked += 1
        return name == "winops_version" and self.jar is not None

    def sql(self, query: str) -> FakeSession:
        assert query == "VALUES (winops_version())"
        return self

    def first(self) -> tuple[str | None]:
        return (self.jar,)


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


@pytest.mark.parametrize(
    ("condition", "is_left_to_the_server"),
    [("ATTEMPT_ANALYSIS_IN_PIPELINE_QUERY_FUNCTION", True), ("INTERNAL_ERROR", False)],
)
def test_a_session_is_not_checked_where_no_query_may_run(
    monkeypatch: pytest.MonkeyPatch, condition: str, is_left_to_the_server: bool
) -> None:
    class Refusal(PySparkException):
        def getCondition(self) -> str:
            return condition

    session = FakeSession(package_version())

    def refuse(name: str) -> bool:
        raise Refusal("no query may run")

    monkeypatch.setattr(session, "functionExists", refuse)
    if is_left_to_the_server:
        check_session(session)  # type: ignore[arg-type]
        monkeypatch.undo()
        check_session(session)  # type: ignore[arg-type]
        assert session.asked == 1
    else:
        with pytest.raises(Refusal):
            check_session(session)  # type: ignore[arg-type]


@pytest.mark.parametrize("jar", [None, package_version()])
def test_a_session_of_an_unsupported_spark_is_refused(jar: str | None) -> None:
    session = FakeSession(jar, "3.5.8")
    with pytest.raises(PySparkRuntimeError, match=r"no JAR for Spark 3\.5;") as caught:
        check_session(session)  # type: ignore[arg-type]
    assert caught.value.getCondition() == "WINOPS_SPARK_VERSION"
    assert session.asked == 0


def test_a_jar_of_another_version_is_refused() -> None:
    with pytest.raises(PySparkRuntimeError) as caught:
        check_session(FakeSession("9.9.9"))  # type: ignore[arg-type]
    assert caught.value.getCondition() == "WINOPS_VERSION_MISMATCH"
    assert caught.value.getMessageParameters() == {"package": package_version(), "jar": "9.9.9"}
    assert "9.9.9" in str(caught.value)
    assert "remove other winops JARs from spark.jars" in str(caught.value)


def test_the_refusal_of_the_jar_names_its_remedies() -> None:
    text = ROOT / "jvm/spark/src/main/resources/error/winops-error-conditions.json"
    (message,) = json.loads(text.read_text())["WINOPS_SPARK_VERSION"]["message"]
    for remedy in ("winops_<", "winops-spark_<", "jar --spark", "$SPARK_HOME/jars"):
        assert remedy in message


def test_the_refused_table_functions_are_those_of_the_registration() -> None:
    folder = ROOT / "jvm/spark/src/main"
    registration = (folder / "scala/winops/spark/Registration.scala").read_text()
    registered = re.findall(r"injectTableFunction\(\s*described\((\w+)\.Name", registration)
    assert len(registered) == registration.count("injectTableFunction")
    names = set()
    for function in registered:
        source = (folder / f"scala/winops/spark/{function}.scala").read_text()
        names |= set(re.findall(r'val Name = "(\w+)"', source))
    guard = (folder / "java/winops/spark/RefusedVersion.java").read_text()
    (refused,) = re.findall(r"TABLE_FUNCTIONS = \{(.*?)\}", guard, re.DOTALL)
    assert set(re.findall(r'"(\w+)"', refused)) == names
    assert len(names) == len(registered)


def test_a_real_session_has_the_jar_of_this_version(spark: SparkSession) -> None:
    check_session(spark)
    (row,) = spark.sql("SELECT winops_version() AS version").collect()
    assert row.version == package_version()


@longer_on_classic
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
