"""The JAR in a Spark session: adding it, locating it, and checking its version."""

from __future__ import annotations

import logging
import os
import re
import shlex
from itertools import pairwise
from pathlib import Path
from weakref import WeakSet

import pyspark
from pyspark import SparkConf
from pyspark.errors import PySparkException, PySparkRuntimeError
from pyspark.sql import SparkSession

from winops._errors import jar_missing, no_jar_for_spark, no_real_time, version_mismatch
from winops._versions import spark_versions

_JARS = Path(__file__).parent / "jars"
_SPARK_JARS = "spark.jars"
_PACKAGES = "spark.jars.packages"
_SUBMIT_ARGS = "PYSPARK_SUBMIT_ARGS"
_SHELL = "pyspark-shell"
_OPTIONS = {"--jars": _SPARK_JARS, "--packages": _PACKAGES}
_SETTING = re.compile(r"\s*(?P<name>[^\s=:#!][^\s=:]*)\s*[=:\s]\s*(?P<value>.*)")
# The name in this package, the one in a Maven repository, and the one in the cache of Ivy. A
# driver with two JARs of winops loads the one that comes first.
_WINOPS_JAR = re.compile(
    r"(?:winops|(?:io\.github\.winops_)?winops-spark)"
    r"_(?P<minor>[^_/]+)_2\.13-(?P<version>[^/]+)\.jar"
)
_CORE = re.compile(r"spark-core_2\.\d+-(?P<version>\d+\.\d+.*)\.jar")
_RELEASE = re.compile(r"Spark (?P<version>\d+\.\d+\S*)")
# Part of Spark's message about a query in a query function of a pipeline.
_IN_PIPELINE = "ATTEMPT_ANALYSIS_IN_PIPELINE_QUERY_FUNCTION"
_fitting: WeakSet[SparkSession] = WeakSet()
_log = logging.getLogger("winops")

# The oldest Spark whose real-time mode has operators with state.
_REAL_TIME_FROM = (4, 3)
_ALLOWLIST = "spark.sql.streaming.realTimeMode.allowlistCheck"
_STATE_STORE = "spark.sql.streaming.stateStore"
# Settings of a session, which a client of Spark Connect can give too.
_REAL_TIME = {
    _ALLOWLIST: "false",
    # Spark needs both in real-time mode. With them, micro-batches can share the checkpoint.
    f"{_STATE_STORE}.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    f"{_STATE_STORE}.checkpointFormatVersion": "2",
}
# Rows that do not fill a buffer leave the shuffle after this time in milliseconds; 50 by default.
_SHUFFLE_WAIT_NAME = "spark.shuffle.streaming.networkBufferMaxWaitTimeMs"
_SHUFFLE_WAIT = {_SHUFFLE_WAIT_NAME: "1"}


def configure(builder: SparkSession.Builder, *, real_time: bool = False) -> SparkSession.Builder:
    """Add this package's JAR to a session that is not built yet.

    It applies to a session that starts its own JVM: a script or notebook run by Python, on any
    master, and the in-process server of ``remote("local")``. It adds nothing to a JVM that
    runs already. Under ``spark-submit``, pass ``--jars "$(python -m winops jar)"`` instead; in a
    notebook that has had a session, restart the kernel first. For a Connect server
    (``remote("sc://...")``) the builder is returned unchanged, because the operator of the server
    installs the JAR.

    The JAR is added to ``spark.jars`` of the builder. If Spark's launcher adds JARs itself, for
    ``spark.jars.packages`` or for options in ``PYSPARK_SUBMIT_ARGS``, the executors would lose
    these JARs to a value of the builder. All JARs are then passed as ``--jars`` in
    ``PYSPARK_SUBMIT_ARGS``, which child processes inherit. Set ``spark.jars.packages`` of the
    builder before this call.

    Parameters
    ----------
    builder : SparkSession.Builder
        The builder. Its ``spark.jars`` are kept, or those of ``spark-defaults.conf``, and the
        JARs of ``PYSPARK_SUBMIT_ARGS``, except for other JARs of winops.
    real_time : bool, default False
        Also set what queries with ``trigger(realTime=...)`` need, from Spark 4.3 on: Spark checks
        no operator and no sink of a real-time query of the session, the state store is RocksDB
        with version 2 of the checkpoint format, and the shuffle keeps a row for at most one
        millisecond. Values that the builder has are kept. The first of these is logged as a
        warning of the logger ``winops``. The last one is a setting of the application, which
        does not change in a Spark context that runs already; a second warning says so. The
        operator of a Connect server sets it.

    Returns
    -------
    SparkSession.Builder
        The same builder.

    Raises
    ------
    TypeError
        The argument is not a builder, for instance an existing session.
    PySparkRuntimeError
        ``WINOPS_SPARK_VERSION``: the package has no JAR for the Spark that starts.
        ``WINOPS_REAL_TIME.SPARK_VERSION``: `real_time`, and that Spark is older than 4.3.

    Examples
    --------
    >>> from pyspark.sql import SparkSession
    >>> from winops import configure
    >>> builder = configure(SparkSession.builder.appName("desk"))
    """
    if not isinstance(builder, SparkSession.Builder):
        raise TypeError(
            "configure takes a SparkSession.Builder, such as SparkSession.builder.appName(...), "
            f"before getOrCreate; it was given a {type(builder).__name__}."
        )
    options = builder._options
    remote = options.get("spark.remote", os.environ.get("SPARK_REMOTE", ""))
    is_remote = remote.startswith("sc://")
    if real_time:
        _set_real_time(builder, is_remote)
    if is_remote:
        return builder
    own = jar_path()
    held = options.get(_SPARK_JARS) or ""
    if _jvm_runs():
        # Without a value of the builder, the session has the JARs that its launcher merged.
        return builder.config(_SPARK_JARS, _with_own(own, held)) if held else builder
    given = _launcher_settings()
    held = held or ("" if _SPARK_JARS in given else _default(_SPARK_JARS))
    jars = _with_own(own, given.get(_SPARK_JARS, ""), held)
    packages = given.get(_PACKAGES) or options.get(_PACKAGES) or _default(_PACKAGES)
    if not packages and _SPARK_JARS not in given:
        return builder.config(_SPARK_JARS, jars)
    # PySpark sets the values of the builder again after the launcher has added its JARs.
    options.pop(_SPARK_JARS, None)
    if given.get(_SPARK_JARS) != jars:
        _add_launcher_option("--jars", jars)
    return builder


