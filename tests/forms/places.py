"""Forms in other surroundings: beside other code, as a method, in another file."""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Iterator, Sequence

from paddletorch.model import Framework

from .source import Function, Rewritten, functions, own_names, reads_its_names, stored, tree_of, written

_THING = """
class FormThing:
    def __getattr__(self, name):
        return self
    def __call__(self, *values, **options):
        return self
"""


def beside(text: str) -> Rewritten | None:
    """With a function behind it whose locals have the same names, are used alike, and are other objects."""
    tree = tree_of(text)
    names = sorted({name for function in functions(tree) for name in own_names(function)} | _assigned(tree))
    if not names:
        return None
    lines = [f"{name} = FormThing()" for name in names]
    uses: dict[str, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in names:
            uses.setdefault(f"{node.value.id}.{node.attr}()", None)
    body = "".join(f"    {line}\n" for line in (*lines, *uses))
    tree.body += ast.parse(f"{_THING}\ndef form_beside():\n{body}").body
    return Rewritten(*written(tree))


def _assigned(tree: ast.Module) -> set[str]:
    """Names that plain assignments of a module bind."""
    bound = {
        node.id
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        for node in ast.walk(target)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return {name for name in bound if not name.startswith("__")}


_OTHER: dict[Framework, str] = {
    "paddle": """
def form_other(form_values):
    import paddle
    form_tensor = paddle.to_tensor(form_values, stop_gradient=False)
    form_linear = paddle.nn.Linear(3, 4)
    form_optimizer = paddle.optimizer.SGD(0.1, parameters=form_linear.parameters())
    paddle.nn.functional.relu(form_linear(form_tensor)).sum(axis=0).mean().backward()
    form_optimizer.step()
    form_optimizer.clear_grad()
""",
    "torch": """
def form_other(form_values):
    import torch
    form_tensor = torch.tensor(form_values, requires_grad=True)
    form_linear = torch.nn.Linear(3, 4)
    form_optimizer = torch.optim.SGD(form_linear.parameters(), lr=0.1)
    torch.nn.functional.relu(form_linear(form_tensor)).sum(dim=0).mean().backward()
    form_optimizer.step()
    form_optimizer.zero_grad()
""",
}


def beside_the_other_framework(text: str, target: Framework) -> Rewritten:
    """With a function behind it that uses the framework that the program goes to."""
    tree = tree_of(text)
    tree.body += ast.parse(_OTHER[target]).body
    return Rewritten(*written(tree))


def as_method(text: str) -> Rewritten | None:
    """Each function of a module as a method."""
    return _as_methods(text, attributes=False)


def as_method_with_attributes(text: str) -> Rewritten | None:
    """Each function of a module as a method that keeps its locals in attributes, beside a class that has them too."""
    return _as_methods(text, attributes=True)


def _as_methods(text: str, *, attributes: bool) -> Rewritten | None:
    tree = tree_of(text)
    number = 0
    body: list[ast.stmt] = []
    for statement in tree.body:
        if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef) or not _can_be_a_method(statement):
            body.append(statement)
            continue
        kept = sorted(_attributes(statement)) if attributes else []
        if attributes and not kept:
            body.append(statement)
            continue
        number += 1
        _Kept(set(kept)).visit(statement)
        if attributes:
            lines = "".join(f"        self.{name} = form_text\n" for name in kept)
            body += ast.parse(f"class FormOther{number}:\n    def __init__(self, form_text):\n{lines}").body
        first = ast.arg("self")
        arguments = statement.args
        (arguments.posonlyargs if arguments.posonlyargs else arguments.args).insert(0, first)
        holder = ast.parse(f"class FormHolder{number}: pass").body[0]
        assert isinstance(holder, ast.ClassDef)
        holder.body = [statement]
        body += [holder, *ast.parse(f"{statement.name} = FormHolder{number}().{statement.name}").body]
    tree.body = body
    return Rewritten(*written(tree)) if number else None


def _can_be_a_method(function: Function) -> bool:
    names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)} | stored(function)
    hidden = any(name.startswith("__") and not name.endswith("__") for name in (*names, *_attribute_names(function)))
    return not (
        function.decorator_list or reads_its_names(function) or hidden or {"self", "super", "__class__"} & names
    )


def _attribute_names(node: ast.AST) -> Iterator[str]:
    return (one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute))


