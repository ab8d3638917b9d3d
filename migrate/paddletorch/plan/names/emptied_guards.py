"""Import guards that would guard no import any more: they go with their imports, or these stay as a question."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence

from paddletorch.plan.model.findings import Finding, finding
from paddletorch.plan.names.converted import Converted
from paddletorch.plan.names.import_statements import Clause
from paddletorch.plan.syntax.constants import constant
from paddletorch.resolve import Binding, is_import_guard

IMPORT_AS_QUESTION = "API243"

Imports = Mapping[ast.stmt, Sequence[tuple[Binding, list[Binding]]]]
"""What import statements bind, each name with all of its bindings."""


def emptied_guards(
    file: Converted, decided: Mapping[ast.stmt, Sequence[Clause]], needs: Collection[ast.stmt]
) -> Iterator[ast.Try]:
    """The guards whose imports all go, and whose answer would be another one from then on."""
    around = dict.fromkeys(file.view.parent(statement) for statement in decided)
    for guard in around:
        if not is_import_guard(guard) or not isinstance(guard, ast.Try):
            continue
        imports = imports_in(guard)
        if imports and all(s in decided and s not in needs and _goes(s, decided[s]) for s in imports):
            names = {alias.asname or alias.name.partition(".")[0] for s in imports for alias in s.names}
            if not any(isinstance(n, ast.Name) and n.id in names for s in guard.body for n in ast.walk(s)):
                yield guard


def imports_in(guard: ast.Try) -> list[ast.Import | ast.ImportFrom]:
    """The imports that a guard is for."""
    return [statement for statement in guard.body if isinstance(statement, ast.Import | ast.ImportFrom)]


def _goes(statement: ast.stmt, clauses: Sequence[Clause]) -> bool:
    """Whether nothing of an import is left, here or elsewhere."""
    names = statement.names if isinstance(statement, ast.Import | ast.ImportFrom) else ()
    return len(clauses) == len(names) and all(c.drop and not c.local and not c.guarded and not c.typed for c in clauses)


def serves_only_imports(
    file: Converted, guard: ast.Try, imports: Imports, decided: Mapping[ast.stmt, Sequence[Clause]]
) -> bool:
    """Whether a guard does nothing but bind names that nothing reads any more: it may go with its imports."""
    if guard.orelse or guard.finalbody or len(imports_in(guard)) < len(guard.body):
        return False
    pairs = [pair for statement in guard.body for pair in imports[statement]]
    groups = file.naming.groups
    if any(file.remaining(all_, groups.get(id(all_))) for _, all_ in pairs):
        return False
    names = {binding.name for binding, _ in pairs}
    instead = [one for handler in guard.handlers for one in handler.body]
    return all(_stands_in(one, names) or (one in decided and _goes(one, decided[one])) for one in instead)


def _stands_in(statement: ast.stmt, names: Collection[str]) -> bool:
    """``pass``, or ``name = None``."""
    if isinstance(statement, ast.Assign):
        of_names = all(isinstance(target, ast.Name) and target.id in names for target in statement.targets)
        return of_names and isinstance(statement.value, ast.Constant) and constant(statement.value) is None
    return isinstance(statement, ast.Pass)


def left_as_question(statement: ast.stmt, clauses: Sequence[Clause]) -> tuple[list[Clause], list[Finding]]:
    """The clauses of an import that stays in its guard, and what is said of them."""
    module = f"{statement.module}." if isinstance(statement, ast.ImportFrom) else ""
    found = [finding(IMPORT_AS_QUESTION, clause.alias, module + clause.alias.name) for clause in clauses]
    return [clause._replace(drop=False) for clause in clauses], found
