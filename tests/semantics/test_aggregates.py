"""Aggregates, enriched rows and snapshots of the window contents, through the public API."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from functools import reduce
from typing import Literal

import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.support.replay import NewReplay, at
from tests.support.transports import first_cases, interpreted, same_on_connect
from winops import Kept, WindowPolicy, esper, keep, spl

SCHEMA = "seq long, symbol string, ts timestamp, price double, size int"


def trades(count: int) -> list[tuple]:
    chosen = random.Random(4)
    return [
        (i, chosen.choice("ABC"), at(i * 100), chosen.randrange(50) / 4, chosen.randrange(5))
        for i in range(count)
    ]


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(trades(60), SCHEMA)


def values(frame: DataFrame, *order: str) -> list[tuple]:
    """Return rows as tuples, in the order of columns without NULL."""
    rows = sorted(frame.collect(), key=lambda row: [row[column] for column in order])
    return [tuple(row) for row in rows]


def over_last_three(aggregate: str) -> Column:
    return F.expr(
        f"{aggregate} OVER (PARTITION BY symbol ORDER BY seq ROWS BETWEEN 2 PRECEDING AND "
        "CURRENT ROW)"
    )


def test_withcolumns_equals_a_window_function_of_spark(rows: DataFrame) -> None:
    kept = keep(rows, rows=3, per="symbol", order_by="seq")
    ours = kept.withColumns(
        {
            "mean": F.avg("price"),
            "off": F.col("price") - F.avg("price"),
            "prices": F.collect_list("price"),
            "sizes": F.expr("sum(size) FILTER (WHERE price > 3)"),
        }
    )
    theirs = rows.select(
        "*",
        over_last_three("avg(price)").alias("mean"),
        (F.col("price") - over_last_three("avg(price)")).alias("off"),
        over_last_three("collect_list(price)").alias("prices"),
        over_last_three("sum(IF(price > 3, size, NULL))").alias("sizes"),
    )
    assert ours.columns == theirs.columns
    assert values(ours, "seq") == values(theirs, "seq")


@interpreted
def test_groupby_of_the_group_key_gives_the_key_once(
    spark: SparkSession, rows: DataFrame
) -> None:
    kept = keep(rows, rows=3, per="symbol", order_by="seq")
    plain = kept.agg(F.avg("price").alias("mean"))
    grouped = kept.groupBy("symbol").agg(F.avg("price").alias("mean"))
    assert grouped.columns == plain.columns
    assert values(grouped, "symbol", "_change_seq") == values(plain, "symbol", "_change_seq")
    sizes = kept.groupBy("symbol", "size").agg(F.count("*").alias("n"))
    assert sizes.columns == ["symbol", "_change_time", "_change_seq", "size", "n"]


@interpreted
def test_a_new_column_replaces_the_column_with_its_name(rows: DataFrame) -> None:
    kept = keep(rows, rows=3, per="symbol", order_by="seq")
    replaced = kept.withColumns({"price": F.max("price"), "n": F.count("*")})
    assert replaced.columns == ["seq", "symbol", "ts", "price", "size", "n"]
    theirs = rows.select("seq", over_last_three("max(price)"))
    assert values(replaced.select("seq", "price"), "seq") == values(theirs, "seq")


@interpreted
def test_agg_emits_a_row_for_each_step(rows: DataFrame) -> None:
    kept = keep(rows, rows=3, per="symbol", order_by="seq")
    computed = kept.agg(F.count("*").alias("n"), F.countDistinct("size").alias("sizes"))
    assert computed.columns == ["symbol", "_change_time", "_change_seq", "n", "sizes"]
    last = kept.changes().groupBy("symbol", "_change_step").agg(F.max("_change_seq").alias("s"))
    steps = {(row.symbol, row.s) for row in last.collect()}
    assert {(row.symbol, row["_change_seq"]) for row in computed.collect()} == steps
    assert computed.where("n > 3 OR n < 1 OR sizes > n").count() == 0


@same_on_connect
@interpreted
def test_an_empty_window_has_the_aggregates_of_no_rows(rows: DataFrame) -> None:
    early = rows.where("seq < 3").withColumn("symbol", F.lit("A"))
    late = early.withColumn("ts", F.expr("ts + INTERVAL 1 HOUR")).withColumn("symbol", F.lit("B"))
    kept = keep(early.union(late), "KEEP 1 SECOND", per="symbol", time="ts", order_by="seq")
    computed = kept.agg(F.count("*").alias("n"), F.sum("price").alias("s")).where("symbol = 'A'")
    last = computed.orderBy(F.desc("_change_seq")).first()
    assert last is not None
    assert (last.n, last.s) == (0, None)


@interpreted
def test_mode_latest_emits_the_last_value_of_each_group(rows: DataFrame) -> None:
    kept = keep(rows, rows=3, per="symbol", order_by="seq")
    every = kept.agg(F.sum("price").alias("s"))
    latest = kept.agg(F.sum("price").alias("s"), mode="latest")
    expected = every.groupBy("symbol").agg(F.max_by("s", "_change_seq"))
    assert values(latest.select("symbol", "s"), "symbol") == values(expected, "symbol")
    one = keep(rows, rows=3, order_by="seq").groupBy("symbol").agg(F.count("*"), mode="latest")
    assert one.count() == 3


def test_groupby_aggregates_parts_of_one_window(rows: DataFrame) -> None:
    kept = keep(rows, rows=7, order_by="seq")
    parts = kept.groupBy("symbol").agg(F.sum("price").alias("s"), F.countDistinct("size"))
    whole = kept.agg(F.sum("price").alias("s"), F.count("*").alias("n"))
    assert parts.columns[:3] == ["_change_time", "_change_seq", "symbol"]
    state: dict[str, float] = {}
    sums = {row["_change_seq"]: row.s for row in whole.collect()}
    found = parts.orderBy("_change_seq").collect()
    for sequence in sorted(sums):
        state.update(
            {row.symbol: row.s or 0.0 for row in found if row["_change_seq"] == sequence}
        )
        # Prices are quarters, whose sums are exact.
        assert sum(state.values()) == sums[sequence]


@interpreted
def test_snapshots_contain_the_rows_of_the_window(rows: DataFrame) -> None:
    kept = keep(rows, esper("#sort(2, price)"), per="symbol", order_by="seq")
    contents = kept.snapshots()
    assert contents.columns == ["_change_time", "_change_step", "symbol", "content"]
    for row in contents.where("symbol = 'A'").collect():
        assert len(row.content) <= 2
    with pytest.raises(PySparkException, match="WINOPS_CONTENT_SIZE"):
        kept.snapshots(max_rows=1).collect()


def test_windows_with_reports_emit_aggregates_at_each_report(spark: SparkSession) -> None:
    numbers = spark.range(7).withColumnRenamed("id", "seq")
    tumbling = keep(numbers, spl("tumbling, count(3)"), order_by="seq")
    sliding = keep(numbers, spl("sliding, count(4), count(3)"), order_by="seq")
    assert [r[0] for r in tumbling.agg(F.sum("seq").alias("s")).select("s").collect()] == [3, 12]
    assert [r[0] for r in sliding.agg(F.sum("seq").alias("s")).select("s").collect()] == [3, 14]
    contents = [[r.seq for r in row.content] for row in tumbling.snapshots().collect()]
    assert contents == [[0, 1, 2], [3, 4, 5]]


@interpreted
def test_a_statement_names_its_own_aggregates(rows: DataFrame) -> None:
    text = "select symbol, count(*) as n from S#length(4) group by symbol"
    computed = keep(rows, esper(text), order_by="seq").agg()
    parts = keep(rows, rows=4, order_by="seq").groupBy("symbol").agg(F.count("*").alias("n"))
    order = ("_change_seq", "symbol")
    assert values(computed, *order) == values(parts, *order)
    derived = keep(rows, esper("#length(3)#uni(price)"), order_by="seq").agg()
    assert derived.columns[2:] == [
        "datapoints",
        "total",
        "average",
        "variance",
        "stddev",
        "stddevpa",
    ]


@same_on_connect
def test_aggregates_are_merged_over_all_groups(rows: DataFrame) -> None:
    merged = keep(rows, esper("#groupwin(symbol)#length(2)#merge(symbol)#size"), order_by="seq")
    sizes = [row.size for row in merged.agg().orderBy("_change_seq").collect()]
    assert sizes[0] == 1
    assert sizes[-1] == 6


@interpreted
def test_aggregates_in_sql_equal_those_in_python(rows: DataFrame, spark: SparkSession) -> None:
    query = """
        SELECT * FROM keep(
            TABLE({rows}) PARTITION BY (symbol) ORDER BY (seq),
            'KEEP 3 ROWS',
            output => 'agg',
            aggregates => TABLE(SELECT max(price) - min(price) AS spread FROM {rows}))
    """
    kept = keep(rows, rows=3, per="symbol", order_by="seq")
    spread = (F.max("price") - F.min("price")).alias("spread")
    order = ("symbol", "_change_seq")
    assert values(spark.sql(query, rows=rows), *order) == values(kept.agg(spread), *order)


@pytest.mark.parametrize(
    ("aggregate", "reason"),
    [
        ("max(unix_timestamp())", "not deterministic"),
        ("max(current_timestamp())", "not deterministic"),
    ],
)
def test_aggregates_that_are_not_deterministic_are_refused(
    rows: DataFrame, aggregate: str, reason: str
) -> None:
    kept = keep(rows, rows=3, per="symbol", order_by="seq")
    with pytest.raises(AnalysisException, match=reason) as caught:
        assert kept.agg(F.expr(aggregate)).schema
    assert caught.value.getCondition() == "WINOPS_AGGREGATES"


@pytest.mark.parametrize(
    "other", ["FROM {rows} WHERE size > 1", "FROM range(3)", "FROM {rows} HAVING max(seq) > 1"]
)
def test_aggregates_of_another_table_are_refused(
    rows: DataFrame, spark: SparkSession, other: str
) -> None:
    table = "TABLE({rows}) PARTITION BY (symbol) ORDER BY (seq)"
    aggregates = f"aggregates => TABLE(SELECT count(*) AS n {other})"
    query = f"SELECT * FROM keep({table}, 'KEEP 3 ROWS', output => 'agg', {aggregates})"
    with pytest.raises(AnalysisException, match="WINOPS_AGGREGATES"):
        assert spark.sql(query, rows=rows).schema


@pytest.mark.parametrize(
    "call",
    [
        lambda kept: kept.agg("price"),
        lambda kept: kept.agg(F.sum("price"), mode="newest"),
        lambda kept: kept.withColumns({}),
        lambda kept: kept.withColumns({"a": "price"}),
        lambda kept: kept.withColumns([F.sum("price")]),
        lambda kept: kept.snapshots(max_rows=0),
    ],
)
def test_arguments_are_checked(rows: DataFrame, call: Callable[..., object]) -> None:
    with pytest.raises(PySparkException, match="WINOPS_ARGUMENT"):
        call(keep(rows, rows=3, per="symbol", order_by="seq"))


def test_agg_without_aggregates_is_refused(rows: DataFrame) -> None:
    with pytest.raises(AnalysisException, match=r"WINOPS_ARGUMENT\.MISSING"):
        assert keep(rows, rows=3, order_by="seq").agg().schema


AGGREGATES = (
    "avg(price) AS mean",
    "min(symbol) AS least",
    "count(DISTINCT size) AS sizes",
    "collect_list(seq) AS rows",
    "first(seq) AS first",
)


POLICIES = [
    "KEEP 3 ROWS",
    "KEEP 2 SECONDS",
    esper("#sort(4, price)"),
    esper("#time(1 sec)#length(3)"),
]


@same_on_connect
@pytest.mark.parametrize(
    ("output", "order"),
    [
        (lambda kept: kept.agg(*map(F.expr, AGGREGATES)), ("symbol", "_change_seq")),
        pytest.param(
            lambda kept: kept.withColumns(
                {"mean": F.avg("price"), "rows": F.collect_list("seq")}
            ),
            ("seq",),
            marks=pytest.mark.longer,
        ),
    ],
    ids=["agg", "withColumns"],
)
def test_a_stream_gives_the_aggregates_of_a_table(
    replay: NewReplay,
    spark: SparkSession,
    output: Callable[[Kept], DataFrame],
    order: tuple[str, ...],
) -> None:
    rows = trades(60)
    # Its time expires all waiting rows.
    last = (1_000_000, "Z", at(100_000), 0.0, 0)

    def answered(frame: DataFrame) -> DataFrame:
        """Query all windows at once."""
        answers = (
            output(keep(frame, policy, per="symbol", time="ts", order_by="seq"))
            for policy in POLICIES
        )
        named = (answer.withColumn("policy", F.lit(i)) for i, answer in enumerate(answers))
        return reduce(DataFrame.unionByName, named)

    stream = replay(SCHEMA)
    # The second run is a restart.
    for batches in ([rows[:4], rows[4:30]], [rows[30:34], rows[34:], [last]]):
        stream.add(*batches)
        stream.run(answered(stream.rows(("ts", "0 seconds"))))
    table = answered(spark.createDataFrame([*rows, last], SCHEMA))
    expected, written = (
        values(frame.where("symbol <> 'Z'"), *order) for frame in (table, stream.written())
    )
    for number, policy in enumerate(POLICIES):
        of_policy = [row for row in expected if row[-1] == number]
        assert len(of_policy) >= len(rows)
        assert [row for row in written if row[-1] == number] == of_policy, policy


@same_on_connect
def test_equal_values_form_one_part_and_are_counted_once(spark: SparkSession) -> None:
    rows = spark.sql(
        "SELECT n, x, s COLLATE UTF8_LCASE AS s FROM VALUES (1, 0D, 'a'), (2, -0D, 'A'), "
        "(3, double('NaN'), 'b'), (4, -double('NaN'), 'B') AS t(n, x, s)"
    )
    kept = keep(rows, "KEEP ALL", order_by="n")
    parts = kept.groupBy("x").agg(F.count("*").alias("rows"))
    assert [row.rows for row in parts.orderBy("_change_seq").collect()] == [1, 2, 1, 2]
    counts = kept.withColumns({"xs": F.countDistinct("x"), "texts": F.countDistinct("s")})
    assert values(counts.select("n", "xs", "texts"), "n") == [
        (1, 1, 1),
        (2, 1, 1),
        (3, 2, 2),
        (4, 2, 2),
    ]
    texts = kept.groupBy("s").agg(F.count("*").alias("rows")).orderBy("_change_seq").collect()
    assert [(row.s, row.rows) for row in texts] == [("a", 1), ("A", 2), ("b", 1), ("B", 2)]


@pytest.fixture(scope="module")
def named(spark: SparkSession) -> DataFrame:
    return spark.range(6).selectExpr(
        "id AS seq", "timestamp_millis(id * 400) AS ts", "chr(97 + int(id)) AS name"
    )


def posted(
    named: DataFrame, policy: str, *columns: str, mode: Literal["latest", "changes"] | None = None
) -> list[tuple]:
    """Return columns of `agg()` for a policy with its own aggregates, in order."""
    kept = keep(named, esper(policy), order_by="seq", time="ts")
    order = ["_change_seq", "_change_type"] if mode == "changes" else ["_change_seq"]
    return values(kept.agg(mode=mode).select(*order, *columns), *order)


@same_on_connect
@interpreted
def test_a_size_is_emitted_only_when_it_changes(named: DataFrame) -> None:
    """Rows that replace others, and rows that are deleted on arrival, change no size."""
    sizes = posted(named, "#length(3)#size", "size")
    assert sizes == [(0, 1), (1, 2), (2, 3)]
    timed = posted(named, "#time(1 sec)#size", "size")
    assert [size for _, size in timed] == [1, 2, 3, 2, 3, 2, 3, 2, 3]
    assert posted(named, "#expr(false)#size", "size") == []
    batches = posted(named, "#length_batch(2)#size(name)", "size", "name")
    assert batches == [(1, 2, "b")]
    assert posted(named, "#length(3)#size", "size", mode="latest") == [(2, 3)]
    # Statistics are emitted at each step, even without a change.
    assert len(posted(named, "#length(3)#uni(seq)", "datapoints")) == 6


def test_mode_changes_deletes_the_values_that_it_replaces(named: DataFrame) -> None:
    counted = "count(*) as n, min(seq) as low from S#length(2)"
    both = [
        (0, "delete", 0, None),
        (0, "insert", 1, 0),
        (1, "delete", 1, 0),
        (1, "insert", 2, 0),
        (3, "delete", 2, 0),
        (3, "insert", 2, 1),
    ]
    for selector, chosen in (("irstream", {"insert", "delete"}), ("istream", {"insert"})):
        found = posted(named, f"select {selector} {counted}", "n", "low", mode="changes")
        assert found[: 3 * len(chosen)] == [row for row in both if row[1] in chosen]
    olds = [row for row in both if row[1] == "delete"]
    statement = f"select rstream {counted}"
    assert posted(named, statement, "n", "low", mode="changes")[:3] == olds
    # Without mode="changes", a statement with rstream emits the same values.
    old_values = [(row[0], *row[2:]) for row in olds]
    assert posted(named, statement, "n", "low")[:3] == old_values


@same_on_connect
def test_a_deleted_size_has_the_columns_with_which_it_was_inserted(named: DataFrame) -> None:
    """The deleted size does not include a name that came with a step without a change of size."""
    gap = named.where("seq IN (0, 1, 2, 5)")
    policy = "#length(2)#time(1 sec)#size(name)"
    found = posted(gap, policy, "size", "name", mode="changes")
    deleted = [row[2:] for row in found if row[1] == "delete"]
    inserted = [row[2:] for row in found if row[1] == "insert"]
    assert deleted == [(0, None), *inserted[:-1]]
    assert inserted == [(1, "a"), (2, "b"), (1, "c"), (0, "c"), (1, "f")]


@same_on_connect
@interpreted
def test_each_deleted_value_is_the_one_inserted_before_it(rows: DataFrame) -> None:
    """Each deleted value equals the value inserted before it."""
    kept = keep(rows, "KEEP 4 ROWS", per="symbol", order_by="seq")
    total = F.sum("price").alias("s")
    whole = kept.agg(total, mode="changes")
    assert whole.columns == ["symbol", "_change_type", "_change_time", "_change_seq", "s"]
    parts = kept.groupBy("size").agg(total, mode="changes")
    for frame, key in ((whole, ["symbol"]), (parts, ["symbol", "size"])):
        last: dict[tuple, float | None] = {}
        for row in frame.orderBy("_change_seq", "_change_type").collect():
            group = tuple(row[name] for name in key)
            if row["_change_type"] == "delete":
                assert last.get(group) == row.s
            else:
                last[group] = row.s
    plain = kept.agg(total).select("symbol", "_change_seq", "s")
    inserted = whole.where("_change_type = 'insert'").select("symbol", "_change_seq", "s")
    assert values(plain, "symbol", "_change_seq") == values(inserted, "symbol", "_change_seq")


@pytest.mark.parametrize(
    ("policy", "mode"),
    [
        (spl("sliding, count(3), count(2)"), "changes"),
        (spl("tumbling, count(3)"), "changes"),
        (esper("select rstream count(*) as n from S#length(2)"), "latest"),
    ],
)
def test_a_mode_that_does_not_apply_to_the_window_is_refused(
    rows: DataFrame, policy: WindowPolicy, mode: Literal["latest", "changes"]
) -> None:
    kept = keep(rows, policy, order_by="seq")
    columns = () if mode == "latest" else (F.count("*"),)
    with pytest.raises(AnalysisException) as refused:
        assert kept.agg(*columns, mode=mode).schema
    assert refused.value.getCondition() == "WINOPS_ARGUMENT.VALUE"
    assert "mode" in str(refused.value)


@same_on_connect
def test_a_removed_group_that_returns_starts_without_old_values(
    replay: NewReplay,
) -> None:
    """A group that was removed starts anew, in the same batch as in a later one."""
    batches = [
        [(k, at(t), float(t), s)] for k, t, s in ((1, 0, "X"), (2, 50, "Z"), (1, 100, "Y"))
    ]

    windows = ("#length(3)#uni(v, s)", "#length(3)#size(s)")
    order = ("window", "_change_time", "_change_seq", "_change_type")

    def posted(rows: DataFrame, window: str) -> DataFrame:
        kept = keep(rows, esper(window), per="k", time="ts", order_by="v", idle="5 seconds")
        changes = kept.agg(mode="changes").where("k = 1")
        return changes.withColumn("window", F.lit(window)).select(*order, "s")

    def of_both(rows: DataFrame) -> DataFrame:
        return reduce(DataFrame.unionByName, (posted(rows, window) for window in windows))

    stream = replay("k long, ts timestamp, v double, s string")
    stream.add(*batches, [(2, at(1000), 0.0, "Z")])
    stream.run(of_both(stream.rows(("ts", "0 seconds"))))
    on_stream = values(stream.written(), *order)
    assert on_stream == values(of_both(stream.table()), *order)
    for window in windows:
        texts = [row[-1] for row in on_stream if row[0] == window]
        assert texts.count(None) >= 2, window


LISTS = {
    "select symbol, sum(price) as s from S#groupwin(symbol)#length(2) group by symbol": [
        "symbol",
        "s",
    ],
    "select sum(price) as s, symbol as k, count(*) as n "
    "from S#groupwin(symbol)#length(2) group by symbol": ["s", "k", "n"],
    "select count(*) as n, venue, symbol, sum(price) as s "
    "from S#groupwin(venue, symbol)#length(2) group by symbol, venue": [
        "n",
        "venue",
        "symbol",
        "s",
    ],
    "select upper(symbol) as u, symbol, count(*) as n "
    "from S#groupwin(symbol)#length(2) group by upper(symbol), symbol": ["u", "symbol", "n"],
    "select upper(symbol), count(*) as n "
    "from S#groupwin(upper(symbol))#length(2) group by upper(symbol)": ["upper(symbol)", "n"],
    "select venue, sum(price) as s from S#groupwin(symbol)#length(2) group by venue": [
        "venue",
        "s",
    ],
}
DEALS = [(i, "AABABB"[i], "XYY"[i % 3], float(i)) for i in range(6)]


def values_of_group_by(policy: str, columns: list[str]) -> list[tuple]:
    """Return the values after each row: of the row's part, over the windows of all groups."""
    keys = re.findall(r"groupwin\((.+)\)#", policy)[0].split(", ")
    by = policy.split("group by ")[1].split(", ")
    held: dict[tuple, list[dict]] = {}
    found = []
    for seq, symbol, venue, price in DEALS:
        row = {"seq": seq, "symbol": symbol, "venue": venue, "price": price}
        row["upper(symbol)"] = row["u"] = symbol.upper()
        own = held.setdefault(tuple(row[key] for key in keys), [])
        own.append(row)
        left = own[:-2]
        del own[:-2]
        for part in {tuple(one[key] for key in by) for one in (row, *left)}:
            rows = [
                one
                for group in held.values()
                for one in group
                if tuple(one[key] for key in by) == part
            ]
            known = dict(zip(by, part, strict=True))
            known |= {"k": known.get("symbol"), "u": known.get("upper(symbol)"), "n": len(rows)}
            known["s"] = sum(one["price"] for one in rows) if rows else None
            found.append(tuple(known[column] for column in columns))
    return sorted(found, key=str)


