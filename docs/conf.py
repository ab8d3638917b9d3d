"""The documentation site: ``sphinx-build -n -W docs site``. The navigation is in ``toc.yml``."""

from __future__ import annotations

import ast
from itertools import groupby
from pathlib import Path

import paddletorch
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

project = "paddletorch"
version = release = paddletorch.__version__

extensions = ["myst_parser", "sphinx_click", "sphinx_external_toc"]
external_toc_path = "toc.yml"
myst_heading_anchors = 3
smartquotes = False  # "--" is an option, not a dash

html_theme = "furo"
html_title = "paddletorch"
html_copy_source = False
html_show_copyright = False
pygments_style = "default"
pygments_dark_style = "github-dark"


ROOT = Path(__file__).parents[1]


def setup(app: Sphinx) -> None:
    """Fill the page of the modules from the source, and read the pages that are made from it in every build."""
    app.connect("source-read", _list_modules)
    app.connect("env-get-outdated", lambda *_: ["cli", "modules"])
    app.connect("env-check-consistency", _fold_areas)  # what was read is kept for the next build before this
    app.connect("html-page-context", _unfold_own_area, priority=400)  # the theme makes the sidebar at 500


_codes: dict[str, tuple[nodes.Element, addnodes.toctree]] = {}
"""The codes of each area, and where they stand below it in the sidebar."""


def _fold_areas(app: Sphinx, env: BuildEnvironment) -> None:
    """All codes in the sidebar of every page would be most of the site, and of the time to build it."""
    for page, contents in env.tocs.items():
        if page.startswith("areas/"):
            (codes,) = contents.findall(addnodes.toctree)
            assert codes.parent is not None
            _codes[page] = codes.parent, codes
            codes.parent.remove(codes)


def _unfold_own_area(app: Sphinx, page: str, *_: object) -> None:
    """A code's page, and its area's, have the codes of the area in the sidebar."""
    for area, (place, codes) in _codes.items():
        if codes in place:
            place.remove(codes)
        if page == area or page.startswith(area.replace("areas/", "rules/")):
            place.append(codes)


def _list_modules(app: Sphinx, page: str, text: list[str]) -> None:
    if page == "modules":
        files = sorted(file for folder in ("migrate", "rules", "shim") for file in (ROOT / folder).rglob("*.py"))
        for folder, modules in groupby(sorted(files, key=lambda file: file.parent), lambda file: file.parent):
            text[0] += f"\n## {folder.relative_to(ROOT)}\n\n"
            text[0] += "".join(f"- `{module.stem}`: {_first_line(module)}\n" for module in modules)


def _first_line(module: Path) -> str:
    text = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0].replace("``", "`")
