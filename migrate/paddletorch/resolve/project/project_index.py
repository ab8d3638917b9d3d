"""Types across the modules of a project: what the classes, functions and objects of other modules are.

A module is read when a name that another one uses leads to it, and only if its bytes contain the name. Answers are
small and all remembered; of the syntax trees only those of the modules used last are.
"""

from __future__ import annotations

import ast
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, NamedTuple

from paddletorch_rules.bounded import open_regular

from paddletorch.model import Framework
from paddletorch.model.dependencies import LARGEST, Dependencies
from paddletorch.resolve.evaluator.evaluator import Evaluator
from paddletorch.resolve.evaluator.protocols import Aspect, ExternalModules, Types
from paddletorch.resolve.project.dependency_tracker import DependencyTracker
from paddletorch.resolve.project.module_finder import Location, ModuleFinder, folder_of
from paddletorch.resolve.project.module_names import ClassBases, Meaning, ModuleNames
from paddletorch.resolve.project.parsed import Parsed
from paddletorch.resolve.scopes.bindings import Binding
from paddletorch.resolve.scopes.public_modules import HIDDEN, is_public
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
from paddletorch.text.long_literals import parse
from paddletorch.text.source import Source

_CACHED = 600_000
"""Bytes of modules whose syntax trees stay in memory; the trees take some fifty times as much (measured)."""

_DEPTH = 12
"""How many modules one question may lead through."""

_MANY = 1_000
"""After so many questions for one, in modules that import each other, incomplete answers serve again."""


Texts = Callable[[str], bytes | None]
"""The bytes that stand at an absolute path instead of the file's; None for most."""


