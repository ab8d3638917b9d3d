"""Gives Paddle's schedulers to torch: each one goes behind the optimizer that follows it, and takes it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from paddletorch_rules.hooks.schedulers import BASE, OPTIMIZER

from paddletorch.model import Edit, Span
from paddletorch.plan.inference.receivers import path_of
from paddletorch.plan.model.refusals import Refusal
from paddletorch.plan.model.view import FileView
from paddletorch.plan.passes.training.constructors import Made, assigned_to, fill_in, holds, refuse, source_text
from paddletorch.plan.syntax.control_flow import exclusive
from paddletorch.plan.syntax.free_names import free_name
from paddletorch.plan.syntax.reorder_statements import Move, can_move, plan_moves
from paddletorch.plan.syntax.statements import block_of, remove_statement

_BASES = {
    "lr.CyclicLR": ("base_learning_rate", None),
    "lr.OneCycleLR": ("max_learning_rate", None),
    "lr.NoamDecay": ("learning_rate", "1.0"),
    "lr.PiecewiseDecay": ("", "1.0"),
}
"""The parameter that holds the optimizer's own rate, and its default; ``learning_rate`` where not named here."""


class Ties:
    """The schedulers of a Paddle file and the optimizers that follow them."""

    def __init__(self, view: FileView, schedulers: list[Made], optimizers: list[Made]) -> None:
        self._view = view
        self._schedulers = schedulers
        self._optimizers = optimizers
        self._by_call = {s.call: s for s in schedulers}
        self._edits: list[Edit] = []
        self._moves: dict[int, tuple[list[ast.stmt], list[Move]]] = {}

    def plan(self) -> list[Edit]:
        """Edits that tie each scheduler to its optimizer; calls that cannot be tied are refused."""
        self._handed_over()
        for path, group in self._followers().items():
            try:
                self._tie(path, group)
            except Refusal as refusal:
                for optimizer in group:
                    refuse(refusal, optimizer.site, optimizer.outcome)
        for optimizer in self._optimizers:
            self._inline(optimizer)
        for scheduler in self._schedulers:
            if holds(scheduler.outcome, OPTIMIZER):
                what = "no optimizer that follows it is made here"
                refuse(Refusal("LRS201", what=what), scheduler.site, scheduler.outcome)
        for block, moves in self._moves.values():
            self._edits.append(plan_moves(self._view, block, moves, "LRS101"))
        return self._edits

    def _handed_over(self) -> None:
        """``optimizer.set_lr_scheduler(scheduler)``: the scheduler stays in its place."""
        view = self._view
        for call in view.tree.calls:
            function, statement = call.func, view.parent(call)
            if not isinstance(function, ast.Attribute) or function.attr != "set_lr_scheduler" or len(call.args) != 1:
                continue
            path = path_of(call.args[0])
            optimizer = source_text(view, function.value)
            named = [s for s in self._schedulers if self._is_named(s, path, call)]
            if not named or optimizer is None or not isinstance(statement, ast.Expr):
                continue
            if not all(self._starts_from(s, optimizer) for s in named):
                continue
            for scheduler in named:
                fill_in(scheduler.outcome, OPTIMIZER, optimizer)
            view.settled.add(function)
            self._edits.append(self._without(statement))

    def _is_named(self, scheduler: Made, path: str, place: ast.AST) -> bool:
        found = assigned_to(self._view, scheduler.call)
        scopes = self._view.tree.scopes
        same = scopes[scheduler.call].function() is scopes[place].function()
        return found is not None and bool(path) and path_of(found[1]) == path and same

    def _starts_from(self, scheduler: Made, optimizer: str) -> bool:
        """Whether the scheduler starts from the rate that the optimizer has."""
        rate = scheduler.value("learning_rate")
        return rate is None or ast.unparse(rate) in (f"{optimizer}.get_lr()", "1.0")

    def _without(self, statement: ast.Expr) -> Edit:
        """Take the statement out, with the test for None that may stand around it."""
        parent = self._view.parent(statement)
        if isinstance(parent, ast.If) and parent.body == [statement] and not parent.orelse:
            test = parent.test
            if isinstance(test, ast.Compare) and ast.unparse(test).endswith(" is not None"):
                return remove_statement(self._view, parent)
        return remove_statement(self._view, statement)

    def _followers(self) -> dict[str, list[Made]]:
        """Optimizers by the name of the scheduler that is their learning rate."""
        found: dict[str, list[Made]] = {}
        for optimizer in self._optimizers:
            rate = optimizer.value("learning_rate")
            path = path_of(rate) if rate is not None else ""
            if path and any(self._is_named(s, path, optimizer.call) for s in self._schedulers):
                found.setdefault(path, []).append(optimizer)
        return found

    def _tie(self, path: str, optimizers: list[Made]) -> None:
        view = self._view
        targets = [assigned_to(view, o.call) for o in optimizers]
        names = {source_text(view, t[1]) for t in targets if t is not None}
        if None in targets or len(names) != 1:
            raise Refusal("LRS201", what=f"{path} is the rate of an optimizer without a name, or of several")
        for first, second in pairwise(optimizers):
            if not exclusive(view, first.call, second.call):
                raise Refusal("LRS201", what=f"{path} is the rate of several optimizers")
        name = names.pop() or ""
        leaves = self._leaves(path, optimizers[0])
        base = self._base(leaves, leaves[-1])
        statement = assigned_to(view, optimizers[0].call)
        assert statement is not None
        self._move(path, leaves, optimizers)
        for leaf in leaves:
            if holds(leaf.outcome, BASE):
                fill_in(leaf.outcome, BASE, base)
            fill_in(leaf.outcome, OPTIMIZER, name)
        for optimizer in optimizers:
            rate = optimizer.value("learning_rate")
            assert rate is not None
            optimizer.outcome.edits.append(Edit(view.source.span(rate), base, optimizer.outcome.row.code))

    def _leaves(self, path: str, optimizer: Made) -> list[Made]:
        """The scheduler calls that give ``path``, and those that they are made from, in source order."""
        wanted: set[str] = {path}
        found: set[Made] = set()
        while True:
            before = len(found)
            for scheduler in self._schedulers:
                named = assigned_to(self._view, scheduler.call)
                inner = any(scheduler.call in ast.walk(other.call) for other in found if other is not scheduler)
                inner = inner and scheduler.outcome.row.id != "lr.LinearWarmup"
                if inner or (named is not None and any(self._is_named(scheduler, p, optimizer.call) for p in wanted)):
                    found.add(scheduler)
                    rate = scheduler.value("learning_rate")
                    if rate is not None and path_of(rate) and self._from_scheduler(scheduler):
                        wanted.add(path_of(rate))
            if len(found) == before:
                break
        leaves = [s for s in self._schedulers if s in found and s.call.lineno < optimizer.call.lineno]
        if not leaves:
            raise Refusal("LRS201", what=f"{path} is made after the optimizer that follows it")
        return sorted(leaves, key=lambda s: (s.call.lineno, s.call.col_offset))

    def _from_scheduler(self, scheduler: Made) -> bool:
        return holds(scheduler.outcome, BASE)

    def _base(self, leaves: list[Made], last: Made) -> str:
        """The rate that the optimizer itself gets: the one that all of the schedulers start from."""
        texts = {self._own_base(leaf) for leaf in leaves if not self._from_scheduler(leaf)}
        if len(texts) != 1:
            shown = ", ".join(sorted(t or "?" for t in texts))
            raise Refusal("LRS201", what=f"the schedulers start from different rates ({shown})")
        text = texts.pop()
        if text is None:
            raise Refusal("LRS201", what="the rate that the scheduler starts from is computed in its call")
        return text

    def _own_base(self, leaf: Made) -> str | None:
        parameter, default = _BASES.get(leaf.row, ("learning_rate", "0.1"))
        edits = [*leaf.outcome.edits, *([leaf.outcome.whole] if leaf.outcome.whole is not None else [])]
        if any("rate=" in e.written and "LambdaLR" in e.written for e in edits):
            return "1.0"  # the function gives the rates themselves
        node = leaf.value(parameter) if parameter else None
        return default if node is None else source_text(self._view, node)

    def _move(self, path: str, leaves: list[Made], optimizers: list[Made]) -> None:
        view = self._view
        statements = [view.statement(leaf.call) for leaf in leaves]
        blocks = map(self._block, self._ancestors(optimizers[0].call))
        block = next((b for b in blocks if self._covers(b, statements)), None)
        if block is None:
            raise Refusal("LRS201", what=f"{path} and the optimizer are made in different blocks")
        anchors = {self._within(block, o.call) for o in optimizers}
        anchor = anchors.pop()
        held = {self._within(block, s) for s in statements}
        first = next(i for i, s in enumerate(block) if s in held)
        if anchors or anchor is None:
            raise Refusal("LRS201", what=f"{path} is the rate of several optimizers")
        last = block.index(anchor)
        calls = {leaf.call for leaf in leaves}
        moved = [s for s in block[first:last] if any(n in calls for n in ast.walk(s))]
        kept = [s for s in block[first:last] if s not in moved]
        self._check(path, moved, kept, anchor, calls)
        self._moves.setdefault(id(block), (block, []))[1].append(Move(tuple(moved), anchor))

    def _ancestors(self, node: ast.AST) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        current: ast.AST | None = node
        while current is not None and not isinstance(current, ast.FunctionDef | ast.AsyncFunctionDef):
            if isinstance(current, ast.stmt):
                found.append(current)
            current = self._view.parent(current)
        return found

    def _block(self, statement: ast.stmt) -> list[ast.stmt]:
        return block_of(self._view, statement)

    def _within(self, block: list[ast.stmt], node: ast.AST | None) -> ast.stmt | None:
        """The statement of the block that holds ``node``."""
        while node is not None:
            if isinstance(node, ast.stmt) and node in block:
                return node
            node = self._view.parent(node)
        return None

    def _covers(self, block: list[ast.stmt], statements: list[ast.stmt | None]) -> bool:
        return all(self._within(block, s) is not None for s in statements)

    def _check(
        self, path: str, moved: list[ast.stmt], kept: list[ast.stmt], anchor: ast.stmt, calls: set[ast.Call]
    ) -> None:
        """Nothing between may use the scheduler or change what its statement reads."""
        view = self._view
        if not moved or not can_move(view, moved, anchor):
            raise Refusal("LRS201", what=f"the statements that make {path} and the optimizer share lines")
        for statement in moved:
            if not self._only_makes(statement, calls):
                raise Refusal("LRS201", what=f"the block that makes {path} does more than that")
        stores = {path for s in moved for path, stored in _paths(s) if stored}
        loads = {path for s in moved for path, stored in _paths(s) if not stored}
        for statement in kept:
            for used, stored in _paths(statement):
                if used in stores or (stored and used in loads):
                    raise Refusal("LRS201", what=f"{used} is used between the scheduler and the optimizer")

    def _only_makes(self, statement: ast.stmt, calls: set[ast.Call]) -> bool:
        if isinstance(statement, ast.If):
            return all(self._only_makes(s, calls) for s in (*statement.body, *statement.orelse))
        value = getattr(statement, "value", None)
        if isinstance(value, ast.IfExp):
            return any(n in calls for n in (value.body, value.orelse))
        return isinstance(statement, ast.Assign | ast.AnnAssign) and value in calls

    def _inline(self, optimizer: Made) -> None:
        """``SGD(learning_rate=StepDecay(...))``: the scheduler gets a name behind the optimizer."""
        view = self._view
        rate = optimizer.value("learning_rate")
        scheduler = self._by_call.get(rate) if isinstance(rate, ast.Call) else None
        if scheduler is None or optimizer.outcome.target is None or rate is None:
            return
        found = assigned_to(view, optimizer.call)
        inner = [s for s in self._schedulers if s is not scheduler and s.call in ast.walk(scheduler.call)]
        try:
            if found is None:
                raise Refusal("LRS201", what="the optimizer that follows the scheduler gets no name here")
            base = self._base([scheduler, *inner], scheduler)
        except Refusal as refusal:
            refuse(refusal, optimizer.site, optimizer.outcome)
            return
        statement, target = found
        path = path_of(target)
        name = free_name(view, optimizer.call, "scheduler")
        if "." in path:
            name = path.rpartition(".")[0] + "." + name
        for one in (scheduler, *inner):
            fill_in(one.outcome, BASE, base)
            fill_in(one.outcome, OPTIMIZER, path)
        code, span, place = optimizer.outcome.row.code, view.source.span(statement), view.source.span(rate)
        start = view.source.newline + view.source.indentation(statement.lineno)
        keyword = [e for e in optimizer.outcome.edits if e.span == Span(place.start, place.start)]
        optimizer.outcome.edits = [e for e in optimizer.outcome.edits if e not in keyword]
        rate_text = "".join(e.text for e in keyword) + base
        parts = (Span(span.start, place.start), rate_text, Span(place.end, span.end), f"{start}{name} = ", place)
        self._edits.append(Edit(span, "", code, parts))
        for node in view.tree.scopes:
            if isinstance(node, ast.Attribute) and node.attr == "_learning_rate" and path_of(node.value) == path:
                view.settled.add(node)
                self._edits.append(Edit(view.source.span(node), name, code))


def _paths(statement: ast.stmt) -> Iterator[tuple[str, bool]]:
    """The names and dotted paths in a statement, and whether they are assigned."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Name | ast.Attribute) and path_of(node):
            yield path_of(node), isinstance(node.ctx, ast.Store)
