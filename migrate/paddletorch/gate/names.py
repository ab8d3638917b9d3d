"""Promise: what new text reads is bound there, on every path, and so is what is still read of an edited import.

Asked of the scopes of the new text. A name that may have been unbound before in the same place is not a fault: a
conversion must not make it worse. That the frameworks which a file imports are installed is taken for granted.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator
from functools import cached_property

from paddletorch_rules.adapters import functions

from paddletorch.gate.converted_text import ConvertedText
from paddletorch.gate.definitions import lines_behind
from paddletorch.gate.suspects import suspects
from paddletorch.gate.violation import Violation
from paddletorch.model import PACKAGES, Framework
from paddletorch.resolve import Bound, DefiniteAssignment, ScopeTree, evaluated_below

CODE = "SRC013"

_BOUND_BY_PYTHON = frozenset(
    (
        *dir(builtins),
        "__file__",
        "__path__",
        "__builtins__",
        "__module__",
        "__qualname__",
        "__class__",
        "__annotations__",
    )
)


def unbound_names(text: ConvertedText, source: Framework, target: Framework) -> list[Violation]:
    """A violation for each name that the new text reads and that is bound on fewer paths than what stood there."""
    names = suspects(text)
    if not names:
        return []
    new = text.new_tree
    return [] if new is None else list(_Comparison(text, new, source, target).violations(names))


class _Comparison:
    """The names of the new text beside those of the old one."""

    def __init__(self, text: ConvertedText, new: ScopeTree, source: Framework, target: Framework) -> None:
        self._text = text
        self._new = new
        self._source, self._target = source, target
        self._packages = (*PACKAGES[source], *PACKAGES[target])
        installed = source, target, "paddletorch_shim"
        self._after = DefiniteAssignment(new, installed)
        self._before = DefiniteAssignment(text.tree, installed)
        self._lines = text.new_source

    def violations(self, names: frozenset[str]) -> Iterator[Violation]:
        """One for each name and statement."""
        found: dict[tuple[str, frozenset[int]], Violation] = {}
        for load in self._new.loads:
            if load.id not in names or load in self._not_evaluated or self._is_from_elsewhere(load):
                continue
            bound = self._after.of(load)
            if bound is Bound.ALWAYS:
                continue
            lines = self._at_fault(load, bound)
            if lines is not None and not self._is_read_below(load, bound):
                where = "on every path" if bound is Bound.SOMETIMES else "there"
                found.setdefault((load.id, lines), Violation(CODE, f"'{load.id}' is not bound {where}", lines))
        yield from found.values()

    def _is_from_elsewhere(self, load: ast.Name) -> bool:
        """Whether Python or an ``import *`` binds a name that nothing else in the module does."""
        if self._new.scopes[load].lookup(load.id):
            return False
        stars = self._new.stars
        if load.id == self._target:  # no framework's own modules bind its name
            stars = [one for one in stars if (one.module or "").partition(".")[0] not in self._packages]
        return load.id in _BOUND_BY_PYTHON or bool(stars)

    @cached_property
    def _not_evaluated(self) -> frozenset[ast.AST]:
        """Names in annotations that Python does not evaluate."""
        futures = (s for s in self._new.module.body if isinstance(s, ast.ImportFrom) and s.module == "__future__")
        if not any(alias.name == "annotations" for s in futures for alias in s.names):
            return frozenset()
        return frozenset(node for annotation in self._new.annotations for node in ast.walk(annotation))

    def _at_fault(self, load: ast.Name, bound: Bound) -> frozenset[int] | None:
        """The source lines of the edits because of which the name is not bound; None if it was no better before."""
        offset = self._lines.offset(load.lineno, load.col_offset)
        piece, within = self._text.piece_at(offset)
        if piece.is_copy:
            before = self._load_at(piece.origin.start + within)
            if before is None or self._was(before) >= bound:
                return None
            changed = self._changed_bindings(before)
            if self._reads_unbound(changed, bound, lambda name: name.id == load.id):
                return None  # x = f(x) is gone, and x may not have been bound there
            return changed or self._new_bindings(load) or self._text.lines_of(self._text.source.span(before))
        lines = lines_behind(self._text, self._new, offset)
        is_own = load.id not in self._packages and load.id in self._text.tree.names
        is_own = is_own and load.id not in functions(self._target)  # which an earlier conversion wrote
        tells = _any_name if is_own else self._is_source
        return None if self._reads_unbound(lines, bound, tells) or self._is_read_above(load, lines) else lines

    def _was(self, load: ast.Name) -> Bound:
        """On which paths the name was bound: what nothing but an ``import *`` binds is bound by that."""
        return Bound.ALWAYS if self._is_known(load) else self._before.of(load)

    def _is_read_above(self, load: ast.Name, lines: frozenset[int]) -> bool:
        """Whether nothing in the old text binds the name, which it has read before it comes to these lines.

        An edit that writes out what a variable holds repeats the names of its value; the frameworks' are never such.
        """
        if load.id in self._packages or not lines:
            return False
        return self._first_unbound.get(load.id, min(lines)) < min(lines)

    @cached_property
    def _first_unbound(self) -> dict[str, int]:
        """The line of the first read of each name that nothing in the old text binds."""
        tree = self._text.tree
        lines: dict[str, int] = {}
        for load in tree.loads:
            if not tree.scopes[load].lookup(load.id):
                lines[load.id] = min(load.lineno, lines.get(load.id, load.lineno))
        return lines

    def _is_source(self, name: ast.Name) -> bool:
        """Whether the old text reads the source framework there: itself or by a name of an import of it."""
        bindings = self._text.tree.scopes[name].lookup(name.id)
        imported = [b.qualified.partition(".")[0] if b.qualified else None for b in bindings]
        return set(imported) <= set(PACKAGES[self._source]) if imported else name.id == self._source

    def _reads_unbound(self, lines: frozenset[int], bound: Bound, tells: Callable[[ast.Name], bool]) -> bool:
        """Whether these lines of the old text read a name that tells and that is bound no better."""
        if any(self._before.of(n) >= bound for n in self._read_in(lines) if tells(n)):
            return True
        own = (t for line in lines for t in self._augmented.get(line, ()) if tells(t))
        return any(self._before.named(t.id, t, self._before.scope_at(t)) >= bound for t in own)

    @cached_property
    def _augmented(self) -> dict[int, list[ast.Name]]:
        """What ``x += 1`` reads and binds, by line."""
        found: dict[int, list[ast.Name]] = {}
        for statement in self._text.tree.of_kind(ast.AugAssign):
            if isinstance(statement.target, ast.Name):
                found.setdefault(statement.target.lineno, []).append(statement.target)
        return found

    def _is_read_below(self, load: ast.Name, bound: Bound) -> bool:
        """Whether the old text reads the name, bound no better, on every path from there: that fails anyway."""

        def is_no_better(node: ast.AST) -> bool:
            if not isinstance(node, ast.Name) or node.id != load.id or not isinstance(node.ctx, ast.Load):
                return False
            piece, within = self._text.piece_at(self._lines.offset(node.lineno, node.col_offset))
            before = self._load_at(piece.origin.start + within) if piece.is_copy else None
            return before is not None and self._before.of(before) >= bound

        statement: ast.AST = load
        while not isinstance(statement, ast.stmt):
            statement = self._new.parents[statement]
        return evaluated_below(self._new.parents, statement, is_no_better)

    def _read_in(self, lines: frozenset[int]) -> Iterator[ast.Name]:
        """The names that these lines of the old text read and that the module must bind."""
        return (n for line in lines for n in self._loads_by_line.get(line, ()) if not self._is_known(n))

    def _is_known(self, load: ast.Name) -> bool:
        """Whether a name that the module does not bind is Python's, or of an ``import *``."""
        tree = self._text.tree
        return not tree.scopes[load].lookup(load.id) and (load.id in _BOUND_BY_PYTHON or bool(tree.stars))

    @cached_property
    def _loads_by_line(self) -> dict[int, list[ast.Name]]:
        """The names that the old text reads, by line."""
        found: dict[int, list[ast.Name]] = {}
        for load in self._text.tree.loads:
            found.setdefault(load.lineno, []).append(load)
        return found

    def _load_at(self, offset: int) -> ast.Name | None:
        """The name that the old text reads at a byte."""
        return self._loads.get(self._text.source.place(offset))

    @cached_property
    def _loads(self) -> dict[tuple[int, int], ast.Name]:
        """The names that the old text reads, by where they begin."""
        return {(load.lineno, load.col_offset): load for load in self._text.tree.loads}

    def _changed_bindings(self, load: ast.Name) -> frozenset[int]:
        """Lines of the statements that bind the name in the old text and that edits change."""
        text = self._text
        found: set[int] = set()
        for binding in text.tree.scopes[load].lookup(load.id):
            around = text.tree.parents.get(binding.node)
            node = around if isinstance(around, ast.AugAssign) else binding.node
            if isinstance(node, ast.stmt | ast.expr):
                span = text.source.span(node)
                if not text.remains(span):
                    found |= text.lines_of(span)
        return frozenset(found)

    def _new_bindings(self, load: ast.Name) -> frozenset[int]:
        """The source lines of the edits that bind the name anew, ``import paddle`` below the read, or need that."""
        bindings = self._new.scopes[load].lookup(load.id)
        readers = [n for n in self._new.names.get(load.id, ()) if self._new.scopes[n].lookup(load.id) is bindings]
        nodes = [n for b in bindings if isinstance(n := b.alias or b.node, ast.stmt | ast.expr | ast.alias)]
        offsets = [self._lines.offset(node.lineno, node.col_offset) for node in (*readers, *nodes)]
        new = [offset for offset in offsets if not self._text.piece_at(offset)[0].is_copy]
        return frozenset().union(*(lines_behind(self._text, self._new, offset) for offset in new))


def _any_name(_: ast.Name) -> bool:
    return True
