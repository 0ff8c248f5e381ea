"""A thread of the campaign: one run after another, with faults until the number is reached."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Iterator
from pathlib import Path

from tests.resilience.faults.counts import FaultCounts
from tests.resilience.faults.kinds import IN_FIRST, KINDS, MOVED, Kind
from tests.resilience.faults.lives import Life, Place, Stuck
from tests.resilience.faults.runs import Input, Plan, Run
from tests.resilience.faults.trial import InputEnded, Trial

# Factor on the frequency of a kind without an effect so far, if every kind is required.
FIRST = 4


class Lane:
    """Drivers at the lane's own places; the next driver warms up while one works."""

    def __init__(
        self,
        name: str,
        folder: Path,
        places: Iterator[Place],
        preload: Path | None,
        counts: FaultCounts,
        rng: random.Random,
        kinds: str,
    ) -> None:
        self.name = name
        self._kinds = kinds
        self._folder = folder
        self._places = places
        self._preload = preload
        self._counts = counts
        self._rng = rng
        self._numbers = itertools.count()
        self._lives: list[Life] = []
        self._standby = self._new_life()
        self.life = self.next_life()

    def work(self, plans: Iterator[Plan], given: Input, faults_of_run: int) -> None:
        """Run one plan after another until the number of faults is reached."""
        try:
            for number, plan in enumerate(plans):
                if self._counts.done:
                    break
                run = Run(plan, self._folder / f"run-{number}", given)
                self._disturb(run, faults_of_run)
        finally:
            self.close()

    def next_life(self) -> Life:
        """Return the standby driver and start another one."""
        self.life, self._standby = self._standby, self._new_life()
        self.life.await_ready()
        self._counts.driver(self.life.place)
        return self.life

    def close(self) -> None:
        """Stop all drivers, and count their tasks' attempts."""
        for life in (self.life, self._standby):
            life.kill()
        while self._lives:
            self._counts.attempts_of(self._lives.pop())

    def _new_life(self) -> Life:
        folder = self._folder / f"driver-{next(self._numbers)}"
        life = Life(folder, next(self._places), self._preload)
        self._lives.append(life)
        return life

    def _disturb(self, run: Run, faults: int) -> None:
        self._counts.runs[str(run.plan)] += 1
        trial = Trial(run, self.life, self.next_life, self._rng)
        what = f"{run.plan} in {run.folder}"
        try:
            if run.plan.history:
                self._strike(trial, IN_FIRST, what)
            else:
                trial.start()
                trial.await_batches(1)
            if run.by_batch_time:
                self._strike(trial, MOVED, what)
            for _ in range(faults):
                if self._counts.done:
                    break
                self._strike(trial, self._draw(trial), what)
            trial.stop()
            trial.start(hasten=True)
            trial.life.await_event("ended")
        except InputEnded:
            pass
        except Stuck as stuck:
            self._counts.problem(f"{what}: {stuck}")
            self.life.kill()
            self.next_life()
            return
        self._counts.compared(run.verdict(trial.life, ended=True), what)

    def _strike(self, trial: Trial, kind: Kind, what: str) -> None:
        began = time.monotonic()
        clock = trial.place.clock_days
        struck = kind.strike(trial)
        try:
            trial.await_batches(1)
            ended = False
        except InputEnded:
            ended = True
        except Stuck as stuck:
            self._counts.unrecovered(kind.name, struck.what)
            raise Stuck(f"after {kind.name} ({struck.what}): {stuck}") from stuck
        self._counts.fault(kind.name, struck, time.monotonic() - began)
        for flaw in struck.flaws:
            self._counts.problem(f"{what} after {kind.name} ({struck.what}): {flaw}")
        if trial.place.clock_days != clock:
            self._counts.clock_moved(by_batch_time=trial.run.by_batch_time)
        verdict = trial.run.verdict(trial.life, ended=ended)
        self._counts.compared(verdict, f"{what} after {kind.name} ({struck.what})")
        if ended:
            raise InputEnded

    def _draw(self, trial: Trial) -> Kind:
        possible = [kind for kind in KINDS if kind.possible(trial.place, trial.run)]
        chosen = [kind for kind in possible if self._kinds in kind.name]
        possible = chosen or possible
        weights = [kind.weight * self._urgency(kind) for kind in possible]
        return self._rng.choices(possible, weights)[0]

    def _urgency(self, kind: Kind) -> int:
        return FIRST if self._counts.full and not self._counts.has_acted(kind.name) else 1
