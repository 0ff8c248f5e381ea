"""The errors that the Python package raises, each with its error condition."""

from typing import TypeVar

import pyspark

from winops._versions import spark_versions

try:
    from pyspark.errors import (
        PySparkException,
        PySparkRuntimeError,
        PySparkTypeError,
        PySparkValueError,
    )
except ImportError as error:
    # An old PySpark lacks PySparkRuntimeError, so this error cannot be one.
    raise ImportError(
        f"[WINOPS_SPARK_VERSION] winops supports Spark {', '.join(spark_versions())}, but this "
        f"is pyspark {pyspark.__version__}. Install a supported version of pyspark."
    ) from error

ARGUMENT = "WINOPS_ARGUMENT"
CLIENT_MISSING = "WINOPS_CLIENT_MISSING"
JAR_MISSING = "WINOPS_JAR_MISSING"
SPARK_VERSION = "WINOPS_SPARK_VERSION"
TEST_PROCESS = "WINOPS_TEST_PROCESS"
VERSION_MISMATCH = "WINOPS_VERSION_MISMATCH"

_Error = TypeVar("_Error", bound=PySparkException)


def with_condition(kind: type[_Error], condition: str, message: str, **parameters: str) -> _Error:
    """Return an error with a condition, on each version of PySpark."""
    if not hasattr(kind, "getCondition"):
        # PySpark 3.5 takes either a message or one of its own conditions.
        return kind(f"[{condition}] {message}")
    return kind(message=message, errorClass=condition, messageParameters=parameters)


def condition_of(error: PySparkException) -> str | None:
    """Return the condition of an error that Spark raised, on each version of PySpark."""
    # PySpark 3.5 has only the former name of the method.
    named = getattr(error, "getCondition", None) or error.getErrorClass
    return named()


def wrong_type(message: str) -> PySparkTypeError:
    """Return the error for an argument of an unsupported type."""
    return with_condition(PySparkTypeError, ARGUMENT, message)


def wrong_value(message: str) -> PySparkValueError:
    """Return the error for an invalid argument or an invalid combination of arguments."""
    return with_condition(PySparkValueError, ARGUMENT, message)


def client_missing(function: str, module: str, extra: str) -> PySparkRuntimeError:
    """Return the error for a client library that is not installed."""
    message = (
        f"{function} needs the Python package {module} on the driver, which is not installed. "
        f'Install it with pip install "winops[{extra}]".'
    )
    return with_condition(PySparkRuntimeError, CLIENT_MISSING, message, module=module)


def jar_missing() -> PySparkRuntimeError:
    """Return the error for a session without the winops JAR."""
    return with_condition(
        PySparkRuntimeError,
        JAR_MISSING,
        (
            "The winops JAR is not part of this Spark session. Build the session with "
            "winops.configure(SparkSession.builder), or start the application with "
            'spark-submit --jars "$(python -m winops jar)". A JVM that runs already cannot '
            "add it: restart Python or the kernel of the notebook first. On Spark Connect the "
            "JAR belongs to the server: whoever operates it starts it with the same --jars; a "
            "client cannot add it."
        ),
    )


def version_mismatch(package: str, jar: str) -> PySparkRuntimeError:
    """Return the error for a JAR of another version than this package."""
    return with_condition(
        PySparkRuntimeError,
        VERSION_MISMATCH,
        (
            f"The Python package winops is version {package}, the winops JAR of this Spark "
            f"session is version {jar}. Install winops=={jar}, or give the session the JAR that "
            "`python -m winops jar` prints (`--spark 4.1` for another Spark than the local one) "
            "and remove other winops JARs from spark.jars and $SPARK_HOME/jars."
        ),
        package=package,
        jar=jar,
    )


def no_jar_for_spark(spark: str, present: str, supported: str) -> PySparkRuntimeError:
    """Return the error for a Spark version without a JAR in this package."""
    message = (
        f"This installation of winops has no JAR for Spark {spark}; it has: {present}. "
        f"winops supports Spark {supported}. Install such a version of pyspark, and let "
        "SPARK_HOME, if it is set, name such a Spark. For a Spark on another machine, name its "
        "version: `python -m winops jar --spark 4.1`. Remove other winops JARs from spark.jars "
        "and $SPARK_HOME/jars. In a checkout, `make jars` builds the JARs."
    )
    return with_condition(
        PySparkRuntimeError, SPARK_VERSION, message, spark=spark, present=present
    )


def test_process(message: str) -> PySparkRuntimeError:
    """Return the error of the process that runs windows for tests."""
    return with_condition(PySparkRuntimeError, TEST_PROCESS, message)
