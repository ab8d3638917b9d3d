"""Promises about the names of a converted module: all bound, none a template's, decorators with their functions."""

from __future__ import annotations

import ast
import copy
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from paddletorch.model import FileResult, Framework, Options
from paddletorch_rules import load
from pyflakes import messages
from pyflakes.checker import Checker

from .block_names import FUNCTIONS, arguments, bound_in, own_nodes, own_statements
from .dead import dead_lines
from .flow import FRAMEWORKS, Unbound, unbound_names
from .trees import compiles, parsed

_UNDEFINED = (messages.UndefinedName, messages.UndefinedLocal, messages.UndefinedExport)
_HOLE = re.compile(r"\{\{|\}\}|\{[a-z_]+\}")
_COMPILES = re.compile(r"\b(?<!paddle\.)(?:jit\.\w+|compile|script|script_if_tracing|to_static|declarative)\b")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_BINDING = (ast.Name, ast.Import, ast.ImportFrom, *_FUNCTIONS)


def check_undefined(result: FileResult) -> None:
    """pyflakes finds no undefined name in the output that it does not find in the source.

    Not promised: in code that no path reaches, of which pyflakes takes no notice.
    """
    before, after = parsed(result.source), parsed(result.output)
    if before is None or after is None or not compiles(result.source):  # pyflakes does not read on from a wrong return
        return
    dead = dead_lines(after)
    new = {m.message_args[0] for m in _messages(_without_compared_strings(after), _UNDEFINED) if m.lineno not in dead}
    new -= {m.message_args[0] for m in _messages(before, _UNDEFINED)} | _not_from_stars(before)
    new &= FRAMEWORKS | {n.id for n in ast.walk(after) if isinstance(n, ast.Name)}  # "int64" in quotes is no name
    if _unbound_frameworks(before):
        new -= _framework_names(before) | FRAMEWORKS  # it was unbound under the other framework's name
    new -= _bare_names(result) | {found.name for found in unbound_names(before, FRAMEWORKS, _exports())}
    assert not new, f"undefined, says pyflakes: {sorted(new)}"


def check_paths(result: FileResult, source: Framework) -> None:
    """On no path through the module is a name unbound that was not: with both frameworks, and with the target alone.

    Not promised: of a module that Python does not compile, such as one with a parameter that is declared global; with
    the target alone, of one that imports a framework itself by the other's name, and needs both so far.
    """
    before, after = parsed(result.source), parsed(result.output)
    if before is None or after is None or not compiles(result.source):
        return
    target = "paddle" if source == "torch" else "torch"
    alone: dict[str, frozenset[str]] = {
        "torch": frozenset({"torch", "torchvision"}),
        "paddle": frozenset({"paddle"}),
    }
    names = _framework_names(before) | FRAMEWORKS
    old: set[Unbound] = set()
    swaps = any(_binds_as(node, *pair) for node in ast.walk(before) for pair in ((target, source), (source, target)))
    for here, there in ((FRAMEWORKS, FRAMEWORKS), *([] if swaps else [(alone[source], alone[target])])):
        old |= unbound_names(before, here, _exports())
        new = unbound_names(after, there, _exports()) - old
        new = {found for found in new if found.name not in _bare_names(result)}
        new = {one for one in new if not any(_is_above(found, one) for found in old)}
        scopes = {found.scope for found in old if found.name in names}
        new -= {Unbound(scope, name) for scope, name in new if scope in scopes}  # under the other's name
        if here != there:  # what was left, with a finding, needs the source framework
            of_target = (_bound_to(after, target) - _bound_to(after, source)) | alone[target]  # one name, two scopes
            new = {found for found in new if found.name in of_target}
        where = "with both frameworks" if here == there else f"with {target} alone"
        assert not new, f"unbound {where}: {sorted(new)}"


def _is_above(old: Unbound, new: Unbound) -> bool:
    """Whether the name was unbound before where a class body that reads it stands, so that it ended there already."""
    return old.name == new.name and new.scope.startswith(f"{old.scope}.")


