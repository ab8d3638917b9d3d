"""The documentation builds without a warning, works offline, and no link of it is broken."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from ..once import once

ROOT = Path(__file__).parents[2]
_LOADED = {"script": "src", "img": "src", "link": "href", "object": "data", "iframe": "src"}


class _Page(HTMLParser):
    """The links, the anchors and the resources of one page."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.ids: set[str] = set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if given.get("id"):
            self.ids.add(str(given["id"]))
        if tag == "a" and given.get("href"):
            self.links.append(str(given["href"]))
        elif given.get(_LOADED.get(tag, "")):
            self.loaded.append(str(given[_LOADED[tag]]))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as the page on contributing says."""
    return once(tmp_path_factory, "site", lambda: build(tmp_path_factory.mktemp("site")))


def build(out: Path) -> Path:
    """Build the site in a folder."""
    command = [sys.executable, "-m", "sphinx", "-n", "-W", "--keep-going", "-q", "-d", str(out / "doctrees")]
    built = subprocess.run([*command, str(ROOT / "docs"), str(out / "html")], capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return out / "html"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, _Page]:
    return {file: _Page(file) for file in site.rglob("*.html")}


def test_every_page_of_the_folder_is_built(site: Path) -> None:
    written = {file.relative_to(ROOT / "docs").with_suffix(".html") for file in (ROOT / "docs").rglob("*.md")}
    assert written <= {file.relative_to(site) for file in site.rglob("*.html")}


def test_no_link_is_broken(site: Path, pages: dict[Path, _Page]) -> None:
    assert not list(_broken(site, pages))


def _broken(site: Path, pages: dict[Path, _Page]) -> Iterator[str]:
    for file, page in pages.items():
        for link in [*page.links, *page.loaded]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            anchors = pages[target].ids if target in pages else set()
            if not target.is_file() or (parts.fragment and target in pages and unquote(parts.fragment) not in anchors):
                yield f"{file.relative_to(site)}: {link}"


def test_nothing_is_loaded_from_elsewhere(pages: dict[Path, _Page]) -> None:
    assert not [url for page in pages.values() for url in page.loaded if urlsplit(url).netloc]


def test_the_search_knows_codes_and_apis(site: Path) -> None:
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    assert "amp213" in index and "alpha_dropout" in index


def test_the_command_line_page_has_every_command(site: Path) -> None:
    import click
    from paddletorch.cli.main import cli

    page = (site / "cli.html").read_text(encoding="utf-8")
    assert all(f'id="paddletorch-{name}"' in page for name in cli.list_commands(click.Context(cli)))