# Each list with one of the modes, then with the other one.
MODES = ("all", "changes")
IN_MODES = [
    (policy, MODES[(number + turn) % 2])
    for turn in range(2)
    for number, policy in enumerate(LISTS)
]


@same_on_connect
@pytest.mark.parametrize(("policy", "mode"), first_cases(IN_MODES, len(LISTS)))
def test_a_select_list_has_its_columns_in_their_order(
    spark: SparkSession, replay: NewReplay, policy: str, mode: Literal["all", "changes"]
) -> None:
    """The key of the window's own group is a column like any other, on tables and streams."""
    columns = LISTS[policy]
    stream = replay("seq long, symbol string, venue string, price double")
    stream.add(DEALS[:2], DEALS[2:])

    def posted(rows: DataFrame) -> DataFrame:
        return keep(rows, esper(policy), order_by="seq").agg(mode=mode)

    stream.run(posted(stream.rows()))
    described = ["_change_type"] if mode == "changes" else []
    for df in (posted(stream.table()), stream.written()):
        assert df.columns == [*described, "_change_time", "_change_seq", *columns]
        now = df.where("_change_type = 'insert'") if described else df
        got = [tuple(row) for row in now.select(*(f"`{c}`" for c in columns)).collect()]
        assert sorted(got, key=str) == values_of_group_by(policy, columns)


