"""Runs a model and what it became in two processes, in float32 and in float64, and says where they first differ."""

from __future__ import annotations

import tempfile
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from paddletorch.children.child import Child
from paddletorch.comparison.cases import OWN_FUNCTIONS
from paddletorch.model import FileResult, Framework
from paddletorch.origins.origin import Behind, Origin, shown

STAGES = {
    "eval": "forward",
    "eval_grad": "gradients",
    "train": "forward in training",
    "train_grad": "gradients in training",
    "steps": "optimizer steps",
}
"""What is run, in order, and what it is called."""
Result = Callable[[Path], FileResult | None]
"""What the conversion of a file of the source found."""


class UnusablePair(Exception):
    """The source's model cannot be run, or a framework is not there: nothing can be compared; the message says why."""


@dataclass(frozen=True, slots=True)
class Pair:
    """What is compared.

    Args:
        source, converted: the models, as [FOLDER/]PACKAGE.MODULE:NAME.
        target: the framework of the converted one.
        arguments, converted_arguments: of the models, as JSON.
        inputs: shapes, each with a dtype; none: the source's module has ``example_inputs()``.
        optimizer, loss, scaler, train_step: functions of the program's own, as [MODULE:]NAME, that both sides have.
        steps: of the optimizer.
        tolerance: in place of those by dtype.
        seconds: that each process may take.
    """

    source: str
    converted: str
    target: Framework
    arguments: str = ""
    converted_arguments: str | None = None
    inputs: Sequence[str] = ()
    optimizer: str | None = None
    loss: str | None = None
    scaler: str | None = None
    train_step: str | None = None
    steps: int = 3
    tolerance: float | None = None
    seconds: float = 600.0

    @property
    def framework(self) -> Framework:
        """Of the source."""
        return "paddle" if self.target == "torch" else "torch"


@dataclass(frozen=True, slots=True)
class Code:
    """Lines of a file."""

    path: str
    line: int
    end_line: int
    text: str


@dataclass(frozen=True, slots=True)
class Row:
    """One tensor of a stage, see :class:`paddletorch.comparison.rows.Row`."""

    stage: str
    what: str
    layer: str
    call: int
    name: str
    error: float
    size: float
    problem: str


@dataclass(frozen=True, slots=True)
class Fault:
    """The first difference, or the place where the converted program fails."""

    message: str
    stage: str
    row: Row | None = None
    type: str = ""
    source: Code | None = None
    converted: Code | None = None
    findings: tuple[Behind, ...] = ()


@dataclass(frozen=True, slots=True)
class Look:
    """Both models run in one dtype.

    Args:
        outcome: ``equal``, ``differs``, ``fails`` (the converted one) or ``unusable`` (the source's).
        left: stages that were left out, and why.
    """

    mode: str
    outcome: str
    rows: tuple[Row, ...] = ()
    stages: tuple[str, ...] = ()
    left: Mapping[str, str] = field(default_factory=dict)
    fault: Fault | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Compared:
    """What became of a pair."""

    pair: Pair
    looks: tuple[Look, ...]

    @property
    def decisive(self) -> Look:
        """The look that counts: float64 has next to no rounding, unless only float32 can be run there."""
        first, *more = self.looks
        if not more or more[0].outcome not in ("equal", "differs") or (first.fault and _is_of_kind(first.fault)):
            return first
        only_first = first.fault is not None and first.fault.stage in more[0].left
        return first if only_first and more[0].outcome == "equal" else more[0]

    @property
    def outcome(self) -> str:
        return self.decisive.outcome

    @property
    def notes(self) -> list[str]:
        """What else there is to know."""
        first, *more = self.looks
        reasons: dict[str, list[str]] = {}
        for stage, reason in self.decisive.left.items():
            other = ", in float64" if stage not in first.left else ""
            reasons.setdefault(f"{other}: {reason}", []).append(STAGES[stage])
        found = [f"not compared: {', '.join(stages)}{reason}" for reason, stages in reasons.items()]
        if more and more[0].outcome in ("fails", "unusable"):
            found.append(f"there is no second look: in float64 {more[0].message}")
        elif more and first.outcome == "differs" and self.decisive is not first and more[0].outcome == "equal":
            found.append("in float32 they differ by rounding: in float64 they are equal")
        elif more and first.outcome == "equal" and more[0].outcome == "differs":
            found.append("float32's rounding hides the difference: it shows in float64")
        return found


def _is_of_kind(fault: Fault) -> bool:
    """Whether tensors have other shapes or dtypes, which no rounding explains."""
    return fault.row is not None and bool(fault.row.problem)


def compare(pair: Pair, result_of: Result, modes: Sequence[str] = ("float32", "float64")) -> Compared:
    """Compare a pair in each of the dtypes.

    Raises:
        UnusablePair: the source's model cannot be run.
    """
    looks: list[Look] = []
    for mode in modes:
        looks.append(_look(pair, mode, result_of))
        if looks[0].outcome == "unusable":
            raise UnusablePair(looks[0].message)
        if looks[0].outcome == "fails":
            break
    return Compared(pair, tuple(looks))


