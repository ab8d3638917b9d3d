"""The HTML report in a real Chromium, without a window: it works, asks for nothing and is readable on a phone."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser, Error, Locator, Page, expect, sync_playwright

from .conftest import BROKEN, FINDING, PLAIN, Run, Tree
from .test_html import HOSTILE, HOSTILE_NAME

TO = ("convert", "--to", "paddle")
WIDE, PHONE = (1280, 900), (390, 844)
LONG = "import torch\n\n\ndef f(x: torch.Tensor):\n    return x.unsqueeze(1).repeat(1, 2), torch.no_such(x)\n"
FILES = {"a.py": FINDING, "sub/plain.py": PLAIN, "sub/long.py": LONG, "broken.py": BROKEN, HOSTILE_NAME: HOSTILE}


@dataclass
class Opened:
    """A page, and what went on in it that should not."""

    page: Page
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


Open = Callable[..., Opened]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Playwright's own Chromium or the one of the system."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    installed = next((path for name in names if (path := shutil.which(name))), None)
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=installed, chromium_sandbox=False)
        except Error as error:
            pytest.skip(f"no Chromium here ('playwright install chromium' gets one): {error.message.splitlines()[0]}")
        yield browser
        browser.close()


@pytest.fixture
def report(paddletorch: Run, tree: Tree, folder: Path) -> Path:
    """The report of a small tree."""
    tree(FILES)
    assert paddletorch(*TO, "--report", "report.html").returncode == 2
    return folder / "report.html"


@pytest.fixture
def opened(browser: Browser) -> Iterator[Open]:
    """Opens a report; at the end nothing may have been asked for but the page, and no error said."""
    seen: list[Opened] = []

    def open_(report: Path, size: tuple[int, int] = WIDE, scheme: str = "light") -> Opened:
        page = browser.new_page(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)  # type: ignore[arg-type]
        page.set_default_timeout(10_000)
        made = Opened(page)
        seen.append(made)
        page.on("request", lambda request: made.requests.append(request.url))
        page.on("console", lambda message: made.errors.append(message.text))
        page.on("pageerror", lambda error: made.errors.append(str(error)))
        page.on("dialog", lambda dialog: made.errors.append(dialog.message))
        page.goto(report.as_uri())
        return made

    yield open_
    for made in seen:
        assert made.errors == []
        assert set(made.requests) == {made.page.url.partition("#")[0]}
        made.page.close()


def everything_open(page: Page) -> None:
    for selector in ("details", "details details"):  # some come to be when another opens
        page.evaluate("selector => document.querySelectorAll(selector).forEach(node => { node.open = true })", selector)


def file_row(page: Page, name: str) -> Locator:
    return page.locator(".file").filter(has=page.get_by_text(name, exact=True))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_it_fits_the_window_and_says_nothing_in_the_console(
    opened: Open, report: Path, size: tuple[int, int], scheme: str
) -> None:
    page = opened(report, size, scheme).page
    expect(page.locator(".file")).to_have_count(len(FILES))
    everything_open(page)
    expect(page.locator(".diff")).to_have_count(len(FILES))
    assert page.evaluate("document.documentElement.scrollWidth") == size[0]
    back = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert back == {"light": "rgb(246, 247, 249)", "dark": "rgb(16, 21, 28)"}[scheme]
    columns = page.locator(".diff").filter(has_text="unsqueeze").locator("col")
    expect(columns).to_have_count(4 if size == WIDE else 3)


def test_overview_and_codes(opened: Open, report: Path) -> None:
    page = opened(report).page
    expect(page.locator("#headline")).to_contain_text("5 files scanned: 4 with uses, 4 would change, 1 failed.")
    expect(page.locator("h1")).to_have_text("PyTorch → PaddlePaddle")
    page.get_by_role("button", name="file failed").click()
    expect(page.locator(".file .path")).to_have_text(["broken.py"])
    page.locator("#code-AMP226 > summary .title").click()
    expect(page.locator("#code-AMP226 .help h3").first).to_have_text("What it finds")
    page.get_by_role("button", name="2 files with AMP226").click()
    expect(page.locator("#found")).to_have_text("2 findings and 0 conversions in 2 of 5 files.")


def test_filter_by_text_file_severity_and_code(opened: Open, report: Path) -> None:
    page = opened(report).page
    paths = page.locator(".file .path")
    page.keyboard.press("/")
    page.keyboard.type("NO_SUCH")
    expect(paths).to_have_text(["sub/long.py"])
    expect(page.locator("#found")).to_have_text("1 finding and 0 conversions in 1 of 5 files.")
    page.get_by_role("button", name="Clear").click()
    expect(paths).to_have_count(5)
    page.get_by_role("searchbox", name="File").fill("sub/")
    expect(paths).to_have_text(["sub/long.py", "sub/plain.py"])
    page.get_by_role("button", name="Clear").click()
    page.get_by_role("combobox", name="Show").select_option("error")
    expect(paths).to_have_count(3)
    page.get_by_role("combobox", name="Code", exact=True).select_option("SRC001")
    expect(paths).to_have_text(["broken.py"])
    page.get_by_label("Search").fill("no such text")
    expect(paths).to_have_count(0)
    expect(page.get_by_role("status")).to_have_text("0 findings and 0 conversions in 0 of 5 files.")


def test_the_filter_is_in_the_address(opened: Open, report: Path) -> None:
    page = opened(report).page
    paths = page.locator(".file .path")
    page.get_by_role("combobox", name="Show").select_option("error")
    page.get_by_role("searchbox", name="File").fill("rok")
    expect(paths).to_have_text(["broken.py"])
    page.wait_for_url("**#path=rok&kind=error")
    address = page.url
    page.get_by_role("button", name="Clear").click()
    assert "#" not in page.url
    expect(paths).to_have_count(5)
    page.goto(address)
    expect(paths).to_have_text(["broken.py"])
    page.evaluate("location.hash = '#kind=no-such-kind&query=NO_SUCH&more=<img src=x onerror=alert(1)>'")
    expect(paths).to_have_text(["sub/long.py"])
    expect(page.get_by_role("combobox", name="Show")).to_have_value("all")


def test_the_totals_lead_to_their_findings(opened: Open, report: Path) -> None:
    page = opened(report).page
    page.get_by_role("button", name="not examined").click()
    expect(page.get_by_role("combobox", name="Show")).to_have_value("not_examined")
    rows = page.locator(".file")
    expect(rows.filter(has_text="long.py")).to_be_visible()
    expect(rows.filter(has_text="plain.py")).to_have_count(0)


def test_an_explanation_leads_to_one_that_only_it_names(opened: Open, report: Path) -> None:
    page = opened(report).page
    page.locator("#code-AMP101 > summary .title").click()
    link = page.locator("#code-AMP101 .help a[href^='#code-']").first
    target = link.get_attribute("href")
    link.click()
    expect(page.locator(f"{target} .help")).to_be_visible()


def test_a_finding_leads_to_its_line_and_its_explanation(opened: Open, report: Path) -> None:
    page = opened(report).page
    file = file_row(page, "a.py")
    file.locator("summary").first.click()
    file.get_by_role("button", name="4:7").click()
    expect(file.locator("tr.target td").first).to_have_text("print(scaler._scale)")
    expect(file.locator("tr.note")).to_contain_text("AMP226")
    file.locator("tr.note a").click()
    expect(page.locator("#code-AMP226 .help")).to_be_visible()


def test_layout_of_diffs_can_be_chosen(opened: Open, report: Path) -> None:
    page = opened(report).page
    page.locator(".file > summary").filter(has_text="plain.py").click()
    expect(page.locator(".diff col")).to_have_count(4)
    expect(page.locator(".diff td.removed mark").first).to_have_text("torch")
    expect(page.locator(".diff td.added mark").first).to_have_text("paddle")
    page.get_by_label("Diff").select_option("stacked")
    expect(page.locator(".diff col")).to_have_count(3)
    page.get_by_label("Diff").select_option("auto")
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    expect(page.locator(".diff col")).to_have_count(3)


def test_theme_is_chosen_and_kept(opened: Open, report: Path) -> None:
    page = opened(report, scheme="light").page
    page.get_by_label("Theme").select_option("dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(16, 21, 28)"
    with page.expect_event("load"):
        page.evaluate("location.reload()")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_names_and_source_are_text(opened: Open, report: Path) -> None:
    page = opened(report).page
    page.locator(".file > summary").filter(has_text="onerror=alert(3)").click()
    expect(page.locator(".diff")).to_contain_text("</script><script>alert(1)</script><!-- <img src=x onerror=alert(2)>")
    assert page.locator("img").count() == 0
    assert page.locator("script:not([type])").count() == 1


MAP = "#folder-map"
UNCOVERED = """() => {
  const map = document.querySelector('#folder-map').getBoundingClientRect();
  const boxes = [...document.querySelectorAll('#folder-map button.box')].map(box => box.getBoundingClientRect());
  const heads = [...document.querySelectorAll('#folder-map .folder')].map(box => box.getBoundingClientRect());
  const area = (box) => box.width * box.height;
  const out = boxes.filter(box => box.right > map.right + 1 || box.bottom > map.bottom + 1 || box.width < 1);
  const frames = heads.reduce((total, box) => total + 24 * box.width + 6 * box.height, 0);
  return [out.length, 1 - (boxes.reduce((total, box) => total + area(box), 0) + frames) / area(map)];
}"""
"""How many boxes stand out of the map, and the share of it that neither a box nor the frame of a folder fills."""


def test_folders_and_keyboard(opened: Open, report: Path) -> None:
    page = opened(report).page
    inside = page.locator(MAP).get_by_role("button", name="sub/plain.py")
    expect(inside).to_be_visible()
    page.locator(f"{MAP} .head").filter(has_text="sub/").focus()
    page.keyboard.press("Enter")
    expect(page.locator(f"{MAP} button.box .name")).to_have_text(["long.py", "plain.py"])
    expect(page.locator("#folder-path")).to_contain_text("sub/")
    assert page.evaluate("document.activeElement.textContent") == "all"
    page.keyboard.press("Enter")
    expect(page.locator(f"{MAP} .head")).to_have_text(["sub/"])
    inside.click()
    expect(page.locator(".file .path")).to_have_text(["sub/plain.py"])
    expect(page.locator(".file .diff")).to_be_visible()
    assert page.evaluate("document.activeElement.id") == "query"


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_the_map_fills_its_space_and_leads_to_every_file(
    opened: Open, paddletorch: Run, tree: Tree, folder: Path, size: tuple[int, int]
) -> None:
    """Small files are one box, which opens."""
    tree({f"{part}/{n}.py": LONG * (1 + n % 7) for part in ("a", "b/c", "b/d") for n in range(30)})
    paddletorch(*TO, "--report", "report.html")
    page = opened(folder / "report.html", size).page
    out, share = page.evaluate(UNCOVERED)
    assert out == 0 and abs(share) < 0.03
    page.locator(f"{MAP} .head").filter(has_text="a/").click()
    seen = {name for name in page.locator(f"{MAP} .name").all_inner_texts() if name.endswith(".py")}
    while (more := page.locator(f"{MAP} .box").filter(has_text="more")).count():
        more.click()
        assert abs(page.evaluate(UNCOVERED)[1]) < 0.03
        seen |= {name for name in page.locator(f"{MAP} .name").all_inner_texts() if name.endswith(".py")}
    assert seen == {f"{n}.py" for n in range(30)}


def test_many_files_come_in_parts(opened: Open, paddletorch: Run, tree: Tree, folder: Path) -> None:
    tree({f"{n:03}.py": PLAIN for n in range(250)})
    paddletorch(*TO, "--report", "report.html")
    page = opened(folder / "report.html").page
    expect(page.locator(".file")).to_have_count(200)
    page.get_by_role("button", name="Show 50 more of 50 files").click()
    expect(page.locator(".file")).to_have_count(250)


def test_a_notebook_is_shown_by_cell(opened: Open, paddletorch: Run, tree: Tree, folder: Path) -> None:
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_markdown_cell("# Title"), nbformat.v4.new_code_cell(FINDING)]
    )
    tree({"a.ipynb": nbformat.writes(notebook)})
    paddletorch(*TO, "--report", "report.html")
    page = opened(folder / "report.html").page
    page.locator(".file > summary").click()
    expect(page.locator("tr.gap")).to_have_text("cell 2, line 1")
    page.get_by_role("button", name="cell 2:4:7").click()
    expect(page.locator("tr.target td").first).to_have_text("print(scaler._scale)")
    expect(page.locator(".diff td.added mark").first).to_have_text("paddle")


def test_known_findings_are_only_counted(opened: Open, paddletorch: Run, tree: Tree, folder: Path) -> None:
    tree({"a.py": FINDING})
    paddletorch(*TO, "--baseline", "known.json", "--write-baseline", ".")
    paddletorch(*TO, "--baseline", "known.json", "--report", "report.html", ".")
    page = opened(folder / "report.html").page
    expect(page.locator("#notes")).to_contain_text("1 known finding of the baseline not shown.")
    expect(page.locator("#found")).to_have_text("0 findings and 1 conversion in 1 of 1 file.")
