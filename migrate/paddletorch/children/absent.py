"""Makes packages look as if they were not installed, in this process."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

FAMILIES = {
    "torch": ("torch", "torchvision", "torchaudio", "torchtext", "functorch", "torchgen"),
    "paddle": ("paddle", "paddle_bfloat"),
}
"""Top-level names of each framework and of what is released with it."""


class Absent:
    """Finds what another finder of ``sys.meta_path`` finds, but for some top-level packages.

    It finds nothing rather than raising an error: ``importlib.util.find_spec`` then says None, as of a package that is
    not there.
    """

    def __init__(self, finder: Any, names: Sequence[str]) -> None:
        self._finder = finder
        self._names = names

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """None for a module of the packages that are out of reach."""
        if fullname.partition(".")[0] in self._names:
            return None
        found: ModuleSpec | None = self._finder.find_spec(fullname, path, target)
        return found

    def find_distributions(self, *context: Any) -> Iterable[Any]:
        """Installed distributions, without those of the packages."""
        find = getattr(self._finder, "find_distributions", None)
        found = find(*context) if find is not None else ()
        return [one for one in found if (one.metadata["Name"] or "").lower() not in self._names]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._finder, name)


def make_absent(names: Sequence[str]) -> None:
    """Let no import find these top-level packages from now on; none may be imported yet."""
    sys.meta_path[:] = [Absent(finder, names) for finder in sys.meta_path]


def absent_name(error: BaseException, names: Sequence[str]) -> str | None:
    """The package out of reach that ``error``, or an error before it, is about."""
    seen: BaseException | None = error
    for _ in range(10):
        if seen is None:
            break
        if isinstance(seen, ModuleNotFoundError) and (seen.name or "").partition(".")[0] in names:
            return seen.name
        seen = seen.__cause__ or seen.__context__
    return None