class ProjectIndex:
    """What the modules of projects define. One index serves all files of a run; it never raises."""

    def __init__(self, frameworks: Sequence[Framework], types: Types, texts: Texts = lambda path: None) -> None:
        """``texts``: what counts as the content of a file instead of what the file holds."""
        self._frameworks = frameworks
        self._texts = texts
        self._types = types
        self._finder = ModuleFinder(frozenset(frameworks))
        self._tracker = DependencyTracker(self._finder.kinds)
        self._modules: OrderedDict[str, _Module | None] = OrderedDict()
        self._unasked: dict[str, None] = {}
        """Paths of converted files in ``_modules`` that no other file has asked for yet, the oldest first."""
        self._size = 0
        self._answers: dict[_Question, Values] = {}
        self._ancestors: dict[Location, frozenset[str] | None] = {}
        self._names: dict[str, ModuleNames] = {}
        """What modules bind at their top level, by path; they are small, and kept when syntax trees go."""
        self._pending: list[_Question] = []
        """Questions that are being answered: each but the first came up while the one before was answered."""
        self._incomplete = False
        """A question was not answered because it is pending already, or because too many are."""
        self._asked = 0
        """How many questions came up for the first that is pending."""
        self._incomplete_answers: dict[_Question, Values] = {}
        """What was found for them while others were pending."""

    def view_from(self, path: str) -> ExternalModules:
        """What the imports of the file at ``path`` lead to."""
        return _View(self, str(Path(path).absolute()))

    def dependencies(self, path: str) -> Dependencies | None:
        """The files that the answers for the file at ``path`` depend on; None if one changed during the run."""
        return self._tracker.dependencies(str(Path(path).absolute()))

    def cached(self, path: str, data: bytes) -> Parsed | None:
        """The syntax tree of the file at ``path`` if it is in memory and of ``data``."""
        path = str(Path(path).absolute())
        module = self._modules.get(path)
        if module is None or module.source.data != data or not self._finds_scopes(path, module):
            return None
        return module.parsed

    def add(self, path: str, parsed: Parsed) -> None:
        """Take over a file that was parsed; it is released when there is no more room."""
        path = str(Path(path).absolute())
        self._tracker.add_content(path, parsed.source.data)
        if self._modules.get(path) is None:
            self._cache(path, _Module(parsed.source, parsed.module, parsed), asked=False)

    def locate(self, name: str, user: str) -> Location | None:
        """Where the name is defined that the file ``user`` imports."""
        location, checked = self._finder.find(name, folder_of(user))
        self._tracker.add_checked(user, checked)
        if location is not None:
            self._tracker.add_use(user, location.path)
        return location

    def holds(self, package: str, user: str) -> bool:
        """Whether the project has a top-level package or module of this name, as the file ``user`` would import it."""
        found, checked = self._finder.holds(package, folder_of(user))
        self._tracker.add_checked(user, checked)
        return found

    def method(self, external_class: str, name: str, user: str) -> Values:
        """What calling a method of the class ``path:name`` gives in the file ``user``."""
        return self._of_class(external_class, name, user, "method")

    def attribute(self, external_class: str, name: str, user: str) -> Values:
        """What objects of the class ``path:name`` keep under the name, as the file ``user`` sees it."""
        return self._of_class(external_class, name, user, "attribute")

    def _of_class(self, external_class: str, name: str, user: str, aspect: _Aspect) -> Values:
        path, _, class_name = external_class.rpartition(":")
        if not class_name:
            return NOTHING
        self._tracker.add_use(user, path)
        return self.answer(path, (class_name, name), aspect)

    def ancestors(self, name: str, user: str) -> frozenset[str] | None:
        """See ``ExternalModules``; ``user`` is the file that imports the name."""
        location = self.locate(name, user)
        if location is None:
            return frozenset()
        if location not in self._ancestors:
            self._ancestors[location] = self._syntactic_ancestors(name, user)
        return self._ancestors[location]

    def _syntactic_ancestors(self, name: str, user: str) -> frozenset[str] | None:
        found: set[str] = set()
        seen: set[Location | ClassBases] = set()
        pending: list[tuple[Meaning, str, ModuleNames | None]] = [(name, user, None)]
        while pending:
            one, path, names = pending.pop()
            if isinstance(one, str) and one.partition(".")[0] in self._frameworks:
                found.add(one)
            elif isinstance(one, str):
                location = self.locate(one, path)
                if location is None or location in seen:
                    continue
                seen.add(location)
                inside = self._names_in(location.path, location.names[0])
                if inside is None:
                    continue
                if len(location.names) > 1:
                    return None
                pending += [(meaning, location.path, inside) for meaning in inside.bound(location.names[0])]
            elif one is None or names is None:
                return None
            elif one not in seen:
                seen.add(one)
                pending += [(base, path, names) for base in names.bases(one)]
        return frozenset(found)

    def star_may_bind(self, module: str, name: str, user: str) -> bool:
        """See ``ExternalModules``; ``user`` is the file that imports everything of the module."""
        seen: set[str] = set()
        pending = [(module, user)]
        while pending:
            one, path = pending.pop()
            if is_public(one):
                if name in HIDDEN:
                    return True
                continue
            location = self.locate(f"{one}{name}" if one.endswith(".") else f"{one}.{name}", path)
            if location is None or len(location.names) > 1:
                return True
            if location.path in seen:
                continue
            seen.add(location.path)
            found = self._names_in(location.path, name)
            if found is None and location.path in self._modules:
                return True  # it cannot be read
            if found is not None and found.binds(name):
                return True
            pending += [(star, location.path) for star in found.stars] if found is not None else []
        return False

    def answer(self, path: str, names: tuple[str, ...], aspect: _Aspect) -> Values:
        """``aspect`` of the dotted ``names`` in the module at ``path``, as other modules see it."""
        question = _Question(path, names, aspect)
        known = self._answers.get(question)
        if known is not None:
            return known
        if question in self._pending or len(self._pending) >= _DEPTH:
            self._incomplete = True
            return NOTHING
        if self._asked > _MANY and question in self._incomplete_answers:
            self._incomplete = True
            return self._incomplete_answers[question]
        self._asked += 1
        self._pending.append(question)
        try:
            found = self._look_up(question)
        except RecursionError:
            found = NOTHING
        self._pending.pop()
        if not self._incomplete or not self._pending:  # as the first question it may have a complete answer
            self._answers[question] = found
            self._incomplete = False
        else:
            self._incomplete_answers[question] = found
        if not self._pending:
            self._asked = 0
            self._incomplete_answers.clear()
        return found

    def _look_up(self, question: _Question) -> Values:
        module = self._module(question.path, question.names[0])
        if module is None:
            return NOTHING
        with module.parsed.in_use():
            return self._evaluate(question, module)

    def _evaluate(self, question: _Question, module: _Module) -> Values:
        name, *members = question.names
        path, top = question.path, module.parsed.tree.scope.bindings
        aspect = question.aspect

        def new_evaluator(tree: ScopeTree) -> Evaluator:
            return Evaluator(tree, self._frameworks, self._types, {}, self.view_from(path), closed_world=False)

        if aspect == "method":
            found = module.evaluate(lambda evaluator: evaluator.method_result(name, members[0]), new_evaluator)
        elif aspect == "attribute":
            found = module.evaluate(lambda evaluator: evaluator.attribute_result(name, members[0]), new_evaluator)
        elif not top.get(name):
            return self._star_imported(question, module)
        elif aspect == "defined":
            return UNKNOWN
        else:
            found = module.evaluate(lambda evaluator: evaluator.exported(top[name], members, aspect), new_evaluator)
        if self._incomplete:
            module.drop_evaluators()
        if aspect == "apis":
            return found
        exported = self._exported(found, path, top)
        return NOTHING if exported == UNKNOWN else exported

    def _exported(self, values: Iterable[Value], path: str, top: Mapping[str, Sequence[Binding]]) -> Values:
        """Values of the module at ``path`` as other modules see them; unknown if they have nothing in common."""
        found = frozenset(self._exported_value(v, path, top) for v in values)
        types = {self._types.bases(v.type)[-1] for v in found if isinstance(v, Instance)} - {"foreign"}
        if len(types) + any(isinstance(v, Container) for v in found) > 1:
            return UNKNOWN
        if not found.isdisjoint(UNKNOWN):  # that it may also be a number or an array says nothing then
            found = frozenset(v for v in found if not isinstance(v, Instance) or v.type != "foreign")
        return found

    def _exported_value(self, value: Value, path: str, top: Mapping[str, Sequence[Binding]]) -> Value:
        """Without syntax nodes and names, which mean nothing in other modules."""
        if isinstance(value, Instance):
            value = replace(value, call=None) if value.call is not None else value
            if value.node is None:
                return value
            on_top = any(b.node is value.node for b in top.get(value.node.name, ()))
            return replace(value, node=None, external_class=f"{path}:{value.node.name if on_top else ''}")
        if isinstance(value, Container):
            parts = tuple(self._exported(part, path, top) for part in value.parts)
            return Container(self._exported(value.elements, path, top), parts)
        if isinstance(value, OpaqueFunction):
            return OpaqueFunction(self._exported(value.result, path, top))
        return value if isinstance(value, Method | NoneValue) else Unknown()

    def _star_imported(self, question: _Question, module: _Module) -> Values:
        """The answer of the first module with the name that ``from ... import *`` leads to.

        Each module is searched once: packages whose modules import everything from each other have more paths
        through them than can be tried.
        """
        if question.names[0].startswith("_"):
            return NOTHING
        found, seen = NOTHING, {question}
        stack = [(question, self._star_locations(question, module))]
        while stack and not found:
            location = next(stack[-1][1], None)
            if location is None:
                stack.pop()
                continue
            following = _Question(location.path, location.names, question.aspect)
            if following in seen:
                continue
            seen.add(following)
            inner = self._module(location.path, location.names[0]) if following not in self._answers else None
            if inner is None or inner.parsed.tree.scope.bindings.get(location.names[0]):
                found = self.answer(*following)
            elif len(location.names) == len(question.names):  # else there is no such module, but maybe such a name
                stack.append((following, self._star_locations(following, inner)))
        if not self._incomplete:
            self._answers.update(dict.fromkeys((on_path for on_path, _ in stack) if found else seen, found))
        return found

    def _star_locations(self, question: _Question, module: _Module) -> Iterator[Location]:
        """Where the name is defined if one of the module's ``from ... import *`` imports it."""
        prefixes = ["." * star.level + (star.module or "") for star in module.parsed.tree.stars]
        dotted = ".".join(question.names)
        names = (prefix + dotted if prefix.endswith(".") else f"{prefix}.{dotted}" for prefix in prefixes)
        return (location for name in names if (location := self.locate(name, question.path)) is not None)

    def _module(self, path: str, name: str) -> _Module | None:
        """The module at ``path`` with its scopes, if it may define ``name``."""
        module = self._syntax(path, name)
        return module if module is not None and self._finds_scopes(path, module) else None

    def _finds_scopes(self, path: str, module: _Module) -> bool:
        try:
            return module.parsed is not None
        except (ValueError, RecursionError, MemoryError):
            self._modules[path] = None  # converting that file reports what is wrong with it
            self._size -= len(module.source.data)
            return False

    def _names_in(self, path: str, name: str) -> ModuleNames | None:
        """What the module at ``path`` binds at its top level, if it may define ``name``."""
        if path not in self._names:
            module = self._syntax(path, name)
            if module is None:
                return None
            self._names[path] = ModuleNames(module.module, module.source.text)
        return self._names[path]

    def _syntax(self, path: str, name: str) -> _Module | None:
        """The module at ``path``, perhaps without its scopes, if it may define ``name``."""
        if path in self._modules:
            self._modules.move_to_end(path)
            self._unasked.pop(path, None)
            return self._modules[path]
        try:
            with open_regular(path) as file:
                data = file.read(LARGEST)
            kept = self._texts(path)  # after the file was read: who changes it keeps its content first
            data = data if kept is None else kept
            self._tracker.add_content(path, data)
            if name.encode() not in data and b"import *" not in data:
                return None
            source = Source(data)
            module = _Module(source, parse(source.text))
        except OSError:
            self._tracker.add_content(path, None)
            self._modules[path] = None
            return None
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self._modules[path] = None  # converting that file reports what is wrong with it
            return None
        self._cache(path, module)
        return module

    def _cache(self, path: str, module: _Module, *, asked: bool = True) -> None:
        """Keep a module, and drop others if there is no room: first those of which no other file has ``asked``."""
        self._modules[path] = module
        if not asked:
            self._unasked[path] = None
        self._size += len(module.source.data)
        excess = self._size - _CACHED
        unused: list[str] = []
        for oldest in dict.fromkeys((*self._unasked, *self._modules)) if excess > 0 else ():
            one = self._modules[oldest]
            if excess <= 0:
                break
            if one is not None and not one.is_in_use and one is not module:
                unused.append(oldest)
                excess -= len(one.source.data)
        for oldest in unused:
            gone = self._modules.pop(oldest)
            self._unasked.pop(oldest, None)
            assert gone is not None
            self._size -= len(gone.source.data)
            gone.release()