def _attributes(function: Function) -> set[str]:
    """The locals that may be attributes: bound by assignments alone, in a function that runs once at a time."""
    again = any(isinstance(node, ast.Name) and node.id == function.name for node in ast.walk(function))
    stops = isinstance(function, ast.AsyncFunctionDef) or any(
        isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(function)
    )
    if again or stops:
        return set()
    simple: set[int] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            simple |= {id(one) for target in node.targets for one in ast.walk(target)}
        elif isinstance(node, ast.AugAssign):
            simple.add(id(node.target))
    return {
        name
        for name, places in own_names(function).items()
        if all(isinstance(place.ctx, ast.Load) or id(place) in simple for place in places)
    }


class _Kept(ast.NodeTransformer):
    def __init__(self, names: set[str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self.names:
            return node
        found = ast.Attribute(ast.Name("self", ast.Load()), node.id, node.ctx)
        found.origin = node.origin  # type: ignore[attr-defined]
        return found


class _Functions(ast.NodeTransformer):
    """Takes functions out of the classes that these forms put them into."""

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST | list[ast.stmt] | None:
        if node.name.startswith(("FormOther", "FormThing")):
            return None
        if not node.name.startswith("FormHolder"):
            return node
        for function in node.body:
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                arguments = function.args
                del (arguments.posonlyargs if arguments.posonlyargs else arguments.args)[0]
                _Plain().visit(function)
        return node.body

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST | None:
        return None if node.name in ("form_beside", "form_other") else node

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        return None if ast.unparse(node.value).startswith("FormHolder") else node


class _Plain(ast.NodeTransformer):
    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            return ast.Name(node.attr, node.ctx)
        return node


def alone(tree: ast.Module) -> ast.Module:
    """The tree without what these forms put beside it, and its functions out of classes."""
    found = _Functions().visit(tree)
    assert isinstance(found, ast.Module)
    return found


def imported(text: str) -> Rewritten | None:
    """Definitions in a module of their own, ``form_part``, from which they are imported."""
    tree = tree_of(text)
    moved = _moved(tree)
    if not moved:
        return None
    imports = [one for one in tree.body if isinstance(one, ast.Import | ast.ImportFrom)]
    there = _names_read(moved)
    here = _names_read([one for one in tree.body if one not in moved]) | (_bound(imports) - there)
    part = ast.Module([*_importing(imports, there), *moved], [])
    names = ", ".join(sorted({one.name for one in moved}))
    place = next(number for number, one in enumerate(tree.body) if one in moved)
    tree.body[place] = ast.parse(f"from form_part import {names}").body[0]
    kept = [one if one not in imports else None for one in tree.body if one not in moved]
    left = iter([_importing([one], here) for one in imports])
    tree.body = [new for one in kept for new in ([one] if one is not None else next(left))]
    return Rewritten(*written(tree), part=Rewritten(*written(part)))


def _names_read(statements: Sequence[ast.stmt]) -> set[str]:
    return {node.id for one in statements for node in ast.walk(one) if isinstance(node, ast.Name)}


def _bound(imports: Sequence[ast.stmt]) -> set[str]:
    return {name for one in imports for name in stored(one)}


def _importing(imports: Sequence[ast.Import | ast.ImportFrom], names: set[str]) -> list[ast.stmt]:
    """The imports of these names, and those that bind none or change the language."""
    found: list[ast.stmt] = []
    for one in imports:
        always = isinstance(one, ast.ImportFrom) and one.module == "__future__"
        aliases = [a for a in one.names if always or a.name == "*" or (a.asname or a.name.partition(".")[0]) in names]
        if aliases:
            new = copy.copy(one)
            new.names = aliases
            found.append(new)
    return found


Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def _moved(tree: ast.Module) -> list[Definition]:
    """The definitions that need nothing of the module but imports and each other."""
    definitions = [one for one in tree.body if isinstance(one, Definition)]
    names = [one.name for one in definitions]
    rest = ast.Module([one for one in tree.body if not isinstance(one, Definition | ast.Import | ast.ImportFrom)], [])
    changed = stored(rest) | {name for name in names if names.count(name) > 1}
    changed |= {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}
    if any(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(rest)):
        return []
    changed.add("__name__")
    needed = {one.name: _read(one) for one in definitions if one.name not in changed}
    while stays := {name for name, reads in needed.items() if reads & (changed | (set(names) - needed.keys()))}:
        for name in stays:
            del needed[name]
    return [one for one in definitions if one.name in needed]


def _read(node: ast.AST) -> set[str]:
    found = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)} - {getattr(node, "name", "")}
    if any(isinstance(one, ast.Global) for one in ast.walk(node)) or reads_its_names(node):
        return found | {"__name__"}
    return found - set(dir(builtins))