def _set_real_time(builder: SparkSession.Builder, is_remote: bool) -> None:
    """Give a builder the settings of real-time mode that it does not have."""
    spark = local_spark()
    # The Spark of a server is known when a query starts, and the server checks it then.
    if not is_remote and tuple(map(int, minor_of(spark).split("."))) < _REAL_TIME_FROM:
        raise no_real_time(spark)
    settings = _REAL_TIME if is_remote else {**_REAL_TIME, **_SHUFFLE_WAIT}
    added = {name: value for name, value in settings.items() if name not in builder._options}
    for name, value in added.items():
        builder.config(name, value)
    if _ALLOWLIST in added:
        _log.warning(
            "real_time=True sets %s to false for the session. Spark then runs operators and "
            "sinks in real-time mode that are not on its list: of winops, and any others.",
            _ALLOWLIST,
        )
    if not is_remote and _context_keeps_rows():
        _log.warning(
            "A Spark context runs already without %s, so the shuffle keeps a row that does not "
            "fill a buffer for up to 50 ms. Start the application with --conf %s=1.",
            _SHUFFLE_WAIT_NAME,
            _SHUFFLE_WAIT_NAME,
        )


def _context_keeps_rows() -> bool:
    """Return true if a Spark context runs whose shuffle keeps rows for its default time."""
    # The client of Spark Connect alone has no such class.
    kind = getattr(pyspark, "SparkContext", None)
    running = None if kind is None else kind._active_spark_context
    return running is not None and running.getConf().get(_SHUFFLE_WAIT_NAME) is None


def _jvm_runs() -> bool:
    """Return true if the JVM of the session runs already, so that no launcher starts it."""
    return "PYSPARK_GATEWAY_PORT" in os.environ or SparkConf()._jconf is not None


def _with_own(own: str, *lists: str) -> str:
    """Return the JARs of several lists without those of winops, and then this package's JAR."""
    jars = [jar.strip() for held in lists for jar in held.split(",")]
    return ",".join([*dict.fromkeys(jar for jar in jars if jar and not _is_winops(jar)), own])


def _is_winops(jar: str) -> bool:
    """Return true for a path or an address whose file has a name of a JAR of winops."""
    return _named(jar) is not None


def _named(jar: str) -> tuple[str, str] | None:
    """Return the minor version of Spark and the version of winops in the name of a JAR."""
    found = _WINOPS_JAR.fullmatch(re.split(r"[/\\]", jar.strip())[-1])
    return (found["minor"], found["version"]) if found else None


def _launcher_words() -> tuple[list[str], list[str]]:
    """Return the options of PySpark's launcher, and the application with its arguments."""
    # PySpark splits the variable in this way on Windows too.
    words = shlex.split(os.environ.get(_SUBMIT_ARGS, _SHELL))
    before = len(words) - words[::-1].index(_SHELL) - 1 if _SHELL in words else len(words)
    return words[:before], words[before:]


def _launcher_settings() -> dict[str, str]:
    """Return the settings in the options of PySpark's launcher."""
    words, _ = _launcher_words()
    spelled = [part for word in words for part in _with_value(word)]
    # Of several options the last one counts, and --jars counts more than --conf.
    by_conf, by_option = {}, {}
    for option, value in pairwise(spelled):
        if option in _OPTIONS:
            by_option[_OPTIONS[option]] = value
        elif option in ("--conf", "-c"):
            name, _, text = value.partition("=")
            by_conf[name] = text
    return {**by_conf, **by_option}


