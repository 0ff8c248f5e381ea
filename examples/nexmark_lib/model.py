"""Persons, auctions and bids by the number of their event.

Of 50 events in a row the first makes a person, the next three make auctions, the others bids.
Everything about an event follows from its number and the seed, so that any piece of the data
can be made by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, auto

import numpy as np
import pandas as pd

from nexmark_lib.draws import Numbers, below, uniform

EVENTS = 50
PERSONS, AUCTIONS = 1, 3
BIDS = EVENTS - PERSONS - AUCTIONS
FIRST_ID = 1_000
FIRST_CATEGORY, CATEGORIES = 10, 5
# The hot seller and auction are the first of each hundred. The hot bidder is the second person,
# so that it differs from the hot seller.
HUNDRED = 100
# The number of future persons and auctions that events may refer to.
LEAD = 10
_MICROS = 1_000_000
_NAMES = np.array(["Peter", "Paul", "Luke", "John", "Saul", "Vicky", "Kate", "Julie", "Sarah"])
_STATES = np.array(["AZ", "CA", "ID", "OR", "WA", "WY"])


class _Column(IntEnum):
    NAME = auto()
    STATE = auto()
    IS_HOT_SELLER = auto()
    SELLER = auto()
    CATEGORY = auto()
    INITIAL = auto()
    RESERVE = auto()
    LENGTH = auto()
    IS_HOT_AUCTION = auto()
    AUCTION = auto()
    IS_HOT_BIDDER = auto()
    BIDDER = auto()
    PRICE = auto()


@dataclass(frozen=True)
class Model:
    """An auction house.

    Attributes
    ----------
    seed
        Other seeds give other data.
    rate
        Events per second, steadily.
    start_micros
        Instant of event 0, in microseconds since the epoch.
    in_flight
        Auctions that are open at a time, on average; an auction's length follows from it.
    active
        Persons who still buy and sell: the newest so many.
    hot_sellers, hot_auctions, hot_bidders
        All but one in so many auctions are a hot seller's, bids are on a hot auction or a hot
        bidder's.
    """

    seed: int = 1
    rate: int = 1_000
    start_micros: int = 1_767_225_600_000_000
    in_flight: int = 100
    active: int = 1_000
    hot_sellers: int = 4
    hot_auctions: int = 2
    hot_bidders: int = 4

    @property
    def horizon_millis(self) -> int:
        """The time until `in_flight` more auctions are opened."""
        return self.in_flight * EVENTS // AUCTIONS * 1_000 // self.rate

    @property
    def longest_millis(self) -> int:
        """The maximum duration of an auction."""
        return max(2 * self.horizon_millis, 1)

    @property
    def longest_events(self) -> int:
        """The number of events during the longest auction."""
        return -(-self.longest_millis * self.rate // 1_000)

    def instants(self, events: Numbers) -> pd.DatetimeIndex:
        """The times of events."""
        micros = self.start_micros + events * _MICROS // self.rate
        return pd.DatetimeIndex(micros.view("datetime64[us]"), tz="UTC")

    def persons(self, first: int, end: int) -> pd.DataFrame:
        """Make the persons of the events from `first` to before `end`.

        Returns
        -------
        pandas.DataFrame
            ``person``, ``name``, ``state``, ``joined`` (instant).
        """
        events = _events(first, end, 0, PERSONS)
        return pd.DataFrame(
            {
                "person": FIRST_ID + _last_person(events),
                "name": _NAMES[below(self.seed, _Column.NAME, events, len(_NAMES))],
                "state": _STATES[below(self.seed, _Column.STATE, events, len(_STATES))],
                "joined": self.instants(events),
            }
        )

    def auctions(self, first: int, end: int) -> pd.DataFrame:
        """Make the auctions of the events from `first` to before `end`.

        Returns
        -------
        pandas.DataFrame
            ``auction``, ``seller``, ``category``, ``initial`` and ``reserve`` (cents),
            ``opened`` and ``expires`` (instants, whole milliseconds apart).
        """
        events = _events(first, end, PERSONS, PERSONS + AUCTIONS)
        hot = below(self.seed, _Column.IS_HOT_SELLER, events, self.hot_sellers) > 0
        hot_seller = _last_person(events) // HUNDRED * HUNDRED
        initial = self._prices(_Column.INITIAL, events)
        millis = 1 + below(self.seed, _Column.LENGTH, events, self.longest_millis)
        opened = self.instants(events)
        return pd.DataFrame(
            {
                "auction": FIRST_ID + _last_auction(events),
                "seller": FIRST_ID
                + np.where(hot, hot_seller, self._someone(_Column.SELLER, events)),
                "category": FIRST_CATEGORY
                + below(self.seed, _Column.CATEGORY, events, CATEGORIES),
                "initial": initial,
                "reserve": initial + self._prices(_Column.RESERVE, events),
                "opened": opened,
                "expires": opened + pd.to_timedelta(millis, unit="ms"),
            }
        )

    def bids(self, first: int, end: int) -> pd.DataFrame:
        """Make the bids of the events from `first` to before `end`.

        Returns
        -------
        pandas.DataFrame
            ``auction``, ``bidder``, ``price`` (cents), ``at`` (instant). A bid may be too low,
            come after its auction has expired, or before it is opened.
        """
        events = _events(first, end, PERSONS + AUCTIONS, EVENTS)
        last = _last_auction(events)
        hot_auction = last // HUNDRED * HUNDRED
        oldest = np.maximum(last - self.in_flight, 0)
        some = oldest + below(self.seed, _Column.AUCTION, events, last - oldest + 1 + LEAD)
        is_hot = below(self.seed, _Column.IS_HOT_AUCTION, events, self.hot_auctions) > 0
        by_hot = below(self.seed, _Column.IS_HOT_BIDDER, events, self.hot_bidders) > 0
        hot_bidder = _last_person(events) // HUNDRED * HUNDRED + 1
        return pd.DataFrame(
            {
                "auction": FIRST_ID + np.where(is_hot, hot_auction, some),
                "bidder": FIRST_ID
                + np.where(by_hot, hot_bidder, self._someone(_Column.BIDDER, events)),
                "price": self._prices(_Column.PRICE, events),
                "at": self.instants(events),
            }
        )

    def _someone(self, column: _Column, events: Numbers) -> Numbers:
        people = _last_person(events) + 1
        active = np.minimum(people, self.active)
        return people - active + below(self.seed, column, events, active + LEAD)

    def _prices(self, column: _Column, events: Numbers) -> Numbers:
        """Draw prices of 1 to 1,000,000, in cents; each order of magnitude is as likely."""
        return np.rint(10 ** (6 * uniform(self.seed, column, events)) * 100).astype("int64")


def _events(first: int, end: int, lowest: int, above: int) -> Numbers:
    """Numbers of the events whose place among 50 is from `lowest` to before `above`."""
    events = np.arange(first, end, dtype="int64")
    place = events % EVENTS
    return events[(lowest <= place) & (place < above)]


def _last_person(events: Numbers) -> Numbers:
    return events // EVENTS


def _last_auction(events: Numbers) -> Numbers:
    return events // EVENTS * AUCTIONS + np.minimum(events % EVENTS - PERSONS, AUCTIONS - 1)