def test_a_list_has_the_key_that_the_call_gives(spark: SparkSession) -> None:
    deals = spark.createDataFrame(DEALS, "seq long, symbol string, venue string, price double")
    text = "select symbol, sum(price) as s from S#length(2) group by symbol"
    values = keep(deals, esper(text), per="symbol", order_by="seq").agg()
    assert values.columns == ["_change_time", "_change_seq", "symbol", "s"]
    merged = "#groupwin(symbol)#length(2)#merge(symbol)#uni(price, symbol)"
    assert keep(deals, esper(merged), order_by="seq").agg().columns[-1] == "symbol"
    # Values of each group follow the columns of the group, which are not repeated.
    of_each = keep(deals, esper("#groupwin(symbol)#length(2)#uni(price, symbol, venue)"))
    assert of_each.agg().columns.count("symbol") == 1
    deals.createOrReplaceTempView("deals")
    aliased = spark.sql(
        """
        SELECT * FROM keep(TABLE(deals) PARTITION BY symbol ORDER BY seq,
          policy => 'KEEP 2 ROWS', output => 'agg', aggregates =>
          TABLE(SELECT symbol, symbol AS s, sum(price) AS t FROM deals GROUP BY symbol))
        """
    )
    assert aliased.columns == ["symbol", "_change_time", "_change_seq", "s", "t"]
