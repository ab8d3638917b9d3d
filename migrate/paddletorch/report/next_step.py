"""The command that a user most likely wants next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from paddletorch.model import Options
from paddletorch.report.printable import printable
from paddletorch.report.record import Mode
from paddletorch.report.styles import width, wrapped
from paddletorch.report.summary import Summary

_OF_THE_REPORT = ("--coverage", "--statistics", "--verbose", "-v", "--quiet", "-q", "--no-cache", "--diff")

_DOCUMENTS = (".ipynb", ".md", ".markdown", ".qmd")
"""What holds code that cannot be imported."""


class Asked(NamedTuple):
    """What the user typed, as far as the next command repeats it."""

    arguments: Sequence[str]
    """All arguments of ``paddletorch convert``."""
    mode: Mode
    paths: Sequence[str]
    output: str = ""
    """The folder of ``--output``."""
    tried: bool = False
    """Whether the modules of the copy are imported anyway."""


def next_step(summary: Summary, options: Options, asked: Asked) -> Iterator[str]:
    """One or two lines: what for, and the command."""
    step = _step(summary, options, asked)
    if step is None:
        done = summary.coverage.total.done
        yield "Nothing is left to do." if done else "Nothing is left but what was put off or ignored."
        return
    purpose, arguments = step
    yield from wrapped(f"Next: {purpose}", width())
    yield f"  {printable(shlex.join(['paddletorch', *arguments]))}"


def _step(summary: Summary, options: Options, asked: Asked) -> tuple[str, list[str]] | None:
    if summary.converted and not summary.applied and asked.mode != "stdin":
        kept = [argument for argument in asked.arguments if argument not in _OF_THE_REPORT]
        if asked.mode == "diff":
            return "make the changes", ["convert", "--write", *kept]
        return "see the changes; then --write, or --output DIR for a copy", ["convert", "--diff", *kept]
    if summary.failed:
        code = next((code for code in summary.left if code.startswith("SRC")), "SRC900")
        return "what to do about files that failed", ["explain", code]
    are_documents = bool(asked.paths) and all(path.endswith(_DOCUMENTS) for path in asked.paths)
    if summary.converted and not asked.tried and not are_documents:
        if asked.mode == "output" and len(asked.paths) == 1:
            source = ["--source", asked.paths[0]]
            return "import every module of the copy", [
                "try",
                "--to",
                options.target,
                *source,
                *_operands([asked.output]),
            ]
        if asked.mode in ("write", "output"):
            trees = [asked.output] if asked.mode == "output" else asked.paths
            return "import every converted module", ["try", "--to", options.target, *_operands(trees)]
    if summary.left:
        code = max(summary.left, key=lambda code: summary.left[code])
        return "what the most frequent finding means, and the way out", ["explain", code]
    return None


def _operands(paths: Sequence[str]) -> list[str]:
    """Paths as operands of a command: behind ``--`` if one begins with a dash."""
    return ["--", *paths] if any(path.startswith("-") for path in paths) else [*paths]
