"""Requirements on a framework: which are converted, to which versions, and which are left."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement
from paddletorch.project_files.requirements import Target, requirement
from paddletorch_rules import select
from paddletorch_rules.releases import Framework


def _target(to: Framework, releases: str | None = None) -> Target:
    return Target("torch" if to == "paddle" else "paddle", to, select(to, releases))


def _written(text: str, to: Framework = "paddle", releases: str | None = "3.3") -> str | None:
    found = requirement(text, _target(to, releases))
    if found is None or not found.edits:
        return None
    (edit,) = found.edits
    return text[: edit.start] + edit.text + text[edit.end :]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("torch", "paddlepaddle"),
        ("Torch", "paddlepaddle"),
        ("torch>=1.10", "paddlepaddle>=3.3.0"),
        ("torch > 1.10", "paddlepaddle >= 3.3.0"),
        ("torch>=1.10,<3", "paddlepaddle>=3.3.0,<3.4"),
        ("torch~=2.0", "paddlepaddle>=3.3.0,<3.4"),
        ("torch==2.*", "paddlepaddle>=3.3.0,<3.4"),
        ("torch!=2.0", "paddlepaddle>=3.3.0"),
        ("torch==2.1.0", "paddlepaddle==3.3.1"),
        ("torch==2.1.0+cpu", "paddlepaddle==3.3.1"),
        ("torch>=1.8 ; python_version > '3.8'", "paddlepaddle>=3.3.0 ; python_version > '3.8'"),
        ("  torch>=1.8  # why", "  paddlepaddle>=3.3.0  # why"),
    ],
)
def test_torch_becomes_paddlepaddle(text: str, expected: str) -> None:
    assert _written(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("paddlepaddle>=2.4", "torch>=2.13.0"), ("paddlepaddle_gpu==2.6.1", "torch==2.13.0"), ("paddlepaddle", "torch")],
)
def test_paddlepaddle_becomes_torch(text: str, expected: str) -> None:
    assert _written(text, "torch", "2.13") == expected


@pytest.mark.parametrize(
    "text",
    [
        "torch==2.1.0+cu118",
        "torch===2.1",
        "torch[opt]>=2",
        "torch @ https://example.org/torch.whl",
        "torch==2.1 --hash=sha256:00",
        "torch==2.1 \\",
        "torchvision>=0.15",
        "timm",
        "pytorch-lightning>=2",
        "pytorch",
    ],
)
def test_what_is_not_exact_is_left_with_a_reason(text: str) -> None:
    found = requirement(text, _target("paddle"))
    assert found is not None
    assert found.problem
    assert not found.edits


@pytest.mark.parametrize(
    "text", ["numpy", "torchfoo", "my-torch", "", "# torch", "./torch", "torch/", "paddlepaddle", "torch tv"]
)
def test_others_are_none(text: str) -> None:
    assert requirement(text, _target("paddle")) is None


_VERSIONS = st.lists(
    st.tuples(
        st.sampled_from([">=", "<", "<=", ">", "==", "!=", "~="]), st.from_regex(r"\A[0-9]\.[0-9]{1,2}(\.[0-9])?\Z")
    ),
    max_size=3,
)


@given(_VERSIONS, st.sampled_from(["", " ; python_version > '3.8'"]), st.booleans())
def test_what_is_written_is_a_requirement_with_the_same_marker(
    versions: list[tuple[str, str]], marker: str, spaced: bool
) -> None:
    text = "torch" + ("," if not spaced else " , ").join(f"{o}{v}" for o, v in versions) + marker
    written = _written(text)
    if written is not None:
        before, after = Requirement(text), Requirement(written)
        assert after.name == "paddlepaddle"
        assert after.marker == before.marker
        assert bool(after.specifier) is bool(before.specifier)
        assert _written(written) is None, "a second run finds nothing"
