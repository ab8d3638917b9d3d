"""Keeps what the converter made of a module beside the bytecode, so that a module is converted once.

An entry belongs to the content of its module, of the files that its types come from, of the converter and its tables,
and to the options. It is used only if all of them are as they were; one that is damaged or cannot be written is not
missed.
"""

from __future__ import annotations

import importlib.util
import marshal
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

from paddletorch.model import Options
from paddletorch.model.dependencies import LARGEST, Dependencies, content_digest, kind_of
from paddletorch_rules.bounded import open_regular, read_regular
from paddletorch_rules.storage import NO_CACHE, UntrustedFolder, cache_folder

_MAGIC = b"paddletorch converted 1\n"
_DIGEST = len(content_digest(b""))


class Store:
    """The entries of one kind for one set of options: what ``marshal`` can write."""

    def __init__(self, options: Options, kind: str) -> None:
        """``kind`` is part of the entries' file names."""
        self._options = options
        self._kind = kind
        self._enabled = not os.environ.get(NO_CACHE)

    def load(self, path: str, source: bytes) -> Any:
        """What was kept for the module at ``path``, if it still holds; else None."""
        if not self._enabled:
            return None
        key = self._key(path, source)
        for place in self._places(path):
            try:
                data = read_regular(place)
            except OSError:
                continue
            found = _unpack(data, key)
            if found is not None and _hold(found[1]):
                return found[0]
        return None

    def save(self, path: str, source: bytes, content: Any, dependencies: Dependencies | None) -> None:
        """Keep ``content``, which is not None, in the first place that can be written.

        ``dependencies``: what it rests on beside the module's own bytes. None: a file changed while the module was
        converted, so that nobody can say, and nothing is kept.
        """
        if not self._enabled or dependencies is None:
            return
        entry = _pack(content, dependencies, self._key(path, source))
        for place in islice(self._places(path), int(sys.dont_write_bytecode), None):
            with suppress(OSError):
                _write(place, entry, Path(path).stat().st_mode)
                return

    def _places(self, path: str) -> Iterator[Path]:
        """Beside the module's bytecode, wherever PYTHONPYCACHEPREFIX puts that; then in the user's cache."""
        bytecode = Path(importlib.util.cache_from_source(path))
        tag = f".{sys.implementation.cache_tag}"
        name = bytecode.name.replace(tag, f"{tag}-{self._kind}-{self._options.target}", 1)
        yield bytecode.with_name(name)
        with suppress(UntrustedFolder):
            folder = cache_folder()
            if folder is not None:
                yield folder / "imports" / blake2b(os.fsencode(path), digest_size=8).hexdigest() / name

    def _key(self, path: str, source: bytes) -> bytes:
        """The path counts because it is part of the code, as ``co_filename``."""
        return content_digest(b"\0".join((_environment_digest(self._options), os.fsencode(path), source)))


@cache
def _environment_digest(options: Options) -> bytes:
    """Stands for the converter with its tables, the options, and the Python that compiles."""
    from paddletorch.batch.cache.environment import environment_digest

    own = (path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
    return content_digest(environment_digest(options) + b"".join(own))


def _pack(content: Any, dependencies: Dependencies, key: bytes) -> bytes:
    body = marshal.dumps((content, dict(dependencies.contents), dict(dependencies.kinds)))
    return _MAGIC + key + content_digest(body) + body


def _unpack(data: bytes, key: bytes) -> tuple[object, Dependencies] | None:
    """The entry, if it is whole and for this key. As with bytecode, whoever may write it may run code anyway."""
    head = _MAGIC + key
    body = data[len(head) + _DIGEST :]
    if not data.startswith(head) or data[len(head) : len(head) + _DIGEST] != content_digest(body):
        return None
    content, contents, kinds = marshal.loads(body)
    return content, Dependencies(contents, kinds)


def _hold(dependencies: Dependencies) -> bool:
    """Whether the files that the types came from are as they were."""
    return all(kind_of(path) == kind for path, kind in dependencies.kinds.items()) and all(
        _content(path) == digest for path, digest in dependencies.contents.items()
    )


def _content(path: str) -> bytes | None:
    try:
        with open_regular(path) as file:
            return content_digest(file.read(LARGEST))
    except OSError:
        return None


def _write(place: Path, entry: bytes, mode: int) -> None:
    """Whoever reads meanwhile sees the whole entry or none; who may read the module may read it."""
    place.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=".", dir=place.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(entry)
        Path(name).chmod(stat.S_IMODE(mode) & 0o666 | stat.S_IWUSR)
        Path(name).replace(place)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
