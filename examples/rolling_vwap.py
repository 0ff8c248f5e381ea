"""The volume-weighted average price of the last 100 trades of a symbol, at each trade.

The output has each trade once, with the volume-weighted average price (VWAP) of the last 100
trades of its symbol, which include the trade itself, and with its z-score: the number of standard
deviations between its price and the mean. A count window needs neither event time nor a
watermark. At the end, every row is compared with DuckDB's ROWS BETWEEN 99 PRECEDING AND CURRENT
ROW.

    python examples/rolling_vwap.py
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

from stream_lib.files import read_stream, write_files
from stream_lib.program import arguments, report, run
from stream_lib.sessions import SCRATCH, session
from winops import keep

SYMBOLS = np.array(["ALFA", "BETA", "GAMA", "DLTA", "OMGA"])

CHECK = """
SELECT seq, symbol, price,
  sum(price * volume) OVER last / sum(volume) OVER last AS vwap,
  (price - avg(price) OVER last) / nullif(stddev_samp(price) OVER last, 0) AS z
FROM '{files}'
WINDOW last AS (
  PARTITION BY symbol ORDER BY seq ROWS BETWEEN 99 PRECEDING AND CURRENT ROW)
"""


def trades(rows: int, seed: int) -> pd.DataFrame:
    """Make trades: each symbol's price is a random walk, and few symbols have most trades."""
    rng = np.random.default_rng(seed)
    symbol = SYMBOLS[rng.choice(len(SYMBOLS), rows, p=[0.5, 0.25, 0.15, 0.09, 0.01])]
    steps = pd.Series(rng.normal(0, 0.001, rows))
    return pd.DataFrame(
        {
            "seq": np.arange(rows),
            "symbol": symbol,
            "price": (100 * np.exp(steps.groupby(symbol).cumsum())).round(2),
            "volume": 100 * rng.geometric(0.1, rows),
        }
    )


def rolling(stream: DataFrame) -> DataFrame:
    """Add VWAP and z-score to each trade."""
    price, volume = F.col("price"), F.col("volume")
    return (
        keep(stream, "KEEP 100 ROWS PER (symbol)", order_by="seq")
        .withColumns(
            {
                "vwap": F.sum(price * volume) / F.sum(volume),
                # The first trade has no deviation, nor do equal prices.
                "z": F.try_divide(price - F.avg(price), F.stddev(price)),
            }
        )
        .select("seq", "symbol", "price", "vwap", "z")
    )


def main() -> int:
    """Run the stream; the result is the exit status."""
    args = arguments(__doc__, rows=20_000)
    with TemporaryDirectory(prefix="winops-vwap-") as work:
        folder = Path(work)
        write_files(trades(args.rows, args.seed), args.files, folder / "trades")
        spark = session("rolling VWAP", settings=SCRATCH)
        written = run(rolling(read_stream(spark, folder / "trades")), folder)
        print("The five prices farthest from what was usual:\n")
        written.orderBy(F.abs("z").desc()).show(5)
        wanted = duckdb.sql(CHECK.format(files=folder / "trades" / "*.parquet")).df()
        status = report(written.toPandas(), wanted, key=["seq"], by="DuckDB's window functions")
        spark.stop()
    return status


if __name__ == "__main__":
    sys.exit(main())
