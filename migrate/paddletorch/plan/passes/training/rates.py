"""Statements that read or set an optimizer's rate: torch goes through its groups, Paddle has get_lr and set_lr."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.model import Conversion, Edit, Span
from paddletorch.plan.inference.receivers import Evidence, Receivers, path_of
from paddletorch.plan.model.outcome import Outcome
from paddletorch.plan.model.view import FileView
from paddletorch.plan.passes.training.constructors import made, source_text
from paddletorch.plan.sites.sites import Site
from paddletorch.plan.syntax.free_names import free_name
from paddletorch.plan.syntax.statements import own_line

_CODE = "OPT111"
_OPERATORS = {ast.Mult: "*", ast.Div: "/", ast.Add: "+", ast.Sub: "-", ast.Pow: "**"}


def plan_rates(
    view: FileView, receivers: Receivers, planned: list[tuple[Site, Outcome]]
) -> tuple[list[Edit], list[Conversion]]:
    """Edits for the statements of a file that the members' rows cannot convert one by one."""
    rates = _Rates(view, receivers)
    if view.target == "torch":
        rates.to_torch()
    elif b"param_groups" in view.source.body:
        rates.to_paddle({path_of(v) for s in made(view, planned, "scheduler") if (v := s.value("optimizer"))})
    return rates.edits, rates.conversions


