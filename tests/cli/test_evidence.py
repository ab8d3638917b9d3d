"""Evidence as a user meets it: found beside the project, named, left out, stale, damaged, of another user."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from paddletorch.batch.cache.results import ResultCache
from paddletorch.batch.pool import convert_in_pool
from paddletorch.batch.run import run
from paddletorch.inputs.read import SourceFile
from paddletorch.model import Ask, Evidence, Options, Question
from paddletorch_rules.storage import CACHE_DIR

from .conftest import Run, Tree

TO = ("convert", "--to", "paddle")
CODE = "import torch\nfrom zoo import make\n\n\ndef f(batch):\n    x = make(batch)\n    return x.split(2)\n"
PLACE = (7, 11, 7, 12)
FILE = ".paddletorch/evidence.json"


def answer(*seen: str, ask: str = "type", at: Sequence[int] = PLACE) -> dict[str, Any]:
    return {"ask": ask, "at": list(at), "seen": dict.fromkeys(seen, 3)}


def document(path: str, *answers: dict[str, Any], code: str = CODE, framework: str = "torch") -> str:
    file = {"digest": sha256(code.encode()).hexdigest(), "answers": list(answers)}
    return json.dumps({"version": 1, "framework": framework, "files": {path: file}})


def report(paddletorch: Run, *arguments: str, **environment: str) -> Any:
    return json.loads(paddletorch(*TO, "--format", "json", *arguments, **environment).stdout)


def settled(found: Any) -> bool:
    assert found["summary"]["evidence"]["settled"] in (0, 1)
    return bool(found["summary"]["evidence"]["settled"]) and not found["diagnostics"]


def test_it_is_found_beside_the_project(paddletorch: Run, tree: Tree) -> None:
    tree({"pkg/model.py": CODE, FILE: document("pkg/model.py", answer("torch.Tensor"))})
    assert settled(report(paddletorch))
    assert settled(report(paddletorch, "pkg/model.py"))
    assert not settled(report(paddletorch, "--no-evidence"))
    result = paddletorch(*TO, "--write")
    assert result.returncode == 0
    assert b"Recorded runs answered 1 open question; 1 finding gone by that." in result.stdout
    assert "paddle.split(x" in Path("pkg/model.py").read_text()
    assert paddletorch(*TO).returncode == 0, "a second run finds nothing to do"


def test_the_nearest_one_counts(paddletorch: Run, tree: Tree) -> None:
    outer = document("pkg/model.py", answer("torch.Tensor"))
    tree({"pkg/model.py": CODE, FILE: outer, f"pkg/{FILE}": document("model.py", answer("builtins.str"))})
    assert paddletorch(*TO, "--write").returncode == 0
    assert "return x.split(2)" in Path("pkg/model.py").read_text()


def test_none_from_above_the_repository(paddletorch: Run, tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(
        {
            "top/pkg/model.py": CODE,
            "top/pkg/.git/x": "",
            f"top/{FILE}": document("pkg/model.py", answer("torch.Tensor")),
        }
    )
    monkeypatch.chdir("top/pkg")
    assert not settled(report(paddletorch, "model.py"))
    assert settled(report(paddletorch, "model.py", "--evidence", f"../{FILE}"))


def test_one_that_is_named_elsewhere_is_about_the_current_folder(paddletorch: Run, tree: Tree) -> None:
    tree({"pkg/model.py": CODE, "saved.json": document("pkg/model.py", answer("torch.Tensor"))})
    assert settled(report(paddletorch, "--evidence", "saved.json"))
    assert not settled(report(paddletorch))


def test_both_options_are_refused(paddletorch: Run, tree: Tree) -> None:
    tree({"model.py": CODE, FILE: document("model.py")})
    result = paddletorch(*TO, "--evidence", FILE, "--no-evidence")
    assert result.returncode == 2
    assert b"give one of them" in result.stderr


def test_evidence_of_an_earlier_version_of_the_file_is_noted(paddletorch: Run, tree: Tree) -> None:
    tree({"model.py": f"{CODE}\n", FILE: document("model.py", answer("torch.Tensor"))})
    found = report(paddletorch)
    assert not settled(found)
    assert [note["message"] for note in found["notes"]] == [
        "evidence of recorded runs does not count for files that changed since: model.py"
    ]


def test_runs_on_the_other_framework_say_nothing(paddletorch: Run, tree: Tree) -> None:
    tree({"model.py": CODE, FILE: document("model.py", answer("torch.Tensor"), framework="paddle")})
    assert not settled(report(paddletorch))


def test_source_from_stdin_by_its_name(paddletorch: Run, tree: Tree) -> None:
    tree({"model.py": CODE, FILE: document("model.py", answer("torch.Tensor"))})
    result = paddletorch(*TO, "-", "--stdin-filename", "model.py", stdin=CODE.encode())
    assert result.returncode == 0
    assert b"paddle.split(x" in result.stdout


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "[" * 100_000,
        '{"version": 2, "framework": "torch", "files": {}}',
        '{"version": 1, "files": {}}',
        '{"version": 1, "framework": "torch", "files": []}',
        '{"version": 1, "framework": "torch", "files": {"model.py": 3}}',
        '{"version": 1, "framework": "torch", "files": {"../model.py": {"digest": "", "answers": []}}}',
        document("model.py", answer(ask="colour")),
        document("model.py", answer("torch.Tensor", at=[7, 11])),
        document("model.py", answer("torch.Tensor", at=[7, 11, "7", 12])),
        document("model.py", {"ask": "type", "at": list(PLACE), "seen": {"torch.Tensor": "often"}}),
        document("model.py", {"ask": "type", "at": list(PLACE), "seen": ["torch.Tensor"]}),
    ],
)
def test_what_is_no_evidence_is_an_error_that_names_the_file(paddletorch: Run, tree: Tree, text: str) -> None:
    tree({"model.py": CODE, FILE: text})
    result = paddletorch(*TO, "--write")
    assert result.returncode == 2
    assert b"Error: " in result.stderr
    assert b"evidence.json: " in result.stderr
    assert b"Traceback" not in result.stderr
    assert Path("model.py").read_text() == CODE
    assert paddletorch(*TO, "--no-evidence").returncode == 1


def test_a_named_file_that_is_not_there(paddletorch: Run, tree: Tree) -> None:
    tree({"model.py": CODE})
    result = paddletorch(*TO, "--evidence", "nowhere.json")
    assert result.returncode == 2
    assert b"nowhere.json: No such file" in result.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes in the file system")
def test_a_pipe_is_not_read(paddletorch: Run, tree: Tree, folder: Path) -> None:
    tree({"model.py": CODE, ".paddletorch/x": ""})
    os.mkfifo(folder / FILE)
    result = paddletorch(*TO)
    assert result.returncode == 2
    assert b"not a regular file" in result.stderr


def test_answers_about_places_that_the_file_does_not_have_say_nothing(paddletorch: Run, tree: Tree) -> None:
    nowhere = answer("builtins.str", at=[900, 3, 900, 9])
    odd = answer("not a name", ".", "", ":", "torch.", at=[6, 8, 6, 12])
    tree({"model.py": CODE, FILE: document("model.py", nowhere, odd, answer("torch.Tensor"))})
    assert settled(report(paddletorch))


def test_that_of_another_user_is_left_out(paddletorch: Run, tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    tree({"model.py": CODE, FILE: document("model.py", answer("torch.Tensor"))})
    monkeypatch.setattr("paddletorch.inputs.config.owner_not_trusted", lambda _file: "another user (1)")
    found = report(paddletorch)
    assert not settled(found)
    assert "evidence.json was left out: it belongs to another user (1)" in found["notes"][0]["message"]
    assert settled(report(paddletorch, "--trust"))


def test_a_notebook_has_no_evidence(paddletorch: Run, tree: Tree) -> None:
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": CODE}
    text = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    tree({"book.ipynb": text, FILE: document("book.ipynb", answer("torch.Tensor"), code=text)})
    (found,) = report(paddletorch)["diagnostics"]
    assert found["questions"] == []
    assert "paddletorch record" not in found["hint"]


def test_the_cache_keys_on_each_files_own_evidence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE_DIR, str(tmp_path / "cache"))
    monkeypatch.delenv("PADDLETORCH_NO_CACHE", raising=False)
    monkeypatch.chdir(tmp_path)
    sources = [SourceFile(name, CODE.encode()) for name in ("a.py", "b.py")]
    for source in sources:
        Path(source.path).write_bytes(source.data)
    options, digest = Options(target="paddle"), sha256(CODE.encode()).hexdigest()

    def seen(name: str, count: int = 1, digest: str = digest) -> Evidence:
        return Evidence(digest, {Question(Ask.TYPE, PLACE): {name: count}})

    def kept(evidence: dict[str, Evidence]) -> set[str]:
        return set(ResultCache(options, evidence=evidence).find(sources))

    first = {"a.py": seen("torch.Tensor")}
    done = run(["a.py", "b.py"], options, jobs=1, progress=False, evidence=first)
    assert [result.settled for result in done.results] == [1, 0]
    assert kept(first) == {"a.py", "b.py"}
    again = run(["a.py", "b.py"], options, jobs=1, progress=False, evidence=first)
    assert [(r.output, r.diagnostics, r.answered, r.settled) for r in again.results] == [
        (r.output, r.diagnostics, r.answered, r.settled) for r in done.results
    ]
    assert kept({"a.py": seen("torch.Tensor", count=900)}) == {"a.py", "b.py"}, "how often does not matter"
    assert kept({"a.py": seen("builtins.str")}) == {"b.py"}
    assert kept({}) == {"b.py"}
    assert kept({**first, "b.py": seen("torch.Tensor")}) == {"a.py"}
    stale = {**first, "b.py": seen("torch.Tensor", digest="0" * 64)}
    assert kept(stale) == {"a.py", "b.py"}, "of other bytes it says nothing"


def test_worker_processes_get_it(tmp_path: Path) -> None:
    names = [str(tmp_path / f"{number}.py") for number in range(3)]
    for name in names:
        Path(name).write_text(CODE)
    seen = Evidence(sha256(CODE.encode()).hexdigest(), {Question(Ask.TYPE, PLACE): {"torch.Tensor": 1}})
    results = list(convert_in_pool(names, [len(CODE)] * 3, Options(target="paddle"), 1, {names[1]: seen}))
    assert [result.result.settled for result in results] == [0, 1, 0]
