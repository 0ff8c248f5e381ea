"""The tab "Windows" of Spark's UI, as it looks while the queries run."""

from __future__ import annotations

import time
from urllib.error import URLError
from urllib.request import urlopen

from pyspark.sql import SparkSession

EVERY_SECONDS = 2.0
BEGIN = '<div class="winops">'
END = "</section>"


class LiveTab:
    """Remembers what the tab showed last while the queries ran.

    Attributes
    ----------
    address
        Address of the tab.
    shown
        The tab's content as HTML, which needs no style sheet; empty before the first look.
    """

    def __init__(self, spark: SparkSession) -> None:
        self.address = f"{spark.sparkContext.uiWebUrl}/windows/"
        self.shown = ""
        self._next = 0.0

    def look(self) -> None:
        """Read the tab, unless that was done less than two seconds ago."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + EVERY_SECONDS
        try:
            with urlopen(self.address, timeout=10) as answer:
                page = answer.read().decode("utf-8")
        except URLError:
            # Spark adds the tab with the first query.
            return
        # The last moment at which both queries ran.
        if "<polyline" in page and ">finished<" not in page:
            self.shown = page[page.index(BEGIN) : page.rindex(END) + len(END)] + "</div>"
