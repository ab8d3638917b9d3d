"""Fixtures of the whole API, there and back: the program that went in, apart from how it spells names and arguments.

Names are compared in full (``F.relu`` is ``torch.nn.functional.relu``), arguments of the frameworks' functions by
keyword and without those that have their default value; imports of the frameworks are left out.
"""

from __future__ import annotations

import ast

from paddletorch.model import Framework, Options
from paddletorch_rules import Signature, load

from ...fixture_files import MIXED_PRECISION, Fixture, converted, with_fixtures

TABLE = load()
SIDES: tuple[Framework, ...] = ("torch", "paddle")
ROOTS = ("torch", "paddle", "torchvision")


@with_fixtures(lambda fixture: fixture.comes_back and not fixture.converts_only(*MIXED_PRECISION, "DTY101"))
def test_there_and_back(fixture: Fixture) -> None:
    back = Options(target=fixture.options.source, select=())
    returned = converted(back, fixture.result.output, f"{fixture.name}.py").output
    assert spelled_out(returned) == spelled_out(fixture.source)


def spelled_out(code: bytes) -> str:
    """The program with full names and keywords."""
    tree = ast.parse(code)
    return ast.unparse(ast.fix_missing_locations(_SpelledOut(tree).visit(tree)))


class _SpelledOut(ast.NodeTransformer):
    def __init__(self, tree: ast.Module) -> None:
        self.names: dict[str, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] in ROOTS:
                self.names |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    root = alias.name.partition(".")[0]
                    if root in ROOTS:
                        self.names[alias.asname or root] = alias.name if alias.asname else root

    def _qualified(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Attribute):
            base = self._qualified(node.value)
            return f"{base}.{node.attr}" if base else None
        return self.names.get(node.id) if isinstance(node, ast.Name) else None

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Name(_first_name(self._qualified(node) or node.id), node.ctx)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        name = self._qualified(node)
        return ast.Name(_first_name(name), node.ctx) if name else self.generic_visit(node)  # type: ignore[return-value]

    def visit_Import(self, node: ast.Import) -> ast.stmt | None:
        node.names = [a for a in node.names if a.name.partition(".")[0] not in ROOTS]
        return node if node.names else None

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.stmt | None:
        return None if (node.module or "").partition(".")[0] in ROOTS else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        name = self._qualified(node.func)
        self.generic_visit(node)
        signature = _signature(name) if name else None
        if signature is None or any(isinstance(a, ast.Starred) for a in node.args):
            return node
        if len(node.args) > len(signature.positional) or any(p.variadic for p in signature.parameters):
            return node
        given = [ast.keyword(p.name, a) for p, a in zip(signature.positional, node.args, strict=False)]
        defaults = {p.name: p.default for p in signature.parameters}
        kept = [k for k in (*given, *node.keywords) if k.arg is None or ast.unparse(k.value) != defaults.get(k.arg)]
        return ast.Call(node.func, [], sorted(kept, key=lambda k: k.arg or ""))


def _first_name(name: str) -> str:
    """The first spelling of what may be one of several."""
    for side in SIDES:
        found = TABLE.lookup(side, name)
        names = [n for form in found[0].forms(side) for n in form.names] if found is not None else []
        if name in names:
            return names[0]
    return name


def _signature(name: str) -> Signature | None:
    for side in SIDES:
        found = TABLE.lookup(side, name)
        if found is not None and found[1].signatures:
            return found[1].signatures[-1][1]
    return None
