"""The functions of redis-py that winops calls, over a dict."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace


class Stand:
    """A server: its hashes by their keys, and the number of transactions."""

    def __init__(self) -> None:
        self.hashes: dict[str, dict[str, str]] = {}
        self.transactions = 0
        self.fails_after: int | None = None

    def module(self) -> SimpleNamespace:
        """Return the module ``redis``, whose clients are all of this server."""
        return SimpleNamespace(Redis=SimpleNamespace(from_url=self._client))

    @contextmanager
    def _client(self, url: str, *, decode_responses: bool) -> Iterator[SimpleNamespace]:
        yield SimpleNamespace(delete=self._delete, pipeline=self._pipeline)

    def _delete(self, *keys: str) -> None:
        for key in keys:
            self.hashes.pop(key, None)

    @contextmanager
    def _pipeline(self, *, transaction: bool) -> Iterator[SimpleNamespace]:
        assert transaction
        waiting: list[tuple[str, dict[str, str] | None]] = []

        def execute() -> None:
            self.transactions += 1
            if self.fails_after is not None and self.transactions > self.fails_after:
                raise ConnectionError("the server is gone")
            for key, mapping in waiting:
                if mapping is None:
                    self._delete(key)
                else:
                    assert mapping
                    self.hashes.setdefault(key, {}).update(mapping)

        yield SimpleNamespace(
            delete=lambda key: waiting.append((key, None)),
            hset=lambda key, mapping: waiting.append((key, mapping)),
            execute=execute,
        )
