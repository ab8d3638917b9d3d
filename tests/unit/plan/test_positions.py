"""Every position in which a name can stand, by every spelling, both ways, run on the real frameworks.

A snippet runs as written on its own framework and, converted, on the other; both record the same. What is
not converted must be named in a diagnostic, no name may be left dangling, and a second run changes nothing.
"""

from __future__ import annotations

import ast
import builtins
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import paddle
import pytest
import torch
from paddletorch.engine.engine import Engine
from paddletorch.model import FileResult, Framework, Options, Status
from paddletorch.resolve import Evaluator, ScopeTree
from paddletorch.resolve.scopes.string_annotations import expand_string_annotations
from paddletorch_rules import Table, load

POSITIONS = Path(__file__).parent / "positions"

KEYWORDS = {"torch": "init_scale=1024.0", "paddle": "init_loss_scaling=1024.0"}

SCALERS: dict[Framework, dict[str, tuple[str, str]]] = {
    "torch": {
        "from": ("from torch.cuda.amp import GradScaler", "GradScaler"),
        "from new": ("from torch.amp import GradScaler", "GradScaler"),
        "from as": ("from torch.cuda.amp import GradScaler as Scaler", "Scaler"),
        "dotted": ("import torch", "torch.cuda.amp.GradScaler"),
        "root as": ("import torch as th", "th.amp.GradScaler"),
        "module as": ("import torch.cuda.amp as amp", "amp.GradScaler"),
        "from module": ("from torch.cuda import amp", "amp.GradScaler"),
        "value alias": ("import torch\nScaler = torch.cuda.amp.GradScaler", "Scaler"),
    },
    "paddle": {
        "from": ("from paddle.amp import GradScaler", "GradScaler"),
        "from as": ("from paddle.amp import GradScaler as Scaler", "Scaler"),
        "dotted": ("import paddle", "paddle.amp.GradScaler"),
        "root as": ("import paddle as pd", "pd.amp.GradScaler"),
        "module as": ("import paddle.amp as amp", "amp.GradScaler"),
        "from module": ("from paddle import amp", "amp.GradScaler"),
        "value alias": ("import paddle\nScaler = paddle.amp.GradScaler", "Scaler"),
    },
}
"""How a scaler's class comes into a file: import lines, and the name it then has."""

CONTEXTS: dict[Framework, dict[str, tuple[str, str]]] = {
    "torch": {
        "from": ("from torch.cuda.amp import autocast", "autocast"),
        "from as": ("from torch.cuda.amp import autocast as half", "half"),
        "dotted": ("import torch", "torch.cuda.amp.autocast"),
        "module as": ("import torch.cuda.amp as amp", "amp.autocast"),
        "value alias": ("import torch\nautocast = torch.cuda.amp.autocast", "autocast"),
    },
    "paddle": {
        "from": ("from paddle.amp import auto_cast", "auto_cast"),
        "from as": ("from paddle.amp import auto_cast as half", "half"),
        "from inner": ("from paddle.amp.auto_cast import auto_cast", "auto_cast"),
        "dotted": ("import paddle", "paddle.amp.auto_cast"),
        "module as": ("import paddle.amp as amp", "amp.auto_cast"),
        "value alias": ("import paddle\nautocast = paddle.amp.auto_cast", "autocast"),
    },
}


def other(framework: Framework) -> Framework:
    return "paddle" if framework == "torch" else "torch"


@pytest.fixture(autouse=True)
def _frameworks_as_they_were() -> Iterator[None]:
    """A snippet may replace a framework's class; nobody else shall meet that."""
    modules = (torch.amp, torch.cuda.amp, paddle.amp)
    before = [dict(vars(module)) for module in modules]
    yield
    for module, names in zip(modules, before, strict=True):
        vars(module).update(names)


@pytest.fixture(scope="module")
def engines() -> dict[str, Engine]:
    return {source: Engine(Options(target=other(source))) for source in ("torch", "paddle")}  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def table() -> Table:
    return load()


def dangling(text: str) -> set[str]:
    """Names that are loaded and bound nowhere, star imports aside."""
    tree = ScopeTree(ast.parse(text))
    loose = {load.id for load in tree.loads if not tree.scopes[load].lookup(load.id)}
    return loose - set(dir(builtins)) - {"seen", "flag"}


def left(text: str, source: Framework, table: Table) -> set[str]:
    """API names of the source framework that imports still give a meaning in ``text``."""
    tree = ScopeTree(ast.parse(text))
    expand_string_annotations(tree, lambda node: ast.get_source_segment(text, node) or "")
    evaluator = Evaluator(tree, ("torch", "paddle"), table, {})
    expressions = [node for node in tree.scopes if isinstance(node, ast.Name | ast.Attribute)]
    names = {name for node in expressions for name in evaluator.imported_names(node)}
    for scope in tree.own.values():
        names |= {b.qualified for found in scope.bindings.values() for b in found if b.qualified is not None}
    hits = {name: table.lookup(source, name) for name in names}
    return {name for name, hit in hits.items() if hit is not None and hit[0].kind != "module"}


