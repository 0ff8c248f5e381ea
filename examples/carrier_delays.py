"""Each departure's delay, beside the last 20 departures of its carrier.

`compared` is written with Spark's own window functions. It runs over a table and, unchanged,
over a stream of the same rows. It does not name winops: the extension of the session turns the
window functions of a stream into its operator. At the end, the rows of the stream are compared
with those of the table.

    python examples/carrier_delays.py
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from flights_lib.departures import departures
from stream_lib.files import read_stream, write_files
from stream_lib.program import arguments, report, run
from stream_lib.sessions import SCRATCH, session


def compared(flights: DataFrame) -> DataFrame:
    """Add the delays of the carrier's departures before each departure."""
    of_carrier = Window.partitionBy("carrier").orderBy("departure", "seq")
    last_20 = of_carrier.rowsBetween(-20, -1)
    usual = F.avg("dep_delay").over(last_20)
    return flights.select(
        "seq",
        "departure",
        "carrier",
        "flight",
        "dep_delay",
        usual.alias("usual_delay"),
        F.max("dep_delay").over(last_20).alias("worst_delay"),
        F.lag("dep_delay").over(of_carrier).alias("previous_delay"),
        (F.col("dep_delay") - usual).alias("more_than_usual"),
    )


def main() -> int:
    """Run the stream and the table; the result is the exit status."""
    args = arguments(__doc__, rows=50_000)
    # The rows of the whole stream: at the end, the last ones do not wait for the watermark.
    settings = SCRATCH | {"spark.winops.over.atEnd": "flush"}
    with TemporaryDirectory(prefix="winops-delays-") as work:
        folder = Path(work)
        write_files(departures().head(args.rows), args.files, folder / "flights")
        spark = session("delays of carriers", settings=settings)
        stream = read_stream(spark, folder / "flights").withWatermark("departure", "1 hour")
        written = run(compared(stream), folder)
        print("The departures that were latest, compared with the 20 before:\n")
        written.orderBy(F.desc("more_than_usual")).show(5)
        table = compared(spark.read.parquet(str(folder / "flights")))
        status = report(
            written.toPandas(), table.toPandas(), key=["seq"], by="Spark over a table"
        )
        spark.stop()
    return status


if __name__ == "__main__":
    sys.exit(main())
