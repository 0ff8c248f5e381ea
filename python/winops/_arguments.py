"""Checks of arguments in Python, without a session, so that an error is raised at the call."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import timedelta
from decimal import Decimal
from types import UnionType
from typing import ParamSpec, TypeVar, cast

from pyspark.sql import Column, DataFrame

from winops._errors import wrong_type, wrong_value

Names = str | Sequence[str]
SortKeys = str | Column | Sequence[str | Column]
Parameter = int | float | Decimal | str | timedelta

# A value of a column that a restart adds.
Fill = int | float | Decimal | str | bool | None

_MAX_LONG = 2**63 - 1
_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
# Other names of an argument, such as those that other languages use.
_OTHER_NAMES = {"variables": "params", "primary_key": "key", "operation": "op"}
# A sort key as in SQL.
_DIRECTED = re.compile(r"(\S+)\s+((?:asc|desc)(?:\s+nulls\s+(?:first|last))?)", re.IGNORECASE)
_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


def known(function: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
    """Raise the error of a wrong argument for an unknown keyword of a function."""
    parameters = inspect.signature(function).parameters
    keywords = [
        name
        for name, parameter in parameters.items()
        if parameter.kind is not inspect.Parameter.POSITIONAL_ONLY
    ]
    by_place = [name for name, parameter in parameters.items() if parameter.kind in _BY_PLACE]
    takes_any = any(
        parameter.kind is inspect.Parameter.VAR_POSITIONAL for parameter in parameters.values()
    )

    @functools.wraps(function)
    def checked(*given: _Given.args, **named: _Given.kwargs) -> _Result:
        if len(given) > len(by_place) and not takes_any:
            rest = [name for name in keywords if name not in by_place]
            raise wrong_type(_too_many(function.__name__, by_place, rest))
        for name in named:
            if name not in keywords:
                raise wrong_type(_unknown(function.__name__, name, keywords))
        return function(*given, **named)

    return checked


def _too_many(function: str, by_place: Sequence[str], keywords: Sequence[str]) -> str:
    own = [name for name in by_place if name != "self"]
    taken = f"takes only {' and '.join(own)}" if own else "takes no argument"
    rest = ", ".join(f"{keyword}=" for keyword in keywords)
    others = f" Write other arguments with their names: {rest}." if rest else ""
    return f"{function} {taken} without a name.{others}"


def _unknown(function: str, name: str, keywords: Sequence[str]) -> str:
    text = f"{function} has no argument {name}=."
    other = _OTHER_NAMES.get(name)
    if other in keywords:
        return f"{text} Write {other}= instead."
    return f"{text} Its arguments are {', '.join(f'{keyword}=' for keyword in keywords)}."


def names(argument: str, value: object) -> tuple[str, ...]:
    """Read one or several column names, in order; an empty tuple if the argument is omitted."""
    if value is None:
        return ()
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, Sequence) or not all(isinstance(name, str) for name in given):
        raise wrong_type(
            f"{argument}= takes the name of a column or a list of names, not "
            f"{_kind(given)}. Give an expression a name with withColumn first."
        )
    return _not_empty(argument, tuple(given))


def dataframe(subject: str, value: object) -> None:
    """Check for a DataFrame of PySpark; `subject` begins the error message."""
    if not isinstance(value, DataFrame):
        raise wrong_type(f"{subject} takes a {not_dataframe(value)}")


def not_dataframe(value: object) -> str:
    """Say in an error message that a value is no DataFrame of PySpark."""
    kind, module = type(value).__name__, type(value).__module__
    if kind != "DataFrame":
        return f"DataFrame, not {kind}."
    if module.startswith("pyspark.pandas"):
        return "PySpark DataFrame, not a pandas-on-Spark DataFrame: call its method to_spark()."
    library = module.partition(".")[0]
    return (
        f"PySpark DataFrame, not a {library} DataFrame: create one with "
        "spark.createDataFrame(...)."
    )


def pairs(argument: str, value: object) -> dict[str, str]:
    """Read pairs of column names: a dict, or names that both sides have; empty if omitted."""
    if not isinstance(value, Mapping):
        return {name: name for name in names(argument, value)}
    given = {**value}
    if not all(isinstance(name, str) for pair in given.items() for name in pair):
        raise wrong_type(
            f"{argument}= takes the name of a column, a list of names, or a dict of names of the "
            'window\'s columns and names of the other rows\' columns, such as {"card": "payer"}.'
        )
    if not given:
        raise wrong_value(
            f"{argument}= is an empty dict. Name one or more columns, or leave the argument out."
        )
    return given


def grouping(value: Sequence[object]) -> tuple[str, ...]:
    """Read the columns of ``groupBy``: names, or one list of names, as in PySpark."""
    is_list = len(value) == 1 and isinstance(value[0], list | tuple)
    given = cast("Sequence[object]", value[0]) if is_list else value
    named = tuple(name for name in given if isinstance(name, str))
    if len(named) != len(given):
        odd = next(name for name in given if not isinstance(name, str))
        raise wrong_type(
            "groupBy takes names of columns or one list of names, and one of these is of type "
            f"{type(odd).__name__}. Give an expression a name with withColumn first."
        )
    if not named:
        raise wrong_value(
            "groupBy names no column. Name one or more columns, or call agg without groupBy for "
            "aggregates of the whole window."
        )
    return named


def sort_keys(argument: str, value: object) -> tuple[str | Column, ...]:
    """Read sort keys: column names, or columns such as those of ``F.desc``."""
    if value is None:
        return ()
    given = [value] if isinstance(value, str | Column) else value
    if not isinstance(given, Sequence) or not all(isinstance(key, str | Column) for key in given):
        raise wrong_type(
            f'{argument}= takes the name of a column, a column such as F.desc("seq"), or a list '
            f"of these, not {_kind(given, str | Column)}."
        )
    return _not_empty(argument, tuple(given))


def check_directions(argument: str, keys: Sequence[str | Column], df: DataFrame) -> None:
    """Refuse a text such as ``seq desc``, unless a column has this name."""
    for key in (key for key in keys if isinstance(key, str)):
        found = _DIRECTED.fullmatch(key)
        if found and key.lower() not in map(str.lower, df.columns):
            name, direction = found[1], "_".join(found[2].lower().split())
            raise wrong_value(
                f'{argument}= takes names of columns, and "{key}" is not one. For a direction, '
                f'write F.{direction}("{name}").'
            )


_Keys = TypeVar("_Keys", bound="tuple[str | Column, ...]")


def _not_empty(argument: str, given: _Keys) -> _Keys:
    if not given:
        raise wrong_value(
            f"{argument}= is an empty list. Name one or more columns, or leave the argument out."
        )
    return given


def text(argument: str, value: object, meaning: str) -> str:
    """Read a string; `meaning` names the expected value in the error message."""
    if not isinstance(value, str):
        raise wrong_type(f"{argument}= takes {meaning}, not {_kind(value)}.")
    return value


def choice(argument: str, value: object, choices: Collection[str]) -> str:
    """Read one of the allowed strings."""
    if not isinstance(value, str) or value not in choices:
        allowed = " or ".join(f'"{word}"' for word in choices)
        raise wrong_value(f"{argument}= takes {allowed}, not {value!r}.")
    return value


def count(argument: str, value: object) -> int:
    """Read a number of rows, at least 1."""
    number = whole(argument, value)
    if number < 1:
        raise wrong_value(f"{argument}= takes a whole number of at least 1, not {number}.")
    return number


def whole(argument: str, value: object) -> int:
    """Read an integer that fits into a Spark long."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise wrong_type(f"{argument}= takes a whole number, not {_kind(value)}.")
    if abs(value) > _MAX_LONG:
        raise wrong_value(f"{argument}= takes a number of at most {_MAX_LONG}, not {value}.")
    return value