def normal(value: object) -> object:
    """What is equal on both frameworks about a value that a snippet has seen."""
    for kind in (torch.amp.GradScaler, paddle.amp.AmpScaler):
        if isinstance(value, kind):
            return "a scaler"
        if isinstance(value, type) and issubclass(value, kind):
            return "the scaler's class"
    return value


def run(text: str) -> list[object]:
    """Execute a snippet; what it passed to ``seen``, the error that ended it last."""
    found: list[object] = []

    def seen(*values: object) -> None:
        found.extend(normal(value) for value in values)

    namespace: dict[str, Any] = {"seen": seen, "flag": True, "__name__": "snippet"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(text, "<snippet>", "exec", dont_inherit=True), namespace)
        except Exception as error:
            found.append(f"{type(error).__name__}: {error}")
    return found


def check(engines: dict[str, Engine], table: Table, source: Framework, text: str, escapes: bool = False) -> FileResult:
    """All that every conversion must fulfil; returns the result for more.

    ``escapes``: the class is called where the converter cannot follow it; the output may fail if it says so.
    """
    before = run(text)
    assert before and "Error" not in str(before[-1]), before
    result = engines[source].convert(text.encode(), "snippet.py")
    output = result.output.decode()
    codes = {d.code for d in result.diagnostics}
    assert result.status is not Status.FAILED, result.diagnostics
    assert dangling(output) <= dangling(text), output
    after = run(output)
    assert after == before or (escapes and "API204" in codes), f"{after} {codes}\n{output}"
    remaining = left(output, source, table)
    assert not remaining or codes, f"{remaining} left without a diagnostic:\n{output}"
    again = engines[source].convert(result.output, "snippet.py")
    assert again.output == result.output, again.output.decode()
    return result


REFUSED = {
    "and": "API201",
    "unknown keywords": "API203",
    "unknown positionals": "API203",
    "keywords in place": "API203",
    "attribute of the class": "API233",
    "getattr": "API205",
}
"""Positions that may be left as they are, and by which diagnostic."""

ESCAPES = {
    "list of one",
    "return",
    "lambda that returns",
    "conditional expression called",
    "dict value called with keywords",
}
"""Positions in which the class is handed on and called with keywords out of sight."""


@dataclass(frozen=True)
class Case:
    """One position under one spelling, as a whole file."""

    source: Framework
    position: str
    text: str


def blocks(name: str) -> dict[str, str]:
    """The snippets of ``positions/NAME.txt`` by their titles."""
    text = (POSITIONS / f"{name}.txt").read_text(encoding="utf-8")
    parts = re.split(r"^# --- (.+)\n", text, flags=re.MULTILINE)[1:]
    return {title: body.strip("\n") + "\n" for title, body in zip(parts[::2], parts[1::2], strict=True)}


def cases(spellings: Mapping[Framework, Mapping[str, tuple[str, str]]], name: str) -> list[Any]:
    """Every snippet of a file under every spelling."""
    found = []
    for source, ways in spellings.items():
        for way, (header, local) in ways.items():
            for position, body in blocks(name).items():
                body = body.replace("KW", KEYWORDS[source]).replace("X", local)
                case = Case(source, position, f"{header}\n\n{body}")
                found.append(pytest.param(case, id=f"{source}-{way}-{position}"))
    return found


@pytest.mark.parametrize("case", cases(SCALERS, "scaler"))
def test_scaler_position(engines: dict[str, Engine], table: Table, case: Case) -> None:
    result = check(engines, table, case.source, case.text, case.position in ESCAPES)
    fully_converted_unless_refused(case, result, table)


@pytest.mark.parametrize("case", cases(CONTEXTS, "autocast"))
def test_autocast_position(engines: dict[str, Engine], table: Table, case: Case) -> None:
    fully_converted_unless_refused(case, check(engines, table, case.source, case.text), table)


def fully_converted_unless_refused(case: Case, result: FileResult, table: Table) -> None:
    remaining = left(result.output.decode(), case.source, table)
    if case.position in REFUSED and remaining:
        assert REFUSED[case.position] in {d.code for d in result.diagnostics}
    else:
        assert not remaining, result.output.decode()


@pytest.mark.parametrize(
    ("source", "text"),
    [
        pytest.param(source, text, id=f"{source}-{title}")
        for source in ("torch", "paddle")
        for title, text in blocks(f"{source}_imports").items()
    ],
)
def test_import(engines: dict[str, Engine], table: Table, source: Framework, text: str) -> None:
    check(engines, table, source, text)
