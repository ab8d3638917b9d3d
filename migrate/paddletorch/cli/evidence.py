"""``--evidence`` and ``--no-evidence``: what recorded runs showed of the files of a run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from paddletorch.cli.error import Refusal
from paddletorch.cli.settings import RunSettings
from paddletorch.evidence.document import PLACE, EvidenceError
from paddletorch.evidence.load import load
from paddletorch.inputs.config import find_trusted
from paddletorch.model import Evidence, FileResult, Framework


class ProjectEvidence:
    """The evidence about the files of one run: of the project that each file is in, or of the file that was named.

    Paths in an evidence file are relative to the folder that holds its ``.paddletorch``; in one that lies elsewhere, to
    the current folder.
    """

    def __init__(self, settings: RunSettings, given: Mapping[str, Any], files: Iterable[str]) -> None:
        """``given``: the command line's ``evidence``, a path or None, and ``no_evidence``.

        Raises:
            Refusal: an evidence file cannot be used.
        """
        self._settings = settings
        self._named: Path | None = given["evidence"]
        self._left_out: dict[str, None] = {}
        self._found: dict[str, Path | None] = {}
        self._loaded: dict[tuple[Path, Framework], Mapping[str, Evidence]] = {}
        self.by_path: dict[str, Evidence] = {}
        """Of each file that was recorded."""
        for path in files if not given["no_evidence"] else ():
            if (evidence := self._of(path)) is not None:
                self.by_path[path] = evidence

    def remarks(self, results: Sequence[FileResult]) -> list[str]:
        """What of the evidence did not count, and why."""
        changed = [
            result.path
            for result in results
            if any(found.questions for found in result.diagnostics)
            and (evidence := self.by_path.get(result.path)) is not None
            and not evidence.is_of(result.source)
        ]
        if not changed:
            return list(self._left_out)
        named = ", ".join(changed[:_NAMED]) + (f" and {len(changed) - _NAMED} more" if len(changed) > _NAMED else "")
        return [*self._left_out, f"evidence of recorded runs does not count for files that changed since: {named}"]

    def _of(self, path: str) -> Evidence | None:
        file = self._named or self._file_for(os.path.dirname(path))  # noqa: PTH120
        if file is None:
            return None
        absolute = os.path.abspath(path)  # noqa: PTH100 - a link is known by its own name
        root = os.path.abspath(file.parent.parent if file.parent.name == PLACE[0] else os.curdir)  # noqa: PTH100
        if os.path.commonpath([root, absolute]) != root:
            return None
        framework = self._settings.options(path).source
        if (file, framework) not in self._loaded:
            try:
                self._loaded[file, framework] = load(file, framework)
            except EvidenceError as error:
                raise Refusal(str(error)) from error
        return self._loaded[file, framework].get(os.path.relpath(absolute, root).replace(os.sep, "/"))

    def _file_for(self, folder: str) -> Path | None:
        if folder not in self._found:
            self._found[folder], left_out = find_trusted(Path(*PLACE), Path(folder), self._settings.search)
            if left_out:
                self._left_out[left_out] = None
        return self._found[folder]


_NAMED = 5


def evidence_of(settings: RunSettings, path: str) -> Evidence | None:
    """What ``convert`` knew of the file from recorded runs, for commands that convert it once more to explain it.

    Raises:
        Refusal: an evidence file cannot be used.
    """
    return ProjectEvidence(settings, {"evidence": None, "no_evidence": False}, [path]).by_path.get(path)
