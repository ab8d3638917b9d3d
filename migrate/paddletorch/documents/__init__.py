"""Code inside other files: notebooks and fenced blocks of Markdown, converted in place."""

from __future__ import annotations

from typing import Literal

Form = Literal["notebook", "markdown"]

NOTEBOOKS = (".ipynb",)
MARKDOWN = (".md", ".markdown", ".qmd")


def form_of(path: str) -> Form | None:
    """What kind of document a file is by its name; None for a Python file."""
    name = path.lower()
    if name.endswith(NOTEBOOKS):
        return "notebook"
    return "markdown" if name.endswith(MARKDOWN) else None