_Aspect = Aspect | Literal["defined", "method", "attribute"]


class _Question(NamedTuple):
    path: str
    names: tuple[str, ...]
    aspect: _Aspect


class _View:
    """See ``ExternalModules``: the index as one file sees it."""

    def __init__(self, index: ProjectIndex, path: str) -> None:
        self._index = index
        self._path = path
        self._locations: dict[str, Location | None] = {}

    def defines(self, name: str) -> bool:
        return bool(self._answer(name, "defined"))

    def star_may_bind(self, module: str, name: str) -> bool:
        return self._index.star_may_bind(module, name, self._path)

    def holds(self, package: str) -> bool:
        return self._index.holds(package, self._path)

    def call(self, name: str) -> Values:
        return self._answer(name, "call")

    def instance(self, name: str) -> Values:
        return self._answer(name, "instance")

    def object(self, name: str) -> Values:
        return self._answer(name, "object")

    def apis(self, name: str) -> Values:
        return self._answer(name, "apis")

    def ancestors(self, name: str) -> frozenset[str] | None:
        return self._index.ancestors(name, self._path)

    def method(self, external_class: str, name: str) -> Values:
        return self._index.method(external_class, name, self._path)

    def attribute(self, external_class: str, name: str) -> Values:
        return self._index.attribute(external_class, name, self._path)

    def _answer(self, name: str, aspect: _Aspect) -> Values:
        if name not in self._locations:
            self._locations[name] = self._index.locate(name, self._path)
        location = self._locations[name]
        return self._index.answer(location.path, location.names, aspect) if location is not None else NOTHING


