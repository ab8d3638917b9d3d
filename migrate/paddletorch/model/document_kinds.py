"""Which files are documents that hold code, by name: notebooks and Markdown."""

from __future__ import annotations

from typing import Literal

DocumentKind = Literal["notebook", "markdown"]

NOTEBOOKS = (".ipynb",)
MARKDOWN = (".md", ".markdown", ".qmd")


def document_kind(path: str) -> DocumentKind | None:
    """What kind of document a file is by its name; None for a Python file."""
    name = path.lower()
    if name.endswith(NOTEBOOKS):
        return "notebook"
    return "markdown" if name.endswith(MARKDOWN) else None
