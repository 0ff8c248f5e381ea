"""Policies in the languages of other products, as they are pasted."""

from __future__ import annotations

from dataclasses import dataclass

from winops import _arguments as arguments


@dataclass(frozen=True)
class Window:
    """A policy's text in a language: what :func:`esper`, :func:`apama` and :func:`spl` give.

    Attributes
    ----------
    dialect : str
        The language: ``esper``, ``apama`` or ``spl``.
    text : str
        The text, which the operator reads inside Spark.

    Examples
    --------
    >>> from winops import esper
    >>> esper("#length(10)")
    Window(dialect='esper', text='#length(10)')
    """

    dialect: str
    text: str


def esper(text: str) -> Window:
    """Take a policy in the language of Esper: one or more data windows, or a whole statement.

    Parameters
    ----------
    text : str
        Such as ``#time(10 min)#unique(device)`` or ``select rstream * from Trade#length(100)``.

    Returns
    -------
    Window
        For :func:`winops.keep`.

    Raises
    ------
    PySparkTypeError
        ``WINOPS_ARGUMENT``: `text` is no text.

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
    return Window("esper", arguments.text("esper", text, "a text such as '#length(100)'"))


def apama(text: str) -> Window:
    """Take a policy in the language of Apama: a window of a stream query, or the whole query.

    Parameters
    ----------
    text : str
        Such as ``within 1.5 every 1.0`` or ``partition by symbol retain 10``.

    Returns
    -------
    Window
        For :func:`winops.keep`.

    Raises
    ------
    PySparkTypeError
        ``WINOPS_ARGUMENT``: `text` is no text.

    Examples
    --------
    >>> from winops import apama, keep
    >>> trades = spark.createDataFrame([(1,), (2,), (3,), (4,), (5,)], "seq long")
    >>> kept = keep(trades, apama("retain 3 every 2"), order_by="seq")
    >>> [row.seq for row in kept.rows().orderBy("seq").collect()]
    [2, 3, 4]
    """
    return Window("apama", arguments.text("apama", text, "a text such as 'within 1.5'"))


def spl(text: str) -> Window:
    """Take a policy in the language of IBM Streams: the window clause of an operator.

    Parameters
    ----------
    text : str
        Such as ``sliding, time(60), count(10), partitioned``, which takes its key from ``per=``,
        or with ``param partitionBy : symbol;`` behind it.

    Returns
    -------
    Window
        For :func:`winops.keep`.

    Raises
    ------
    PySparkTypeError
        ``WINOPS_ARGUMENT``: `text` is no text.

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
    return Window("spl", arguments.text("spl", text, "a text such as 'sliding, count(10)'"))