def check_guards(result: FileResult, source: Framework) -> None:
    """No block that goes on where an import fails imports both frameworks.

    Not promised: of a block that imported both before.
    """
    before, after = parsed(result.source), parsed(result.output)
    if before is None or after is None:
        return
    old, new = (sum(_imports_both(node, source) for node in ast.walk(tree)) for tree in (before, after))
    assert new <= old, f"what is left of {source} decides whether a guard imports the target"


def _imports_both(node: ast.AST, source: Framework) -> bool:
    """Whether a ``try`` that does not hand on what it catches imports both frameworks."""
    if not isinstance(node, ast.Try) or all(isinstance(s.body[-1], ast.Raise) for s in node.handlers):
        return False
    caught = [ast.unparse(handler.type) if handler.type is not None else "Exception" for handler in node.handlers]
    if not re.search(r"ImportError|ModuleNotFoundError|Exception", " ".join(caught)):
        return False
    own = list(own_statements(node.body))  # not functions'
    guarded = {id(s) for one in own if isinstance(one, ast.Try) and one.handlers for s in own_statements(one.body)}
    run_here = (s for s in own if isinstance(s, ast.Import | ast.ImportFrom) and id(s) not in guarded)
    block = ast.Module(list(run_here), [])
    ours, theirs = _bound_to(block, "paddle"), _bound_to(block, "torch") | _bound_to(block, "torchvision")
    unbound = {ast.unparse(s) for handler in node.handlers for s in handler.body}
    names = ours if source == "paddle" else theirs
    of_parts = len(unbound) > 0 and unbound <= {f"{name} = None" for name in names - FRAMEWORKS}  # fused = None
    return bool(ours) and bool(theirs) and not of_parts


def check_imports(result: FileResult, options: Options) -> None:
    """No import is left that nothing uses any more, and none is made that nothing uses.

    Not promised: with some of the codes only, since what is not selected stays; of a name that the file deletes; of
    ``from torch import *``, which may bind names that no table has; of the file's own imports of the target, which a
    nearer one may hide afterwards; of a name that a ``global`` statement declares, whose reads pyflakes does not see;
    of one that asks whether the framework is there, which is said.
    """
    before, after = parsed(result.source), parsed(result.output)
    if before is None or after is None or options.select or options.ignore or not compiles(result.source):
        return
    if any(isinstance(n, ast.Name) and isinstance(n.ctx, ast.Del) and n.id in FRAMEWORKS for n in ast.walk(after)):
        return
    if any(isinstance(n, ast.Global) and FRAMEWORKS & set(n.names) for n in ast.walk(before)):
        return
    if _unbound_frameworks(before):  # used where its import does not reach, so its import was idle
        return
    old = {m.message_args[0] for m in _messages(before, (messages.UnusedImport,))}
    old |= _idle_stars(before) | _unread_imports(before)
    target = "paddle" if options.source == "torch" else "torch"
    new = {m.message_args[0] for m in _messages(after, (messages.UnusedImport,))} - old - _imports_of(before, target)
    asked = {d.line for d in result.diagnostics if d.code == "API243"}
    new -= {name for n in ast.walk(before) if getattr(n, "lineno", 0) in asked for name in _names_in_messages(n)}
    if not any(name.partition(".")[0] in FRAMEWORKS for name in old):
        idle = {n for n in new if n.partition(".")[0] in FRAMEWORKS and n.partition(".")[2] != "*"}
        assert not idle, f"imported for nothing: {sorted(idle)}"


