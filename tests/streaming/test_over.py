"""Window functions of Spark's own over a stream give the rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession, Window, WindowSpec
from pyspark.sql import functions as F

from tests.support.replay import NewReplay, at, failure
from tests.support.transports import first_cases, longer_on_connect
from winops import read_state
from winops.testing import assert_same

SCHEMA = "seq long, symbol string, ts timestamp, price double"


def by_time() -> WindowSpec:
    # A window needs a session.
    return Window.partitionBy("symbol").orderBy("ts", "seq")


def rows_of(random: Random, first: int, count: int) -> list[tuple[Any, ...]]:
    """Return out-of-order rows over twenty seconds, with ties in time and rows without price."""
    return [
        (
            first + i,
            random.choice("ABC"),
            at(1_000 + random.randrange(20)),
            random.choice([None, *(x / 4 for x in range(9))]),
        )
        for i in range(count)
    ]


@contextmanager
def setting(spark: SparkSession, name: str, value: str) -> Iterator[None]:
    key = f"spark.winops.over.{name}"
    spark.conf.set(key, value)
    try:
        yield
    finally:
        spark.conf.unset(key)


def functions(rows: DataFrame) -> DataFrame:
    return (
        rows.withColumn("mean", F.avg("price").over(by_time().rowsBetween(-4, 0)))
        .withColumn("before", F.lag("price", 2, -1.0).over(by_time()))
        .withColumn("place", F.row_number().over(by_time()))
        .withColumn("change", F.col("price") - F.first("price").over(by_time()))
        .withColumn("next", F.lead("seq").over(by_time()))
    )


def sql(spark: SparkSession) -> Callable[[DataFrame], DataFrame]:
    def of(rows: DataFrame) -> DataFrame:
        rows.createOrReplaceTempView("over_rows")
        return spark.sql(
            """
            SELECT *, sum(price) OVER (PARTITION BY symbol ORDER BY ts) AS total,
              count(*) OVER (PARTITION BY symbol ORDER BY ts
                RANGE BETWEEN INTERVAL 3 SECONDS PRECEDING
                AND INTERVAL 1 SECOND FOLLOWING) AS near,
              rank() OVER (PARTITION BY symbol ORDER BY ts) AS place
            FROM over_rows
            """
        )

    return of


@pytest.mark.parametrize("form", first_cases(["sql", "dataframe"], on_connect=1))
def test_a_flushed_stream_gives_the_rows_of_a_table(
    replay: NewReplay, spark: SparkSession, form: str
) -> None:
    random = Random(7)
    query = functions if form == "dataframe" else sql(spark)
    stream = replay(SCHEMA)
    rows = rows_of(random, 0, 60)
    stream.add(rows[:20], rows[20:50], rows[50:])
    with setting(spark, "atEnd", "flush"):
        stream.run(query(stream.rows(("ts", "1 day"))))
    assert_same(stream.written(), query(stream.table()))


def test_one_operator_for_functions_of_one_order(replay: NewReplay, spark: SparkSession) -> None:
    stream = replay(SCHEMA)
    stream.add(rows_of(Random(1), 0, 20))
    query = stream.run(functions(stream.rows(("ts", "1 second"))))
    assert [o["operatorName"] for o in query.recentProgress[-1]["stateOperators"]] == ["keep"]
    stored = read_state(spark, stream.checkpoint)
    assert {"seq", "price"} <= set(stored.columns)


def test_what_a_stream_cannot_compute_is_refused(replay: NewReplay, spark: SparkSession) -> None:
    stream = replay(SCHEMA)
    stream.add(rows_of(Random(1), 0, 5))
    rows = stream.rows(("ts", "1 second"))
    refused = {
        "ntile": F.ntile(4).over(by_time()),
        "all rows of the partition": F.sum("price").over(Window.partitionBy("symbol")),
        "ascending": F.lag("price").over(Window.partitionBy("symbol").orderBy(F.desc("ts"))),
        "watermark": F.lag("price").over(Window.partitionBy("symbol").orderBy("seq")),
    }
    for reason, column in refused.items():
        with pytest.raises(AnalysisException, match=f"WINOPS_OVER.*{reason}"):
            stream.start(rows.select("*", column.alias("value")))
    with (
        setting(spark, "enabled", "false"),
        pytest.raises(AnalysisException, match="NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING"),
    ):
        stream.start(rows.select("*", F.lag("price").over(by_time()).alias("value")))


@pytest.mark.longer
def test_rows_in_the_order_of_arrival(replay: NewReplay, spark: SparkSession) -> None:
    stream = replay(SCHEMA)
    stream.add(*([(i, "AB"[i % 2], at(1_000 - i), i / 2)] for i in range(6)))
    with setting(spark, "arrivalOrder", "true"):
        before = F.lag("seq").over(Window.partitionBy("symbol").orderBy("seq"))
        stream.run(stream.rows().select("seq", before.alias("before")))
    assert [tuple(row) for row in stream.written().orderBy("seq").collect()] == [
        (i, None if i < 2 else i - 2) for i in range(6)
    ]


@longer_on_connect
def test_rows_without_a_time(replay: NewReplay, spark: SparkSession) -> None:
    stream = replay(SCHEMA)
    stream.add([(1, "A", None, 1.0), (2, "A", at(1), 1.0)], [(3, "A", at(9), 1.0)])
    ordered = Window.orderBy("ts", "seq")

    def place() -> DataFrame:
        rows = stream.rows(("ts", "1 second"))
        return rows.select("seq", F.row_number().over(ordered).alias("place"))

    assert "WINOPS_NULL_TIME" in failure(stream.start(place()))
    with setting(spark, "nullTime", "drop"):
        stream.run(place())
    assert [tuple(row) for row in stream.written().collect()] == [(2, 1)]


RECENT = "OVER (PARTITION BY symbol ORDER BY ts RANGE INTERVAL 3 SECONDS PRECEDING)"

# Functions whose result depends on the values of the frame alone, as texts that a table and a
# stream can be compared by.
OF_SETS = {
    "names": f"array_sort(collect_set(symbol) {RECENT})",
    "rows": f"count(*) {RECENT}",
    "least": f"min(price) {RECENT}",
    "most": f"max(price) {RECENT}",
    "all": f"bool_and(price > 1) {RECENT}",
    "any": f"some(price > 1) {RECENT}",
    "bits": f"bit_xor(seq) {RECENT}",
    "hll": f"hll_sketch_estimate(hll_sketch_agg(seq) {RECENT})",
    "theta": f"theta_sketch_estimate(theta_sketch_agg(seq) {RECENT})",
    "kll": f"kll_sketch_get_n_bigint(kll_sketch_agg_bigint(seq) {RECENT})",
    "about": f"approx_count_distinct(seq) {RECENT}",
    "median": f"percentile_approx(seq, 0.5) {RECENT}",
    "most often": f"mode(price, true) {RECENT}",
    "slope": f"round(regr_slope(seq, seq) {RECENT}, 6)",
    # The replacements that the errors name for last, first and collect_list.
    "last": f"max(struct(ts, seq, price)) {RECENT}.price",
    "first": f"min(struct(ts, seq, price)) {RECENT}.price",
    "list": f"transform(array_sort(collect_set(struct(seq, price)) {RECENT}), row -> row.price)",
}


@longer_on_connect
def test_functions_of_sets_need_no_order_of_rows_with_equal_times(
    replay: NewReplay, spark: SparkSession
) -> None:
    """Above another window function, which leaves rows with equal times without an order."""
    known = {
        name: text
        for name, text in OF_SETS.items()
        if spark.version >= "4.1" or not name.startswith(("theta", "kll"))
    }

    def query(rows: DataFrame) -> DataFrame:
        before = rows.withColumn("before", F.lag("price").over(by_time()))
        return before.withColumns({name: F.expr(text) for name, text in known.items()})

    stream = replay(SCHEMA)
    rows = rows_of(Random(11), 0, 60)
    stream.add(rows[:20], rows[20:50], rows[50:])
    with setting(spark, "atEnd", "flush"):
        stream.run(query(stream.rows(("ts", "1 day"))))
    assert_same(stream.written(), query(stream.table()))


@pytest.mark.parametrize(
    "function", first_cases(["collect_list(price)", "last(price)", "max_by(seq, price)"], 1)
)
def test_the_advice_for_rows_with_equal_times_fits_the_frame(
    replay: NewReplay, function: str
) -> None:
    stream = replay(SCHEMA)
    stream.add(rows_of(Random(1), 0, 5))
    rows = stream.rows(("ts", "1 second")).withColumn("n", F.row_number().over(by_time()))
    with pytest.raises(AnalysisException, match=r"takes one column.*max\(struct\(ts, id, x\)\)"):
        stream.start(rows.withColumn("value", F.expr(f"{function} {RECENT}")))
    frame = RECENT.replace("RANGE INTERVAL 3 SECONDS", "ROWS 3")
    with pytest.raises(AnalysisException, match="Add a column to ORDER BY"):
        stream.start(rows.withColumn("value", F.expr(f"{function} {frame}")))
    # ROWS frames take the column.
    by_seq = F.expr(f"{function} {frame.replace('BY ts', 'BY ts, seq')}")
    stream.run(rows.withColumn("value", by_seq))


def test_range_frames_that_spark_refuses_name_the_form_to_write(replay: NewReplay) -> None:
    stream = replay(SCHEMA)
    stream.add(rows_of(Random(1), 0, 5))
    rows = stream.rows(("ts", "1 second"))
    by_ts = Window.partitionBy("symbol").orderBy("ts")
    with pytest.raises(AnalysisException, match=r"WINOPS_OVER.*RANGE BETWEEN INTERVAL 10"):
        rows.withColumn("value", F.sum("price").over(by_ts.rangeBetween(-300, 0))).collect()
    several = RECENT.replace("BY ts", "BY ts, seq")
    with pytest.raises(AnalysisException, match=r"WINOPS_OVER.*Write ORDER BY ts alone"):
        rows.withColumn("value", F.expr(f"last(price) {several}")).collect()
    # A query over a table keeps Spark's own error.
    with pytest.raises(AnalysisException, match="RANGE_FRAME_INVALID_TYPE"):
        stream.table().select(F.sum("price").over(by_ts.rangeBetween(-300, 0))).collect()


def test_functions_in_python_are_computed_before_the_window(
    replay: NewReplay, spark: SparkSession
) -> None:
    twice = F.udf(lambda price: None if price is None else 2 * price, "double")
    stream = replay(SCHEMA)
    stream.add(rows_of(Random(1), 0, 9))
    rows = stream.rows(("ts", "1 day"))
    refused = {
        r"an argument calls.*withColumn\(\"y\"": F.lag(twice("price")).over(by_time()),
        "an argument calls.*withColumn": F.avg(twice("price")).over(by_time()),
        "PARTITION BY calls.*withColumn": F.lag("price").over(
            Window.partitionBy(twice("price")).orderBy("ts")
        ),
        "ORDER BY calls.*withColumn": F.lag("price").over(
            Window.partitionBy("symbol").orderBy("ts", twice("price"))
        ),
    }
    for reason, column in refused.items():
        with pytest.raises(AnalysisException, match=f"WINOPS_OVER.*{reason}"):
            stream.start(rows.withColumn("value", column))

    def query(rows: DataFrame) -> DataFrame:
        doubled = rows.withColumn("y", twice("price"))
        return doubled.withColumn("value", F.lag("y").over(by_time()))

    with setting(spark, "atEnd", "flush"):
        stream.run(query(rows))
    assert_same(stream.written(), query(stream.table()))


def test_a_column_can_have_the_name_of_an_argument(
    replay: NewReplay, spark: SparkSession
) -> None:
    """Spark computes arguments below the window as ``_w0``, ``_w1``; a user can use the names."""
    stream = replay(SCHEMA)
    stream.add(rows_of(Random(3), 0, 20))
    rows = stream.rows(("ts", "1 day"))
    before = F.lag(F.col("price") * 2).over(by_time()).alias("before")

    def query(rows: DataFrame) -> DataFrame:
        return rows.select("seq", (F.col("seq") * 3).alias("_w0"), before)

    with setting(spark, "atEnd", "flush"):
        stream.run(query(rows))
    assert_same(stream.written(), query(stream.table()))
    # Another value in each evaluation is refused as an argument, and not as a column.
    assert rows.select("ts", F.rand().alias("_w0"), before).columns == ["ts", "_w0", "before"]
    drawn = replay(SCHEMA)
    drawn.add(rows_of(Random(3), 0, 20))
    drawn.run(drawn.rows(("ts", "1 day")).select("ts", (F.rand() < 2).alias("_w0"), before))
    total = F.sum(F.rand()).over(Window.partitionBy("price").orderBy("ts", "seq")).alias("total")
    with pytest.raises(AnalysisException, match=r"WINOPS_OVER.*not deterministic"):
        stream.start(rows.select("ts", before, total))
