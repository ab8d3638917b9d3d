"""The file that holds the results: an SQLite database that any number of processes may use at once."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import time
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from paddletorch_rules.storage import is_users_alone

_LIMIT = 500_000_000
"""Bytes that the results may take; half of them stay when there are more."""

_DAYS = 60
"""How long a result stays that no run has asked for."""

_PATIENCE = 5.0
"""Seconds to wait for another process that writes."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS manifests (id INTEGER PRIMARY KEY AUTOINCREMENT, names BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS results (
  key BLOB PRIMARY KEY, content BLOB NOT NULL, manifest INTEGER NOT NULL, rests_on BLOB NOT NULL, state BLOB NOT NULL,
  findings BLOB, text BLOB, checksum BLOB NOT NULL, used INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS by_use ON results (used);
"""


class Damaged(Exception):
    """The file holds something else than was written to it, or may."""

    def __init__(self, why: str = "is damaged") -> None:
        super().__init__(why)
        self.why = why


class Record(NamedTuple):
    """One result as it is kept."""

    key: bytes
    """Stands for the file's path and all that a run's files have in common."""
    content: bytes
    """Digest of the file's bytes."""
    rests_on: bytes
    """Positions in the manifest's names, as an array of unsigned 32-bit numbers."""
    state: bytes
    """Digest of what those names led to."""
    findings: bytes | None
    """None: the file does not use the source framework."""
    text: bytes | None

    def checksum(self) -> bytes:
        """Tells a damaged record from a whole one."""
        digest = blake2b(digest_size=8)
        for part in self:
            digest.update(b"-" if part is None else b"%d:" % len(part) + part)
        return digest.digest()


class Store:
    """Records by key. What cannot be read or written for want of access, space or time is as if it was not kept."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._today = int(time.time() // 86_400)

    def exists(self) -> bool:
        """Whether there is anything of that name, if only a link."""
        return os.path.lexists(self.path)

    def read(self, wanted: Iterable[tuple[bytes, bytes]]) -> tuple[dict[bytes, tuple[int, Record]], list[bytes]]:
        """Records with their manifests by key, where the content is the same; and keys that were not used lately.

        Raises:
            Damaged: the file is no database, or a record is not what was written.
        """
        found: dict[bytes, tuple[int, Record]] = {}
        stale: list[bytes] = []
        query = (
            "SELECT manifest, rests_on, state, findings, text, checksum, used FROM results WHERE key=? AND content=?"
        )
        if not self.exists():
            return found, stale
        try:
            with closing(self._connect()) as database:
                for key, content in wanted:
                    row = database.execute(query, (key, content)).fetchone()
                    if row is None:
                        continue
                    manifest, rests_on, state, findings, text, checksum, used = row
                    record = Record(key, content, rests_on, state, findings, text)
                    if checksum != record.checksum():
                        raise Damaged
                    found[key] = manifest, record
                    if used < self._today:
                        stale.append(key)
        except (sqlite3.OperationalError, OSError):
            return {}, []
        except (sqlite3.DatabaseError, TypeError) as error:
            raise Damaged from error
        return found, stale

    def names(self, manifest: int) -> Sequence[str]:
        """The names of a manifest; none if it is gone.

        Raises:
            Damaged: the file is no database, or this is no list of names.
        """
        try:
            with closing(self._connect()) as database:
                row = database.execute("SELECT names FROM manifests WHERE id=?", (manifest,)).fetchone()
            found = json.loads(row[0]) if row is not None else []
        except (sqlite3.OperationalError, OSError):
            return ()
        except (sqlite3.DatabaseError, ValueError, TypeError) as error:
            raise Damaged from error
        return [name for name in found if isinstance(name, str)]

    def write(self, records: Sequence[Record], names: Sequence[str]) -> None:
        """Keep records whose ``rests_on`` are positions in ``names``.

        Raises:
            Damaged: the file is no database.
        """
        insert = "INSERT OR REPLACE INTO results VALUES (?,?,?,?,?,?,?,?,?)"
        try:
            with closing(self._connect()) as database, database:
                database.executescript(_SCHEMA)
                database.execute("BEGIN IMMEDIATE")
                manifest = database.execute(
                    "INSERT INTO manifests (names) VALUES (?)", (json.dumps(names).encode("ascii"),)
                ).lastrowid
                rows = (
                    (r.key, r.content, manifest, r.rests_on, r.state, r.findings, r.text, r.checksum(), self._today)
                    for r in records
                )
                database.executemany(insert, rows)
                self._prune(database)
        except (sqlite3.OperationalError, OSError):
            return
        except sqlite3.DatabaseError as error:
            raise Damaged from error

    def touch(self, keys: Sequence[bytes]) -> None:
        """Note that the records were of use today."""
        with suppress(sqlite3.Error, OSError, Damaged), closing(self._connect()) as database, database:
            database.executemany("UPDATE results SET used=? WHERE key=?", [(self._today, key) for key in keys])

    def remove(self) -> bool:
        """Give up the file, so that the next run starts anew; whether that was possible."""
        with suppress(OSError):
            self.path.unlink()
        return not self.exists()

    def _connect(self) -> sqlite3.Connection:
        """Open the file.

        Raises:
            Damaged: others can have written to it: what it holds would be written into code.
        """
        with suppress(FileExistsError, PermissionError):
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        status = self.path.lstat()
        if not (stat.S_ISREG(status.st_mode) and is_users_alone(status)):
            raise Damaged("is not the user's alone")
        database = sqlite3.connect(self.path, timeout=_PATIENCE)
        database.execute("PRAGMA synchronous=OFF")  # after a crash of the machine the cache may be lost
        return database

    def _prune(self, database: sqlite3.Connection) -> None:
        database.execute("DELETE FROM results WHERE used < ?", (self._today - _DAYS,))
        pages, free, size = (
            database.execute(f"PRAGMA {what}").fetchone()[0] for what in ("page_count", "freelist_count", "page_size")
        )
        if (pages - free) * size > _LIMIT:
            count = database.execute("SELECT count(*) FROM results").fetchone()[0]
            database.execute(
                "DELETE FROM results WHERE key IN (SELECT key FROM results ORDER BY used, rowid LIMIT ?)", (count // 2,)
            )
        database.execute("DELETE FROM manifests WHERE id NOT IN (SELECT manifest FROM results)")
