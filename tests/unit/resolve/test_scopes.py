"""Name resolution: the same answers as LibCST's QualifiedNameProvider, and the scoping rules one by one."""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import libcst
import pytest
from libcst.metadata import MetadataWrapper, PositionProvider, QualifiedNameProvider, QualifiedNameSource
from paddletorch.resolve import Evaluator, Instance, NoneValue, Qualified, ScopeTree, Unknown
from paddletorch.resolve.scopes.string_annotations import expand_string_annotations
from paddletorch.text.source import Source
from paddletorch_rules import load

from ...once import digest, from_run_to_run, versions

Place = tuple[int, int, int, int]
"""Start and end of an expression: line from 1, column in characters from 0."""

TREES = (
    pytest.param("torch", "optim", marks=pytest.mark.long),
    pytest.param("torch", "distributed/fsdp", marks=pytest.mark.long),
    pytest.param("torch", "utils/data", marks=pytest.mark.long),
    ("torch", "amp"),
    ("paddle", "amp"),
    pytest.param("paddle", "optimizer", marks=pytest.mark.long),
    ("paddle", "hapi"),
    ("paddle", "nn/utils"),
)
"""Real code that is there wherever the tests run: parts of the frameworks themselves."""


def files_of(package: str, folder: str) -> list[Path]:
    spec = importlib.util.find_spec(package)
    assert spec is not None and spec.origin is not None
    return sorted((Path(spec.origin).parent / folder).rglob("*.py"))


def libcst_names(text: str) -> dict[Place, frozenset[str]]:
    """What imports make of the function of every call, if it is a dotted name."""
    wrapper = MetadataWrapper(libcst.parse_module(text), unsafe_skip_copy=True)
    names = wrapper.resolve(QualifiedNameProvider)
    places = wrapper.resolve(PositionProvider)
    found: dict[Place, frozenset[str]] = {}
    for function in _libcst_functions(wrapper.module):
        given = names.get(function, frozenset())
        qualified = given() if callable(given) else given
        where = places[function]
        place = (where.start.line, where.start.column, where.end.line, where.end.column)
        found[place] = frozenset(q.name for q in qualified if q.source is QualifiedNameSource.IMPORT)
    return found


def _as_json(text: str) -> list[tuple[Place, list[str]]]:
    return [(place, sorted(names)) for place, names in libcst_names(text).items()]


def _libcst_functions(module: libcst.Module) -> Iterator[libcst.BaseExpression]:
    stack: list[libcst.CSTNode] = [module]
    while stack:
        node = stack.pop()
        stack.extend(node.children)
        if isinstance(node, libcst.Call):
            root: libcst.BaseExpression = node.func
            while isinstance(root, libcst.Attribute):
                root = root.value
            if isinstance(root, libcst.Name):
                yield node.func


def our_names(text: str) -> dict[Place, frozenset[str]]:
    """The same by the project's resolver."""
    source = Source(text.encode())
    tree = ScopeTree(ast.parse(text))
    evaluator = Evaluator(tree, ("torch", "paddle"), load(), {})
    found: dict[Place, frozenset[str]] = {}
    for call in tree.calls:
        root = call.func
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name):
            span = source.span(call.func)
            (line, column), (end_line, end_column) = source.position(span.start), source.position(span.end)
            found[line, column - 1, end_line, end_column - 1] = evaluator.imported_names(call.func)
    return found


@pytest.mark.parametrize(("package", "folder"), TREES)
def test_same_names_as_libcst(package: str, folder: str, pytestconfig: pytest.Config) -> None:
    """LibCST takes most of the time; what it said of a text in the last run is not asked again."""
    imported, different = 0, []
    texts = {path: path.read_text(encoding="utf-8") for path in files_of(package, folder)}
    asked = {path: digest(text, versions("libcst"), Path(__file__).read_text("utf-8")) for path, text in texts.items()}
    makers = {asked[path]: partial(_as_json, text) for path, text in texts.items()}
    answers = from_run_to_run(pytestconfig, f"libcst/{package}/{folder}", makers)
    for path, text in texts.items():
        theirs = {tuple(place): frozenset(names) for place, names in answers[asked[path]]}
        ours = our_names(text)
        assert theirs.keys() == ours.keys(), path
        imported += sum(map(bool, theirs.values()))
        different += [
            f"{path}:{place[0]}: libcst {sorted(theirs[place])}, ours {sorted(ours[place])}"
            for place in theirs
            if theirs[place] != ours[place]
        ]
    assert imported > 25
    assert not different, f"{len(different)} beside {imported}:\n" + "\n".join(different[:40])


