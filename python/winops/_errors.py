"""The errors that are raised on the Python side, each with its error condition."""

from pyspark.errors import PySparkRuntimeError, PySparkTypeError, PySparkValueError

ARGUMENT = "WINOPS_ARGUMENT"
JAR_MISSING = "WINOPS_JAR_MISSING"
SPARK_VERSION = "WINOPS_SPARK_VERSION"
VERSION_MISMATCH = "WINOPS_VERSION_MISMATCH"


def wrong_type(message: str) -> PySparkTypeError:
    """Make the error for an argument of a type that is not accepted."""
    return PySparkTypeError(message=message, errorClass=ARGUMENT, messageParameters={})


def wrong_value(message: str) -> PySparkValueError:
    """Make the error for an argument, or several together, that cannot be meant."""
    return PySparkValueError(message=message, errorClass=ARGUMENT, messageParameters={})


def jar_missing() -> PySparkRuntimeError:
    """Make the error for a session that does not know winops."""
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


def version_mismatch(package: str, jar: str) -> PySparkRuntimeError:
    """Make the error for a JAR that belongs to another version of this package."""
    return PySparkRuntimeError(
        message=(
            f"The Python package winops is version {package}, the winops JAR of this Spark "
            f"session is version {jar}. Install winops=={jar}, or give the session the JAR that "
            "`python -m winops jar` prints."
        ),
        errorClass=VERSION_MISMATCH,
        messageParameters={"package": package, "jar": jar},
    )


def no_jar_for_spark(spark: str, present: str) -> PySparkRuntimeError:
    """Make the error for a Spark version that this package brings no JAR for."""
    return PySparkRuntimeError(
        message=(
            f"This installation of winops has no JAR for Spark {spark}; it has: {present}. "
            "Install a version of pyspark that winops supports; in a checkout, `make jar` builds "
            "the JAR."
        ),
        errorClass=SPARK_VERSION,
        messageParameters={"spark": spark, "present": present},
    )
