"""Which files of a source tree were asked about, and read, to know what the names of another one mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from paddletorch.model.dependencies import LARGEST, Dependencies, Kind, content_digest


class Ledger:
    """Which file asked about which others. An answer about a file rests on all that this file ever asked."""

    def __init__(self, kinds: Mapping[str, Kind]) -> None:
        """``kinds``: what lay at each path that was looked at; it may grow."""
        self._kinds = kinds
        self._asked: dict[str, set[str]] = {}
        self._looked_at: dict[str, set[str]] = {}
        self._contents: dict[str, bytes | None] = {}
        self._unsteady: set[str] = set()

    def ask(self, asker: str, other: str) -> None:
        """``asker`` needs to know what the file ``other`` defines."""
        self._asked.setdefault(asker, set()).add(other)

    def look(self, asker: str, paths: Iterable[str]) -> None:
        """What lies at ``paths`` decides where an import of ``asker`` leads."""
        self._looked_at.setdefault(asker, set()).update(paths)

    def read(self, path: str, data: bytes | None) -> None:
        """The file holds ``data``; None: it cannot be read."""
        digest = None if data is None else content_digest(data[:LARGEST])
        if self._contents.setdefault(path, digest) != digest:
            self._unsteady.add(path)

    def of(self, path: str) -> Dependencies | None:
        """All that is known to count for the file at ``path``; None if a file changed while it was asked about."""
        reached, pending = {path}, [path]
        while pending:
            others = self._asked.get(pending.pop(), set()) - reached
            reached |= others
            pending += others
        if not reached.isdisjoint(self._unsteady):
            return None
        looked_at = set[str]().union(*(self._looked_at.get(file, ()) for file in reached))
        contents = {file: self._contents[file] for file in reached if file in self._contents}
        return Dependencies(contents, {place: self._kinds[place] for place in looked_at - contents.keys()})
