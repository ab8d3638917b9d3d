"""Gradient clipping: an option of Paddle's optimizers, in torch a call before each step.

If a step may be outside this file, the call goes into a hook of the optimizer, which runs before each step.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

from paddletorch.model import Edit
from paddletorch.plan.inference.allocations import Allocations
from paddletorch.plan.model.changes import Changes, Planned
from paddletorch.plan.model.refusals import Refused, UnclearClipping
from paddletorch.plan.model.site import Site
from paddletorch.plan.model.use import Draft, Use
from paddletorch.plan.model.view import FileView
from paddletorch.plan.passes.training.constructors import Constructor, assigned_to, constructors_of, source_text
from paddletorch.plan.syntax.control_flow import exclusive, runs_before
from paddletorch.plan.syntax.dotted_path import path_of
from paddletorch.plan.syntax.statements import has_room_before, insert_after, insert_before

CLIPS = {"nn.ClipGradByGlobalNorm": "clip_norm", "nn.ClipGradByNorm": "clip_norm", "nn.ClipGradByValue": "max"}
"""The parameter with the limit, by the row of each clip class."""


class _Clip(NamedTuple):
    """How an optimizer clips: the row of the clip class, the text of the limit, and whether clipping may be None."""

    row: str
    number: str
    optional: bool = False


class _Step(NamedTuple):
    """A statement that steps the optimizer, the optimizer's name in it, and the scaler that steps it, if any."""

    statement: ast.stmt
    use: ast.expr
    scaler: ast.expr | None


def plan_clipping(view: FileView, planned: Planned) -> Changes:
    """Add clip calls for every optimizer with ``grad_clip``; refuse clip objects that are used elsewhere."""
    draft = Draft(planned.uses)
    optimizers = constructors_of(view, draft, "optimizer")
    clips = {
        u.site.call: u for u in draft if u.row.id in CLIPS and u.site.call is not None and u.converts and not u.adapter
    }
    for optimizer in optimizers:
        given = optimizer.value("grad_clip")
        if given is None or (isinstance(given, ast.Constant) and given.value is None):
            continue
        use = draft[optimizer.site]
        if any("paddle_clipped(" in edit.written for edit in use.edits):
            continue  # it takes the clip object itself
        try:
            draft.revise(use.with_edits(*_Clipping(view, optimizer, _clip(view, given, clips)).edits()))
        except Refused as stop:
            draft.revise(use.refuse(stop.refusal))
    values = [v for o in optimizers if draft[o.site].converts and (v := o.value("grad_clip")) is not None]
    consumed = _Consumed(view, {n for v in values for n in ast.walk(v)})
    for use in clips.values():
        if not consumed.holds(use.site):
            what = "the clip object goes elsewhere than to an optimizer made here"
            draft.refuse(use.site, UnclearClipping(what))
    return Changes(uses=draft.revised)


def _clip(view: FileView, given: ast.expr, clips: Mapping[ast.Call, Use]) -> _Clip:
    """How the value of ``grad_clip`` clips; ``clips`` are the constructor calls of the clip classes.

    Raises:
        Refused: the class or the limit is unknown.
    """
    branches: list[ast.expr | None] = [given.body, given.orelse] if isinstance(given, ast.IfExp) else [given]
    if isinstance(given, ast.Name | ast.Attribute):
        branches = list(view.provide(Allocations).assigned(given))
    calls = [b for b in branches if isinstance(b, ast.Call) and b in clips]
    nones = [b for b in branches if isinstance(b, ast.Constant) and b.value is None]
    rows = {clips[c].row.id for c in calls}
    if not calls or len(calls) + len(nones) < len(branches) or len(rows) != 1:
        raise Refused(UnclearClipping("which way grad_clip clips cannot be seen"))
    row = rows.pop()
    if not isinstance(given, ast.Call):
        number = source_text(view, given) if isinstance(given, ast.Name | ast.Attribute) else None
    else:
        node = next((k.value for k in given.keywords if k.arg == CLIPS[row]), given.args[0] if given.args else None)
        number = source_text(view, node) if node is not None else None
    if number is None:
        raise Refused(UnclearClipping("the number that grad_clip clips to is computed in the call"))
    return _Clip(row, number, bool(nones))


class _Consumed:
    """Which clip objects are used only by optimizers that convert."""

    def __init__(self, view: FileView, inside: Set[ast.AST]) -> None:
        """``inside``: the nodes of the optimizers' arguments."""
        self._view = view
        self._inside = inside

    def holds(self, site: Site) -> bool:
        """Whether only the optimizers use the clip object."""
        assert site.call is not None
        if site.call in self._inside:
            return True
        assigned = assigned_to(self._view, site.call)
        reads = self._view.provide(Allocations).reads(assigned[1]) if assigned is not None else ()
        others = [read for read in reads if read not in self._inside]
        return len(others) < len(reads) and all(_is_shown(self._view, read) for read in others)