SCALER = "torch.cuda.amp.GradScaler"
IMPORT = "from torch.cuda.amp import GradScaler\n"

MEANINGS: dict[str, tuple[str, set[str]]] = {
    # imports
    "import": ("import torch.cuda.amp\nprobe(torch.cuda.amp.GradScaler)", {SCALER}),
    "import as": ("import torch.cuda.amp as a\nprobe(a.GradScaler)", {SCALER}),
    "import of a submodule binds the root": ("import torch.nn\nprobe(torch.cuda.amp.GradScaler)", {SCALER}),
    "from": (IMPORT + "probe(GradScaler)", {SCALER}),
    "from as": ("from torch.cuda.amp import GradScaler as G\nprobe(G)", {SCALER}),
    "from as hides the old name": ("from torch.cuda.amp import GradScaler as G\nprobe(GradScaler)", set()),
    "relative": ("from .torch.cuda.amp import GradScaler\nprobe(GradScaler)", {".torch.cuda.amp.GradScaler"}),
    "relative module": ("from . import amp\nprobe(amp.GradScaler)", {".amp.GradScaler"}),
    "relative, two up": ("from .. import amp\nprobe(amp.x)", {"..amp.x"}),
    "function-local": ("def f():\n    import torch as t\n    probe(t.amp.GradScaler)", {"torch.amp.GradScaler"}),
    "function-local is local": ("def f():\n    import numpy as t\nprobe(t.amp)", set()),
    "try and except": (
        "try:\n    from torch.amp import GradScaler\nexcept ImportError:\n"
        "    from torch.cuda.amp import GradScaler\nprobe(GradScaler)",
        {SCALER, "torch.amp.GradScaler"},
    ),
    "if and else": (
        "if x:\n    import torch as t\nelse:\n    import paddle as t\nprobe(t.amp)",
        {"torch.amp", "paddle.amp"},
    ),
    "unbound root": ("probe(torch.cuda.amp.GradScaler)", {SCALER}),
    "unbound name": ("probe(GradScaler)", set()),
    # shadowing
    "parameter": (IMPORT + "def f(GradScaler):\n    probe(GradScaler)", set()),
    "keyword-only parameter": (IMPORT + "def f(*, GradScaler):\n    probe(GradScaler)", set()),
    "star parameter": (IMPORT + "def f(*GradScaler):\n    probe(GradScaler)", set()),
    "double star parameter": (IMPORT + "def f(**GradScaler):\n    probe(GradScaler)", set()),
    "lambda parameter": (IMPORT + "lambda GradScaler: probe(GradScaler)", set()),
    "default sees the outer name": (IMPORT + "def f(GradScaler=probe(GradScaler)): ...", {SCALER}),
    "annotation sees the outer name": (IMPORT + "def f(GradScaler: probe(GradScaler)): ...", {SCALER}),
    "decorator sees the outer name": (IMPORT + "@probe(GradScaler)\ndef GradScaler(): ...", {SCALER}),
    "local assignment": (IMPORT + "def f():\n    GradScaler = object()\n    probe(GradScaler)", set()),
    "assignment after the use is still local": (
        IMPORT + "def f():\n    probe(GradScaler)\n    GradScaler = object()",
        set(),
    ),
    "local def": (IMPORT + "def f():\n    def GradScaler(): ...\n    probe(GradScaler)", set()),
    "local class": (IMPORT + "def f():\n    class GradScaler: ...\n    probe(GradScaler)", set()),
    "for": (IMPORT + "def f():\n    for GradScaler in x: probe(GradScaler)", set()),
    "with": (IMPORT + "def f():\n    with x as GradScaler: probe(GradScaler)", set()),
    "except as": (IMPORT + "def f():\n    try: ...\n    except E as GradScaler: probe(GradScaler)", set()),
    "tuple assignment": (IMPORT + "def f():\n    (a, [GradScaler, *b]) = x\n    probe(GradScaler)", set()),
    "augmented assignment": (IMPORT + "def f():\n    GradScaler += 1\n    probe(GradScaler)", set()),
    "annotation alone": (IMPORT + "def f():\n    GradScaler: int\n    probe(GradScaler)", set()),
    "local import": (IMPORT + "def f():\n    from mine import GradScaler\n    probe(GradScaler)", {"mine.GradScaler"}),
    "walrus": (IMPORT + "def f():\n    if (GradScaler := x): probe(GradScaler)", set()),
    "walrus in a comprehension binds outside": (
        IMPORT + "def f():\n    [0 for _ in x if (GradScaler := _)]\n    probe(GradScaler)",
        set(),
    ),
    "match capture": (IMPORT + "def f():\n    match x:\n        case GradScaler: probe(GradScaler)", set()),
    "match as": (IMPORT + "def f():\n    match x:\n        case int() as GradScaler: probe(GradScaler)", set()),
    "match star": (IMPORT + "def f():\n    match x:\n        case [*GradScaler]: probe(GradScaler)", set()),
    "match rest": (IMPORT + "def f():\n    match x:\n        case {**GradScaler}: probe(GradScaler)", set()),
    "match keyword is no binding": (
        IMPORT + "def f():\n    match x:\n        case A(GradScaler=y): probe(GradScaler)",
        {SCALER},
    ),
    # comprehensions
    "comprehension target": (IMPORT + "[probe(GradScaler) for GradScaler in x]", set()),
    "comprehension target does not leak": (IMPORT + "[0 for GradScaler in x]\nprobe(GradScaler)", {SCALER}),
    "first iterable is outside": (IMPORT + "[0 for GradScaler in probe(GradScaler)]", {SCALER}),
    "second iterable is inside": (IMPORT + "[0 for GradScaler in x for y in probe(GradScaler)]", set()),
    "condition is inside": (IMPORT + "{0 for GradScaler in x if probe(GradScaler)}", set()),
    "dict comprehension": (IMPORT + "{probe(GradScaler): 0 for GradScaler in x}", set()),
    # classes
    "class scope": ("class A:\n    from torch.cuda.amp import GradScaler\n    probe(GradScaler)", {SCALER}),
    "class scope is not seen by methods": (
        "class A:\n    from torch.cuda.amp import GradScaler\n    def f(self): probe(GradScaler)",
        set(),
    ),
    "methods see past the class": (
        IMPORT + "class A:\n    GradScaler = 1\n    def f(self): probe(GradScaler)",
        {SCALER},
    ),
    "nested class does not see the outer class": (
        IMPORT + "class A:\n    GradScaler = 1\n    class B: probe(GradScaler)",
        {SCALER},
    ),
    "comprehension in a class sees past it": (
        IMPORT + "class A:\n    GradScaler = 1\n    x = [probe(GradScaler) for _ in y]",
        {SCALER},
    ),
    "class bases are outside": (IMPORT + "class A(probe(GradScaler)):\n    GradScaler = 1", {SCALER}),
    # global and nonlocal
    "global reads": (IMPORT + "def f():\n    global GradScaler\n    probe(GradScaler)", {SCALER}),
    "global writes": (
        "GradScaler = None\ndef f():\n    global GradScaler\n    from torch.cuda.amp import GradScaler\n"
        "probe(GradScaler)",
        {SCALER},
    ),
    "global in a nested function skips the middle": (
        IMPORT + "def f():\n    GradScaler = 1\n    def g():\n        global GradScaler\n        probe(GradScaler)",
        {SCALER},
    ),
    "nonlocal writes": (
        "def f():\n    G = None\n    def g():\n        nonlocal G\n        from torch.cuda.amp import GradScaler as G\n"
        "    probe(G)",
        {SCALER},
    ),
    "nonlocal below a class": (
        "def f():\n    import torch as t\n    class A:\n        t = 1\n        def g(self):\n            nonlocal t\n"
        "            probe(t.amp)",
        {"torch.amp"},
    ),
    "nested function reads": (IMPORT + "def f():\n    def g():\n        probe(GradScaler)", {SCALER}),
    # values
    "value alias": (IMPORT + "G = GradScaler\nprobe(G)", {SCALER}),
    "alias of an alias": (IMPORT + "G = GradScaler\nH = G\nprobe(H)", {SCALER}),
    "alias of a module": ("import torch\na = torch.cuda.amp\nprobe(a.GradScaler)", {SCALER}),
    "chained": (IMPORT + "G = H = GradScaler\nprobe(H)", {SCALER}),
    "unpacked": (IMPORT + "G, H = GradScaler, 1\nprobe(G)", {SCALER}),
    "unpacked from elsewhere": (IMPORT + "G, H = x\nprobe(G)", set()),
    "conditional": (IMPORT + "G = GradScaler if x else dict\nprobe(G)", {SCALER}),
    "or": (IMPORT + "G = None or GradScaler\nprobe(G)", {SCALER}),
    "both": ("import torch, paddle\nG = torch.amp if x else paddle.amp\nprobe(G)", {"torch.amp", "paddle.amp"}),
    "attribute on self": (
        IMPORT + "class A:\n    def __init__(self): self.g = GradScaler\n    def f(self): probe(self.g)",
        {SCALER},
    ),
    "attribute on self of another class": (
        IMPORT
        + "class A:\n    def __init__(self): self.g = GradScaler\n"
        + "class B:\n    def __init__(self): self.g = dict()\n    def f(self): probe(self.g)",
        set(),
    ),
    "attribute that only another class has": (
        IMPORT
        + "class A:\n    def __init__(self): self.g = GradScaler\n"
        + "class B(Unseen):\n    def f(self): probe(self.g)",
        set(),
    ),
    "attribute of a base": (
        IMPORT
        + "class A:\n    def __init__(self): self.g = GradScaler\n"
        + "class B(A):\n    def f(self): probe(self.g)",
        {SCALER},
    ),
    "attribute that a subclass sets": (
        IMPORT
        + "class A:\n    def f(self): probe(self.g)\n"
        + "class B(A):\n    def __init__(self): self.g = GradScaler",
        {SCALER},
    ),
    "attribute that the class beside a mixin sets": (
        IMPORT
        + "class A:\n    def f(self): probe(self.g)\n"
        + "class B:\n    def __init__(self): self.g = GradScaler\n"
        + "class C(A, B): ...",
        {SCALER},
    ),
    "attribute of an object of another class": (
        IMPORT
        + "class A:\n    def __init__(self): self.g = GradScaler\n"
        + "class B:\n    def __init__(self): self.g = dict()\nprobe(B().g)",
        set(),
    ),
    "attribute that is set from outside": (
        IMPORT + "class A:\n    def f(self): probe(self.g)\na = A()\na.g = GradScaler",
        {SCALER},
    ),
    "attribute of an object that nothing shows": (
        IMPORT + "class A:\n    def __init__(self): self.g = GradScaler\ndef f(a): probe(a.g)",
        {SCALER},
    ),
    "class attribute of a base": (
        IMPORT + "class A:\n    g = GradScaler\nclass B(A):\n    def f(self): probe(self.g)",
        {SCALER},
    ),
    "class attribute": (IMPORT + "class A:\n    g = GradScaler\nprobe(A.g)", {SCALER}),
    "through a parameter": (IMPORT + "def f(g): probe(g)\nf(GradScaler)", {SCALER}),
    "through a keyword": (IMPORT + "def f(*, g): probe(g)\nf(g=GradScaler)", {SCALER}),
    "through a default": (IMPORT + "def f(g=GradScaler): probe(g)", {SCALER}),
    "through a return": (IMPORT + "def f(): return GradScaler\nprobe(f())", {SCALER}),
    "through a lambda": (IMPORT + "f = lambda: GradScaler\nprobe(f())", {SCALER}),
    "through a loop": (IMPORT + "for g in [GradScaler]: probe(g)", {SCALER}),
    "rebound": (IMPORT + "GradScaler = dict\nprobe(GradScaler)", {SCALER}),
    "recursive alias": ("def f(x):\n    x = x\n    probe(x)", set()),
    "alias in a circle": ("a = b\nb = a\nprobe(a)", set()),
    "mutual recursion": ("def f(): return g()\ndef g(): return f()\nprobe(f())", set()),
}
"""Each: a file that calls ``probe(EXPRESSION)`` once, and the dotted names that the expression may mean."""


