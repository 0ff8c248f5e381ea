"""Sold auctions and their prices, in plain SQL (DuckDB).

The output of the stream is compared with these auctions. This module does not use Spark.
"""

from __future__ import annotations

import duckdb
import numpy as np
import pandas as pd

from nexmark_lib.model import Model

# The highest bid that reaches the reserve wins, the earliest of equal ones; it has to be made
# while the auction is open. An auction without such a bid is not sold.
_SOLD = """
SELECT a.auction, a.seller, a.expires, b.bidder AS winner, b.price AS final
FROM auctions AS a JOIN bids AS b
  ON b.auction = a.auction AND b.at >= a.opened AND b.at < a.expires AND b.price >= a.reserve
QUALIFY row_number() OVER (PARTITION BY a.auction ORDER BY b.price DESC, b.at) = 1
ORDER BY a.expires, a.auction
"""


def sold(auctions: pd.DataFrame, bids: pd.DataFrame) -> pd.DataFrame:
    """Return the sold auctions in the order in which they closed.

    Returns
    -------
    pandas.DataFrame
        ``auction``, ``seller``, ``expires`` (instant), ``winner`` (the bidder) and ``final``
        (price, cents).
    """
    with duckdb.connect() as db:
        db.register("auctions", auctions)
        db.register("bids", bids)
        return db.execute(_SOLD).df()


def sold_between(model: Model, first: int, end: int) -> pd.DataFrame:
    """Return the auctions that closed from the event `first` to before the event `end`.

    Returns
    -------
    pandas.DataFrame
        The columns of :func:`sold`. Consecutive pieces make up all sold auctions, in order.
    """
    since = max(0, first - model.longest_events)
    closed = sold(model.auctions(since, end), model.bids(since, end))
    start, stop = model.instants(np.array([first, end]))
    return closed[(start <= closed["expires"]) & (closed["expires"] < stop)]
