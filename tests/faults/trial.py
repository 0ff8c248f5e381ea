"""A run under fire: the driver that it has just now, and how it gets the next one."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.faults.lives import Life, Place, Stuck
from tests.faults.orders import (
    DRIVER_TARGETS,
    OUTPUT,
    SINK_LOG,
    SOURCE_LOG,
    SST,
    STATE_TARGETS,
    Taken,
    Target,
)
from tests.faults.runs import Run

ORDER_SECONDS = 90.0


class InputEnded(Exception):
    """The query has come to its end before anything could go wrong."""


class Trial:
    """What faults need: a run, its driver, chance."""

    def __init__(
        self, run: Run, life: Life, next_life: Callable[[], Life], rng: random.Random
    ) -> None:
        self.run = run
        self.life = life
        self.rng = rng
        self._next_life = next_life

    @property
    def place(self) -> Place:
        """Where the driver is."""
        return self.life.place

    def start(self, *, hasten: bool = False) -> None:
        """Start the query from its checkpoint."""
        partitions = 2 if self.run.last_commit() < 0 else self.rng.choice([1, 2, 3])
        self.life.tell("start", run=self.run.command(partitions, hasten=hasten))

    def stop(self) -> None:
        """Stop the query.

        Raises
        ------
        InputEnded
            It had ended.
        """
        self._go_on()
        self.life.tell("stop")
        self.life.await_event("ended")

    def stop_or_fail(self) -> list[str] | None:
        """Stop the query; if it has failed, give the names of what it failed with.

        Raises
        ------
        InputEnded
            It had ended.
        """
        event = self.life.event()
        if event is None:
            self.life.tell("stop")
            event = self.life.await_event("ended", "failed")
        elif event["event"] == "ended":
            raise InputEnded
        return event.get("names")

    def be_killed(self) -> None:
        """SIGKILL to the driver; another one goes on."""
        self.life.kill()
        self._to_next()

    def move(self) -> None:
        """Stop, and let another driver go on."""
        self.stop()
        self.life.close()
        self._to_next()

    def targets(self, *, in_task: bool | None = None) -> list[Target]:
        """Give the operations that this run does in every batch or nearly."""
        found = [*DRIVER_TARGETS, *STATE_TARGETS]
        if self.run.plan.source == "parquet":
            found.append(SOURCE_LOG)
        if self.run.plan.sink == "parquet":
            found += [SINK_LOG, OUTPUT]
        if self.run.plan.store == "RocksDB":
            found.append(SST)
        return [t for t in found if in_task is None or t.in_task == in_task]

    def order(self, target: Target, moment: str, action: str) -> Taken:
        """Give an order and wait until it is taken.

        Raises
        ------
        InputEnded
            The query ended, or did nothing of the kind for long.
        """
        name = self.life.orders.give(target, moment, action)
        taken = self.life.orders.taken
        try:
            self.life.await_until(lambda: taken(name) is not None, ORDER_SECONDS)
        finally:
            self.life.orders.withdraw()
        found = taken(name)
        if found is None:
            self._go_on()
            raise Stuck(f"nobody took an order: {target}")
        return found

    def await_batches(self, count: int) -> None:
        """Wait until there are so many more commits; the query's end is as good.

        Raises
        ------
        Stuck
            They did not come, or the query failed.
        """
        goal = self.run.last_commit() + count
        if self.life.await_until(lambda: self.run.last_commit() >= goal):
            return
        self._go_on()
        raise Stuck("no further batch")

    def _go_on(self) -> None:
        event = self.life.event()
        if event is None:
            return
        if event["event"] == "ended":
            raise InputEnded
        raise Stuck(f"unexpected: {event}")

    def _to_next(self) -> None:
        self.life = self._next_life()
        self.start()
