"""Classes of layers kept for calls that the file does not show: returned, put into a table, given to a registry.

``return nn.ReLU`` becomes ``return TorchReLU``: what is returned is called as the source calls it,
``act(inplace=True)``, so it is the adapter of the class, which takes the source's arguments.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from paddletorch.plan.inference.overloads import kinds
from paddletorch.plan.model.findings import finding
from paddletorch.plan.model.site import Site
from paddletorch.plan.model.use import Use
from paddletorch.plan.model.view import FileView
from paddletorch.plan.uses.adapters import adapted
from paddletorch.plan.uses.uncalled import value_warning

_CODE = "API241"
_PASSED_ON = "API204"


def with_stored_adapters(view: FileView, uses: Sequence[Use]) -> list[Use]:
    """The uses, with an adapter for each class that is kept and whose calls mean something else in the target."""
    unfit = _compared(view, uses) | _called_as_target(uses)
    uses = [use.without_finding(_PASSED_ON) if _is_looked_up(view, use.site.node) else use for use in uses]
    return [use if use.site.name in unfit else _with_stored_adapter(view, use) for use in uses]


def _compared(view: FileView, uses: Iterable[Use]) -> set[str]:
    """The classes that the file compares with others, which tells an adapter from its base: ``cls is nn.ReLU``."""
    return {c.name for use in uses if _is_compared(view, use.site.node) for c in use.site.candidates}


def _is_compared(view: FileView, node: ast.expr) -> bool:
    """Whether it is compared, alone or in a collection, or a key of a table."""
    parent = view.parent(node)
    while isinstance(parent, ast.Tuple | ast.List | ast.Set):
        parent = view.parent(parent)
    return isinstance(parent, ast.Compare) or (isinstance(parent, ast.Dict) and _is_key(view, parent, node))


def _is_looked_up(view: FileView, node: ast.expr) -> bool:
    """Whether it is a key of a table of which elements alone are read, ``{nn.Conv2d: count}``: nothing calls it."""
    table = view.parent(node)
    if not isinstance(table, ast.Dict) or not _is_key(view, table, node):
        return False
    statement = view.parent(table)
    return isinstance(statement, ast.Assign | ast.AnnAssign) and all(_is_table(view, t) for t in _targets(statement))


def _is_key(view: FileView, table: ast.Dict, node: ast.expr) -> bool:
    known = view.provide(_keys_of_tables)
    if table not in known:
        known[table] = frozenset(table.keys)
    return node in known[table]


def _keys_of_tables(_view: FileView) -> dict[ast.Dict, frozenset[ast.expr | None]]:
    """The keys of the dicts that were asked for so far."""
    return {}


def _called_as_target(uses: Iterable[Use]) -> set[str]:
    """The classes that a variable holds whose calls are edited for the target."""
    called = [use for use in uses if use.site.role in ("call", "partial") and use.site.anchor.kind != "import"]
    return {c.name for use in called if use.edits or use.whole is not None for c in use.site.candidates}


def _with_stored_adapter(view: FileView, use: Use) -> Use:
    site = use.site
    if site.role not in ("value", "alias") or site.other is not None or len(site.candidates) != 1:
        return use
    if not use.converts or use.whole is not None or use.row.kind != "class" or not _is_kept(view, site):
        return use
    plain = use.without_finding(_PASSED_ON)
    warned = value_warning(view, plain, site.candidates[0])
    if not warned:
        return use
    found = adapted(view, plain, None)
    if found is None or found.adapter is None:
        return plain.with_findings(*warned)
    return found.with_findings(finding(_CODE, site.node, site.name, use.row, name=found.adapter.name))


def _is_kept(view: FileView, site: Site) -> bool:
    """Whether the class is returned, stands in a table that is read by a key, or is given to a registry with a name."""
    node: ast.AST = site.node
    keyed = False
    while True:
        parent = view.parent(node)
        if isinstance(parent, ast.Return):
            return True
        if isinstance(parent, ast.Lambda):
            return parent.body is node
        if isinstance(parent, ast.IfExp) and node is not parent.test:
            node = parent
        elif parent is not None and (isinstance(parent, ast.Tuple | ast.List) or _is_named(view, parent, node)):
            node, keyed = parent, True
        elif isinstance(parent, ast.Subscript):
            return keyed and parent.value is node
        elif isinstance(parent, ast.Assign | ast.AnnAssign):
            return keyed and parent.value is node and all(_is_table(view, target) for target in _targets(parent))
        elif isinstance(parent, ast.Call | ast.keyword):
            call = view.parent(parent) if isinstance(parent, ast.keyword) else parent
            return not keyed and isinstance(call, ast.Call) and _registers(view, call)
        else:
            return False


def _is_named(view: FileView, table: ast.AST, node: ast.AST) -> bool:
    """Whether the class is a value of a table, under a name: a string, or a variable that holds one."""
    if not isinstance(table, ast.Dict):
        return False
    keys = [key for key, value in zip(table.keys, table.values, strict=True) if value is node]
    found = [kinds(view, key) if key is not None else frozenset() for key in keys]
    return bool(found) and all("str" in one and "int" not in one for one in found)


def _targets(statement: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    return statement.targets if isinstance(statement, ast.Assign) else [statement.target]


def _is_table(view: FileView, target: ast.expr) -> bool:
    """Whether all that is read of it are elements: it is no collection of arguments or classes to look for."""
    if isinstance(target, ast.Name):
        reads: Iterable[ast.expr] = view.tree.reads(view.tree.scopes[target].lookup(target.id))
    elif isinstance(target, ast.Attribute):
        reads = (n for n in view.evaluator.same_attribute(target) if isinstance(n.ctx, ast.Load))
    else:
        return False
    return all(_is_element_read(view, read) for read in reads)


def _is_element_read(view: FileView, read: ast.expr) -> bool:
    parent = view.parent(read)
    if isinstance(parent, ast.Subscript):
        return parent.value is read
    if isinstance(parent, ast.Compare):
        return read in parent.comparators
    return isinstance(parent, ast.Attribute) and parent.attr in ("get", "keys", "pop", "update")


def _registers(view: FileView, call: ast.Call) -> bool:
    """Whether the call stores what it is given under a name: a statement, with a text beside the class."""
    given = (*call.args, *(keyword.value for keyword in call.keywords))
    named = any(isinstance(one, ast.Constant) and isinstance(one.value, str) for one in given)
    return named and isinstance(view.parent(call), ast.Expr)
