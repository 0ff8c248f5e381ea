"""Checks of an installation and of a session, each with what to change."""

from __future__ import annotations

import os
import platform
import re
import socket
import subprocess
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

import pyspark
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from winops._errors import condition_of, jar_missing, version_mismatch
from winops._keep import keep
from winops._session import (
    configure,
    jar_path,
    jar_version,
    local_spark,
    minor_of,
    package_version,
    spark_of_home,
)
from winops._tools.diagnosis import Diagnosis, Finding
from winops._versions import java_versions, oldest_java, spark_versions
from winops.testing._process import installed_java

_STATE_STORE = "spark.sql.streaming.stateStore"
_PROVIDER = f"{_STATE_STORE}.providerClass"
_CHANGELOG = f"{_STATE_STORE}.rocksdb.changelogCheckpointing.enabled"
_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_HDFS = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
_PARTITIONS = "spark.sql.shuffle.partitions"
_NO_DATA = "spark.sql.streaming.noDataMicroBatches.enabled"
_CAUSE = "Caused by: "
_OVER = "spark.winops.over.enabled"
_EXTENSIONS = "winops.spark.WinopsExtensions"
_CONNECT = "sc://"
_CONNECT_PORT = 15002
_CONNECT_SECONDS = 10
# The variables from which gRPC takes a proxy.
_PROXIES = ("grpc_proxy", "https_proxy", "http_proxy")
_NO_PROXIES = ("no_grpc_proxy", "no_proxy")
# The lines after one that ends with a colon, which say what it announces.
_ANNOUNCED_LINES = 3


def _failures() -> tuple[type[Exception], ...]:
    """Return the errors of a session. A client of Spark Connect alone has no py4j."""
    if find_spec("py4j") is None:
        return (PySparkException,)
    from py4j.protocol import Py4JError

    return (PySparkException, Py4JError)


def doctor(spark: SparkSession) -> Diagnosis:
    """Check that winops works in a session, and how the session is set up for streams.

    The checks are those of ``python -m winops doctor``: versions of Python, Spark, Java and the
    JAR, the operator itself in a query of one row, the state store, and the number of shuffle
    partitions. No setting is changed. Supports Spark Connect.

    Parameters
    ----------
    spark : SparkSession
        The session to check.

    Returns
    -------
    Diagnosis
        The findings; a problem is a finding with a remedy, not an exception.

    Examples
    --------
    >>> from winops import doctor
    >>> diagnosis = doctor(spark)
    >>> diagnosis.works
    True
    >>> [finding.subject for finding in diagnosis.findings][:3]
    ['Python', 'winops', 'Spark']
    """
    return Diagnosis((*_packages(), *_session(spark)))


def findings_of(
    settings: Mapping[str, str], *, master: str | None, remote: str | None, add_jar: bool
) -> Iterator[Finding]:
    """Check the installation, and a session that is started with these settings and stopped.

    Yields each finding as soon as it is known, because a session takes seconds to start. No
    session is started if the installation has an error or the server does not answer.

    Parameters
    ----------
    settings : mapping of str to str
        The settings of the session.
    master : str or None
        The master of the session; that of the settings if None.
    remote : str or None
        The Connect server, such as ``sc://host``; its JVM is not the one that is installed here.
    add_jar : bool
        Adds the JAR of this package, as a program does with :func:`winops.configure`.
    """
    works = True
    for installed in (_packages(), _server(remote) if remote else _local()):
        for finding in installed:
            works = works and finding.status != "error"
            yield finding
    if not works:
        return
    builder = SparkSession.builder.appName("winops doctor").config(map=dict(settings))
    if remote:
        builder = builder.remote(remote)
    elif master:
        builder = builder.master(master)
    try:
        spark = (configure(builder) if add_jar else builder).getOrCreate()
    except _failures() as error:
        remedy = f"Start a session without winops first: {_in_short(error)}"
        yield Finding("error", "session", "does not start", remedy)
        return
    try:
        yield from _session(spark)
    finally:
        spark.stop()


def _server(remote: str) -> Iterator[Finding]:
    """Check that a Connect server accepts connections, because a session retries for minutes."""
    # A remote without this prefix, such as local, starts a server of its own.
    if not remote.startswith(_CONNECT):
        return
    try:
        address = urlsplit(remote)
        host, port = address.hostname, address.port or _CONNECT_PORT
    except ValueError:
        host, port = None, 0
    if host is None:
        remedy = "Write it as sc://host:15002."
        yield Finding("error", "server", f"{remote} is no address", remedy)
    elif not _has_proxy(host):
        try:
            socket.create_connection((host, port), timeout=_CONNECT_SECONDS).close()
        except OSError as error:
            remedy = (
                f"{error}. Check the host and the port, and that the server runs: "
                "$SPARK_HOME/sbin/start-connect-server.sh starts one."
            )
            yield Finding("error", "server", f"nothing answers at {host}:{port}", remedy)


