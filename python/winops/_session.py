"""How the JAR gets into a Spark session, and whether the one that is there fits this package."""

from __future__ import annotations

import os
from importlib.metadata import version
from pathlib import Path
from weakref import WeakSet

import pyspark
from pyspark import SparkConf
from pyspark.sql import SparkSession

from winops._errors import jar_missing, no_jar_for_spark, version_mismatch

_JARS = Path(__file__).parent / "jars"
_SPARK_JARS = "spark.jars"
_fitting: WeakSet[SparkSession] = WeakSet()


def configure(builder: SparkSession.Builder) -> SparkSession.Builder:
    """Add the JAR that this package brings along to a session that is yet to be built.

    It works for a session that starts its own JVM: a script or notebook run by Python, on any
    master, and the in-process server of ``remote("local")``. Under ``spark-submit`` the
    JVM runs already: pass ``--jars "$(python -m winops jar)"`` there. For a Connect
    server (``remote("sc://...")``) the builder is given back as it is, because a JAR is
    installed by whoever operates the server.

    Parameters
    ----------
    builder : SparkSession.Builder
        Its ``spark.jars`` are kept.

    Returns
    -------
    SparkSession.Builder
        The same builder.

    Raises
    ------
    TypeError
        The argument is no builder, for instance a session that exists already.
    PySparkRuntimeError
        ``WINOPS_SPARK_VERSION``: there is no JAR for the version of pyspark that is installed.

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
    held = options.get(_SPARK_JARS) or SparkConf().get(_SPARK_JARS) or ""
    jars = [jar for jar in held.split(",") if jar.strip()]
    if jar_path() not in jars:
        jars.append(jar_path())
    return builder.config(_SPARK_JARS, ",".join(jars))


def jar_path() -> str:
    """Tell where the JAR for the installed version of pyspark is.

    Returns
    -------
    str
        An absolute path, for ``spark-submit --jars`` and ``spark.jars``.

    Raises
    ------
    PySparkRuntimeError
        ``WINOPS_SPARK_VERSION``: there is no JAR for the version of pyspark that is installed.

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


def package_version() -> str:
    """Tell the version of this package, which is also that of its JAR."""
    return version("winops")


def check_session(session: SparkSession) -> None:
    """Make sure, once per session, that the session has the JAR of this version."""
    if session in _fitting:
        return
    if not session.catalog.functionExists("winops_version"):
        raise jar_missing()
    # An inline table is evaluated while the query is analysed, so that no job has to run.
    answer = session.sql("VALUES (winops_version())").first()
    jar = str(answer[0]) if answer else "unknown"
    if jar != package_version():
        raise version_mismatch(package_version(), jar)
    _fitting.add(session)
