"""The kinds of faults: each injects one fault into a trial and leaves the query running."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.resilience.faults.damage import damage
from tests.resilience.faults.lives import Place
from tests.resilience.faults.orders import Target
from tests.resilience.faults.runs import Run
from tests.resilience.faults.stops import Cause, flaw
from tests.resilience.faults.trial import Trial

KILL_SECONDS = 2.5
TOLD_SECONDS = 8.0
# The share of changed restarts after which the former query continues.
FORMER = 0.3


@dataclass(frozen=True)
class Struck:
    """A fault and its effect on the query.

    Attributes
    ----------
    what
        The operation or file that was broken, and how.
    outcome
        The reaction of the query, in a few words.
    acted
        True if the fault affected the query; a damaged file that no task reads has no effect.
    stopped_with
        The error that stopped the query, if any.
    flaws
        The deficiencies of that error.
    """

    what: str
    outcome: str
    acted: bool = True
    stopped_with: Sequence[Cause] | None = None
    flaws: tuple[str, ...] = ()


@dataclass(frozen=True)
class Kind:
    """A kind of fault.

    Attributes
    ----------
    possible
        Returns True if the fault can be drawn while the run goes on at a place.
    weight
        The relative frequency.
    """

    name: str
    strike: Callable[[Trial], Struck]
    possible: Callable[[Place, Run], bool]
    weight: int


def _kill_at_random(trial: Trial) -> Struck:
    trial.life.await_until(lambda: False, trial.rng.uniform(0, KILL_SECONDS))
    trial.be_killed()
    return Struck("driver", "killed")


def _kill_in_commit(trial: Trial) -> Struck:
    target, moment = _chosen(trial, trial.targets())
    trial.order(target, moment, "wait")
    trial.be_killed()
    return Struck(_told(target, moment), "killed")


def _kill_in_first(trial: Trial) -> Struck:
    """Kill the driver in the first micro-batch, which reads the table before the stream."""
    target, moment = _chosen(trial, trial.first_targets())
    trial.order(target, moment, "wait", of_next_start=True)
    trial.be_killed()
    return Struck(_told(target, moment), "killed")


def _kill_changed(trial: Trial) -> Struck:
    """Restart with another query, and kill the driver in the first micro-batch.

    The next start has the changed query, or the former one.
    """
    trial.stop()
    before = trial.run.variant
    changed = trial.run.variant = trial.rng.choice(trial.run.other_variants)
    target, moment = _chosen(trial, trial.first_targets())
    trial.order(target, moment, "wait", of_next_start=True)
    if trial.rng.random() < FORMER:
        trial.run.variant = before
    after = trial.run.variant
    trial.be_killed()
    how = "changed" if after == changed else "former"
    return Struck(
        f"{before} to {changed}, {_told(target, moment)}", f"killed, then the {how} query"
    )


def _kill_executor(trial: Trial) -> Struck:
    target, moment = _chosen(trial, trial.targets(in_task=True))
    trial.life.kill_executor(trial.order(target, moment, "wait").pid)
    return Struck(_told(target, moment), "killed")


def _slow_task(trial: Trial) -> Struck:
    target, moment = _chosen(trial, trial.targets(in_task=True))
    before = trial.life.speculative()
    trial.order(target, moment, "wait")
    twice = trial.life.await_until(lambda: trial.life.speculative() > before, TOLD_SECONDS)
    return Struck(_told(target, moment), "run twice" if twice else "run once", acted=twice)


def _fail_task(trial: Trial) -> Struck:
    target, moment = _chosen(trial, trial.targets(in_task=True))
    before = trial.life.failed()
    trial.order(target, moment, "fail")
    return _tried_again(trial, _told(target, moment), before)


def _fail_write(trial: Trial) -> Struck:
    """Fail a write in a task without retry, or in the driver, so that the query stops."""
    in_task = False if trial.place.retries else None
    target, moment = _chosen(trial, trial.targets(in_task=in_task))
    trial.order(target, moment, "fail")
    return _stopped_or_not(trial, _told(target, moment), "went on")


def _fail_read(trial: Trial) -> Struck:
    """Fail a read at the next start; a failed task runs again where Spark retries tasks."""
    trial.stop()
    target, moment = _chosen(trial, trial.reads())
    before = trial.life.failed()
    trial.order(target, moment, "fail", of_next_start=True)
    if target.in_task and trial.place.retries:
        return _tried_again(trial, _told(target, moment), before)
    return _stopped_or_not(trial, _told(target, moment), "went on")


def _damage(trial: Trial) -> Struck:
    trial.stop()
    written = trial.run.last_in_sink()
    damaged = damage(trial.run.checkpoint, trial.rng)
    trial.start()
    if damaged is None:
        trial.await_batches(1)
        return _damage(trial)
    # The file may stay unread: a batch that is already in the sink does not run again. After two
    # batches another file replaces it, or a later batch reads it.
    causes = trial.failure(batches=2) or trial.stop_or_fail()
    flaws = []
    if causes is not None:
        flaws = [flaw(causes, ordered=False), _written_in_vain(trial, written)]
    damaged.put_back()
    trial.start()
    return Struck(
        f"{damaged.what} {damaged.how}",
        "read by nobody" if causes is None else "stopped",
        acted=causes is not None,
        stopped_with=causes,
        flaws=tuple(text for text in flaws if text),
    )


def _move(trial: Trial) -> Struck:
    before = trial.place
    trial.move()
    after = trial.place
    moved = []
    if before.master != after.master:
        moved.append("cores")
    if before.clock_days != after.clock_days:
        moved.append("clock")
    return Struck(
        f"from {before} to {after}",
        " and ".join(moved) or "only started again",
        acted=bool(moved),
    )


def _chosen(trial: Trial, targets: Sequence[Target]) -> tuple[Target, str]:
    target = trial.rng.choice(targets)
    return target, trial.rng.choice(target.moments)


def _told(target: Target, moment: str) -> str:
    return f"{moment} {target.operation}, {target.what}"


def _tried_again(trial: Trial, what: str, failed_before: int) -> Struck:
    failed = trial.life.await_until(lambda: trial.life.failed() > failed_before, TOLD_SECONDS)
    return Struck(what, "tried again" if failed else "no task failed", acted=failed)


def _stopped_or_not(trial: Trial, what: str, otherwise: str) -> Struck:
    causes = trial.failure(batches=2)
    if causes is None:
        return Struck(what, otherwise, acted=False)
    wrong = flaw(causes, ordered=True)
    trial.start()
    return Struck(what, "stopped", stopped_with=causes, flaws=() if wrong is None else (wrong,))


def _written_in_vain(trial: Trial, before: int) -> str | None:
    """Return a flaw if a file sink holds a batch whose state could not be read."""
    last = trial.run.last_in_sink()
    if last > max(before, trial.run.last_commit()):
        return f"batch {last} is in the sink, though the query stopped in it"
    return None


# The kinds of the lane in real-time mode, which Spark has from 4.3 on.
IN_REAL_TIME = "driver killed in real time"
AFTER_REAL_TIME = "driver killed in micro-batches after real time"
MOVED = Kind("moved: cores, executors, clock", _move, lambda place, run: True, 2)
# Each run with a table before the stream begins with this fault.
IN_FIRST = Kind(
    "with_history: killed in the first micro-batch", _kill_in_first, lambda place, run: False, 0
)
CHANGED = Kind(
    "changed restart: killed in the first micro-batch",
    _kill_changed,
    lambda place, run: bool(run.other_variants),
    10,
)
KINDS = (
    Kind("driver killed at random", _kill_at_random, lambda place, run: not place.clustered, 2),
    Kind("driver killed in a commit", _kill_in_commit, lambda place, run: True, 4),
    Kind("executor killed", _kill_executor, lambda place, run: place.clustered, 12),
    Kind("slow task, speculation", _slow_task, lambda place, run: place.clustered, 8),
    Kind("task failed, tried again", _fail_task, lambda place, run: place.retries, 12),
    Kind("write or rename failed", _fail_write, lambda place, run: True, 10),
    Kind("read failed", _fail_read, lambda place, run: True, 6),
    Kind("state or commit log damaged", _damage, lambda place, run: not place.clustered, 10),
    MOVED,
    IN_FIRST,
    CHANGED,
)
