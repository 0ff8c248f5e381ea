"""Random numbers that depend on nothing but a seed, a column and the number of an event."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]

# The constants of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
# generators, OOPSLA 2014).
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def uniform(seed: int, column: int, events: Numbers) -> npt.NDArray[np.float64]:
    """Draw a number from [0, 1) for each event.

    There is no state, so that events may be made in any pieces.

    Parameters
    ----------
    seed
        Of the whole data; other seeds give other data.
    column
        Distinguishes the draws of one event.
    events
        Numbers of the events.
    """
    # Overflow is meant: the arithmetic is that of 64 bits.
    with np.errstate(over="ignore"):
        start = _mixed(np.array([seed], "uint64") * _STEP + np.uint64(column + 1))
        bits = _mixed(start + (events.astype("uint64") + np.uint64(1)) * _STEP)
    return (bits >> np.uint64(11)) * 2.0**-53


def below(seed: int, column: int, events: Numbers, limit: Numbers | int) -> Numbers:
    """Draw a whole number from 0 to `limit` - 1 for each event."""
    return (uniform(seed, column, events) * limit).astype("int64")


def _mixed(bits: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    bits = (bits ^ (bits >> np.uint64(30))) * _FIRST
    bits = (bits ^ (bits >> np.uint64(27))) * _SECOND
    return bits ^ (bits >> np.uint64(31))
