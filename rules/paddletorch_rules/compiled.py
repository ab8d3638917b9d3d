"""Keeps the checked tables, the facts and the packages in a form that loads fast: a run need not parse them again.

A wheel brings them (``compile_built_in`` writes them when it is built); what it does not bring, such as a user's
tables, is kept in the user's cache. A copy counts only if the digest that it begins with is that of the tables' files
and of the code that reads them, and the one of its own bytes holds; else it is ignored, and one that cannot be written
is not missed. It holds plain values: reading it runs no code and names no class. The cache folder must be the user's
alone.
"""

from __future__ import annotations

import hashlib
import marshal
import os
import sys
import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from paddletorch_rules.bounded import TABLE_BYTES, read_regular
from paddletorch_rules.storage import UntrustedFolder, cache_folder

_HERE = Path(__file__).parent

FOLDER = _HERE / "compiled_tables"
"""What a wheel brings; not there where the tables are used from a checkout."""

_SUFFIX = ".tables"

_UNFINISHED = f"{_SUFFIX}.tmp"

_LONGEST = 600
"""Seconds that writing a copy may take."""

MARSHAL = 2
"""The version of the form that ``marshal`` writes: its bytes depend on the values alone, and every Python reads it."""

_COPIES = 8
"""How many copies stay in the cache: one for each set of tables and release of this tool that is in use."""


def digest_of(paths: Sequence[Path]) -> str:
    """Digest of the files' names and of what they hold; a file that cannot be read counts by its name."""
    digest = _digest()
    for path in paths:
        try:
            parts = [path.name.encode(), read_regular(path, TABLE_BYTES)]
        except OSError:
            parts = [path.name.encode()]
        for part in parts:
            digest.update(b"%d:" % len(part) + part)
        digest.update(b";")  # a name without content is no content without a name
    return digest.hexdigest()


def restore(kind: str, digest: str) -> Any:
    """What was kept of files with this digest, as plain values; None if nothing was."""
    for place_of in (_brought, _place):
        place = place_of(kind, digest)
        try:
            data = read_regular(place) if place is not None else b""
        except OSError:
            continue
        head = _head(digest, content := memoryview(data)[_HEAD:])
        if data[:_HEAD] == head:
            try:
                return marshal.loads(content)
            except (ValueError, TypeError, EOFError):  # of a Python that writes another form
                continue
    return None


def keep(kind: str, digest: str, values: Mapping[str, Any]) -> None:
    """Keep plain values in the cache; whoever reads meanwhile sees the whole copy or none."""
    place = _place(kind, digest)
    if place is None:
        return
    import tempfile  # slow to import, and needed once

    try:
        handle, name = tempfile.mkstemp(_UNFINISHED, dir=place.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_written(digest, values))
            Path(name).replace(place)
        except BaseException:  # a full disk, Ctrl-C
            Path(name).unlink(missing_ok=True)
            raise
        _remove_leftovers(place.parent)
        copies = sorted(place.parent.glob(f"{kind}-*{_SUFFIX}"), key=lambda copy: copy.stat().st_mtime)
        for old in copies[:-_COPIES]:
            old.unlink(missing_ok=True)
    except OSError:
        return


def _remove_leftovers(folder: Path) -> None:
    """Remove what runs that were killed have not finished; younger ones may be at work."""
    for left in folder.glob(f"*{_UNFINISHED}"):
        if time.time() - left.stat().st_mtime > _LONGEST:
            left.unlink(missing_ok=True)


def write(folder: Path, kind: str, paths: Sequence[Path], values: Mapping[str, Any]) -> None:
    """Write into ``folder`` what a wheel brings of these files.

    Raises:
        OSError: the folder cannot be written to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _brought(kind, "").name).write_bytes(_written(digest_of(paths), values))


def _written(digest: str, values: Mapping[str, Any]) -> bytes:
    content = marshal.dumps(dict(values), MARSHAL)
    return _head(digest, content) + content


def _head(digest: str, content: bytes | memoryview) -> bytes:
    """Digest of the files and of the code that reads them, and of the content."""
    rests_on, own = _digest(f"{digest} {_code()}".encode()), _digest(content)
    return rests_on.digest() + own.digest()


_digest = hashlib.sha256
"""Many processors have instructions for it."""

_HEAD = 2 * _digest().digest_size


def _brought(kind: str, _: str) -> Path:
    return FOLDER / f"{kind}{_SUFFIX}"


def _place(kind: str, digest: str) -> Path | None:
    try:
        folder = cache_folder()
    except UntrustedFolder:
        return None
    if folder is None:
        return None
    python = f"{sys.version_info.major}{sys.version_info.minor}"
    return folder / f"{kind}-{python}-{digest[:16]}-{_code()[:16]}{_SUFFIX}"


@lru_cache(maxsize=1)
def _code() -> str:
    """Digest of the code that reads the files."""
    return digest_of([*sorted(_HERE.glob("*.py")), *sorted(_HERE.glob("hooks/*.py"))])
