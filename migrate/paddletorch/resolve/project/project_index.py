"""Types across the files of a source tree: what the classes, functions and objects of other modules are.

A module is read when a name that this file uses leads to it, and only if its bytes hold the name. What comes
out is small and kept; of the modules themselves only the last few are.
"""

from __future__ import annotations

import ast
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, NamedTuple

from paddletorch.model import Framework
from paddletorch.model.dependencies import LARGEST, Dependencies
from paddletorch.resolve.evaluator.evaluator import Evaluator
from paddletorch.resolve.evaluator.protocols import Aspect, ExternalModules, Types
from paddletorch.resolve.project.dependency_tracker import Ledger
from paddletorch.resolve.project.module_finder import Place, Places
from paddletorch.resolve.project.parsed import Parsed
from paddletorch.resolve.scopes.bindings import Binding
from paddletorch.resolve.scopes.scopes import ScopeTree
from paddletorch.resolve.values import (
    NOTHING,
    UNKNOWN,
    Container,
    Instance,
    Method,
    NoneValue,
    OpaqueFunction,
    Unknown,
    Value,
    Values,
)
from paddletorch.text.source import Source

_KEPT = 2_000_000
"""Bytes of modules whose syntax trees are kept; the trees take some fifty times as much (measured)."""

_DEPTH = 12
"""How many files one question may lead through."""


class TreeIndex:
    """What the modules of source trees define. One index serves all files of a run; it never raises."""

    def __init__(self, roots: Sequence[Framework], types: Types) -> None:
        self._roots = roots
        self._types = types
        self._places = Places(frozenset(roots))
        self._modules: OrderedDict[str, _Module | None] = OrderedDict()
        self._size = 0
        self._answers: dict[_Question, Values] = {}
        self._ledger = Ledger(self._places.kinds)
        self._asked: list[_Question] = []
        self._cut = False

    def seen_from(self, path: str) -> ExternalModules:
        """What the imports of the file at ``path`` lead to."""
        return _View(self, str(Path(path).absolute()))

    def dependencies(self, path: str) -> Dependencies | None:
        """The files that what was asked for the file at ``path`` rests on; None if one changed meanwhile."""
        return self._ledger.of(str(Path(path).absolute()))

    def place(self, name: str, asker: str) -> Place | None:
        """Where the name stands that an import of the file ``asker`` gives."""
        place, looked_at = self._places.find(name, str(Path(asker).parent))
        self._ledger.look(asker, looked_at)
        if place is not None:
            self._ledger.ask(asker, place.path)
        return place

    def method(self, home: str, name: str, asker: str) -> Values:
        """What calling a method of the class at ``home`` gives."""
        path, _, class_name = home.rpartition(":")
        if not class_name:
            return NOTHING
        self._ledger.ask(asker, path)
        return self.answer(path, (class_name, name), "method")

    def answer(self, path: str, names: tuple[str, ...], asked: _Asked) -> Values:
        """What the dotted ``names`` of the module at ``path`` are, seen from outside."""
        question = _Question(path, names, asked)
        known = self._answers.get(question)
        if known is not None:
            return known
        if question in self._asked or len(self._asked) >= _DEPTH:
            self._cut = True
            return NOTHING
        self._asked.append(question)
        try:
            found = self._look_up(question)
        except RecursionError:
            found = NOTHING
        self._asked.pop()
        if not self._cut or not self._asked:  # what was cut short below may be known on another way
            self._answers[question] = found
            self._cut = False
        return found

    def _look_up(self, question: _Question) -> Values:
        module = self._module(question.path, question.names[0])
        if module is None:
            return NOTHING
        module.parsed.users += 1
        try:
            return self._ask(question, module)
        finally:
            module.parsed.users -= 1

    def _ask(self, question: _Question, module: _Module) -> Values:
        name, *members = question.names
        asked = question.asked
        path, top = question.path, module.tree.scope.bindings

        def make(tree: ScopeTree) -> Evaluator:
            return Evaluator(tree, self._roots, self._types, {}, self.seen_from(path), closed_world=False)

        if asked == "method":
            found = module.ask(lambda evaluator: evaluator.method_result(name, members[0]), make)
        elif not top.get(name):
            return self._starred(question, module)
        elif asked == "defined":
            return UNKNOWN
        else:
            found = module.ask(lambda evaluator: evaluator.exported(top[name], members, asked), make)
        if self._cut:
            module.forget()
        if asked == "apis":
            return found
        shown = self._shown(found, path, top)
        return NOTHING if shown == UNKNOWN else shown

    def _shown(self, values: Iterable[Value], path: str, top: Mapping[str, Sequence[Binding]]) -> Values:
        """Values of the module at ``path`` as other files see them; unknown if they have nothing in common."""
        found = frozenset(self._shown_value(v, path, top) for v in values)
        kinds = {self._types.bases(v.type)[-1] for v in found if isinstance(v, Instance)} - {"foreign"}
        if len(kinds) + any(isinstance(v, Container) for v in found) > 1:
            return UNKNOWN
        if not found.isdisjoint(UNKNOWN):  # that it may also be a number or an array says nothing then
            found = frozenset(v for v in found if not isinstance(v, Instance) or v.type != "foreign")
        return found

    def _shown_value(self, value: Value, path: str, top: Mapping[str, Sequence[Binding]]) -> Value:
        """Without syntax nodes and names, which mean nothing in other files."""
        if isinstance(value, Instance):
            if value.node is None:
                return value
            on_top = any(b.node is value.node for b in top.get(value.node.name, ()))
            return replace(value, node=None, external_class=f"{path}:{value.node.name if on_top else ''}")
        if isinstance(value, Container):
            parts = tuple(self._shown(part, path, top) for part in value.parts)
            return Container(self._shown(value.elements, path, top), parts)
        if isinstance(value, OpaqueFunction):
            return OpaqueFunction(self._shown(value.result, path, top))
        return value if isinstance(value, Method | NoneValue) else Unknown()

    def _starred(self, question: _Question, module: _Module) -> Values:
        """The answer of the first module with the name that ``from ... import *`` leads to; each is asked once.

        Packages whose modules take everything from each other have more ways through them than can be tried.
        """
        if question.names[0].startswith("_"):
            return NOTHING
        found, met = NOTHING, {question}
        way = [(question, self._stars(question, module))]
        while way and not found:
            place = next(way[-1][1], None)
            if place is None:
                way.pop()
                continue
            following = _Question(place.path, place.names, question.asked)
            if following in met:
                continue
            met.add(following)
            inner = self._module(place.path, place.names[0]) if following not in self._answers else None
            if inner is None or inner.tree.scope.bindings.get(place.names[0]):
                found = self.answer(*following)
            elif len(place.names) == len(question.names):  # else there is no such module: the package may have the name
                way.append((following, self._stars(following, inner)))
        if not self._cut:
            self._answers.update(dict.fromkeys((asked for asked, _ in way) if found else met, found))
        return found

    def _stars(self, question: _Question, module: _Module) -> Iterator[Place]:
        """Where the name stands if it comes by one of the module's ``from ... import *``."""
        prefixes = ["." * star.level + (star.module or "") for star in module.tree.stars]
        dotted = ".".join(question.names)
        names = (prefix + dotted if prefix.endswith(".") else f"{prefix}.{dotted}" for prefix in prefixes)
        return (place for name in names if (place := self.place(name, question.path)) is not None)

    def kept(self, path: str, data: bytes) -> Parsed | None:
        """The file at ``path`` if it was parsed already and held ``data``."""
        module = self._modules.get(str(Path(path).absolute()))
        return module.parsed if module is not None and module.parsed.source.data == data else None

    def keep(self, path: str, parsed: Parsed) -> None:
        """Keep a file that was parsed for as long as there is room."""
        path = str(Path(path).absolute())
        self._ledger.read(path, parsed.source.data)
        if self._modules.get(path) is None:
            self._add(path, _Module(parsed))

    def _module(self, path: str, name: str) -> _Module | None:
        """The module at ``path`` if it may define ``name``."""
        if path in self._modules:
            self._modules.move_to_end(path)
            return self._modules[path]
        try:
            with Path(path).open("rb") as file:
                data = file.read(LARGEST)
            self._ledger.read(path, data)
            if name.encode() not in data and b"import *" not in data:
                return None
            source = Source(data)
            module = _Module(Parsed.of(source, ast.parse(source.text)))
        except OSError:
            self._ledger.read(path, None)
            self._modules[path] = None
            return None
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self._modules[path] = None  # whoever converts that file says what is wrong with it
            return None
        self._add(path, module)
        return module

    def _add(self, path: str, module: _Module) -> None:
        self._modules[path] = module
        self._size += len(module.parsed.source.data)
        for oldest in list(self._modules) if self._size > _KEPT else ():
            held = self._modules[oldest]
            if held is not None and not held.parsed.users:
                del self._modules[oldest]
                self._size -= len(held.parsed.source.data)
                held.release()
            if self._size <= _KEPT:
                break


