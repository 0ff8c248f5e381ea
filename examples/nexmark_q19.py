"""Nexmark query 19: the ten highest bids of each auction, with bids that change.

A tenth of the bids are corrected or withdrawn some time after they were made. Each row of the
stream is an operation on a bid: it inserts, upserts or deletes the bid of its number. A window
of the ten highest bids of each auction, with the next twenty behind it, emits the changes of the
top ten: when one of its bids is withdrawn or lowered, the next one returns. At the end, the
bids that the changes leave in the windows are compared with DuckDB's row_number() over the last
state of all bids.

A correction is an upsert, not an update: a bid that is no longer known, because many higher ones
have come, can still be raised to one of the ten highest.

    python examples/nexmark_q19.py
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

from nexmark_lib.model import Model
from stream_lib.files import read_stream, write_files
from stream_lib.program import arguments, report, run
from stream_lib.sessions import SCRATCH, session
from winops import esper, keep

HIGHEST, BEHIND = 10, 20
SHARE_CHANGED = 0.1
# A bid changes at the latest when so many others have been made.
LONGEST_LAG = 2_000

CHECK = """
WITH last AS (
  SELECT * FROM '{files}'
  QUALIFY row_number() OVER (PARTITION BY bid ORDER BY seq DESC) = 1
)
SELECT auction, bid, bidder, price,
  row_number() OVER (PARTITION BY auction ORDER BY price DESC, bid) AS place
FROM last
WHERE op <> 'delete'
QUALIFY place <= {highest}
"""


def operations(model: Model, events: int) -> pd.DataFrame:
    """Make the bids of the first `events` events, and their corrections and withdrawals."""
    bids = model.bids(0, events)
    rng = np.random.default_rng(model.seed)
    bids.insert(0, "bid", np.arange(len(bids)))
    bids["op"] = "insert"
    bids["order"] = np.arange(len(bids), dtype="float64")
    changed = bids[rng.random(len(bids)) < SHARE_CHANGED].copy()
    changed["op"] = rng.choice(["upsert", "delete"], len(changed))
    corrected = (changed["price"] * rng.uniform(0.5, 2, len(changed))).round().astype("int64")
    changed["price"] = corrected.where(changed["op"] == "upsert", changed["price"])
    changed["order"] += rng.uniform(0.5, LONGEST_LAG, len(changed))
    together = pd.concat([bids, changed]).sort_values("order", ignore_index=True)
    together.insert(0, "seq", np.arange(len(together)))
    return together.drop(columns="order")


def highest(stream: DataFrame) -> DataFrame:
    """Return the changes of each auction's highest bids; of equal ones, the first is higher."""
    return keep(
        stream,
        esper(f"#sort({HIGHEST}, price desc, bid)"),
        per="auction",
        key="bid",
        op="op",
        order_by="seq",
        buffer=BEHIND,
    ).changes(reason=True)


def held(changes: DataFrame) -> pd.DataFrame:
    """Return the bids that the last change of each leaves in the windows, with their places."""
    last = changes.groupBy("auction", "bid").agg(
        F.max_by(F.struct("_change_type", "bidder", "price"), "_change_version").alias("bid_now")
    )
    bids = (
        last.where("bid_now._change_type = 'insert'")
        .select("auction", "bid", "bid_now.bidder", "bid_now.price")
        .toPandas()
        .sort_values(["auction", "price", "bid"], ascending=[True, False, True])
    )
    bids["place"] = bids.groupby("auction").cumcount() + 1
    return bids


def main() -> int:
    """Run the stream; the result is the exit status."""
    args = arguments(__doc__, rows=50_000)
    with TemporaryDirectory(prefix="winops-nexmark-") as work:
        folder = Path(work)
        rows = operations(Model(seed=args.seed), args.rows)
        write_files(rows, args.files, folder / "bids")
        spark = session("Nexmark q19", settings=SCRATCH)
        written = run(highest(read_stream(spark, folder / "bids")), folder)
        returned = written.where("_change_reason = 'returned'")
        print(f"{returned.count():,} bids returned into the ten highest, such as these:\n")
        columns = ["auction", "_change_step", "_change_row", "bid", "price"]
        returned.orderBy(F.desc("price"), "bid", "_change_seq").select(columns).show(5)
        files = folder / "bids" / "*.parquet"
        wanted = duckdb.sql(CHECK.format(files=files, highest=HIGHEST)).df()
        status = report(held(written), wanted, key=["auction", "place"], by="DuckDB")
        spark.stop()
    return status


if __name__ == "__main__":
    sys.exit(main())
