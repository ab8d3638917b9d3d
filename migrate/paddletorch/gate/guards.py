"""Promise: no import of the target shares a guard with one of the source that stays.

Where only the target is installed, ``try: import paddle; import torch`` / ``except ImportError:`` would take the other
branch in silence.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from paddletorch.gate.converted_text import ConvertedText
from paddletorch.gate.definitions import lines_behind
from paddletorch.gate.violation import Violation
from paddletorch.model import PACKAGES, Framework, Span
from paddletorch.resolve import Binding, ScopeTree, guarded_imports, is_import_guard

CODE = "SRC020"

_Import = ast.Import | ast.ImportFrom
_Guard = ast.Try | ast.With
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
"""What does not run where it stands, as a class does."""


def shared_guards(text: ConvertedText, source: Framework, target: Framework) -> list[Violation]:
    """A violation for each guard in which an edit puts an import of the target beside one of the source."""
    old = {text.source.span(guard).start: guard for guard in _changed_guards(text, source, target)}
    tree = text.new_tree if old else None
    if tree is None:
        return []
    lines = text.new_source
    found: list[Violation] = []
    bound: dict[ast.AST, list[list[Binding]]] = {}
    naming: frozenset[int] | None = None
    for guard in _guards(tree):
        left = [one for one in guarded_imports(guard) if _root(one) in PACKAGES[source]]
        ours = [one for one in guarded_imports(guard) if _root(one) in PACKAGES[target]]
        piece, within = text.piece_at(lines.offset(guard.lineno, guard.col_offset))
        before = old.get(piece.origin.start + within) if piece.is_copy else None
        if left and ours and before is not None and not _is_of_left_alone(guard, left, ours):
            bound = bound or _bound_by_imports(tree)
            reads = [load for one in ours for bindings in bound[one] for load in tree.reads(bindings)]
            changed = [lines_behind(text, tree, lines.offset(n.lineno, n.col_offset)) for n in reads]
            if not changed:
                naming = _lines_that_name(text, target) if naming is None else naming
                changed = [naming]
            changed += [text.lines_of(text.source.span(one)) for one in guarded_imports(before)]
            problem = f"'{ast.unparse(left[0])}' stays"
            found.append(Violation(CODE, problem, frozenset().union(*changed), before.lineno))
    return found


def _guards(tree: ScopeTree) -> list[_Guard]:
    """The guards of imports, in source order."""
    found = filter(is_import_guard, (*tree.of_kind(ast.Try), *tree.of_kind(ast.With)))
    return sorted(found, key=lambda guard: (guard.lineno, guard.col_offset))


def _changed_guards(text: ConvertedText, source: Framework, target: Framework) -> Iterator[_Guard]:
    """The guards of the old text that import the source alone, and in which edits name the target."""
    seen: set[ast.AST] = set()
    for scope in text.tree.own.values():
        for binding in (b for name in text.tree.imported & scope.bindings.keys() for b in scope.bindings[name]):
            guard = text.tree.parents.get(binding.node)
            while guard is not None and not is_import_guard(guard) and not isinstance(guard, _FUNCTIONS):
                guard = text.tree.parents.get(guard)
            if guard is None or guard in seen or not is_import_guard(guard):
                continue
            seen.add(guard)
            first, last = text.source.span(guard.body[0]), text.source.span(guard.body[-1])
            roots = {_root(one) for one in guarded_imports(guard)}
            edits = text.edits_in(Span(first.start, last.end))
            of_source = roots & set(PACKAGES[source]) and not roots & set(PACKAGES[target])
            if of_source and any(_names(target).search(edit.written) for edit in edits):
                yield guard


def _names(target: Framework) -> re.Pattern[str]:
    """Text that names a package of the target."""
    return re.compile(rf"\b(?:{'|'.join(PACKAGES[target])})\b")


def _is_of_left_alone(guard: _Guard, left: Sequence[_Import], ours: Sequence[_Import]) -> bool:
    """Whether a failure means only that what is left is missing: ``fused = None`` for a part of the source."""
    if not isinstance(guard, ast.Try) or max(one.lineno for one in ours) > min(one.lineno for one in left):
        return False
    if any(isinstance(one, ast.Import) and "." not in alias.name for one in left for alias in one.names):
        return False  # the framework itself
    names = {alias.asname or alias.name.partition(".")[0] for one in left for alias in one.names}
    return all(
        isinstance(statement, ast.Assign)
        and isinstance(statement.value, ast.Constant)
        and all(isinstance(target, ast.Name) and target.id in names for target in statement.targets)
        for handler in guard.handlers
        for statement in handler.body
    )


def _root(statement: _Import) -> str:
    """The package of an import."""
    if isinstance(statement, ast.ImportFrom):
        return "" if statement.level else (statement.module or "").partition(".")[0]
    return statement.names[0].name.partition(".")[0]


def _bound_by_imports(tree: ScopeTree) -> dict[ast.AST, list[list[Binding]]]:
    """The bindings of each name that an import binds, by the import."""
    found: defaultdict[ast.AST, list[list[Binding]]] = defaultdict(list)
    for scope in tree.own.values():
        for name in tree.imported & scope.bindings.keys():
            for node in {binding.node for binding in scope.bindings[name]}:
                found[node].append(scope.bindings[name])
    return found


def _lines_that_name(text: ConvertedText, target: Framework) -> frozenset[int]:
    """The lines of all edits whose text names the target."""
    naming = _names(target)
    return frozenset().union(*(text.lines_of(edit.span) for edit in text.edits if naming.search(edit.written)))