def _names_in_messages(node: ast.AST) -> Iterator[str]:
    """The names of an import as pyflakes writes them where nothing reads them: ``torch.as_tensor as t``."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        module = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
        yield from (module + a.name + (f" as {a.asname}" if a.asname else "") for a in node.names)


def check_holes(result: FileResult) -> None:
    """No hole of a template is left: no new ``{name}`` as a set or in a text, no doubled brace."""
    before, after = parsed(result.source), parsed(result.output)
    if before is None or after is None:
        return
    sets = set(_small_sets(after)) - set(_small_sets(before))
    assert not sets, f"a template's hole: {sorted(sets)}"
    old = result.source.decode("latin-1")
    texts = {t for t in _texts(after) if _HOLE.search(t)} - set(_texts(before))
    texts = {t for t in texts if any(hole not in old for hole in _HOLE.findall(t))}
    assert not texts, f"a template's hole in a text: {sorted(texts)}"


def check_decorators(result: FileResult, source: Framework) -> None:
    """A decorator of the source framework that compiles its function does not decorate what was converted."""
    before, after = parsed(result.source), parsed(result.output)
    if before is None or after is None:
        return
    target = "paddle" if source == "torch" else "torch"
    own, other = _bound_to(after, source), _bound_to(after, target)
    had = {key for key, body in _decorated(before, _bound_to(before, source)) if body & _bound_to(before, target)}
    for key, body in _decorated(after, own):
        assert key in had or not body & (other - own), f"{key} is decorated by {source} and computes with {target}"


def check_idle_pass(result: FileResult) -> None:
    """A ``pass`` stands alone in its block, unless there was one beside other statements before.

    Not promised: where a removed statement shares its line with others (``import torch; x = 1``), a ``pass`` is left.
    """
    before, after = parsed(result.source), parsed(result.output)
    if before is None or after is None:
        return
    assert _idle_passes(after) <= _idle_passes(before), "a pass beside other statements"


def _imports_of(module: ast.Module, root: str) -> set[str]:
    """What a module imports of a framework, as pyflakes names it."""
    found: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, (ast.Import, ast.ImportFrom)) and not getattr(node, "level", 0):
            within = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            found |= {f"{within}{a.name}" + (f" as {a.asname}" if a.asname else "") for a in node.names}
    return {name for name in found if name.partition(".")[0].partition(" ")[0] == root}


def _idle_stars(module: ast.Module) -> set[str]:
    """Star imports that bind no name which the module uses; pyflakes cannot know what they bind."""
    used = {n.id for n in ast.walk(module) if isinstance(n, ast.Name)}
    stars = {n.module or "" for n in ast.walk(module) if isinstance(n, ast.ImportFrom) and n.names[0].name == "*"}
    return {f"{star}.*" for star in stars if used.isdisjoint(_exports().get(star, frozenset()))}


def _unread_imports(module: ast.Module) -> set[str]:
    """Modules whose name nothing reads; of one that is imported twice, pyflakes takes the other import for a use."""
    used = {n.id for n in ast.walk(module) if isinstance(n, ast.Name)}
    found = [alias for n in ast.walk(module) if isinstance(n, ast.Import) for alias in n.names]
    return {alias.name for alias in found if (alias.asname or alias.name.partition(".")[0]) not in used}


def _not_from_stars(module: ast.Module) -> set[str]:
    """Names for which pyflakes cannot say whether a star import binds them, though it does not."""
    stars = {n.module or "" for n in ast.walk(module) if isinstance(n, ast.ImportFrom) and n.names[0].name == "*"}
    bound = {name for star in stars for name in _exports().get(star, frozenset())}
    return {m.message_args[0] for m in _messages(module, (messages.ImportStarUsage,))} - bound


def _bare_names(result: FileResult) -> set[str]:
    """New names of APIs that the file uses without any import, as an example in a text does: ``auto_cast()``."""
    module = parsed(result.source)
    assert module is not None
    undefined = {m.message_args[0] for m in _messages(module, _UNDEFINED)}
    pairs = ((c.name.rpartition(".")[2], c.replacement.rpartition(".")[2]) for c in result.conversions)
    found = {new for old, new in pairs if old in undefined}
    bare = (c for c in result.conversions if undefined & {c.name.partition(".")[0], c.name.rpartition(".")[2]})
    return found | ({c.replacement.partition(".")[0] for c in bare} & {"paddletorch_shim"})


def owns_name(data: bytes, framework: Framework) -> bool:
    """Whether a module gives the framework's name to a function, a class or a value of its own."""
    module = parsed(data)
    if module is None:  # newer than the running Python
        return re.search(rf"\b(?:def|class)\s+{framework}\b|(?<!\.)\b{framework}\s*:?=(?!=)".encode(), data) is not None
    for node in ast.walk(module):
        if isinstance(node, _FUNCTIONS) and node.name == framework:
            return True
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == framework:
            return True
    return False


def undefined_frameworks(data: bytes) -> set[str]:
    """The names of frameworks that pyflakes finds undefined in a file."""
    module = parsed(data)
    if module is None:
        return set()
    return {m.message_args[0] for m in _messages(module, _UNDEFINED)} & (_framework_names(module) | FRAMEWORKS)


