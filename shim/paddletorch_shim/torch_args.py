"""Calls with torch's arguments of what only the running program knows: a layer of Paddle's, or anything else.

``norm_layer(width, eps=1e-6)`` may make a layer of Paddle's or of the program's own. The converter itself says
what the call is with Paddle's arguments, once the layer and the values are known.
"""

from __future__ import annotations

import ast
import functools
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import paddle

_PLACES = frozenset({"device", "dtype"})
"""Arguments whose strings, if there are any, are Paddle's already."""


@dataclass(frozen=True, slots=True)
class _Api:
    """An API of Paddle's by torch's name, and the pairs of parameters that have two names."""

    torch: str
    renamed: Mapping[str, str]


def torch_args(callee: Any) -> Any:
    """``callee`` as it is called with torch's arguments, positions and defaults.

    A layer or function of Paddle's, a subclass with the constructor of one, a ``functools.partial`` over either
    or ``super().__init__`` of one is called with what the arguments are in Paddle. Anything else is given back.
    """
    function = callee
    while isinstance(function, functools.partial):
        function = function.func
    if getattr(function, "__name__", "") == "__init__" and hasattr(function, "__func__"):
        return _constructor(function)
    api = _api_of(function)
    return callee if api is None else _Translated(callee, function, api)


def _constructor(method: Any) -> Any:
    """``super().__init__`` of a subclass: the call makes no other object."""
    own = (base for base in type(method.__self__).__mro__ if vars(base).get("__init__") is method.__func__)
    api = next((found for base in own if (found := _known().get(id(base))) is not None), None)

    def made(*args: Any, **kwargs: Any) -> Any:
        method(*args, **kwargs)
        return method.__self__

    return method if api is None else _Translated(made, made, api)


@dataclass(frozen=True, slots=True, eq=False)
class _Translated:
    callee: Any
    function: Any
    api: _Api

    def __getattr__(self, name: str) -> Any:
        return getattr(self.callee, name)

    def __eq__(self, other: object) -> bool:
        return bool(self.callee == (other.callee if isinstance(other, _Translated) else other))

    def __hash__(self) -> int:
        return hash(self.callee)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        callee = self.callee
        while isinstance(callee, functools.partial):
            args = (*callee.args, *args)
            hidden = {other for name, other in self.api.renamed.items() if name in kwargs}
            kwargs = {k: v for k, v in callee.keywords.items() if k not in hidden} | kwargs
            callee = callee.func
        written = _Written()
        shown = [written.text(a) for a in args]
        shown += [f"{name}={written.text(value, name)}" for name, value in kwargs.items()]
        made = _converted(self.api.torch, ", ".join(shown), tuple(written.parameters))
        return made(self.function, *written.values)


@dataclass(slots=True)
class _Written:
    """Arguments as source text; what is no literal is a parameter of the text."""

    values: list[Any] = field(default_factory=list)
    parameters: list[str] = field(default_factory=list)

    def text(self, value: Any, name: str = "") -> str:
        if value is None or type(value) in (bool, int) or (type(value) is str and name not in _PLACES):
            return repr(value)
        if type(value) is float and abs(value) < float("inf"):
            return repr(value)
        if type(value) in (tuple, list):
            inside = ", ".join(self.text(v, name) for v in value)
            return f"[{inside}]" if type(value) is list else f"({inside}{',' * (len(value) == 1)})"
        parameter = f"_{len(self.values)}"
        self.values.append(value)
        self.parameters.append(f"{parameter}: torch.Tensor" if isinstance(value, paddle.Tensor) else parameter)
        return parameter


@functools.lru_cache(maxsize=4096)
def _converted(torch_name: str, arguments: str, parameters: Sequence[str]) -> Callable[..., Any]:
    """The call in Paddle: a function of the callee and of the parameters.

    Raises:
        TypeError: the converter leaves the call; the message says why.
    """
    source = f"import torch\n\n\ndef call({', '.join(parameters)}):\n    return {torch_name}({arguments})\n"
    result = _engine().convert(source.encode(), "<call>")
    tree = ast.parse(result.output)
    reasons = [d.message for d in result.diagnostics if d.severity.value != "info"]
    if any(isinstance(node, ast.Name) and node.id == "torch" for node in ast.walk(tree)):
        raise TypeError(f"{torch_name}({arguments}) has no counterpart in Paddle: {'; '.join(reasons)}")
    for reason in reasons:
        warnings.warn(f"{torch_name}({arguments}): {reason}", RuntimeWarning, stacklevel=4)
    function = next(n for n in tree.body if isinstance(n, ast.FunctionDef))
    function.args.args.insert(0, ast.arg("_callee"))
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            target = _api_of(_resolved(ast.unparse(node.func)))
            if target is not None and target.torch == torch_name:
                node.func = ast.copy_location(ast.Name("_callee", ast.Load()), node.func)
    namespace: dict[str, Any] = {}
    exec(compile(ast.fix_missing_locations(tree), "<call>", "exec"), namespace)
    made: Callable[..., Any] = namespace["call"]
    return made


@functools.lru_cache(maxsize=1)
def _engine() -> Any:
    from paddletorch.engine.engine import Engine  # only programs that make such a call need the converter
    from paddletorch.model import Options

    return Engine(Options(target="paddle", target_version="installed"))


def _api_of(function: Any) -> _Api | None:
    known = _known()
    if not isinstance(function, type):
        return known.get(id(function))
    for base in function.__mro__:
        if id(base) in known:
            return known[id(base)]
        if "__init__" in vars(base) or "__new__" in vars(base):
            return None
    return None


@functools.lru_cache(maxsize=1)
def _known() -> Mapping[int, _Api]:
    """Paddle's classes and functions by identity: they live as long as Paddle."""
    found: dict[int, tuple[bool, _Api]] = {}
    for name, torch_name, plain, renamed in _named():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of parts of Paddle that the program does not use
            thing = _resolved(name)
        if not callable(thing):
            continue
        last, other = name.rpartition(".")[2], torch_name.rpartition(".")[2]
        best = plain and last.lower() == other.lower()
        if id(thing) not in found or (best and not found[id(thing)][0]):
            found[id(thing)] = best, _Api(torch_name, renamed)
    return {key: api for key, (_, api) in found.items()}


def _named() -> Iterator[tuple[str, str, bool, Mapping[str, str]]]:
    """Names of Paddle with torch's, whether that is called in the same way, and the parameters of two names."""
    for row in _engine().settings.rows:
        if row.kind not in ("class", "function") or row.receiver is not None:
            continue
        forms = row.forms("torch")
        if not forms or not forms[0].names:
            continue
        renamed = {p.torch: p.paddle for p in row.parameters if p.torch and p.paddle and p.torch != p.paddle}
        emitted = _engine().settings.emitted(row)
        if emitted is None or emitted.template is not None:
            continue
        for form in row.forms("paddle"):
            for name in form.names:
                yield name, forms[0].names[0], form is emitted, renamed


def _resolved(name: str) -> Any:
    root, *path = name.split(".")
    value: Any = paddle if root == "paddle" else None
    for part in path:
        value = getattr(value, part, None)
    return value
