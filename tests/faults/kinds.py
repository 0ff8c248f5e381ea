"""The kinds of faults: each does one to a trial, and leaves its query running."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.faults.damage import damage
from tests.faults.lives import Place, Stuck
from tests.faults.trial import InputEnded, Trial

KILL_SECONDS = 2.5
TWICE_SECONDS = 8.0
MOMENTS = ("before", "after")


@dataclass(frozen=True)
class Struck:
    """What was done, and what the query named when it stopped for it."""

    what: str
    errors: list[str] | None = None


@dataclass(frozen=True)
class Kind:
    """A kind of fault: where it can happen, and how often beside others."""

    name: str
    strike: Callable[[Trial], Struck]
    possible: Callable[[Place], bool]
    weight: int


def _kill_at_random(trial: Trial) -> Struck:
    trial.life.await_until(lambda: False, trial.rng.uniform(0, KILL_SECONDS))
    trial.be_killed()
    return Struck("driver")


def _kill_in_commit(trial: Trial) -> Struck:
    target, moment = trial.rng.choice(trial.targets()), trial.rng.choice(MOMENTS)
    trial.order(target, moment, "wait")
    trial.be_killed()
    return Struck(f"{moment} {target.operation}, {target.what}")


def _kill_executor(trial: Trial) -> Struck:
    target, moment = trial.rng.choice(trial.targets(in_task=True)), trial.rng.choice(MOMENTS)
    trial.life.kill_executor(trial.order(target, moment, "wait").pid)
    return Struck(f"{moment} {target.operation}, {target.what}")


def _slow_task(trial: Trial) -> Struck:
    target, moment = trial.rng.choice(trial.targets(in_task=True)), trial.rng.choice(MOMENTS)
    before = trial.life.speculative()
    trial.order(target, moment, "wait")
    twice = trial.life.await_until(lambda: trial.life.speculative() > before, TWICE_SECONDS)
    how = "run twice" if twice else "run once"
    return Struck(f"{moment} {target.operation}, {target.what}, {how}")


def _fail_task(trial: Trial) -> Struck:
    target, moment = trial.rng.choice(trial.targets(in_task=True)), trial.rng.choice(MOMENTS)
    trial.order(target, moment, "fail")
    return Struck(f"{moment} {target.operation}, {target.what}")


def _fail_checkpoint(trial: Trial) -> Struck:
    """In a task that is not tried again, or in the driver: the query stops."""
    in_task = False if trial.place.retries else None
    target, moment = trial.rng.choice(trial.targets(in_task=in_task)), trial.rng.choice(MOMENTS)
    trial.order(target, moment, "fail")
    what = f"{moment} {target.operation}, {target.what}"
    return Struck(what, _failure(trial, batches=2))


def _damage(trial: Trial) -> Struck:
    trial.stop()
    damaged = damage(trial.run.checkpoint, trial.rng)
    trial.start()
    if damaged is None:
        trial.await_batches(1)
        return _damage(trial)
    # A batch that the sink has already is not done again, and what it would read is not read.
    errors = _failure(trial, batches=2, put_back=damaged.put_back)
    what = f"{damaged.what} {damaged.how}"
    if errors is not None:
        return Struck(what, errors)
    # Something else stood in for it, or nothing has read it yet and a later batch would.
    errors = trial.stop_or_fail()
    damaged.put_back()
    trial.start()
    return Struck(f"{what}: {'went on' if errors is None else 'noticed later'}", errors)


def _move(trial: Trial) -> Struck:
    before = trial.place
    trial.move()
    after = trial.place
    what = [f"from {before.master} to {after.master}"]
    if before.clock_days != after.clock_days:
        what.append(f"clock by {after.clock_days - before.clock_days:+} days")
    return Struck(", ".join(what))


def _failure(
    trial: Trial, batches: int, put_back: Callable[[], None] = lambda: None
) -> list[str] | None:
    """Wait until the query has failed, and start it again; or until it has gone on regardless."""
    goal = trial.run.last_commit() + batches
    trial.life.await_until(lambda: trial.run.last_commit() >= goal)
    event = trial.life.event()
    if event is None and trial.run.last_commit() < goal:
        raise Stuck("the query neither failed nor went on")
    if event is None:
        return None
    if event["event"] == "ended":
        raise InputEnded
    put_back()
    trial.start()
    return list(event["names"])


KINDS = (
    Kind("driver killed at random", _kill_at_random, lambda place: not place.clustered, 2),
    Kind("driver killed in a commit", _kill_in_commit, lambda place: True, 4),
    Kind("executor killed", _kill_executor, lambda place: place.clustered, 12),
    Kind("slow task, speculation", _slow_task, lambda place: place.clustered, 8),
    Kind("task failed, tried again", _fail_task, lambda place: place.retries, 12),
    Kind("write or rename failed", _fail_checkpoint, lambda place: True, 10),
    Kind("state or commit log damaged", _damage, lambda place: not place.clustered, 10),
    Kind("moved: cores, executors, clock", _move, lambda place: True, 2),
)
