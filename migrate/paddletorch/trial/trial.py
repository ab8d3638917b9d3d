"""Imports the modules of a converted tree in processes of their own, and finds out what stops those that fail."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from paddletorch_rules.packages import packages

from paddletorch.children.absent import FAMILIES
from paddletorch.children.child import Child
from paddletorch.model import Diagnostic, Framework
from paddletorch.origins.origin import Behind, Origin
from paddletorch.trial.modules import Module, runs_of

START_SECONDS = 300.0
"""How long the target framework itself may take to be imported."""


class UnusableTarget(Exception):
    """The modules cannot be imported here at all; the message says why."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Tried:
    """What became of one module.

    Args:
        outcome: ``imports``; ``fails``: it raises an error; ``timeout``; ``ends``: it ends the process; ``package``:
            nothing is wrong with it itself, and the package that it is in does not import.
        error: the exception's type.
        message: what it says.
        place: the line of the tree that it comes from.
        source: the line of the source that this was made of, where the source is known.
        findings: that stand behind it.
        note: what that means, in a sentence.
        package: of ``package``, the one that fails.
        missing: the package that is not installed here, if it is one of neither the tree nor the source framework.
    """

    path: str
    module: str
    outcome: str
    error: str = ""
    message: str = ""
    place: Place | None = None
    source: Place | None = None
    findings: tuple[Behind, ...] = ()
    note: str = ""
    package: str = ""
    missing: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree to try: the framework that it was converted to, folders to import from, and what files were made of.

    Args:
        origin: of a converted file, by its resolved path.
        is_rewritten: whether the origins are the converted files themselves, converted once more: the source is not at
            hand.
    """

    target: Framework
    folders: Sequence[str]
    origin: Callable[[str], Origin | None]
    is_rewritten: bool = False

    @property
    def source(self) -> Framework:
        return "paddle" if self.target == "torch" else "torch"


def try_modules(tree: Tree, modules: Sequence[Module], seconds: float) -> Iterator[Tried]:
    """What becomes of each module, in the order of ``modules``.

    Raises:
        UnusableTarget: the target framework cannot be imported.
    """
    inside = {os.path.realpath(one.path): one.path for one in modules}
    for run in runs_of(modules):
        job = {
            "target": tree.target,
            "absent": FAMILIES[tree.source],
            "folders": [run[0].folder, *tree.folders],
            "modules": [{"name": one.name, "path": one.path, "package": one.is_package} for one in run],
            "seconds": seconds,
        }
        with Child("paddletorch.trial.imports", job) as child:
            _await_target(child, tree.target)
            for module in run:
                # the child keeps the limit itself; a module that fails is imported twice
                answer = child.answer(2 * seconds + START_SECONDS)
                if answer is None:
                    raise UnusableTarget(f"at {module.path}: {child.stop().splitlines()[0]}")
                yield _explained(tree, module, answer, inside, {one.name.partition(".")[0] for one in modules})


def _await_target(child: Child, target: Framework) -> None:
    try:
        answer = child.answer(START_SECONDS)
    except TimeoutError:
        raise UnusableTarget(f"{target} was not imported after {START_SECONDS:g} s") from None
    if answer is None:
        raise UnusableTarget(f"{target} cannot be imported: {child.stop().splitlines()[0]}")
    if "unusable" in answer:
        raise UnusableTarget(
            f"the modules are imported with {target}, which is not usable here ({answer['unusable']}): "
            f"pip install 'paddletorch[{target}]'"
        )


def _explained(tree: Tree, module: Module, answer: dict[str, Any], inside: dict[str, str], tops: set[str]) -> Tried:
    tried = Tried(module.path, module.name, answer["outcome"], seconds=round(answer.get("seconds", 0.0), 3))
    if tried.outcome == "package":
        return replace(tried, package=answer["package"])
    if tried.outcome == "imports":
        return tried
    tried = replace(tried, error=answer["error"], message=answer["message"])
    frames = [(os.path.realpath(file), line) for file, line, _ in answer["frames"]]
    ours = [number for number, (file, _) in enumerate(frames) if file in inside]
    if not ours:
        return replace(tried, note=_no_place(tried))
    path, line = frames[ours[-1]]
    place = Place(inside[path], line, _line(path, line))
    with_source = [frames[n] for n in reversed(ours) if not _is_written(tree, *frames[n])] or [(path, line)]
    path, line = with_source[0]
    found, behind = tree.origin(path), list(_behind(tree, with_source))
    source = None
    if found is not None and not tree.is_rewritten:
        first, _ = found.lines(line)
        source = Place(found.path, first, found.line_text(first))
    tried = replace(tried, place=place, source=source, findings=tuple(behind))
    if answer.get("absent"):
        beyond = [module for *_, module in answer["frames"][ours[-1] + 1 :]]
        family = answer["absent"].partition(".")[0]
        return _needs_source(tree, tried, found, family, beyond[0].partition(".")[0] if beyond else "")
    missing = answer.get("missing", "")
    if missing and missing not in tops:
        return replace(tried, missing=missing, note=_not_installed(tree, missing))
    return tried


def _not_installed(tree: Tree, missing: str) -> str:
    if packages(tree.source).of(missing) is None:
        return f"{missing} is not installed here: install it, and try again"
    return f"{missing} is built on {tree.source}: what uses it has to go first, or stays in a process of its own"


def _is_written(tree: Tree, path: str, line: int) -> bool:
    """Whether the line is of a function that the conversion wrote: what calls it has lines in the source."""
    origin = tree.origin(path)
    return origin is not None and origin.is_written(line)


def _behind(tree: Tree, frames: Sequence[tuple[str, int]]) -> list[Behind]:
    """The findings of the innermost line that has any."""
    for path, line in frames:
        origin = tree.origin(path)
        if origin is not None and (here := origin.findings(line)):
            return _shown(origin, here)
    return []


def _shown(origin: Origin, found: Sequence[Diagnostic]) -> list[Behind]:
    return [Behind(origin.path, one) for one in found]


def _needs_source(tree: Tree, tried: Tried, origin: Origin | None, family: str, package: str) -> Tried:
    """Say why a module still imports ``family``, the source framework or what is released with it.

    ``package``: the installed one, outside of the tree, that does.
    """
    if package:
        note = f"{package} is not part of this tree and needs {tree.source}: use a package for {tree.target} instead"
        return replace(tried, note=note)
    if origin is None:
        return tried
    changes = len(origin.result.conversions)
    if tree.is_rewritten and changes:
        uses = "one use" if changes == 1 else f"{changes} uses"
        return replace(
            tried,
            findings=(),
            note=f"the file is not converted: paddletorch convert --to {tree.target} changes {uses} in it",
        )
    kept = origin.keeping(family)
    if family != tree.source and not tried.findings and all(one.name.partition(".")[0] != family for one in kept):
        note = f"it uses {family}, which needs {tree.source} and is in no table: use a package for {tree.target}"
        return replace(tried, note=note)
    needing = tuple(dict.fromkeys((*tried.findings, *_shown(origin, kept))))
    if not needing:
        note = f"it still imports {family}, and no finding is about that: remove the import if nothing needs it"
        return replace(tried, note=note)
    return replace(tried, findings=needing, note=f"it still imports {family} for what was left")


def _no_place(tried: Tried) -> str:
    return "" if tried.outcome == "fails" else "no line is known: the module did not come to its end"


def _line(path: str, number: int) -> str:
    try:
        lines = Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return lines[number - 1].strip() if 0 < number <= len(lines) else ""
