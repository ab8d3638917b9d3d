"""Whether two converted programs are one, but for the spelling of modules and the names that the engine chose."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterable

from .source import stored


class _Spelled(ast.NodeTransformer):
    """Writes modules in full and leaves imports out."""

    def __init__(self, full: dict[str, str]) -> None:
        self.full = full

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if isinstance(node.ctx, ast.Load) and node.id in self.full:
            return ast.parse(self.full[node.id], mode="eval").body
        return node

    def visit_Import(self, node: ast.Import) -> None:
        return None

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        return None

    def visit_Pass(self, node: ast.Pass) -> None:
        return None


def _full_names(tree: ast.AST) -> dict[str, str]:
    """What each name that only imports bind stands for."""
    found: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                root = alias.name.partition(".")[0]
                found.setdefault(alias.asname or root, set()).add(alias.name if alias.asname else root)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module != "form_part":
            for alias in node.names:
                if alias.name != "*":
                    found.setdefault(alias.asname or alias.name, set()).add(f"{node.module}.{alias.name}")
    others = stored(_Spelled({}).visit(copy.deepcopy(tree)))
    return {name: next(iter(full)) for name, full in found.items() if len(full) == 1 and name not in others}


class _Numbered(ast.NodeTransformer):
    """Numbers the names that the engine chose, in the order in which they stand."""

    def __init__(self, chosen: set[str]) -> None:
        self.chosen = chosen
        self.numbers: dict[str, str] = {}

    def visit_Name(self, node: ast.Name) -> ast.Name:
        if node.id in self.chosen:
            node.id = self.numbers.setdefault(node.id, f"chosen_{len(self.numbers)}")
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        self.generic_visit(node)
        if node.arg in self.chosen:
            node.arg = self.numbers.setdefault(node.arg, f"chosen_{len(self.numbers)}")
        return node


def names_of(text: str) -> set[str]:
    """All names in a program."""
    tree = ast.parse(text)
    return stored(tree) | {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def statements_of(trees: list[ast.Module], known: set[str]) -> list[str]:
    """The statements of a converted program in one spelling; ``known``: the names of the plain program.

    Definitions come last, in the order of the alphabet: they may stand in another file.
    """
    found: list[str] = []
    definitions: list[str] = []
    for tree in trees:
        spelled = _Spelled(_full_names(tree)).visit(copy.deepcopy(tree))
        chosen = _variables(spelled) - known
        for statement in spelled.body:
            text = ast.unparse(ast.fix_missing_locations(_Numbered(chosen).visit(statement)))
            (definitions if isinstance(statement, _DEFINITIONS) else found).append(text)
    return found + sorted(set(definitions))


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _variables(tree: ast.AST) -> set[str]:
    found = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    return found | {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}


def alike(one: list[ast.stmt], other: list[ast.stmt]) -> bool:
    """Whether two branches are the same; the engine may have chosen other names in each."""
    texts = []
    for body in (one, other):
        module = ast.Module(copy.deepcopy(body), [])
        mine = _variables(module)
        numbered = _Numbered({name for name in mine if _is_numbered(name)})
        texts.append(ast.dump(numbered.visit(module)))
    return texts[0] == texts[1]


def _is_numbered(name: str) -> bool:
    """Whether a name may be one of several that the engine chose for the same."""
    return name.rpartition("_")[2].isdigit() or name.startswith("_")


def first_difference(one: Iterable[str], other: Iterable[str]) -> tuple[str, str] | None:
    """The lines of each side that the other lacks, of the first statement that differs; None: all are the same."""
    first, second = list(one), list(other)
    if first == second:
        return None
    here = [text for text in first if text not in second]
    there = [text for text in second if text not in first]
    pairs = zip(here or [""], there or [""], strict=False)
    mine, its = next(pairs)
    left, right = Counter(mine.splitlines()), Counter(its.splitlines())
    return (
        "\n".join(line.strip() for line in (left - right).elements()),
        "\n".join(line.strip() for line in (right - left).elements()),
    )
