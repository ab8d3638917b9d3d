"""Tracks which files of a project the types in each of its files depend on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from paddletorch.model.dependencies import LARGEST, Dependencies, Kind, content_digest


class DependencyTracker:
    """Dependencies between files. A file depends on the files that it uses, and on all that those depend on."""

    def __init__(self, kinds: Mapping[str, Kind]) -> None:
        """``kinds``: what was at each path that was checked; it may grow."""
        self._kinds = kinds
        self._uses: dict[str, set[str]] = {}
        self._checked: dict[str, set[str]] = {}
        self._contents: dict[str, bytes | None] = {}
        self._changed: set[str] = set()

    def add_use(self, user: str, used: str) -> None:
        """The file ``user`` uses what the file ``used`` defines."""
        self._uses.setdefault(user, set()).add(used)

    def add_checked(self, user: str, paths: Iterable[str]) -> None:
        """What is at ``paths`` decides where an import of ``user`` leads."""
        self._checked.setdefault(user, set()).update(paths)

    def add_content(self, path: str, data: bytes | None) -> None:
        """The file contains ``data``; None: it cannot be read."""
        digest = None if data is None else content_digest(data[:LARGEST])
        if self._contents.setdefault(path, digest) != digest:
            self._changed.add(path)

    def dependencies(self, path: str) -> Dependencies | None:
        """What the file at ``path`` depends on; None if one of the files has changed since it was first read."""
        reached, pending = {path}, [path]
        while pending:
            used = self._uses.get(pending.pop(), set()) - reached
            reached |= used
            pending += used
        if not reached.isdisjoint(self._changed):
            return None
        checked = set[str]().union(*(self._checked.get(file, ()) for file in reached))
        contents = {file: self._contents[file] for file in reached if file in self._contents}
        return Dependencies(contents, {path: self._kinds[path] for path in checked - contents.keys()})
