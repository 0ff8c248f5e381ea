"""The program that is killed: it keeps a store equal to windows over operations in files.

    python -m tests.resilience.sinks.program STORE ROWS FOLDER VARIABLES [prepare]

With ``prepare``, it creates the store's table. Otherwise it runs the query, going on where it was
killed, and then writes what the store holds to ``content.json`` in the folder.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.resilience.sinks.rows import SCHEMA, windows
from tests.resilience.sinks.stores import STORES


def main(name: str, rows: str, folder: str, variables: str, *prepare: str) -> None:
    """Create the table, or run the query to its end."""
    store = STORES[name](Path(folder), json.loads(variables))
    if prepare:
        store.prepare()
        return
    spark = store.session()
    spark.sparkContext.setLogLevel("ERROR")
    stream = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(rows)
    store.start(windows(stream)).awaitTermination()
    content = json.dumps(store.content(spark))
    (store.folder / "content.json").write_text(content, encoding="utf-8")
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
