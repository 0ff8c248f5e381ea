"""The Nexmark model of the examples: the generator's properties and the winners of auctions."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from nexmark_lib.draws import uniform
from nexmark_lib.model import FIRST_ID, Model
from nexmark_lib.winners import sold, sold_between
from tests.support.transports import same_on_connect

pytestmark = same_on_connect

EVENTS = 100_000
MODEL = Model(seed=7)
Table = Callable[[Model, int, int], pd.DataFrame]
TABLES = pytest.mark.parametrize("table", [Model.persons, Model.auctions, Model.bids])


@TABLES
def test_events_do_not_depend_on_the_cut_into_pieces(table: Table) -> None:
    cuts = [0, 1, 33, 52, 150, 999, 2_000]
    pieces = [table(MODEL, first, end) for first, end in pairwise(cuts)]
    together = pd.concat([piece for piece in pieces if len(piece)], ignore_index=True)
    pd.testing.assert_frame_equal(together, table(MODEL, 0, 2_000))


@TABLES
def test_another_seed_gives_other_events(table: Table) -> None:
    some = table(MODEL, 0, 2_000)
    assert some.equals(table(Model(seed=7), 0, 2_000))
    assert not some.equals(table(Model(seed=8), 0, 2_000))


def test_events_have_their_proportions_numbers_and_instants() -> None:
    tables = [make(MODEL, 0, EVENTS) for make in (Model.persons, Model.auctions, Model.bids)]
    assert [len(table) for table in tables] == [EVENTS // 50, 3 * EVENTS // 50, 46 * EVENTS // 50]
    persons, auctions, bids = tables
    for ids in (persons["person"], auctions["auction"]):
        assert list(ids) == list(range(FIRST_ID, FIRST_ID + len(ids)))
    instants = pd.concat([persons["joined"], auctions["opened"], bids["at"]]).sort_values()
    assert (instants.diff().dropna() == pd.Timedelta(milliseconds=1)).all()


def test_three_in_four_auctions_have_a_hot_seller() -> None:
    auctions = MODEL.auctions(0, EVENTS)
    newest = np.arange(len(auctions)) // 3
    hot = auctions["seller"] == FIRST_ID + newest // 100 * 100
    assert hot.mean() == pytest.approx(0.75, abs=0.02)
    others = auctions["seller"][~hot] - FIRST_ID - newest[~hot]
    assert others.max() == 10
    assert -999 <= others.min() < -950


def test_half_of_the_bids_have_a_hot_auction_and_three_in_four_a_hot_bidder() -> None:
    bids = MODEL.bids(0, EVENTS)
    epoch = np.arange(len(bids)) // 46
    newest = 3 * epoch + 2
    hot = bids["auction"] == FIRST_ID + newest // 100 * 100
    assert hot.mean() == pytest.approx(0.5, abs=0.02)
    others = bids["auction"][~hot] - FIRST_ID - newest[~hot]
    assert (others.min(), others.max()) == (-100, 10)
    by_hot = bids["bidder"] == FIRST_ID + epoch // 100 * 100 + 1
    assert by_hot.mean() == pytest.approx(0.75, abs=0.02)


def test_prices_have_all_magnitudes_and_reserves_exceed_them() -> None:
    price = MODEL.bids(0, EVENTS)["price"]
    assert 100 <= price.min() < price.max() <= 100_000_000
    magnitudes = np.floor(np.log10(price / 100)).value_counts(normalize=True)
    assert magnitudes.loc[range(6)].to_numpy() == pytest.approx(1 / 6, abs=0.01)
    auctions = MODEL.auctions(0, EVENTS)
    assert (auctions["reserve"] - auctions["initial"]).min() >= 100


def test_auctions_last_until_a_hundred_are_in_flight() -> None:
    auctions = MODEL.auctions(0, EVENTS)
    millis = (auctions["expires"] - auctions["opened"]) / pd.Timedelta(milliseconds=1)
    assert MODEL.horizon_millis == 1_666
    assert millis.min() >= 1
    assert millis.max() <= MODEL.longest_millis
    assert millis.mean() == pytest.approx(MODEL.horizon_millis, rel=0.02)


def test_draws_fill_the_interval_and_columns_are_independent() -> None:
    events = np.arange(EVENTS, dtype="int64")
    one, other = uniform(1, 0, events), uniform(1, 1, events)
    assert 0 <= one.min() < 0.001
    assert 0.999 < one.max() < 1
    assert one.mean() == pytest.approx(0.5, abs=0.01)
    assert np.corrcoef(one, other)[0, 1] == pytest.approx(0, abs=0.02)
    assert np.corrcoef(one[1:], one[:-1])[0, 1] == pytest.approx(0, abs=0.02)


def instants(*millis: int) -> pd.DatetimeIndex:
    return pd.to_datetime(list(millis), unit="ms", utc=True)


def test_the_highest_valid_bid_wins() -> None:
    auctions = pd.DataFrame(
        {
            "auction": [1, 2, 3],
            "seller": [7, 7, 8],
            "reserve": [100, 100, 100],
            "opened": instants(10, 10, 10),
            "expires": instants(30, 20, 20),
        }
    )
    bids = pd.DataFrame(
        [
            (1, 51, 500, 9),  # before the auction opens
            (1, 52, 100, 10),
            (1, 53, 120, 29),
            (1, 54, 900, 30),  # when the auction closes
            (2, 55, 99, 15),  # below the reserve price
            (3, 56, 200, 12),
            (3, 57, 200, 11),
            (4, 58, 800, 15),  # of no auction
        ],
        columns=["auction", "bidder", "price", "at"],
    )
    bids["at"] = instants(*bids["at"])
    won = sold(auctions, bids)
    columns = ["auction", "seller", "winner", "final"]
    assert won[columns].to_numpy().tolist() == [[3, 8, 57, 200], [1, 7, 53, 120]]
    assert list(won["expires"]) == list(instants(20, 30))


def test_sold_auctions_do_not_depend_on_the_cut_into_pieces() -> None:
    cuts = [0, 1, 777, 4_000, 4_001, 20_000]
    pieces = [sold_between(MODEL, first, end) for first, end in pairwise(cuts)]
    together = pd.concat(pieces, ignore_index=True)
    pd.testing.assert_frame_equal(together, sold_between(MODEL, 0, 20_000).reset_index(drop=True))
    assert together["expires"].is_monotonic_increasing
    assert len(together) > 500
