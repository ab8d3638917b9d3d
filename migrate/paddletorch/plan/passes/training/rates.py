"""Statements that read or set an optimizer's rate: in torch by its groups, in Paddle by ``get_lr``, ``set_lr``."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterable, Iterator, Mapping

from paddletorch.model import Edit, Span
from paddletorch.plan.inference.allocations import Allocations
from paddletorch.plan.inference.list_elements import list_elements
from paddletorch.plan.inference.receivers import Certainty, Receivers
from paddletorch.plan.model.changes import NOTHING, Changes, Planned, joined
from paddletorch.plan.model.findings import Finding, finding
from paddletorch.plan.model.refusals import Refused
from paddletorch.plan.model.use import Draft
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.written_functions import missing_functions
from paddletorch.plan.passes.training.constructors import constructors_of, source_text
from paddletorch.plan.syntax.brackets import first_part
from paddletorch.plan.syntax.free_names import free_name
from paddletorch.plan.syntax.statements import own_line
from paddletorch.plan.uses.members import given_members
from paddletorch.resolve import Instance
from paddletorch.text.source import has_line_end

_CODE = "OPT111"
_OPERATORS = {ast.Mult: "*", ast.Div: "/", ast.Add: "+", ast.Sub: "-", ast.Pow: "**"}


def plan_rates(view: FileView, planned: Planned) -> Changes:
    """Rewrite statements that cannot be converted member by member."""
    rates = _Rates(view, given_members(view, planned))
    if view.target == "torch":
        return joined(rates.to_torch())
    schedulers = constructors_of(view, Draft(planned.uses), "scheduler")
    objects = view.provide(Allocations)
    optimizers = [v for s in schedulers if (v := s.value("optimizer")) is not None]
    return joined(rates.to_paddle(frozenset(one for v in optimizers for one in objects.identities(v))))


class _Rates:
    def __init__(self, view: FileView, given: Mapping[ast.ClassDef, frozenset[str]]) -> None:
        """``given``: the local classes that keep members of the source's classes, such as groups."""
        self._view, self._given = view, given
        self._receivers = view.provide(Receivers)

    def _changes(
        self,
        node: ast.stmt,
        member: ast.Attribute,
        edits: Iterable[Edit],
        name: str,
        replacement: str,
        *,
        row: str = "Optimizer.set_lr",
        findings: Iterable[Finding] = (),
    ) -> Changes:
        """The changes for a statement, whose member later passes must not edit; none if a function cannot stand."""
        edits = tuple(edits)
        try:
            for edit in edits:
                missing_functions(self._view, edit, name)
        except Refused:
            return NOTHING
        conversion = self._view.conversion(_CODE, node, name, replacement, row)
        return Changes(edits, (conversion,), tuple(findings), handled=frozenset({member}))

    # ------------------------------------------------------------ to torch

    def to_torch(self) -> Iterator[Changes]:
        """``optimizer.set_lr(rate)`` sets the rate of each group."""
        view = self._view
        for call in view.tree.calls_of("set_lr"):
            function, statement = call.func, view.parent(call)
            if (
                not isinstance(function, ast.Attribute)
                or not isinstance(statement, ast.Expr)
                or not own_line(view, statement)
                or view.is_deselected(_CODE, statement)
            ):
                continue  # the member's row converts it
            given = [*call.args, *(k.value for k in call.keywords if k.arg == "value")]
            optimizer = source_text(view, function.value)
            if (
                len(given) != 1
                or isinstance(given[0], _UNREADABLE)
                or optimizer is None
                or not self._is_optimizer(function.value)
            ):
                continue
            group = free_name(view, call, "param_group")
            span, value = view.source.span(statement), view.source.span(given[0])
            start = view.source.newline + view.source.indentation(statement.lineno) + " " * view.source.indent
            key = view.quoted(f"{group}['lr'] = ", call)
            before, after = ("(", ")") if has_line_end(view.source.body[value.start : value.end]) else ("", "")
            parts = (f"for {group} in {optimizer}.param_groups:{start}{key}{before}", value, after)
            edits = [Edit(span, "", _CODE, tuple(part for part in parts if part))]
            yield self._changes(statement, function, edits, "optimizer.set_lr", "optimizer.param_groups")

    def _is_optimizer(self, node: ast.expr) -> bool:
        return self._receivers.certainty(node, "optimizer") is Certainty.YES

    # ----------------------------------------------------------- to Paddle

    def to_paddle(self, scheduled: frozenset[Hashable]) -> Iterator[Changes]:
        """Loops over the groups, and stores into a group, become get_lr() and set_lr().

        ``scheduled`` has the identities of the optimizers that schedulers of the file get.
        """
        for node in [node for node in self._view.tree.parents if node.__class__ in _MAY_READ_GROUPS]:
            if isinstance(node, ast.Subscript):
                yield self._read(node)
            elif isinstance(node, ast.For):
                yield self._loop(node, scheduled)
            elif isinstance(node, ast.Assign | ast.AugAssign):
                yield self._store(node, scheduled)
            elif isinstance(node, ast.ListComp | ast.GeneratorExp):
                yield self._rates_of(node)
                yield self._parameters_of(node)

    def _groups(self, node: ast.expr, whole: ast.stmt | ast.expr) -> ast.Attribute | None:
        """``node`` if it is ``optimizer.param_groups`` and ``whole``, the code around it, may be edited."""
        if self._view.is_deselected(_CODE, whole):
            return None
        if not isinstance(node, ast.Attribute) or node.attr != "param_groups" or self._keeps_groups(node.value):
            return None
        return node if self._is_optimizer(node.value) else None

    def _keeps_groups(self, optimizer: ast.expr) -> bool:
        """Whether it is of a local class whose groups are as the source has them."""
        values = self._view.evaluator.values(optimizer) if self._given else ()
        own = [value.node for value in values if isinstance(value, Instance) and value.node is not None]
        return any("param_groups" in self._given.get(one, ()) for one in own)

    def _loop(self, loop: ast.For, scheduled: frozenset[Hashable]) -> Changes:
        """``for group in optimizer.param_groups: group['lr'] = rate``, or a return of the first group's rate."""
        groups = self._groups(loop.iter, loop)
        if groups is None or not isinstance(loop.target, ast.Name):
            return NOTHING
        if len(loop.body) != 1 or not isinstance(loop.body[0], ast.Assign | ast.AugAssign | ast.Return) or loop.orelse:
            return self._reading_loop(loop, groups, loop.target.id)
        optimizer, body, group = source_text(self._view, groups.value), loop.body[0], loop.target.id
        if optimizer is None or not isinstance(body, ast.Assign | ast.AugAssign | ast.Return):
            return NOTHING
        reads = list(_rate_reads(body, group))
        if len(reads) != sum(isinstance(n, ast.Name) and n.id == group for n in ast.walk(body)):
            return NOTHING  # the loop uses more of the group than its rate
        target = _target(body)
        findings: Iterable[Finding] = ()
        if target is not None and target in reads:
            if isinstance(body, ast.Assign) and self._has_rates(groups.value):
                return _left(loop, groups)
            parts = self._set(optimizer, body)
            if parts is None:
                return NOTHING
            findings = self._schedule_findings(loop, groups, scheduled)
        else:
            parts = (self._view.source.span(body),)
        read = f"{optimizer}.get_lr()"
        edits = [Edit(self._view.source.span(loop), "", _CODE, parts)]
        edits += [Edit(self._view.source.span(r), read, _CODE) for r in reads if r is not target]
        name, replacement = "optimizer.param_groups", "optimizer.set_lr"
        return self._changes(loop, groups, edits, name, replacement, findings=findings)

    def _reading_loop(self, loop: ast.For, groups: ast.Attribute, group: str) -> Changes:
        """``for group in optimizer.param_groups: print(group['lr'])``."""
        reads = [read for read in _rate_reads(loop, group) if isinstance(read.ctx, ast.Load)]
        around = self._view.tree.scopes[loop.target].lookup(group)
        loads = self._view.tree.reads(around)
        if len(around) != 1 or len(reads) != len(loads) or any(isinstance(n, _LATER) for n in ast.walk(loop)):
            return NOTHING
        edits = [Edit(self._view.source.span(read), group, _CODE) for read in reads]
        edits += self._as_rates(groups)
        name, replacement = "optimizer.param_groups", "optimizer.get_lr"
        return self._changes(loop, groups, edits, name, replacement, row="Optimizer.get_lr")

    def _store(self, statement: ast.Assign | ast.AugAssign, scheduled: frozenset[Hashable]) -> Changes:
        """``optimizer.param_groups[0]['lr'] = rate``."""
        target = _target(statement)
        group = target.value if isinstance(target, ast.Subscript) and _is_rate(target.slice) else None
        groups = self._groups(group.value, statement) if isinstance(group, ast.Subscript) else None
        first = isinstance(group, ast.Subscript) and isinstance(group.slice, ast.Constant) and group.slice.value == 0
        if groups is None:
            return NOTHING
        if not first or self._has_rates(groups.value):
            return _left(statement, groups)
        optimizer = source_text(self._view, groups.value)
        parts = self._set(optimizer, statement) if optimizer is not None else None
        if parts is None:
            return NOTHING
        edits = [Edit(self._view.source.span(statement), "", _CODE, parts)]
        findings = self._schedule_findings(statement, groups, scheduled)
        name, replacement = "optimizer.param_groups", "optimizer.set_lr"
        return self._changes(statement, groups, edits, name, replacement, findings=findings)

    def _read(self, node: ast.Subscript) -> Changes:
        """``optimizer.param_groups[1]['lr']`` of an optimizer whose groups have rates of their own."""
        group = node.value
        if not isinstance(group, ast.Subscript) or not _is_rate(node.slice) or not isinstance(node.ctx, ast.Load):
            return NOTHING
        groups, statement = self._groups(group.value, node), self._view.statement(node)
        if groups is None or statement is None or not self._has_rates(groups.value):
            return NOTHING
        end = first_part(self._view.source, group, node).end
        edits = [*self._as_rates(groups), Edit(Span(end, self._view.source.span(node).end), "", _CODE)]
        name, replacement = "optimizer.param_groups", "optimizer.get_lr"
        return self._changes(statement, groups, edits, name, replacement, row="Optimizer.get_lr")

    def _rates_of(self, node: ast.ListComp | ast.GeneratorExp) -> Changes:
        """``[group['lr'] for group in optimizer.param_groups]``."""
        generator = node.generators[0]
        groups = self._groups(generator.iter, node)
        name = generator.target.id if isinstance(generator.target, ast.Name) else ""
        statement = self._view.statement(node)
        if groups is None or statement is None or len(node.generators) != 1 or not name:
            return NOTHING
        reads = [read for part in (node.elt, *generator.ifs) for read in _rate_reads(part, name)]
        if len(reads) != sum(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node)) - 1:
            return NOTHING
        row = "Optimizer.get_lr"
        optimizer = source_text(self._view, groups.value)
        if isinstance(node, ast.ListComp) and reads == [node.elt] and optimizer is not None:
            text = f"torch_rates({optimizer})" if self._has_groups(groups.value) else f"[{optimizer}.get_lr()]"
            edits = [Edit(self._view.source.span(node), text, _CODE)]
            return self._changes(statement, groups, edits, "optimizer.param_groups", "optimizer.get_lr", row=row)
        edits = [Edit(self._view.source.span(read), name, _CODE) for read in reads]
        edits += self._as_rates(groups)
        return self._changes(statement, groups, edits, "optimizer.param_groups", "optimizer.get_lr", row=row)

    def _has_groups(self, optimizer: ast.expr) -> bool:
        """Whether the optimizer may have several groups: it is made of anything but ``model.parameters()``."""
        made = [v.call for v in self._view.evaluator.values(optimizer) if isinstance(v, Instance)]
        given = [call.args[0] for call in made if call is not None and call.args]
        plain = [isinstance(a, ast.Call) and getattr(a.func, "attr", "") == "parameters" for a in given]
        return bool(given) and not all(plain)

    def _has_rates(self, optimizer: ast.expr) -> bool:
        """Whether the file shows that groups of the optimizer have rates of their own: ``{"params": p, "lr": 0.1}``."""
        made = [v.call for v in self._view.evaluator.values(optimizer) if isinstance(v, Instance)]
        given = [call.args[0] for call in made if call is not None and call.args]
        listed = [group for one in given for group in list_elements(self._view, one)]
        return any(isinstance(group, ast.Dict) and any(map(_is_rate, filter(None, group.keys))) for group in listed)

    def _as_rates(self, groups: ast.Attribute) -> tuple[Edit]:
        """``torch_rates(optimizer)`` for ``optimizer.param_groups``."""
        span, inner = self._view.source.span(groups), self._view.source.span(groups.value)
        return (Edit(span, "", _CODE, ("torch_rates(", inner, ")")),)

    def _parameters_of(self, node: ast.ListComp | ast.GeneratorExp) -> Changes:
        """``[p for group in optimizer.param_groups for p in group['params']]``: Paddle's list may have no dicts."""
        if len(node.generators) != 2:
            return NOTHING
        outer, inner = node.generators
        groups, statement = self._groups(outer.iter, node), self._view.statement(node)
        name = outer.target.id if isinstance(outer.target, ast.Name) else ""
        if groups is None or statement is None or not isinstance(inner.iter, ast.Subscript) or outer.ifs:
            return NOTHING
        uses = sum(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))
        if ast.unparse(inner.iter) != f"{name}['params']" or uses != 2:
            return NOTHING
        text = self._view.quoted(f"({name}['params'] if isinstance({name}, dict) else [{name}])", node)
        edits = [
            Edit(self._view.source.attribute_name(groups), "_param_groups", _CODE),
            Edit(self._view.source.span(inner.iter), text, _CODE),
        ]
        row = "Optimizer.param_groups:parameters"
        return self._changes(statement, groups, edits, "optimizer.param_groups", "optimizer._param_groups", row=row)

    def _set(self, optimizer: str, statement: ast.Assign | ast.AugAssign | ast.Return) -> tuple[str | Span, ...] | None:
        """The call of ``set_lr`` that replaces an assignment."""
        value = statement.value
        if value is None or isinstance(value, ast.Starred):
            return None
        if isinstance(statement, ast.Assign) and len(statement.targets) != 1:
            return None
        span = self._view.source.span(value)
        if not isinstance(statement, ast.AugAssign):
            return (f"{optimizer}.set_lr(", span, ")")
        operator = _OPERATORS.get(type(statement.op))
        if operator is None:
            return None
        before, after = (
            ("", "") if isinstance(value, ast.Name | ast.Attribute | ast.Constant | ast.Call) else ("(", ")")
        )
        return (f"{optimizer}.set_lr({optimizer}.get_lr() {operator} {before}", span, f"{after})")

    def _schedule_findings(
        self, node: ast.stmt, groups: ast.Attribute, scheduled: frozenset[Hashable]
    ) -> list[Finding]:
        """A finding if the optimizer may have a scheduler."""
        objects = self._view.provide(Allocations)
        if objects.identities(groups.value).isdisjoint(scheduled):
            return []
        what = "Paddle's set_lr() raises while the optimizer follows a scheduler"
        return [finding("OPT204", node, "optimizer.param_groups", what=what)]


