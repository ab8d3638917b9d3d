"""Evidence is merged by any number of processes, and its file is what the schema says."""

from __future__ import annotations

import json
import multiprocessing
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from paddletorch.evidence import save
from paddletorch.evidence.document import Document, EvidenceError, dump, evidence_file, parse
from paddletorch.evidence.save import digest, merge, prepare, read
from paddletorch.model import Ask, Evidence, Question

from ..full_disk import files_up_to

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "evidence.schema.json").read_text(encoding="utf-8"))
QUESTION = Question(Ask.TYPE, (1, 0, 1, 4))


def _evidence(root: Path, file: str, text: str, **counts: int) -> dict[str, Evidence]:
    path = root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return {file: Evidence(digest(text.encode()), {QUESTION: counts})}


def _merge_often(root: Path, name: str) -> None:
    for _ in range(20):
        merge(root, "torch", {"a.py": Evidence(digest(b"text"), {QUESTION: {name: 1, "both": 1}})})


def test_processes_write_in_turn(tmp_path: Path) -> None:
    prepare(tmp_path, "torch")
    _evidence(tmp_path, "a.py", "text")
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_merge_often, args=(tmp_path, name)) for name in "xy"]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    found = read(tmp_path)
    assert found is not None
    assert found.files["a.py"].seen == {QUESTION: {"x": 20, "y": 20, "both": 40}}
    assert not [path.name for path in evidence_file(tmp_path).parent.iterdir() if path.suffix == ".tmp"]


def test_of_two_versions_that_on_the_disk_counts(tmp_path: Path) -> None:
    old = _evidence(tmp_path, "a.py", "old", x=1)
    merge(tmp_path, "torch", old)
    new = _evidence(tmp_path, "a.py", "new", y=1)
    merge(tmp_path, "torch", new)
    merge(tmp_path, "torch", old)  # a process that has run since before
    found = read(tmp_path)
    assert found is not None and found.files == new


def test_what_is_stale_goes_at_the_next_beginning(tmp_path: Path) -> None:
    merge(tmp_path, "torch", _evidence(tmp_path, "a.py", "a", x=1) | _evidence(tmp_path, "b/b.py", "b", x=1))
    (tmp_path / "a.py").unlink()
    prepare(tmp_path, "torch")
    found = read(tmp_path)
    assert found is not None and list(found.files) == ["b/b.py"]
    with pytest.raises(EvidenceError, match="runs on torch, not paddle"):
        prepare(tmp_path, "paddle")
    prepare(tmp_path, "paddle", fresh=True)
    assert read(tmp_path) == Document("paddle")


def test_the_file_is_what_the_schema_says(tmp_path: Path) -> None:
    seen = {Question(ask, (2, 0, 2, n)): {"": 1, "b": 2, "a": 3} for n, ask in enumerate(Ask, 1)}
    document = Document("torch", {"pkg/a.py": Evidence("0" * 64, seen), "b.py": Evidence("f" * 64)})
    text = dump(document)
    jsonschema.validate(json.loads(text), SCHEMA)
    assert parse(text) == document
    assert dump(parse(text)) == text
    jsonschema.validate(json.loads(dump(Document("paddle"))), SCHEMA)
    for path in ("/etc/passwd", "../a.py", "a/../b.py", "a//b.py", ""):
        wrong = {"version": 1, "framework": "torch", "files": {path: {"digest": "0" * 64, "answers": []}}}
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, SCHEMA)
        with pytest.raises(EvidenceError):
            parse(json.dumps(wrong).encode())


def test_a_process_that_holds_the_lock_is_not_waited_for_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fcntl = pytest.importorskip("fcntl")
    seen = _evidence(tmp_path, "a.py", "text", x=1)
    merge(tmp_path, "torch", seen)
    monkeypatch.setattr(save, "_PATIENCE", 0.1)
    with (evidence_file(tmp_path).parent / "lock").open("r+b") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(save.Busy):
            merge(tmp_path, "torch", seen)
    merge(tmp_path, "torch", seen)
    found = read(tmp_path)
    assert found is not None and found.files["a.py"].seen == {QUESTION: {"x": 2}}


def test_a_full_disk_leaves_no_part(tmp_path: Path) -> None:
    code = "from pathlib import Path; from paddletorch.evidence.save import prepare; prepare(Path('.'), 'torch')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=files_up_to(3),
    )
    assert "File too large" in done.stderr
    assert [path.name for path in evidence_file(tmp_path).parent.iterdir()] == ["lock"]
    prepare(tmp_path, "torch")
    names = sorted(path.name for path in evidence_file(tmp_path).parent.iterdir())
    assert names == [".gitignore", "evidence.json", "lock"]