def _unbound_frameworks(module: ast.Module) -> set[str]:
    """The names of frameworks that may be unbound where they are used, says pyflakes or a walk along the paths."""
    found = {m.message_args[0] for m in _messages(module, _UNDEFINED)}
    found |= {one.name for one in unbound_names(module, FRAMEWORKS, _exports())}
    return found & (_framework_names(module) | FRAMEWORKS)


class _ComparedStrings(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.expr:
        """What a call in an annotation is given is a value: ``f("torch.Tensor")``."""
        return ast.copy_location(ast.Constant(value=0), node) if _has_string(node.args) else self.generic_visit(node)  # type: ignore[return-value]

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        strings = [c for n in (node.left, *node.comparators) for c in ast.walk(n) if isinstance(c, ast.Constant)]
        return (
            ast.copy_location(ast.Constant(value=0), node) if any(isinstance(c.value, str) for c in strings) else node
        )

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        text = parsed(node.value.encode("utf-8", "replace")) if isinstance(node.value, str) else None
        if text is None or len(text.body) != 1 or not isinstance(text.body[0], ast.Expr):
            return node
        shown = ast.unparse(_ComparedStrings().visit(copy.deepcopy(text.body[0].value)))
        return ast.copy_location(ast.Constant(value=shown), node)


def _has_string(nodes: Iterable[ast.expr]) -> bool:
    constants = (n.value for node in nodes for n in ast.walk(node) if isinstance(n, ast.Constant))
    return any(isinstance(value, str) for value in constants)


def _without_compared_strings(module: ast.Module) -> ast.Module:
    """The module without comparisons with strings in annotations: pyflakes takes the strings for names of types."""
    module = copy.deepcopy(module)
    for node in ast.walk(module):
        for field in ("annotation", "returns"):
            if (annotation := getattr(node, field, None)) is not None:
                setattr(node, field, _ComparedStrings().visit(annotation))
    return module


def _messages(module: ast.Module, kinds: tuple[type[messages.Message], ...]) -> Iterator[messages.Message]:
    try:
        found = Checker(module).messages
    except (AssertionError, RecursionError):  # its own: an import from __future__ in a function; too deep for it
        return iter(())
    read = {(n.id, n.lineno) for n in ast.walk(module) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    deleted = set(_deleted_by_classes(module)) - read  # no path finds the name there, whatever is imported
    wrong = {m for m in found if isinstance(m, messages.UndefinedLocal) and (m.message_args[0], m.lineno) not in read}
    deleted |= set(_deleted_by_functions(module))
    wrong |= {m for m in found if isinstance(m, messages.UndefinedName) and (m.message_args[0], m.lineno) in deleted}
    undefined = [m for m in found if isinstance(m, messages.UndefinedName)]
    early = set(_read_before_deleted(module)) if undefined else set()
    wrong |= {m for m in undefined if (m.message_args[0], m.lineno, m.col) in early}
    return (m for m in found if isinstance(m, kinds) and m not in wrong)  # it takes one function's scope for another's


def _deleted_by_classes(module: ast.Module) -> Iterator[tuple[str, int]]:
    """Names that the body of a class deletes without having them, each with its line."""
    for node in ast.walk(module):
        if isinstance(node, ast.ClassDef):
            names = [n for n in own_nodes(node.body) if isinstance(n, ast.Name)]
            had = {n.id for n in names if isinstance(n.ctx, ast.Store)}
            had |= bound_in(s for s in own_statements(node.body) if isinstance(s, ast.Import | ast.ImportFrom))
            yield from ((n.id, n.lineno) for n in names if isinstance(n.ctx, ast.Del) and n.id not in had)


def _deleted_by_functions(module: ast.Module) -> Iterator[tuple[str, int]]:
    """Names that are a function's own by a ``del`` alone, with the line of each use: it has nothing to delete."""
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            own = list(own_nodes(node.body))
            deleted = {n.id for n in own if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Del)}
            bind = (n for n in own if isinstance(n, _BINDING) and not isinstance(getattr(n, "ctx", None), ast.Del))
            deleted -= arguments(node.args) | bound_in(bind)
            deleted -= {name for n in own if isinstance(n, ast.Global | ast.Nonlocal) for name in n.names}
            yield from ((n.id, n.lineno) for n in ast.walk(node) if isinstance(n, ast.Name) and n.id in deleted)


def _read_before_deleted(module: ast.Module) -> Iterator[tuple[str, int, int]]:
    """Names that a lambda which is called at once reads above the first ``del`` of them; pyflakes reads them last."""
    for node in ast.walk(module):
        if not isinstance(node, (ast.Module, *FUNCTIONS)):
            continue
        own = list(own_nodes(node.body))
        deletes = [n for n in own if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Del)]
        given = arguments(node.args) if isinstance(node, FUNCTIONS) else set()
        for read in _read_at_once(own) if deletes else ():
            place = (read.lineno, read.col_offset)
            below = {n.id for n in deletes} - {n.id for n in deletes if (n.lineno, n.col_offset) < place}
            above = [n for n in own if isinstance(n, _BINDING) and (n.lineno, n.col_offset) < place]
            if read.id in below & (given | bound_in(above)):
                yield read.id, *place


