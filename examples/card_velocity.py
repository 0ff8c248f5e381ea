"""Count and sum of a card's payments in the last minute, hour and day, at each payment.

The output has each payment once, with count and sum over three windows of its card, which
include the payment itself. The three windows share their rows, which are stored once. Payments
arrive up to 40 seconds late and are applied in event-time order; the watermark has a delay of
one minute. At the end, every row is compared with DuckDB's RANGE BETWEEN.

    python examples/card_velocity.py
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import numpy as np
import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from stream_lib.arrival import as_they_arrive
from stream_lib.files import read_stream, write_files
from stream_lib.program import arguments, report, run
from stream_lib.sessions import SCRATCH, session
from winops import keep

WINDOWS = {"m1": "KEEP 1 MINUTE", "h1": "KEEP 1 HOUR", "d1": "KEEP 24 HOURS"}
DELAY_SECONDS, WATERMARK_SECONDS = 40, 60
ROWS_PER_CARD = 100

# A payment that is exactly as old as the period has expired, hence one second less: times are
# whole seconds. The stream ends at its last watermark; later payments still wait.
CHECK = """
SELECT payment, card, ts, amount,
  count(*) OVER m1 AS count_m1, sum(amount) OVER m1 AS sum_m1,
  count(*) OVER h1 AS count_h1, sum(amount) OVER h1 AS sum_h1,
  count(*) OVER d1 AS count_d1, sum(amount) OVER d1 AS sum_d1
FROM '{files}'
WINDOW
  m1 AS (PARTITION BY card ORDER BY ts
         RANGE BETWEEN INTERVAL 59 SECONDS PRECEDING AND CURRENT ROW),
  h1 AS (PARTITION BY card ORDER BY ts
         RANGE BETWEEN INTERVAL 3599 SECONDS PRECEDING AND CURRENT ROW),
  d1 AS (PARTITION BY card ORDER BY ts
         RANGE BETWEEN INTERVAL 86399 SECONDS PRECEDING AND CURRENT ROW)
QUALIFY ts < (SELECT max(ts) FROM '{files}') - INTERVAL {watermark} SECONDS
"""


def payments(rows: int, seed: int) -> pd.DataFrame:
    """Make payments: cards are used in bursts, never twice in a second, amounts are in cents."""
    rng = np.random.default_rng(seed)
    card = np.sort(rng.integers(0, max(1, rows // ROWS_PER_CARD), rows))
    # Whole and half minutes are common, so that payments do get exactly as old as a period.
    pauses = rng.choice([1, 7, 30, 60, 600, 3_600, 20_000, 86_400], rows)
    made = pd.DataFrame({"card": card, "amount": rng.integers(100, 50_000, rows)})
    since = pd.Series(pauses).groupby(card).cumsum()
    made.insert(1, "ts", pd.Timestamp("2026-01-01", tz="UTC") + pd.to_timedelta(since, unit="s"))
    made = made.sort_values(["ts", "card"], ignore_index=True)
    made.insert(0, "payment", np.arange(rows))
    return as_they_arrive(made, "ts", DELAY_SECONDS, rng)


def velocity(stream: DataFrame) -> DataFrame:
    """Add count and sum over each window to each payment."""
    aggregates = {}
    for name in WINDOWS:
        aggregates[f"count_{name}"] = (name, F.count("*"))
        aggregates[f"sum_{name}"] = (name, F.sum("amount"))
    timed = stream.withWatermark("ts", f"{WATERMARK_SECONDS} seconds")
    return (
        keep(timed, WINDOWS, per="card", time="ts")
        .withColumns(aggregates)
        .select("payment", "card", "ts", "amount", *aggregates)
    )


def main() -> int:
    """Run the stream; the result is the exit status."""
    args = arguments(__doc__, rows=10_000)
    with TemporaryDirectory(prefix="winops-cards-") as work:
        folder = Path(work)
        write_files(payments(args.rows, args.seed), args.files, folder / "payments")
        spark = session("card velocity", settings=SCRATCH)
        written = run(velocity(read_stream(spark, folder / "payments")), folder)
        print("The five busiest minutes of a card:\n")
        written.orderBy(F.desc("count_m1"), F.desc("sum_m1"), "payment").show(5)
        files = folder / "payments" / "*.parquet"
        wanted = duckdb.sql(CHECK.format(files=files, watermark=WATERMARK_SECONDS)).df()
        status = report(written.toPandas(), wanted, key=["payment"], by="DuckDB's RANGE")
        spark.stop()
    return status


if __name__ == "__main__":
    sys.exit(main())
