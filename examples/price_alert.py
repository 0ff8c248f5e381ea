"""Alerts for prices above the mean of the last trades, milliseconds after a trade.

A window holds the last 100 trades of each symbol. A trade whose price is more than 5 % above
their mean is an alert. The query runs in Spark's real-time mode, so that an alert leaves as soon
as its trade arrives, not with the next micro-batch. The program appends trades to a file at a
constant rate, and the query follows the file. The latency of an alert is the time from the moment
at which the program has the trade to that at which the query has the row of its output. A picture
shows the distribution. At the end, every alert is compared with DuckDB's ROWS BETWEEN.

    ./sbt -Dspark=4.3 jars
    python examples/price_alert.py

It needs Spark 4.3. The source that follows a file is one of the tests of winops, because Spark's
own sources without a broker have no real-time mode; a service would read from Kafka.

One batch of the query lasts longer than all trades take, so that the latencies are those of the
operator and not of the pause between two batches, in which rows wait. A service has such pauses,
fewer with longer batches. The sink is in Python, and gets its rows only when the batch ends: the
program waits for that, and takes the latencies from a column.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TextIO

import duckdb
import numpy as np
import pandas as pd
import pyspark
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.streaming import StreamingQuery

from stream_lib.program import report
from stream_lib.sessions import SCRATCH, session
from winops import keep

ROOT = Path(__file__).resolve().parents[1]
MINOR = ".".join(pyspark.__version__.split(".")[:2])
SOURCE = ROOT / "target" / "jars" / f"winops-test-files_{MINOR}.jar"
SYMBOLS = 50
# The time in seconds by which a batch is longer than the trades take.
SPARE = 10
# The longest time from the last trade to the last alert, in seconds.
PATIENCE = 60
# The share of the alerts at the beginning, while the JVM still compiles, without a latency.
WARM_UP = 1 / 3
LATENCY = "latency_us"

# One slot for the file and one for each of the two tasks of the window.
SETTINGS = {**SCRATCH, "spark.master": "local[3]", "spark.jars": str(SOURCE)}

CHECK = """
SELECT trade, symbol, price, mean
FROM (
  SELECT *, avg(price) OVER (
    PARTITION BY symbol ORDER BY trade ROWS BETWEEN 99 PRECEDING AND CURRENT ROW
  ) AS mean
  FROM made
)
WHERE price > 1.05 * mean
"""


class Alerts:
    """A sink of Spark's `foreach`: a file of lines for each task and batch.

    Spark gives a function of Python its rows when the batch ends, or earlier if they are many.
    The time at which a row left is therefore not taken here but in a column of the query.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self._file: TextIO | None = None

    def open(self, partition: int, batch: int) -> bool:
        """Create the file of a task."""
        self._file = (Path(self._folder) / f"{batch}-{partition}.csv").open("w")
        return True

    def process(self, row: Row) -> None:
        """Write an alert."""
        assert self._file is not None
        self._file.write(",".join(map(str, row)) + "\n")

    def close(self, error: Exception | None) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


def trades(rows: int, seed: int) -> pd.DataFrame:
    """Make trades: prices near the symbol's own one, and one in ten well above it."""
    rng = np.random.default_rng(seed)
    symbol = rng.integers(0, SYMBOLS, rows)
    jump = np.where(rng.random(rows) < 0.1, 1.1, 1.0)
    price = (100 + symbol) * (1 + rng.normal(0, 0.005, rows)) * jump
    # Prices in quarters have exact sums, so that a mean does not depend on their order.
    return pd.DataFrame(
        {"trade": np.arange(rows), "symbol": symbol, "price": np.round(price * 4) / 4}
    )


def alerts(lines: DataFrame) -> DataFrame:
    """Return an alert for each trade above the mean, with its latency in microseconds."""
    parts = F.split("value", ",")
    rows = lines.select(
        parts[0].cast("long").alias("trade"),
        parts[1].cast("int").alias("symbol"),
        parts[2].cast("double").alias("price"),
        parts[3].cast("long").alias("sent_us"),
    )
    return (
        keep(rows, "KEEP 100 ROWS PER (symbol)", order_by="trade")
        .withColumns({"mean": F.avg("price")})
        .where("price > 1.05 * mean")
        # Spark's current_timestamp() is the same in a whole batch; this is the clock of each row.
        .withColumn("left_at", F.expr("java_method('java.time.Instant', 'now')"))
        .selectExpr(
            *("trade", "symbol", "price", "mean"),
            f"unix_micros(CAST(left_at AS TIMESTAMP)) - sent_us AS {LATENCY}",
        )
    )


def feed(made: pd.DataFrame, rate: int, file: Path) -> None:
    """Append trades to a file, each at its own time."""
    began = time.monotonic()
    with file.open("a", buffering=1) as lines:
        for trade, symbol, price in made.itertuples(index=False):
            while (wait := began + trade / rate - time.monotonic()) > 0:
                time.sleep(wait)
            lines.write(f"{trade},{symbol},{price},{time.time_ns() // 1000}\n")