def _read_at_once(nodes: Iterable[ast.AST]) -> Iterator[ast.Name]:
    """What the lambdas among some nodes read that are called where they stand."""
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Lambda):
            inside = list(own_nodes([node.func.body]))
            yield from (n for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
            yield from _read_at_once(inside)


def _framework_names(module: ast.Module) -> set[str]:
    return {name for root in FRAMEWORKS for name in _bound_to(module, root)}


def _binds_as(node: ast.AST, framework: Framework, name: str) -> bool:
    """``import paddle as torch``."""
    return isinstance(node, ast.Import) and any(a.name == framework and a.asname == name for a in node.names)


def _bound_to(module: ast.Module, root: str) -> set[str]:
    """Names that imports bind to a framework or to a part of it."""
    found: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            found |= {a.asname or root for a in node.names if a.name.partition(".")[0] == root}
        elif isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").partition(".")[0] == root:
            found |= {a.asname or a.name for a in node.names} - {"*"}
    return found


def _decorated(module: ast.Module, names: set[str]) -> Iterator[tuple[str, set[str]]]:
    """Functions and classes that a decorator by one of ``names`` compiles, and the names that they use."""
    for node in ast.walk(module):
        if isinstance(node, _FUNCTIONS):
            compiling = [d for d in node.decorator_list if _COMPILES.search(ast.unparse(d))]
            if names & {n.id for d in compiling for n in ast.walk(d) if isinstance(n, ast.Name)}:
                yield node.name, {n.id for s in node.body for n in ast.walk(s) if isinstance(n, ast.Name)}


def _small_sets(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        if (
            isinstance(node, ast.Set)
            and len(node.elts) == 1
            and isinstance(node.elts[0], (ast.Name, ast.Set, ast.Dict))
        ):
            yield ast.unparse(node)


def _texts(module: ast.Module) -> Iterator[str]:
    """The texts of a module; an annotation in quotes may be converted, so it counts as code."""
    return (n.value for n in ast.walk(module) if isinstance(n, ast.Constant) and isinstance(n.value, str))


def _idle_passes(module: ast.Module) -> int:
    """How often a ``pass`` on a line of its own stands in a block with other statements."""
    blocks = (getattr(n, name, None) for n in ast.walk(module) for name in ("body", "orelse", "finalbody"))
    found = 0
    for block in blocks:
        if isinstance(block, list) and len(block) > 1:
            lines = Counter(line for s in block for line in {s.lineno, s.end_lineno})
            found += sum(isinstance(s, ast.Pass) and lines[s.lineno] == 1 for s in block)
    return found


@cache
def _exports() -> Mapping[str, frozenset[str]]:
    """What a star import of a framework's module binds, as far as the tables know its APIs."""
    table = load()
    found: dict[str, frozenset[str]] = {}
    for framework in ("torch", "paddle"):
        names = {n for row in table.rows if row.receiver is None for f in row.forms(framework) for n in f.names}
        for module in {".".join(n.split(".")[:k]) for n in names for k in range(1, n.count(".") + 1)}:
            found[module] = frozenset(table.exported(framework, module))
    return found