def _has_proxy(host: str) -> bool:
    """Return True if gRPC reaches a host through a proxy, so that only the proxy is connected."""
    excluded = next(filter(None, map(os.environ.get, _NO_PROXIES)), "").split(",")
    # gRPC excludes the hosts that end with one of the names.
    return any(map(os.environ.get, _PROXIES)) and not any(
        host.endswith(name.strip()) for name in excluded if name.strip()
    )


def _packages() -> Iterator[Finding]:
    yield Finding("ok", "Python", platform.python_version())
    yield Finding("ok", "winops", package_version())


def _local() -> Iterator[Finding]:
    try:
        yield Finding("ok", "pyspark", f"{pyspark.__version__}, JAR {Path(jar_path()).name}")
    except PySparkException as error:
        yield Finding("error", "pyspark", pyspark.__version__, str(error))
    home = spark_of_home()
    if home is not None and home != pyspark.__version__:
        remedy = (
            f"Programs start the Spark of SPARK_HOME with pyspark {pyspark.__version__}. Unset "
            f"SPARK_HOME, or install pyspark=={home}."
        )
        yield Finding("warning", "SPARK_HOME", home, remedy)
    java = _java(_installed_java(), local_spark())
    if java.status == "error":
        # Otherwise the session says which Java it runs with.
        yield java


def _installed_java() -> str | None:
    """Return the version of the Java that Spark's launcher starts."""
    program = installed_java()
    if program is None or not Path(program).is_file():
        return None
    # The program is the one that Spark itself starts.
    told = subprocess.run(  # noqa: S603
        [program, "-version"], capture_output=True, text=True, check=False
    )
    version = re.search(r'version "([^"]+)"', told.stderr)
    return version[1] if version else None


def _install_java() -> str:
    return f"Install JDK {oldest_java()} or later, and set JAVA_HOME to its folder."


def _java(version: str | None, spark: str) -> Finding:
    if version is None:
        return Finding("error", "Java", "not found", _install_java())
    # Java 8 calls itself 1.8.
    major = re.match(r"(?:1\.)?(\d+)", version)
    if major is None or int(major[1]) < oldest_java():
        return Finding("error", "Java", version, _install_java())
    fitting = java_versions(minor_of(spark))
    if fitting and int(major[1]) > fitting[-1]:
        remedy = f"Spark {minor_of(spark)} runs on JDK {' or '.join(map(str, fitting))}: use one."
        return Finding("warning", "Java", version, remedy)
    return Finding("ok", "Java", version)


def _session(spark: SparkSession) -> Iterator[Finding]:
    yield _spark(spark)
    yield _java_of(spark)
    version = jar_version(spark)
    if version is None:
        yield _missing(spark)
    elif version != package_version():
        mismatch = version_mismatch(package_version(), version)
        yield Finding("error", "JAR", version, str(mismatch))
    else:
        yield Finding("ok", "JAR", version)
        yield _operator(spark)
    yield from _streams(spark)


def _spark(spark: SparkSession) -> Finding:
    # A server can have another version than the client.
    both = "" if spark.version == pyspark.__version__ else f", pyspark {pyspark.__version__}"
    if minor_of(spark.version) in spark_versions():
        return Finding("ok", "Spark", spark.version + both)
    remedy = f"Use a version of Spark that winops supports: {', '.join(spark_versions())}."
    return Finding("error", "Spark", spark.version + both, remedy)


def _java_of(spark: SparkSession) -> Finding:
    """Check the Java of the driver, which a managed server may keep to itself."""
    query = "SELECT java_method('java.lang.System', 'getProperty', 'java.version')"
    try:
        row = spark.sql(query).first()
    except PySparkException as error:
        return Finding(
            "warning",
            "Java",
            f"unknown: {condition_of(error)}",
            f"Ask whoever operates the server for its Java: it must be {oldest_java()} or later.",
        )
    return _java(str(row[0]) if row else None, spark.version)


def _missing(spark: SparkSession) -> Finding:
    """Return the error for a session without the functions of winops."""
    query = "SELECT java_method('winops.spark.SparkVersion', 'winops')"
    try:
        row = spark.sql(query).first()
    except _failures():
        # The class is missing, or a managed server does not call Java methods.
        return Finding("error", "JAR", _where_named(spark), str(jar_missing()))
    version = row[0] if row else "unknown"
    remedy = (
        "The JAR is on the class path, but its extension is not active. Set spark.sql.extensions "
        f"to {_EXTENSIONS} before the session starts, after a comma if it has a value already. "
        "A JAR that is added later, as by ADD JAR, has no effect."
    )
    return Finding("error", "extension", f"not active, JAR {version}", remedy)


