"""Descriptions of policies and of window functions, as the process for tests writes them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql.types import StructType

from winops._dialects import WindowPolicy
from winops.testing import _process
from winops.testing._rows import Schema

#: The language of window functions of Spark SQL.
OVER = "over"


@dataclass(frozen=True)
class Words:
    """A policy or window functions in words.

    Attributes
    ----------
    text, language : str
        The text, and the language in which it is read.
    sentence : str
        The text in English.
    pieces : tuple of pairs
        The parts of the description, each with its name.
    group : tuple of str
        The columns of the group; the parts of PARTITION BY, which may be no columns.
    columns : StructType
        The columns of the rows.
    time : str or None
        The time column of window functions.
    full : int or None
        The most rows of a group, if the newest rows up to a number stay; otherwise None.
    """

    text: str
    language: str
    sentence: str
    pieces: tuple[tuple[str, str], ...]
    group: tuple[str, ...]
    columns: StructType
    time: str | None
    full: int | None


def words_of(
    policy: str | WindowPolicy, *, per: Sequence[str] = (), schema: Schema | None = None
) -> Words:
    """Validate a policy or window functions over columns, and return the description.

    Without `schema`, a policy is over the columns of sample rows, and window functions are over
    columns with the names in their text.

    Raises
    ------
    AnalysisException
        ``WINOPS_POLICY`` and other conditions, as for :func:`winops.keep`; ``WINOPS_OVER_TEXT``:
        the text of window functions is not valid; ``WINOPS_OVER``: a stream cannot compute them.
    """
    text = policy if isinstance(policy, str) else policy.text
    given = {} if isinstance(policy, str) else {"language": policy.dialect}
    columns = {} if schema is None else {"schema": schema}
    reply = _process.PROCESS.request("explain", text=text, per=list(per), **given, **columns)
    return Words(
        text,
        reply["language"],
        reply["sentence"],
        tuple((name, words) for name, words in reply["pieces"]),
        tuple(reply["group"]),
        StructType.fromJson(json.loads(reply["schema"])),
        reply.get("time"),
        reply.get("fullRows"),
    )
