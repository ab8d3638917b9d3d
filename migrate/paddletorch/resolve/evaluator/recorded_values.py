"""What a recorded run says an expression was, where the file alone does not show it."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from paddletorch.model.questions import Ask, Evidence, Question, place_of
from paddletorch.resolve.evaluator.classes import Classes
from paddletorch.resolve.evaluator.environment import Environment
from paddletorch.resolve.evaluator.recorded_variables import RecordedVariables
from paddletorch.resolve.scopes.reaching import ReachingDefinitions
from paddletorch.resolve.values import (
    NONE,
    NOTHING,
    UNKNOWN,
    Instance,
    Local,
    Qualified,
    Unknown,
    Value,
    Values,
    container,
    foreign,
)

_COLLECTIONS = frozenset({"list", "tuple", "set", "frozenset", "dict"})
_BARE = frozenset({"Module", "Layer"})
"""Base classes whose constructors take nothing that the frameworks call otherwise."""
_UNTOLD = ("builtins.", "functools.")
"""What functions and partial objects are said to be, which does not tell what they call."""
_PLAIN = frozenset({"bool", "bytes", "complex", "float", "int", "range", "slice", "str"})


class RecordedValues:
    """Puts what was seen in the place of what is unknown, or guessed from a name."""

    def __init__(
        self, environment: Environment, classes: Classes, reaching: ReachingDefinitions, evidence: Evidence
    ) -> None:
        self._environment = environment
        self._types = environment.types
        self._classes = classes
        self._evidence = evidence
        self._variables = RecordedVariables(environment.tree, reaching, evidence)

    def refined(self, node: ast.expr, found: Values) -> Values:
        """``found`` with what was seen for its unknown values; as it is, where an answer has no meaning here.

        What the file shows for certain stays, also where a run never came to it.
        """
        open_values = frozenset(filter(_is_open, found))
        if not open_values:
            return found
        place = place_of(node)
        types = self._evidence.answers(Question(Ask.TYPE, place))
        names = self._evidence.answers(Question(Ask.CLASS, place))
        if not types and not names and isinstance(node, ast.Name):
            types = self._variables.types(node)
        seen = [*map(self._instance, types), *map(self._api, names)]
        if not seen or UNKNOWN in seen:
            return found
        return (found - open_values) | _union(seen)

    def _instance(self, answer: str) -> Values:
        """An object of the class."""
        name, _, base = answer.partition(":")
        root, _, last = name.partition(".")
        if root == "builtins":
            return _builtin(last)
        if root in self._environment.roots:
            return self._of_framework(name) or (self._of_framework(base) if base else NOTHING) or UNKNOWN
        own = self._of_project(name) - UNKNOWN
        if own or base:
            return own or self._of_framework(base) or UNKNOWN
        documented = self._types.documented(name)
        made = self._types.makes(documented)  # of a package that the tables know, such as torchvision
        return frozenset({Instance(made, documented)}) if made else foreign(name)

    def _of_framework(self, name: str) -> Values:
        documented = self._types.documented(name)
        made = self._types.makes(documented)
        return frozenset({Instance(made, documented)}) if made else NOTHING

    def _of_project(self, name: str) -> Values:
        module, _, last = name.rpartition(".")
        if module != "__main__":
            return self._environment.external.instance(name)
        nodes = (binding.node for binding in self._environment.tree.scope.bindings.get(last, ()))
        return _union(self._classes.instance_of(Local(n)) for n in nodes if isinstance(n, ast.ClassDef))

    def _api(self, answer: str) -> Values:
        """The class or function itself, as an import gives it."""
        name, _, base = answer.partition(":")
        if name.startswith(_UNTOLD):
            return UNKNOWN
        if base and name.partition(".")[0] not in self._environment.roots and base.rpartition(".")[2] not in _BARE:
            return UNKNOWN  # it may have inherited the constructor
        return frozenset({Qualified(self._types.documented(name))})


def _is_open(value: Value) -> bool:
    """Whether nothing, or only the name of a variable or method, says what the value is."""
    if not isinstance(value, Instance):
        return isinstance(value, Unknown)
    guessed = "." not in value.api and value.type not in ("", "foreign")
    return guessed and value.node is None and not value.external_class


def _builtin(name: str) -> Values:
    if name == "NoneType":
        return NONE
    if name in _COLLECTIONS:
        return container(UNKNOWN)
    return foreign(name) if name in _PLAIN else UNKNOWN


def _union(many: Iterable[Values]) -> Values:
    return frozenset(value for values in many for value in values)
