"""Policies in the languages of other products: Esper, Apama and IBM Streams."""

from __future__ import annotations

from dataclasses import dataclass

from winops import _arguments as arguments


@dataclass(frozen=True)
class WindowPolicy:
    """A policy text with its language; :func:`esper`, :func:`apama` and :func:`spl` return it.

    Attributes
    ----------
    dialect : str
        The language: ``esper``, ``apama`` or ``spl``.
    text : str
        The policy text. The operator parses it inside Spark.

    Examples
    --------
    >>> from winops import esper
    >>> esper("#length(10)")
    WindowPolicy(dialect='esper', text='#length(10)')
    """

    dialect: str
    text: str


def esper(text: str) -> WindowPolicy:
    """Make a policy in the language of Esper: one or more data windows, or a whole statement.

    Parameters
    ----------
    text : str
        For example ``#time(10 min)#unique(device)`` or ``select rstream * from
        Trade#length(100)``.

    Returns
    -------
    WindowPolicy
        The policy, to pass to :func:`winops.keep`.

    Raises
    ------
    PySparkTypeError
        ``WINOPS_ARGUMENT``: `text` is not a string.

    Examples
    --------
    >>> from winops import esper, keep
    >>> readings = spark.createDataFrame(
    ...     [(1, "a", 20.5), (2, "b", 21.0), (3, "a", 20.7)],
    ...     "seq long, device string, celsius double",
    ... )
    >>> kept = keep(readings, esper("#unique(device)"), order_by="seq")
    >>> [row.seq for row in kept.rows().orderBy("seq").collect()]
    [2, 3]
    """
    return WindowPolicy("esper", arguments.text("esper", text, "a text such as '#length(100)'"))


def apama(text: str) -> WindowPolicy:
    """Make a policy in the language of Apama: the window of a stream query, or the whole query.

    Parameters
    ----------
    text : str
        For example ``within 1.5 every 1.0`` or ``partition by symbol retain 10``.

    Returns
    -------
    WindowPolicy
        The policy, to pass to :func:`winops.keep`.

    Raises
    ------
    PySparkTypeError
        ``WINOPS_ARGUMENT``: `text` is not a string.

    Examples
    --------
    >>> from winops import apama, keep
    >>> trades = spark.createDataFrame([(1,), (2,), (3,), (4,), (5,)], "seq long")
    >>> kept = keep(trades, apama("retain 3 every 2"), order_by="seq")
    >>> [row.seq for row in kept.rows().orderBy("seq").collect()]
    [2, 3, 4]
    """
    return WindowPolicy("apama", arguments.text("apama", text, "a text such as 'within 1.5'"))


def spl(text: str) -> WindowPolicy:
    """Make a policy in the language of IBM Streams (SPL): the window clause of an operator.

    Parameters
    ----------
    text : str
        For example ``sliding, time(60), count(10), partitioned``, with the group key in ``per=``;
        or with ``param partitionBy : symbol;`` appended.

    Returns
    -------
    WindowPolicy
        The policy, to pass to :func:`winops.keep`.

    Raises
    ------
    PySparkTypeError
        ``WINOPS_ARGUMENT``: `text` is not a string.

    Examples
    --------
    >>> from winops import keep, spl
    >>> trades = spark.createDataFrame([(1,), (2,), (3,), (4,), (5,)], "seq long")
    >>> kept = keep(trades, spl("sliding, count(3), count(2)"), order_by="seq")
    >>> for row in kept.snapshots().orderBy("_change_step").collect():
    ...     print([trade.seq for trade in row.content])
    [1, 2]
    [2, 3, 4]
    """
    return WindowPolicy("spl", arguments.text("spl", text, "a text such as 'sliding, count(10)'"))
