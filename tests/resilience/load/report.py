"""The report of a load run, as JSON and as a Markdown page."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from itertools import chain

from instruments import Reading
from levels import AT_REST, EMPTIED, MILLION, ON_THE_LEVEL, Verdict, compared
from shape import Wave
from sums import ProgressSums


@dataclass(frozen=True)
class Sample:
    """The instruments in a run of the query, after a number of batches and seconds."""

    run: int
    batches: int
    seconds: float
    held: int
    groups: int
    reading: Reading

    def __str__(self) -> str:
        heap, resident = (
            self.reading[name] / MILLION for name in ("heap_bytes", "resident_bytes")
        )
        return (
            f"{self.batches:>6,} batches, {self.seconds:>5.0f} s: {self.held:>11,} rows held,"
            f" heap {heap:,.0f} MB, resident {resident:,.0f} MB"
        )


@dataclass(frozen=True)
class Report:
    """All runs of a query, and the verdict on the remaining resources.

    Attributes
    ----------
    emptied
        The reading before the load, with a running query whose windows are empty.
    before, after
        The readings without a running query.
    samples
        The readings during the load; in the last one the query's windows are empty.
    """

    wave: Wave
    keys: int
    runs: int
    taken_with: dict[str, str]
    emptied: Sample
    before: Reading
    after: Reading
    samples: list[Sample]
    sums: ProgressSums

    @property
    def passed(self) -> bool:
        return not self.faults and all(v.holds for v in self._verdicts)

    @property
    def at_rest(self) -> list[Verdict]:
        """The readings before and after the load, without a running query."""
        return compared(AT_REST, self.before, self.after)

    @property
    def with_empty_stores(self) -> list[Verdict]:
        """The readings before and after the load, with a query whose windows are empty."""
        return compared(EMPTIED, self.emptied.reading, self.samples[-1].reading)

    @property
    def on_the_level(self) -> dict[str, list[Verdict]]:
        """The first and last reading at constant size, over all runs and for each run."""
        level = [sample for sample in self.samples if self.wave.holds_level(sample.batches)]
        runs = {
            f"in run {run}": [sample for sample in level if sample.run == run]
            for run in sorted({sample.run for sample in level})
        }
        return {
            of: compared(ON_THE_LEVEL, samples[0].reading, samples[-1].reading)
            for of, samples in {"over all runs": level, **runs}.items()
            if len(samples) >= 2
        }

    @property
    def _verdicts(self) -> list[Verdict]:
        return [*self.at_rest, *self.with_empty_stores, *chain(*self.on_the_level.values())]

    @property
    def faults(self) -> list[str]:
        """Errors in the rows; with errors, the other readings are meaningless."""
        sums, wave = self.sums, self.wave
        # A batch without observed progress may have inserted and deleted rows.
        unobserved = sums.unseen * wave.rows_per_batch
        wanted = {
            "rows inserted": (sums.inserted, wave.rows - unobserved, wave.rows),
            "rows deleted": (sums.deleted, wave.rows - unobserved, wave.rows),
            "rows held at most": (
                sums.peak_held,
                (wave.window - 1) * wave.rows_per_batch,
                (wave.window + 2) * wave.rows_per_batch,
            ),
            "rows held at the end": (sums.held, 0, 0),
            "groups at the end": (sums.groups, 0, 0),
            "batches without progress": (sums.unseen, 0, 2 * self.runs),
            "rows held when stores were to be empty": (
                self.emptied.held + self.samples[-1].held,
                0,
                0,
            ),
            "runs read twice on the level": (len(self.on_the_level) - 1, 1, self.runs),
        }
        return [
            f"{what}: {number:,}, not {least:,} to {most:,}"
            for what, (number, least, most) in wanted.items()
            if not least <= number <= most
        ]

    def json(self) -> str:
        """Return all readings as JSON."""
        return json.dumps(
            {
                "passed": self.passed,
                "faults": self.faults,
                "load": {**asdict(self.wave), "keys": self.keys, "runs": self.runs},
                "taken with": self.taken_with,
                "rows": {
                    "inserted": self.sums.inserted,
                    "deleted": self.sums.deleted,
                    "held at most": self.sums.peak_held,
                    "held at the end": self.sums.held,
                    "entries at the end": self.sums.entries,
                },
                "before": self.before,
                "after": self.after,
                "at rest": _plain(self.at_rest),
                "with empty stores": _plain(self.with_empty_stores),
                "on the level": {of: _plain(v) for of, v in self.on_the_level.items()},
                "samples": [asdict(sample) for sample in self.samples],
            },
            indent=2,
        )

    def markdown(self) -> str:
        """Return the Markdown page."""
        wave, sums = self.wave, self.sums
        seconds = self.samples[-1].seconds
        return "\n".join(
            [
                "# Load",
                "",
                f"{'Passed' if self.passed else '**Failed**'}:"
                f" {sums.batches:,} batches, which stand for {wave.hours:.1f} hours,"
                f" in {seconds:,.0f} s"
                f" ({1000 * seconds / sums.batches:,.0f} ms each) and {self.runs} runs of the"
                f" query; {sums.inserted:,} rows came in and {sums.deleted:,} left, of"
                f" {wave.rows:,}; {sums.peak_held:,} were held at most, in {self.keys:,} groups,"
                f" and {sums.held:,} at the end, in {sums.entries:,} entries of the store."
                + (
                    f" Batches whose progress was not seen: {sums.unseen}." if sums.unseen else ""
                ),
                "",
                ", ".join(f"{name} {value}" for name, value in self.taken_with.items()) + ".",
                "",
                *(f"* Wrong: {fault}" for fault in self.faults),
                "",
                *_table("Before and after, no query running", self.at_rest),
                "",
                *_table("A query whose windows have emptied", self.with_empty_stores),
                "",
                *chain(
                    *(
                        [*_table(f"While the state is level, {of}", verdicts), ""]
                        for of, verdicts in self.on_the_level.items()
                    )
                ),
                *_course(self.samples),
                "",
            ]
        )


def _plain(verdicts: list[Verdict]) -> list[dict[str, float | str]]:
    return [asdict(v) | {"holds": v.holds} for v in verdicts]


def _shown(name: str, value: float) -> str:
    return f"{value / MILLION:,.1f} MB" if name.endswith("_bytes") else f"{value:,.0f}"


def _table(title: str, verdicts: list[Verdict]) -> list[str]:
    return [
        f"| {title} | from | to | at most | |",
        "|---|---:|---:|---:|---|",
        *(
            f"| {v.name} | {_shown(v.name, v.before)} | {_shown(v.name, v.after)}"
            f" | {_shown(v.name, v.allowed)} | {'' if v.holds else '**too much**'} |"
            for v in verdicts
        ),
    ]


_COURSE = [
    "heap_bytes",
    "resident_bytes",
    "direct_bytes",
    "rocksdb_memtable_bytes",
    "rocksdb_cache_bytes",
    "rocksdb_versions",
    "file_handles",
    "threads",
    "accumulators",
    "checkpoint_files",
    "checkpoint_bytes",
    "local_bytes",
]


def _course(samples: list[Sample]) -> list[str]:
    columns = ["batches", "rows held", "groups", *_COURSE]
    return [
        f"| {' | '.join(columns)} |",
        f"|{'---:|' * len(columns)}",
        *(
            f"| {s.batches:,} | {s.held:,} | {s.groups:,} | "
            + " | ".join(_shown(name, s.reading[name]) for name in _COURSE)
            + " |"
            for s in samples
        ),
    ]