def _left(statement: ast.stmt, groups: ast.Attribute) -> Changes:
    """The finding about a rate of one group: Paddle has one rate, and the groups have factors of it, which stay."""
    what = "a rate is set where groups may have other ones, and Paddle's set_lr() changes all by the same factor"
    found = finding("OPT204", statement, "optimizer.param_groups", what=what)
    return Changes(findings=(found,), handled=frozenset({groups}))


def _target(statement: ast.stmt) -> ast.expr | None:
    if isinstance(statement, ast.AugAssign):
        return statement.target
    return statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None


def _is_rate(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == "lr"


def _rate_reads(node: ast.AST, group: str) -> Iterator[ast.Subscript]:
    """Every ``group['lr']``."""
    for part in ast.walk(node):
        named = isinstance(part, ast.Subscript) and isinstance(part.value, ast.Name) and part.value.id == group
        if named and isinstance(part, ast.Subscript) and _is_rate(part.slice):
            yield part


_MAY_READ_GROUPS = frozenset({ast.For, ast.Assign, ast.AugAssign, ast.ListComp, ast.GeneratorExp, ast.Subscript})
"""Code that may loop over an optimizer's groups, or store into one."""

_LATER = (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef)
"""What may read a variable of the loop when another round has set it."""

_UNREADABLE = (ast.Starred, ast.NamedExpr, ast.Yield, ast.YieldFrom)
"""What cannot be the value of an assignment as it stands."""
