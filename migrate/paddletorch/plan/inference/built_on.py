"""What comes from packages that are built on the source framework: their imports, and the values that they give."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from paddletorch_rules.packages import Package, packages

from paddletorch.plan.model.view import FileView
from paddletorch.resolve import Binding, Scope, is_import_guard
from paddletorch.resolve.scopes.innermost import Innermost

_IMPORTERS = frozenset({"importlib.import_module", "__import__"})


class PackageImport(NamedTuple):
    """One import of a package that is built on the source framework."""

    package: Package
    node: ast.alias | ast.Call
    """The name that is imported, or the call that imports."""
    optional: bool
    """The program goes on where the import fails, or imports only under a condition."""


class BuiltOn:
    """The imports of such packages in one file, and the expressions whose values come from them."""

    def __init__(self, view: FileView) -> None:
        self._view = view
        self._packages = packages(view.settings.source)
        self.imports = (*self._statements(), *self._calls())
        self._aliases = {one.node: one for one in self.imports if isinstance(one.node, ast.alias)}
        self._importing = {one.node: one.package for one in self.imports if isinstance(one.node, ast.Call)}
        self._imports_of: dict[int, PackageImport | None] = {}
        """By the identity of a list of bindings, of which every use of the name has the same."""
        self._of_bindings: dict[int, Package | None] = {}
        self._of_names: dict[int, Package | None] = {}
        """As ``_imports_of``; only answers that rest on no binding that is still looked for."""
        self._pending = 0
        """How many bindings and stores are looked for."""
        self._classes = Innermost(view.tree.parents, (ast.ClassDef,))
        self._stores: dict[str, dict[ast.ClassDef | None, list[ast.expr]]] = {}
        self._of_stores: dict[tuple[str, int], Package | None] = {}

    def source_of(self, node: ast.expr) -> Package | None:
        """The package that an expression's value comes from: a name of it, what calling it gives, a member of that."""
        return self._source(node) if self.imports else None

    def held_by(self, load: ast.Name) -> Package | None:
        """The package that the value of a name comes from, unless it is a name of the package itself."""
        bindings = self._view.tree.scopes[load].lookup(load.id)
        if not bindings or self._import_among(bindings) is not None:
            return None
        return self._of_reaching(load, bindings)

    def holding_names(self) -> Iterator[str]:
        """The names of which any binding in the file may have a value that comes from such a package."""
        for name in self._view.tree.names:
            scopes = self._scopes_by_name.get(name, ())
            if any(self._of_list(scope.bindings[name]) is not None for scope in scopes):
                yield name

    @cached_property
    def _scopes_by_name(self) -> dict[str, list[Scope]]:
        """The scopes that bind each name."""
        found: dict[str, list[Scope]] = {}
        for scope in self._view.tree.own.values():
            for name in scope.bindings:
                found.setdefault(name, []).append(scope)
        return found

    def alias_of(self, load: ast.Name) -> PackageImport | None:
        """The import of such a package that a name stands for."""
        return self._import_among(self._view.tree.scopes[load].lookup(load.id))

    def _import_among(self, bindings: list[Binding]) -> PackageImport | None:
        if not bindings:
            return None
        if id(bindings) not in self._imports_of:
            imported = (self._aliases[b.alias] for b in bindings if b.alias in self._aliases)
            self._imports_of[id(bindings)] = next(imported, None)
        return self._imports_of[id(bindings)]

    # imports -----------------------------------------------------------------------------------------

    def _statements(self) -> Iterator[PackageImport]:
        statements: list[ast.Import | ast.ImportFrom] = [
            *self._view.tree.of_kind(ast.Import),
            *self._view.tree.of_kind(ast.ImportFrom),
        ]
        statements.sort(key=lambda statement: (statement.lineno, statement.col_offset))
        for statement in statements:
            module = statement.module if isinstance(statement, ast.ImportFrom) else ""
            if isinstance(statement, ast.ImportFrom) and (statement.level or not module):
                continue
            for alias in statement.names:
                package = self._foreign(f"{module}.{alias.name}" if module else alias.name)
                if package is not None:
                    yield PackageImport(package, alias, self._is_optional(statement))

    def _calls(self) -> Iterator[PackageImport]:
        """Imports by a call with a literal: ``importlib.import_module("timm")``, ``optional_import("timm")``."""
        for text in self._view.tree.strings:
            call = self._view.parent(text)
            if not isinstance(call, ast.Call) or call.args[:1] != [text] or not isinstance(text.value, str):
                continue
            if self._packages.of(text.value) is None:
                continue
            last = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            named = self._view.qualified(call.func) or last
            if "import" not in named.rpartition(".")[2].lower():
                continue
            package = self._foreign(text.value)
            if package is not None:
                yield PackageImport(package, call, named not in _IMPORTERS or self._is_optional(call))

    def _foreign(self, dotted: str) -> Package | None:
        """The package that a name lies in, unless the project has it itself."""
        package = self._packages.of(dotted)
        if package is None or self._view.evaluator.holds(dotted.partition(".")[0]):
            return None
        return package

    def _is_optional(self, node: ast.AST) -> bool:
        inner: ast.AST = node
        while (around := self._view.parent(inner)) is not None:
            if isinstance(around, ast.If):
                return True
            if isinstance(around, ast.Try) and inner in around.body and is_import_guard(around):
                return True
            if isinstance(around, ast.With) and is_import_guard(around):
                return True
            inner = around
        return False

    # values ------------------------------------------------------------------------------------------

    def _source(self, node: ast.expr) -> Package | None:
        """Go from a call, a member or an element to what it is of, until something is known."""
        current: ast.expr = node
        while True:
            if isinstance(current, ast.Name):
                return self._of_name(current)
            if isinstance(current, ast.Call):
                if current in self._importing:
                    return self._importing[current]
                if isinstance(current.func, ast.Name) and current.func.id == "super":
                    return self._of_own_class(current)
                current = current.func
            elif isinstance(current, ast.Attribute):
                found = self._of_member(current)
                if found is not None:
                    return found
                current = current.value
            elif isinstance(current, ast.Subscript | ast.Starred | ast.Await | ast.NamedExpr):
                current = current.value
            elif isinstance(current, ast.IfExp):
                return self._source(current.body) or self._source(current.orelse)
            elif isinstance(current, ast.BinOp):
                return self._source(current.left) or self._source(current.right)
            else:
                return None

    def _of_name(self, node: ast.Name) -> Package | None:
        scope = self._view.tree.scopes.get(node)
        bindings = scope.lookup(node.id) if scope is not None else []
        return self._of_reaching(node, bindings) if bindings else None

    def _of_reaching(self, node: ast.Name, bindings: list[Binding]) -> Package | None:
        if self._pending and id(bindings) not in self._of_names:
            return self._of_any(self._view.evaluator.reaching(node) if len(bindings) > 1 else bindings)
        found = self._of_list(bindings)
        if found is None or len(bindings) == 1:
            return found  # most names of a file have nothing to do with packages
        reaching = self._view.evaluator.reaching(node)
        return found if len(reaching) == len(bindings) else self._of_any(reaching)

    def _of_list(self, bindings: list[Binding]) -> Package | None:
        """The package that any of all the bindings of a name comes from."""
        key = id(bindings)
        if key not in self._of_names:
            self._of_names[key] = self._of_any(bindings)
        return self._of_names[key]

    def _of_any(self, bindings: Iterable[Binding]) -> Package | None:
        return next((found for binding in bindings if (found := self._of_binding(binding)) is not None), None)

    def _of_binding(self, binding: Binding) -> Package | None:
        key = id(binding)
        if key not in self._of_bindings:
            self._of_bindings[key] = None  # while it is looked for: a variable may be made of itself
            self._pending += 1
            self._of_bindings[key] = self._found_of(binding)
            self._pending -= 1
        return self._of_bindings[key]

    def _found_of(self, binding: Binding) -> Package | None:
        if binding.alias is not None:
            imported = self._aliases.get(binding.alias)
            return imported.package if imported is not None else None
        if isinstance(binding.node, ast.ClassDef):
            return self._of_bases(binding.node)
        if isinstance(binding.node, ast.FunctionDef):
            given = self._view.tree.own[binding.node].returns if binding.node in self._view.tree.own else ()
            return next((found for value in given if value is not None and (found := self._source(value))), None)
        return self._source(binding.value) if binding.value is not None and binding.kind != "parameter" else None

    def _of_bases(self, node: ast.ClassDef) -> Package | None:
        return next((found for base in node.bases if (found := self._source(base)) is not None), None)

    def _of_member(self, node: ast.Attribute) -> Package | None:
        """The package that ``self.x`` comes from: by what is stored there, or as a member that the class inherits."""
        own = self._class_of(node)
        if own is None:
            return None
        key = node.attr, id(own)
        if key not in self._of_stores:
            self._of_stores[key] = None
            self._pending += 1
            stores = self._stored(node.attr).get(own, [])
            found = next((one for value in stores if (one := self._source(value)) is not None), None)
            defined = stores or node.attr in self._view.tree.own[own].bindings
            self._of_stores[key] = found or (None if defined else self._of_bases(own))
            self._pending -= 1
        return self._of_stores[key]

    def _stored(self, attribute: str) -> Mapping[ast.ClassDef | None, list[ast.expr]]:
        """What is stored to ``self.x`` of each class."""
        found = self._stores.get(attribute)
        if found is None:
            found = self._stores[attribute] = {}
            for store in self._view.evaluator.stores(attribute):
                if store.value is not None:
                    found.setdefault(self._class_of(store.target), []).append(store.value)
        return found

    def _class_of(self, node: ast.Attribute) -> ast.ClassDef | None:
        """The class in whose method ``self.x`` stands."""
        if not isinstance(node.value, ast.Name) or node.value.id != "self":
            return None
        return self._class_around(node)

    def _of_own_class(self, node: ast.expr) -> Package | None:
        own = self._class_around(node)
        return self._of_bases(own) if own is not None else None

    def _class_around(self, node: ast.expr) -> ast.ClassDef | None:
        found = self._classes.around(node)
        return found if isinstance(found, ast.ClassDef) else None
