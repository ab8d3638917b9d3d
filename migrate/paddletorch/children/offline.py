"""Keeps the Python code of this process off the network; this machine itself stays in reach."""

from __future__ import annotations

import sys
from typing import Any

_LOCAL = ("localhost", "127.", "::1", "0.0.0.0")


def go_offline() -> None:
    """Refuse connections and look-ups of names from now on; there is no way back."""
    sys.addaudithook(_refuse)


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if not event.startswith("socket."):
        return
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) and address else None  # else: a socket of this machine
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        host = arguments[0]
    else:
        return
    host = host.decode("ascii", "replace") if isinstance(host, bytes) else host
    if isinstance(host, str) and host and not host.startswith(_LOCAL):
        raise ConnectionRefusedError(f"there is no network here: {host}")