class _Module:
    """A module that was read, and its idle evaluators."""

    def __init__(self, source: Source, module: ast.Module, parsed: Parsed | None = None) -> None:
        self.source = source
        self.module = module
        self._parsed = parsed
        self._idle: list[Evaluator] = []

    @property
    def parsed(self) -> Parsed:
        """The module with its scopes, which are found when they are first asked for."""
        if self._parsed is None:
            self._parsed = Parsed.of(self.source, self.module)
        return self._parsed

    @property
    def is_in_use(self) -> bool:
        """Whether the module must not be released."""
        return self._parsed is not None and self._parsed.is_in_use

    def evaluate(
        self, question: Callable[[Evaluator], Values], new_evaluator: Callable[[ScopeTree], Evaluator]
    ) -> Values:
        """Answer with an evaluator that is busy with no other question: modules may import each other."""
        evaluator = self._idle.pop() if self._idle else new_evaluator(self.parsed.tree)
        try:
            found = question(evaluator)
        except BaseException:
            evaluator.release()
            raise
        self._idle.append(evaluator)
        return found

    def drop_evaluators(self) -> None:
        """Drop evaluators that may remember an incomplete answer."""
        while self._idle:
            self._idle.pop().release()

    def release(self) -> None:
        """Free the memory at once; nothing can be evaluated afterwards."""
        self.drop_evaluators()
        if self._parsed is not None:
            self._parsed.tree.release()
