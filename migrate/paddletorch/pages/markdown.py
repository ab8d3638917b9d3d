"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[object]], *, numbers: bool = False) -> Iterator[str]:
    """The lines of a table; with ``numbers`` all columns but the first are set to the right."""
    yield f"| {' | '.join(header)} |"
    yield "|---" + ("|---:" if numbers else "|---") * (len(header) - 1) + "|"
    for row in rows:
        yield f"| {' | '.join(_cell(str(value)) for value in row)} |"


def code(text: str) -> str:
    """``text`` as code; empty stays empty."""
    return f"`{text}`" if text else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
