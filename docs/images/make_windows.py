"""Draws the picture of every window in docs/windows.md from the changes of the operator.

Run by ``make docs``. The same operator and the same matplotlib give the same bytes.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path

from winops import WindowPolicy, apama, esper, spl, testing, timeline
from winops.testing import Change

FOLDER = Path(__file__).parent / "windows"
PAGE = Path(__file__).parents[1] / "windows.md"
START = datetime(2026, 1, 1, tzinfo=timezone.utc)
SCHEMA = "n long, symbol string, price double, ts timestamp, mark string"
SYMBOLS = "abacbabc"
PRICES = (5.0, 7.0, 6.0, 9.0, 10.0, 8.0, 12.0, 11.0)


@dataclass(frozen=True)
class Sample:
    """A small window, and the rows that show what it does.

    ``gaps`` are the seconds after each row; ``per`` is the column of the group; ``ahead`` is
    what the column ``ts`` is ahead of the clock, in seconds; a row with a number in ``marks`` is
    a window punctuation.
    """

    policy: str | WindowPolicy
    gaps: tuple[float, ...] = (1,) * 8
    per: str | None = None
    ahead: float = 0
    marks: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        return self.policy.text if isinstance(self.policy, WindowPolicy) else self.policy

    def changes(self) -> list[Change]:
        """Return the changes of the operator over the rows."""
        window = testing.window(
            self.policy, schema=SCHEMA, start=START, punct="mark" if self.marks else None
        )
        changes: list[Change] = []
        for row, gap in enumerate(self.gaps):
            now = window.now
            assert now is not None
            changes += window.add(
                {
                    "n": row + 1,
                    "symbol": SYMBOLS[row % len(SYMBOLS)],
                    "price": PRICES[row % len(PRICES)],
                    "ts": now + timedelta(seconds=self.ahead),
                    "mark": "window" if row + 1 in self.marks else None,
                }
            )
            changes += window.advance(gap)
        return changes


BURSTS = (0.5, 0.5, 0.5, 3, 0.5, 0.5, 3)
TUMBLING = "param partitionBy : symbol;"

SAMPLES: dict[str, Sample] = {
    "ccl-keep-all": Sample("KEEP ALL"),
    "ccl-keep-n-rows": Sample("KEEP 2 ROWS PER (symbol)", per="symbol"),
    "ccl-slack": Sample("KEEP 3 ROWS SLACK 2"),
    "ccl-keep-every-n-rows": Sample("KEEP EVERY 3 ROWS"),
    "ccl-keep-interval": Sample("KEEP 3 SECONDS"),
    "ccl-keep-every-interval": Sample("KEEP EVERY 4 SECONDS"),
    "esper-length": Sample(esper("#length(3)")),
    "esper-lastevent": Sample(esper("#lastevent")),
    "esper-keepall": Sample(esper("#keepall")),
    "esper-time": Sample(esper("#time(3 sec)")),
    "esper-time-accum": Sample(esper("#time_accum(2 sec)"), gaps=BURSTS),
    "esper-ext-timed": Sample(esper("#ext_timed(ts, 3 sec)"), gaps=(1, 1, 1, 2, 4, 1, 1)),
    "esper-expr": Sample(esper("#expr(newest_event.price - oldest_event.price < 3)")),
    "esper-firstlength": Sample(esper("#firstlength(3)")),
    "esper-firstevent": Sample(esper("#firstevent")),
    "esper-firsttime": Sample(esper("#firsttime(3 sec)")),
    "esper-firstunique": Sample(esper("#firstunique(symbol)")),
    "esper-unique": Sample(esper("#unique(symbol)")),
    "esper-sort": Sample(esper("#sort(3, price desc)")),
    "esper-rank": Sample(esper("#rank(symbol, 2, price desc)")),
    "esper-time-order": Sample(esper("#time_order(ts, 3 sec)")),
    "esper-timetolive": Sample(esper("#timetolive(ts)"), ahead=2.5),
    "esper-length-batch": Sample(esper("#length_batch(3)")),
    "esper-time-batch": Sample(esper("#time_batch(3 sec)")),
    "esper-ext-timed-batch": Sample(esper("#ext_timed_batch(ts, 3 sec)")),
    "esper-time-length-batch": Sample(
        esper("#time_length_batch(3 sec, 3)"), gaps=(0.5, 0.5, 0.5, 1, 3, 1, 2.5)
    ),
    "esper-expr-batch": Sample(esper("#expr_batch(newest_event.price >= 9, false)")),
    "esper-size": Sample(esper("#time(3 sec)#size")),
    "esper-uni": Sample(esper("#length(3)#uni(price, symbol)")),
    "esper-linest": Sample(esper("#length(3)#linest(cast(n, double), price)")),
    "esper-correl": Sample(esper("#length(3)#correl(cast(n, double), price)")),
    "esper-weighted-avg": Sample(esper("#length(3)#weighted_avg(price, cast(n, double))")),
    "esper-groupwin": Sample(esper("#groupwin(symbol)#length(2)"), per="symbol"),
    "esper-merge": Sample(esper("#groupwin(symbol)#length(2)#merge(symbol)#size"), per="symbol"),
    "esper-intersection": Sample(esper("#time(4 sec)#unique(symbol)")),
    "esper-union": Sample(
        esper("#length(3)#time(2 sec) retain-union"), gaps=(1, 1, 0.4, 0.4, 0.4, 3, 1, 1)
    ),
    "esper-rstream": Sample(esper("select rstream * from Trade#length(3)")),
    "esper-aggregates": Sample(
        esper("select irstream symbol, avg(price) as mean from Trade#length(3) group by symbol")
    ),
    "apama-within": Sample(apama("partition by symbol within 3.0"), per="symbol"),
    "apama-within-every": Sample(
        apama("partition by symbol within 4.0 every 2.0"), per="symbol", gaps=(0.7,) * 8
    ),
    "apama-retain": Sample(apama("partition by symbol retain 2"), per="symbol"),
    "apama-retain-every": Sample(apama("retain 4 every 2")),
    "apama-within-retain": Sample(apama("within 3.0 retain 2"), gaps=BURSTS),
    "apama-within-every-retain": Sample(apama("within 4.0 every 2.0 retain 3"), gaps=(0.7,) * 8),
    "apama-with-unique": Sample(apama("within 4.0 with unique symbol")),
    "apama-retain-all": Sample(apama("retain all")),
    "apama-rstream": Sample(apama("from t in trades retain 3 select rstream t")),
    "spl-tumbling-count": Sample(spl("tumbling, count(3)")),
    "spl-tumbling-time": Sample(spl("tumbling, time(3)"), gaps=(0.8,) * 9),
    "spl-tumbling-delta": Sample(spl("tumbling, delta(price, 3.0)")),
    "spl-tumbling-punct": Sample(spl("tumbling, punct()"), marks=(4, 8)),
    "spl-sliding-count": Sample(spl("sliding, count(3)")),
    "spl-sliding-time": Sample(spl("sliding, time(3)")),
    "spl-sliding-delta": Sample(spl("sliding, delta(price, 2.0)")),
    "spl-trigger-count": Sample(spl("sliding, time(3), count(2)")),
    "spl-trigger-time": Sample(spl("sliding, count(3), time(1.5)")),
    "spl-trigger-delta": Sample(spl("sliding, count(3), delta(price, 2.0)")),
    "spl-partitioned": Sample(spl(f"sliding, count(2), partitioned; {TUMBLING}"), per="symbol"),
    "spl-partitionage": Sample(
        spl(f"tumbling, count(3), partitioned, partitionAge(2.5); {TUMBLING}"), per="symbol"
    ),
    "spl-partitioncount": Sample(
        spl(f"tumbling, count(3), partitioned, partitionCount(1); {TUMBLING}"), per="symbol"
    ),
    "spl-tuplecount": Sample(
        spl(f"tumbling, count(3), partitioned, tupleCount(3); {TUMBLING}"), per="symbol"
    ),
}


def picture(name: str) -> str:
    """Return the picture of a window as SVG."""
    sample = SAMPLES[name]
    return timeline(sample.changes(), per=sample.per, label="n", title=sample.text).svg()


def shown() -> list[str]:
    """Return the names of the pictures on the page, in its order."""
    return re.findall(r"\]\(images/windows/([\w-]+)\.svg\)", PAGE.read_text(encoding="utf-8"))


def differences() -> list[str]:
    """Return a sentence for each picture that only the page or only SAMPLES has."""
    names = shown()
    missing = [name for name in names if name not in SAMPLES]
    unused = [name for name in SAMPLES if name not in names]
    return [f"SAMPLES lacks {name}, which {PAGE.name} shows." for name in missing] + [
        f"SAMPLES has {name}, which {PAGE.name} does not show." for name in unused
    ]


def main() -> None:
    if found := differences():
        sys.exit("\n".join([f"{__file__}:", *found]))
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.svg"):
        if old.stem not in SAMPLES:
            old.unlink()
    for name in SAMPLES:
        (FOLDER / f"{name}.svg").write_text(picture(name), encoding="utf-8")


if __name__ == "__main__":
    main()
