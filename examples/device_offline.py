"""Alerts for devices whose last heartbeat is ten minutes old.

A window holds the last heartbeat of each device for ten minutes. The next heartbeat evicts it.
A heartbeat that expires after ten minutes had no successor, so the device is offline, and its
delete is the alert. The delete has the exact time of expiry, in whichever micro-batch it is
emitted. Heartbeats arrive up to 40 seconds late. At the end, every alert is compared with
DuckDB's lead().

    python examples/device_offline.py
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
from winops import esper, keep

DELAY_SECONDS, WATERMARK_SECONDS = 40, 60
ROWS_PER_DEVICE = 200

# The stream ends at its last watermark and emits no alert after it.
CHECK = """
SELECT device, beat, ts AS last_seen, ts + INTERVAL 10 MINUTES AS offline_at
FROM '{files}'
QUALIFY coalesce(lead(ts) OVER (PARTITION BY device ORDER BY ts) >= offline_at, true)
  AND offline_at <= (SELECT max(ts) FROM '{files}') - INTERVAL {watermark} SECONDS
"""


def heartbeats(rows: int, seed: int) -> pd.DataFrame:
    """Make heartbeats: about one a minute from each device, with pauses now and then."""
    rng = np.random.default_rng(seed)
    device = np.sort(rng.integers(0, max(1, rows // ROWS_PER_DEVICE), rows))
    # A device is offline after exactly ten minutes: the alert precedes the next heartbeat.
    pauses = np.where(
        rng.random(rows) < 0.02,
        rng.choice([400, 599, 600, 601, 3_000], rows),
        rng.integers(50, 71, rows),
    )
    made = pd.DataFrame({"device": device})
    since = pd.Series(pauses).groupby(device).cumsum()
    made["ts"] = pd.Timestamp("2026-01-01", tz="UTC") + pd.to_timedelta(since, unit="s")
    made = made.sort_values(["ts", "device"], ignore_index=True)
    made.insert(0, "beat", np.arange(rows))
    return as_they_arrive(made, "ts", DELAY_SECONDS, rng)


def silences(stream: DataFrame) -> DataFrame:
    """Return an alert for each silence of ten minutes."""
    timed = stream.withWatermark("ts", f"{WATERMARK_SECONDS} seconds")
    return (
        keep(timed, esper("#unique(device)#time(10 min)"), time="ts")
        .deletes()
        .where(F.expr("_change_time = ts + INTERVAL 10 MINUTES"))
        .select(
            "device",
            "beat",
            F.col("ts").alias("last_seen"),
            F.col("_change_time").alias("offline_at"),
        )
    )


def main() -> int:
    """Run the stream; the result is the exit status."""
    args = arguments(__doc__, rows=10_000)
    with TemporaryDirectory(prefix="winops-devices-") as work:
        folder = Path(work)
        write_files(heartbeats(args.rows, args.seed), args.files, folder / "heartbeats")
        spark = session("device offline", settings=SCRATCH)
        written = run(silences(read_stream(spark, folder / "heartbeats")), folder)
        print("The first five alerts:\n")
        written.orderBy("offline_at", "device").show(5)
        files = folder / "heartbeats" / "*.parquet"
        wanted = duckdb.sql(CHECK.format(files=files, watermark=WATERMARK_SECONDS)).df()
        status = report(written.toPandas(), wanted, key=["beat"], by="DuckDB's lead()")
        spark.stop()
    return status


if __name__ == "__main__":
    sys.exit(main())
