"""Finds results of earlier runs that still hold, and keeps new ones.

A result holds if the file's bytes, the environment, and every other file that counted are as they were. All of
this is compared by content: reading and hashing a file takes microseconds, and times of files can be wrong.
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path

from paddletorch_rules.bounded import open_regular
from paddletorch_rules.storage import UntrustedFolder, cache_folder

from paddletorch.batch.cache.environment import environment_digest
from paddletorch.batch.cache.record import findings_of, is_cacheable, result_of, text_of
from paddletorch.batch.cache.store import Damaged, Record, Store
from paddletorch.inputs.read import SourceFile, read
from paddletorch.model import NOTHING_RECORDED, Evidence, FileResult, Options
from paddletorch.model.dependencies import LARGEST, Dependencies, DependentResult, content_digest, kind_of

_BATCH = 200
"""Results that are written at once: few enough that little is lost at Ctrl-C."""

_NAME = "results-1.sqlite"
"""Of the file; another number where its tables change."""


class ResultCache:
    """The results of earlier runs with the same options. It never raises; ``notes`` say what went wrong."""

    def __init__(self, options: Options, *, evidence: Mapping[str, Evidence] = NOTHING_RECORDED) -> None:
        """``evidence``: what counts for each file beside its bytes."""
        self._evidence = evidence
        self.notes: list[str] = []
        self._store = self._find_store()
        self._environment = environment_digest(options) if self._store is not None else b""
        self._contents: dict[str, bytes] = {}
        self._states: dict[str, bytes] = {}
        self._manifests: dict[int, Sequence[str]] = {}
        self._limit = options.max_file_size
        self._batch = _Batch()

    def _find_store(self) -> Store | None:
        try:
            folder = cache_folder()
        except UntrustedFolder as error:
            self.notes.append(str(error))
            return None
        return Store(folder / _NAME) if folder is not None else None

    @property
    def has_results(self) -> bool:
        """Whether any run has kept results here."""
        return self._store is not None and self._store.exists()

    def find(self, sources: Iterable[SourceFile]) -> dict[str, FileResult | None]:
        """Results that still hold, by path; None for a file that does not use the source framework."""
        if self._store is None:
            return {}
        wanted: dict[bytes, str] = {}
        for source in sources:
            path, content = str(Path(source.path).absolute()), content_digest(source.data)
            if len(source.data) <= LARGEST:
                self._states["c" + path] = content
            self._contents[source.path] = content
            wanted[self._key(source.path, source.data)] = source.path
        try:
            records, stale = self._store.read((k, self._contents[path]) for k, path in wanted.items())
            found: dict[str, FileResult | None] = {}
            for key, (manifest, record) in records.items():
                path = wanted[key]
                if not self._holds(manifest, record):
                    continue
                if record.findings is None:
                    found[path] = None
                elif (same := self._same(path)) is not None:
                    found[path] = result_of(path, same, record.findings, record.text)
        except (Damaged, ValueError, TypeError, LookupError, zlib.error) as error:
            self._give_up(error)
            return {}
        if stale:
            self._store.touch(stale)
        return found

    def keep_unused(self, source: SourceFile) -> None:
        """Keep that a file does not use the source framework."""
        if self._store is not None:
            key = self._key(source.path, source.data)
            self._batch.add(key, content_digest(source.data), Dependencies(), None, None)

    def keep(self, converted: Iterable[DependentResult]) -> Iterator[FileResult]:
        """Keep results as they come and hand them on."""
        batch = self._batch
        try:
            for result, dependencies in converted:
                if self._store is not None and dependencies is not None and is_cacheable(result):
                    key = self._key(result.path, result.source)
                    batch.add(key, content_digest(result.source), dependencies, findings_of(result), text_of(result))
                    if len(batch.records) >= _BATCH:
                        self._write(batch)
                        batch = _Batch()
                yield result
        finally:
            self._write(batch)

    def _write(self, batch: _Batch) -> None:
        if self._store is None or not batch.records:
            return
        try:
            self._store.write(batch.records, list(batch.names))
        except Damaged as error:
            self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        if self._store is None:
            return
        why = error.why if isinstance(error, Damaged) else Damaged().why
        after = "the next run makes a new one" if self._store.remove() else "it cannot be removed"
        self.notes.append(f"the cache {self._store.path} {why}: it was not used, and {after}")
        self._store = None

    def _key(self, path: str, data: bytes) -> bytes:
        digest = blake2b(self._environment, digest_size=16)
        digest.update(str(Path(path).absolute()).encode("utf-8", "surrogateescape"))
        evidence = self._evidence.get(path)
        if evidence is not None and evidence.is_of(data):  # which answers were seen counts, not how often
            answers = sorted((question, sorted(seen)) for question, seen in evidence.seen.items())
            digest.update(b"\0" + repr(answers).encode("utf-8", "backslashreplace"))
        return digest.digest()

    def _same(self, path: str) -> bytes | None:
        """The file's bytes, if they are still those that were looked up."""
        file = read(path, self._limit)
        unchanged = isinstance(file, SourceFile) and content_digest(file.data) == self._contents[path]
        return file.data if isinstance(file, SourceFile) and unchanged else None

    def _holds(self, manifest: int, record: Record) -> bool:
        """Whether all that the result rests on is as it was."""
        assert self._store is not None
        names = self._manifests.get(manifest)
        if names is None:
            names = self._manifests[manifest] = self._store.names(manifest)
        positions = array("I", record.rests_on)
        if positions and max(positions) >= len(names):
            return False  # another process has just removed the manifest
        return _digest_of(map(self._state, map(names.__getitem__, positions))) == record.state

    def _state(self, name: str) -> bytes:
        state = self._states.get(name)
        if state is None:
            state = self._states[name] = _STATES[name[:1]](name[1:])
        return state


class _Batch:
    """Records that are written together, and the names that they rest on."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.names: dict[str, int] = {}

    def add(
        self, key: bytes, content: bytes, rests_on: Dependencies, findings: bytes | None, text: bytes | None
    ) -> None:
        states = {"c" + path: digest or _UNREADABLE for path, digest in rests_on.contents.items()}
        states |= {"k" + path: _state_of_kind(kind) for path, kind in rests_on.kinds.items()}
        positions = array("I", [self.names.setdefault(name, len(self.names)) for name in states])
        self.records.append(Record(key, content, positions.tobytes(), _digest_of(states.values()), findings, text))


_UNREADABLE = b"?"


def _digest_of(states: Iterable[bytes]) -> bytes:
    return blake2b(b"".join(states), digest_size=16).digest()


def _content(path: str) -> bytes:
    try:
        with open_regular(Path(path)) as file:
            return content_digest(file.read(LARGEST))
    except OSError:
        return _UNREADABLE


def _state_of_kind(kind: str) -> bytes:
    return kind[:2].encode() or b"--"


def _kind(path: str) -> bytes:
    return _state_of_kind(kind_of(path))


_STATES: dict[str, Callable[[str], bytes]] = {"c": _content, "k": _kind}
