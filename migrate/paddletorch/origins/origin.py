"""What stands behind a line of a converted file: the lines of its source, and the findings on them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from pathlib import Path

from paddletorch.model import Diagnostic, FileResult, Severity, Status
from paddletorch.origins.lines import line_map, written_lines


def shown(path: str) -> str:
    """A path by the name that a user would give it from the current folder."""
    return os.path.relpath(path) if Path(path).is_relative_to(Path.cwd()) else path


@dataclass(frozen=True, slots=True)
class Behind:
    """A finding, and the file that it is in."""

    path: str
    diagnostic: Diagnostic


@dataclass(frozen=True)
class Origin:
    """A file that was converted.

    Args:
        result: of the conversion.
        text: the converted file as it is now; it may have been edited since.
    """

    result: FileResult
    text: str

    @property
    def path(self) -> str:
        """The file that was converted."""
        return self.result.path

    def lines(self, line: int) -> tuple[int, int]:
        """The first and last line of the source that ``line`` of the converted file comes from."""
        made = self._edited.get(line, line)
        return self._converted.get(made, (made, made))

    def is_written(self, line: int) -> bool:
        """Whether ``line`` is of a function or class that the conversion wrote; the code that calls it has a source."""
        return self._edited.get(line, line) in self._written

    def line_text(self, line: int) -> str:
        """A line of the source."""
        lines = self._source
        return lines[line - 1].strip() if 0 < line <= len(lines) else ""

    def findings(self, line: int) -> list[Diagnostic]:
        """What was found in the lines of the source that ``line`` comes from; notes are left out."""
        first, last = self.lines(line)
        return [one for one in self.left if first <= one.end_line and one.line <= last]

    @property
    def left(self) -> list[Diagnostic]:
        """All that was found in the file but notes."""
        return [one for one in self.result.diagnostics if one.severity is not Severity.INFO]

    def keeping(self, package: str) -> list[Diagnostic]:
        """What was left and needs the import of a top-level package; all that was left if no name says so."""
        return [one for one in self.left if one.name.partition(".")[0] == package] or self.left

    @cached_property
    def _source(self) -> list[str]:
        return self.result.source.decode("utf-8", "replace").splitlines()

    @cached_property
    def _converted(self) -> dict[int, tuple[int, int]]:
        return line_map(self.result) if self.result.status is Status.CONVERTED else {}

    @cached_property
    def _written(self) -> frozenset[int]:
        return written_lines(self.result) if self.result.status is Status.CONVERTED else frozenset()

    @cached_property
    def _edited(self) -> dict[int, int]:
        """Lines as they were written by the conversion, by lines as they are now."""
        written = self.result.output.decode("utf-8", "replace").splitlines()
        now = self.text.splitlines()
        if written == now:
            return {}
        found: dict[int, int] = {}
        for block in SequenceMatcher(None, written, now, autojunk=False).get_matching_blocks():
            found |= {block.b + n + 1: block.a + n + 1 for n in range(block.size)}
        last = 0
        for line in range(1, len(now) + 1):  # a line that was written by hand has the origin of the one before
            last = found.setdefault(line, last or 1)
        return found
