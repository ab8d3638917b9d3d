"""The generated pages of the documentation are what the tables and the record of proofs give."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from paddletorch.cli.main import cli
from paddletorch.model import Options
from paddletorch.pages import generated
from paddletorch_rules import load, verified

from ..fixture_files import engine_for

DOCS = Path(__file__).parents[2] / "docs"
TABLE = load()
Pages = dict[str, str]


@pytest.fixture(scope="module")
def pages() -> Pages:
    """The content of each page by its name: not made where tests are only collected."""
    return generated(TABLE, verified.read())


def test_pages_are_in_step(pages: Pages) -> None:
    assert len(pages) > 40
    other = [name for name, text in pages.items() if (DOCS / name).read_text(encoding="utf-8") != text]
    assert not other, "run: paddletorch rules pages --write docs"


def test_no_page_is_left_over(pages: Pages) -> None:
    assert {f"areas/{page.name}" for page in (DOCS / "areas").iterdir()} <= pages.keys()


def test_the_index_and_the_areas_name_every_code(pages: Pages) -> None:
    codes = {row.code for row in TABLE.rows} | TABLE.diagnostics.keys() | TABLE.areas.keys()
    assert sorted(re.findall(r"^\| \[(\w+)\]", pages["rules.md"], re.MULTILINE)) == sorted(codes)
    listed = [code for name in pages if name.startswith("areas/") for code in _codes(pages[name])]
    assert sorted(listed) == sorted(codes)


def _codes(page: str) -> list[str]:
    return re.findall(r"^\| \[(\w+)\]", page.partition("## APIs")[0], re.MULTILINE)


def test_every_row_has_its_line(pages: Pages) -> None:
    lines = sum(
        page.partition("## APIs")[2].count("\n| ") - 1
        for name, page in pages.items()
        if "## APIs" in page and name.startswith("areas/")
    )
    assert lines == len(TABLE.rows)


@pytest.mark.parametrize(
    ("api", "torch", "paddle"),
    [
        ("torch.nn.functional.alpha_dropout", "`False`", "`True`"),
        ("torch.amp.GradScaler` `init_scale", "`65536.0`", "before 2.5.1: `32768.0`; from 2.5.1: `65536.0`"),
        ("torch.amp.GradScaler` (none", "`1`", "before 2.5.1: `2`; from 2.5.1: `1`"),
        (
            "optimizer.zero_grad",
            "before 1.7: no parameter; from 1.7: `False`; from 2.0: `True`",
            "before 2.3: no parameter; from 2.3: `True`",
        ),
    ],
)
def test_defaults_by_release(api: str, torch: str, paddle: str, pages: Pages) -> None:
    line = next(line for line in pages["defaults-by-release.md"].splitlines() if f"`{api}" in line)
    cells = [cell.strip() for cell in line.split("|")]
    assert (cells[3], cells[5]) == (torch, paddle)


def test_what_means_the_same_is_not_listed(pages: Pages) -> None:
    page = pages["defaults-by-release.md"]
    assert "`paddle.nn.BatchNorm2D` `momentum`" not in page  # 0.1 is 0.9 on the other side
    assert "`torch.amp.GradScaler` `growth_factor`" not in page


@pytest.mark.parametrize(
    ("call", "written"),
    [
        ("torch.linalg.svd(x)", "full_matrices=True"),
        ("torch.nn.functional.alpha_dropout(x)", "training=False"),
        ("torch.nn.functional.avg_pool2d(x, 2, padding=1)", "exclusive=False"),
        ("torch.optim.RMSprop(p)", "rho=0.99"),
    ],
)
def test_a_default_that_is_listed_is_written_out(call: str, written: str) -> None:
    result = engine_for(Options(target="paddle")).convert(
        f"import torch\n\ndef f(x, p):\n    return {call}\n".encode(), "f.py"
    )
    assert written in result.output.decode()


def test_a_folder_that_is_not_the_documentation_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["rules", "pages", "--write", str(tmp_path)])
    assert result.exit_code == 2
    assert "no folder 'rules'" in result.output
    assert not any(tmp_path.iterdir())


def test_the_command_writes_them_all(tmp_path: Path, pages: Pages) -> None:
    (tmp_path / "rules").mkdir()
    result = CliRunner().invoke(cli, ["rules", "pages", "--write", str(tmp_path)], catch_exceptions=False)
    assert result.output == f"{len(pages)} pages in {tmp_path}\n"
    assert {name: (tmp_path / name).read_text(encoding="utf-8") for name in pages} == pages
