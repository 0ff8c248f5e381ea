"""Alternatives to winops: the same jobs by hand, on Spark, on Flink and on Esper."""

from __future__ import annotations

from peers.kept import KEPT
from peers.pandas_state import PANDAS
from peers.peer import Job, Peer, ProcessPeer, SparkPeer
from peers.processes import PEER_HEAP, PROCESSES
from peers.scala import SCALA, SPARK_JAR

PEERS: tuple[Peer, ...] = (*KEPT, *SCALA, *PANDAS, *PROCESSES)

__all__ = ["PEERS", "PEER_HEAP", "SPARK_JAR", "Job", "Peer", "ProcessPeer", "SparkPeer"]
