"""Converts any number of texts with one set of options; bad input is a result, not an exception."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import AnyStr, Literal

from paddletorch.api.options import checked_options
from paddletorch.api.result import Result
from paddletorch.engine.engine import Engine
from paddletorch.model import Evidence, FileResult, Framework, InitialValues, Options, ShimMode, Status
from paddletorch.model.dependencies import Dependencies
from paddletorch.model.document_kinds import document_kind
from paddletorch.model.failure import failed
from paddletorch.model.options import MAX_FILE_SECONDS, MAX_FILE_SIZE
from paddletorch.model.project_kinds import is_setup_script, project_kind
from paddletorch.text.source import Source

Kind = Literal["python", "notebook", "markdown"]
"""What a text is."""


class Converter:
    """Converts texts to one framework with one set of options; the tables are read once.

    Where the path of a text names a place in the file system, what the files around it define is looked up there.
    That is remembered: after such files have changed, take a :meth:`renewed` converter.

    Args:
        to: the framework to convert to.
        source_version: releases that the code is for: ``"3.3"``, ``">=2.6,<3"``, ``"installed"``.
        target_version: releases that the result must run on, in the same form.
        select: only these areas (``"AMP"``), codes (``"AMP101"``) or prefixes.
        ignore: all but these.
        unsafe: also convert what is likely right but not sure.
        annotate: put a comment above each use that is left.
        verify: convert each result again; a file that would change once more fails.
        shim: ``"auto"`` uses the runtime shim for what has no exact counterpart, ``"always"`` for every scaler.
        initial_values: ``"source"`` writes initializers for layers whose default initial values differ.
        tables: TOML files to put before the built-in tables.
        project_files: also change requirements, and the commands of scripts and notebooks.
        max_file_size: bytes of the largest text that is converted; 0: no limit.
        max_file_seconds: CPU seconds that one text may take; 0: no limit.

    Raises:
        TableError: a table is wrong.
        TypeError: ``select``, ``ignore`` or ``tables`` is one string rather than several.
        ValueError: another option has a value that it cannot have.
    """

    def __init__(
        self,
        to: Framework,
        *,
        source_version: str | None = None,
        target_version: str | None = None,
        select: Iterable[str] = (),
        ignore: Iterable[str] = (),
        unsafe: bool = False,
        annotate: bool = False,
        verify: bool = False,
        shim: ShimMode = "never",
        initial_values: InitialValues = "target",
        tables: Iterable[str | os.PathLike[str]] = (),
        project_files: bool = False,
        max_file_size: int = MAX_FILE_SIZE,
        max_file_seconds: float = MAX_FILE_SECONDS,
    ) -> None:
        options = checked_options(
            to,
            source_version=source_version,
            target_version=target_version,
            select=select,
            ignore=ignore,
            unsafe=unsafe,
            annotate=annotate,
            verify=verify,
            shim=shim,
            initial_values=initial_values,
            tables=tables,
            project_files=project_files,
            max_file_size=max_file_size,
            max_file_seconds=max_file_seconds,
        )
        self._engine = Engine(options, tree=True)

    @classmethod
    def from_options(cls, options: Options, texts: Callable[[str], bytes | None] = lambda path: None) -> Converter:
        """A converter for options that were checked before.

        ``texts``: what counts as the content of a file around the texts, by absolute path; None where the file does.
        """
        return cls._of(Engine(options, tree=True, texts=texts))

    @classmethod
    def _of(cls, engine: Engine) -> Converter:
        converter = cls.__new__(cls)
        converter._engine = engine
        return converter

    def renewed(self) -> Converter:
        """A converter with the same options that has looked at no file yet."""
        return self._of(self._engine.renewed())

    def convert(
        self,
        source: AnyStr,
        path: str | os.PathLike[str] = "<string>",
        *,
        kind: Kind | None = None,
        evidence: Evidence | None = None,
        left: Iterable[int] = (),
    ) -> Result[AnyStr]:
        """Convert one text. Whatever is wrong with it is said by the result, with status FAILED.

        Args:
            source: the text; bytes are decoded as Python would decode the file.
            path: where the text stands, for messages and to look up what it imports; it need not exist. A name in
                angle brackets stands nowhere.
            kind: what the text is; by default as the name in ``path`` says, as requirements.txt does, else Python.
            evidence: what was seen of the file at ``path`` as it ran; counts only for the bytes of a Python file.
            left: lines, from 1, whose statements stay as they are; counts only for a Python file. What depends on
                them is planned with them left.

        Raises:
            TypeError: ``source`` is neither str nor bytes.
        """
        if not isinstance(source, str | bytes):
            raise TypeError(f"source must be str or bytes, not {type(source).__name__}")
        name = os.fspath(path)
        with _one_at_a_time():
            try:
                file = self._convert(source, name, kind, evidence, frozenset(left))
            except (RecursionError, MemoryError) as error:
                message = f"too deeply nested or too large ({type(error).__name__})"
                file = failed(name, "SRC008", message, source=_as_bytes(source))
            except Exception as error:
                if os.environ.get("PADDLETORCH_DEBUG"):
                    import traceback  # slow to import, and needed only here

                    traceback.print_exc(file=sys.stderr)
                message = f"internal error: {type(error).__name__}: {error}"
                hint = "The file was left alone. PADDLETORCH_DEBUG=1 shows where it happened; please report it."
                file = failed(name, "SRC900", message, hint=hint, source=_as_bytes(source))
        if file.status is not Status.CONVERTED:
            return Result(source, source, file)
        return Result(source, file.output.decode("utf-8") if isinstance(source, str) else file.output, file)

    def may_have_uses(self, data: bytes, path: str = "<string>") -> bool:
        """Whether the file at ``path`` with these bytes may use the source framework, by a quick look at the bytes."""
        if project_kind(path) is not None or is_setup_script(path):
            from paddletorch.project_files.convert import may_name_framework

            return may_name_framework(data, self._engine.settings.options) or self._engine.may_hit(data)
        return self._engine.may_hit(data)

    def dependencies(self, path: str) -> Dependencies | None:
        """The other files that the result of the file at ``path`` rests on; None if one changed meanwhile."""
        return self._engine.dependencies(path)

    def _convert(
        self, source: str | bytes, path: str, given: Kind | None, evidence: Evidence | None, left: frozenset[int]
    ) -> FileResult:
        engine = self._engine
        kind = given or document_kind(path) or "python"
        try:
            data = source.encode("utf-8") if isinstance(source, str) else source
        except UnicodeEncodeError as error:
            return engine.failed(path, _as_bytes(source), "SRC002", f"not text: {error}")
        if (oversized := engine.oversized(data, path)) is not None:
            return oversized
        if kind != "python":
            from paddletorch.documents.convert import convert_document

            return convert_document(engine, data, path, kind)
        if given is None and (project := project_kind(path)) is not None:
            from paddletorch.project_files.convert import convert_project_file

            return convert_project_file(data, path, project, engine.settings.options, engine.settings.table)
        if isinstance(source, bytes) or not engine.may_hit(data):
            result = engine.convert(data, path, evidence, left)
        else:  # a coding comment does not count in a str
            result = engine.convert_source(Source(data, encoding="utf-8"), path, left)
        if not is_setup_script(path):
            return result
        from paddletorch.project_files.convert import with_requirements

        return with_requirements(result, engine.settings.options, engine.settings.table)


_lock = threading.RLock()
if hasattr(os, "register_at_fork"):  # a forked process must not begin with a lock that no thread of it will release
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Let one thread convert; what Python's parser warns of is no matter of the program that converts."""
    with _lock, warnings.catch_warnings():
        for category in (SyntaxWarning, DeprecationWarning):
            warnings.simplefilter("ignore", category)
        yield


def _as_bytes(source: str | bytes) -> bytes:
    return source.encode("utf-8", "surrogatepass") if isinstance(source, str) else source