_Asked = Aspect | Literal["defined", "method"]


class _Question(NamedTuple):
    path: str
    names: tuple[str, ...]
    asked: _Asked


class _View:
    """See ``ExternalModules``: the index as one file sees it."""

    def __init__(self, index: TreeIndex, path: str) -> None:
        self._index = index
        self._path = path
        self._places: dict[str, Place | None] = {}

    def defines(self, name: str) -> bool:
        return bool(self._answer(name, "defined"))

    def call(self, name: str) -> Values:
        return self._answer(name, "call")

    def instance(self, name: str) -> Values:
        return self._answer(name, "instance")

    def object(self, name: str) -> Values:
        return self._answer(name, "object")

    def apis(self, name: str) -> Values:
        return self._answer(name, "apis")

    def method(self, external_class: str, name: str) -> Values:
        return self._index.method(external_class, name, self._path)

    def _answer(self, name: str, asked: _Asked) -> Values:
        if name not in self._places:
            self._places[name] = self._index.place(name, self._path)
        place = self._places[name]
        return self._index.answer(place.path, place.names, asked) if place is not None else NOTHING


class _Module:
    """A module that was read, and the evaluators that have learnt about it."""

    def __init__(self, parsed: Parsed) -> None:
        self.parsed = parsed
        self.tree = parsed.tree
        self._idle: list[Evaluator] = []

    def ask(self, question: Callable[[Evaluator], Values], make: Callable[[ScopeTree], Evaluator]) -> Values:
        """Let an evaluator answer that is in the middle of no other question: modules may import each other."""
        evaluator = self._idle.pop() if self._idle else make(self.tree)
        found = question(evaluator)  # an exception leaves it unfit for more
        self._idle.append(evaluator)
        return found

    def forget(self) -> None:
        """Let no answer rest on one that was cut short: it could be another on another way."""
        self._idle.clear()

    def release(self) -> None:
        """Free the memory at once; nothing may be asked any more."""
        for evaluator in self._idle:
            evaluator.release()
        self.tree.release()
