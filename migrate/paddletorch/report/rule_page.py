"""What a code means: its title, and the page that comes with the package."""

from __future__ import annotations

from functools import cache
from importlib import metadata
from pathlib import Path

from paddletorch_rules import Table

import paddletorch


def titles(table: Table) -> dict[str, str]:
    """Every code of ``table`` and what it is about, in the order of codes."""
    found = {code: spec.title for code, spec in table.diagnostics.items()}
    found |= {code: area.title for code, area in table.areas.items()}
    for row in table.rows:
        found.setdefault(row.code, row.title)
    return dict(sorted(found.items()))


def page_file(code: str) -> Path | None:
    """Where the page of ``code`` (in capitals) lies; None for a code of a user's own table."""
    package = Path(paddletorch.__file__).parent
    # Installed pages lie in the package; a checkout has them in its documentation.
    for folder in (package / "rules_pages", package.parents[1] / "docs" / "rules"):
        file = folder / f"{code}.md"
        if code.isalnum() and file.is_file():
            return file
    return None


def page_uri(code: str) -> str | None:
    """Where the documentation site has the page of ``code``; None where the package names no site."""
    site = _site()
    return f"{site}/rules/{code}.html" if site and page_file(code) else None


@cache
def _site() -> str:
    """The site that ``[project.urls]`` names as ``Documentation``, without a slash at its end; "" if it names none."""
    try:
        named = metadata.metadata(paddletorch.__name__).get_all("Project-URL") or []
    except metadata.PackageNotFoundError:  # a checkout that is not installed
        return ""
    urls = {name.strip(): url.strip() for name, _, url in (entry.partition(",") for entry in named)}
    url = urls.get("Documentation", "")
    return url.rstrip("/") if url.startswith("https://") else ""


def page(code: str) -> str | None:
    """The page of ``code`` as Markdown."""
    file = page_file(code)
    return file.read_text(encoding="utf-8") if file else None
