"""Files that say themselves how their model is compared, by functions of known names."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

BUILD = "build"
OWN_FUNCTIONS = ("optimizer", "loss", "scaler", "train_step")
"""What a file or an option may name in place of what is used for any model."""
_NEEDED = (BUILD, "example_inputs")
_SKIPPED = ("site-packages", "__pycache__", "node_modules")


@dataclass(frozen=True, slots=True)
class Case:
    """A file with a model to compare.

    Args:
        module: its name below the folder that was searched.
        functions: those at the top of the file.
    """

    module: str
    functions: frozenset[str]

    def named(self, name: str) -> str | None:
        """``name`` if the file has such a function."""
        return name if name in self.functions else None


def cases_in(folder: Path) -> Iterator[Case]:
    """The files below a folder that make a model and its inputs, in the order of their names."""
    for file in sorted(folder.rglob("*.py")):
        below = file.relative_to(folder)
        parts = below.with_suffix("").parts
        if any(part in _SKIPPED or part.startswith(".") for part in parts) or not all(map(str.isidentifier, parts)):
            continue
        functions = functions_of(file)
        if functions.issuperset(_NEEDED):
            yield Case(".".join(parts), functions)


def functions_of(file: Path) -> frozenset[str]:
    """The functions at the top of a file; none if it cannot be read."""
    try:
        data = file.read_bytes()
        if not all(name.encode() in data for name in _NEEDED):
            return frozenset()
        body = ast.parse(data).body
    except (OSError, SyntaxError, ValueError):
        return frozenset()
    return frozenset(node.name for node in body if isinstance(node, ast.FunctionDef))
