"""The call of the operator: a table function, on classic Spark and on Spark Connect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from winops._literals import Value, array, literal, struct
from winops._policy import Policy

Output = Literal[
    "changes", "rows", "snapshots", "events", "agg", "withColumns", "lookup", "describe"
]


@dataclass(frozen=True)
class Lookup:
    """The rows that look windows up.

    `on` maps columns of the group key to columns of `rows`.
    """

    rows: DataFrame
    on: Mapping[str, str]


@dataclass(frozen=True)
class Call:
    """The arguments of the operator, except for the input rows.

    Values are written as literals in hexadecimal, so no character of a value becomes part of the
    query text. Column names are quoted.
    """

    policy: Policy
    per: tuple[str, ...]
    order_by: tuple[str | Column, ...]
    options: Mapping[str, int | str]
    fill: Mapping[str, Value] = field(default_factory=dict)
    key: tuple[str, ...] = ()

    def over(
        self,
        df: DataFrame,
        output: Output,
        aggregates: DataFrame | None = None,
        of_windows: Mapping[str, str] | None = None,
        more: Mapping[str, int | str] | None = None,
        lookup: Lookup | None = None,
    ) -> DataFrame:
        """Apply the operator to the rows of `df`; an invalid call raises an error here.

        `aggregates` is a query over `df` that holds the aggregates to compute and is never run.
        `of_windows` maps each of its columns to one of several windows. `lookup` has the rows
        that look the windows up.
        """
        names = tuple(key for key in self.order_by if isinstance(key, str))
        is_text = len(names) == len(self.order_by)
        table = f"TABLE({{df}}){_partitioning(self.per, names if is_text else ())}"
        arguments = [table, *self._policy()]
        for name, value in {**self.options, **(more or {}), "output": output}.items():
            arguments.append(f"{name} => {literal(value)}")
        if self.policy.params:
            arguments.append(f"params => {struct(self.policy.params)}")
        if self.fill:
            arguments.append(f"fill => {struct(self.fill)}")
        if self.key:
            arguments.append(f"key => {array(self.key)}")
        if of_windows is not None:
            arguments.append(f"of_windows => {struct(of_windows)}")
        tables: dict[str, Any] = {"df": df}
        if lookup is not None:
            arguments.append("lookup => TABLE({lookup})")
            tables["lookup"] = lookup.rows
            if lookup.on:
                arguments.append(f"lookup_on => {struct(lookup.on)}")
        if aggregates is not None:
            arguments.append("aggregates => TABLE({aggregates})")
            tables["aggregates"] = aggregates
        if not is_text:
            # A query over the same rows expresses any sort order that Spark can parse.
            arguments.append("order_by => TABLE({ordered})")
            tables["ordered"] = df.orderBy(*map(_sort_key, self.order_by))
        query = ["SELECT *", f"FROM keep({', '.join(arguments)})"]
        return df.sparkSession.sql("\n".join(query), **tables)

    def warnings(self, df: DataFrame, keys: Iterable[str]) -> list[str]:
        """Return warnings about a valid but unlikely call, given the primary key columns."""
        params = struct(self.policy.params) if self.policy.params else "NULL"
        lists = ", ".join(array(names) for names in (df.columns, self.per, keys))
        given: dict[str, None] = {}
        for text in self.policy.texts:
            query = f"VALUES (winops_warnings({literal(text)}, {params}, {lists}))"
            answer = df.sparkSession.sql(query).first()
            given.update(dict.fromkeys(answer[0] if answer else ()))
        return list(given)

    def _policy(self) -> list[str]:
        if self.policy.windows:
            windows = struct(self.policy.windows)
            return [f"windows => {windows}", f"dialect => {literal(self.policy.dialect)}"]
        return [f"{self.policy.dialect} => {literal(self.policy.text)}"]


def _partitioning(per: tuple[str, ...], order_by: tuple[str, ...]) -> str:
    """Write the clauses of a table argument, in the one form that the parser always accepts.

    The parser reads columns without parentheses as further arguments, and rejects ORDER BY
    without a partitioning clause. ``WITH SINGLE PARTITION`` leaves the group to the policy's
    text.
    """
    by = f"PARTITION BY ({_columns(per)})" if per else "WITH SINGLE PARTITION"
    if order_by:
        return f" {by} ORDER BY ({_columns(order_by)})"
    return f" {by}" if per else ""


def _sort_key(key: str | Column) -> Column:
    return F.col(_quoted(key)) if isinstance(key, str) else key


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def _columns(names: Iterable[str]) -> str:
    """Write quoted column names; braces are doubled because the text is formatted once.

    Spark replaces ``${...}`` even within quotes, so a name that contains it is written as a
    literal.
    """
    columns = []
    for name in names:
        quoted = _quoted(name)
        if "${" in name:
            columns.append(f"IDENTIFIER({literal(quoted)})")
        else:
            columns.append(quoted.replace("{", "{{").replace("}", "}}"))
    return ", ".join(columns)
