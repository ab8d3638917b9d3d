"""What is known to convert otherwise in a form: a fixture and the form, one on a line."""

from __future__ import annotations

import zlib
from pathlib import Path

FILE = Path(__file__).with_name("known_failures.txt")

KNOWN = {(fixture, form) for fixture, _, form in (line.partition(" ") for line in FILE.read_text().splitlines())}

_SHARE = 18


def is_sampled(fixture: str, form: str) -> bool:
    """Whether a case is one of those that are run each time; the others are for ``-m long``."""
    return zlib.crc32(f"{fixture} {form}".encode()) % _SHARE == 0