def _where_named(spark: SparkSession) -> str:
    """Say which settings name winops although its functions are missing."""
    names = ("spark.jars", "spark.jars.packages", "spark.sql.extensions")
    naming = [name for name in names if "winops" in (_setting(spark, name, "") or "").lower()]
    return f"not active, but named in {', '.join(naming)}" if naming else "not in this session"


def _operator(spark: SparkSession) -> Finding:
    """Run the operator, which a JAR for another version of Spark refuses."""
    try:
        rows = keep(spark.range(1), rows=1, order_by="id").rows().count()
    except _failures() as error:
        return Finding("error", "operator", "failed", _in_short(error))
    return Finding("ok", "operator", f"keep returned {rows} row of 1")


def _streams(spark: SparkSession) -> Iterator[Finding]:
    checks: tuple[Callable[[SparkSession], Finding | None], ...] = (
        _provider,
        _changelog,
        _partitions,
        _no_data,
        _over,
    )
    for check in checks:
        finding = check(spark)
        if finding is not None:
            yield finding


def _provider(spark: SparkSession) -> Finding:
    provider = _setting(spark, _PROVIDER, _HDFS)
    name = provider.rsplit(".", 1)[-1]
    if provider == _ROCKSDB:
        return Finding("ok", "state store", name)
    if provider == _HDFS:
        remedy = f"State must fit into memory. Set {_PROVIDER} to {_ROCKSDB} for larger state."
    else:
        remedy = f"winops is tested with Spark's own state stores. Set {_PROVIDER} to {_ROCKSDB}."
    return Finding("warning", "state store", name, remedy)


def _changelog(spark: SparkSession) -> Finding | None:
    if _setting(spark, _PROVIDER, _HDFS) != _ROCKSDB:
        return None
    if _setting(spark, _CHANGELOG, "false").lower() == "true":
        return Finding("ok", "changelog", "a commit writes changes")
    return Finding(
        "warning",
        "changelog",
        "a commit writes a snapshot",
        f"Set {_CHANGELOG} to true, so that a commit writes the changes only.",
    )


def _partitions(spark: SparkSession) -> Finding:
    number = _setting(spark, _PARTITIONS, "200")
    master = _setting(spark, "spark.master", "")
    if master.startswith("local"):
        # Spark splits a range into one partition for each core.
        cores = spark.range(1_000_000).selectExpr("spark_partition_id()").distinct().count()
        if number.isdecimal() and int(number) > 4 * cores:
            return Finding(
                "warning",
                "partitions",
                f"{number}, {cores} cores",
                f"Set {_PARTITIONS} to {cores} before the first start of a stream: each "
                "micro-batch has a task and a state store for each partition.",
            )
    return Finding("ok", "partitions", f"{number}, fixed at the first start of a stream")


def _no_data(spark: SparkSession) -> Finding | None:
    if _setting(spark, _NO_DATA, "true").lower() == "true":
        return None
    return Finding(
        "warning",
        "empty batches",
        "off",
        f"Set {_NO_DATA} to true: rows expire late otherwise, with the next input rows, and "
        'at_end="flush" is refused.',
    )


def _over(spark: SparkSession) -> Finding | None:
    if _setting(spark, _OVER, "true").lower() == "true":
        return None
    return Finding(
        "warning",
        "OVER",
        "left to Spark",
        f"Unset {_OVER}, or set it to true, to run window functions on streams.",
    )


def _in_short(error: Exception) -> str:
    """Return the first line of an error, and that of its innermost cause in the JVM.

    If the line ends with a colon, the lines that it announces follow it.
    """
    # The rest is a stack trace.
    lines = str(error).strip().splitlines() or [type(error).__name__]
    # py4j names the call first, and the Java exception in the next line.
    if len(lines) > 1 and lines[1].startswith(": "):
        del lines[0]
    last = 1 + _ANNOUNCED_LINES if lines[0].rstrip().endswith(":") else 1
    said = [" ".join(line.removeprefix(": ").strip() for line in lines[:last])]
    causes = [line for line in lines if line.startswith(_CAUSE)]
    if causes and causes[-1].removeprefix(_CAUSE) not in said[0]:
        said.append(causes[-1].replace(_CAUSE, "caused by ", 1))
    return "; ".join(line.strip() for line in said)


def _setting(spark: SparkSession, name: str, default: str) -> str:
    return spark.conf.get(name, default) or default
