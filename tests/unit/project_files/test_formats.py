"""Each kind of project file: what is converted, what is left, and that every other byte stays."""

from __future__ import annotations

import configparser
import sys
from pathlib import Path

import paddletorch
import pytest
from hypothesis import given
from hypothesis import strategies as st
from paddletorch.model.project_kinds import project_kind

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CONVERTER = paddletorch.Converter("paddle", target_version="3.3", project_files=True)
ONLY_REPORTS = paddletorch.Converter("paddle", target_version="3.3")


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("requirements.txt", "requirements"),
        ("a/requirements-dev.txt", "requirements"),
        ("docs_requirements.in", "requirements"),
        ("requirements/gpu.txt", "requirements"),
        ("constraints.txt", "requirements"),
        ("notes.txt", None),
        ("environment.yml", "conda"),
        ("environment-gpu.yaml", "conda"),
        ("config.yaml", None),
        ("Dockerfile", "docker"),
        ("docker/Dockerfile.gpu", "docker"),
        ("gpu.dockerfile", "docker"),
        ("run.sh", "shell"),
        ("job.slurm", "shell"),
        ("pyproject.toml", "pyproject"),
        ("poetry.lock", None),
        ("setup.cfg", "setup.cfg"),
        ("setup.py", None),
    ],
)
def test_kinds_by_name(path: str, kind: str | None) -> None:
    assert project_kind(path) == kind


def _codes(text: str, path: str) -> list[tuple[str, int]]:
    return [(finding.code, finding.line) for finding in CONVERTER.convert(text, path).findings]


def test_requirements_keep_line_ends_and_bytes_of_any_codec() -> None:
    data = b"\xef\xbb\xbf# \xe4\r\ntorch>=1.8\r\nnumpy\r\n\xff"
    result = CONVERTER.convert(data, "requirements.txt")
    assert result.output == data.replace(b"torch>=1.8", b"paddlepaddle>=3.3.0")
    assert CONVERTER.convert(result.output, "requirements.txt").output == result.output


def test_an_index_of_the_framework_keeps_its_requirements() -> None:
    text = "--extra-index-url https://download.pytorch.org/whl/cu118\ntorch==2.1\n"
    assert CONVERTER.convert(text, "requirements.txt").output == text
    assert _codes(text, "requirements.txt") == [("PRJ204", 1), ("PRJ201", 2)]


def test_a_list_names_the_target_once() -> None:
    text = "paddlepaddle>=3\ntorch>=2\n"
    assert CONVERTER.convert(text, "requirements.txt").output == text
    assert CONVERTER.convert("torch\ntorch>=2\n", "requirements.txt").output == "paddlepaddle\ntorch>=2\n"


PYPROJECT = """[build-system]
requires = ["torch", "setuptools"]

[project]
name = "torch"
keywords = ["torch"]  # "torch"
dependencies = [
    "numpy",
    'torch>=1.8',  # ["torch>=1.8"]
]

[project.optional-dependencies]
all = ["torch==2.1.0"]

[tool.other]
dependencies = ["torch>=1.8"]
"""


def test_pyproject() -> None:
    before, after = tomllib.loads(PYPROJECT), tomllib.loads(CONVERTER.convert(PYPROJECT, "pyproject.toml").output)
    assert after["project"].pop("dependencies") == ["numpy", "paddlepaddle>=3.3.0"]
    assert after["project"].pop("optional-dependencies") == {"all": ["paddlepaddle==3.3.1"]}
    assert after.pop("build-system") == {"requires": ["paddlepaddle", "setuptools"]}
    del before["project"]["dependencies"], before["project"]["optional-dependencies"], before["build-system"]
    assert after == before


@pytest.mark.parametrize(
    "text", ["[tool.poetry.dependencies]\ntorch = '^2'\n", "[tool.poetry.group.dev.dependencies]\ntorch='2'\n"]
)
def test_poetry_is_reported(text: str) -> None:
    assert CONVERTER.convert(text, "pyproject.toml").output == text
    assert _codes(text, "pyproject.toml") == [("PRJ201", 2)]


def test_no_toml_is_left() -> None:
    text = '[project]\ndependencies = ["torch"'
    assert CONVERTER.convert(text, "pyproject.toml").output == text


def test_setup_cfg() -> None:
    text = "[metadata]\nname = torch\n[options]\ninstall_requires =\n    torch>=1.8\n    numpy\n[other]\nx =\n  torch\n"
    output = CONVERTER.convert(text, "setup.cfg").output
    assert output == text.replace("torch>=1.8", "paddlepaddle>=3.3.0")
    parsed = configparser.ConfigParser()
    parsed.read_string(output)
    assert parsed["options"]["install_requires"] == "\npaddlepaddle>=3.3.0\nnumpy"


def test_setup_py_is_converted_as_a_module_too() -> None:
    text = (
        "import torch\nfrom setuptools import setup\n\n"
        'É = ["torch"]; NEEDED = ["é", "torch>=1.8", "num" "py"]\nEXTRAS = {"torch": ["torch"]}\n'
        'setup(name="torch", install_requires=NEEDED, extras_require=EXTRAS, keywords=["torch"])\n'
        "print(torch.zeros(2))\n"
    )
    output = CONVERTER.convert(text, "setup.py").output
    expected = text.replace("import torch\n", "import paddle\n").replace("torch.zeros(2)", "paddle.zeros([2])")
    expected = expected.replace("torch>=1.8", "paddlepaddle>=3.3.0").replace(': ["torch"]', ': ["paddlepaddle"]')
    assert output == expected
    assert CONVERTER.convert(output, "setup.py").output == output