def flag(argument: str, value: object) -> bool:
    """Check for True or False."""
    if not isinstance(value, bool):
        raise wrong_type(f"{argument}= takes True or False, not {_kind(value)}.")
    return value


def interval(argument: str, value: object) -> str:
    """Read an interval; a `timedelta` is converted to text, exact to the microsecond."""
    if not isinstance(value, timedelta):
        return text(argument, value, 'an interval such as "10 minutes" or a timedelta')
    if value <= timedelta(0):
        raise wrong_value(f"{argument}= takes a positive interval, not {value!r}.")
    return _text_of(value)


def _text_of(value: timedelta) -> str:
    parts = (
        (value.days, "days"),
        (value.seconds, "seconds"),
        (value.microseconds, "microseconds"),
    )
    return " ".join(f"{number} {unit}" for number, unit in parts if number) or "0 seconds"


def tolerance(argument: str, value: object) -> str:
    """Read an interval that may be 0; a `timedelta` is converted to text."""
    if not isinstance(value, timedelta):
        return text(argument, value, 'an interval such as "5 seconds" or a timedelta')
    if value < timedelta(0):
        raise wrong_value(f"{argument}= takes an interval of zero or more, not {value!r}.")
    return _text_of(value)


def columns(argument: str, value: Sequence[object]) -> tuple[Column, ...]:
    """Read one or more columns."""
    if not value:
        raise wrong_value(f"{argument} takes one or more aggregates; none is given.")
    given = tuple(column for column in value if isinstance(column, Column))
    if len(given) != len(value):
        odd = next(column for column in value if not isinstance(column, Column))
        raise wrong_type(
            f'{argument} takes columns such as F.avg("price"), not {type(odd).__name__}.'
        )
    return given


