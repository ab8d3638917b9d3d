"""Byte ranges of a file's body, and what is to stand there."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """Half-open byte range ``[start, end)`` in a file's UTF-8 body (without BOM)."""

    start: int
    end: int

    def holds(self, other: Span) -> bool:
        """Whether ``other`` lies inside."""
        return self.start <= other.start and other.end <= self.end


class DeferredText(NamedTuple):
    """Text that a later pass fills in; until then the edit that contains it cannot be applied."""

    name: str


class Edit(NamedTuple):
    """Replace ``span`` by ``text``; an empty span inserts.

    With ``parts`` the new text is their concatenation: a ``Span`` among them, which lies inside ``span``, is
    taken from the file, with the edits inside it applied. So arguments can change their places. A ``DeferredText``
    among them is text that a later pass fills in.
    """

    span: Span
    text: str
    code: str = ""
    parts: tuple[str | Span | DeferredText, ...] = ()

    def moved(self, by: int) -> Edit:
        """The same edit for a text that begins ``-by`` bytes later."""
        parts = tuple(Span(p.start + by, p.end + by) if isinstance(p, Span) else p for p in self.parts)
        return Edit(Span(self.span.start + by, self.span.end + by), self.text, self.code, parts)

    @property
    def written(self) -> str:
        """The text that is new."""
        return "\0".join([p for p in self.parts if isinstance(p, str)]) if self.parts else self.text