class _Rates:
    def __init__(self, view: FileView, receivers: Receivers) -> None:
        self._view = view
        self._receivers = receivers
        self.edits: list[Edit] = []
        self.conversions: list[Conversion] = []

    def _settle(
        self, node: ast.stmt, members: list[ast.Attribute], name: str, replacement: str, row: str = "Optimizer.set_lr"
    ) -> None:
        """Note what was converted, and keep other plans away from it."""
        view = self._view
        view.settled.update(members)
        for found in [n for n, match in view.matches.items() if match.start in members]:
            del view.matches[found]
        line, column = view.source.position(view.source.span(node).start)
        self.conversions.append(Conversion(_CODE, name, replacement, line, column, row))

    # ------------------------------------------------------------ to torch

    def to_torch(self) -> None:
        """``optimizer.set_lr(rate)`` sets the rate of each group."""
        view = self._view
        for call in view.tree.calls:
            function, statement = call.func, view.parent(call)
            if not isinstance(function, ast.Attribute) or function.attr != "set_lr":
                continue
            if not isinstance(statement, ast.Expr) or not own_line(view, statement) or view.leaves(_CODE, statement):
                continue  # the member's row has an expression
            given = [*call.args, *(k.value for k in call.keywords if k.arg == "value")]
            optimizer = source_text(view, function.value)
            if len(given) != 1 or optimizer is None or not self._is_optimizer(function.value):
                continue
            group = free_name(view, call, "param_group")
            span, value = view.source.span(statement), view.source.span(given[0])
            start = view.source.newline + view.source.indentation(statement.lineno) + " " * view.source.indent
            key = view.quoted(f"{group}['lr'] = ", call)
            parts = (f"for {group} in {optimizer}.param_groups:{start}{key}", value)
            self.edits.append(Edit(span, "", _CODE, parts))
            self._settle(statement, [function], "optimizer.set_lr", "optimizer.param_groups")

    def _is_optimizer(self, node: ast.expr) -> bool:
        return self._receivers.evidence(node, "optimizer") is Evidence.YES

    # ----------------------------------------------------------- to Paddle

    def to_paddle(self, scheduled: set[str]) -> None:
        """Loops over the groups, and stores into a group, become get_lr() and set_lr()."""
        for node in ast.walk(self._view.tree.module):
            if isinstance(node, ast.For):
                self._loop(node, scheduled)
            elif isinstance(node, ast.Assign | ast.AugAssign):
                self._store(node, scheduled)
            elif isinstance(node, ast.ListComp | ast.GeneratorExp):
                self._rates_of(node)
                self._parameters_of(node)

    def _groups(self, node: ast.expr, whole: ast.stmt | ast.expr) -> ast.Attribute | None:
        """The ``optimizer.param_groups`` that an expression is, if ``whole``, in which it stands, may be edited."""
        if self._view.leaves(_CODE, whole):
            return None
        groups = isinstance(node, ast.Attribute) and node.attr == "param_groups"
        return node if groups and isinstance(node, ast.Attribute) and self._is_optimizer(node.value) else None

    def _loop(self, loop: ast.For, scheduled: set[str]) -> None:
        groups = self._groups(loop.iter, loop)
        if groups is None or not isinstance(loop.target, ast.Name) or len(loop.body) != 1 or loop.orelse:
            return
        optimizer, body, group = source_text(self._view, groups.value), loop.body[0], loop.target.id
        if optimizer is None or not isinstance(body, ast.Assign | ast.AugAssign | ast.Return):
            return
        reads = list(_rate_reads(body, group))
        if len(reads) != sum(isinstance(n, ast.Name) and n.id == group for n in ast.walk(body)):
            return  # the group is used for more than its rate
        target = _target(body)
        if target is not None and target in reads:
            parts = self._set(optimizer, body, target)
            if parts is None:
                return
            self._check_schedule(loop, groups, scheduled)
        else:
            parts = (self._view.source.span(body),)
        self.edits.append(Edit(self._view.source.span(loop), "", _CODE, parts))
        self._read(optimizer, [r for r in reads if r is not target])
        self._settle(loop, [groups], "optimizer.param_groups", "optimizer.set_lr")

    def _store(self, statement: ast.Assign | ast.AugAssign, scheduled: set[str]) -> None:
        """``optimizer.param_groups[0]['lr'] = rate``."""
        target = _target(statement)
        group = target.value if isinstance(target, ast.Subscript) and _is_rate(target.slice) else None
        groups = self._groups(group.value, statement) if isinstance(group, ast.Subscript) else None
        optimizer = source_text(self._view, groups.value) if groups is not None else None
        if groups is None or optimizer is None or target is None:
            return
        parts = self._set(optimizer, statement, target)
        if parts is not None:
            self._check_schedule(statement, groups, scheduled)
            self.edits.append(Edit(self._view.source.span(statement), "", _CODE, parts))
            self._settle(statement, [groups], "optimizer.param_groups", "optimizer.set_lr")

    def _rates_of(self, node: ast.ListComp | ast.GeneratorExp) -> None:
        """``[group['lr'] for group in optimizer.param_groups]``."""
        generator = node.generators[0]
        groups = self._groups(generator.iter, node)
        name = generator.target.id if isinstance(generator.target, ast.Name) else ""
        simple = len(node.generators) == 1 and not generator.ifs and isinstance(node, ast.ListComp)
        if groups is None or not simple or list(_rate_reads(node.elt, name)) != [node.elt]:
            return
        optimizer = source_text(self._view, groups.value)
        statement = self._view.statement(node)
        if optimizer is not None and statement is not None:
            self.edits.append(Edit(self._view.source.span(node), f"[{optimizer}.get_lr()]", _CODE))
            row = "Optimizer.get_lr"
            self._settle(statement, [groups], "optimizer.param_groups", "optimizer.get_lr", row)

    def _parameters_of(self, node: ast.ListComp | ast.GeneratorExp) -> None:
        """``[p for group in optimizer.param_groups for p in group['params']]``: without groups Paddle has no dicts."""
        if len(node.generators) != 2:
            return
        outer, inner = node.generators
        groups, statement = self._groups(outer.iter, node), self._view.statement(node)
        name = outer.target.id if isinstance(outer.target, ast.Name) else ""
        if groups is None or statement is None or not isinstance(inner.iter, ast.Subscript) or outer.ifs:
            return
        uses = sum(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))
        if ast.unparse(inner.iter) != f"{name}['params']" or uses != 2:
            return
        end = self._view.source.span(groups).end
        self.edits.append(Edit(Span(end - len("param_groups"), end), "_param_groups", _CODE))
        text = f"({name}['params'] if isinstance({name}, dict) else [{name}])"
        text = self._view.quoted(text, node)
        self.edits.append(Edit(self._view.source.span(inner.iter), text, _CODE))
        row = "Optimizer.param_groups:parameters"
        self._settle(statement, [groups], "optimizer.param_groups", "optimizer._param_groups", row)

    def _set(
        self, optimizer: str, statement: ast.Assign | ast.AugAssign | ast.Return, target: ast.expr
    ) -> tuple[str | Span, ...] | None:
        value = statement.value
        if value is None or (isinstance(statement, ast.Assign) and len(statement.targets) != 1):
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

    def _read(self, optimizer: str, reads: list[ast.expr]) -> None:
        for read in reads:
            self.edits.append(Edit(self._view.source.span(read), f"{optimizer}.get_lr()", _CODE))

    def _check_schedule(self, node: ast.stmt, groups: ast.Attribute, scheduled: set[str]) -> None:
        if path_of(groups.value) in scheduled:
            what = "Paddle's set_lr() raises while the optimizer follows a scheduler"
            self._view.report("OPT204", node, "optimizer.param_groups", what=what)


def _target(statement: ast.stmt) -> ast.expr | None:
    if isinstance(statement, ast.AugAssign):
        return statement.target
    return statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None


def _is_rate(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == "lr"


def _rate_reads(node: ast.AST, group: str) -> Iterator[ast.expr]:
    """Every ``group['lr']``."""
    for part in ast.walk(node):
        named = isinstance(part, ast.Subscript) and isinstance(part.value, ast.Name) and part.value.id == group
        if named and isinstance(part, ast.Subscript) and _is_rate(part.slice):
            yield part
