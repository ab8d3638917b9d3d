"""Writes ``# paddletorch: ignore[CODE]`` comments, where a line can hold one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from paddletorch.model import Edit, Span
from paddletorch.text.source import Source, splice
from paddletorch.text.suppress import ALL, Comment, Suppressions


def ignoring(source: Source, lines: Iterable[int], codes: Sequence[str]) -> Edit | None:
    """The edit that suppresses ``codes`` on the first of ``lines`` (from 1) that can hold a comment.

    A comment that is there already gets the codes. None if no line can hold one, as inside a string, or if Python
    cannot read the comments of the file.
    """
    for line in lines:
        edit = _on_line(source, line, codes)
        if edit is None:
            continue
        new = Source(splice(source.body, [edit]), encoding="utf-8")
        if len(new.line_starts) == len(source.line_starts) and set(codes) <= _codes_on(new, line):
            return edit
    return None


def _on_line(source: Source, line: int, codes: Sequence[str]) -> Edit | None:
    span = source.line_span(line)
    text = source.body[span.start : span.end]
    for comment in Suppressions(source).comments:
        if comment.line == line and not comment.whole_file and not comment.problem:
            return _extended(source, comment, codes)
    content = text.rstrip()
    if not content or content.endswith(b"\\"):
        return None
    end = span.start + len(content)
    return Edit(Span(end, end), f"  # paddletorch: ignore[{', '.join(codes)}]")


def _extended(source: Source, comment: Comment, codes: Sequence[str]) -> Edit | None:
    if ALL in comment.codes:
        return None
    start = source.line_span(comment.line).start
    text = source.slice(source.line_span(comment.line))
    bracket = text.find("]", comment.column - 1)
    new = [code for code in codes if code not in comment.codes]
    if bracket < 0 or not new:
        return None
    at = start + len(text[:bracket].encode("utf-8"))
    return Edit(Span(at, at), "".join(f", {code}" for code in new))


def _codes_on(source: Source, line: int) -> set[str]:
    comments = Suppressions(source).comments
    return {code for c in comments if c.line == line and not c.whole_file for code in c.codes}
