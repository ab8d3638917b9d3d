"""What the result of one file rests on beside its own bytes: other files of the source tree."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Literal, NamedTuple

from paddletorch.model.results import FileResult

Kind = Literal["file", "folder", ""]
"""What lies at a path; empty: nothing that can be looked at."""

LARGEST = 1_000_000
"""Bytes of a file that is still worth reading for a type: what is larger holds data."""


def kind_of(path: str) -> Kind:
    """What lies at ``path``, links followed."""
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 -- asked so often that making a Path would show
    except (OSError, ValueError):  # not there, not allowed, or no path at all
        return ""
    return "file" if stat.S_ISREG(mode) else "folder" if stat.S_ISDIR(mode) else ""


def content_digest(data: bytes) -> bytes:
    """Stands for the content of a file."""
    return blake2b(data, digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class Dependencies:
    """Other files, by absolute path, as they were when they were read or looked for."""

    contents: Mapping[str, bytes | None] = field(default_factory=dict)
    """Digest of what was read, at most ``LARGEST`` bytes; None for a file that could not be read."""
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    """What lay at a path where only that counts."""


class DependentResult(NamedTuple):
    """A result, and the other files that it rests on; None if that cannot be said."""

    result: FileResult
    dependencies: Dependencies | None


def joined(several: Iterable[Dependencies]) -> Dependencies:
    """What a result rests on that was made from results with these; of two readings of one file the last counts."""
    contents: dict[str, bytes | None] = {}
    kinds: dict[str, Kind] = {}
    for one in several:
        contents.update(one.contents)
        kinds.update(one.kinds)
    return Dependencies(contents, kinds)
