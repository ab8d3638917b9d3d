"""The text of an evidence file, ``.paddletorch/evidence.json``; docs/record.md describes it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from paddletorch.model.options import Framework
from paddletorch.model.questions import Ask, Evidence, Question

VERSION = 1
"""Of the format; another one is not read."""

PLACE = (".paddletorch", "evidence.json")
"""Where the evidence about a project lies, from its top folder."""

LARGEST = 64_000_000
"""Bytes of the largest file that is read: some 500,000 answers."""

_DIGEST = re.compile(r"[0-9a-f]{64}")


class EvidenceError(ValueError):
    """A file holds no evidence that could be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Document:
    """All that runs of one project showed."""

    framework: Framework
    """What the program ran on."""
    files: Mapping[str, Evidence] = field(default_factory=dict)
    """By the files' paths from the top folder, with ``/`` between the parts."""


def evidence_file(root: Path) -> Path:
    """The file that holds the evidence about the project in ``root``; it need not exist."""
    return root.joinpath(*PLACE)


def parse(data: bytes) -> Document:
    """The document that ``data`` is the text of.

    Raises:
        EvidenceError: it is none, or of another version.
    """
    import json  # slow to import, and not needed where no run was recorded

    try:
        top = json.loads(data)
        if not isinstance(top, dict) or "version" not in top:
            raise EvidenceError("no evidence of a recorded run")
        if top["version"] != VERSION:
            raise EvidenceError(f"evidence of format {top['version']!r}; this release reads {VERSION}")
        if top["framework"] not in get_args(Framework):
            raise EvidenceError(f"not a framework: {top['framework']!r}")
        return Document(top["framework"], {_path(path): _evidence(file) for path, file in top["files"].items()})
    except EvidenceError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise EvidenceError(f"damaged: {type(error).__name__}: {error}") from error


def dump(document: Document) -> bytes:
    """The text of ``document``, an answer on a line, in an order that only the evidence decides."""
    import json

    files = []
    for path, evidence in sorted(document.files.items()):
        answers = [
            json.dumps({"ask": question.ask.value, "at": list(question.place), "seen": dict(sorted(seen.items()))})
            for question, seen in sorted(evidence.seen.items())
        ]
        lines = ",\n".join(f"        {answer}" for answer in answers)
        body = f"[\n{lines}\n      ]" if answers else "[]"
        files.append(
            f'    {json.dumps(path)}: {{\n      "digest": "{evidence.digest}",\n      "answers": {body}\n    }}'
        )
    joined = ",\n".join(files)
    inner = f"{{\n{joined}\n  }}" if files else "{}"
    text = f'{{\n  "version": {VERSION},\n  "framework": "{document.framework}",\n  "files": {inner}\n}}\n'
    return text.encode()


def _path(path: str) -> str:
    parts = path.split("/")
    if not path or "\\" in path or not all(parts) or {".", ".."} & set(parts):
        raise EvidenceError(f"not a path below the project: {path!r}")
    return path


def _evidence(file: Mapping[str, Any]) -> Evidence:
    digest = file["digest"]
    if not _DIGEST.fullmatch(digest):
        raise EvidenceError(f"not a digest: {digest!r}")
    seen: dict[Question, dict[str, int]] = {}
    for answer in file["answers"]:
        place = answer["at"]
        if len(place) != 4 or not all(type(number) is int and number >= 0 for number in place):
            raise EvidenceError(f"not a place: {place!r}")
        counts = answer["seen"]
        if not all(type(count) is int and count > 0 for count in counts.values()):
            raise EvidenceError(f"not a count: {counts!r}")
        seen[Question(Ask(answer["ask"]), (place[0], place[1], place[2], place[3]))] = dict(counts)
    return Evidence(digest, seen)
