"""Nexmark query 6: the average price of a seller's last ten sold auctions.

One streaming query computes it. Auctions are joined with the bids made while they were open. An
aggregation by auction selects the winning bid and emits it when the watermark has passed the
end of the auction. A window of ten rows for each seller follows, and the output has each sold
auction with the average over the window. The watermark of the auctions is on their end; its
delay is the length of the longest auction, so that no auction is late. At the end, every row is
compared with DuckDB's ROWS BETWEEN 9 PRECEDING AND CURRENT ROW over the same bids.

    python examples/nexmark_q6.py
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from nexmark_lib.model import Model
from nexmark_lib.winners import sold
from stream_lib.arrival import and_a_late_end
from stream_lib.files import read_stream, write_files
from stream_lib.program import arguments, report, run
from stream_lib.sessions import SCRATCH, session
from winops import keep

CHECK = """
SELECT auction, seller, expires, winner, final, avg(final) OVER (
  PARTITION BY seller ORDER BY expires, auction
  ROWS BETWEEN 9 PRECEDING AND CURRENT ROW) AS average
FROM closed
"""


def winning(auctions: DataFrame, bids: DataFrame, longest_millis: int) -> DataFrame:
    """Return each sold auction, at its close, with its winning bid."""
    longest = f"{longest_millis} milliseconds"
    offers = auctions.withWatermark("expires", longest)
    bids = bids.withWatermark("at", "0 seconds").withColumnRenamed("auction", "bid_on")
    # An auction's end and the longest length bound the time for which either side is needed.
    valid = offers.join(
        bids,
        F.expr(
            "auction = bid_on AND price >= reserve AND at >= opened AND at < expires"
            f" AND at >= expires - INTERVAL {longest}"
        ),
    ).select("auction", "seller", "expires", "price", F.unix_micros("at").alias("at"), "bidder")
    # Among equal bids, the earliest wins.
    highest = F.max(F.struct("price", (-F.col("at")).alias("early"), "bidder"))
    return (
        valid.groupBy("auction", "seller", "expires")
        .agg(highest.alias("bid"))
        .selectExpr("auction", "seller", "expires", "bid.bidder AS winner", "bid.price AS final")
    )


def averages(closed: DataFrame) -> DataFrame:
    """Add the average over the seller's last ten sold auctions to each of them."""
    return (
        keep(closed, "KEEP 10 ROWS PER (seller)", time="expires", order_by="auction")
        .withColumns({"average": F.avg("final")})
        .select("auction", "seller", "expires", "winner", "final", "average")
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
        spark = session("Nexmark q6", settings=SCRATCH)
        closed = winning(
            read_stream(spark, folder / "auctions"),
            read_stream(spark, folder / "bids"),
            model.longest_millis,
        )
        written = run(averages(closed), folder)
        print("The last five auctions:\n")
        written.orderBy(F.desc("expires"), "auction").show(5)
        with duckdb.connect() as db:
            db.register("closed", sold(auctions, bids))
            wanted = db.execute(CHECK).df()
        status = report(written.toPandas(), wanted, key=["auction"], by="DuckDB")
        spark.stop()
    return status


if __name__ == "__main__":
    sys.exit(main())
