"""Keeps the checked tables, the facts and the packages in the user's cache, so that a run need not parse them again.

The key is the content of the files and of the code that reads them; a copy that cannot be read is
ignored, and one that cannot be written is not missed. Reading runs no code that a copy could name: the folder
must be the user's alone, and only the tables' own records are made from it.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from packaging.version import Version

from paddletorch_rules import schema
from paddletorch_rules.bounded import TABLE_BYTES, read_regular
from paddletorch_rules.schema import Parameter, ParameterPair, RawTables, Record, Signature
from paddletorch_rules.storage import UntrustedFolder, cache_folder

_HERE = Path(__file__).parent

_COPIES = 8
"""How many copies stay: one for each set of tables and release of this tool that is in use."""


def digest_of(paths: Sequence[Path]) -> str:
    """Digest of the files' names and of what they hold; a file that cannot be read counts by its name."""
    digest = hashlib.blake2b(digest_size=16)
    for path in paths:
        try:
            parts = [path.name.encode(), read_regular(path, TABLE_BYTES)]
        except OSError:
            parts = [path.name.encode()]
        for part in parts:
            digest.update(b"%d:" % len(part) + part)
        digest.update(b";")  # a name without content is no content without a name
    return digest.hexdigest()


def restore(tables: str) -> RawTables | None:
    """The tables with this digest, if they were kept."""
    found = _restored("tables", tables)
    return found if isinstance(found, RawTables) else None


def keep(tables: str, raw: RawTables) -> None:
    """Keep the tables; whoever reads meanwhile sees the whole copy or none."""
    _keep("tables", tables, lambda: _shared(raw))


def restore_plain(kind: str, digest: str) -> dict[str, Any] | None:
    """What a file of this digest beside the tables holds, as plain values, if it was kept."""
    found = _restored(kind, digest)
    return found if isinstance(found, dict) else None


def keep_plain(kind: str, digest: str, read: dict[str, Any]) -> None:
    """Keep plain values, as ``keep`` does the tables."""
    _keep(kind, digest, lambda: read)


def _restored(kind: str, digest: str) -> Any:
    place = _place(kind, digest)
    if place is None:
        return None
    try:
        return _Records(io.BytesIO(place.read_bytes())).load()
    except Exception:  # a damaged copy can fail in any way
        return None


def _keep(kind: str, digest: str, value: Callable[[], Any]) -> None:
    place = _place(kind, digest)
    if place is None:
        return
    try:
        handle, name = tempfile.mkstemp(dir=place.parent)
        with os.fdopen(handle, "wb") as file:
            _Keeper(file, 5).dump(value())
        Path(name).replace(place)
        copies = sorted(place.parent.glob(f"{kind}-*.pickle"), key=lambda copy: copy.stat().st_mtime)
        for old in copies[:-_COPIES]:
            old.unlink(missing_ok=True)
    except OSError:
        return


class _Keeper(pickle.Pickler):
    """Writes a release as its text, which every version of ``packaging`` reads."""

    def reducer_override(self, value: Any) -> Any:
        return (Version, (str(value),)) if isinstance(value, Version) else NotImplemented


def _shared(raw: RawTables) -> RawTables:
    """The same tables, with one object for what is equal: most parameters stand in many signatures."""
    seen: dict[Any, Any] = {}
    releases: dict[str, Version] = {}

    def share(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {share(key): share(item) for key, item in value.items()}
        if isinstance(value, tuple):
            return tuple(map(share, value))
        if isinstance(value, Record):
            value = type(value)(*(share(getattr(value, name)) for name in value.__match_args__))
        if isinstance(value, str | Parameter | ParameterPair | Signature):
            return seen.setdefault(value, value)
        return releases.setdefault(str(value), value) if isinstance(value, Version) else value

    shared = RawTables()
    shared.rows = [share(row) for row in raw.rows]
    shared.aliases = raw.aliases
    for name in ("values", "diagnostics", "types", "areas"):
        setattr(shared, name, share(getattr(raw, name)))
    return shared


class _Records(pickle.Unpickler):
    """Makes the tables' records and releases, and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("packaging.version", "Version"):
            return Version
        found = vars(schema).get(name)
        if module != schema.__name__ or not isinstance(found, type) or found.__module__ != module:
            raise pickle.UnpicklingError(f"{module}.{name} is no record of a table")
        return found


def _place(kind: str, digest: str) -> Path | None:
    try:
        folder = cache_folder()
    except UntrustedFolder:
        return None
    if folder is None:
        return None
    python = f"{sys.version_info.major}{sys.version_info.minor}"
    return folder / f"{kind}-{python}-{digest[:16]}-{_code()[:16]}.pickle"


@lru_cache(maxsize=1)
def _code() -> str:
    """Digest of the code that reads the files."""
    return digest_of([*sorted(_HERE.glob("*.py")), *sorted(_HERE.glob("hooks/*.py"))])
