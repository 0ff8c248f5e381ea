"""Nexmark query 9: the winning bid of each auction.

An auction looks up the bids that were made for it, as of the time at which it closes: a window
of the bids of each auction that is as long as the longest auction. Bids at the time of the close
are left out. Of the bids that the window holds, the highest one wins that reaches the reserve and
was made while the auction was open. An auction without such a bid is not sold. There is no join
of each auction with each of its bids, and bids leave when no auction needs them. At the end,
every sold auction is compared with a join and row_number() in DuckDB.

    python examples/nexmark_q9.py
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from nexmark_lib.model import Model
from nexmark_lib.winners import sold
from stream_lib.arrival import and_a_late_end
from stream_lib.files import read_stream, write_files
from stream_lib.program import arguments, report, run
from stream_lib.sessions import SCRATCH, session
from winops import keep

# Of equal bids, the earliest wins.
BEST = """
array_max(transform(
  filter(bids, bid -> bid.at >= opened AND bid.price >= reserve),
  bid -> struct(bid.price AS final, -unix_micros(bid.at) AS early, bid.bidder AS winner)))
"""


def winning(auctions: DataFrame, bids: DataFrame, longest_millis: int) -> DataFrame:
    """Return each sold auction, at its close, with its winning bid."""
    # An auction is known when it is opened, and its time is that of its close.
    offers = auctions.withWatermark("expires", f"{longest_millis} milliseconds")
    bids = bids.withWatermark("at", "0 seconds")
    # A row that is as old as the interval has left.
    recent = keep(bids, f"KEEP {longest_millis + 1} MILLISECONDS", per="auction", time="at")
    closed = recent.lookup(offers, time="expires", before=True, how="inner", contents="bids")
    return (
        closed.withColumn("best", F.expr(BEST))
        .where("best IS NOT NULL")
        .selectExpr("auction", "seller", "expires", "best.winner", "best.final")
    )


def main() -> int:
    """Run the stream; the result is the exit status."""
    args = arguments(__doc__, rows=50_000)
    model = Model(seed=args.seed)
    auctions, bids = model.auctions(0, args.rows), model.bids(0, args.rows)
    with TemporaryDirectory(prefix="winops-nexmark-") as work:
        folder = Path(work)
        offers = and_a_late_end(auctions, "expires", auction=-1)
        write_files(offers, args.files, folder / "auctions")
        write_files(and_a_late_end(bids, "at", auction=-1), args.files, folder / "bids")
        spark = session("Nexmark q9", settings=SCRATCH)
        closed = winning(
            read_stream(spark, folder / "auctions"),
            read_stream(spark, folder / "bids"),
            model.longest_millis,
        )
        written = run(closed, folder)
        print("The five highest winning bids:\n")
        written.orderBy(F.desc("final"), "auction").show(5)
        status = report(written.toPandas(), sold(auctions, bids), key=["auction"], by="DuckDB")
        spark.stop()
    return status


if __name__ == "__main__":
    sys.exit(main())
