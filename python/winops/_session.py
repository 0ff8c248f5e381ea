"""The JAR in a Spark session: adding it, locating it, and checking its version."""

from __future__ import annotations

import os
import re
from importlib.metadata import version
from pathlib import Path
from weakref import WeakSet

import pyspark
from pyspark import SparkConf
from pyspark.sql import SparkSession

from winops._errors import jar_missing, no_jar_for_spark, version_mismatch

_JARS = Path(__file__).parent / "jars"
_SPARK_JARS = "spark.jars"
_SETTING = re.compile(r"\s*(?P<name>[^\s=:#!][^\s=:]*)\s*[=:\s]\s*(?P<value>.*)")
_fitting: WeakSet[SparkSession] = WeakSet()


def configure(builder: SparkSession.Builder) -> SparkSession.Builder:
    """Add this package's JAR to a session that is not built yet.

    It applies to a session that starts its own JVM: a script or notebook run by Python, on any
    master, and the in-process server of ``remote("local")``. Under ``spark-submit`` the
    JVM already runs: pass ``--jars "$(python -m winops jar)"`` there. For a Connect
    server (``remote("sc://...")``) the builder is returned unchanged, because the operator of the
    server installs the JAR.

    Parameters
    ----------
    builder : SparkSession.Builder
        The builder; its ``spark.jars`` are kept, or those of ``spark-defaults.conf``.

    Returns
    -------
    SparkSession.Builder
        The same builder.

    Raises
    ------
    TypeError
        The argument is not a builder, for instance an existing session.
    PySparkRuntimeError
        ``WINOPS_SPARK_VERSION``: the package has no JAR for the installed version of pyspark.

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
    if options.get("spark.remote", os.environ.get("SPARK_REMOTE", "")).startswith("sc://"):
        return builder
    held = options.get(_SPARK_JARS) or SparkConf().get(_SPARK_JARS) or _default(_SPARK_JARS)
    jars = [jar for jar in held.split(",") if jar.strip()]
    if jar_path() not in jars:
        jars.append(jar_path())
    return builder.config(_SPARK_JARS, ",".join(jars))


def _default(name: str) -> str:
    """Return a setting of ``spark-defaults.conf``, which a value of the builder would replace."""
    home = Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent)
    file = Path(os.environ.get("SPARK_CONF_DIR") or home / "conf") / "spark-defaults.conf"
    lines = file.read_text().splitlines() if file.is_file() else []
    # A key ends at a space, an equals sign or a colon, as in any file of Java properties.
    settings = [_SETTING.match(line) for line in lines]
    values = [found["value"] for found in settings if found and found["name"] == name]
    return values[-1].strip() if values else ""


def jar_path() -> str:
    """Return the path of the JAR for the installed version of pyspark.

    Returns
    -------
    str
        An absolute path, for ``spark-submit --jars`` and ``spark.jars``.

    Raises
    ------
    PySparkRuntimeError
        ``WINOPS_SPARK_VERSION``: the package has no JAR for the installed version of pyspark.

    Examples
    --------
    >>> from winops import jar_path
    >>> jar_path().endswith(".jar")
    True
    """
    minor = ".".join(pyspark.__version__.split(".")[:2])
    jar = _JARS / f"winops_{minor}_2.13-{package_version()}.jar"
    if not jar.is_file():
        present = ", ".join(sorted(found.name for found in _JARS.glob("*.jar")))
        raise no_jar_for_spark(minor, present or "none")
    return str(jar.resolve())


def spark_versions() -> list[str]:
    """Return the minor versions of Spark that this package has a JAR for."""
    return sorted(jar.name.split("_")[1] for jar in _JARS.glob("winops_*_2.13-*.jar"))


def package_version() -> str:
    """Return the version of this package, which is also the version of its JAR."""
    return version("winops")


def check_session(session: SparkSession) -> None:
    """Check that the session has the JAR of this version, once per session."""
    if session in _fitting:
        return
    jar = jar_version(session)
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
