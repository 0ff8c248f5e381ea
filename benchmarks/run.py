"""Measures the operator against the minimum cost of a keyed, ordered stream in Spark.

    python benchmarks/run.py
    python benchmarks/run.py w1 --batches 9
    python benchmarks/run.py w1 --rows 2000 --keys 10 --batches 2 --warm-up 1
    python benchmarks/run.py w5-size w8

Without a name it measures w1, the changes of many windows, and w5, aggregates over the same
windows. The workloads of w5-size differ in the length of their windows, and their times per row
are compared. w8 is Nexmark's query 6 over the sold auctions.

Each round gives the same micro-batch to all running queries, one after another: winops'
``keep``, the workload's floor (see floors.py) and the selected peers. The queries write to the
null sink. The ratio compares ``addBatch``, the part of a micro-batch that depends on rows: it
includes reading, shuffle, sort, windows and the commit of state. Writing the offset and commit
logs takes the same short time on all sides and would only draw the ratio towards one. The JSON
also contains the whole time of a micro-batch.

The machine should be idle otherwise.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path

from pyspark.sql import SparkSession

from measure import FLOOR, WINOPS, measure
from peers import PEER_HEAP, PEERS, Peer, ProcessPeer, SparkPeer
from results import write
from sessions import session
from sides import FloorSide, PeerQuerySide, ProcessSide, QuerySide, Side
from workloads import HEADLINE, WORKLOADS, Workload

ROOT = Path(__file__).resolve().parents[1]
BATCHES_WITHOUT_ROWS = "spark.sql.streaming.noDataMicroBatches.enabled"
# These peers take half a minute and more for the work that the others do in one second.
SLOW = ("pandas", "evictor")


def _chosen_peers(text: str | None) -> list[Peer]:
    """Return the built peers that `text` selects, by speed or by parts of names."""

    def is_meant(peer: Peer) -> bool:
        is_slow = any(part in peer.name.lower() for part in SLOW)
        if text in ("fast", "slow"):
            return is_slow == (text == "slow")
        return text is not None and any(part in peer.name for part in text.split("; "))

    return [peer for peer in PEERS if peer.is_built and is_meant(peer)]


def _does(peer: Peer, workload: Workload) -> bool:
    job = workload.job
    rows = job.size if job and job.kind != "time" else 0
    return (
        job is not None
        and job.kind in peer.jobs
        and rows <= (peer.longest or rows)
        and workload.keys <= (peer.most_keys or workload.keys)
    )


def _side(peer: Peer, spark: SparkSession, workload: Workload, work: Path, heap: str) -> Side:
    job = workload.job
    assert job is not None
    if isinstance(peer, SparkPeer):
        return PeerQuerySide(peer, job, spark, workload, work)
    assert isinstance(peer, ProcessPeer)
    return ProcessSide(peer, job, workload, heap)


def _changed(workload: Workload, args: argparse.Namespace) -> Workload:
    given = {
        "rows": args.rows if workload.rows else None,
        "keys": args.keys if workload.keys else None,
        "warm_up": args.warm_up,
        "fill": tuple(min(size, args.rows) for size in workload.fill) if args.rows else None,
    }
    return replace(
        workload, **{name: value for name, value in given.items() if value is not None}
    )


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def main() -> None:
    """Measure the selected workloads."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=", ".join(WORKLOADS))
    parser.add_argument("--batches", type=int, default=7, help="timed rounds (default: 7)")
    parser.add_argument("--rows", type=int, help="rows per micro-batch")
    parser.add_argument("--keys", type=int, help="number of keys")
    parser.add_argument("--warm-up", type=int, help="rounds before the first timed one")
    parser.add_argument(
        "--peers",
        help="what else to run: fast, slow, or parts of names (see peers), by semicolons",
    )
    parser.add_argument(
        "--conf",
        metavar="NAME=VALUE",
        type=_setting,
        action="append",
        default=[],
        help="a setting of Spark's, for all sides; may be given several times",
    )
    parser.add_argument(
        "--heap", default=PEER_HEAP, help="of each peer that is a process (default: %(default)s)"
    )
    parser.add_argument("--name", default="results", help="of the files of results")
    artifacts = ROOT / "artifacts" / "benchmarks"
    parser.add_argument("--data", type=Path, default=artifacts / "data", help="input files")
    parser.add_argument("--out", type=Path, default=artifacts, help="where the results go")
    args = parser.parse_args()
    unknown = set(args.workloads) - set(WORKLOADS)
    if unknown:
        parser.error(
            f"no workload {', '.join(sorted(unknown))}; there are {', '.join(WORKLOADS)}"
        )

    named = [each for name in args.workloads for each in WORKLOADS[name]]
    chosen = [_changed(workload, args) for workload in named or HEADLINE]
    peers = _chosen_peers(args.peers)
    settings = dict(args.conf)
    spark = session(chosen[0].partitions, settings)
    results = []
    for workload in chosen:
        spark.conf.set("spark.sql.shuffle.partitions", workload.partitions)
        spark.conf.set(BATCHES_WITHOUT_ROWS, "false" if workload.is_steady else "true")
        with tempfile.TemporaryDirectory(prefix="winops-bench-") as work:
            sides: list[Side] = [
                QuerySide(WINOPS, spark, workload, Path(work)),
                FloorSide(FLOOR, spark, workload, Path(work)),
                *[
                    _side(peer, spark, workload, Path(work), args.heap)
                    for peer in peers
                    if _does(peer, workload)
                ],
            ]
            results.append(measure(workload, sides, args.batches, args.data))
            # Results are written after each workload, so an abort loses only the current one.
            table = write(results, spark, args.out, args.name, peers, settings)
    print("\n" + table)
    spark.stop()


if __name__ == "__main__":
    main()
