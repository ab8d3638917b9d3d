"""Schedulers from Paddle to torch: each one moves behind its optimizer and gets it as argument."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Sequence
from dataclasses import replace
from itertools import pairwise

from paddletorch.model import DeferredText, Edit, Span
from paddletorch.plan.calls.deferred_text import BASE_RATE, THE_OPTIMIZER
from paddletorch.plan.inference.allocations import Allocations
from paddletorch.plan.model.changes import Changes
from paddletorch.plan.model.refusals import Refused, UnclearSchedule
from paddletorch.plan.model.use import Draft, Use
from paddletorch.plan.model.view import FileView
from paddletorch.plan.passes.training.constructors import (
    Constructor,
    assigned_to,
    fill_in,
    has_deferred_text,
    refuse_undecided,
    source_text,
)
from paddletorch.plan.passes.training.crossed_statements import conflict, paths
from paddletorch.plan.passes.training.made_anyway import made_anyway
from paddletorch.plan.syntax.control_flow import exclusive
from paddletorch.plan.syntax.dotted_path import path_of
from paddletorch.plan.syntax.free_names import free_name
from paddletorch.plan.syntax.reorder_statements import Move, can_move, reordered
from paddletorch.plan.syntax.statements import block_of, remove_statement
from paddletorch.resolve import Instance, Scope

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_LEFT = "its rate is a scheduler that is left as it is"
_BASE_RATES = {
    "lr.CyclicLR": ("base_learning_rate", None),
    "lr.OneCycleLR": ("max_learning_rate", None),
    "lr.NoamDecay": ("learning_rate", "1.0"),
    "lr.PiecewiseDecay": ("", "1.0"),
}
"""The parameter for the initial rate and its default, by row; for other rows ``learning_rate``."""


class PaddleSchedulers:
    """The schedulers of a Paddle file and the optimizers that use them."""

    def __init__(
        self, view: FileView, draft: Draft, schedulers: list[Constructor], optimizers: list[Constructor]
    ) -> None:
        self._view = view
        self._draft = draft
        self._schedulers = schedulers
        self._optimizers = optimizers
        self._followed: set[Constructor] = set()
        """The optimizers whose scheduler converts."""
        self._by_call = {s.call: s for s in schedulers}
        self._converted = {o.call for o in optimizers}
        self._order = {s: n for n, s in enumerate(schedulers)}
        self._objects = view.provide(Allocations)
        self._named: dict[tuple[Hashable, Scope], list[Constructor]] = {}
        """The schedulers by the variable that they are assigned to, and its function."""
        for scheduler in schedulers:
            if (assigned := assigned_to(view, scheduler.call)) is not None:
                place = self._objects.variable(assigned[1]), view.tree.scopes[scheduler.call].function()
                self._named.setdefault(place, []).append(scheduler)
        self._places: dict[int, dict[ast.AST, int]] = {}
        """The position of each statement in its block, by the identity of the block."""
        self._edits: list[Edit] = []
        self._handled: set[ast.AST] = set()
        self._moves: dict[int, tuple[list[ast.stmt], list[Move]]] = {}

    def changes(self) -> Changes:
        """Connect each scheduler with its optimizer; refuse those where it cannot be done."""
        self._follow_statements()
        for (path, _), optimizers in self._followers().items():
            try:
                self._follow(path, optimizers)
            except Refused as stop:
                for optimizer in optimizers:
                    self._draft.refuse(optimizer.site, stop.refusal)
        for optimizer in self._optimizers:
            self._follow_inline(optimizer)
        refuse_undecided(self._draft, "scheduler")
        for optimizer in self._optimizers:
            scheduled = "scheduler" in optimizer.binding.types("learning_rate")
            if any("paddle_scheduled(" in edit.written for edit in self._use(optimizer).edits):
                continue  # it follows the scheduler itself
            if scheduled and optimizer not in self._followed and self._use(optimizer).converts:
                self._draft.refuse(optimizer.site, UnclearSchedule(_LEFT))
        for block, moves in self._moves.values():
            self._edits.append(reordered(self._view, block, moves, "LRS101"))
        return Changes(tuple(self._edits), uses=self._draft.revised, handled=frozenset(self._handled))

    def _use(self, constructor: Constructor) -> Use:
        return self._draft[constructor.site]

    def _fill_in(self, scheduler: Constructor, deferred: DeferredText, text: str) -> None:
        self._draft.revise(fill_in(self._use(scheduler), deferred, text))

    def _follow_statements(self) -> None:
        """Remove ``optimizer.set_lr_scheduler(scheduler)``: the scheduler's constructor gets the optimizer."""
        view = self._view
        for call in view.tree.calls_of("set_lr_scheduler"):
            function, statement = call.func, view.parent(call)
            if not isinstance(function, ast.Attribute) or len(call.args) != 1:
                continue
            optimizer = source_text(view, function.value)
            named = self._named_at(call.args[0], call)
            if not named or optimizer is None or not isinstance(statement, ast.Expr):
                continue
            if not all(self._starts_from(s, function.value) for s in named):
                continue
            if self._is_left(function.value):
                for scheduler in named:
                    self._draft.refuse(scheduler.site, UnclearSchedule("its optimizer is left as it is"))
                continue
            for scheduler in named:
                self._fill_in(scheduler, THE_OPTIMIZER, optimizer)
            self._handled.add(function)
            self._edits.append(self._without(statement))

    def _is_left(self, optimizer: ast.expr) -> bool:
        """Whether the object may be an optimizer whose constructor's call is left."""
        made = [v.call for v in self._view.evaluator.objects(optimizer) if isinstance(v, Instance)]
        return any(call is not None and call not in self._converted for call in made)

    def _named_at(self, name: ast.expr, place: ast.AST) -> Sequence[Constructor]:
        """The schedulers that are assigned to the variable in the function around ``place``."""
        variable = self._objects.variable(name)
        return self._named.get((variable, self._view.tree.scopes[place].function()), ()) if variable else ()

    def _starts_from(self, scheduler: Constructor, optimizer: ast.expr) -> bool:
        """Whether the scheduler starts from the rate that the optimizer has: torch's knows no other."""
        rate = scheduler.value("learning_rate")
        if rate is None or ast.unparse(rate) == f"{ast.unparse(optimizer)}.get_lr()":
            return True
        made = {v.call for v in self._view.evaluator.objects(optimizer) if isinstance(v, Instance)}
        own = [o.value("learning_rate") for o in self._optimizers if o.call in made]
        rates = [one.value for one in (rate, *own) if isinstance(one, ast.Constant)]
        return len(made) == 1 and len(rates) == 2 and rates[0] == rates[1]

    def _without(self, statement: ast.Expr) -> Edit:
        """Remove the statement, and the test for None around it, if there is one."""
        parent = self._view.parent(statement)
        if isinstance(parent, ast.If) and parent.body == [statement] and not parent.orelse:
            test = parent.test
            if isinstance(test, ast.Compare) and ast.unparse(test).endswith(" is not None"):
                return remove_statement(self._view, parent)
        return remove_statement(self._view, statement)

    def _followers(self) -> dict[tuple[str, Scope], list[Constructor]]:
        """Optimizers by the path of the scheduler that is their learning rate, and the function that it stands in."""
        found: dict[tuple[str, Scope], list[Constructor]] = {}
        for optimizer in self._optimizers:
            rate = optimizer.value("learning_rate")
            if rate is not None and self._named_at(rate, optimizer.call):
                function = self._view.tree.scopes[optimizer.call].function()
                found.setdefault((path_of(rate), function), []).append(optimizer)
        return found

    def _follow(self, path: str, optimizers: list[Constructor]) -> None:
        """Give the optimizers the scheduler's initial rate, and the scheduler the one optimizer that is assigned.

        Raises:
            Refused: it is not clear which optimizer uses the scheduler, or the scheduler cannot be moved behind it.
        """
        view = self._view
        targets = [assigned_to(view, o.call) for o in optimizers]
        names = {source_text(view, t[1]) for t in targets if t is not None}
        if None in targets or len(names) != 1:
            raise Refused(UnclearSchedule(f"{path} is the rate of an optimizer without a name, or of several"))
        for first, second in pairwise(optimizers):
            if not exclusive(view, first.call, second.call):
                raise Refused(UnclearSchedule(f"{path} is the rate of several optimizers"))
        rates = {v for o in optimizers if (r := o.value("learning_rate")) for v in view.evaluator.objects(r)}
        if any(isinstance(v, Instance) and v.call and v.call not in self._by_call for v in rates):
            raise Refused(UnclearSchedule(_LEFT))
        name = names.pop() or ""
        sources = self._sources(path, optimizers[0])
        base = self._base(sources)
        self._move(path, name, sources, optimizers)
        for scheduler in sources:
            self._fill_in(scheduler, BASE_RATE, base)
            self._fill_in(scheduler, THE_OPTIMIZER, name)
        for optimizer in optimizers:
            rate = optimizer.value("learning_rate")
            assert rate is not None
            edit = Edit(view.source.span(rate), base, optimizer.row.code)
            self._draft.revise(self._use(optimizer).with_edits(edit))
        self._followed.update(optimizers)

    def _sources(self, path: str, optimizer: Constructor) -> list[Constructor]:
        """The constructor calls of the schedulers assigned to ``path`` and of those they wrap, in source order.

        Raises:
            Refused: they come after the optimizer.
        """
        rate = optimizer.value("learning_rate")
        queue = list(self._named_at(rate, optimizer.call)) if rate is not None else []
        found: set[Constructor] = set()
        while queue:
            if (scheduler := queue.pop()) in found:
                continue
            found.add(scheduler)
            queue += (s for s in self._inside(scheduler) if s.row.id != "lr.LinearWarmup")
            rate = scheduler.value("learning_rate")
            if rate is not None and self._warms_up(scheduler):
                queue += self._named_at(rate, optimizer.call)
        sources = [s for s in found if s.call.lineno < optimizer.call.lineno]
        if not sources:
            raise Refused(UnclearSchedule(f"{path} is made after the optimizer that follows it"))
        return sorted(sources, key=lambda s: (s.call.lineno, s.call.col_offset))

    def _inside(self, scheduler: Constructor) -> list[Constructor]:
        """The other schedulers that are made in the call of one, in the order of the file."""
        calls = (n for n in ast.walk(scheduler.call) if isinstance(n, ast.Call) and n is not scheduler.call)
        return sorted((self._by_call[n] for n in calls if n in self._by_call), key=self._order.__getitem__)

    def _warms_up(self, scheduler: Constructor) -> bool:
        """Whether the scheduler is a warm-up that wraps another one, from which it gets its rate."""
        return has_deferred_text(self._use(scheduler), BASE_RATE)

    def _base(self, schedulers: list[Constructor]) -> str:
        """The optimizer's own rate: the initial rate of all of the schedulers.

        Raises:
            Refused: their initial rates differ, or the rate's text cannot be repeated.
        """
        texts = {self._own_base(scheduler) for scheduler in schedulers if not self._warms_up(scheduler)}
        if len(texts) != 1:
            shown = ", ".join(sorted(t or "?" for t in texts))
            raise Refused(UnclearSchedule(f"the schedulers start from different rates ({shown})"))
        text = texts.pop()
        if text is None:
            raise Refused(UnclearSchedule("the rate that the scheduler starts from is computed in its call"))
        return text

    def _own_base(self, scheduler: Constructor) -> str | None:
        """The source text of the scheduler's initial rate."""
        parameter, default = _BASE_RATES.get(scheduler.row.id, ("learning_rate", "0.1"))
        if any("rate=" in e.written and "LambdaLR" in e.written for e in self._use(scheduler).every_edit):
            return "1.0"  # the function returns the rates themselves
        node = scheduler.value(parameter) if parameter else None
        return default if node is None else source_text(self._view, node)

    def _move(self, path: str, name: str, schedulers: list[Constructor], optimizers: list[Constructor]) -> None:
        """Record that the statements of the schedulers move behind that of the optimizer.

        Raises:
            Refused: they share no block, or a statement between them depends on the order.
        """
        view = self._view
        statements = [view.statement(scheduler.call) for scheduler in schedulers]
        blocks = (block_of(view, ancestor) for ancestor in self._ancestors(optimizers[0].call))
        block = next((b for b in blocks if self._covers(b, statements)), None)
        if block is None:
            raise Refused(UnclearSchedule(f"{path} and the optimizer are made in different blocks"))
        anchors = {self._within(block, o.call) for o in optimizers}
        anchor = anchors.pop()
        making = {self._within(block, s) for s in statements}
        places = self._places_in(block)
        first = min(places[s] for s in making if s is not None)
        if anchors or anchor is None:
            raise Refused(UnclearSchedule(f"{path} is the rate of several optimizers"))
        last = places[anchor]
        calls = {scheduler.call for scheduler in schedulers}
        moved = [s for s in block[first:last] if any(n in calls for n in ast.walk(s))]
        crossed = [s for s in block[first : last + 1] if s not in moved]
        rates = {n for o in optimizers if (r := o.value("learning_rate")) is not None for n in ast.walk(r)}
        self._check_order(path, moved, crossed, anchor, calls, rates)
        made = [t[1] for o in optimizers if (t := assigned_to(view, o.call)) is not None]
        if any(used == name and stored and node not in made for node, used, stored in paths(anchor)):
            raise Refused(UnclearSchedule(f"{name} may be another optimizer, which does not follow {path}"))
        if any(isinstance(s, _LOOPS) for o in optimizers for s in self._ancestors(o.call, anchor)):
            raise Refused(UnclearSchedule(f"{path} is the rate of an optimizer for each round of a loop"))
        if not made_anyway(view, anchor, made):
            what = f"{name} is not made on every path; raise an error on the others, so that {path} can follow it"
            raise Refused(UnclearSchedule(what))
        self._moves.setdefault(id(block), (block, []))[1].append(Move(tuple(moved), anchor))

    def _ancestors(self, node: ast.AST, last: ast.stmt | None = None) -> list[ast.stmt]:
        """The statements of one function around ``node``, up to ``last``."""
        found: list[ast.stmt] = []
        current: ast.AST | None = node
        while current is not None and not isinstance(current, ast.FunctionDef | ast.AsyncFunctionDef):
            if isinstance(current, ast.stmt):
                found.append(current)
            current = self._view.parent(current) if current is not last else None
        return found

    def _within(self, block: list[ast.stmt], node: ast.AST | None) -> ast.stmt | None:
        """The statement of the block that contains ``node``."""
        places = self._places_in(block)
        while node is not None:
            if isinstance(node, ast.stmt) and node in places:
                return node
            node = self._view.parent(node)
        return None

    def _places_in(self, block: list[ast.stmt]) -> dict[ast.AST, int]:
        found = self._places.get(id(block))
        if found is None:
            found = self._places[id(block)] = {statement: n for n, statement in enumerate(block)}
        return found

    def _covers(self, block: list[ast.stmt], statements: list[ast.stmt | None]) -> bool:
        return all(self._within(block, s) is not None for s in statements)

    def _check_order(
        self,
        path: str,
        moved: list[ast.stmt],
        crossed: list[ast.stmt],
        anchor: ast.stmt,
        calls: set[ast.Call],
        rates: set[ast.AST],
    ) -> None:
        """Check that the moved statements only make the scheduler, and may run after those that they cross.

        ``rates`` are the nodes of the optimizers' rates, which get a text of their own.

        Raises:
            Refused: they may not.
        """
        view = self._view
        if not moved or not can_move(view, moved, anchor):
            raise Refused(UnclearSchedule(f"the statements that make {path} and the optimizer share lines"))
        for statement in moved:
            if not self._only_makes(statement, calls):
                raise Refused(UnclearSchedule(f"the block that makes {path} does more than that"))
        used = conflict(moved, crossed, rates)
        if used is not None:
            raise Refused(UnclearSchedule(f"{used} is used between the scheduler and the optimizer"))

    def _only_makes(self, statement: ast.stmt, calls: set[ast.Call]) -> bool:
        if isinstance(statement, ast.If):
            return all(self._only_makes(s, calls) for s in (*statement.body, *statement.orelse))
        value = getattr(statement, "value", None)
        if isinstance(value, ast.IfExp):
            return any(n in calls for n in (value.body, value.orelse))
        return isinstance(statement, ast.Assign | ast.AnnAssign) and value in calls

    def _follow_inline(self, optimizer: Constructor) -> None:
        """``SGD(learning_rate=StepDecay(...))``: assign the scheduler to a variable after the optimizer."""
        view = self._view
        rate = optimizer.value("learning_rate")
        scheduler = self._by_call.get(rate) if isinstance(rate, ast.Call) else None
        if scheduler is None or rate is None or not self._use(optimizer).converts:
            return
        assigned = assigned_to(view, optimizer.call)
        inner = self._inside(scheduler)
        try:
            if assigned is None:
                raise Refused(UnclearSchedule("the optimizer that follows the scheduler gets no name here"))
            base = self._base([scheduler, *inner])
        except Refused as stop:
            self._draft.refuse(optimizer.site, stop.refusal)
            return
        self._followed.add(optimizer)
        statement, target = assigned
        path = path_of(target)
        name = free_name(view, optimizer.call, "scheduler")
        if "." in path:
            name = path.rpartition(".")[0] + "." + name
        for one in (scheduler, *inner):
            self._fill_in(one, BASE_RATE, base)
            self._fill_in(one, THE_OPTIMIZER, path)
        code, span, place = optimizer.row.code, view.source.span(statement), view.source.span(rate)
        start = view.source.newline + view.source.indentation(statement.lineno)
        use = self._use(optimizer)
        keyword = tuple(e for e in use.edits if e.span == Span(place.start, place.start))
        self._draft.revise(replace(use, edits=tuple(e for e in use.edits if e not in keyword)))
        rate_text = "".join(e.text for e in keyword) + base
        parts = (Span(span.start, place.start), rate_text, Span(place.end, span.end), f"{start}{name} = ", place)
        self._edits.append(Edit(span, "", code, parts))
        for node in view.tree.members.get("_learning_rate", ()):
            made = [getattr(v, "call", None) for v in view.evaluator.objects(node.value)]
            if path_of(node.value) == path and made and all(call is optimizer.call for call in made):
                self._handled.add(node)
                self._edits.append(Edit(view.source.span(node), name, code))