def _look(pair: Pair, mode: str, result_of: Result) -> Look:
    with tempfile.TemporaryDirectory() as folder:
        job = {
            "file": str(Path(folder, "source")),
            "mode": mode,
            "inputs": list(pair.inputs),
            **{name: getattr(pair, name) for name in OWN_FUNCTIONS},
            "steps": pair.steps,
            "tolerance": pair.tolerance,
        }
        mine = {"role": "source", "framework": pair.framework, "model": pair.source, "arguments": pair.arguments}
        first = _answer({**job, **mine}, pair.seconds)
        if "unusable" in first or "failed" in first:
            return Look(mode, "unusable", message=first.get("unusable") or f"the source fails: {_said(first)}")
        given = pair.arguments if pair.converted_arguments is None else pair.converted_arguments
        theirs = {"role": "target", "framework": pair.target, "model": pair.converted, "arguments": given}
        second = _answer({**job, **theirs}, pair.seconds)
    left = first["left"]
    if "unusable" in second:
        return Look(mode, "unusable", message=second["unusable"])
    if "failed" in second:
        fault = _failure(pair, second, result_of)
        return Look(mode, "fails", left=left, fault=fault, message=f"the converted model fails: {fault.message}")
    left = {**left, **second["left"]}
    rows = tuple(Row(**row) for row in second["rows"])
    if second["fault"] is None:
        return Look(mode, "equal", rows, tuple(second["stages"]), left)
    return Look(mode, "differs", rows, tuple(second["stages"]), left, _fault(second["fault"], result_of))


_NOWHERE: Mapping[str, Any] = {"frames": (), "absent": None}


def _answer(job: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    with Child("paddletorch.comparison.one_side", job) as child:
        try:
            answer = child.answer(seconds)
        except TimeoutError:
            answer = {"failed": {"error": "", "message": f"not done after {seconds:g} s", **_NOWHERE}, "stage": ""}
        if answer is None:
            answer = {"failed": {"error": "", "message": child.stop().splitlines()[0], **_NOWHERE}, "stage": ""}
    return answer


def _said(answer: Mapping[str, Any]) -> str:
    failed = answer["failed"]
    return f"{failed['error']}: {failed['message']}" if failed["error"] else str(failed["message"])


def _failure(pair: Pair, answer: Mapping[str, Any], result_of: Result) -> Fault:
    fault = Fault(_said(answer), answer["stage"])
    root, other = (Path(folder_of(one)).resolve() for one in (pair.converted, pair.source))
    for file, line in reversed(answer["failed"]["frames"]):
        path = Path(file).resolve()
        if not path.is_relative_to(root) or "site-packages" in path.parts:
            continue
        if fault.converted is None:
            fault = replace(fault, converted=_code(str(path), line, line))
        result = result_of(other / path.relative_to(root))
        if result is not None:
            origin = Origin(result, path.read_text(encoding="utf-8", errors="replace"))
            if origin.is_written(line):
                continue  # what calls it has lines in the source
            first, last = origin.lines(line)
            found, absent = origin.findings(line), answer["failed"]["absent"]
            if absent and not found and file == answer["failed"]["frames"][-1][0]:  # else another package imports it
                found = origin.keeping(absent)
                why = "for what was left" if found else "and no finding is about that"
                fault = replace(fault, message=f"{fault.message}: it still imports {absent}, {why}")
            behind = tuple(Behind(result.path, one) for one in found)
            fault = replace(fault, source=_code(result.path, first, last), findings=behind)
        return fault
    return fault


def _fault(answer: dict[str, Any], result_of: Result) -> Fault:
    mine, theirs, kind = (answer.pop(name) for name in ("source", "converted", "type"))
    source, converted = (_code(*place) if place else None for place in (mine, theirs))
    row = Row(**answer)
    fault = Fault(message_of(row, kind), row.stage, row, kind, source, converted)
    result = result_of(Path(source.path)) if source else None
    if result is None or source is None:
        return fault
    inside = [one for one in result.diagnostics if source.line <= one.end_line and one.line <= source.end_line]
    return replace(fault, findings=tuple(Behind(result.path, one) for one in inside))


def message_of(row: Row, kind: str) -> str:
    """What differs, in words."""
    layer = f"layer {row.layer}" if row.layer else "the model"
    layer += f" ({kind})" if kind else ""
    layer += f", call {row.call + 1}" if row.call else ""
    what = {
        "in": f"what goes into {layer}",
        "out": f"what comes out of {layer}, whose inputs are the same",
        "output": f"{row.name or 'the output'} of the model",
        "input gradient": f"the gradient of input {row.name}",
        "gradient": f"the gradient of {row.name} in {layer}",
        "buffer": f"the buffer {row.name} of {layer}",
        "loss": "the loss",
        "loss scale": "the loss scale after each step",
        "growth tracker": "the scaler's count of steps since the loss scale changed",
        "after steps": f"{row.name} of {layer} after the optimizer's steps",
    }[row.what]
    size = f"largest difference {row.error:.2g} of its largest value {row.size:.3g}"
    return f"{what}: {row.problem or size}"


def folder_of(model: str) -> str:
    """The folder that a model's module is imported from."""
    return model.partition(":")[0].rpartition("/")[0] or "."


def _code(path: str, first: int, last: int) -> Code:
    try:
        lines = Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    return Code(shown(path), first, last, textwrap.dedent("\n".join(lines[first - 1 : last])))
