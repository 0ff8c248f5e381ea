"""The expected changes of both windows, in plain SQL (DuckDB).

This module uses neither winops nor Spark. An hour's window follows from two instants of each row,
a window of twenty rows from the row's place among its carrier's.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

INPUT = ("seq", "departure", "origin", "carrier", "flight", "tailnum", "dest", "dep_delay")

# At one instant, all expired rows leave together before a row arrives.
_AIRPORTS = """
CREATE VIEW airports_steps AS
  SELECT 'insert' AS _change_type, departure AS _change_time, 1 + seq AS place, *
  FROM departures WHERE departure < (SELECT instant FROM watermark)
  UNION ALL
  SELECT 'delete', departure + 3600000000, 0, *
  FROM departures WHERE departure + 3600000000 <= (SELECT instant FROM watermark);
CREATE TABLE airports_expected AS
  SELECT _change_type, _change_time,
    dense_rank() OVER (PARTITION BY origin ORDER BY _change_time, place) - 1 AS _change_step,
    row_number() OVER (PARTITION BY origin ORDER BY _change_time, place, seq) - 1 AS _change_seq,
    {columns}
  FROM airports_steps;
CREATE TABLE airports_held AS
  SELECT {columns} FROM departures, watermark
  WHERE departure < instant AND departure + 3600000000 > instant;
"""

# The change time is the time of the batch, which this computation does not know.
_CARRIERS = """
CREATE VIEW numbered AS
  SELECT row_number() OVER (PARTITION BY carrier ORDER BY departure, seq) - 1 AS place, *
  FROM departures;
CREATE TABLE carriers_expected AS
  SELECT 'insert' AS _change_type, place AS _change_step,
    place + greatest(0, place - 20) AS _change_seq, {columns}
  FROM numbered
  UNION ALL
  SELECT 'delete', gone.place + 20, gone.place + 20 + gone.place + 1, {gone}
  FROM numbered AS gone JOIN numbered AS came
    ON came.carrier = gone.carrier AND came.place = gone.place + 20;
CREATE TABLE carriers_held AS
  SELECT {columns} FROM departures
  QUALIFY row_number() OVER (PARTITION BY carrier ORDER BY departure DESC, seq DESC) <= 20;
"""


def expect(data: Path, delay_minutes: int) -> duckdb.DuckDBPyConnection:
    """Compute the expected output of the streams for the files in `data`.

    Parameters
    ----------
    data
        Directory of the departures' Parquet files.
    delay_minutes
        Delay of the watermark. The stream's last watermark is the last departure less it.

    Returns
    -------
    duckdb.DuckDBPyConnection
        With the tables ``<window>_expected`` (change rows) and ``<window>_held`` (rows
        retained at the end) for both windows. Instants are microseconds since the epoch.
    """
    db = duckdb.connect()
    db.read_parquet(str(data / "*.parquet")).create_view("files")
    db.execute(
        "CREATE TABLE departures AS"
        " SELECT * REPLACE (epoch_us(departure) AS departure) FROM files"
    )
    db.execute(
        f"CREATE TABLE watermark AS SELECT max(departure) - {delay_minutes} * 60000000 AS instant"
        " FROM departures"
    )
    columns = ", ".join(INPUT)
    gone = ", ".join(f"gone.{name}" for name in INPUT)
    db.execute(_AIRPORTS.format(columns=columns))
    db.execute(_CARRIERS.format(columns=columns, gone=gone))
    return db
