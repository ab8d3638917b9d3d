"""Whether a tensor is computed, not a leaf: torch allows ``requires_grad`` to be set only on leaves."""

from __future__ import annotations

import ast

from paddletorch_rules.facts import facts

from paddletorch.plan.inference.bound_elements import looped_over
from paddletorch.plan.inference.list_elements import list_elements
from paddletorch.plan.model.view import FileView
from paddletorch.resolve import Binding

_COMPUTED = (ast.BinOp, ast.UnaryOp)


def is_computed(view: FileView, name: ast.Name) -> bool:
    """Whether every value that the name has here is computed, so that it is no leaf."""
    bindings = view.evaluator.reaching(name) if name in view.tree.scopes else ()
    return bool(bindings) and all(_is_assigned(b) and _is_result(view, b.value) for b in bindings)


def may_be_computed(view: FileView, name: ast.Name) -> bool:
    """Whether a value of the name may be computed: a caller's argument, a part of a tensor, or what some path makes."""
    if name not in view.tree.scopes:
        return False
    if any(b.kind == "parameter" for b in view.tree.scopes[name].lookup(name.id)):
        return True
    return any(
        _is_assigned(b) and (_is_part(b.value) or _is_result(view, b.value)) for b in view.evaluator.reaching(name)
    )


def is_parameter(view: FileView, node: ast.expr) -> bool:
    """Whether it is certainly a parameter of a layer: made as one, or met in a walk over the layer's parameters."""
    if isinstance(node, ast.Attribute):
        made = [store.value for store in view.evaluator.stores_of(node) if store.value is not None]
        return node.attr in ("weight", "bias") or (bool(made) and all(_makes_parameter(value) for value in made))
    if not isinstance(node, ast.Name) or node not in view.tree.scopes:
        return False
    bindings = view.evaluator.reaching(node)
    return bool(bindings) and all(_makes_parameter(b.value) or _is_walk(b) for b in bindings)


def _makes_parameter(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Call) and _called(value) == "create_parameter"


def _is_walk(binding: Binding) -> bool:
    """Whether it takes the parameters one by one: ``for p, q in zip(a.parameters(), b.parameters())``."""
    walked = _walked(binding)
    return isinstance(walked, ast.Call) and _called(walked) in ("parameters", "named_parameters")


def _walked(binding: Binding) -> ast.expr | None:
    """What a loop's variable takes its values from."""
    of_element = binding.kind == "iterate" or binding.path[:1] == (None,)
    if binding.value is None or not of_element:
        return None
    return looped_over(binding.value, binding.path, lambda name: None)


def is_computed_element(view: FileView, name: ast.Name) -> bool:
    """Whether a loop's variable takes computed tensors: of a list that is seen to hold some."""
    bindings = view.evaluator.reaching(name) if name in view.tree.scopes else ()
    lists = [list_elements(view, _walked(binding)) for binding in bindings]
    return bool(lists) and all(any(_is_result(view, one) for one in elements) for elements in lists)


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _is_part(value: ast.expr | None) -> bool:
    """Whether it is written as a part of a tensor is: ``x[:, 1]``."""
    return isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice | ast.Tuple)


def _is_assigned(binding: Binding) -> bool:
    """Whether an assignment binds the name; a loop may run over parameters, which are leaves."""
    return binding.kind == "assign" or (binding.kind == "unpack" and len(binding.path) == 1)


def _is_result(view: FileView, value: ast.expr | None) -> bool:
    """Whether the value is the result of an operation on tensors."""
    if isinstance(value, ast.Call):
        return _called(value) not in facts().leaves["paddle"]
    if isinstance(value, ast.Subscript):  # of a tensor, not of a list that may hold parameters
        return view.tensor(value.value).is_certain
    return isinstance(value, _COMPUTED)
