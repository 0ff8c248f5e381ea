"""The errors that the Python package raises, each with its error condition."""

from pyspark.errors import PySparkRuntimeError, PySparkTypeError, PySparkValueError

ARGUMENT = "WINOPS_ARGUMENT"
JAR_MISSING = "WINOPS_JAR_MISSING"
SPARK_VERSION = "WINOPS_SPARK_VERSION"
TEST_PROCESS = "WINOPS_TEST_PROCESS"
VERSION_MISMATCH = "WINOPS_VERSION_MISMATCH"


def wrong_type(message: str) -> PySparkTypeError:
    """Return the error for an argument of an unsupported type."""
    return PySparkTypeError(message=message, errorClass=ARGUMENT, messageParameters={})


def wrong_value(message: str) -> PySparkValueError:
    """Return the error for an invalid argument or an invalid combination of arguments."""
    return PySparkValueError(message=message, errorClass=ARGUMENT, messageParameters={})


def jar_missing() -> PySparkRuntimeError:
    """Return the error for a session without the winops JAR."""
    return PySparkRuntimeError(
        message=(
            "The winops JAR is not part of this Spark session. Build the session with "
            "winops.configure(SparkSession.builder), or start the application with "
            'spark-submit --jars "$(python -m winops jar)". A session that runs already has to '
            "be stopped first. On Spark Connect the JAR belongs to the server: whoever operates "
            "it starts it with the same --jars; a client cannot add it."
        ),
        errorClass=JAR_MISSING,
        messageParameters={},
    )


def jars_replaced(option: str, jars: str, own: str) -> PySparkRuntimeError:
    """Return the error for options of the launcher that leave out the winops JAR."""
    return PySparkRuntimeError(
        message=(
            f"The environment variable PYSPARK_SUBMIT_ARGS sets the JARs of the session with "
            f"{option} to {jars}. They replace spark.jars of the builder, to which configure "
            f"adds the winops JAR. Add {own} to {option} in PYSPARK_SUBMIT_ARGS, or move its "
            "JARs to spark.jars of the builder."
        ),
        errorClass=JAR_MISSING,
        messageParameters={},
    )


def version_mismatch(package: str, jar: str) -> PySparkRuntimeError:
    """Return the error for a JAR of another version than this package."""
    return PySparkRuntimeError(
        message=(
            f"The Python package winops is version {package}, the winops JAR of this Spark "
            f"session is version {jar}. Install winops=={jar}, or give the session the JAR that "
            "`python -m winops jar` prints (`--spark 4.1` for another Spark than the local one) "
            "and remove other winops JARs from spark.jars and $SPARK_HOME/jars."
        ),
        errorClass=VERSION_MISMATCH,
        messageParameters={"package": package, "jar": jar},
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
    # The errors of Spark 3.5 have either a message or a condition.
    if not hasattr(PySparkRuntimeError, "getCondition"):
        return PySparkRuntimeError(f"[{SPARK_VERSION}] {message}")
    return PySparkRuntimeError(
        message=message,
        errorClass=SPARK_VERSION,
        messageParameters={"spark": spark, "present": present},
    )


def test_process(message: str) -> PySparkRuntimeError:
    """Return the error of the process that runs windows for tests."""
    return PySparkRuntimeError(message=message, errorClass=TEST_PROCESS, messageParameters={})
