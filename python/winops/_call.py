"""The call of the operator: one table function, on classic Spark and on Connect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pyspark.sql import DataFrame

from winops._policy import Policy

Output = Literal["changes", "rows", "snapshots", "events", "agg", "columns", "description"]


@dataclass(frozen=True)
class Call:
    """All that the operator is told, apart from the rows themselves.

    Values travel as arguments of the query and never become part of its text; names of columns
    are quoted.
    """

    policy: Policy
    per: tuple[str, ...]
    order_by: tuple[str, ...]
    options: Mapping[str, int | str]

    def over(
        self,
        df: DataFrame,
        output: Output,
        aggregates: DataFrame | None = None,
        of_windows: Mapping[str, str] | None = None,
        more: Mapping[str, int | str] | None = None,
    ) -> DataFrame:
        """Apply the operator to the rows of `df`; a call that cannot be meant fails here.

        `aggregates` is a query over `df` that says what is to be computed, and is never run;
        `of_windows` says which of several windows each of its columns is of.
        """
        values: dict[str, Any] = {}
        table = f"TABLE({{df}}){_partitioning(self.per, self.order_by, values)}"
        arguments = [table, *self._policy(values)]
        for name, value in {**self.options, **(more or {}), "output": output}.items():
            arguments.append(f"{name} => :{name}")
            values[name] = value
        if self.policy.params:
            arguments.append(f"params => {_params(self.policy, values)}")
        if of_windows is not None:
            arguments.append(f"of_windows => {_struct('column', of_windows, values)}")
        tables = {"df": df}
        if aggregates is not None:
            arguments.append("aggregates => TABLE({aggregates})")
            tables["aggregates"] = aggregates
        query = ["SELECT *", f"FROM keep({', '.join(arguments)})"]
        return df.sparkSession.sql("\n".join(query), args=values, **tables)

    def warnings(self, df: DataFrame, keys: Iterable[str]) -> list[str]:
        """Ask what is valid but hardly meant, given the columns of the rows' primary key."""
        values: dict[str, Any] = {
            "columns": df.columns,
            "per": list(self.per),
            "keys": list(keys),
        }
        params = _params(self.policy, values) if self.policy.params else "NULL"
        query = f"VALUES (winops_warnings(:policy, {params}, :columns, :per, :keys))"
        given: dict[str, None] = {}
        for text in self.policy.texts:
            answer = df.sparkSession.sql(query, args={**values, "policy": text}).first()
            given.update(dict.fromkeys(answer[0] if answer else ()))
        return list(given)

    def _policy(self, values: dict[str, Any]) -> list[str]:
        if self.policy.windows:
            values["dialect"] = self.policy.dialect
            windows = _struct("window", self.policy.windows, values)
            return [f"windows => {windows}", "dialect => :dialect"]
        values["policy"] = self.policy.text
        return [f"{self.policy.dialect} => :policy"]


def _partitioning(per: tuple[str, ...], order_by: tuple[str, ...], values: dict[str, Any]) -> str:
    """Write the clauses of a table argument, in the one form that the parser always takes.

    It reads columns without parentheses as further arguments, and knows no ORDER BY on its own.
    A single partition says nothing of the group, which the policy's text may name.
    """
    by = f"PARTITION BY ({_columns('per', per, values)})" if per else "WITH SINGLE PARTITION"
    if order_by:
        return f" {by} ORDER BY ({_columns('order_by', order_by, values)})"
    return f" {by}" if per else ""


def _params(policy: Policy, values: dict[str, Any]) -> str:
    return _struct("param", policy.params, values)


def _struct(prefix: str, named: Mapping[str, Any], values: dict[str, Any]) -> str:
    """Write named values as a struct whose names and values travel under the prefix."""
    fields = []
    for i, (name, value) in enumerate(named.items()):
        fields.append(f":{prefix}_name_{i}, :{prefix}_value_{i}")
        values[f"{prefix}_name_{i}"] = name
        values[f"{prefix}_value_{i}"] = value
    return f"named_struct({', '.join(fields)})"


def _columns(prefix: str, names: Iterable[str], values: dict[str, Any]) -> str:
    """Write columns, quoted; braces are doubled because the text is formatted once.

    Spark replaces ``${...}`` even within quotes, so that a name with it has to travel as a value.
    """
    columns = []
    for i, name in enumerate(names):
        quoted = f"`{name.replace('`', '``')}`"
        if "${" in name:
            columns.append(f"IDENTIFIER(:{prefix}_{i})")
            values[f"{prefix}_{i}"] = quoted
        else:
            columns.append(quoted.replace("{", "{{").replace("}", "}}"))
    return ", ".join(columns)