def _is_shown(view: FileView, node: ast.expr) -> bool:
    """Whether the object is only printed or compared with None."""
    parent = view.parent(node)
    if isinstance(parent, ast.Call):
        return ast.unparse(parent.func).rpartition(".")[2] in ("print", "info", "debug")
    return isinstance(parent, ast.Compare) and isinstance(parent.ops[0], ast.Is | ast.IsNot)


def _is_only_read(view: FileView, argument: ast.expr, level: int = 3) -> bool:
    """Whether the optimizer is passed to a function of the file that does not step it, such as one for checkpoints."""
    parent = view.parent(argument)
    keyword = parent.arg if isinstance(parent, ast.keyword) else None
    call = view.parent(parent) if isinstance(parent, ast.keyword) else parent
    if not level or not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return False
    tree = view.tree
    functions = [b.node for b in tree.scopes[call.func].lookup(call.func.id)]
    if len(functions) != 1 or not isinstance(functions[0], ast.FunctionDef):
        return False
    arguments = functions[0].args
    positional = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    index = call.args.index(argument) if argument in call.args else None
    if index is not None and (index >= len(positional) or any(isinstance(a, ast.Starred) for a in call.args[:index])):
        return False
    name = keyword if index is None else positional[index]
    bindings = tree.own[functions[0]].bindings.get(name or "", [])
    if len(bindings) != 1:
        return False
    for use in tree.reads(bindings):
        member = view.parent(use)
        read = isinstance(member, ast.Attribute) and member.attr not in ("step", "minimize")
        if not read and not _is_only_read(view, use, level - 1):
            return False
    return True


