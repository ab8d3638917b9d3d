"""Converts files of trees with default options and keeps what a report needs: findings, and which line became which."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import paddletorch
import paddletorch_rules
from paddletorch.api.converter import Converter
from paddletorch.model import Evidence, FileResult, Framework, Status
from paddletorch.model.counts import fates_by_name
from paddletorch.origins.lines import line_map


@lru_cache(maxsize=1)
def converter_digest() -> str:
    """Of all code and tables that conversions follow from."""
    return digest_of(paddletorch.__path__[0], paddletorch_rules.__path__[0])


def digest_of(*folders: str) -> str:
    """Of the Python files and tables below folders."""
    made = hashlib.sha256()
    for folder in folders:
        for path in sorted(Path(folder).rglob("*")):
            if path.suffix in (".py", ".toml"):
                made.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes() + b"\0")
    return made.hexdigest()[:16]


@lru_cache(maxsize=2)
def _converter(to: Framework) -> Converter:
    return Converter(to)


def convert_files(
    to: Framework,
    files: Mapping[str, str],
    places: Mapping[str, str] | None = None,
    evidence: Mapping[str, Evidence] | None = None,
) -> None:
    """Convert files, source to output; beside each output a JSON file with what was found.

    Args:
        places: where the converter takes a source to be, for one that is not in the tree it belongs to.
        evidence: what recorded runs showed, by source.
    """
    for source, output in files.items():
        data = Path(source).read_bytes()
        result = (
            _converter(to).convert(data, (places or {}).get(source, source), evidence=(evidence or {}).get(source)).file
        )
        target = Path(output)
        target.parent.mkdir(parents=True, exist_ok=True)
        _write(target.with_name(target.name + ".json"), json.dumps(_record(result)).encode())
        _write(target, result.output if result.status is Status.CONVERTED else data)


def _write(path: Path, data: bytes) -> None:
    part = path.with_name(f"{path.name}.{os.getpid()}")
    part.write_bytes(data)
    part.rename(path)


def _record(result: FileResult) -> dict[str, Any]:
    return {
        "source": hashlib.sha256(result.source).hexdigest(),
        "output": hashlib.sha256(result.output if result.status is Status.CONVERTED else result.source).hexdigest(),
        "status": result.status.value,
        "findings": [
            {
                "code": one.code, "line": one.line, "end_line": one.end_line, "severity": one.severity.value,
                "name": one.name, "message": one.message,
            }
            for one in result.diagnostics
        ],
        "left": [name for name, fates in fates_by_name(result).items() if fates.left],
        "lines": line_map(result) if result.status is Status.CONVERTED else {},
    }  # fmt: skip
