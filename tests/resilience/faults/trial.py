"""A run under faults: its current driver, and the change to the next one."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from tests.resilience.faults.lives import Life, Place, Stuck
from tests.resilience.faults.orders import (
    COMMIT_TARGETS,
    DRIVER_TARGETS,
    OUTPUT_TARGETS,
    READ_SOURCE_TARGETS,
    READ_TARGETS,
    SINK_LOG_TARGETS,
    SOURCE_LOG_TARGETS,
    SST,
    STATE_TARGETS,
    Taken,
    Target,
)
from tests.resilience.faults.runs import Run
from tests.resilience.faults.stops import Cause, causes_of, shown

ORDER_SECONDS = 300.0


class InputEnded(Exception):
    """The query ended before a fault could act."""


class Trial:
    """The context of a fault: a run, its driver and a random generator."""

    def __init__(
        self, run: Run, life: Life, next_life: Callable[[], Life], rng: random.Random
    ) -> None:
        self.run = run
        self.life = life
        self.rng = rng
        self._next_life = next_life

    @property
    def place(self) -> Place:
        """The place of the driver."""
        return self.life.place

    def start(self, *, hasten: bool = False) -> None:
        """Start the query from its checkpoint."""
        partitions = 2 if self.run.last_commit() < 0 else self.rng.choice([1, 2, 3])
        read_tasks = self.rng.choice([1, 2, 5])
        command = self.run.command(partitions, read_tasks=read_tasks, hasten=hasten)
        self.life.tell("start", run=command)

    def stop(self) -> None:
        """Stop the query.

        Raises
        ------
        InputEnded
            The query had already ended.
        """
        self._go_on()
        self.life.tell("stop")
        self.life.await_event("ended")

    def stop_or_fail(self) -> Sequence[Cause] | None:
        """Stop the query; return the causes if it has failed.

        Raises
        ------
        InputEnded
            The query had already ended.
        """
        event = self.life.event()
        if event is None:
            self.life.tell("stop")
            event = self.life.await_event("ended", "failed")
        elif event["event"] == "ended":
            raise InputEnded
        return causes_of(event["causes"]) if event["event"] == "failed" else None

    def failure(self, batches: int) -> Sequence[Cause] | None:
        """Wait until the query has failed, or has committed the given number of batches.

        Raises
        ------
        InputEnded
            The query ended.
        Stuck
            Neither happened.
        """
        goal = self.run.last_commit() + batches
        self.life.await_until(lambda: self.run.last_commit() >= goal)
        event = self.life.event()
        if event is None and self.run.last_commit() < goal:
            raise Stuck("the query neither failed nor went on")
        if event is None:
            return None
        if event["event"] == "ended":
            raise InputEnded
        if event["event"] != "failed":
            raise Stuck(f"unexpected: {event}")
        return causes_of(event["causes"])

    def be_killed(self) -> None:
        """Send SIGKILL to the driver; another driver continues."""
        self.life.kill()
        self._to_next()

    def move(self) -> None:
        """Stop the query and continue with another driver."""
        self.stop()
        self.life.close()
        self._to_next()

    def targets(self, *, in_task: bool | None = None) -> list[Target]:
        """Return the operations that this run does in nearly every batch."""
        found = [*DRIVER_TARGETS, *STATE_TARGETS]
        if self.run.plan.source == "parquet":
            found += SOURCE_LOG_TARGETS
        if self.run.plan.sink == "parquet":
            found += [*SINK_LOG_TARGETS, *OUTPUT_TARGETS]
        if self.run.plan.store == "RocksDB":
            found.append(SST)
        return [t for t in found if in_task is None or t.in_task == in_task]

    def first_targets(self) -> list[Target]:
        """Return the operations that the first micro-batch after a start does."""
        found = [*STATE_TARGETS, *COMMIT_TARGETS]
        if self.run.plan.store == "RocksDB":
            found.append(SST)
        return found

    def reads(self) -> list[Target]:
        """Return the files that this run reads when it is started again."""
        found = list(READ_TARGETS)
        if self.run.plan.source == "parquet":
            found += READ_SOURCE_TARGETS
        return found

    def order(
        self, target: Target, moment: str, action: str, *, of_next_start: bool = False
    ) -> Taken:
        """Give an order, start the query if it is not running, and wait until the order is taken.

        Raises
        ------
        InputEnded
            The query ended, or did no such operation for a long time.
        """
        name = self.life.orders.give(target, moment, action)
        taken = self.life.orders.taken
        if of_next_start:
            self.start()
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
        """Wait for the given number of further commits.

        Raises
        ------
        InputEnded
            The query ended.
        Stuck
            The commits did not come, or the query failed.
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
        causes = shown(causes_of(event["causes"])) if event["event"] == "failed" else event
        raise Stuck(f"unexpected: {causes}")

    def _to_next(self) -> None:
        self.life = self._next_life()
        self.start()