def await_start(query: StreamingQuery, folder: Path, batch: int) -> None:
    """Wait until the tasks of a batch have opened their files, at the latest when it ends."""
    until = time.monotonic() + batch + PATIENCE
    while query.isActive and not any(folder.iterdir()) and time.monotonic() < until:
        time.sleep(0.1)


def written(query: StreamingQuery, folder: Path, count: int) -> pd.DataFrame:
    """Wait for a number of alerts, and return those that have come.

    Raises
    ------
    pyspark.errors.StreamingQueryException
        The query failed.
    """
    until = time.monotonic() + PATIENCE
    while sum(file.read_text().count("\n") for file in folder.iterdir()) < count:
        if not query.isActive or time.monotonic() > until:
            break
        time.sleep(0.5)
    if error := query.exception():
        raise error
    names = ["trade", "symbol", "price", "mean", LATENCY]
    files = [file for file in folder.iterdir() if file.stat().st_size]
    if not files:
        return pd.DataFrame(columns=names)
    return pd.concat([pd.read_csv(file, names=names) for file in files])


def draw(millis: pd.Series, p50: float, p99: float, path: Path) -> None:
    """Write a picture of the distribution of latencies, on a scale of powers of ten."""
    figure = Figure(figsize=(8, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    positive = millis.clip(lower=0.001)
    edges = np.logspace(np.log10(positive.min()), np.log10(positive.max() * 1.01), 60)
    axes.hist(positive, bins=edges, color="#1f6fb2")
    for name, value, colour in (("p50", p50, "#2a9160"), ("p99", p99, "#cf5f36")):
        axes.axvline(value, color=colour, label=f"{name}: {value:.1f} ms")
    axes.set_xscale("log")
    axes.set_xlabel("from a trade to its alert, ms")
    axes.set_ylabel("alerts")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=30_000, help="trades (default: %(default)s)")
    parser.add_argument("--rate", type=int, default=1_000, help="per second (default: 1000)")
    parser.add_argument("--seed", type=int, default=1, help="of the trades (default: 1)")
    parser.add_argument(
        "--picture",
        type=Path,
        default=ROOT / "artifacts" / "price_alert.png",
        help="the file of the picture (default: %(default)s)",
    )
    return parser.parse_args()


def missing() -> str | None:
    """Return what the program needs and does not find."""
    if tuple(map(int, MINOR.split("."))) < (4, 3):
        return f"real-time mode needs Spark 4.3; this is pyspark {pyspark.__version__}"
    if not SOURCE.exists():
        return f"{SOURCE.relative_to(ROOT)} is missing: run ./sbt -Dspark={MINOR} jars"
    return None


def main() -> int:
    """Run the stream; the result is the exit status."""
    args = arguments()
    if problem := missing():
        print(f"price_alert.py: {problem}", file=sys.stderr)
        return 2
    made = trades(args.rows, args.seed)
    batch = math.ceil(args.rows / args.rate) + SPARE
    wanted = duckdb.sql(CHECK).df()
    with TemporaryDirectory(prefix="winops-alerts-") as work:
        folder = Path(work)
        for name in ("trades", "alerts"):
            (folder / name).mkdir()
        spark = session("price alert", settings=SETTINGS, real_time=True)
        # All trades are in one file, so each symbol has one partition of the source.
        lines = spark.readStream.format("winops.testing.FollowedFiles")
        query = (
            alerts(lines.load(str(folder / "trades")))
            .writeStream.foreach(Alerts(folder / "alerts"))
            .option("checkpointLocation", str(folder / "checkpoint"))
            .outputMode("update")
            .trigger(realTime=f"{batch} seconds")
            .start()
        )
        try:
            await_start(query, folder / "alerts", batch)
            feed(made, args.rate, folder / "trades" / "0")
            got = written(query, folder / "alerts", len(wanted))
        finally:
            # Spark logs an error for each task that stop() interrupts. None is a fault.
            spark.sparkContext.setLogLevel("OFF")
            query.stop()
        print("The first five alerts:\n")
        print(got.sort_values("trade").head(5).to_string(index=False), end="\n\n")
        spark.stop()
    status = report(got.drop(columns=LATENCY), wanted, key=["trade"], by="DuckDB's ROWS BETWEEN")
    if status == 0:
        warm = got[got["trade"] >= args.rows * WARM_UP]
        millis = warm[LATENCY] / 1_000
        p50, p99 = millis.quantile([0.5, 0.99])
        draw(millis, p50, p99, args.picture)
        print(f"{len(millis):,} latencies: p50 {p50:.1f} ms, p99 {p99:.1f} ms; {args.picture}")
    return status


if __name__ == "__main__":
    sys.exit(main())
