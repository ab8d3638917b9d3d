"""What a result depends on beside the files: this tool, the tables, the options, Python and LibCST."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path

import paddletorch_rules
from paddletorch_rules.bounded import TABLE_BYTES, read_regular

import paddletorch
from paddletorch.model import Options


def environment_digest(options: Options) -> bytes:
    """Digest of all that is the same for every file of a run."""
    digest = blake2b(digest_size=16)
    digest.update(repr((paddletorch.__version__, sys.version_info, options)).encode("utf-8", "surrogateescape"))
    for wanted, framework in (
        (options.source_version, options.source),
        (options.target_version, options.target),
    ):
        if wanted is not None and wanted.strip() == "installed":
            digest.update(str(paddletorch_rules.installed(framework)).encode())
    for path in _files(options):
        digest.update(path.name.encode("utf-8", "surrogateescape"))
        try:
            data = read_regular(path, TABLE_BYTES)
        except OSError:
            data = b""
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.digest()


def _files(options: Options) -> Iterator[Path]:
    for package, pattern in ((paddletorch, "*.py"), (paddletorch_rules, "*.py"), (paddletorch_rules, "*.toml")):
        for folder in package.__path__:
            yield from sorted(Path(folder).rglob(pattern))
    yield from map(Path, options.tables)
    libcst = find_spec("libcst")
    if libcst is not None and libcst.origin is not None:
        yield Path(libcst.origin).with_name("_version.py")
