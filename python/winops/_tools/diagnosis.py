"""The result of :func:`winops.doctor`: findings, each with its remedy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

_WIDTH = 16


@dataclass(frozen=True)
class Finding:
    """One checked property of an installation or a session.

    Attributes
    ----------
    status : str
        ``ok``; ``warning`` if winops works, but not as well as it could; ``error`` if it does not
        work.
    subject : str
        The checked property, such as ``Java``.
    found : str
        Its value.
    remedy : str
        What to change; empty if the status is ``ok``.

    Examples
    --------
    >>> from winops import Finding
    >>> print(Finding("ok", "Java", "17.0.15"))
    ok       Java            17.0.15
    """

    status: Literal["ok", "warning", "error"]
    subject: str
    found: str
    remedy: str = ""

    def __str__(self) -> str:
        """Return a line with the value, and a second line with the remedy."""
        line = f"{self.status:<9}{self.subject:<{_WIDTH}}{self.found}".rstrip()
        return f"{line}\n{'':9}{self.remedy}" if self.remedy else line


@dataclass(frozen=True)
class Diagnosis:
    """The findings of :func:`winops.doctor`; ``print`` shows them as a table.

    Attributes
    ----------
    findings : tuple of Finding
        The findings, in the order of the checks.

    Examples
    --------
    >>> from winops import Diagnosis, Finding
    >>> diagnosis = Diagnosis((Finding("warning", "state store", "HDFS", "Set RocksDB."),))
    >>> print(diagnosis)
    warning  state store     HDFS
             Set RocksDB.
    errors: 0, warnings: 1
    >>> diagnosis.works
    True
    """

    findings: tuple[Finding, ...]

    @property
    def works(self) -> bool:
        """True if no finding is an error."""
        return _count(self, "error") == 0

    def __str__(self) -> str:
        """Return the findings, and a last line with the number of errors and warnings."""
        return "\n".join([*map(str, self.findings), numbers_of(self)])


def numbers_of(diagnosis: Diagnosis) -> str:
    """Return the last line of a diagnosis: the number of errors and warnings."""
    return f"errors: {_count(diagnosis, 'error')}, warnings: {_count(diagnosis, 'warning')}"


def _count(diagnosis: Diagnosis, status: str) -> int:
    return sum(finding.status == status for finding in diagnosis.findings)