def named_columns(argument: str, value: object) -> dict[str, Column]:
    """Read a dict of names and columns."""
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise wrong_type(
            f"{argument} takes a dict of names and columns, not {_kind(value)}. "
            'Write {"mean": F.avg("price")}.'
        )
    return dict(zip(value, columns(argument, list(value.values())), strict=True))


def columns_of_windows(
    argument: str, value: object, windows: Collection[str]
) -> tuple[dict[str, Column], dict[str, str]]:
    """Read a dict of names and pairs of window name and column."""
    shape = (
        f'{argument} takes a dict of names and pairs such as ("{next(iter(windows))}", column)'
    )
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise wrong_type(f"{shape}, not {_kind(value)}.")
    given: dict[str, Column] = {}
    of_windows: dict[str, str] = {}
    for name, pair in value.items():
        if not isinstance(pair, tuple) or len(pair) != 2 or not isinstance(pair[1], Column):
            raise wrong_type(f"{shape}; {name!r} is {_kind(pair)}.")
        window, given[name] = pair
        if not isinstance(window, str) or window not in windows:
            allowed = " or ".join(f'"{known}"' for known in windows)
            raise wrong_value(
                f"{argument} takes the name of a window first in each pair, {allowed}, and "
                f"{name!r} has {window!r}."
            )
        of_windows[name] = window
    if not given:
        raise wrong_value(f"{shape}; none is given.")
    return given, of_windows


def fill(value: Mapping[str, Fill] | None) -> dict[str, Fill]:
    """Check the values of columns that a restart adds."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise wrong_type(f"fill= takes a dict of columns and values, not {type(value).__name__}.")
    for each in value.values():
        if not isinstance(each, int | float | Decimal | str | None):
            raise wrong_type(
                "fill= takes a dict of column names and numbers, strings or booleans."
            )
    return dict(value)


def parameters(value: Mapping[str, Parameter] | None) -> dict[str, int | float | Decimal | str]:
    """Read the values of a policy's named parameters."""
    return {name: _parameter(name, given) for name, given in (value or {}).items()}


def _parameter(name: str, value: object) -> int | float | Decimal | str:
    argument = f"params[{name!r}]"
    if isinstance(value, timedelta):
        return interval(argument, value)
    if isinstance(value, Decimal) and not value.is_finite():
        raise wrong_value(f"{argument}= takes a finite number, not {value}.")
    if isinstance(value, float | Decimal | str):
        return value
    return whole(argument, value)


def _kind(value: object, accepted: type | UnionType = str) -> str:
    kind = type(value).__name__
    if isinstance(value, Sequence) and not isinstance(value, str):
        odd = [type(item).__name__ for item in value if not isinstance(item, accepted)]
        return f"{kind} with {odd[0]}" if odd else kind
    return kind