def evaluator_of(text: str) -> Evaluator:
    return Evaluator(ScopeTree(ast.parse(text)), ("torch", "paddle"), load(), {})


def probed(text: str) -> tuple[Evaluator, ast.expr]:
    evaluator = evaluator_of(text)
    (call,) = [c for c in evaluator.tree.calls if isinstance(c.func, ast.Name) and c.func.id == "probe"]
    return evaluator, call.args[0]


@pytest.mark.parametrize("case", MEANINGS)
def test_meaning(case: str) -> None:
    text, expected = MEANINGS[case]
    evaluator, expression = probed(text)
    assert {v.name for v in evaluator.values(expression) if isinstance(v, Qualified)} == expected


def test_nothing_is_guessed_about_what_cannot_be_seen() -> None:
    evaluator, expression = probed("from mine import make\nprobe(make())")
    assert evaluator.values(expression) == {Unknown()}


def test_none_is_a_value_of_its_own() -> None:
    evaluator, expression = probed("import torch\ng = None\nif x: g = torch.amp.GradScaler\nprobe(g)")
    assert evaluator.values(expression) == {NoneValue(), Qualified("torch.amp.GradScaler")}


@pytest.mark.parametrize(
    "text",
    [
        "import torch\ns = torch.cuda.amp.GradScaler()\nprobe(s)",
        "import torch\nclass T:\n    def __init__(self): self.s = torch.GradScaler()\n    def f(self): probe(self.s)",
        "import torch\ndef f(s: torch.amp.GradScaler): probe(s)",
        "import torch\ndef f(s: 'torch.amp.GradScaler | None' = None): probe(s)",
        "import torch\nfrom typing import Optional\ndef f(s: Optional[torch.amp.GradScaler]): probe(s)",
        "import torch\ndef f(s): probe(s)\nf(torch.amp.GradScaler())",
        "import torch, functools\nmake = functools.partial(torch.amp.GradScaler, 'cuda')\nprobe(make())",
        "import torch\nclass Mine(torch.amp.GradScaler): ...\nprobe(Mine())",
        "import torch\nprobe([torch.amp.GradScaler() for _ in range(2)][0])",
        "import torch\nfor s in {'a': torch.amp.GradScaler()}.values(): probe(s)",
        "import torch\nif (s := torch.amp.GradScaler()): probe(s)",
    ],
)
def test_instances_are_tracked(text: str) -> None:
    evaluator = evaluator_of(text)
    tree = evaluator.tree
    expand_string_annotations(tree, lambda node: ast.get_source_segment(text, node) or "")
    (call,) = [c for c in tree.calls if isinstance(c.func, ast.Name) and c.func.id == "probe"]
    instances = {v.type for v in evaluator.values(call.args[0]) if isinstance(v, Instance)}
    assert instances == {"scaler"}


