"""Jupyter notebooks: the Python cells of a notebook's JSON, found without writing the JSON anew.

``nbformat`` reads and writes a notebook as a whole, with its own order, indentation and escapes. Here only the
strings that hold changed code are touched, so every other byte stays.
"""

from __future__ import annotations

import json
import re
from functools import partial
from typing import Any

from paddletorch.documents.cells import Cell, DocumentError
from paddletorch.documents.located_json import LocatedStr, loads, offsets_of

_PYTHON = ("python", "ipython")
_BETWEEN = re.compile(r'"(\s*,\s*)"')


def read(text: str) -> list[Cell]:
    """The code cells of a notebook in Python; none if its kernel speaks another language.

    Raises:
        DocumentError: the text is no notebook of format 4.
    """
    try:
        notebook = loads(text)
    except ValueError as error:  # also a number of more digits than Python reads
        raise DocumentError(f"not JSON: {error}") from None
    except RecursionError:
        raise DocumentError("not a notebook: nested too deeply") from None
    if not isinstance(notebook, dict) or not isinstance(notebook.get("nbformat"), int):
        raise DocumentError("not a notebook: it has no nbformat")
    if notebook["nbformat"] != 4:
        raise DocumentError(f"of format {notebook['nbformat']}; Jupyter itself brings it to format 4")
    cells = notebook.get("cells")
    if not isinstance(cells, list):
        raise DocumentError("not a notebook: it has no list of cells")
    if not _is_python(notebook.get("metadata")):
        return []
    ascii_only = text.isascii()
    between = _between(text, cells)
    found = (_cell(text, cell, number, ascii_only, between) for number, cell in enumerate(cells, 1))
    return [cell for cell in found if cell is not None]


def _is_python(metadata: Any) -> bool:
    """Whether the kernel's language is Python; a notebook that does not say is taken for Python."""
    if not isinstance(metadata, dict):
        return True
    for key, name in (("language_info", "name"), ("kernelspec", "language")):
        section = metadata.get(key)
        language = section.get(name) if isinstance(section, dict) else None
        if isinstance(language, str):
            return language.lower() in _PYTHON
    return True


def _cell(text: str, cell: Any, number: int, ascii_only: bool, between: str | None) -> Cell | None:
    if not isinstance(cell, dict) or not isinstance(cell.get("cell_type"), str):
        raise DocumentError(f"not a notebook: cell {number} has no type")
    if cell["cell_type"] != "code" or _other_language(cell.get("metadata")):
        return None
    source = cell.get("source")
    lines = [source] if isinstance(source, LocatedStr) else source
    if not isinstance(lines, list) or not all(isinstance(line, LocatedStr) for line in lines):
        raise DocumentError(f"not a notebook: the source of cell {number} is no text")
    if not lines:
        return None
    line_break = "" if isinstance(source, LocatedStr) else f'"{between or _before(text, lines[0])}"'
    where = [offset for line in lines for offset in offsets_of(text, line)]
    return Cell(number, "".join(lines), [*where, lines[-1].end], line_break, partial(_written, ascii_only))


def _other_language(metadata: Any) -> bool:
    """Whether an editor with several languages in one notebook says that the cell is not in Python."""
    editor = metadata.get("vscode") if isinstance(metadata, dict) else None
    language = editor.get("languageId") if isinstance(editor, dict) else None
    return isinstance(language, str) and language.lower() not in _PYTHON


def _written(ascii_only: bool, code: str) -> str:
    return json.dumps(code, ensure_ascii=ascii_only)[1:-1]


def _between(text: str, cells: list[Any]) -> str | None:
    """What stands between two lines of code in this notebook: a comma and the white space of its indentation."""
    for cell in cells:
        source = cell.get("source") if isinstance(cell, dict) else None
        if isinstance(source, list) and len(source) > 1 and all(isinstance(s, LocatedStr) for s in source[:2]):
            match = _BETWEEN.fullmatch(text, source[0].end, source[1].start)
            return match[1] if match else None
    return None


def _before(text: str, line: LocatedStr) -> str:
    """The same in a notebook whose cells have one line at most: as before the first line."""
    start = text.rindex("[", 0, line.start) + 1
    return "," + text[start : line.start - 1]
