"""Own ``reset_parameters`` of subclasses of layers, to Paddle: torch's constructors call it, Paddle's do not."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.model import Edit
from paddletorch.plan.model.changes import NOTHING, Changes, Planned, joined
from paddletorch.plan.model.findings import Finding, finding, refused
from paddletorch.plan.model.refusals import Refused
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.spelling import spelled
from paddletorch.plan.syntax.statements import insert_after
from paddletorch.resolve import Binding, Instance

_CODE = "NNL101"
_REPORTED = "NNL201"
_METHOD = "reset_parameters"


def plan_reset_methods(view: FileView, planned: Planned) -> Changes:
    """Call each own method after the base's constructor, and write out what it calls of the base's."""
    classes = [one for scope in view.tree.own.values() for one in _plan_class(view, planned, scope.node)]
    return joined([*classes, Changes(findings=tuple(_asked(view)))])


def _asked(view: FileView) -> Iterator[Finding]:
    """``hasattr(layer, "reset_parameters")`` of each layer of a module, or of what is given, becomes False."""
    for call in view.tree.calls_of("hasattr"):
        if not isinstance(call.func, ast.Name) or len(call.args) != 2:
            continue
        layer, name = call.args
        if not isinstance(name, ast.Constant) or name.value != _METHOD or not isinstance(layer, ast.Name):
            continue
        values = view.evaluator.objects(layer)
        if not view.is_sources(layer):
            continue
        own = values and all(isinstance(value, Instance) and value.node is not None for value in values)
        if not own and any(map(_is_any, view.evaluator.reaching(layer))):
            difference = "Paddle's layers have no such method, so they would keep their values"
            yield finding(_REPORTED, call, f"layer.{_METHOD}", difference=difference)


def _is_any(binding: Binding) -> bool:
    """Whether it binds a parameter, or each of a module's modules."""
    function = binding.value.func if isinstance(binding.value, ast.Call) else None
    listed = isinstance(function, ast.Attribute) and function.attr.endswith(("modules", "children"))
    return binding.kind == "parameter" or listed


def _plan_class(view: FileView, planned: Planned, node: ast.AST) -> Iterator[Changes]:
    method = _method(node, _METHOD) if isinstance(node, ast.ClassDef) else None
    types = _types(view, node) if isinstance(node, ast.ClassDef) else frozenset()
    if (
        method is None
        or not isinstance(node, ast.ClassDef)
        or not types & _resetting(view)
        or not view.is_sources(node)
        or view.suppressed(_CODE, method)
    ):
        return
    for call in ast.walk(method):
        if isinstance(call, ast.Call) and _is_of_super(call, _METHOD):
            yield _plan_call_of_base(view, planned, method, call, types)
    constructor = _method(node, "__init__")
    if constructor is not None and any(_is_call_of_own(s) for s in ast.walk(constructor)):
        return
    made = [s for s in constructor.body if _is_base_constructor(view, node, s)] if constructor is not None else []
    if len(made) != 1 or constructor is None:
        difference = "torch's constructor calls this method, Paddle's does not"
        yield Changes(findings=(finding(_REPORTED, method, f"{node.name}.{_METHOD}", difference=difference),))
        return
    edit = insert_after(view, made[0], f"{constructor.args.args[0].arg}.{_METHOD}()", _CODE)
    yield Changes((edit,), (view.conversion(_CODE, method, f"layer.{_METHOD}", f"a call of {_METHOD}"),))


def _plan_call_of_base(
    view: FileView, planned: Planned, method: ast.FunctionDef, call: ast.Call, types: frozenset[str]
) -> Changes:
    """``super().reset_parameters()`` as what it computes, which Paddle's layers have no method for."""
    rows = [row for row, _ in view.settings.members(_METHOD) if row.receiver in types]
    form = next((form for row in rows if (form := view.settings.emitted(row)) is not None), None)
    if form is None or form.template is None:
        return NOTHING
    text = form.template.replace("{self}", method.args.args[0].arg)
    try:
        edit = Edit(view.source.span(call), text, _CODE)
        changes = spelled(view, planned.naming.aliases, call, (edit,), f"layer.{_METHOD}")
    except Refused as stop:
        return Changes(findings=(refused(stop.refusal, call, f"layer.{_METHOD}"),))
    conversion = view.conversion(_CODE, call, f"layer.{_METHOD}", text)
    return changes._replace(conversions=(conversion,), handled=frozenset({call.func}))


def _method(node: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    """A method of the class itself with a first parameter."""
    found = [s for s in node.body if isinstance(s, ast.FunctionDef) and s.name == name and s.args.args]
    return found[0] if len(found) == 1 else None


def _resetting(view: FileView) -> frozenset[str | None]:
    """The types of the layers that the tables reset: torch's constructors draw the values by that method."""
    return frozenset(row.receiver for row, _ in view.settings.members(_METHOD) if row.report is None)


def _types(view: FileView, node: ast.ClassDef) -> frozenset[str]:
    """The types of the framework's layers that the class is derived from by name."""
    names = (view.qualified(base) for base in node.bases)
    found = [view.settings.lookup(name) for name in names if name]
    instances = [pair[0].instance for pair in found if pair is not None and pair[0].instance]
    return frozenset(one for instance in instances for one in (instance, *view.settings.table.bases(instance)))


def _is_base_constructor(view: FileView, node: ast.ClassDef, statement: ast.stmt) -> bool:
    """Whether this is ``super().__init__(...)``, or ``nn.Linear.__init__(self, ...)`` of a base."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "__init__":
        return False
    bases = {view.text(base) for base in node.bases if view.qualified(base)}
    return _is_of_super(call, "__init__") or view.text(call.func.value) in bases


def _is_of_super(call: ast.Call, name: str) -> bool:
    owner = call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr == name else None
    return isinstance(owner, ast.Call) and isinstance(owner.func, ast.Name) and owner.func.id == "super"


def _is_call_of_own(node: ast.AST) -> bool:
    """Whether this is ``self.reset_parameters()``."""
    function = node.func if isinstance(node, ast.Call) else None
    return isinstance(function, ast.Attribute) and function.attr == _METHOD and isinstance(function.value, ast.Name)