def test_string_annotations_are_read_where_they_stand() -> None:
    text = "from torch.amp import GradScaler\ndef f(é: 'GradScaler | None', x: \"list['GradScaler']\"): ...\n"
    source = Source(text.encode())
    tree = ScopeTree(ast.parse(text))
    expand_string_annotations(tree, lambda node: source.slice(source.span(node)))
    inside = [load for load in tree.loads if load.id == "GradScaler"]
    assert len(inside) >= 1
    assert {source.slice(source.span(load)) for load in inside} == {"GradScaler"}


@pytest.mark.parametrize(
    "text", ["x: Literal['GradScaler']", "x = 'GradScaler'", "f('GradScaler')", "x: (y == 'GradScaler')"]
)
def test_other_strings_are_not_annotations(text: str) -> None:
    tree = ScopeTree(ast.parse("from torch.amp import GradScaler\n" + text))
    expand_string_annotations(tree, lambda node: ast.get_source_segment(text, node) or "")
    assert not tree.string_annotations


@pytest.mark.parametrize("quoted", ["(y := Tensor)", "[y := Tensor for _ in ()]", "(yield Tensor)"])
def test_string_annotations_bind_and_yield_nothing_where_they_stand(quoted: str) -> None:
    tree = ScopeTree(ast.parse(text := f"from torch import Tensor\ndef f():\n    x: '{quoted}' = 1\n"))
    expand_string_annotations(tree, lambda node: ast.get_source_segment(text, node) or "")
    inner = next(scope for node, scope in tree.own.items() if isinstance(node, ast.FunctionDef))
    assert [load.id for load in tree.loads] == ["Tensor"]
    assert "y" not in inner.bindings and not inner.returns


def test_star_imports_are_listed() -> None:
    tree = ScopeTree(ast.parse("from torch.amp import *\ndef f():\n    return GradScaler\n"))
    assert [star.module for star in tree.stars] == ["torch.amp"]


def test_a_deleted_name_keeps_its_other_meanings() -> None:
    evaluator, expression = probed(IMPORT + "probe(GradScaler)\ndel GradScaler")
    assert evaluator.values(expression) == {Qualified(SCALER)}


def test_deep_expressions_do_not_exhaust_the_stack() -> None:
    text = "import torch\nx0 = torch\n" + "".join(f"x{n} = x{n - 1}\n" for n in range(1, 2000)) + "probe(x1999)"
    evaluator, expression = probed(text)
    assert evaluator.values(expression) <= {Unknown(), Qualified("torch")}
