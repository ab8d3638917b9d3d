"""Fenced Python in Markdown: only the code changes, wherever the fence stands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paddletorch import convert
from paddletorch.documents.markdown import is_python
from paddletorch.model import FileResult, Status

DOCS = Path(__file__).parents[3] / "docs"
CODE = "import torch\n\nx = torch.zeros(2)\nif x.numel():\n    y = x.view(-1)\n"
CONVERTED = "import paddle\n\nx = paddle.zeros([2])\nif x.size:\n    y = x.reshape([-1])\n"


def to_paddle(text: str, **options: Any) -> FileResult:
    return convert(text.encode(), to="paddle", path="a.md", **options).file


def indented(code: str, prefix: str) -> str:
    return "".join(prefix + line if line.strip() else prefix.rstrip() + line for line in code.splitlines(keepends=True))


FRAMES = {
    "plain": ("", "```python\n", "", "```\n"),
    "tildes": ("", "~~~~ py\n", "", "~~~~\n"),
    "attributes": ("", "``` {.python .numberLines}\n", "", "```\n"),
    "quarto": ("", "```{python}\n#| echo: false\n", "", "```\n"),
    "myst": ("", "```{code-cell} ipython3\n:tags: [hide-input]\n\n", "", "```\n"),
    "myst options": ("", "```{code-cell}\n---\ntags: [hide]\n---\n", "", "```\n"),
    "list": ("1. one\n\n", "   ```python\n", "   ", "   ```\n"),
    "bullet": ("", "- ```python\n", "  ", "  ```\n"),
    "quote": ("> said\n>\n", "> ```python\n", "> ", "> ```\n"),
    "list in quote": ("> - one\n", ">   ```python\n", ">   ", ">   ```\n"),
    "indented fence": ("", "  ```python\n", "  ", "  ```\n"),
    "not closed": ("", "```python\n", "", ""),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_fence(frame: tuple[str, str, str, str], newline: str, bom: str) -> None:
    before, opening, prefix, closing = frame

    def document(code: str) -> str:
        text = f"# torch — «é»\n\n{before}{opening}{indented(code, prefix)}{closing}"
        if closing:
            text += "\n```text\nimport torch\n```\n\n    import torch\n\n`import torch`"
        return bom + text.replace("\n", newline)

    result = to_paddle(document(CODE))
    assert result.output.decode() == document(CONVERTED)
    assert to_paddle(result.output.decode()).status is Status.CLEAN


@pytest.mark.parametrize(
    ("info", "expected"),
    [
        ("python", True),
        ("Python title='a.py'", True),
        ("py3", True),
        ("{.python}", True),
        ("{python, echo=FALSE}", True),
        ("{code-cell}", True),
        ("{code-cell} python3", True),
        ("{code-block} python", True),
        ("{code-cell} julia", False),
        ("{code-block}", False),
        ("python-repl", False),
        ("pycon", True),
        ("bash", False),
        ("", False),
        ("{}", False),
    ],
)
def test_info_string(info: str, expected: bool) -> None:
    assert is_python(info) is expected


def test_names_flow_from_one_block_to_the_next() -> None:
    text = "```py\nimport torch\nx = torch.ones(2)\n```\n\nthen\n\n```py\nx.view(-1)\n```\n"
    assert "x.reshape([-1])" in to_paddle(text).output.decode()


def test_each_block_keeps_an_import_of_its_own() -> None:
    block = "```py\nimport torch\ntorch.ones(2)\n```\n"
    assert to_paddle(block * 2).output.decode() == "```py\nimport paddle\npaddle.ones([2])\n```\n" * 2


def test_what_no_block_binds_is_left_unless_it_is_the_framework_by_name() -> None:
    text = "torch\n```python\nx = nn.Linear(2, 3)(F.relu(y.view(-1)))\nz = zeros(3)\n```\n"
    assert to_paddle(text).status is Status.CLEAN
    assert "paddle.zeros([2])" in to_paddle("```python\ntorch.zeros(2)\n```\n").output.decode()


def test_block_that_is_no_python_is_left_and_reported_on_its_line() -> None:
    first = "```python\nimport torch\nx = torch.ones(2)\n```\n\n"
    text = f"{first}```python\ntorch.ones(2\n```\n\n```python\nx = ...)\n```\n"
    result = to_paddle(text)
    assert "torch.ones(2" in result.output.decode()
    assert "import torch\n" in result.output.decode()  # the block may need it
    assert [(d.code, d.line, d.cell) for d in result.diagnostics] == [("SRC010", 7, None)]


def test_block_with_a_tab_that_markdown_widens_is_left_and_reported() -> None:
    block = "```python\nimport torch\n```\n\n"
    text = f"{block}- a\n\n  ```python\n\ttorch.ones(2)\n  ```\n"
    result = to_paddle(text)
    assert b"\ttorch.ones(2)\n" in result.output
    assert [(d.code, d.line) for d in result.diagnostics] == [("SRC010", 8)]


SESSION = """\
>>> import torch
>>> x = torch.zeros(2, 3)
>>> x
tensor([[0., 0., 0.],
        ...
>>> for i in range(3):
...     y = x.view(-1)
...
>>> torch.cat([x, x],
... dim=1)
Traceback
>>> def f(a):
...     \"\"\"
... doc
...     \"\"\"
...     return torch.jit.save(1)
"""


@pytest.mark.parametrize("prefix", ["", "  ", "> "])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_session_with_prompts(prefix: str, newline: str) -> None:
    def document(session: str) -> str:
        return indented(f"```pycon\n{session}```\n", prefix).replace("\n", newline)

    expected = SESSION.replace("torch.zeros(2, 3)", "paddle.zeros([2, 3])").replace("x.view(-1)", "x.reshape([-1])")
    expected = expected.replace("torch.cat", "paddle.concat").replace("dim=1", "axis=1")
    expected = expected.replace(">>> import torch", ">>> import paddle\n>>> import torch")
    assert to_paddle(document(SESSION)).output.decode() == document(expected)
    annotated = to_paddle(document(SESSION), annotate=True).output.decode()
    assert f"{prefix}...     # paddletorch: NNM204" in annotated
    assert to_paddle(annotated, annotate=True).output.decode() == annotated


def test_comments_above_what_is_left_are_indented() -> None:
    text = "> - ```python\n>   import torch\n>   torch.jit.save(1)\n>   ```\n"
    output = to_paddle(text, annotate=True).output.decode()
    assert "\n>   # paddletorch: NNM204" in output
    assert to_paddle(output, annotate=True).output.decode() == output


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "text torch",
                "```python",
                "```",
                "~~~py",
                "~~~",
                "> ```python",
                "> import torch",
                "> torch.ones(2)",
                "- ```py",
                "  import torch",
                "  x = torch.ones(2).view(-1)",
                "  ```",
                "import torch",
                "\ttorch.ones(2)",
                "x = torch.ones(2).view(-1)",
                "if x:",
                "    y = torch.cat([x, x], dim=0)",
                "",
                ">",
                "%time torch.ones(1)",
                "    ```python",
                "1. one",
                "   import torch as th",
                "<div>",
                "y = '''",
                "```python {hl_lines=1}",
                ">>> import torch",
                ">>> x = torch.ones(2)",
                "... ",
                "...",
                "...     y = x.view(-1)",
                ">>> if x:",
                "> >>> torch.cat([x,",
                "> ... x], dim=1)",
                "  >>> import torch as th",
                ">>> def f(",
                "```pycon",
            ]
        ),
        max_size=14,
    ),
    st.sampled_from(["\n", "\r\n"]),
)
def test_any_document(lines: list[str], newline: str) -> None:
    text = newline.join(lines)
    result = to_paddle(text)
    assert result.status is not Status.FAILED
    output = result.output.decode()
    before, after = (one.splitlines() for one in (text, output))
    untouched = [line for line in before if "torch" not in line and "view" not in line]
    remaining = iter(after)
    assert all(line in remaining for line in untouched)  # in their order
    assert to_paddle(output).output.decode() == output


@pytest.mark.parametrize("path", sorted(DOCS.glob("rules/[AN]*1*.md")), ids=lambda path: path.stem)
def test_own_pages(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    result = to_paddle(text)
    assert result.status is not Status.FAILED
    assert to_paddle(result.output.decode()).output == result.output
    assert prose(result.output.decode()) == prose(text)


def prose(text: str) -> list[str]:
    """The lines outside of fences of Python."""
    inside, found = False, []
    for line in text.splitlines():
        inside = line.startswith("```python") if not inside else line != "```"
        if not inside:
            found.append(line)
    return found
