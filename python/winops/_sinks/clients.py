"""The client libraries of PostgreSQL and Redis, which are optional."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from winops._errors import client_missing


def client(function: str, module: str, extra: str) -> Any:
    """Import a client library, or say how to install it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise client_missing(function, module, extra) from error
