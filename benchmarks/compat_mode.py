"""Paddle's own way to run torch programs, as a converter for ``programs.py --converter``: files stay as they are.

    python benchmarks/compat_mode.py SOURCE OUTPUT

Each file that imports torch turns on ``paddle.enable_compat()`` first, which gives Paddle to what imports torch.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

TURNED_ON = '__import__("paddle").enable_compat(); '


def with_compat_mode(text: str) -> str:
    """The module with the mode turned on at its first import that is not ``from __future__``."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.Import) or (isinstance(node, ast.ImportFrom) and node.module != "__future__"):
            lines = text.splitlines(keepends=True)
            lines[node.lineno - 1] = TURNED_ON + lines[node.lineno - 1]
            return "".join(lines)
    return text


def main(source: Path, output: Path) -> None:
    """Copy the Python files of a tree."""
    for file in source.rglob("*.py"):
        target = output / file.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        data = file.read_bytes()
        if re.search(rb"\btorch\b", data):
            try:
                data = with_compat_mode(data.decode("utf-8")).encode("utf-8")
            except (SyntaxError, UnicodeDecodeError) as error:
                print(f"{file}: {error}", file=sys.stderr)
        target.write_bytes(data)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
