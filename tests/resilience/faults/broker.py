"""A Kafka broker on the loopback interface, in its own folder."""

from __future__ import annotations

import socket
import subprocess
import time
from pathlib import Path

from tests.resilience.faults.lives import Stuck, java
from tests.support.paths import ROOT

CLASSPATH = ROOT / "target" / "faults" / "broker.classpath"
_PATIENCE_SECONDS = 60.0
_CLUSTER = "V2lub3BzRmF1bHRzVGVzdA"


class Broker:
    """A broker that is its own controller (KRaft). The caller closes it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        broker, controller = _free_port(), _free_port()
        self.servers = f"localhost:{broker}"
        properties = folder / "server.properties"
        settings = {
            "process.roles": "broker,controller",
            "node.id": 1,
            "controller.quorum.voters": f"1@localhost:{controller}",
            "listeners": f"PLAINTEXT://localhost:{broker},CONTROLLER://localhost:{controller}",
            "advertised.listeners": f"PLAINTEXT://{self.servers}",
            "controller.listener.names": "CONTROLLER",
            "log.dirs": folder / "logs",
            "num.partitions": 1,
            "offsets.topic.replication.factor": 1,
            "transaction.state.log.replication.factor": 1,
            "transaction.state.log.min.isr": 1,
            "group.initial.rebalance.delay.ms": 0,
            # Retention must not delete the rows of a driver whose clock is moved.
            "log.retention.ms": -1,
        }
        properties.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        with (folder / "log").open("wb") as log:
            command = ["kafka.tools.StorageTool", "format", "-t", _CLUSTER, "-c", str(properties)]
            subprocess.run([*_java(), *command], stdout=log, stderr=log, cwd=folder, check=True)
            self._process = subprocess.Popen(
                [*_java(), "kafka.Kafka", str(properties)], stdout=log, stderr=log, cwd=folder
            )
        self._await_port(broker)

    def close(self) -> None:
        """Stop the broker."""
        self._process.kill()
        self._process.wait()

    def _await_port(self, port: int) -> None:
        end = time.monotonic() + _PATIENCE_SECONDS
        while not _listens(port):
            if time.monotonic() > end or self._process.poll() is not None:
                self.close()
                raise Stuck("the broker did not start")
            time.sleep(0.1)


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("localhost", port), timeout=1).close()
    except OSError:
        return False
    return True


def _java() -> list[str]:
    light = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx256m"]
    return [java(), *light, "-cp", CLASSPATH.read_text()]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return int(probe.getsockname()[1])
