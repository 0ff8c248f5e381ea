"""The tab Windows in the UI of a Spark Connect server."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.request import urlopen

from tests.support.replay import TIMEOUT_SECONDS, NewReplay
from tests.support.transports import on_spark_connect
from winops import keep


@on_spark_connect
def test_the_server_shows_the_windows_of_its_clients(
    replay: NewReplay, ui_port: int, tmp_path: Path
) -> None:
    stream = replay("seq long, symbol string")
    stream.add([(1, "A"), (2, "B"), (3, "A"), (4, "A")])
    kept = keep(stream.rows(), rows=2, per="symbol", order_by="seq").changes()
    writer = kept.writeStream.queryName("newest").trigger(availableNow=True)
    query = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start(
        str(tmp_path / "changes"), format="parquet"
    )
    assert query.awaitTermination(TIMEOUT_SECONDS)
    address = f"http://localhost:{ui_port}/windows/"
    with urlopen(address) as page:
        text = re.sub("<.*?>", "", page.read().decode())
    assert "For each symbol, keeps the newest 2 rows." in text
    with urlopen(f"{address}json/") as answer:
        queries = json.load(answer)["queries"]
    [shown] = [one for one in queries if one["name"] == "newest"]
    assert shown["status"] == "finished"
    [window] = shown["windows"]
    assert window["metrics"]["rowsHeld"] == 3
