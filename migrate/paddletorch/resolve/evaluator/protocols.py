"""What the evaluator is told by others: by the tables about types, by the project about its other modules."""

from __future__ import annotations

from typing import Literal, Protocol

from paddletorch.model import Framework
from paddletorch.resolve.values import NOTHING, Values

Aspect = Literal["call", "instance", "object", "apis"]
"""What another module may want to know of a name: see the methods of ``ExternalModules``."""


class Types(Protocol):
    """What the tables say about types."""

    def makes(self, qualified_name: str) -> str | None:
        """The tracked type that a call of the name makes, if any."""

    def constant(self, qualified_name: str) -> str | None:
        """The tracked type of the object that the name is, if any."""

    def documented(self, runtime_name: str) -> str:
        """The tables' name of an object by the name that a running program has for it; that one if they have none."""

    def member(self, type_name: str, name: str) -> tuple[str, str | None] | None:
        """Kind of a member of a tracked type, and the type that it is or gives."""

    def bases(self, type_name: str) -> tuple[str, ...]:
        """The type and those whose members it has too."""

    def suggests(self, type_name: str, name: str) -> bool:
        """Whether a variable's name suggests the type."""

    def distinctive(self, name: str, side: Framework) -> str | None:
        """What a method makes that only tensors have, if it is one; ``side``'s before the other framework's."""


class ExternalModules(Protocol):
    """What other modules of the project define, by the name that an import of this module gives it.

    Every answer is empty if no other module defines the name.
    """

    def defines(self, name: str) -> bool:
        """Whether a module of the project binds the name at its top level."""

    def star_may_bind(self, module: str, name: str) -> bool:
        """Whether ``from module import *`` may bind the name, or may not be read."""

    def holds(self, package: str) -> bool:
        """Whether the project itself has a top-level package or module of this name."""

    def call(self, name: str) -> Values:
        """What calling the function or class gives."""

    def instance(self, name: str) -> Values:
        """An instance of the class."""

    def object(self, name: str) -> Values:
        """The object that the name is bound to at the top level of its module."""

    def apis(self, name: str) -> Values:
        """The frameworks' own names that it is imported, or assigned, from."""

    def ancestors(self, name: str) -> frozenset[str] | None:
        """The frameworks' names of what the class may inherit its constructor from, by syntax alone.

        None: it may be anything. Cheaper than the other questions: nothing is evaluated.
        """

    def method(self, external_class: str, name: str) -> Values:
        """What calling a method of the class gives; the class is named as in ``Instance.external_class``."""

    def attribute(self, external_class: str, name: str) -> Values:
        """What objects of the class keep under the name."""


class NoModules:
    """For a module of which no other modules are known."""

    def defines(self, _name: str) -> bool:
        return False

    def star_may_bind(self, _module: str, _name: str) -> bool:
        return True

    def holds(self, _package: str) -> bool:
        return False

    def ancestors(self, _name: str) -> frozenset[str] | None:
        return frozenset()

    def call(self, _name: str) -> Values:
        return NOTHING

    def instance(self, _name: str) -> Values:
        return NOTHING

    def object(self, _name: str) -> Values:
        return NOTHING

    def apis(self, _name: str) -> Values:
        return NOTHING

    def method(self, _external_class: str, _name: str) -> Values:
        return NOTHING

    def attribute(self, _external_class: str, _name: str) -> Values:
        return NOTHING
