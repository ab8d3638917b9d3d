"""Which operations give a tensor that shares memory with what they are applied to: views, modules that pass it on."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import Literal, TypeGuard

from paddletorch_rules.facts import facts

from paddletorch.plan.inference.in_place_calls import asks_in_place, writes_in_place
from paddletorch.plan.inference.reads import Reads
from paddletorch.plan.model.view import FileView
from paddletorch.resolve import Instance
from paddletorch.resolve.scopes.bindings import Scope
from paddletorch.resolve.values import Container

Memory = Literal["same", "view", "copied"]
"""Whether a result is the tensor itself or a view of it; ``copied`` where the target copies instead."""

_WITHOUT_GRADIENTS = frozenset({"data", "detach"})
"""Views through which no gradients flow."""


class SharedMemory:
    """Answers for one file what an operation's result shares with what the operation is applied to."""

    def __init__(self, view: FileView, reads: Reads) -> None:
        self._view = view
        self._tree = view.tree
        self._reads = reads
        source = view.settings.source
        self.shared = facts().views[source] | facts().may_share.get(source, frozenset())
        """Names of functions, methods and attributes that may give a view."""

    def gives_receiver(self, name: str) -> bool:
        """Whether a method gives what it is called on, a view or an element of it."""
        moved = facts().conversions - facts().fresh[self._view.settings.source]
        return name in self.shared or name in moved or writes_in_place(name) or name == "get"

    def passes_input(self, module: Instance, function: ast.expr) -> bool:
        """Whether a module of the framework can give back its input: ``nn.Identity``, ``nn.ReLU(inplace=True)``."""
        if module.node is not None or module.external_class:
            return False
        name = module.api.rpartition(".")[2]
        if name == "Sequential":
            return any(self._is_passing_chain(call) for call in self.constructors(function))
        if name in facts().passing_modules["torch"]:
            return True
        return name in facts().inplace_modules["torch"] and any(map(asks_in_place, self.constructors(function)))

    def constructors(self, function: ast.expr) -> list[ast.Call]:
        """The calls that make the module that is called: ``nn.ReLU(inplace=True)`` for ``self.relu``."""
        if isinstance(function, ast.Name):
            return [b.value for b in self._reads.bindings(function) if isinstance(b.value, ast.Call)]
        if not isinstance(function, ast.Attribute):
            return [function] if isinstance(function, ast.Call) else []
        owner = self._tree.scopes[function].enclosing_class()
        own = self._made.get((function.attr, owner)) if owner is not None else None
        return self._made.get((function.attr, None), []) if own is None else own

    @cached_property
    def _made(self) -> dict[tuple[str, Scope | None], list[ast.Call]]:
        """The calls that make what is set to an attribute, by its name and the class in which; by None in all."""
        found: dict[tuple[str, Scope | None], list[ast.Call]] = {}
        for store in self._tree.stores:
            calls = [store.value] if isinstance(store.value, ast.Call) else []
            for owner in {None, store.scope.enclosing_class()}:
                found.setdefault((store.target.attr, owner), []).extend(calls)
        return found

    def memory_of_module(self, module: Instance) -> Memory:
        """How a module's result shares memory with its input: Paddle's activations and dropouts make a new tensor."""
        name = module.api.rpartition(".")[2]
        return "copied" if name in facts().inplace_modules["torch"] else "view" if name.endswith("latten") else "same"

    def _is_passing_chain(self, call: ast.Call) -> bool:
        """Whether every layer of ``nn.Sequential(...)`` can give back its input."""
        return all(
            any(isinstance(v, Instance) and self.passes_input(v, layer) for v in self._view.evaluator.values(layer))
            for layer in call.args
        )

    def memory(self, node: ast.expr) -> Memory:
        """How the outermost operation of an expression shares memory with what it is applied to."""
        function = node.func if isinstance(node, ast.Call) else node
        name = function.attr if isinstance(function, ast.Attribute) else ""
        if name in facts().copied_views["torch"] or name == "dropout":
            return "copied"
        if isinstance(node, ast.Subscript):
            container = any(isinstance(v, Container) for v in self._view.evaluator.values(node.value))
            return "same" if container else "view"
        recorded = name in facts().views["torch"] - _WITHOUT_GRADIENTS or name in facts().may_share["torch"]
        return "view" if recorded else "same"

    def outermost_view(self, node: ast.expr) -> tuple[ast.expr, ast.AST | None]:
        """The outermost view of the expression, ``x.view(-1)[0]`` for ``x``, and what it stands in."""
        parent = self._view.parent(node)
        while True:
            if isinstance(parent, ast.Attribute) and parent.value is node and parent.attr in self.shared:
                called = self._view.parent(parent)
                node = called if isinstance(called, ast.Call) and called.func is parent else parent
            elif self._passes_on(parent, node):
                node = parent
            else:
                return node, parent
            parent = self._view.parent(node)

    def _passes_on(self, parent: ast.AST | None, node: ast.expr) -> TypeGuard[ast.expr]:
        """Whether a parent gives ``node`` itself, a part of it or an element."""
        if isinstance(parent, ast.Subscript):
            return parent.value is node and self.is_view(parent)
        if isinstance(parent, ast.IfExp):
            return parent.test is not node
        return isinstance(parent, ast.BoolOp | ast.Starred)

    def is_view(self, node: ast.Subscript) -> bool:
        """Whether the subscript gives a view of a tensor, or an element of a container."""
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if all(isinstance(p, ast.Slice | ast.Constant | ast.UnaryOp) for p in parts):
            return True
        return any(isinstance(v, Container) for v in self._view.evaluator.values(node.value))