class _Clipping:
    """The clip calls of one optimizer."""

    def __init__(self, view: FileView, optimizer: Constructor, clip: _Clip) -> None:
        assigned = assigned_to(view, optimizer.call)
        if assigned is None:
            raise Refused(UnclearClipping("the optimizer that clips gets no name here"))
        self._view, self._optimizer, self._clip = view, optimizer, clip
        self._statement, self._target = assigned
        self._path = path_of(self._target)
        self._code = optimizer.row.code
        self._objects = view.provide(Allocations)

    def edits(self) -> list[Edit]:
        """Calls before the steps if all steps are known, else a hook after the constructor.

        Raises:
            Refused: the code is inside a string that leaves no free quotes.
        """
        steps = self._steps()
        unscaled = [step.scaler is None or self._is_unscaled(step) for step in steps]
        calls = [self._call(self._parameters(step.use)) for step in steps]
        late = self._rebound()
        if (
            not steps
            or None in unscaled
            or late
            or not all(self._can_read(self._clip.number, step.use) for step in steps)
            or not all(
                "\n" not in c or has_room_before(self._view, s.statement) for c, s in zip(calls, steps, strict=True)
            )
        ):
            return [insert_after(self._view, self._statement, self._hook(late), self._code)]
        found: list[Edit] = []
        for step, lines, is_unscaled in zip(steps, calls, unscaled, strict=True):
            if step.scaler is not None and not is_unscaled:
                lines = f"{ast.unparse(step.scaler)}.unscale_({self._path})\n{lines}"
            found.append(insert_before(self._view, step.statement, lines, self._code))
        return found

    def _steps(self) -> list[_Step]:
        """Statements that step the optimizer, each with its scaler; none if others may, or if they may step others."""
        view = self._view
        found: list[_Step] = []
        for use in self._objects.reads(self._target):
            made = self._objects.makers(use)
            if made is not None and self._optimizer.call not in made:
                continue
            if path_of(use) != self._path:
                return []
            parent = view.parent(use)
            call: ast.AST | None
            scaler: ast.expr | None = None
            if isinstance(parent, ast.Attribute):
                call, method = view.parent(parent), parent.attr
            elif _is_only_read(view, use):
                continue
            elif isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and use in parent.args:
                call, method, scaler = parent, parent.func.attr, parent.func.value
                if method not in ("step", "minimize", "unscale_"):
                    return []
            else:
                return []
            if method not in ("step", "minimize"):
                continue
            statement = view.parent(call) if isinstance(call, ast.Call) else None
            if not isinstance(statement, ast.Expr) or made != frozenset({self._optimizer.call}):
                return []
            found.append(_Step(statement, use, scaler))
        return found

    def _is_unscaled(self, step: _Step) -> bool | None:
        """Whether the gradients are unscaled where the scaler steps; None if that cannot be seen."""
        objects, found = self._objects, False
        for call in self._view.tree.method_calls("unscale_"):
            if not isinstance(call.func, ast.Attribute) or not call.args or step.scaler is None:
                continue
            optimizer, scaler = call.args[0], call.func.value
            if objects.is_same(optimizer, step.use) and objects.is_same(scaler, step.scaler):
                if runs_before(self._view, call, step.statement):
                    return True
                if exclusive(self._view, call, step.statement):
                    continue
            both = objects.may_be_same(optimizer, step.use) and objects.may_be_same(scaler, step.scaler)
            found |= both and not self._steps_too(call)
        return None if found else False

    def _steps_too(self, unscaling: ast.Call) -> bool:
        """Whether the scaler steps the optimizer behind the call, which then says nothing of other steps."""
        view, objects = self._view, self._objects
        assert isinstance(unscaling.func, ast.Attribute)
        for call in view.tree.method_calls("step"):
            if isinstance(call.func, ast.Attribute) and len(call.args) == 1 and runs_before(view, unscaling, call):
                same = objects.is_same(call.args[0], unscaling.args[0])
                if same and objects.is_same(call.func.value, unscaling.func.value):
                    return True
        return False

    def _can_read(self, text: str, place: ast.expr) -> bool:
        """Whether an expression means the same at the constructor and at a step."""
        scopes = self._view.tree.scopes
        here, there = scopes[self._optimizer.call], scopes[place]
        return all(n == "self" or here.lookup(n) is there.lookup(n) for n in _names_in(text))

    def _is_of_class(self, name: str) -> bool:
        """Whether the body of the class in which the optimizer is made binds the name."""
        here = self._view.tree.scopes[self._optimizer.call]
        return here.kind == "class" and name in here.bindings

    def _parameters(self, place: ast.expr) -> str:
        """The optimizer's parameters, ``model.parameters()``, if the expression means the same at the step."""
        given = self._optimizer.value("parameters")
        function = given.func if isinstance(given, ast.Call) and not given.args and not given.keywords else None
        if isinstance(function, ast.Attribute) and function.attr == "parameters":
            path = path_of(function.value)
            if path and self._can_read(path, place):
                return f"{path}.parameters()"
        return self._of_groups(self._path)

    def _of_groups(self, optimizer: str) -> str:
        return self._view.quoted(
            f"[p for group in {optimizer}.param_groups for p in group['params']]", self._optimizer.call
        )

    def _call(self, parameters: str) -> str:
        number, indent = self._clip.number, " " * self._view.source.indent
        if self._clip.row == "nn.ClipGradByValue":
            text = f"torch.nn.utils.clip_grad_value_({parameters}, {number})"
        elif self._clip.row == "nn.ClipGradByNorm":
            text = f"for parameter in {parameters}:\n{indent}torch.nn.utils.clip_grad_norm_(parameter, {number})"
        else:
            text = f"torch.nn.utils.clip_grad_norm_({parameters}, {number})"
        if self._clip.optional:
            return "\n".join([f"if {number} is not None:", *(indent + line for line in text.splitlines())])
        return text

    def _rebound(self) -> list[str]:
        """The variables of the limit that have another value elsewhere in the function."""
        given = self._optimizer.value("grad_clip")
        names = [n for n in ast.walk(given) if isinstance(n, ast.Name)] if given is not None else []
        wanted = [n for n in names if n.id in _names_in(self._clip.number)]
        bindings = {n.id: self._view.tree.scopes[n].lookup(n.id) for n in wanted}
        return sorted(
            {n.id for n in wanted if len({*bindings[n.id]} - {*self._view.evaluator.reaching(n)}) and n.id != "self"}
        )

    def _hook(self, late: Sequence[str]) -> str:
        """The statement that registers the hook; a hook returns None or new arguments of ``step``.

        ``late``: variables of the limit that are bound anew later, whose value the hook keeps.

        Raises:
            Refused: the hook does not see the limit.
        """
        parameters, number = self._of_groups("optimizer"), self._clip.number
        if any(self._is_of_class(name) for name in _names_in(number)):
            raise Refused(UnclearClipping("the optimizer is made in a class, of which a hook does not see the names"))
        if self._clip.row == "nn.ClipGradByValue":
            clip = f"torch.nn.utils.clip_grad_value_({parameters}, {number})"
        elif self._clip.row == "nn.ClipGradByNorm":
            each = self._view.quoted(
                "for group in optimizer.param_groups for p in group['params']", self._optimizer.call
            )
            clip = f"[torch.nn.utils.clip_grad_norm_(p, {number}) {each}] and None"
        else:
            clip = f"[torch.nn.utils.clip_grad_norm_({parameters}, {number})] and None"
        kept = "".join(f", {name}={name}" for name in late)
        text = f"{self._path}.register_step_pre_hook(lambda optimizer, *_{kept}: {clip})"
        if self._clip.optional:
            return f"if {number} is not None:\n{' ' * self._view.source.indent}{text}"
        return text


def _names_in(text: str) -> set[str]:
    return {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)}