def _add_launcher_option(option: str, value: str) -> None:
    """Add an option to those of PySpark's launcher, after all others."""
    options, application = _launcher_words()
    os.environ[_SUBMIT_ARGS] = shlex.join([*options, option, value, *application])


def _with_value(word: str) -> list[str]:
    """Split ``--option=value``; the value of another option can contain the sign too."""
    return word.split("=", 1) if word.startswith("--") else [word]


def _default(name: str) -> str:
    """Return a setting of ``spark-defaults.conf``, which a value of the builder would replace."""
    folder = Path(os.environ.get("SPARK_CONF_DIR") or spark_home() / "conf")
    file = folder / "spark-defaults.conf"
    return properties_of(file).get(name, "") if file.is_file() else ""


def properties_of(file: Path) -> dict[str, str]:
    """Return the settings of a file such as ``spark-defaults.conf``; the last value counts."""
    # A key ends at a space, an equals sign or a colon, as in any file of Java properties.
    found = map(_SETTING.match, file.read_text(encoding="utf-8").splitlines())
    return {setting["name"]: setting["value"].strip() for setting in found if setting}


def jar_path(spark: str | None = None) -> str:
    """Return the path of the JAR for a version of Spark.

    Parameters
    ----------
    spark : str, optional
        The version, such as ``4.1`` or ``4.1.2``. If it is omitted, it is that of the Spark that
        programs start here: the one in ``SPARK_HOME`` if that is set, otherwise pyspark.

    Returns
    -------
    str
        An absolute path, for ``spark-submit --jars`` and ``spark.jars``.

    Raises
    ------
    PySparkRuntimeError
        ``WINOPS_SPARK_VERSION``: the package has no JAR for this version of Spark.

    Examples
    --------
    >>> from winops import jar_path
    >>> jar_path().endswith(".jar")
    True
    """
    minor = minor_of(spark or local_spark())
    jar = _JARS / f"winops_{minor}_2.13-{package_version()}.jar"
    if not jar.is_file():
        raise _no_jar_for(minor)
    return str(jar.resolve())


def _no_jar_for(minor: str) -> PySparkRuntimeError:
    present = ", ".join(sorted(found.name for found in _JARS.glob("*.jar")))
    return no_jar_for_spark(minor, present or "none", ", ".join(spark_versions()))


def minor_of(spark: str) -> str:
    """Return the minor version, such as ``4.1`` of ``4.1.2``."""
    return ".".join(spark.split(".")[:2])


def local_spark() -> str:
    """Return the version of the Spark that programs start here."""
    return spark_of_home() or pyspark.__version__


def spark_home() -> Path:
    """Return the folder of the Spark that programs start here, as PySpark's launcher does."""
    return Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent)


def spark_of_home() -> str | None:
    """Return the version of the Spark in ``SPARK_HOME``, or None if it is unset or unreadable."""
    named_home = os.environ.get("SPARK_HOME")
    if not named_home:
        return None
    home = Path(named_home)
    for jar in home.glob("jars/spark-core_2.*.jar"):
        named = _CORE.fullmatch(jar.name)
        if named:
            return named["version"]
    # The file of Spark's own distributions.
    release = home / "RELEASE"
    told = _RELEASE.match(release.read_text(encoding="utf-8")) if release.is_file() else None
    return told["version"] if told else None


def package_version() -> str:
    """Return the version of this package, which is also the version of its JAR."""
    # Its modules take longer to load than those of this package.
    from importlib.metadata import version

    return version("winops")


def check_session(session: SparkSession) -> None:
    """Check the Spark and the JAR of the session, once per session.

    A query function of a pipeline (``spark-pipelines``) may run no query. The check is then left
    to the server, which resolves the call.
    """
    if session in _fitting:
        return
    try:
        minor = minor_of(session.version)
        # The JAR refuses SQL, but Spark 3.5 cannot parse the query that calls it.
        jar = jar_version(session) if minor in spark_versions() else None
    except PySparkException as error:
        if error.getCondition() != _IN_PIPELINE:
            raise
        return
    if minor not in spark_versions():
        raise _no_jar_for(minor)
    if jar is None:
        raise jar_missing()
    if jar != package_version():
        raise version_mismatch(package_version(), jar)
    _fitting.add(session)


def jar_version(session: SparkSession) -> str | None:
    """Return the version of the JAR that the session has, or None without a JAR."""
    if not session.catalog.functionExists("winops_version"):
        return None
    # Spark evaluates an inline table during analysis, so no job runs.
    answer = session.sql("VALUES (winops_version())").first()
    return str(answer[0]) if answer else "unknown"
