"""The checks of an installation and of a session."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyspark
import pytest
from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from tests.support.programs import run_module
from tests.support.settings import CHANGELOG, HDFS, PARTITIONS, ROCKSDB, STATE_STORE, settings
from tests.support.transports import first_cases, on_classic_spark
from winops import Diagnosis, Finding, doctor
from winops.__main__ import main
from winops._session import package_version
from winops._tools.doctor import _java, _server

NO_DATA = "spark.sql.streaming.noDataMicroBatches.enabled"


def by_subject(diagnosis: Diagnosis) -> dict[str, Finding]:
    return {finding.subject: finding for finding in diagnosis.findings}


def test_a_session_for_streams_has_no_findings(spark: SparkSession) -> None:
    with settings(spark, {CHANGELOG: "true", PARTITIONS: "2"}):
        diagnosis = doctor(spark)
    assert [finding for finding in diagnosis.findings if finding.status != "ok"] == []
    assert diagnosis.works
    found = by_subject(diagnosis)
    assert found["Spark"].found == pyspark.__version__
    assert found["JAR"].found == package_version()
    assert found["operator"].found == "keep returned 1 row of 1"
    assert found["partitions"].found.startswith("2,")


# test_commands.py compares what the command says of the last two.
@pytest.mark.parametrize(
    ("setting", "value", "subject", "remedy"),
    first_cases(
        [
            (NO_DATA, "false", "empty batches", f"Set {NO_DATA} to true"),
            (STATE_STORE, "org.example.Own", "state store", f"Set {STATE_STORE} to {ROCKSDB}"),
            (CHANGELOG, "false", "changelog", f"Set {CHANGELOG} to true"),
            ("spark.winops.over.enabled", "false", "OVER", "Unset spark.winops.over.enabled"),
            (STATE_STORE, HDFS, "state store", f"Set {STATE_STORE} to {ROCKSDB}"),
            (PARTITIONS, "200", "partitions", f"Set {PARTITIONS} to 2 "),
        ],
        short=4,
        on_connect=1,
    ),
)
def test_a_setting_that_does_not_fit_is_a_warning(
    spark: SparkSession, setting: str, value: str, subject: str, remedy: str
) -> None:
    with settings(spark, {CHANGELOG: "true", setting: value}):
        diagnosis = doctor(spark)
    assert diagnosis.works
    (finding,) = [finding for finding in diagnosis.findings if finding.status == "warning"]
    assert finding.subject == subject
    assert remedy in finding.remedy


class FakeSession:
    """A session with the calls that the checks make before they run the operator."""

    def __init__(
        self,
        jar: str | None,
        values: Mapping[str, str],
        java: str = "17.0.1",
        version: str = pyspark.__version__,
        on_class_path: str | None = None,
    ) -> None:
        self.version = version
        self.answers = {
            "winops_version": jar,
            "winops.spark.SparkVersion": on_class_path,
            "java.version": java,
        }
        self.values = values
        self.catalog = self
        self.conf = self

    def functionExists(self, name: str) -> bool:
        return self.answers[name] is not None

    def get(self, name: str, default: str) -> str:
        return self.values.get(name, default)

    def sql(self, query: str) -> FakeSession:
        (self.answer,) = [value for name, value in self.answers.items() if name in query]
        if self.answer is None:
            raise AnalysisException("The class is not found.")
        return self

    def first(self) -> tuple[str | None]:
        return (self.answer,)


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ({}, "not in this session"),
        ({"spark.jars": "/jars/winops_4.1.jar"}, "not active, but named in spark.jars"),
        (
            {"spark.sql.extensions": "winops.spark.WinopsExtensions"},
            "not active, but named in spark.sql.extensions",
        ),
    ],
)
def test_a_session_without_the_jar_does_not_work(values: dict[str, str], found: str) -> None:
    diagnosis = doctor(FakeSession(None, values))  # type: ignore[arg-type]
    assert not diagnosis.works
    finding = by_subject(diagnosis)["JAR"]
    assert finding.found == found
    assert "spark-submit --jars" in finding.remedy
    assert "operator" not in by_subject(diagnosis)


@pytest.mark.parametrize("values", [{}, {"spark.jars": "/jars/winops_4.1.jar"}])
def test_a_jar_without_its_extension_does_not_work(values: dict[str, str]) -> None:
    session = FakeSession(None, values, on_class_path="0.1.0")
    findings = by_subject(doctor(session))  # type: ignore[arg-type]
    finding = findings["extension"]
    assert (finding.status, finding.found) == ("error", "not active, JAR 0.1.0")
    assert "Set spark.sql.extensions to winops.spark.WinopsExtensions before" in finding.remedy
    assert not {"JAR", "operator"} & findings.keys()


@pytest.mark.longer
@on_classic_spark
def test_a_real_jar_without_its_extension_is_found() -> None:
    run = run_module(
        "winops",
        "doctor",
        "--master=local[1]",
        "--conf=spark.ui.enabled=false",
        "--conf=spark.sql.extensions.test.loadFromCp=false",
    )
    assert run.returncode == 1
    assert f"error    extension       not active, JAR {package_version()}\n" in run.stdout


def test_a_jar_of_another_version_does_not_work() -> None:
    finding = by_subject(doctor(FakeSession("9.9.9", {})))["JAR"]  # type: ignore[arg-type]
    assert (finding.status, finding.found) == ("error", "9.9.9")
    assert "winops==9.9.9" in finding.remedy


@pytest.mark.parametrize("java", ["1.8.0_282", "11.0.2"])
def test_an_old_java_of_a_server_does_not_work(java: str) -> None:
    finding = by_subject(doctor(FakeSession(None, {}, java)))["Java"]  # type: ignore[arg-type]
    assert (finding.status, finding.found) == ("error", java)
    assert "JDK 17 or later" in finding.remedy


@pytest.mark.parametrize("version", ["3.5.5", "4.0.2-amzn-0", "9.0.0"])
def test_a_spark_of_a_server_without_a_jar_does_not_work(version: str) -> None:
    session = FakeSession(None, {}, version=version)
    finding = by_subject(doctor(session))["Spark"]  # type: ignore[arg-type]
    assert (finding.status, finding.found) == (
        "error",
        f"{version}, pyspark {pyspark.__version__}",
    )
    assert pyspark.__version__.rsplit(".", 1)[0] in finding.remedy


@pytest.mark.parametrize(
    ("java", "spark", "fitting"),
    [
        ("17.0.1", "4.1.2", None),
        ("21.0.4", "4.1.2", None),
        ("25", "4.1.2", "17 or 21"),
        ("25", "4.2.0", None),
        ("25.0.1", "4.3.0", None),
        ("26", "4.2.0", "17 or 21 or 25"),
        ("99.0.1", "4.1.2", "17 or 21"),
    ],
)
def test_a_java_above_those_of_spark_is_a_warning(
    java: str, spark: str, fitting: str | None
) -> None:
    remedy = f"Spark {spark[:3]} runs on JDK {fitting}: use one."
    expected = (
        Finding("warning", "Java", java, remedy) if fitting else Finding("ok", "Java", java)
    )
    assert _java(java, spark) == expected
    session = FakeSession(None, {}, java, spark)
    assert by_subject(doctor(session))["Java"] == expected  # type: ignore[arg-type]


CALLING = "An error occurred while calling o57.count."
NO_METHOD = "java.lang.NoSuchMethodError: 'void org.apache.spark.Task.run()'"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            f"An error occurred while calling o57.count.\n: {NO_METHOD}\n\tat A.b(A.java)",
            NO_METHOD,
        ),
        (
            f"{CALLING}\n: org.apache.spark.SparkException: Job aborted.\n\tat A.b(A.java)\n"
            "Caused by: java.lang.RuntimeException: outer\n\tat B.c(B.java)\n"
            f"Caused by: {NO_METHOD}\n\t... 3 more\n",
            f"org.apache.spark.SparkException: Job aborted.; caused by {NO_METHOD}",
        ),
        (
            "<_InactiveRpcError of RPC that terminated with:\n\tstatus = StatusCode.UNAVAILABLE\n"
            '\tdetails = "no host"\n\tdebug_error_string = "x"\n>',
            "<_InactiveRpcError of RPC that terminated with: status = StatusCode.UNAVAILABLE "
            'details = "no host" debug_error_string = "x"',
        ),
        (f"({NO_METHOD}) no such method\n\nJVM stacktrace:", f"({NO_METHOD}) no such method"),
    ],
)
def test_an_operator_that_fails_is_reported_by_its_java_exception(
    monkeypatch: pytest.MonkeyPatch, text: str, found: str
) -> None:
    class JavaError(Py4JError):
        """Its text is that of a Py4JJavaError, which asks the JVM for it."""

        def __str__(self) -> str:
            return text

    def failing(*_: object, **__: object) -> None:
        raise JavaError

    monkeypatch.setattr("winops._tools.doctor.keep", failing)
    session = FakeSession(package_version(), {})
    monkeypatch.setattr(session, "range", lambda number: None, raising=False)
    finding = by_subject(doctor(session))["operator"]  # type: ignore[arg-type]
    assert (finding.status, finding.found, finding.remedy) == ("error", "failed", found)


def test_a_spark_home_of_another_version_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    minor = pyspark.__version__.rsplit(".", 1)[0]
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / f"spark-core_2.13-{minor}.99.jar").touch()
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    # No session is started without Java.
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert main(["doctor"]) == 1
    printed = capsys.readouterr().out
    assert f"warning  SPARK_HOME      {minor}.99\n" in printed
    assert f"install pyspark=={minor}.99" in printed
    assert "ok       pyspark" in printed


def test_a_java_that_is_not_installed_stops_the_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert main(["doctor"]) == 1
    printed = capsys.readouterr().out
    assert "error    Java            not found\n" in printed
    assert "Install JDK 17 or later, and set JAVA_HOME" in printed
    assert printed.endswith("errors: 1, warnings: 0\n")


def test_a_spark_without_a_jar_stops_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pyspark, "__version__", "3.5.6")
    assert main(["doctor"]) == 1
    assert "error    pyspark         3.5.6\n         [WINOPS_SPARK_VERSION]" in (
        capsys.readouterr().out
    )


@pytest.mark.parametrize(
    "arguments", [["--conf", "spark.ui.enabled"], ["--properties-file", "/no/such/file"]]
)
def test_wrong_arguments_of_the_command_have_their_own_exit_code(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["doctor", *arguments])
    assert caught.value.code == 2
    assert arguments[0] in capsys.readouterr().err


def test_the_settings_of_a_file_are_those_of_the_session(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given = []

    def checks(values: object, **options: object) -> list[Finding]:
        given.append((values, options))
        return []

    monkeypatch.setattr("winops._tools.command_line.findings_of", checks)
    file = tmp_path / "spark-defaults.conf"
    file.write_text(f"# A comment.\nspark.ui.enabled=false\n{STATE_STORE}   {ROCKSDB}\n")
    arguments = ["doctor", "--properties-file", str(file), "--master", "local[1]"]
    assert main([*arguments, "--conf", "spark.ui.enabled=true"]) == 0
    ((values, options),) = given
    assert values == {"spark.ui.enabled": "true", STATE_STORE: ROCKSDB}
    assert options == {"master": "local[1]", "remote": None, "add_jar": False}


@pytest.mark.longer
@on_classic_spark
def test_the_command_checks_a_session_with_the_settings_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "spark-defaults.conf"
    file.write_text(
        f"# A session without the JAR.\nspark.ui.enabled=false\n{STATE_STORE}   {ROCKSDB}\n"
    )
    run = run_module("winops", "doctor", "--properties-file", str(file), "--master", "local[1]")
    assert run.returncode == 1
    assert "error    JAR             not in this session\n" in run.stdout
    assert "ok       state store     RocksDBStateStoreProvider\n" in run.stdout
    assert "warning  partitions      200, 1 cores\n" in run.stdout


def without_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("grpc_proxy", "https_proxy", "http_proxy", "no_grpc_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)


def test_a_server_that_does_not_answer_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without_proxies(monkeypatch)
    with socket.create_server(("localhost", 0)) as server:
        port = server.getsockname()[1]
    assert main(["doctor", "--remote", f"sc://localhost:{port}/;user_id=u"]) == 1
    printed = capsys.readouterr().out
    assert f"error    server          nothing answers at localhost:{port}\n" in printed
    assert "start-connect-server.sh" in printed
    assert "session" not in printed
    assert printed.endswith("errors: 1, warnings: 0\n")
    assert main(["doctor", "--remote", "sc://localhost:here"]) == 1
    assert "sc://localhost:here is no address" in capsys.readouterr().out


def test_a_server_that_answers_or_is_behind_a_proxy_passes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    without_proxies(monkeypatch)
    with socket.create_server(("localhost", 0)) as server:
        assert list(_server(f"sc://localhost:{server.getsockname()[1]}")) == []
    assert list(_server("local")) == []
    monkeypatch.setenv("https_proxy", "http://proxy:3128")
    assert list(_server("sc://host.invalid")) == []
    monkeypatch.setenv("no_proxy", "host.invalid")
    (finding,) = _server("sc://host.invalid")
    assert finding.found == "nothing answers at host.invalid:15002"


def test_the_command_prints_each_finding_before_the_next_check(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = []

    def checks(*_: object, **__: object) -> Iterator[Finding]:
        for subject in ("Python", "Spark"):
            yield Finding("ok", subject, "1")
            printed.append(capsys.readouterr().out)

    monkeypatch.setattr("winops._tools.command_line.findings_of", checks)
    assert main(["doctor"]) == 0
    assert printed == ["ok       Python          1\n", "ok       Spark           1\n"]