def test_conda() -> None:
    text = (
        "channels:\n  - pytorch\ndependencies:\n  - pytorch::pytorch=2.1\n  - numpy\n"
        '  - pip:\n    - "torch>=1.8"\n    - numpy\n'
    )
    assert CONVERTER.convert(text, "environment.yml").output == text.replace("torch>=1.8", "paddlepaddle>=3.3.0")
    assert [code for code, _ in _codes(text, "environment.yml")] == ["PRJ204", "PRJ203"]


def test_docker() -> None:
    text = (
        "FROM pytorch/pytorch:2.1\nRUN apt-get update && \\\n    # torch\n"
        "    pip install torch==2.1 'numpy>=1' && rm -rf x\n"
        "RUN pip install torch --index-url https://download.pytorch.org/whl/cpu\n"
        'CMD ["torchrun", "a.py"]\n'
    )
    assert CONVERTER.convert(text, "Dockerfile").output == text.replace(
        "install torch==2.1", "install paddlepaddle==3.3.1"
    )
    assert _codes(text, "Dockerfile") == [("PRJ204", 1), ("PRJ203", 4), ("PRJ201", 5), ("PRJ202", 6)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("pip install torch", "pip install paddlepaddle"),
        ("python3 -m pip install -U 'torch>=1.8' numpy", "python3 -m pip install -U 'paddlepaddle>=3.3.0' numpy"),
        ("uv pip install torch==2.0", "uv pip install paddlepaddle==3.3.1"),
        ("pip install -r torch", "pip install -r torch"),
        ("pip install torch==$V", "pip install torch==$V"),
        ('pip install "torch>=$V"', 'pip install "torch>=$V"'),
        ("pip uninstall torch", "pip uninstall torch"),
        ("echo pip install torch", "echo pip install torch"),
    ],
)
def test_pip_in_a_script(before: str, after: str) -> None:
    assert CONVERTER.convert(before, "run.sh").output == after


def test_without_the_option_all_is_reported_and_nothing_changed() -> None:
    for text, path in (
        ("torch>=1\n", "requirements.txt"),
        ("torchrun a.py\n", "run.sh"),
        (PYPROJECT, "pyproject.toml"),
    ):
        result = ONLY_REPORTS.convert(text, path)
        assert result.output == text
        assert result.findings
        assert all("--project-files" in finding.hint for finding in result.findings)


@pytest.mark.parametrize(
    "comment", ["# paddletorch: ignore[PRJ201]", "# paddletorch: ignore", "# paddletorch: ignore[PRJ]"]
)
def test_a_comment_suppresses_on_its_line(comment: str) -> None:
    result = CONVERTER.convert(f"torch>=1  {comment}\ntimm\n", "requirements.txt")
    assert result.output == result.source
    assert [finding.line for finding in result.findings] == [2]


def test_a_comment_for_the_file_suppresses_everywhere() -> None:
    assert not CONVERTER.convert("torch\n# paddletorch: ignore-file[PRJ]\n", "requirements.txt").findings


def test_selected_codes_count() -> None:
    for options in ({"select": ["AMP"]}, {"ignore": ["PRJ201"]}):
        converter = paddletorch.Converter("paddle", project_files=True, **options)  # type: ignore[arg-type]
        assert converter.convert("torch\n", "requirements.txt").output == "torch\n"


def test_the_uses_are_counted() -> None:
    fates = CONVERTER.convert("torch\ntimm\nnumpy\n", "requirements.txt").fates
    assert (fates.converted, fates.needs_you, fates.total) == (1, 1, 2)


@given(
    st.binary(max_size=60),
    st.sampled_from(["requirements.txt", "pyproject.toml", "setup.cfg", "a.yml", "Dockerfile", "a.sh"]),
)
def test_no_bytes_are_too_strange(data: bytes, name: str) -> None:
    data += b"\ntorch>=1\npip install torch\n'\"$(\\\ntorchrun a.py"
    path = "environment.yml" if name == "a.yml" else name
    once = CONVERTER.convert(data, path)
    assert CONVERTER.convert(once.output, path).output == once.output


def test_the_sides_are_symmetric() -> None:
    back = paddletorch.Converter("torch", target_version="2.13", project_files=True)
    text = "paddlepaddle-gpu==2.6.1\npaddlenlp\n"
    result = back.convert(text, "requirements.txt")
    assert result.output == "torch==2.13.0\npaddlenlp\n"
    assert [finding.code for finding in result.findings] == ["PRJ201"]


def test_the_page_has_every_conversion_of_its_tables() -> None:
    page = (Path(__file__).parents[3] / "docs" / "project-files.md").read_text(encoding="utf-8")
    converter = paddletorch.Converter("paddle", project_files=True)
    for line in page.partition("## Requirements")[2].partition("\n\nThe versions")[0].splitlines()[4:]:
        before, after = (cell.strip() for cell in line.strip("|").split("|"))
        for one in before.split("`, `"):
            assert f"`{converter.convert(one.strip('`'), 'requirements.txt').output}`" == after
