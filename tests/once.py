"""What is costly to make: once for all processes that run the tests, or once for all runs of the tests."""

from __future__ import annotations

import hashlib
import os
import pickle
import time
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeVar

import pytest

Made = TypeVar("Made")
PACKAGES = tuple(Path(__file__).parents[1] / folder for folder in ("migrate", "rules", "shim"))


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[], Made]) -> Made:
    """What ``make`` gives, made by one of the processes that run these tests and read by the others."""
    folder = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    claim, kept = folder / f"{name}.claim", folder / f"{name}.pickle"
    try:
        descriptor = os.open(claim, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    except FileExistsError:
        while claim.exists() and not kept.exists():
            time.sleep(0.05)
        if not kept.exists():  # whoever made it failed: the test that needs it shall say how
            return make()
        found: Made = pickle.loads(kept.read_bytes())
        return found
    os.close(descriptor)
    try:
        made = make()
        written = kept.with_suffix(".new")
        written.write_bytes(pickle.dumps(made))
        written.replace(kept)
    except BaseException:
        claim.unlink()
        raise
    return made


def from_run_to_run(config: pytest.Config, name: str, makers: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
    """What each maker gives, from pytest's cache folder if the last run left it there (``--cache-clear`` empties it).

    Args:
        config: that of the run.
        name: a file's name for these results.
        makers: by a key that changes with all that the result depends on. A result is JSON; None is not kept.
    """
    cache = getattr(config, "cache", None)
    kept: dict[str, Any] = cache.get(f"paddletorch/{name}", {}) if cache is not None else {}
    made = {key: kept[key] if key in kept else make() for key, make in makers.items()}
    if cache is not None and made != kept:
        cache.set(f"paddletorch/{name}", {key: result for key, result in made.items() if result is not None})
    return made


def digest(*parts: str) -> str:
    """A key from all parts."""
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()


def code_digest(*folders: Path) -> str:
    """A digest of all Python code in the folders; by default of this project's packages."""
    found = hashlib.blake2b(digest_size=16)
    for file in sorted(file for folder in folders or PACKAGES for file in folder.rglob("*.py")):
        found.update(f"{file}\0".encode() + file.read_bytes())
    return found.hexdigest()


def versions(*packages: str) -> str:
    """The installed versions of packages."""

    def of(package: str) -> str:
        try:
            return f"{package} {version(package)}"
        except PackageNotFoundError:
            return package

    return ", ".join(map(of, packages))
