"""The errors that stop queries, and a check that they name the cause."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JError

# The beginning of FaultyFileSystem's message for an ordered failure.
ORDERED = "ordered to fail: "
# Spark 4.1.2 with a Kafka source fails once with it, after the first repeated batch.
KAFKA_METRICS = "NullPointerException in KafkaMicroBatchStream$.metrics"

_CONDITION = re.compile(r"[A-Z][A-Z0-9_]*(\.[A-Z0-9_]+)*")
# Errors that only report a failure and leave the reason to their causes.
_WRAPPERS = frozenset(
    {
        "org.apache.spark.SparkException",
        "org.apache.spark.sql.streaming.StreamingQueryException",
        "java.util.concurrent.ExecutionException",
    }
)
# Exceptions of readers for truncated, missing or altered files.
_BROKEN_FILE = frozenset(
    {
        "java.io.EOFException",
        "java.io.FileNotFoundException",
        "java.io.IOException",
        "java.io.UTFDataFormatException",
        "java.nio.charset.MalformedInputException",
        "java.nio.file.NoSuchFileException",
        "java.util.zip.ZipException",
        "com.fasterxml.jackson.core.JsonParseException",
        "com.fasterxml.jackson.core.io.JsonEOFException",
        "com.fasterxml.jackson.databind.exc.MismatchedInputException",
        "net.jpountz.lz4.LZ4Exception",
        "org.apache.hadoop.fs.ChecksumException",
        "org.json4s.MappingException",
        "org.rocksdb.RocksDBException",
    }
)
# Exceptions of Spark's logs for a truncated file.
_BROKEN_LOG = re.compile(
    r"IllegalStateException in (CommitLog|OffsetSeqLog|HDFSMetadataLog)\.\w+"
    r"|\w+Exception in QueryExecutionErrors\$\.(malformedLogFile|logVersion\w+)"
)


@dataclass(frozen=True)
class Cause:
    """One exception of a chain.

    Attributes
    ----------
    type
        The name of its class.
    condition
        Its error condition, if it has one.
    place
        The class and method that threw it, without those of Java and Scala.
    text
        The beginning of its message.
    """

    type: str
    condition: str | None
    place: str
    text: str

    def __str__(self) -> str:
        if self.condition:
            return self.condition
        name = self.type.rpartition(".")[2]
        # A java.lang exception may come from any code, so the place is added.
        return f"{name} in {self.place}" if self.type.startswith("java.lang.") else name

    @property
    def wraps(self) -> bool:
        """True if the exception itself names no cause."""
        return self.type in _WRAPPERS and (
            self.condition is None or self.condition == "STREAM_FAILED"
        )

    @property
    def named(self) -> bool:
        """True if its name identifies the problem, such as a state, a file or a query."""
        if self.condition:
            internal = self.condition.startswith("INTERNAL_ERROR")
            return not internal and _CONDITION.fullmatch(self.condition) is not None
        return self.type in _BROKEN_FILE or _BROKEN_LOG.fullmatch(str(self)) is not None

    @property
    def was_ordered(self) -> bool:
        """True if it is the failure that the campaign ordered, not a consequence of it."""
        return self.type == "java.io.IOException" and self.text.startswith(ORDERED)


def flaw(causes: Sequence[Cause], *, ordered: bool) -> str | None:
    """Describe the flaw of an error: unnamed causes, or causes other than the ordered one."""
    unnamed = [str(cause) for cause in causes if not (cause.named or cause.wraps)]
    if unnamed:
        return f"no name of an error: {', '.join(unnamed)}; {shown(causes)}"
    if all(cause.wraps for cause in causes):
        return f"nothing is named: {shown(causes)}"
    if ordered and not any(cause.was_ordered for cause in causes):
        return f"not what was ordered: {shown(causes)}"
    return None


def shown(causes: Iterable[Cause]) -> str:
    """Return the names of a chain, outermost first."""
    return " > ".join(map(str, causes))


def chain(failure: Any) -> list[Cause]:
    """Parse a Java exception and its causes, outermost first."""
    found = []
    while failure is not None:
        found.append(
            Cause(
                failure.getClass().getName(),
                _condition(failure),
                _place(failure),
                (failure.getMessage() or "")[:200],
            )
        )
        failure = failure.getCause()
    return found


def causes_of(causes: Iterable[Mapping[str, Any]]) -> list[Cause]:
    """Parse the causes in a driver's event."""
    return [Cause(**cause) for cause in causes]


def _condition(failure: Any) -> str | None:
    try:
        condition = failure.getCondition()
    except Py4JError:
        return None
    return None if condition is None else str(condition)


def _place(failure: Any) -> str:
    for frame in failure.getStackTrace():
        if not frame.getClassName().startswith(("java.", "scala.")):
            return f"{frame.getClassName().rpartition('.')[2]}.{frame.getMethodName()}"
    return "no place"
